"""The naive attack: a recogniser compares each released face with everybody's originals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everyface.arrays import F32, I32, I64, Bool
from everyface.attacks.scores import Share
from everyface.faces.faceset import FaceSet
from everyface.faces.identity import Recogniser, embedded
from everyface.progress import Tick, silent

_BLOCK = 512


@dataclass(frozen=True)
class Gallery:
    """What the attacker holds: an embedding of every original face, and who it is.

    The strongest outsider is assumed: everybody in the release is in the gallery. A face is
    sought among its person's *other* photos; where there are none, in the very photo it was made
    from, which is harder to withstand.
    """

    recogniser: Recogniser
    embeddings: F32
    person: I32
    photo: I32

    @classmethod
    def of(cls, recogniser: Recogniser, faces: FaceSet, tick: Tick = silent) -> Gallery:
        """Embed every face of `faces`."""
        found = embedded(faces, recogniser.name, tick)
        return cls(recogniser, found, faces.subject, faces.photo)


@dataclass(frozen=True)
class Scores:
    """How alike each released face is to its own person and to everybody else.

    Attributes
    ----------
    own
        The greatest similarity to the person it came from.
    other
        The greatest similarity to anybody else, −inf in a gallery of one.
    strangers
        The share of other people whom it matches above the recogniser's threshold.
    threshold
        The recogniser's own threshold.
    """

    own: F32
    other: F32
    strangers: F32
    threshold: float

    @property
    def first(self) -> Bool:
        """Rank-1: whose best match is themselves. A tie counts against us."""
        return self.own >= self.other

    @property
    def matched(self) -> Bool:
        """Who matches themselves above the recogniser's threshold."""
        return self.own >= self.threshold

    @property
    def margin(self) -> F32:
        """How far each face is from passing both tests; above 0 it fails one."""
        return np.asarray(self.own - np.minimum(self.other, self.threshold), dtype=np.float32)

    def rank1(self) -> Share:
        """Share of faces re-identified at rank 1."""
        return Share(int(self.first.sum()), len(self.own))

    def own_matches(self) -> Share:
        """Share of faces that match their own person."""
        return Share(int(self.matched.sum()), len(self.own))

    def stranger_matches(self) -> float:
        """Mean share of strangers matched: what an own match must not exceed."""
        return float(self.strangers.mean()) if len(self.strangers) else 0.0

    def at(self, rows: I64 | Bool) -> Scores:
        """Return the scores of some faces."""
        return Scores(self.own[rows], self.other[rows], self.strangers[rows], self.threshold)

    def put(self, rows: I64, new: Scores) -> Scores:
        """Return these scores with those of `rows` replaced."""
        made = [array.copy() for array in (self.own, self.other, self.strangers)]
        for array, values in zip(made, (new.own, new.other, new.strangers), strict=True):
            array[rows] = values
        return Scores(made[0], made[1], made[2], self.threshold)


def attack(gallery: Gallery, probes: F32, rows: I64) -> Scores:
    """Compare released faces with the gallery; `rows` names the original each was made from."""
    people, start = np.unique(np.sort(gallery.person), return_index=True)
    order = np.argsort(gallery.person, kind="stable")
    parts = [
        _block(gallery, probes[i : i + _BLOCK], rows[i : i + _BLOCK], order, start, people)
        for i in range(0, len(rows), _BLOCK)
    ]
    own, other, strangers = (
        np.concatenate([part[i] for part in parts]) if parts else np.zeros(0, np.float32)
        for i in range(3)
    )
    return Scores(own, other, strangers, gallery.recogniser.threshold)


def _block(
    gallery: Gallery, probes: F32, rows: I64, order: I64, start: I64, people: I32
) -> tuple[F32, F32, F32]:
    sim = gallery.recogniser.similarity(probes, gallery.embeddings)
    mine = gallery.person[rows][:, None] == gallery.person[None, :]
    elsewhere = mine & (gallery.photo[rows][:, None] != gallery.photo[None, :])
    itself = np.arange(len(gallery.person))[None, :] == rows[:, None]
    counted = np.where(elsewhere.any(axis=1)[:, None], elsewhere, itself)
    own = np.where(counted, sim, -np.inf).max(axis=1)
    per_person = np.maximum.reduceat(sim[:, order], start, axis=1)
    per_person[people[None, :] == gallery.person[rows][:, None]] = -np.inf
    above = (per_person >= gallery.recogniser.threshold).sum(axis=1)
    strangers = above / max(1, len(people) - 1)
    return (
        own.astype(np.float32),
        per_person.max(axis=1).astype(np.float32),
        strangers.astype(np.float32),
    )
