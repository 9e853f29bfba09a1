"""Who is who: many photos of one person are one subject, and k counts subjects.

Counting one person as two is what must not happen: a group of k would then hold fewer than k
people. Counting two people as one only asks for more people than needed. Wherever a machine
decides, it therefore decides for "the same" on weaker evidence than a verification would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from everyface.arrays import F32, I32, AnyArray
from everyface.errors import InputError
from everyface.faces.naming import Naming, short_names

SAME = 0.30
"""SFace cosines from here on count as the same person: below the verification threshold (0.363)."""

MOST_AUTO = 20_000
"""More faces than this are not clustered: every pair of them is compared."""


@dataclass(frozen=True)
class Rows:
    """What is known of the faces: their photo, how large they are, and how to compare them."""

    photo: I32
    size: F32
    embed: Callable[[AnyArray], F32]


def assign(said: Naming, photos: Sequence[Path], rows: Rows) -> tuple[I32, tuple[str, ...]]:
    """Return each row's subject and the subjects' names.

    A photo's person is the face that looks most like that person's other photos; with nothing to
    compare, the largest. Every other face in it is a subject of its own
    (``photo.jpg#2``), unless it looks like somebody known. Two faces of one photo are never one
    subject.
    """
    if not said.person and not said.face and not said.unknown:
        names = _clustered(photos, rows)
    else:
        names = _named(said, photos, rows)
    index: dict[str, int] = {}
    subject = np.array([index.setdefault(name, len(index)) for name in names], dtype=np.int32)
    return subject, tuple(index)


def _positions(photo: I32) -> list[int]:
    """Count each row's place among its photo's faces, from 1."""
    seen: dict[int, int] = {}
    places = []
    for number in photo.tolist():
        seen[number] = seen.get(number, 0) + 1
        places.append(seen[number])
    return places


def _own_names(photos: Sequence[Path], photo: I32) -> list[str]:
    short = short_names(photos)
    return [
        short[number] if place == 1 else f"{short[number]}#{place}"
        for number, place in zip(photo.tolist(), _positions(photo), strict=True)
    ]


def _clustered(photos: Sequence[Path], rows: Rows) -> list[str]:
    """Average-linkage clusters of all faces under `SAME`, faces of one photo kept apart."""
    count = len(rows.photo)
    if count > MOST_AUTO:
        raise InputError(
            f"{count} faces are too many to be told apart by looks alone (most: {MOST_AUTO})",
            "name the people by folder, pattern or csv",
        )
    own = _own_names(photos, rows.photo)
    if count < 2:
        return own
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    vectors = _unit(rows.embed(np.arange(count)))
    apart = 1 - vectors @ vectors.T
    apart[rows.photo[:, None] == rows.photo[None]] = 1e6
    np.fill_diagonal(apart, 0)
    tree = linkage(squareform(apart.clip(min=0), checks=False), method="average")
    labels = fcluster(tree, t=1 - SAME, criterion="distance")
    first: dict[int, str] = {}
    return [first.setdefault(int(label), name) for label, name in zip(labels, own, strict=True)]


@dataclass
class _Known:
    """Sums of unit vectors of the people known so far."""

    names: list[str]
    sums: F32

    def add(self, name: str, vector: F32) -> None:
        """Note one more face of a person."""
        if name in self.names:
            self.sums[self.names.index(name)] += vector
        else:
            self.names.append(name)
            self.sums = np.concatenate([self.sums, vector[None]])

    def alike(self, name: str, vector: F32) -> float:
        """Cosine of a unit vector with a person's mean, −1 for somebody not known yet."""
        return float(self._cosines(vector)[self.names.index(name)]) if name in self.names else -1.0

    def closest(self, vector: F32, taken: set[str]) -> str | None:
        """Return who this is: the most alike of those not `taken`, if alike enough."""
        if not self.names:
            return None
        cosines = self._cosines(vector)
        cosines[[i for i, name in enumerate(self.names) if name in taken]] = -1
        best = int(cosines.argmax())
        return self.names[best] if cosines[best] >= SAME else None

    def _cosines(self, vector: F32) -> F32:
        lengths = np.maximum(np.linalg.norm(self.sums, axis=1), 1e-9)
        return np.asarray(self.sums @ vector / lengths)


def _named(said: Naming, photos: Sequence[Path], rows: Rows) -> list[str]:
    """Give every photo's person their face, then find out about the other faces."""
    places = _positions(rows.photo)
    names: list[str | None] = [
        said.face.get((number, place))
        for number, place in zip(rows.photo.tolist(), places, strict=True)
    ]
    of_photo: dict[int, list[int]] = {}
    for row, number in enumerate(rows.photo.tolist()):
        of_photo.setdefault(number, []).append(row)
    for number, here in of_photo.items():
        if len(here) == 1 and names[here[0]] is None:
            names[here[0]] = said.person.get(number)
    open_ = [n for n, here in of_photo.items() if any(names[row] is None for row in here)]
    own = _own_names(photos, rows.photo)
    if open_:
        _open_photos(said, names, {number: of_photo[number] for number in open_}, own, rows)
    return [name if name is not None else own[row] for row, name in enumerate(names)]


def _open_photos(
    said: Naming, names: list[str | None], photos: dict[int, list[int]], own: list[str], rows: Rows
) -> None:
    """Name the faces of photos that show several people, or nobody that was named."""
    chosen = {row for here in photos.values() for row in here}
    chosen |= {row for row, name in enumerate(names) if name is not None}
    order = np.array(sorted(chosen), dtype=np.int64)
    vectors = dict(zip(order.tolist(), _unit(rows.embed(order)), strict=True))
    known = _Known([], np.zeros((0, len(vectors[int(order[0])])), np.float32))
    for row in order.tolist():
        if names[row] is not None:
            known.add(str(names[row]), vectors[row])
    for number, here in photos.items():
        person = said.person.get(number)
        free = [row for row in here if names[row] is None]
        if person is None or not free or person in [names[row] for row in here]:
            continue
        best = max(free, key=lambda row: (known.alike(person, vectors[row]), rows.size[row]))
        names[best] = person
        known.add(person, vectors[best])
    for here in photos.values():
        for row in here:
            if names[row] is None:
                taken = {str(names[other]) for other in here if names[other] is not None}
                # The photo's own name may be the person's that another face was taken for.
                free_name = own[row] if own[row] not in taken else f"{own[row]}#1"
                names[row] = known.closest(vectors[row], taken) or free_name
                known.add(str(names[row]), vectors[row])


def _unit(vectors: F32) -> F32:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9))
