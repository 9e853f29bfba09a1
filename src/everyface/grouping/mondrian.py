"""Mondrian: halves of halves along the widest of some random dimensions (MIKU, Alg. 1)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from everyface.arrays import I64, AnyArray
from everyface.errors import InputError
from everyface.grouping.base import Grouping, Partition, blocks

_AT_HAND = 1 << 26
"""Sets of no more numbers than this are read into memory as a whole."""


class Mondrian(Grouping):
    """Recursive halving (Algorithm 1 of both MIKU papers).

    A set of 2k people or more is sorted along one dimension and cut in the middle; the dimension
    is the one with the widest range among `n_s` dimensions drawn at random without repetition,
    drawn anew for every set. Sizes lie in [k, 2k − 1]: halving goes on until a set is below 2k.

    The cut counts people and not values: equal values are sorted by index and may fall on both
    sides, for otherwise ties would leave groups too large to be useful. Of an odd set, the first
    half is the smaller one; of equally wide dimensions, the first is cut.

    Codes may lie on disk: large sets are read block by block, once for each halving, and a set
    that has become small enough is read once more and then halved in memory.

    Parameters
    ----------
    k
        The least number of people in a group.
    random_state
        Seed of the dimensions drawn.
    n_s
        N_s, how many dimensions to look at; None looks at all of them, as the papers do in
        their latent space (9216 of 9216).
    """

    name: ClassVar[str] = "mondrian"
    streams: ClassVar[bool] = True

    def __init__(self, k: int = 5, random_state: int | None = None, n_s: int | None = None) -> None:
        super().__init__(k, random_state)
        self.n_s = n_s

    def _partition(self, X: AnyArray, rng: np.random.Generator) -> Partition:
        width = X.shape[1]
        looked_at = width if self.n_s is None else self.n_s
        if not 1 <= looked_at <= width:
            raise InputError(
                f"n_s is {looked_at}, but the codes have {width} dimensions",
                f"choose n_s from 1 to {width}, or leave it out to look at all",
            )
        labels = np.empty(len(X), dtype=np.int32)
        groups = 0
        waiting: list[tuple[AnyArray, I64, I64]] = [(X, *2 * (np.arange(len(X), dtype=np.int64),))]
        while waiting:
            codes, rows, people = waiting.pop()
            if len(people) < 2 * self.k:
                labels[people] = groups
                groups += 1
                continue
            if codes is X and len(people) * width <= _AT_HAND:
                codes, rows = X[rows], np.arange(len(rows), dtype=np.int64)
            drawn = np.sort(rng.choice(width, looked_at, replace=False))
            cut = drawn[np.argmax(_ranges(codes, rows, drawn))]
            low, high = np.split(_sorted(codes, rows, int(cut)), [len(people) // 2])
            waiting += [(codes, rows[high], people[high]), (codes, rows[low], people[low])]
        return Partition(labels)


def _sorted(codes: AnyArray, rows: I64, cut: int) -> I64:
    """Order rows by one dimension, ties by index; each half comes back in the order of the rows.

    Rows in order are read from disk in order.
    """
    order = np.lexsort((rows, codes[rows, cut]))
    middle = len(rows) // 2
    found: I64 = np.concatenate([np.sort(order[:middle]), np.sort(order[middle:])])
    return found


def _ranges(codes: AnyArray, rows: I64, dimensions: I64) -> AnyArray:
    """Maximum minus minimum of each dimension, without a copy of the whole set."""
    whole = len(dimensions) == codes.shape[1]
    low = np.full(len(dimensions), np.inf)
    high = np.full(len(dimensions), -np.inf)
    for part in blocks(len(rows), codes.shape[1]):
        block = codes[rows[part]] if whole else codes[np.ix_(rows[part], dimensions)]
        np.minimum(low, block.min(axis=0), out=low)
        np.maximum(high, block.max(axis=0), out=high)
    spread: AnyArray = high - low
    return spread
