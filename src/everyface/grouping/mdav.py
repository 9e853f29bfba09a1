"""MDAV-generic: groups from the outside in (thesis Alg. 2)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from everyface.arrays import F64, I64
from everyface.grouping.base import Grouping, Partition
from everyface.grouping.pool import Pool


class Mdav(Grouping):
    """Maximum distance to average: the people who are hardest to place go first (thesis Alg. 2).

    Each turn takes the person r furthest from the mean of all who are left and the person s
    furthest from r, and gives each their k − 1 nearest. Sizes lie in [k, 2k − 1]. Nothing is
    random. s is looked for after r's group has left, which is the same person unless distances
    tie, and keeps s out of r's group when they do.
    """

    name: ClassVar[str] = "mdav"

    def _partition(self, X: F64, rng: np.random.Generator) -> Partition:  # noqa: ARG002
        pool = Pool(X)
        groups: list[I64] = []
        while len(pool) >= 3 * self.k:
            r = pool.furthest(pool.mean)
            groups.append(self._around(X, pool, r))
            groups.append(self._around(X, pool, pool.furthest(X[r])))
        if len(pool) >= 2 * self.k:
            groups.append(self._around(X, pool, pool.furthest(pool.mean)))
        groups.append(pool.rows)
        labels = np.empty(len(X), dtype=np.int32)
        for number, members in enumerate(groups):
            labels[members] = number
        return Partition(labels)

    def _around(self, X: F64, pool: Pool, seed: int) -> I64:
        """Take `seed` and its k − 1 nearest out of the pool."""
        pool.remove(np.array([seed]))
        others = pool.nearest(X[seed], self.k - 1)
        pool.remove(others)
        return np.append(others, seed)
