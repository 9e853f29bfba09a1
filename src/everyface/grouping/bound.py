"""Proven lower bounds on the squared error of any grouping with groups of at least k people.

A grouping is a matrix Z: Z_ij = 1 / s where i and j share a group of s people, else 0. With D the
squared distances, its squared error is ½ Σ D_ij Z_ij (Huygens). Rows of Z sum to 1 and hold s
equal entries, and Z is a projection whose rank is the number of groups. Groups of 2k people or
more can be cut without raising the error, so k ≤ s ≤ 2k − 1. What keeps only some of this is
easy to minimise, and what it finds no grouping can go below. The proofs stand in
docs/methods/grouping.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from everyface.arrays import F64, I64, AnyArray
from everyface.errors import InputError, TooFewPeopleError
from everyface.grouping.base import blocks, one_row_each, require_table

ONE_TABLE = 2000
"""Up to so many people the bounds are combined; above that each stands alone."""
_SLACK = 1e-9


@dataclass(frozen=True)
class Bound:
    """What the squared error of no grouping can go below.

    Attributes
    ----------
    neighbours
        From the sums of the distances to the nearest k − 1 … 2k − 2 others.
    spectral
        From the eigenvalues of the scatter beyond the first ⌊n / k⌋ − 1.
    combined
        From both at once; the larger one of them where there are too many people for that.
    """

    neighbours: float
    spectral: float
    combined: float

    def gap(self, error: float) -> float:
        """How far above the bound a squared error is, as a share of the bound."""
        if self.combined <= 0.0:
            return 0.0 if error <= 0.0 else float("inf")
        return error / self.combined - 1.0


def lower_bound(
    X: AnyArray, k: int, *, subjects: AnyArray | None = None, rounds: int = 200
) -> Bound:
    """Bound the squared error that any grouping of the people in `X` has.

    Parameters
    ----------
    X
        Codes, one row a face.
    k
        The least number of people in a group.
    subjects
        Who each row shows; a person's rows are averaged to one, as groupings do.
    rounds
        Steps of the ascent that combines the two bounds; more come closer.
    """
    require_table(np.asarray(X))
    people = np.arange(len(X)) if subjects is None else np.asarray(subjects)
    rows, _ = one_row_each(np.asarray(X), people)
    if k < 2:
        raise InputError(f"k is {k}", "k must be a whole number, 2 or more")
    if len(rows) < k:
        raise TooFewPeopleError(f"there are {len(rows)} people and k is {k}", "lower k")
    codes = rows if len(rows) > ONE_TABLE else np.asarray(rows, np.float64)
    near, tail = _neighbours(codes, k), _spectral(codes, k)
    best = max(near, tail)
    if len(codes) <= ONE_TABLE and k < len(codes):
        centred = codes - codes.mean(axis=0)
        best = max(best, _ascent(cdist(centred, centred, "sqeuclidean"), k, near >= tail, rounds))
    return Bound(near, tail, best)


def _neighbours(codes: AnyArray, k: int) -> float:
    """Σ_i min_s (Σ of the s − 1 smallest d_ij) / 2s; that grows with s, so s = k is least."""
    centre = np.zeros(codes.shape[1])
    for block in blocks(*codes.shape):
        centre += np.asarray(codes[block], np.float64).sum(axis=0)
    centre /= len(codes)
    total = 0.0
    for block in blocks(len(codes), len(codes)):
        some = np.asarray(codes[block], np.float64) - centre
        apart = np.concatenate(
            [
                cdist(some, np.asarray(codes[other], np.float64) - centre, "sqeuclidean")
                for other in blocks(*codes.shape)
            ],
            axis=1,
        )
        apart[np.arange(len(some)), np.arange(block.start, block.stop)] = np.inf
        total += float(np.partition(apart, k - 2, axis=1)[:, : k - 1].sum())
    return total / (2 * k) * (1.0 - _SLACK)


def _spectral(codes: AnyArray, k: int) -> float:
    """Sum the eigenvalues of the scatter beyond the first ⌊n / k⌋ − 1."""
    width = codes.shape[1]
    sums, products = np.zeros(width), np.zeros((width, width))
    for block in blocks(*codes.shape):
        some = np.asarray(codes[block], np.float64) - np.asarray(codes[0], np.float64)
        sums += some.sum(axis=0)
        products += some.T @ some
    scatter = products - np.outer(sums, sums) / len(codes)
    values = np.linalg.eigvalsh(scatter)[::-1]
    tail = float(values[len(codes) // k - 1 :].sum())
    return max(0.0, tail - _SLACK * float(np.abs(values).sum()))


def _ascent(D: F64, k: int, from_near: bool, rounds: int) -> float:
    """Split ½ D into two parts, one for each bound, so that their sum grows.

    Both bounds are concave in the part they are given, and so is their sum; the differences of
    the two minimising Z are a supergradient (steps after Polyak, towards 3 % above the best so
    far). Every split is a proof; so the best one seen is.
    """
    half = 0.5 * D
    n = len(D)
    split = np.zeros_like(half) if from_near else half.copy()
    price = np.zeros(n)
    best, kept, since, pace = -np.inf, (split, price), 0, 1.0
    for _ in range(rounds):
        low, Z = _rows(half - split, price, k)
        tail, P = _projection(split, k)
        value = low + tail
        if value > best:
            best, kept, since = value, (split, price), 0
        else:
            since += 1
            if since == 8:
                since, pace = 0, 0.6 * pace
                split, price = kept
                continue
        uphill = P - 0.5 * (Z + Z.T)
        fair = Z.sum(axis=1) - Z.sum(axis=0)
        steep = float((uphill**2).sum() + (fair**2).sum())
        if steep == 0.0:
            break
        step = pace * (best + 0.03 * abs(best) - value + 1e-12) / steep
        split, price = split + step * uphill, price + step * fair
    return best - _SLACK * float(np.abs(half).sum()) / n


def _rows(M: F64, price: F64, k: int) -> tuple[float, F64]:
    """Minimise Σ M_ij Z_ij row by row: each takes its own entry and its s − 1 smallest others.

    Prices move cost from the row of i to that of j and cancel in every grouping, in which i is
    with j as often as j with i; they make people whom everybody would like to be with dear.
    """
    n = len(M)
    most = min(2 * k - 1, n)
    costs = M + price[:, None] - price[None, :]
    np.fill_diagonal(costs, np.inf)
    near: I64 = np.argpartition(costs, most - 2, axis=1)[:, : most - 1]
    near = np.take_along_axis(
        near, np.argsort(np.take_along_axis(costs, near, 1), axis=1, kind="stable"), 1
    )
    sums = np.cumsum(np.take_along_axis(costs, near, 1), axis=1)
    sizes = np.arange(k, most + 1)
    shares = (np.diag(M)[:, None] + sums[:, k - 2 :]) / sizes
    chosen = shares.argmin(axis=1)
    size = sizes[chosen]
    Z = np.zeros((n, n))
    taken = np.arange(most - 1)[None, :] < (size - 1)[:, None]
    rows = np.repeat(np.arange(n), size - 1)
    Z[rows, near[taken]] = np.repeat(1.0 / size, size - 1)
    Z[np.arange(n), np.arange(n)] = 1.0 / size
    return float(shares[np.arange(n), chosen].sum()), Z


def _projection(Y: F64, k: int) -> tuple[float, F64]:
    """Minimise Σ Y_ij Z_ij over projections that keep the vector of ones, of an allowed rank."""
    n = len(Y)
    fewest, most = -(-n // (2 * k - 1)), n // k
    mean = Y.mean(axis=0)
    inner = Y - mean[None, :] - mean[:, None] + Y.mean()
    if most == 1:
        return float(Y.sum() / n), np.full((n, n), 1.0 / n)
    values, vectors = np.linalg.eigh(inner)
    rank = min(most - 1, max(fewest - 1, int((values < 0.0).sum())))
    chosen = vectors[:, :rank]
    return float(Y.sum() / n + values[:rank].sum()), chosen @ chosen.T + 1.0 / n
