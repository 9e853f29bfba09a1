"""Everybody gets the mean of a group like the own one, and never the own one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everyface.arrays import F32, F64, I32, AnyArray
from everyface.errors import InputError
from everyface.grouping.base import Partition
from everyface.grouping.pool import Pool, squared
from everyface.grouping.wrongmap import own_nearest
from everyface.surrogates.base import Surrogates, heads, require_people, shared


@dataclass(frozen=True, eq=False)
class Neighbour:
    """The mean of a neighbouring group stands for all members of a group.

    Like `Swap` it shares one face among at least k people who are not in it; unlike `Swap` it
    stays near, so that age, gender and skin stay likely. Whose mean is given is drawn among the
    first few candidates, so that the groups alone do not tell it.

    Parameters
    ----------
    among
        How many candidates are drawn from, best first.
    injective
        Whether no two groups may get the same mean. More candidates than `among` are then
        looked at where the first ones do not suffice.
    cost
        Group × candidate: what giving row the mean of column costs (unlike age, gender, skin);
        the cheapest come first, the nearest of equally cheap ones. Infinity forbids.
    """

    among: int = 3
    injective: bool = False
    cost: F64 | None = None

    def candidates(self, codes: F32, partition: Partition, depth: int | None = None) -> I32:
        """Whose mean each group may be given, best first.

        Parameters
        ----------
        codes
            One row a person, in the space in which nearness is meant.
        partition
            The groups of these people.
        depth
            How many to name at most; None names all others.

        Returns
        -------
        I32
            (n_groups, depth) groups; never the own one; −1 after the last that is allowed.
        """
        require_people(codes, partition)
        centres = partition.centroids(codes)
        n = len(centres)
        if n < 2:
            raise InputError(
                f"{len(codes)} people make one group alone, so no other group can lend its face",
                "add people, lower k (two groups need twice as many), or use a recipe that needs "
                "one group only, as k-same-m",
            )
        depth = n - 1 if depth is None else min(depth, n - 1)
        cost = None if self.cost is None else self._checked(self.cost, n)
        pool = Pool(centres) if cost is None else None
        found = np.full((n, depth), -1, dtype=np.int32)
        for group in range(n):
            if pool is not None:
                near = pool.nearest(centres[group], depth + 1)
                found[group] = near[near != group][:depth]
            elif cost is not None:
                allowed = np.flatnonzero(np.isfinite(cost[group]))
                allowed = allowed[allowed != group]
                apart = squared(centres[allowed], centres[group])
                order = allowed[np.lexsort((allowed, apart, cost[group, allowed]))][:depth]
                found[group, : len(order)] = order
        return found

    def __call__(self, codes: F32, partition: Partition, rng: np.random.Generator) -> Surrogates:
        """Make surrogates; `rng` draws among the candidates."""
        if self.among < 1:
            raise InputError(f"among is {self.among}", "draw from one candidate or more")
        first = self.candidates(codes, partition, self.among)
        lost = np.flatnonzero(first[:, 0] < 0)
        if len(lost):
            raise InputError(
                f"group {lost[0]} has no neighbour that is allowed", "forbid fewer pairs"
            )
        if self.injective:
            given = self._one_each(codes, partition, rng)
        else:
            allowed = (first >= 0).sum(axis=1)
            given = first[np.arange(len(first)), rng.integers(allowed)]
        source: I32 = given[partition.labels].astype(np.int32)
        drawn = partition.centroids(codes).astype(np.float32)
        used, source = _only_used(source)
        own = float(own_nearest(codes, drawn[used], source).mean())
        return Surrogates(
            codes=drawn[used],
            source=source,
            guarantee=shared(partition, used[source]),
            notes=(*heads(partition, used[source]), ("share nearest to their own original", own)),
        )

    def _one_each(self, codes: F32, partition: Partition, rng: np.random.Generator) -> AnyArray:
        """Give every group another mean, at the least sum of ranks; the first `among` rank alike.

        Looks at twice as many candidates until everybody can be served.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import min_weight_full_bipartite_matching

        depth = self.among
        most = partition.n_groups - 1
        while True:
            found = self.candidates(codes, partition, depth)
            group, rank = np.nonzero(found >= 0)
            draw = rng.random(len(group))
            price = np.maximum(rank - self.among + 1, 0) + 1.0 + draw
            edges = csr_array((price, (group, found[group, rank])), shape=(most + 1, most + 1))
            try:
                rows, given = min_weight_full_bipartite_matching(edges)
            except ValueError as error:
                if depth >= most:
                    raise InputError(
                        "no one-to-one exchange of group means is allowed", "forbid fewer pairs"
                    ) from error
                depth = min(2 * depth, most)
                continue
            chosen: AnyArray = given[np.argsort(rows)]
            return chosen

    def _checked(self, cost: F64, n: int) -> F64:
        if cost.shape != (n, n):
            raise InputError(f"cost has the shape {cost.shape}, but there are {n} groups")
        if np.isnan(cost).any():
            raise InputError("cost holds NaN", "use infinity to forbid a pair")
        return cost


def _only_used(source: I32) -> tuple[AnyArray, I32]:
    """Drop the means that nobody was given."""
    used, where = np.unique(source, return_inverse=True)
    return used, where.astype(np.int32)
