"""The pool: every face that may stand for somebody, and who may stand for whom."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

import numpy as np

from everyface.arrays import F32, F64, I32, I64, Bool
from everyface.grouping.base import Partition
from everyface.spaces.base import Drawn, SynthesisSpace
from everyface.surrogates.base import Surrogates

_MIXTURES = 2
"""Mixtures offered for each group, beside the groups' own means."""


@dataclass(frozen=True)
class Pool:
    """Surrogate codes, and what they were averaged from.

    Attributes
    ----------
    codes
        (m, d) codes in the synthesis space.
    shares
        (m, n_groups) weight of each group's mean in each code; a row of zeros is the code of
        one person alone (k-Diff-furthest).
    chosen
        Person → the code that the surrogate rule chose.
    kind
        Group → the label's value (or values) that it was made within; None where no label was
        named. A face never stands for people of another kind.
    """

    codes: F32
    shares: F32
    chosen: I32
    kind: I64 | None = None

    @classmethod
    def of(
        cls,
        made: Surrogates,
        partition: Partition,
        codes: F32,
        rng: np.random.Generator,
        kind: I64 | None = None,
    ) -> Pool:
        """Take the rule's surrogates, and add the means and mixtures of means for second choices.

        A mixture is the weighted mean of two other groups of one kind: of 2k people or more, with
        weights that nobody outside can know.
        """
        means = partition.centroids(codes).astype(np.float32)
        shares = _recognised(made.codes, means)
        missing = np.flatnonzero(shares.sum(axis=0) == 0)
        blend = _mixtures(np.zeros(len(means), np.int64) if kind is None else kind, rng)
        extra = np.concatenate([np.eye(len(means), dtype=np.float32)[missing], blend])
        return cls(
            codes=np.concatenate([made.codes, extra @ means]).astype(np.float32),
            shares=np.concatenate([shares, extra]),
            chosen=made.source,
            kind=kind,
        )

    def __len__(self) -> int:
        return len(self.codes)

    def attributes(self, partition: Partition, people: F32) -> F32:
        """Return each code's attributes: the mean of those it was averaged from."""
        heads = np.bincount(partition.labels, minlength=partition.n_groups)[:, None]
        sums = np.zeros((partition.n_groups, people.shape[1]))
        np.add.at(sums, partition.labels, people)
        found = (self.shares @ (sums / heads)).astype(np.float32)
        alone = np.flatnonzero(self.shares.sum(axis=1) == 0)
        owner = np.full(len(self), -1)
        owner[self.chosen] = np.arange(len(self.chosen))
        found[alone] = people[owner[alone]]
        return found

    def allowed(self, groups: I64) -> Bool:
        """Return which codes may stand for members of `groups`: not made of them, of their kind."""
        shared = self.shares.sum(axis=1) > 0
        return np.asarray(shared[None, :] & (self.shares[:, groups].T == 0) & self.of_kind(groups))

    def of_kind(self, groups: I64) -> Bool:
        """Return which codes were made of people of the same kind as `groups` alone."""
        if self.kind is None:
            return np.ones((len(groups), len(self)), dtype=np.bool_)
        other = self.kind[groups][:, None] != self.kind[None, :]
        return np.asarray(other.astype(np.float32) @ self.shares.T == 0)

    def own(self, group: int) -> int:
        """Return the code that is a group's own mean."""
        return int(self.shares[:, group].argmax())

    def made_of(self, partition: Partition, code: int) -> I64:
        """Return the people that a code was averaged from.

        A code of one person alone (k-Diff-furthest) is that person's difference from their own
        group, put on the average of the opposed group: the people of the opposed group count.
        """
        if not self.shares[code].any():
            own = int(partition.labels[np.flatnonzero(self.chosen == code)[0]])
            group = own if partition.partner is None else int(partition.partner[own])
            return np.flatnonzero(partition.labels == group)
        averaged = self.shares[code][partition.labels] > 0
        if partition.core is not None:
            averaged &= partition.core
        return np.flatnonzero(averaged)


def _recognised(codes: F32, means: F32) -> F32:
    """Find which of `codes` are group means, by value."""
    shares = np.zeros((len(codes), len(means)), dtype=np.float32)
    scale = float(np.abs(means).max()) + 1e-9
    for row, code in enumerate(codes):
        gap = np.abs(means - code).max(axis=1)
        if gap.min() <= 1e-5 * scale:
            shares[row, gap.argmin()] = 1
    return shares


def _mixtures(kind: I64, rng: np.random.Generator) -> F32:
    """Draw mixtures of two groups of one kind, where a third is left for them to stand for."""
    made = []
    for alike in (np.flatnonzero(kind == value) for value in np.unique(kind)):
        for _ in range(_MIXTURES * len(alike) if len(alike) >= 3 else 0):
            row = np.zeros(len(kind), dtype=np.float32)
            pair = rng.choice(alike, size=2, replace=False)
            weight = rng.uniform(0.35, 0.65)
            row[pair] = weight, 1 - weight
            made.append(row)
    return np.array(made, dtype=np.float32).reshape(-1, len(kind))


class Painter:
    """Draws codes on demand, remembering the last few; equal codes give equal bytes."""

    def __init__(self, space: SynthesisSpace, codes: F32, keep: int = 160) -> None:
        self.space, self.codes, self.keep = space, codes, keep
        self._drawn: dict[int, Drawn] = {}
        self._lock = Lock()

    def __call__(self, code: int) -> Drawn:
        """Draw one code, as a `Drawn` of one face."""
        with self._lock:
            drawn = self._drawn.pop(code, None)
            if drawn is None:
                drawn = self.space.draw(self.codes[code : code + 1])
            self._drawn[code] = drawn
            if len(self._drawn) > self.keep:
                self._drawn.pop(next(iter(self._drawn)))
        return drawn

    def block(self, start: int, stop: int) -> Drawn:
        """Draw neighbouring codes at once, without keeping them."""
        return self.space.draw(self.codes[start:stop])


def spread(values: F64 | F32) -> float:
    """Return the scale of some similarities, to weigh one recogniser against another."""
    return float(np.std(values)) + 1e-6
