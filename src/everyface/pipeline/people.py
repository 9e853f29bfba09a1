"""From rows to people: one code a person, so that k counts people and nobody weighs twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everyface.arrays import F32, F64, I64, AnyArray
from everyface.errors import InputError
from everyface.faces.faceset import GIVEN, FaceSet
from everyface.spaces.base import Space

_UNITS = {"age": 12.0, "skin": 15.0}
"""How much of a numeric attribute is one step in likeness: years, degrees of skin tone."""

_TONES = (-30, 10, 28, 41, 55)
"""Bounds of the skin tones dark, brown, tan, intermediate, light and very light (Chardon)."""


def selectable(faces: FaceSet) -> list[str]:
    """Return the labels that people can be grouped within."""
    names = {
        name.removeprefix(GIVEN)
        for name, values in faces.labels.items()
        if values.ndim == 1 and (values.dtype.kind != "f" or name in _UNITS)
    }
    return sorted(names)


@dataclass(frozen=True)
class People:
    """The people of a set of faces.

    Attributes
    ----------
    subject
        Person → index into the set's `subjects`.
    of_row
        Row → person.
    """

    subject: I64
    of_row: I64

    @classmethod
    def of(cls, faces: FaceSet) -> People:
        """Find the distinct people of `faces`."""
        subject, of_row = np.unique(faces.subject, return_inverse=True)
        return cls(subject.astype(np.int64), of_row.astype(np.int64))

    def __len__(self) -> int:
        return len(self.subject)

    def codes(self, space: Space, faces: FaceSet) -> F32:
        """Return one code a person: the mean of their faces, the better photos counting more."""
        weighs = getattr(space, "weights", None)
        weight = faces.quality if weighs is None else weighs(faces)
        return self.mean(space.transform(faces), np.asarray(weight, dtype=np.float64))

    def mean(self, values: AnyArray, weight: F64) -> F32:
        """Average the rows of each person."""
        weight = np.maximum(weight, 1e-3)
        total = np.bincount(self.of_row, weight, minlength=len(self))
        share = weight / total[self.of_row]
        made = np.zeros((len(self), values.shape[1]))
        np.add.at(made, self.of_row, values * share[:, None])
        return made.astype(np.float32)

    def label(self, faces: FaceSet, name: str) -> AnyArray:
        """Return each person's value of a label: the median of numbers, else the commonest."""
        values = np.asarray(faces.labels[name])
        if values.dtype.kind == "f":
            found = [np.median(values[self.of_row == p]) for p in range(len(self))]
            return np.asarray(found)
        words = [np.unique(values[self.of_row == p], return_counts=True) for p in range(len(self))]
        return np.asarray([kinds[counts.argmax()] for kinds, counts in words])

    def kinds(self, faces: FaceSet, name: str) -> AnyArray:
        """Return each person's value of a label that people can be grouped within.

        What the user's table says goes before what was computed. Ages count by decades, skin
        by the six tones of Chardon et al. 1991.
        """
        known = selectable(faces)
        if name not in known:
            raise InputError(
                f"there is no label called {name!r} to group people by",
                f"choose from: {', '.join(known) or 'none'}",
            )
        given = f"{GIVEN}{name}"
        values = self.label(faces, given if given in faces.labels else name)
        if name not in _UNITS:
            return values
        try:
            numbers = values.astype(np.float64)
        except ValueError:
            return values
        return numbers // 10 if name == "age" else np.digitize(numbers, _TONES)

    def attributes(self, faces: FaceSet) -> F32:
        """Return what a surrogate should share with its person: age, gender and skin, in steps."""
        columns = [
            self.label(faces, name).astype(np.float64) / unit
            for name, unit in _UNITS.items()
            if name in faces.labels
        ]
        if "gender" in faces.labels:
            columns.append(2.0 * (self.label(faces, "gender") == "female"))
        if not columns:
            return np.zeros((len(self), 1), dtype=np.float32)
        return np.stack(columns, axis=1).astype(np.float32)
