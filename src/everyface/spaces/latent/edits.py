"""Another photo of the same person: expression, pose and light moved in the style space.

Each edit is a direction in W, found by regressing what is measured on painted portraits on their
styles, and made so that it leaves the other measures where they are. It is applied only at the
layers that carry its kind of change (Karras et al. 2019, Section 3.1: coarse styles hold pose,
middle ones features and expression, fine ones colour), which keeps the person. The directions are
data, made by ``python -m everyface.training.edits``.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Self

import numpy as np

from everyface.arrays import F32, I32, AnyArray
from everyface.errors import InputError
from everyface.spaces.latent.generator import LAYERS, everywhere

LAYERS_OF: dict[str, tuple[int, int]] = {
    "smile": (4, 10),
    "yaw": (0, 7),
    "pitch": (0, 7),
    "side": (4, LAYERS),
    "light": (7, LAYERS),
}
"""Edit → first layer and the one after the last at which it is applied.

`side` is the light coming more from the picture's right; `yaw` and `pitch` are those of
`FaceSet.pose`."""


@dataclass(frozen=True)
class Edits:
    """Directions in W, one standard deviation of what they change a step.

    Attributes
    ----------
    names
        What each row changes.
    directions
        (m, 512) the step.
    readings
        (m, 512) what reads the measure off a style, in standard deviations from the mean style's.
    layers
        (m, 2) first layer and the one after the last.
    deviation
        (m,) the standard deviation in the measure's own unit: degrees for yaw and pitch, L* for
        side and light, parts of the eyes' distance for smile.
    """

    names: tuple[str, ...]
    directions: F32
    readings: F32
    layers: I32
    deviation: F32

    @classmethod
    def shipped(cls) -> Self:
        """Read the directions that come with the package."""
        with (
            (files("everyface.spaces.latent") / "edits.npz").open("rb") as file,
            np.load(file, allow_pickle=False) as held,
        ):
            names = tuple(str(name) for name in held["names"])
            return cls(
                names, *(held[key] for key in ("directions", "readings", "layers", "deviation"))
            )

    def read(self, offsets: F32) -> dict[str, F32]:
        """Predict every measure of styles, given as offsets (n, 512) from the mean style."""
        values = np.asarray(offsets) @ self.readings.T
        return dict(zip(self.names, values.T, strict=True))

    def apply(self, w: F32, amounts: dict[str, AnyArray]) -> F32:
        """Move styles (n, 512) or (n, 23, 512) by so many steps (n,) of each named edit.

        Returns (n, 23, 512).
        """
        styles = everywhere(w).copy()
        for name, steps in amounts.items():
            if name not in self.names:
                raise InputError(f"there is no edit {name!r}", f"edits: {', '.join(self.names)}")
            row = self.names.index(name)
            first, end = self.layers[row]
            moved = np.asarray(steps, dtype=np.float32)[:, None] * self.directions[row]
            styles[:, first:end] += moved[:, None]
        return styles
