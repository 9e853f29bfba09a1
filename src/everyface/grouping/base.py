"""What every grouping owes: groups of at least k distinct people, or a refusal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from everyface.arrays import F32, F64, I32, I64, AnyArray, Bool
from everyface.errors import InputError, TooFewPeopleError

_NUMBERS = 1 << 22
"""How many numbers of a table are looked at together."""


def blocks(rows: int, columns: int) -> Iterator[slice]:
    """Cut the rows of a table into blocks small enough to be worked on in memory."""
    step = max(1, _NUMBERS // max(columns, 1))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def require_table(codes: AnyArray) -> None:
    """Refuse what is not one row of finite numbers a face, naming the first row that is not."""
    if codes.ndim != 2 or codes.shape[1] == 0:
        raise InputError(f"codes have the shape {codes.shape}", "give one row of numbers a face")
    for block in blocks(*codes.shape):
        bad = np.flatnonzero(~np.isfinite(codes[block]).all(axis=1))
        if len(bad):
            row = block.start + bad[0]
            raise InputError(f"row {row} of the codes holds NaN or infinity", "remove that row")


def one_row_each(codes: AnyArray, people: AnyArray) -> tuple[AnyArray, I64]:
    """Average the rows of each person to one; also say which of these rows each row went to.

    People stand in the order of their names. Where every row is somebody else and they stand in
    order already, nothing is copied. The means have the type of the codes.
    """
    names, where, photos = np.unique(people, return_inverse=True, return_counts=True)
    where = where.astype(np.int64)
    order = np.argsort(where, kind="stable")
    if len(names) == len(codes):
        ordered: AnyArray = codes if (order == np.arange(len(codes))).all() else codes[order]
        return ordered, where
    means = np.zeros((len(names), codes.shape[1]), codes.dtype)
    ends = np.cumsum(photos)
    for block in blocks(len(names), int(codes.shape[1] * photos.max())):
        first = ends[block.start] - photos[block.start]
        rows = order[first : ends[block.stop - 1]]
        part = np.zeros((block.stop - block.start, codes.shape[1]))
        np.add.at(part, where[rows] - block.start, codes[rows] / photos[where[rows], None])
        means[block] = part
    return means, where


@dataclass(frozen=True)
class Partition:
    """Who stands with whom.

    Attributes
    ----------
    labels
        Row → group, 0 … n_groups − 1; never −1.
    partner
        Group → the group it is paired with (opposed groupings), or None.
    core
        Row → whether it counts towards its group's centroid. Opposed groupings freeze the
        centroid before the last members join (thesis Alg. 3, lines 21-34).
    """

    labels: I32
    partner: I32 | None = None
    core: Bool | None = None

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return int(self.labels.max()) + 1

    def centroids(self, codes: AnyArray, subjects: AnyArray | None = None) -> F64:
        """Mean code of each group's core: of people, not photos, so nobody weighs twice."""
        rows = np.arange(len(codes)) if self.core is None else np.flatnonzero(self.core)
        named = np.arange(len(codes)) if subjects is None else np.asarray(subjects)
        names, people = np.unique(named, return_inverse=True)
        means = np.zeros((self.n_groups, codes.shape[1]))
        pair = self.labels[rows].astype(np.int64) * len(names) + people[rows]
        keys, where, photos = np.unique(pair, return_inverse=True, return_counts=True)
        group = (keys // len(names)).astype(np.int64)
        heads = np.bincount(group, minlength=self.n_groups)
        weight = 1.0 / (photos[where] * heads[self.labels[rows]])
        for block in blocks(len(rows), codes.shape[1]):
            some = rows[block]
            np.add.at(means, self.labels[some], codes[some] * weight[block, None])
        return means


class Grouping(ClusterMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A scikit-learn clusterer whose every label holds at least `k` distinct subjects.

    Subclasses implement `_partition` on one row a subject; this class refuses bad input, averages
    several rows of a subject to one, and hands the labels back to every row.

    Parameters
    ----------
    k
        The least number of people in a group.
    random_state
        Seed of the algorithm's own choices; the same seed gives the same groups.
    """

    name: ClassVar[str]
    pairs: ClassVar[int] = 1
    """How many groups of k the method needs at the least (2 for opposed groupings)."""
    streams: ClassVar[bool] = False
    """Whether the method takes float32 as it is, also from a memory map; others get float64."""

    labels_: I32
    partition_: Partition

    def __init__(self, k: int = 5, random_state: int | None = None) -> None:
        self.k = k
        self.random_state = random_state

    @abstractmethod
    def _partition(self, X: F64, rng: np.random.Generator) -> Partition:
        """Group the rows of `X`, one row a subject, at least `pairs * k` of them.

        Where the method `streams`, `X` may be float32 and lie on disk.
        """

    def fit(
        self,
        X: AnyArray,
        y: object = None,  # noqa: ARG002
        *,
        subjects: AnyArray | None = None,
    ) -> Self:
        """Group the rows of `X`; rows with equal `subjects` are one person."""
        X, people = self._checked(X, subjects)
        heads = len(np.unique(people))
        if heads < self.pairs * self.k:
            raise TooFewPeopleError(
                f"{self.name} with k = {self.k} needs at least {self.pairs * self.k} people, "
                f"but there are {heads}",
                "lower k or add people",
            )
        rows, where = one_row_each(X, people)
        found = self._partition(rows, np.random.default_rng(self.random_state))
        self._require_k(found)
        self.partition_ = Partition(
            labels=found.labels[where],
            partner=found.partner,
            core=None if found.core is None else found.core[where],
        )
        self.labels_ = self.partition_.labels
        return self

    def fit_predict(
        self,
        X: AnyArray,
        y: object = None,  # noqa: ARG002
        *,
        subjects: AnyArray | None = None,
    ) -> I32:
        """Group the rows of `X` and return one label a row."""
        return self.fit(X, subjects=subjects).labels_

    def _checked(self, X: AnyArray, subjects: AnyArray | None) -> tuple[F64 | F32, AnyArray]:
        X = np.asarray(X)
        if not self.streams or X.dtype != np.float32:
            X = np.asarray(X, dtype=np.float64)
        k: object = self.k
        if not isinstance(k, int | np.integer) or k < 2:
            raise InputError(
                f"k is {self.k}", "k must be a whole number, 2 or more: a group of one hides nobody"
            )
        require_table(X)
        people = np.arange(len(X)) if subjects is None else np.asarray(subjects)
        if len(people) != len(X):
            raise InputError(f"{len(people)} subjects were given for {len(X)} rows")
        return X, people

    def _require_k(self, found: Partition) -> None:
        """Refuse to hand out a grouping that breaks the promise, whatever the cause."""
        if found.labels.min() < 0:
            raise AssertionError(f"{self.name} left people without a group")
        sizes = np.bincount(found.labels)
        if sizes.min() < self.k:
            raise AssertionError(f"{self.name} made a group of {sizes.min()} people, k = {self.k}")
