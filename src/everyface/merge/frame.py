"""Rectangles of a photo, and the small frame in which everything smooth is worked out."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from everyface.arrays import F32, U8

SMALL = 160
"""Size of a face in the small frame."""


@dataclass(frozen=True)
class Box:
    """A rectangle of pixels, right and bottom excluded."""

    x0: int
    y0: int
    x1: int
    y1: int

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.y1 - self.y0, self.x1 - self.x0

    @property
    def origin(self) -> F32:
        """The top left pixel as (x, y)."""
        return np.array([self.x0, self.y0], np.float32)

    def of(self, image: U8) -> U8:
        """Cut it out of an image, as a view."""
        return image[self.y0 : self.y1, self.x0 : self.x1]

    def within(self, shape: tuple[int, ...]) -> Box:
        """Return the part that lies on an image of that shape."""
        return Box(max(self.x0, 0), max(self.y0, 0), min(self.x1, shape[1]), min(self.y1, shape[0]))


def box_of(points: F32, margin: float) -> Box:
    """Return the box of points with a margin in pixels."""
    low = np.floor(points[:, :2].min(0) - margin).astype(int)
    high = np.ceil(points[:, :2].max(0) + margin).astype(int) + 1
    return Box(int(low[0]), int(low[1]), int(high[0]), int(high[1]))


def smoothstep(x: F32) -> F32:
    """Rise from 0 to 1 between 0 and 1, level at both ends."""
    x = np.clip(x, 0, 1)
    return x * x * (3 - 2 * x)


@dataclass(frozen=True)
class Small:
    """The surroundings of a face, shrunk so that the face is at most `SMALL` pixels.

    Attributes
    ----------
    near
        What the small frame shows, in photo pixels.
    tight
        The part of the photo that the new face itself covers.
    shape
        Height and width of the small frame.
    """

    near: Box
    tight: Box
    shape: tuple[int, int]

    @classmethod
    def of(cls, near: Box, tight: Box, size: float) -> Small:
        """Choose the scale for a face of `size` photo pixels."""
        scale = min(1.0, SMALL / size)
        height, width = near.shape
        return cls(near, tight, (max(8, round(height * scale)), max(8, round(width * scale))))

    @property
    def scale(self) -> F32:
        """Small pixels a photo pixel, (x, y)."""
        height, width = self.near.shape
        return np.array([self.shape[1] / width, self.shape[0] / height], np.float32)

    def points(self, points: F32) -> F32:
        """Return photo points in small pixels, z in the same unit."""
        out = points.astype(np.float32, copy=True)
        out[:, :2] = (out[:, :2] - self.near.origin + 0.5) * self.scale - 0.5
        out[:, 2] *= self.scale.mean()
        return out

    def down(self, image: U8) -> U8:
        """Shrink the photo's `near` part."""
        shrunk: U8 = cv2.resize(image, self.shape[::-1], interpolation=cv2.INTER_AREA)
        return shrunk

    def up(self, image: F32) -> F32:
        """Enlarge a small picture over `tight`."""
        scale = self.scale
        offset = (self.tight.origin - self.near.origin + 0.5) * scale - 0.5
        matrix = np.array([[scale[0], 0, offset[0]], [0, scale[1], offset[1]]], np.float32)
        height, width = self.tight.shape
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        large: F32 = cv2.warpAffine(
            image, matrix, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE
        )
        return large
