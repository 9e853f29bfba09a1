"""Greedy k-member clustering (Byun, Kamra, Bertino and Li 2007)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from everyface.arrays import F64, I32, I64
from everyface.grouping.base import Grouping, Partition


class KMember(Grouping):
    """Groups that grow by whoever adds least to what a release would blur (Byun et al. 2007).

    Each turn takes the person furthest from the one who started the turn before (the first turn
    looks from somebody drawn at random) and adds, one at a time, the person who raises the
    group's information loss least. Fewer than k people who are left each join the group whose
    loss they raise least. Sizes lie in [k, 2k − 1]. Time is O(n² d).

    All codes are numbers, so the paper's categorical part is empty: the loss of a group is its
    size times the sum, over dimensions, of its range divided by that of everybody, and two people
    are as far apart as the sum of their differences, divided likewise. A dimension in which
    everybody is equal counts nothing. Of equally good people or groups the first is taken.
    """

    name: ClassVar[str] = "kmember"

    def _partition(self, X: F64, rng: np.random.Generator) -> Partition:
        low, high = X.min(axis=0), X.max(axis=0)
        varies = high > low
        Z = np.ascontiguousarray(((X - low)[:, varies]) / (high - low)[varies])
        left: I64 = np.arange(len(Z), dtype=np.int64)
        labels = np.full(len(Z), -1, dtype=np.int32)
        lows: list[F64] = []
        highs: list[F64] = []
        start = int(rng.integers(len(Z)))
        while len(left) >= self.k:
            at = int(np.argmax(np.abs(Z[left] - Z[start]).sum(axis=1)))
            start = int(left[at])
            labels[start] = len(lows)
            left = np.delete(left, at)
            bottom, top = Z[start].copy(), Z[start].copy()
            for _ in range(self.k - 1):
                at = int(np.argmin(_widths(Z[left], bottom, top)))
                found = left[at]
                labels[found] = len(lows)
                left = np.delete(left, at)
                bottom, top = np.minimum(bottom, Z[found]), np.maximum(top, Z[found])
            lows.append(bottom)
            highs.append(top)
        self._place(Z, left, labels, np.array(lows), np.array(highs))
        return Partition(labels)

    def _place(self, Z: F64, left: I64, labels: I32, lows: F64, highs: F64) -> None:
        """Add each who is left over to the group whose loss grows least."""
        heads = np.bincount(labels[labels >= 0]).astype(np.float64)
        for person in left:
            bottom, top = np.minimum(lows, Z[person]), np.maximum(highs, Z[person])
            more = (heads + 1) * (top - bottom).sum(axis=1) - heads * (highs - lows).sum(axis=1)
            group = int(np.argmin(more))
            labels[person] = group
            heads[group] += 1
            lows[group], highs[group] = bottom[group], top[group]


def _widths(rows: F64, bottom: F64, top: F64) -> F64:
    """Sum of a group's ranges once each of `rows` had joined it.

    The loss is this times a size that is the same for all, so the smallest is the best.
    """
    found: F64 = (np.maximum(rows, top) - np.minimum(rows, bottom)).sum(axis=1)
    return found
