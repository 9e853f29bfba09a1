"""The embedding space: who a face is, as a recogniser sees it. It cannot draw."""

from __future__ import annotations

from typing import Self

import numpy as np

from everyface.arrays import F32
from everyface.faces.faceset import FaceSet
from everyface.faces.identity import embedded, recogniser
from everyface.spaces.base import Space


class Embedding(Space):
    """A recogniser's vectors, brought to length 1, so that near means alike to a machine.

    Parameters
    ----------
    recogniser
        ``sface``, ``dlib`` or ``facenet``.
    """

    name = "embedding"

    def __init__(self, recogniser: str = "sface") -> None:
        self.recogniser = recogniser

    def fit(self, faces: FaceSet, y: object = None) -> Self:  # noqa: ARG002
        """Learn nothing; refuse a recogniser that does not exist."""
        recogniser(self.recogniser)
        return self

    def transform(self, faces: FaceSet) -> F32:
        """Return one vector of length 1 a face."""
        found = embedded(faces, self.recogniser)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.maximum(lengths, 1e-9), np.float32)
