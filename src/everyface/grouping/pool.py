"""The people who are not yet grouped, and who of them is nearest to or furthest from a point."""

from __future__ import annotations

import numpy as np

from everyface.arrays import F32, F64, I64, Bool

_EPSILON = float(np.finfo(np.float32).eps)


def squared(rows: F64, point: F64) -> F64:
    """Squared Euclidean distances from `point` to `rows`, every row summed in the same order."""
    found: F64 = np.square(rows - point).sum(axis=1)
    return found


class Pool:
    """Rows of `X` that can be searched exactly and taken away.

    A search reads a float32 copy first, bounds its rounding error, and measures in float64 only
    the rows that the bound leaves open. So the answer is that of plain float64, ties go to the
    lowest index, and the time is that of one float32 matrix-vector product.

    Parameters
    ----------
    X
        Codes, one row a person.
    """

    def __init__(self, X: F64) -> None:
        self._X = X
        self._centre: F64 = X.mean(axis=0)
        moved = X - self._centre
        self._scale = float(np.abs(moved).max()) or 1.0
        self._flat: F32 = (moved / self._scale).astype(np.float32)
        self._norms: F32 = np.sqrt(np.einsum("ij,ij->i", self._flat, self._flat))
        self._rows: I64 = np.arange(len(X), dtype=np.int64)
        self._alive: Bool = np.ones(len(X), dtype=np.bool_)
        self._sum: F64 = X.sum(axis=0)
        self._left = len(X)

    def __len__(self) -> int:
        return self._left

    @property
    def rows(self) -> I64:
        """Indices of the rows that are left, ascending."""
        left: I64 = self._rows[self._alive]
        return left

    @property
    def mean(self) -> F64:
        """Mean of the rows that are left."""
        return self._sum / self._left

    def remove(self, rows: I64) -> None:
        """Take rows away."""
        self._alive[np.searchsorted(self._rows, rows)] = False
        self._sum = self._sum - self._X[rows].sum(axis=0)
        self._left -= len(rows)
        if self._left < 0.75 * len(self._rows):
            keep = self._alive
            self._flat, self._norms = self._flat[keep], self._norms[keep]
            self._rows, self._alive = self._rows[keep], np.ones(self._left, dtype=np.bool_)

    def nearest(self, point: F64, count: int) -> I64:
        """Return the `count` rows nearest to `point`, nearest first."""
        if count <= 0:
            return np.empty(0, dtype=np.int64)
        low, high = self._bounds(point)
        high[~self._alive] = np.inf
        open_ = self._alive & (low <= np.partition(high, count - 1)[count - 1])
        rows = self._rows[open_]
        order = np.lexsort((rows, squared(self._X[rows], point)))
        found: I64 = rows[order[:count]]
        return found

    def furthest(self, point: F64) -> int:
        """Return the row furthest from `point`."""
        low, high = self._bounds(point)
        low[~self._alive] = -np.inf
        rows = self._rows[self._alive & (high >= low.max())]
        return int(rows[np.argmax(squared(self._X[rows], point))])

    def _bounds(self, point: F64) -> tuple[F64, F64]:
        """Bound every squared distance (scaled) from below and above."""
        at = ((point - self._centre) / self._scale).astype(np.float32)
        size = float(np.sqrt(at @ at))
        reach = (self._norms.astype(np.float64) + size) ** 2
        near = self._norms.astype(np.float64) ** 2 - 2.0 * (self._flat @ at) + size**2
        slack = 4.0 * (len(at) + 8) * _EPSILON * reach
        return near - slack, near + slack
