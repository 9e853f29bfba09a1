"""What every recogniser owes: a vector a face, and how alike two vectors are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from everyface.arrays import F32, F64, U8, AnyArray
from everyface.errors import InputError
from everyface.faces.align import crop, procrustes
from everyface.faces.faceset import POINTS
from everyface.progress import Tick, silent


class Recogniser(ABC):
    """A network that tells people apart.

    Attributes
    ----------
    name
        As in `everyface.faces.identity.recogniser`.
    model
        The registry entry of its weights.
    threshold
        Two faces whose similarity reaches this pass for one person.
    """

    name: ClassVar[str]
    model: ClassVar[str]
    threshold: ClassVar[float]

    def embed(self, crops: U8, points: F32, tick: Tick = silent) -> F32:
        """Return one vector a face, (n, d).

        A face's vector does not depend on which other faces are embedded beside it.

        Parameters
        ----------
        crops
            (n, h, w, 3) RGB, each showing one face.
        points
            (n, 478, 3) mesh points in pixels of `crops`.
        tick
            Hears how far the work is.
        """
        if crops.ndim != 4 or crops.shape[-1] != 3 or crops.dtype != np.uint8:
            raise InputError(
                f"{self.name} wants crops of uint8 (n, h, w, 3), got {crops.dtype} {crops.shape}"
            )
        if points.shape[:2] != (len(crops), POINTS):
            raise InputError(
                f"{self.name} wants points of ({len(crops)}, {POINTS}, 3), got {points.shape}"
            )
        return self._embed(crops, points, tick)

    @abstractmethod
    def _embed(self, crops: U8, points: F32, tick: Tick) -> F32:
        """Embed checked crops."""

    @abstractmethod
    def similarity(self, a: F32, b: F32) -> F32:
        """Return how alike the rows of `a` (n, d) and `b` (m, d) are, (n, m); larger is more."""


def aligned(image: U8, landmarks: AnyArray, template: AnyArray, size: int) -> U8:
    """Cut the square out of `image` in which `landmarks` best lie on `template`.

    The fit is the least-squares similarity (Umeyama 1991; no mirror, no shear), the cut is free
    of aliasing however large the face.
    """
    return crop(image, procrustes(landmarks, template), size)


def cosine(a: F32, b: F32) -> F32:
    """Return the cosines of the angles between the rows of `a` and of `b`."""
    product = _unit(a) @ _unit(b).T
    return np.asarray(product, dtype=np.float32)


def minus_distance(a: F32, b: F32) -> F32:
    """Return minus the Euclidean distances between the rows of `a` and of `b`."""
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    squared = (x * x).sum(1)[:, None] + (y * y).sum(1)[None] - 2 * (x @ y.T)
    return np.asarray(-np.sqrt(np.maximum(squared, 0)), dtype=np.float32)


def _unit(rows: F32) -> F64:
    wide = np.asarray(rows, dtype=np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    return np.asarray(wide / np.maximum(lengths, 1e-12), dtype=np.float64)
