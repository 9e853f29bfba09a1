"""Mondrian: halves of halves along the widest of some random dimensions (MIKU, Alg. 1)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from everyface.arrays import F64, I64
from everyface.errors import InputError
from everyface.grouping.base import Grouping, Partition

_BLOCK = 4096


class Mondrian(Grouping):
    """Recursive halving (Algorithm 1 of both MIKU papers).

    A set of 2k people or more is sorted along one dimension and cut in the middle; the dimension
    is the one with the widest range among `n_s` dimensions drawn at random without repetition,
    drawn anew for every set. Sizes lie in [k, 2k − 1]: halving goes on until a set is below 2k.

    The cut counts people and not values: equal values are sorted by index and may fall on both
    sides, for otherwise ties would leave groups too large to be useful. Of an odd set, the first
    half is the smaller one; of equally wide dimensions, the first is cut.

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

    def __init__(self, k: int = 5, random_state: int | None = None, n_s: int | None = None) -> None:
        super().__init__(k, random_state)
        self.n_s = n_s

    def _partition(self, X: F64, rng: np.random.Generator) -> Partition:
        width = X.shape[1]
        looked_at = width if self.n_s is None else self.n_s
        if not 1 <= looked_at <= width:
            raise InputError(
                f"n_s is {looked_at}, but the codes have {width} dimensions",
                f"choose n_s from 1 to {width}, or leave it out to look at all",
            )
        labels = np.empty(len(X), dtype=np.int32)
        groups = 0
        waiting: list[I64] = [np.arange(len(X), dtype=np.int64)]
        while waiting:
            people = waiting.pop()
            if len(people) < 2 * self.k:
                labels[people] = groups
                groups += 1
                continue
            drawn = np.sort(rng.choice(width, looked_at, replace=False))
            cut = drawn[np.argmax(_ranges(X, people, drawn))]
            ordered = people[np.lexsort((people, X[people, cut]))]
            middle = len(people) // 2
            waiting += [ordered[middle:], ordered[:middle]]
        return Partition(labels)


def _ranges(X: F64, people: I64, dimensions: I64) -> F64:
    """Maximum minus minimum of each dimension, without a copy of the whole set."""
    low = np.full(len(dimensions), np.inf)
    high = np.full(len(dimensions), -np.inf)
    for start in range(0, len(people), _BLOCK):
        block = X[np.ix_(people[start : start + _BLOCK], dimensions)]
        np.minimum(low, block.min(axis=0), out=low)
        np.maximum(high, block.max(axis=0), out=high)
    spread: F64 = high - low
    return spread
