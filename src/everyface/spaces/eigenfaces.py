"""Eigenfaces: the principal components of aligned pixels (thesis Eq. 3.1-3.6)."""

from __future__ import annotations

from typing import Self

import numpy as np

from everyface.arrays import F32
from everyface.errors import InputError
from everyface.faces.faceset import FaceSet
from everyface.spaces.base import Drawn, SynthesisSpace
from everyface.spaces.components import BLOCK, Components, one_thread, principal
from everyface.spaces.pixels import Pixels

MOST_FITTED = 1200
"""Components are found from at most this many faces, evenly spread over those given."""


class Eigenfaces(SynthesisSpace):
    """The pixel space, seen through its principal components.

    Parameters
    ----------
    components
        The most components that are kept. With fewer faces than that the space spans them
        exactly, and a mean of codes is the code of the mean of the pixels.
    side
        As in `Pixels`.
    """

    name = "eigenfaces"

    def __init__(self, components: int = 200, side: int = 256) -> None:
        self.components = components
        self.side = side

    components_: Components

    @one_thread()
    def fit(self, faces: FaceSet, y: object = None) -> Self:  # noqa: ARG002
        """Find the components of `faces`."""
        if len(faces) < 2:
            raise InputError(f"eigenfaces cannot be found from {len(faces)} faces", "give more")
        if self.components < 1:
            raise InputError(f"{self.components} components were asked for", "ask for 1 or more")
        self.pixels_ = Pixels(self.side).fit(faces)
        chosen = np.linspace(0, len(faces) - 1, min(len(faces), MOST_FITTED)).round().astype(int)
        self.components_ = principal(self.pixels_.transform(faces.take(chosen)), self.components)
        return self

    @one_thread()
    def transform(self, faces: FaceSet) -> F32:
        """Return the components of every face."""
        blocks = list(faces.blocks(BLOCK)) or [faces]
        return np.concatenate(
            [self.components_.project(self.pixels_.transform(block)) for block in blocks]
        )

    @one_thread()
    def draw(self, codes: F32) -> Drawn:
        """Draw the pixels that codes stand for."""
        return self.pixels_.draw(self.components_.rebuild(np.asarray(codes, np.float32)))
