"""k-means with groups of the same size, and the two variants AnonFACES compares (4.2)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import kmeans_plusplus

from everyface.arrays import F64, I32, I64
from everyface.compiled import compiled
from everyface.errors import InputError
from everyface.grouping.base import Grouping, Partition
from everyface.grouping.hierarchical import even_sizes
from everyface.grouping.pool import Pool, squared

VARIANTS = ("elki", "furthest", "random")


class Balanced(Grouping):
    """Same-size k-means (the tutorial of ELKI), and "max dist" and "random" (AnonFACES 4.2).

    ``elki`` makes ⌊n / k⌋ means by k-means++. People join the nearest mean that has room, those
    with most to lose (furthest minus nearest mean) first, ranked anew whenever a group is full.
    Then, until nobody moves: with the means fixed, people who would gain most come first; each
    tries other groups from the nearest on, changes places with somebody on that group's list if
    both together gain, or moves if sizes allow, and goes on its own group's list if a nearer mean
    remains. Sizes differ by one at most.

    ``random`` is the same with people in random order at the start, AnonFACES' baseline.
    ``furthest`` is what the paper calls "max dist", a variant of k-Same: each turn takes the
    person with the largest sum of distances to all who are left, and that person's nearest.

    Parameters
    ----------
    k
        The least number of people in a group.
    random_state
        Seed of the first means, and of the order in ``random``.
    variant
        ``elki``, ``furthest`` or ``random``.
    max_iter
        Rounds of transfers at the most; the tutorial has no limit unless one is given.
    """

    name: ClassVar[str] = "balanced"

    def __init__(
        self,
        k: int = 5,
        random_state: int | None = None,
        variant: Literal["elki", "furthest", "random"] = "elki",
        max_iter: int = 1000,
    ) -> None:
        super().__init__(k, random_state)
        self.variant = variant
        self.max_iter = max_iter

    def _partition(self, X: F64, rng: np.random.Generator) -> Partition:
        if self.variant not in VARIANTS:
            raise InputError(f"variant is {self.variant!r}", f"use one of {', '.join(VARIANTS)}")
        centred = X - X.mean(axis=0)
        flat: F64 = centred / (float(np.abs(centred).max()) or 1.0)
        if self.variant == "furthest":
            return Partition(_around_the_furthest(flat, self.k))
        groups = len(X) // self.k
        seed = int(rng.integers(2**31))
        means: F64 = kmeans_plusplus(flat, groups, random_state=seed)[0]
        apart = cdist(flat, means, "sqeuclidean")
        if self.variant == "random":
            labels = assigned(apart, rng.permutation(len(X)).astype(np.int64))
        else:
            labels = assigned(apart, np.empty(0, np.int64))
        for _ in range(self.max_iter):
            means = np.zeros((groups, X.shape[1]))
            np.add.at(means, labels, flat)
            means /= np.bincount(labels)[:, None]
            if not transferred(cdist(flat, means, "sqeuclidean"), labels):
                break
        return Partition(labels)


def _around_the_furthest(X: F64, k: int) -> I32:
    pool = Pool(X)
    sums = np.array([np.sqrt(squared(X, row)).sum() for row in X])
    labels: I32 = np.zeros(len(X), np.int32)
    for turn, size in enumerate(even_sizes(len(X), k)):
        left = pool.rows
        seed = left[np.argmax(sums[left])]
        pool.remove(np.array([seed]))
        others = pool.nearest(X[seed], size - 1)
        pool.remove(others)
        for gone in (seed, *others):
            labels[gone] = turn
            sums -= np.sqrt(squared(X, X[gone]))
    return labels


@compiled
def assigned(apart: F64, order: I64) -> I32:
    """Give people their nearest mean that has room.

    In the order given; without one, those first who have most to lose, ranked anew whenever a
    group is full. As in the tutorial, "most" is measured to the mean that was furthest at first.
    """
    n, groups = apart.shape
    room = -(-n // groups)
    fewer, spare = n // groups, groups * (n // groups)
    labels = np.full(n, -1, np.int32)
    heads = np.zeros(groups, np.int64)
    best = np.empty(n, np.int64)
    loss = np.empty(n)
    larger = n - spare
    waiting = order.copy() if len(order) else np.arange(n)
    for i in waiting:
        best[i] = np.argmin(apart[i])
        loss[i] = apart[i].max() - apart[i, best[i]]
    while len(waiting) > 0:
        for i in waiting:
            if heads[best[i]] < room:
                continue
            near = np.argmin(np.where(heads < room, apart[i], np.inf))
            loss[i] += apart[i, best[i]] - apart[i, near]
            best[i] = near
        if len(order) == 0:
            waiting = waiting[np.argsort(-loss[waiting], kind="mergesort")]
        done = 0
        for i in waiting:
            done += 1
            g = best[i]
            labels[i] = g
            heads[g] += 1
            if heads[g] == room:
                larger -= 1
                room = fewer if larger <= 0 else room
                break
        waiting = waiting[done:]
    return labels


@compiled
def _partner(apart: F64, waiting: I64, g: int, own: int, gain: float) -> int:
    """Find the first on the list of group g with whom a change of places gains (−1: nobody)."""
    for at in range(len(waiting)):
        j = waiting[at]
        if gain + apart[j, g] - apart[j, own] > 0.0:
            return at
    return -1


@compiled
def transferred(apart: F64, labels: I32) -> int:
    """Let people change places or move, each gain measured to the means as they stand."""
    n, groups = apart.shape
    fewest, most = n // groups, -(-n // groups)
    heads = np.bincount(labels, minlength=groups)
    priority = np.empty(n)
    for i in range(n):
        others = apart[i].copy()
        others[labels[i]] = np.inf
        priority[i] = others.min() - apart[i, labels[i]]
    lists = np.empty((groups, most), np.int64)
    listed = np.zeros(groups, np.int64)
    changes = 0
    for i in np.argsort(priority, kind="mergesort"):
        choices = np.argsort(apart[i], kind="mergesort")
        for g in choices:
            own = labels[i]
            if g == own:
                continue
            gain = apart[i, own] - apart[i, g]
            at = _partner(apart, lists[g, : listed[g]], g, own, gain)
            if at >= 0:
                labels[i], labels[lists[g, at]] = g, own
                lists[g, at : listed[g] - 1] = lists[g, at + 1 : listed[g]].copy()
                listed[g] -= 1
                changes += 2
            elif gain > 0.0 and heads[g] < most and heads[own] > fewest:
                heads[own] -= 1
                heads[g] += 1
                labels[i] = g
                changes += 1
        if apart[i, labels[i]] > apart[i, choices[0]]:
            lists[labels[i], listed[labels[i]]] = i
            listed[labels[i]] += 1
    return changes
