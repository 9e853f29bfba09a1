"""Searching many people piece by piece: cut, search every piece alone, cut elsewhere, and again.

Each round cuts the people into pieces of near ones and anneals each piece on its own table of
distances, from where the round before ended and a little colder. From the second round on it is
the groups that are cut, by their means and along other lines, so that people who were kept apart
by one cut meet in another. Pieces share nothing and have seeds of their own: the groups are the
same with any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from everyface.arrays import F32, F64, I32, I64, AnyArray
from everyface.compiled import compiled
from everyface.grouping.anneal import Cooling, anneal
from everyface.grouping.base import blocks
from everyface.grouping.pieces import pieces
from everyface.grouping.search import Rules, error, opened, settle
from everyface.grouping.table import distances, nearest_first, outside_in

HOT, COLD = 0.3, 0.01
"""First and last temperature, as parts of the mean squared error of a person."""


@dataclass(frozen=True)
class Effort:
    """How hard to search.

    Attributes
    ----------
    turns
        How often each person is drawn in one round, on average.
    tries
        Annealings of each piece, of which the best is kept.
    rounds
        How often the people are cut into pieces.
    piece
        About how many people a piece holds.
    threads
        Pieces searched at the same time.
    """

    turns: int
    tries: int
    rounds: int
    piece: int
    threads: int


@compiled
def searched(X: F32, labels: I32, rules: Rules, cooling: Cooling, tries: int) -> I32:
    """Group the rows of one piece, from `labels` or, where that is empty, from MDAV's groups.

    An annealing that is not the last one is left as it is. After the last one, moves and swaps
    follow until none helps, and the best of all tries and the first grouping is returned.
    """
    D = distances(X)
    first = labels if len(labels) > 0 else outside_in(D, rules.least)
    near = nearest_first(D, min(len(X) - 1, max(16, 3 * rules.least)))
    rows = max(len(X) // rules.least, 1)
    best, least = first, np.inf
    for turn in range(tries):
        state = opened(D, first.copy(), rows, rules.most)
        if turn == 0:
            least = error(state.sizes, state.W)
        anneal(state, rules, near, cooling, turn)
        if not cooling.last:
            return state.labels
        state = opened(D, state.labels, rows, rules.most)
        reached = settle(state, rules)
        if reached < least:
            best, least = state.labels, reached
    return best


def grouped(X: AnyArray, rules: Rules, labels: I32 | None, effort: Effort, seed: int) -> I32:
    """Group the rows of `X`, piece by piece where they are many.

    Parameters
    ----------
    X
        One row a person, float32 or float64, also from a memory map.
    rules
        What every group must hold.
    labels
        A grouping that holds it, to begin with; None begins with MDAV's in every piece.
    effort
        How hard to search.
    seed
        Of everything that is drawn.
    """
    rounds = effort.rounds if len(X) > effort.piece else 1
    heat = HOT * (COLD / HOT) ** (np.arange(rounds + 1) / rounds)
    found: I32 = np.zeros(0, np.int32) if labels is None else labels
    with ThreadPoolExecutor(effort.threads) as pool:
        for turn in range(rounds):
            draws = np.random.SeedSequence([seed, turn]).generate_state(2, np.uint64) >> 1
            parts = list(_parts(X, found, effort.piece, int(draws[0])))

            def search(number: int, parts: _Parts = parts, turn: int = turn) -> I32:
                rows, start = parts[number]
                own = rules if not len(rules.kinds) else rules._replace(kinds=rules.kinds[rows])
                drawn = (int(draws[1]) + number * 0x9E3779B1) % (1 << 62)  # noqa: B023
                last = turn == rounds - 1
                cooling = Cooling(effort.turns, heat[turn], heat[turn + 1], drawn, last)
                return searched(_flat(X, rows), start, own, cooling, effort.tries)

            found = np.empty(len(X), np.int32)
            groups = 0
            for (rows, _), local in zip(parts, pool.map(search, range(len(parts))), strict=True):
                names, numbered = np.unique(local, return_inverse=True)
                found[rows] = numbered + groups
                groups += len(names)
    return found


_Parts = list[tuple[I64, I32]]


def _parts(X: AnyArray, labels: I32, most: int, seed: int) -> Iterator[tuple[I64, I32]]:
    """Yield the rows of each piece and their groups in it (none yet in the first round)."""
    if not len(labels):
        weights = np.ones(len(X), np.int64)
        for rows in pieces(X, weights, most, seed):
            yield rows, np.zeros(0, np.int32)
        return
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable").astype(np.int64)
    ends = np.cumsum(sizes)
    for groups in pieces(means(X, labels), sizes.astype(np.int64), most, seed):
        rows = np.concatenate([order[ends[g] - sizes[g] : ends[g]] for g in groups])
        yield rows, np.repeat(np.arange(len(groups), dtype=np.int32), sizes[groups])


def means(X: AnyArray, labels: I32) -> F64:
    """Return the mean of every group, read block by block."""
    sums = np.zeros((int(labels.max()) + 1, X.shape[1]))
    for block in blocks(*X.shape):
        np.add.at(sums, labels[block], X[block])
    sums /= np.bincount(labels)[:, None]
    return sums


def _flat(X: AnyArray, rows: I64) -> F32:
    """Read rows, centred and scaled so that float32 holds their distances well."""
    read = np.asarray(X[rows], np.float64)
    read -= read.mean(axis=0)
    scale = float(np.abs(read).max()) or 1.0
    found: F32 = (read / scale).astype(np.float32)
    return found
