"""The people who are not yet grouped, and who of them is nearest to or furthest from a point."""

from __future__ import annotations

from collections.abc import Iterator

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
        self._sizes: F32 = np.einsum("ij,ij->i", self._flat, self._flat)
        self._reach = float(np.sqrt(self._sizes.max()))
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
        at = np.searchsorted(self._rows, rows)
        self._alive[at] = False
        self._sizes[at] = np.inf
        self._sum = self._sum - self._X[rows].sum(axis=0)
        self._left -= len(rows)
        if self._left < 0.75 * len(self._rows):
            keep = self._alive
            self._flat, self._sizes = self._flat[keep], self._sizes[keep]
            self._rows, self._alive = self._rows[keep], np.ones(self._left, dtype=np.bool_)

    def nearest(self, point: F64, count: int) -> I64:
        """Return the `count` rows nearest to `point`, nearest first."""
        return self.nearest_to_each(point[None], count)[0]

    def nearest_to_each(self, points: F64, count: int) -> list[I64]:
        """Return the `count` rows nearest to each of many points, in one matrix product."""
        if count <= 0:
            return [np.empty(0, dtype=np.int64) for _ in points]
        found = []
        for point, (near, slack) in zip(points, self._measured(points), strict=True):
            limit = np.partition(near, count - 1)[count - 1] + slack
            rows = self._rows[np.flatnonzero((near <= limit) & self._alive)]
            order = np.lexsort((rows, squared(self._X[rows], point)))
            found.append(rows[order[:count]])
        return found

    def furthest(self, point: F64) -> int:
        """Return the row furthest from `point`."""
        near, slack = next(self._measured(point[None]))
        near[~self._alive] = -np.inf
        rows = self._rows[near >= near.max() - slack]
        return int(rows[np.argmax(squared(self._X[rows], point))])

    def _measured(self, points: F64) -> Iterator[tuple[F32, np.float32]]:
        """Measure roughly: |x|² − 2xp of all rows (infinite where gone), and twice its error."""
        at: F32 = ((points - self._centre) / self._scale).astype(np.float32)
        sizes = np.sqrt(np.einsum("ij,ij->i", at, at))
        for dots, size in zip(at @ self._flat.T, sizes, strict=True):
            slack = 8.0 * (at.shape[1] + 8) * _EPSILON * (self._reach + size) ** 2
            yield self._sizes - 2.0 * dots, np.float32(slack)
