"""k-Same: a person and the k − 1 who look most alike (thesis Alg. 1)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from everyface.arrays import F64
from everyface.errors import InputError
from everyface.grouping.base import Grouping, Partition
from everyface.grouping.pool import Pool


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
        for seed in turns:
            if labels[seed] >= 0:
                continue
            if len(pool) < 2 * self.k:
                labels[pool.rows] = groups
                break
            pool.remove(np.array([seed]))
            others = pool.nearest(X[seed], self.k - 1)
            pool.remove(others)
            labels[seed] = groups
            labels[others] = groups
            groups += 1
        return Partition(labels)
