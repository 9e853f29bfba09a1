"""k-Same: a person and the k − 1 who look most alike (thesis Alg. 1)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from everyface.arrays import F64
from everyface.errors import InputError
from everyface.grouping.base import Grouping, Partition
from everyface.grouping.pool import Pool

_BLOCK = 64
"""People whose nearest are looked for in one go; those still free when a turn comes are exact."""


class Nearest(Grouping):
    """Greedy groups around people taken one after the other (k-Same, thesis Alg. 1).

    Each turn takes somebody not yet grouped and the k − 1 nearest of the others. When fewer than
    2k are left they make the last group, so sizes lie in [k, 2k − 1], and all but the last are k.

    Parameters
    ----------
    k
        The least number of people in a group.
    random_state
        Seed of the order in which people are taken.
    order
        ``"random"``, or ``"given"`` to take people by their index (the paper says only "for some
        x", which both obey; a given order makes the groups a function of the codes alone).
    """

    name: ClassVar[str] = "nearest"

    def __init__(
        self,
        k: int = 5,
        random_state: int | None = None,
        order: Literal["random", "given"] = "random",
    ) -> None:
        super().__init__(k, random_state)
        self.order = order

    def _partition(self, X: F64, rng: np.random.Generator) -> Partition:
        if self.order not in ("random", "given"):
            raise InputError(f"order is {self.order!r}", 'use "random" or "given"')
        turns = rng.permutation(len(X)) if self.order == "random" else np.arange(len(X))
        pool = Pool(X)
        labels = np.full(len(X), -1, dtype=np.int32)
        groups = 0
        while len(pool) >= 2 * self.k:
            turns = turns[labels[turns] < 0]
            seeds = turns[:_BLOCK]
            lists = pool.nearest_to_each(X[seeds], min(4 * self.k, len(pool)))
            for seed, nearest in zip(seeds, lists, strict=True):
                if labels[seed] >= 0 or len(pool) < 2 * self.k:
                    continue
                others = nearest[(labels[nearest] < 0) & (nearest != seed)][: self.k - 1]
                pool.remove(np.array([seed]))
                if len(others) < self.k - 1:
                    others = pool.nearest(X[seed], self.k - 1)
                pool.remove(others)
                labels[seed] = labels[others] = groups
                groups += 1
        labels[pool.rows] = groups
        return Partition(labels)
