"""One-pass k-means, OKA (Lin and Wei 2008)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from everyface.arrays import F64, I32, I64
from everyface.grouping.base import Grouping, Partition
from everyface.grouping.pool import squared


class OnePass(Grouping):
    """Everybody joins the nearest of ⌊n / k⌋ moving means, once; then sizes are mended (OKA).

    The clustering stage sorts the people, draws ⌊n / k⌋ of them as the first means, and adds the
    others in order, each to the group with the nearest mean, which moves at once. The adjustment
    stage takes from each group above k those furthest from its mean, and hands them out in random
    order: to the nearest group below k, or, when there is none, to the nearest group of all.
    Sizes lie in [k, 2k − 1].

    The paper sorts people by their attributes; here that is by the first dimension, then the
    next. It does not say whether means move during the adjustment: they do, as they do before,
    but not while people are taken out, since the people to go are ranked once.
    """

    name: ClassVar[str] = "onepass"

    def _partition(self, X: F64, rng: np.random.Generator) -> Partition:
        groups = len(X) // self.k
        seeds = rng.choice(len(X), groups, replace=False)
        means, heads = X[seeds].copy(), np.ones(groups)
        labels = np.full(len(X), -1, dtype=np.int32)
        labels[seeds] = np.arange(groups)
        for person in np.lexsort(X.T[::-1]):
            if labels[person] < 0:
                _join(X, labels, means, heads, person, np.arange(groups))
        out: list[int] = []
        for group in np.flatnonzero(heads > self.k):
            members = np.flatnonzero(labels == group)
            order = np.lexsort((members, squared(X[members], means[group])))
            out += members[order[self.k :]].tolist()
            stay = members[order[: self.k]]
            means[group], heads[group] = X[stay].mean(axis=0), self.k
        for person in rng.permutation(out).astype(np.int64):
            below = np.flatnonzero(heads < self.k)
            _join(X, labels, means, heads, person, below if len(below) else np.arange(groups))
        return Partition(labels)


def _join(X: F64, labels: I32, means: F64, heads: F64, person: int, among: I64) -> None:
    """Add a person to the group with the nearest mean, and move that mean."""
    group = int(among[np.argmin(squared(means[among], X[person]))])
    labels[person] = group
    heads[group] += 1
    means[group] += (X[person] - means[group]) / heads[group]
