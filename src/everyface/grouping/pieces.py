"""Cutting many people (or groups) into pieces of near ones, so that each can be searched alone.

A piece is halved where a line through two means of 2-means would cut it in two of equal weight.
The means start from somebody drawn and a far one, on a sample, so another seed cuts elsewhere.
"""

from __future__ import annotations

import numpy as np

from everyface.arrays import F32, I64, AnyArray
from everyface.compiled import compiled
from everyface.grouping.anneal import draw, started

_SAMPLE = 1024
_TURNS = 4


@compiled
def _direction(points: F32, dice: I64) -> F32:
    """Return the line from one mean of 2-means to the other."""
    n, d = points.shape
    ends = np.zeros((2, d), np.float32)
    ends[0] = points[draw(dice, n)]
    furthest, most = 0, -1.0
    for i in range(n):
        apart = 0.0
        for c in range(d):
            apart += (points[i, c] - ends[0, c]) ** 2
        if apart > most:
            furthest, most = i, apart
    ends[1] = points[furthest]
    line: F32 = ends[1] - ends[0]
    for _ in range(_TURNS):
        middle = 0.0
        for c in range(d):
            middle += line[c] * 0.5 * (ends[0, c] + ends[1, c])
        sums = np.zeros((2, d))
        heads = np.zeros(2, np.int64)
        for i in range(n):
            along = 0.0
            for c in range(d):
                along += line[c] * points[i, c]
            side = int(along > middle)
            heads[side] += 1
            sums[side] += points[i]
        if heads[0] == 0 or heads[1] == 0:
            break
        for side in range(2):
            ends[side] = (sums[side] / heads[side]).astype(np.float32)
        line = ends[1] - ends[0]
    return line


@compiled
def _along(points: F32, line: F32) -> F32:
    """Return how far each point lies along a line."""
    found = np.zeros(len(points), np.float32)
    for i in range(len(points)):
        total = np.float32(0.0)
        for c in range(len(line)):
            total += line[c] * points[i, c]
        found[i] = total
    return found


def pieces(points: AnyArray, weights: I64, most: int, seed: int) -> list[I64]:
    """Cut rows into pieces that weigh about the same, and no more than about `most`.

    Parameters
    ----------
    points
        (u, d) float32 or float64, also from a memory map; finite and of moderate size.
    weights
        How many people each row stands for.
    most
        About how many people a piece may hold; a piece is at most one row heavier.
    seed
        Of the cuts.

    Returns
    -------
    list of I64
        Rows of each piece, ascending; neighbouring pieces in the list are near each other.
    """
    dice = started(seed)
    waiting = [(np.arange(len(points), dtype=np.int64), max(1, -(-int(weights.sum()) // most)))]
    made: list[I64] = []
    while waiting:
        rows, parts = waiting.pop()
        if parts == 1 or len(rows) < 2:
            made.append(rows)
            continue
        order = _ordered(points, rows, dice)
        heavy = np.cumsum(weights[rows[order]])
        wanted = heavy[-1] * (parts // 2) / parts
        cut = int(np.clip(np.searchsorted(heavy, wanted, side="left") + 1, 1, len(rows) - 1))
        waiting.append((np.sort(rows[order[cut:]]), parts - parts // 2))
        waiting.append((np.sort(rows[order[:cut]]), parts // 2))
    return made


def _ordered(points: AnyArray, rows: I64, dice: I64) -> I64:
    """Order rows along the line that 2-means on a sample of them gives."""
    some = np.array([draw(dice, len(rows)) for _ in range(min(_SAMPLE, len(rows)))])
    sample = np.asarray(points[np.sort(rows[some])], np.float64)
    middle = sample.mean(axis=0)
    scale = float(np.abs(sample - middle).max()) or 1.0
    line = _direction(((sample - middle) / scale).astype(np.float32), dice)
    along = np.empty(len(rows), np.float32)
    step = 1 << 15
    for start in range(0, len(rows), step):
        block = (points[rows[start : start + step]] - middle) / scale
        along[start : start + step] = _along(block.astype(np.float32), line)
    found: I64 = np.argsort(along, kind="stable")
    return found
