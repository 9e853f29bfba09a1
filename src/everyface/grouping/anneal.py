"""Simulated annealing of a grouping on a table of distances.

Where every single move or swap would raise the error, several at once may still lower it. The
way there is to accept some that raise it, fewer and fewer (Kirkpatrick, Gelatt and Vecchi 1983).
Changes are drawn between people who are near each other; besides moves and swaps, a whole group
may be dissolved among its neighbours, and a new one founded, so that their number is found too.
All of this is compiled, and a function of the table, the first grouping and the seed alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from everyface.arrays import I32, I64
from everyface.compiled import compiled
from everyface.grouping.search import Rules, State, error, holds, move, swap

PARTNERS = 16
"""With how many of the nearest people somebody may meet."""
REGROUPED = 8
"""In each turn, one group in so many is drawn to be dissolved (or founded)."""


class Cooling(NamedTuple):
    """How an annealing runs.

    Attributes
    ----------
    turns
        How often each person is drawn, on average.
    hot, cold
        First and last temperature, as a part of the mean squared error of a person.
    seed
        Of everything that is drawn.
    last
        Whether moves and swaps that help are to follow until there are none.
    """

    turns: int
    hot: float
    cold: float
    seed: int
    last: bool


@compiled
def draw(dice: I64, below: int) -> int:
    """Draw a whole number below `below` (xorshift64*; the state is the one number in `dice`)."""
    x = np.uint64(dice[0])
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    dice[0] = np.int64(x)
    x = x * np.uint64(2685821657736338717)
    return int(np.int64(((x >> np.uint64(32)) * np.uint64(below)) >> np.uint64(32)))


@compiled
def started(seed: int) -> I64:
    """Return dice for a seed (splitmix64, so that near seeds give unlike sequences)."""
    x = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    dice = np.empty(1, np.int64)
    dice[0] = np.int64(x | np.uint64(1))
    return dice


@compiled
def accepted(dice: I64, temperature: float) -> float:
    """Draw how much worse a change may be (Metropolis' rule, turned around)."""
    return -temperature * math.log((draw(dice, 1 << 30) + 1.0) / (1 << 30))


@compiled
def moved(state: State, rules: Rules, i: int, b: int, limit: float) -> bool:
    """Move person i to group b if that changes the error by less than `limit`."""
    A, W, sizes = state.A, state.W, state.sizes
    a = state.labels[i]
    if sizes[a] <= rules.least or sizes[b] >= rules.most:
        return False
    change = (W[a] - A[a, i]) / (sizes[a] - 1) - W[a] / sizes[a]
    change += (W[b] + A[b, i]) / (sizes[b] + 1) - W[b] / sizes[b]
    if change < limit and holds(state, rules, a, i, -1) and holds(state, rules, b, -1, i):
        move(state, i, b)
        return True
    return False


@compiled
def swapped(state: State, rules: Rules, i: int, b: int, limit: float) -> bool:
    """Swap person i with the best of group b if that changes the error by less than `limit`."""
    D, A, sizes = state.D, state.A, state.sizes
    a = state.labels[i]
    mine, theirs, own, there = sizes[a], sizes[b], A[a, i], A[b, i]
    who = -1
    for at in range(theirs):
        j = state.members[b, at]
        change = (A[a, j] - own - D[i, j]) / mine + (there - A[b, j] - D[i, j]) / theirs
        if change < limit:
            who, limit = j, change
    if who >= 0 and holds(state, rules, a, i, who) and holds(state, rules, b, who, i):
        swap(state, i, who)
        return True
    return False


@compiled
def _share(state: State, g: int) -> float:
    """Squared error of one group."""
    return state.W[g] / state.sizes[g] if state.sizes[g] > 0 else 0.0


@compiled
def _hop(state: State, i: int, b: int) -> float:
    """Move person i to group b, whatever the rules; return what that changes."""
    a = state.labels[i]
    before = _share(state, a) + _share(state, b)
    move(state, i, b)
    return _share(state, a) + _share(state, b) - before


@compiled
def _undone(state: State, log: I64, count: int) -> None:
    """Take back the last `count` hops."""
    for at in range(count - 1, -1, -1):
        move(state, log[at, 0], log[at, 1])


@compiled
def dissolved(state: State, rules: Rules, near: I32, g: int, limit: float) -> bool:
    """Spread group g over the groups of near people if that is worth it."""
    log = np.empty((rules.most, 2), np.int64)
    count, change = 0, 0.0
    while state.sizes[g] > 0:
        i = int(state.members[g, 0])
        where, least = -1, np.inf
        for j in near[i]:
            b = int(state.labels[j])
            if b == g or state.sizes[b] >= rules.most:
                continue
            more = (state.W[b] + state.A[b, i]) / (state.sizes[b] + 1) - _share(state, b)
            if more < least and holds(state, rules, b, -1, i):
                where, least = b, more
        if where < 0:
            break
        log[count, 0], log[count, 1] = i, g
        count += 1
        change += _hop(state, i, where)
    if state.sizes[g] == 0 and change < limit:
        return True
    _undone(state, log, count)
    return False


@compiled
def founded(state: State, rules: Rules, near: I32, i: int, g: int, limit: float) -> bool:
    """Gather person i and near people who can be spared into the empty group g, if worth it."""
    log = np.empty((rules.least, 2), np.int64)
    count, change = 0, 0.0
    for at in range(-1, near.shape[1]):
        j = int(near[i, at]) if at >= 0 else i
        a = state.labels[j]
        if state.sizes[a] > rules.least and holds(state, rules, a, j, -1):
            log[count, 0], log[count, 1] = j, a
            count += 1
            change += _hop(state, j, g)
            if count == rules.least:
                break
    if count == rules.least and change < limit and holds(state, rules, g, -1, -1):
        return True
    _undone(state, log, count)
    return False


@compiled
def anneal(state: State, rules: Rules, near: I32, cooling: Cooling, turn: int) -> None:
    """Change a grouping at random, with ever less patience for changes that make it worse.

    Another `turn` draws otherwise.
    """
    n, rows = len(state.labels), len(state.sizes)
    dice = started(cooling.seed + turn)
    partners = min(PARTNERS, near.shape[1])
    temperature = cooling.hot * error(state.sizes, state.W) / n
    slower = (cooling.cold / cooling.hot) ** (1.0 / max(cooling.turns, 1))
    for _ in range(cooling.turns):
        for _ in range(n):
            i = draw(dice, n)
            j = near[i, draw(dice, partners)]
            a, b = state.labels[i], state.labels[j]
            if a == b:
                continue
            limit = accepted(dice, temperature)
            if moved(state, rules, i, b, limit) or moved(state, rules, j, a, limit):
                continue
            swapped(state, rules, i, b, limit)
        for _ in range(rows // REGROUPED + 1):
            g, limit = draw(dice, rows), accepted(dice, temperature)
            if state.sizes[g] > 0:
                dissolved(state, rules, near, g, limit)
            else:
                founded(state, rules, near, draw(dice, n), g, limit)
        temperature *= slower
