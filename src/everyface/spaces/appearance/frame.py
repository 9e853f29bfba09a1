"""The texture half's canvas: every face's pixels on one reference shape (thesis 3.1.2)."""

from __future__ import annotations

from functools import cached_property

import cv2
import numpy as np
from scipy import ndimage

from everyface.arrays import F32, I32, U8, AnyArray, Bool, as_f32
from everyface.faces.mesh import OVAL, POINTS, TRIANGLES
from everyface.spaces.appearance.raster import rasterise, spread

RIM = 1.08
"""How far the rim of skin that is carried on beyond the contour reaches."""

SEEN = (0.15, 0.55)
"""A triangle whose area in the photo is below the first share of its frontal area is not seen."""

_RING: I32 = np.arange(POINTS, POINTS + len(OVAL), dtype=np.int32)
_NEXT = np.roll(np.arange(len(OVAL)), -1)
_RIM_TRIANGLES: I32 = np.concatenate(
    [
        np.stack([_RING, _RING[_NEXT], OVAL], axis=1),
        np.stack([_RING[_NEXT], OVAL[_NEXT], OVAL], axis=1),
    ]
).astype(np.int32)
DRAWN_TRIANGLES: I32 = np.ascontiguousarray(np.concatenate([_RIM_TRIANGLES, TRIANGLES]), np.int32)
"""The mesh with the rim around it, drawn first so that the face covers it."""


def rimmed(points: F32) -> F32:
    """Return the mesh in two dimensions with a ring of points around its contour."""
    flat = points[:, :2]
    middle = flat[OVAL].mean(axis=0)
    return np.concatenate([flat, middle + RIM * (flat[OVAL] - middle)]).astype(np.float32)


class TextureFrame:
    """Reads textures from faces and writes them onto shapes.

    A texture is (height, width, 3) float32 RGB from 0 to 255 on the reference shape, at the scale
    of the `FACE` frame, so that a face loses no sharpness by passing through it.

    Parameters
    ----------
    reference
        (478, 3): a frontal, left-right symmetric shape in `FACE` pixels.
    """

    def __init__(self, reference: F32) -> None:
        self.reference = reference
        outline = rimmed(reference)
        low, high = outline.min(axis=0) - 2, outline.max(axis=0) + 2
        self.width, self.height = (4 * int(np.ceil(side / 4)) for side in high - low)
        origin = (low + high) / 2 - (np.array([self.width, self.height]) - 1) / 2
        self.points: F32 = np.asarray(reference[:, :2] - origin, np.float32)
        self.outline: F32 = np.asarray(outline - origin, np.float32)
        self._ids, self._bary = rasterise(self.points, TRIANGLES, self.height, self.width)
        self.inside: Bool = self._ids >= 0
        self._nearest = ndimage.distance_transform_edt(
            ~self.inside, return_distances=False, return_indices=True
        ).astype(np.float32)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.height, self.width

    def read(self, image: U8, points: F32) -> F32:
        """Warp the face in `image` onto the reference; its edge is carried on outwards."""
        where = spread(points[:, :2], TRIANGLES, self._ids, self._bary)
        texture: F32 = cv2.remap(
            image.astype(np.float32),
            where[..., 0],
            where[..., 1],
            cv2.INTER_CUBIC,
            borderMode=cv2.BORDER_REPLICATE,
        )
        return self.carried(np.clip(texture, 0, 255))

    def carried(self, texture: AnyArray) -> AnyArray:
        """Fill everything outside the face with the nearest value inside."""
        held: AnyArray = cv2.remap(texture, self._nearest[1], self._nearest[0], cv2.INTER_NEAREST)
        return held

    def seen(self, points: F32, frontal: F32) -> F32:
        """Return 1 where the photo shows the skin, 0 where it is turned away, (h, w).

        Parameters
        ----------
        points, frontal
            The mesh as it is in the photo, and turned to the front.
        """
        scale = np.linalg.norm(frontal - frontal.mean(axis=0)) / np.linalg.norm(
            points - points.mean(axis=0)
        )
        share = _areas(points) * scale**2 / np.maximum(_areas(frontal), 0.5)
        visible = np.clip((share - SEEN[0]) / (SEEN[1] - SEEN[0]), 0, 1)
        vertex = np.zeros((POINTS, 1), np.float32)
        count = np.zeros((POINTS, 1), np.float32)
        for corner in range(3):
            np.add.at(vertex[:, 0], TRIANGLES[:, corner], visible)
            np.add.at(count[:, 0], TRIANGLES[:, corner], 1)
        mean = as_f32(vertex / np.maximum(count, 1))
        shown = spread(mean, TRIANGLES, self._ids, self._bary)
        return np.asarray(self.carried(shown[..., 0]), np.float32)

    def write(self, texture: F32, points: F32, size: int) -> tuple[F32, F32]:
        """Warp `texture` onto a shape.

        Returns
        -------
        image, cover
            (size, size, 3) float32; (size, size) float32, 1 on the face and its rim, 0 elsewhere.
        """
        ids, bary = rasterise(rimmed(points), DRAWN_TRIANGLES, size, size)
        where = spread(self.outline, DRAWN_TRIANGLES, ids, bary)
        image: F32 = cv2.remap(
            texture, where[..., 0], where[..., 1], cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
        )
        return image, (ids >= 0).astype(np.float32)

    @cached_property
    def packing(self) -> Packing:
        """How textures of this frame become vectors."""
        return Packing(self)


def _areas(points: F32) -> F32:
    a, b, c = (points[TRIANGLES[:, corner], :2] for corner in range(3))
    return np.asarray(
        (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0], dtype=np.float32
    )


_TO_YCC = np.array(
    [[0.299, 0.587, 0.114], [0.5, -0.418688, -0.081312], [-0.168736, -0.331264, 0.5]], np.float32
)
_TO_RGB = np.linalg.inv(_TO_YCC).astype(np.float32)


class Packing:
    """A texture as a vector: luminance at every pixel of the face, colour at every second.

    The eye resolves colour at half the sharpness; half the length of the vectors is memory and
    time. Colour is weighted by 2 because each value stands for four pixels, so that distances
    between vectors are distances between images.
    """

    def __init__(self, frame: TextureFrame) -> None:
        self.frame = frame
        coarse = frame.inside.reshape(frame.height // 2, 2, frame.width // 2, 2)
        self._coarse: Bool = np.asarray(coarse.any(axis=(1, 3)))
        self._fill = ndimage.distance_transform_edt(
            ~self._coarse, return_distances=False, return_indices=True
        )
        self.fine = int(frame.inside.sum())
        self.length = self.fine + 2 * int(self._coarse.sum())

    def pack(self, texture: F32) -> F32:
        """(h, w, 3) → (length,)."""
        ycc = cv2.transform(texture, _TO_YCC)
        colour = cv2.resize(
            ycc[..., 1:],
            (self.frame.width // 2, self.frame.height // 2),
            interpolation=cv2.INTER_AREA,
        )
        return np.concatenate(
            [ycc[..., 0][self.frame.inside], 2 * colour[self._coarse].T.ravel()]
        ).astype(np.float32)

    def unpack(self, vector: F32) -> F32:
        """(length,) → (h, w, 3), not clipped."""
        ycc = np.zeros((self.frame.height, self.frame.width, 3), np.float32)
        ycc[self.frame.inside, 0] = vector[: self.fine]
        ycc[..., 0] = self.frame.carried(ycc[..., 0])
        colour = np.zeros((*self._coarse.shape, 2), np.float32)
        colour[self._coarse] = vector[self.fine :].reshape(2, -1).T / 2
        colour = colour[self._fill[0], self._fill[1]]
        ycc[..., 1:] = cv2.resize(
            colour, (self.frame.width, self.frame.height), interpolation=cv2.INTER_LINEAR
        )
        return np.asarray(cv2.transform(ycc, _TO_RGB), np.float32)
