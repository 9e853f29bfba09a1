"""The pixel space of the first k-Same: an aligned face is its brightness values in a row."""

from __future__ import annotations

from functools import cached_property
from typing import Self

import cv2
import numpy as np

from everyface.arrays import F32, U8, AnyArray, Bool
from everyface.errors import InputError
from everyface.faces.align import FACE, crop, crop_points, procrustes
from everyface.faces.faceset import FaceSet
from everyface.faces.mesh import FIVE
from everyface.spaces.base import Drawn, SynthesisSpace
from everyface.spaces.template import BACKDROP, face_mask, template

_BLOCK = 64


class Pixels(SynthesisSpace):
    """Faces turned, scaled and shifted so that eyes, nose and mouth fall together, as pixels.

    The face set of k-Same (thesis 2.3.1) is "person-specific, aligned": here a similarity brings
    irises, nose tip and mouth corners onto those of a mean face, and what lies outside that face's
    contour is left out. Features that differ in shape do not fall together, so that averages show
    ghosts; that is what k-Same-M mends.

    Parameters
    ----------
    side
        Side of the aligned square in pixels; the face fills about half of its width.
    """

    name = "pixels"

    def __init__(self, side: int = 256) -> None:
        self.side = side

    def fit(self, faces: FaceSet, y: object = None) -> Self:  # noqa: ARG002
        """Learn nothing: pixels are pixels."""
        if not 16 <= self.side <= FACE:
            raise InputError(f"the side of a face is {self.side}", f"choose from 16 to {FACE}")
        return self

    def transform(self, faces: FaceSet) -> F32:
        """Return each face's pixels inside the contour, red, green and blue, 0 to 255."""
        codes = np.empty((len(faces), 3 * int(self._inside.sum())), np.float32)
        row = 0
        for block in faces.blocks(_BLOCK):
            for image, points in zip(block.crops, crop_points(block), strict=True):
                codes[row] = self._aligned(image, points)[self._inside].ravel()
                row += 1
        return codes

    def draw(self, codes: F32) -> Drawn:
        """Put the pixels back in their place, on a plain ground, at full size."""
        points, mask = template(), face_mask(template(), FACE)
        soft = mask[..., None].astype(np.float32) / 255
        images = np.empty((len(codes), FACE, FACE, 3), np.uint8)
        for image, code in zip(images, np.asarray(codes, np.float32), strict=True):
            small = np.full((self.side, self.side, 3), BACKDROP, np.float32)
            small[self._inside] = code.reshape(-1, 3)
            large = cv2.resize(self._carried(small), (FACE, FACE), interpolation=cv2.INTER_CUBIC)
            mixed = np.clip(large, 0, 255) * soft + BACKDROP * (1 - soft)
            image[:] = np.round(mixed).astype(np.uint8)
        n = len(codes)
        return Drawn(images, np.repeat(points[None], n, 0), np.repeat(mask[None], n, 0))

    def _aligned(self, image: U8, points: F32) -> U8:
        scale = self.side / FACE
        wanted = (template()[FIVE, :2] + 0.5) * scale - 0.5
        return crop(image, procrustes(points[FIVE], wanted), self.side)

    @cached_property
    def _inside(self) -> Bool:
        mask = cv2.resize(
            face_mask(template(), FACE), (self.side, self.side), interpolation=cv2.INTER_AREA
        )
        solid: Bool = mask == 255  # what `draw` shows unmixed, so that it is read back as it was
        return solid

    @cached_property
    def _nearest(self) -> AnyArray:
        from scipy import ndimage

        return np.asarray(
            ndimage.distance_transform_edt(
                ~self._inside, return_distances=False, return_indices=True
            )
        )

    def _carried(self, image: F32) -> F32:
        """Carry the face's edge outwards, so that enlarging meets no step there."""
        return np.asarray(image[self._nearest[0], self._nearest[1]])
