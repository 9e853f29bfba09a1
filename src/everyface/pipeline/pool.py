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
    """

    codes: F32
    shares: F32
    chosen: I32

    @classmethod
    def of(
        cls, made: Surrogates, partition: Partition, codes: F32, rng: np.random.Generator
    ) -> Pool:
        """Take the rule's surrogates, and add the means and mixtures of means for second choices.

        A mixture is the weighted mean of two other groups: of 2k people or more, with weights
        that nobody outside can know.
        """
        means = partition.centroids(codes).astype(np.float32)
        shares = _recognised(made.codes, means)
        missing = np.flatnonzero(shares.sum(axis=0) == 0)
        blend = _mixtures(len(means), rng)
        extra = np.concatenate([np.eye(len(means), dtype=np.float32)[missing], blend])
        return cls(
            codes=np.concatenate([made.codes, extra @ means]).astype(np.float32),
            shares=np.concatenate([shares, extra]),
            chosen=made.source,
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
        """Return which codes may stand for members of `groups`: those not made of them."""
        shared = self.shares.sum(axis=1) > 0
        return np.asarray(shared[None, :] & (self.shares[:, groups].T == 0))

    def made_of(self, partition: Partition, code: int) -> I64:
        """Return the people that a code was averaged from."""
        return np.flatnonzero(self.shares[code][partition.labels] > 0)


def _recognised(codes: F32, means: F32) -> F32:
    """Find which of `codes` are group means, by value."""
    shares = np.zeros((len(codes), len(means)), dtype=np.float32)
    scale = float(np.abs(means).max()) + 1e-9
    for row, code in enumerate(codes):
        gap = np.abs(means - code).max(axis=1)
        if gap.min() <= 1e-5 * scale:
            shares[row, gap.argmin()] = 1
    return shares


def _mixtures(groups: int, rng: np.random.Generator) -> F32:
    """Draw mixtures of two groups each, no pair twice in a row of its own."""
    if groups < 3:
        return np.zeros((0, groups), dtype=np.float32)
    made = np.zeros((_MIXTURES * groups, groups), dtype=np.float32)
    for row in made:
        pair = rng.choice(groups, size=2, replace=False)
        weight = rng.uniform(0.35, 0.65)
        row[pair] = weight, 1 - weight
    return made


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
