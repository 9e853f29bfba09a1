"""Tables of squared distances, and what is read off them: near people, and a first grouping.

Sums run over the dimensions in one order and never through a matrix library, so that the same
codes give the same bits with any number of threads. All of this is compiled.
"""

from __future__ import annotations

import numpy as np

from everyface.arrays import F32, I32, I64
from everyface.compiled import compiled

_TILE = 64


@compiled
def _add(row: F32, flipped: F32, values: F32, c: int, at: int) -> None:
    """Add to a row of the table what four dimensions contribute, from column `at` on."""
    f0, f1, f2, f3 = flipped[c, at:], flipped[c + 1, at:], flipped[c + 2, at:], flipped[c + 3, at:]
    v0, v1, v2, v3 = values[c], values[c + 1], values[c + 2], values[c + 3]
    for j in range(len(row)):
        s0, s1, s2, s3 = f0[j] - v0, f1[j] - v1, f2[j] - v2, f3[j] - v3
        row[j] += (s0 * s0 + s1 * s1) + (s2 * s2 + s3 * s3)


@compiled
def distances(X: F32) -> F32:
    """Return the squared distance of every two rows."""
    n, d = X.shape
    wide = np.zeros((n, 4 * ((d + 3) // 4)), np.float32)
    wide[:, :d] = X
    flipped = wide.T.copy()
    D = np.zeros((n, n), np.float32)
    for i in range(n):
        for c in range(0, d, 4):
            _add(D[i, i + 1 :], flipped, wide[i], c, i + 1)
    for top in range(0, n, _TILE):
        for left in range(0, top + _TILE, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(left, min(left + _TILE, i)):
                    D[i, j] = D[j, i]
    return D


@compiled
def nearest_first(D: F32, count: int) -> I32:
    """Return for each row the `count` others that are nearest, nearest first, ties by index."""
    n = len(D)
    near = np.empty((n, count), np.int32)
    reach = np.empty(count, np.float32)
    for i in range(n):
        held = 0
        for j in range(n):
            apart = D[i, j]
            if j == i or (held == count and apart >= reach[held - 1]):
                continue
            held = min(held + 1, count)
            at = held - 1
            while at > 0 and reach[at - 1] > apart:
                reach[at] = reach[at - 1]
                near[i, at] = near[i, at - 1]
                at -= 1
            reach[at] = apart
            near[i, at] = j
    return near


@compiled
def _take(D: F32, labels: I32, seed: int, count: int, group: int) -> I64:
    """Put `seed` and the `count` − 1 nearest who are still free into a group; return them."""
    row = D[seed].copy()
    for j in range(len(row)):
        if labels[j] >= 0:
            row[j] = np.inf
    row[seed] = -1.0
    limit = np.partition(row, count - 1)[count - 1]
    within = np.flatnonzero(row <= limit)
    taken = within[np.argsort(row[within], kind="mergesort")[:count]]
    labels[taken] = group
    return taken


@compiled
def outside_in(D: F32, k: int) -> I32:
    """Group by MDAV (thesis Alg. 2) on a table of distances.

    The person furthest from the mean of all who are left is the one whose squared distances to
    them sum to most: the sum is their number times the squared distance to the mean, plus a
    constant.
    """
    n = len(D)
    labels = np.full(n, -1, np.int32)
    sums = np.zeros(n)
    for i in range(n):
        sums += D[i]
    left, group, turn = n, 0, 0
    seed = 0
    while left >= 2 * k:
        furthest, most = -1, -np.inf
        for i in range(n):
            apart = sums[i] if turn % 2 == 0 else np.float64(D[seed, i])
            if labels[i] < 0 and apart > most:
                furthest, most = i, apart
        seed = furthest
        for gone in _take(D, labels, seed, k, group):
            sums -= D[gone]
        left -= k
        group += 1
        turn = 0 if left < 2 * k + k * (1 - turn % 2) else turn + 1
    for i in range(n):
        if labels[i] < 0:
            labels[i] = group
    return labels
