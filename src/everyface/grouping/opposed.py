"""Pairs of groups that stand far apart, whose centroids can be swapped (thesis Alg. 3 and 4)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from everyface.arrays import F64
from everyface.errors import InputError
from everyface.grouping.base import Grouping, Partition
from everyface.grouping.pool import Pool, squared
from everyface.grouping.wrongmap import own_nearest


def overlap(one: F64, other: F64) -> bool:
    """Whether the spheres around two clusters touch or cross (thesis Eq. 4.1 to 4.3)."""
    centres = one.mean(axis=0), other.mean(axis=0)
    radii = [np.sqrt(squared(c, m).max()) for c, m in zip((one, other), centres, strict=True)]
    return bool(sum(radii) >= np.linalg.norm(centres[0] - centres[1]))


class Opposed(Grouping):
    """Paired clusters, each as far from the other as can be (k-Same-furthest, thesis Alg. 3).

    Each turn draws a person c, takes f, the furthest from c, and grows a cluster around each, one
    person at a time, by the person nearest to the cluster's moving centroid. Fewer than 2k people
    left at the end join the nearer of the last two clusters without moving its centroid.

    The thesis freezes both centroids as soon as the spheres overlap (Eq. 4.3), and fills the
    clusters up to k afterwards. In many dimensions that happens at the second person, and the
    "centroid" that k people are then given is one real person's face. So here a centroid is the
    mean of at least `least` people. What this costs, Theorem 3's certainty, is counted:
    `exceptions_` says for how many people the partner's centroid is nearest to themselves.

    Parameters
    ----------
    k
        The least number of people in a group.
    random_state
        Seed of the people who start the turns.
    least
        How many people a centroid is the mean of before overlapping may freeze it: None means
        k; 1 is the thesis to the letter (no exceptions, but faces of few people or of one).

    Attributes
    ----------
    exceptions_
        How many people have nobody strictly nearer than themselves to their partner's centroid.
    """

    name: ClassVar[str] = "opposed"
    pairs: ClassVar[int] = 2
    exceptions_: int

    def __init__(
        self, k: int = 5, random_state: int | None = None, least: int | None = None
    ) -> None:
        super().__init__(k, random_state)
        self.least = least

    def _partition(self, X: F64, rng: np.random.Generator) -> Partition:
        if self.least is not None and not 1 <= self.least <= self.k:
            raise InputError(f"least is {self.least}, but k is {self.k}", "use 1 to k, or none")
        pool = Pool(X)
        labels = np.full(len(X), -1, dtype=np.int32)
        core = np.zeros(len(X), dtype=np.bool_)
        groups = 0
        centres = (X[0], X[0])
        while len(pool) >= 2 * self.k:
            clusters = self._grow(X, pool, int(pool.rows[rng.integers(len(pool))]))
            centres = (X[clusters[0]].mean(axis=0), X[clusters[1]].mean(axis=0))
            for side in (1, 0):  # the thesis fills the furthest cluster first, lines 22-25
                members = np.array(clusters[side])
                core[members] = True
                filling = pool.nearest(centres[side], self.k - len(members))
                pool.remove(filling)
                labels[members] = labels[filling] = groups + side
            groups += 2
        rest = pool.rows
        nearer_f = squared(X[rest], centres[1]) <= squared(X[rest], centres[0])  # lines 30-34
        labels[rest] = groups - 2 + nearer_f
        partner = np.arange(groups, dtype=np.int32) ^ 1
        found = Partition(labels, partner, core)
        self.exceptions_ = int(own_nearest(X, found.centroids(X), partner[labels]).sum())
        return found

    def _grow(self, X: F64, pool: Pool, start: int) -> tuple[list[int], list[int]]:
        """Take two clusters of up to k people out of the pool (Alg. 3, lines 5-20)."""
        least = self.k if self.least is None else self.least
        pool.remove(np.array([start]))
        c, f = [start], [pool.furthest(X[start])]
        pool.remove(np.array(f))
        while len(c) < self.k:
            next_f = int(pool.nearest(X[f].mean(axis=0), 1)[0])
            first, second = pool.nearest(X[c].mean(axis=0), 2)
            next_c = int(second if first == next_f else first)
            if len(c) >= least and overlap(X[[*c, next_c]], X[[*f, next_f]]):
                break
            c.append(next_c)
            f.append(next_f)
            pool.remove(np.array([next_c, next_f]))
        return c, f
