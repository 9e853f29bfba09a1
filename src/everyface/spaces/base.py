"""What every space owes: faces to vectors, and, where it can synthesise, vectors to faces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

from sklearn.base import BaseEstimator, TransformerMixin

from everyface.arrays import F32, U8
from everyface.faces.faceset import FaceSet
from everyface.guarantee import Level


@dataclass(frozen=True)
class Drawn:
    """Faces drawn from codes, in the `FACE` frame.

    Attributes
    ----------
    images
        (n, h, w, 3) RGB.
    points
        (n, 478, 3) mesh points in pixels of `images`, frontal unless the space keeps pose.
    masks
        (n, h, w), 255 where `images` shows a face, 0 where it shows nothing of meaning.
    """

    images: U8
    points: F32
    masks: U8


class Space(TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A scikit-learn transformer from a `FaceSet` to float32 vectors.

    `fit` learns what it needs from the faces; `transform` must not depend on which other faces
    are transformed beside one (so it may be called in blocks).
    """

    name: ClassVar[str]

    @abstractmethod
    def fit(self, faces: FaceSet, y: object = None) -> Self:
        """Learn the space from `faces`."""

    @abstractmethod
    def transform(self, faces: FaceSet) -> F32:
        """Return one float32 vector a face, (n, d)."""


class SynthesisSpace(Space):
    """A space that can also draw."""

    lowers: ClassVar[tuple[Level, str] | None] = None
    """The highest guarantee this space can carry and why, or None if it lowers nothing."""

    @abstractmethod
    def draw(self, codes: F32) -> Drawn:
        """Draw one face a code; equal codes give equal bytes."""

    def inverse_transform(self, codes: F32) -> U8:
        """Return the images alone, uint8 (n, h, w, 3)."""
        return self.draw(codes).images
