"""The appearance model of people who do not exist, shipped with the package.

It was trained on faces that a generator drew (`python -m everyface.training.appearance`), so it
holds nobody. It defines the canvas that all textures are laid on, it tells what a photo hides,
and it stands in for a fitted model where a set is too small to fit one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import BinaryIO

import numpy as np

from everyface.arrays import F32
from everyface.spaces.appearance.fill import Fill
from everyface.spaces.appearance.frame import TextureFrame
from everyface.spaces.components import Components


@dataclass(frozen=True)
class Model:
    """Both halves of an appearance model and what is known of its faces.

    Attributes
    ----------
    reference
        (478, 3): the symmetric mean shape, the canvas of textures.
    shape, texture
        Components of shapes (1434 numbers) and of packed textures.
    error
        See `Fill`.
    energy
        (bands, h / 4, w / 4): the usual strength of detail, see `Detail`.
    provenance
        What it was trained on, in words.
    """

    reference: F32
    shape: Components
    texture: Components
    error: F32
    energy: F32
    provenance: str

    def save(self, file: BinaryIO) -> None:
        """Write the model in a few megabytes: bases in 8 bits a number, a scale a component."""
        arrays: dict[str, object] = {
            "reference": self.reference,
            "error": self.error.astype(np.float16),
            "energy": self.energy.astype(np.float16),
            "provenance": np.array(self.provenance),
        }
        for name, half in (("shape", self.shape), ("texture", self.texture)):
            scale = np.abs(half.basis).max(axis=1) / 127
            arrays[f"{name}_mean"] = half.mean.astype(np.float16 if name == "texture" else "f4")
            arrays[f"{name}_basis"] = np.round(half.basis / scale[:, None]).astype(np.int8)
            arrays[f"{name}_scale"] = scale.astype(np.float32)
            arrays[f"{name}_variances"] = half.variances
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]

    @classmethod
    def load(cls, file: BinaryIO) -> Model:
        """Read what `save` wrote."""
        with np.load(file, allow_pickle=False) as held:
            halves = [
                Components(
                    held[f"{name}_mean"].astype(np.float32),
                    held[f"{name}_basis"].astype(np.float32) * held[f"{name}_scale"][:, None],
                    held[f"{name}_variances"],
                )
                for name in ("shape", "texture")
            ]
            return cls(
                held["reference"],
                halves[0],
                halves[1],
                held["error"].astype(np.float32),
                held["energy"].astype(np.float32),
                str(held["provenance"]),
            )


@cache
def generic() -> Model:
    """Return the shipped model, read once a process."""
    with (files("everyface.spaces.appearance") / "generic.npz").open("rb") as file:
        return Model.load(file)  # type: ignore[arg-type]


@cache
def canvas() -> TextureFrame:
    """Return the frame that every texture is laid on."""
    return TextureFrame(generic().reference)


@cache
def filler() -> Fill:
    """Return the fill that the shipped model gives."""
    return Fill(canvas(), generic().texture, generic().error)
