"""A lower bound for k = 2 that is all but exact: fractions of pairs and triples, with odd cuts.

Groups of four or more can be cut into pairs and triples without raising the error, so the best
grouping is the cheapest choice of pairs (cost d_ij / 2) and triples ((d_ij + d_il + d_jl) / 3)
that covers everybody once. Allowing fractions of groups turns this into a linear programme, in
which every pair and every triple takes part: those not in it yet are priced by its dual values,
all of them, until none would lower the cost. Fractions like to run around odd cycles; for an odd
set S of people, any true grouping has Σ ⌊|group ∩ S| / 2⌋ ≤ (|S| − 1) / 2 (summed over chosen
groups; Edmonds 1965 for pairs), and such cuts are added where they are broken.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, csc_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from everyface.arrays import F64, I64, AnyArray
from everyface.compiled import compiled
from everyface.errors import InputError
from everyface.grouping.base import require_table

_NEAR = 8
_CUT_ROUNDS = 15
_LARGEST_CUT = 31
_TOLERANCE = 1e-9
_MOST = 1 << 20


def pairs_bound(X: AnyArray) -> float:
    """Bound the squared error of any grouping with groups of at least two, one row a person.

    Up to about 1,000 people; all triples are looked at several times.
    """
    require_table(np.asarray(X))
    if len(X) < 2:
        raise InputError("one person cannot be grouped", "give two or more")
    centred = np.asarray(X, np.float64) - np.asarray(X, np.float64).mean(axis=0)
    D = cdist(centred, centred, "sqeuclidean")
    scale = float(D.max())
    if scale == 0.0:
        return 0.0
    return _cheapest(D / scale) * scale


def _cheapest(D: F64) -> float:
    n = len(D)
    groups = _near_groups(D)
    cuts: list[I64] = []
    proven = 0.0
    for _ in range(_CUT_ROUNDS):
        while True:
            chosen, prices, fines = _solved(D, groups, cuts)
            new = _priced(D, prices, -_TOLERANCE, _MOST)
            saved = _reduced(D, new, prices, cuts, fines)
            joined = np.unique(np.concatenate([groups, new[saved < -_TOLERANCE]]), axis=0)
            if len(joined) == len(groups):
                break
            groups = joined
        limits = np.array([len(cut) // 2 for cut in cuts], np.float64)
        # what the solver's tolerance may still hide: no grouping has more than n / 2 groups
        hidden = 0.5 * n * max(_TOLERANCE, -float(saved.min(initial=0.0)))
        proven = max(proven, float(prices.sum() + fines @ limits) - hidden)
        broken = _broken(groups, chosen, n)
        if not broken:
            break
        cuts += broken
    return proven


def _near_groups(D: F64) -> I64:
    """Return pairs and triples to begin with, of near people and enough for all; −1 is nobody."""
    n = len(D)
    apart = D.copy()
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1, kind="stable")[:, : min(_NEAR, n - 1)]
    found = {(*sorted((i, int(j))), -1) for i in range(n) for j in near[i]}
    found |= {
        tuple(sorted((i, int(near[i, a]), int(near[i, b]))))
        for i in range(n)
        for a in range(min(_NEAR // 2, near.shape[1]))
        for b in range(a)
    }
    found |= {(i, i + 1, -1) for i in range(n - 1)} | {(i, i + 1, i + 2) for i in range(n - 2)}
    return np.array(sorted(found), np.int64)


def _costs(D: F64, groups: I64) -> F64:
    a, b, c = groups.T
    triple = (D[a, b] + D[a, c] + D[b, c]) / 3.0
    found: F64 = np.where(c < 0, D[a, b] / 2.0, triple)
    return found


def _halves(groups: I64, cuts: list[I64], n: int) -> F64:
    """⌊|group ∩ S| / 2⌋ for every cut S (rows) and group (columns)."""
    found = np.zeros((len(cuts), len(groups)))
    for row, cut in enumerate(cuts):
        inside = np.zeros(n + 1, np.int64)
        inside[cut] = 1
        found[row] = inside[groups].sum(axis=1) // 2
    return found


def _reduced(D: F64, groups: I64, prices: F64, cuts: list[I64], fines: F64) -> F64:
    paid = np.append(prices, 0.0)[groups].sum(axis=1)
    found: F64 = _costs(D, groups) - paid - fines @ _halves(groups, cuts, len(D))
    return found


def _solved(D: F64, groups: I64, cuts: list[I64]) -> tuple[F64, F64, F64]:
    """Solve the programme; return the chosen fractions and the dual values."""
    n = len(D)
    there = groups >= 0
    column = np.nonzero(there)[0]
    cover = csc_matrix((np.ones(len(column)), (groups[there], column)), shape=(n, len(groups)))
    limits = np.array([len(cut) // 2 for cut in cuts], np.float64)
    solved = linprog(  # type: ignore[call-overload]  # sparse tables are taken
        _costs(D, groups),
        A_ub=csc_matrix(_halves(groups, cuts, n)) if cuts else None,
        b_ub=limits if cuts else None,
        A_eq=cover,
        b_eq=np.ones(n),
        method="highs",
    )
    if solved.x is None:
        raise AssertionError(f"the linear programme was not solved: {solved.message}")
    fines = np.minimum(solved.ineqlin.marginals, 0.0) if cuts else np.zeros(0)
    return solved.x, np.asarray(solved.eqlin.marginals), fines


def _broken(groups: I64, chosen: F64, n: int) -> list[I64]:
    """Return odd sets of people, joined by fractions of groups, that hold too much in all."""
    torn = groups[(chosen > 1e-6) & (chosen < 1.0 - 1e-6)]
    if not len(torn):
        return []
    edges = np.concatenate([torn[:, :2], torn[torn[:, 2] >= 0, 1:]])
    graph = coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    names = connected_components(graph, directed=False)[1]
    found = []
    for name in np.unique(names[torn[:, 0]]):
        cut = np.flatnonzero(names == name)
        if len(cut) % 2 == 0 or len(cut) > _LARGEST_CUT:
            continue
        if (_halves(groups, [cut], n) @ chosen)[0] > len(cut) // 2 + 1e-6:
            found.append(cut)
    return found


@compiled
def _priced(D: F64, prices: F64, limit: float, most: int) -> I64:
    """Return every pair and triple that costs less than its people pay, up to `most`."""
    n = len(D)
    found = np.empty((most, 3), np.int64)
    count = 0
    for i in range(n):
        for j in range(i + 1, n):
            paid = prices[i] + prices[j] + limit
            if count < most and 0.5 * D[i, j] < paid:
                found[count] = np.array([i, j, -1])
                count += 1
            for h in range(j + 1, n):
                if (D[i, j] + D[i, h] + D[j, h]) / 3.0 < paid + prices[h] and count < most:
                    found[count] = np.array([i, j, h])
                    count += 1
    return found[:count]
