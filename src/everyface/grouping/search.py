"""Moves and swaps that lower the within-group squared error of a table of distances.

With W the sum of a group's squared distances, each pair once, and s its size, the squared error
is W / s (Huygens). With A[g, i] the sum of squared distances from person i to group g, what any
move or swap changes is known from a handful of numbers:

* i leaves a: (W_a − A[a, i]) / (s_a − 1) − W_a / s_a
* i joins b: (W_b + A[b, i]) / (s_b + 1) − W_b / s_b
* i of a and j of b change places:
  (A[a, j] − A[a, i] − d_ij) / s_a + (A[b, i] − A[b, j] − d_ij) / s_b

All of this is compiled. A group that has been dissolved has size 0 and is passed over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from everyface.arrays import F32, F64, I32, I64
from everyface.compiled import compiled

TOLERANCE = 1e-7
"""Gains below this part of the mean error of a person are taken for rounding."""


class State(NamedTuple):
    """A grouping of the rows of a table of squared distances, and its running sums.

    Attributes
    ----------
    D
        Squared distances.
    labels
        Person → group.
    sizes
        Group → people in it; 0 where it was dissolved or never made.
    members
        Group → its people, the first `sizes` of each row.
    A
        Group, person → sum of squared distances.
    W
        Group → sum of squared distances between its people, each pair once.
    """

    D: F32
    labels: I32
    sizes: I32
    members: I32
    A: F64
    W: F64


class Rules(NamedTuple):
    """What every group has to hold.

    Attributes
    ----------
    least, most
        People in a group.
    kinds
        Person → sensitive value, 0 …; empty where nothing is asked of them.
    whole
        Sensitive value → its share of everybody.
    distinct
        How many values a group needs.
    apart
        How far (total variation) a group's shares may be from `whole`.
    """

    least: int
    most: int
    kinds: I32
    whole: F64
    distinct: int
    apart: float


@compiled
def opened(D: F32, labels: I32, rows: int, most: int) -> State:
    """Sum up a grouping; there is room for `rows` groups of `most` people."""
    n = len(labels)
    sizes = np.zeros(rows, np.int32)
    members = np.zeros((rows, most), np.int32)
    A = np.zeros((rows, n))
    W = np.zeros(rows)
    for i in range(n):
        g = labels[i]
        members[g, sizes[g]] = i
        sizes[g] += 1
    for g in range(rows):
        resum(D, A, W, members, sizes, g)
    return State(D, labels, sizes, members, A, W)


@compiled
def resum(D: F32, A: F64, W: F64, members: I32, sizes: I32, g: int) -> None:
    """Sum up one group afresh."""
    A[g, :] = 0.0
    for at in range(sizes[g]):
        A[g] += D[members[g, at]]
    W[g] = 0.0
    for at in range(sizes[g]):
        W[g] += 0.5 * A[g, members[g, at]]


@compiled
def error(sizes: I32, W: F64) -> float:
    """Within-group squared error."""
    total = 0.0
    for g in range(len(sizes)):
        if sizes[g] > 0:
            total += W[g] / sizes[g]
    return total


@compiled
def holds(state: State, rules: Rules, g: int, out: int, more: int) -> bool:
    """Whether group g holds what it must once `out` has left and `more` has come (−1: nobody)."""
    if len(rules.kinds) == 0:
        return True
    counts = np.zeros(len(rules.whole))
    people = 0
    for at in range(state.sizes[g]):
        i = state.members[g, at]
        if i != out:
            counts[rules.kinds[i]] += 1.0
            people += 1
    if more >= 0:
        counts[rules.kinds[more]] += 1.0
        people += 1
    seen = 0
    apart = 0.0
    for v in range(len(counts)):
        seen += counts[v] > 0.0
        apart += abs(counts[v] / people - rules.whole[v])
    return seen >= rules.distinct and 0.5 * apart <= rules.apart + 1e-12


@compiled
def _leave(state: State, i: int) -> None:
    """Take person i out of the list of its group (the sums are the caller's)."""
    g = state.labels[i]
    last = state.sizes[g] - 1
    for at in range(last + 1):
        if state.members[g, at] == i:
            state.members[g, at] = state.members[g, last]
    state.sizes[g] = last


@compiled
def _join(state: State, i: int, g: int) -> None:
    """Put person i on the list of group g (the sums are the caller's)."""
    state.members[g, state.sizes[g]] = i
    state.sizes[g] += 1
    state.labels[i] = g


@compiled
def move(state: State, i: int, b: int) -> None:
    """Let person i go over to group b."""
    D, A, W = state.D, state.A, state.W
    a = state.labels[i]
    W[a] -= A[a, i]
    W[b] += A[b, i]
    for p in range(len(D)):
        A[a, p] -= D[i, p]
        A[b, p] += D[i, p]
    _leave(state, i)
    _join(state, i, b)


@compiled
def swap(state: State, i: int, j: int) -> None:
    """Let persons i and j change places."""
    D, A, W = state.D, state.A, state.W
    a, b = state.labels[i], state.labels[j]
    W[a] += A[a, j] - A[a, i] - D[i, j]
    W[b] += A[b, i] - A[b, j] - D[i, j]
    for p in range(len(D)):
        change = D[j, p] - D[i, p]
        A[a, p] += change
        A[b, p] -= change
    _leave(state, i)
    _leave(state, j)
    _join(state, i, b)
    _join(state, j, a)


@compiled
def best_move(state: State, rules: Rules, i: int, limit: float) -> tuple[float, int]:
    """Find the group that person i should go over to: what it changes, and which (−1: none)."""
    A, W, sizes = state.A, state.W, state.sizes
    a = state.labels[i]
    if sizes[a] <= rules.least or not holds(state, rules, a, i, -1):
        return limit, -1
    left = (W[a] - A[a, i]) / (sizes[a] - 1) - W[a] / sizes[a]
    where = -1
    for b in range(len(sizes)):
        if b == a or sizes[b] == 0 or sizes[b] >= rules.most:
            continue
        change = left + (W[b] + A[b, i]) / (sizes[b] + 1) - W[b] / sizes[b]
        if change < limit and holds(state, rules, b, -1, i):
            limit, where = change, b
    return limit, where


@compiled
def best_swap(state: State, rules: Rules, i: int, limit: float, stamps: I64) -> tuple[float, int]:
    """Find with whom person i should change places: what it changes, and who (−1: nobody).

    `stamps` tells of each group when it changed last, and in its last place when person i was
    looked at last: pairs of groups that have not changed since have nothing new to offer.
    """
    D, A, sizes = state.D, state.A, state.sizes
    a = state.labels[i]
    since = stamps[-1]
    fresh = stamps[a] > since
    own, mine = A[a, i], sizes[a]
    who = -1
    for b in range(len(sizes)):
        if b == a or not (fresh or stamps[b] > since):
            continue
        there, theirs = A[b, i], sizes[b]
        for at in range(theirs):
            j = state.members[b, at]
            change = (A[a, j] - own - D[i, j]) / mine + (there - A[b, j] - D[i, j]) / theirs
            if change < limit and holds(state, rules, a, i, j) and holds(state, rules, b, j, i):
                limit, who = change, j
    return limit, who


@compiled
def settle(state: State, rules: Rules) -> float:
    """Move and swap people until nothing lowers the squared error; return what is left of it."""
    n, rows = len(state.labels), len(state.sizes)
    floor = -TOLERANCE * error(state.sizes, state.W) / n
    stamps = np.ones(rows + 1, np.int64)
    looked = np.zeros(n, np.int64)
    clock, changed = 1, True
    while changed:
        changed = False
        for i in range(n):
            stamps[rows] = looked[i]
            looked[i] = clock
            change, b = best_move(state, rules, i, floor)
            change, j = best_swap(state, rules, i, change, stamps)
            if b < 0 and j < 0:
                continue
            clock += 1
            changed = True
            stamps[state.labels[i]] = clock
            if j >= 0:
                stamps[state.labels[j]] = clock
                swap(state, i, j)
            else:
                stamps[b] = clock
                move(state, i, b)
    return error(state.sizes, state.W)
