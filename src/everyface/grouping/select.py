"""k-Same-Select: groups that never mix what a label tells apart (thesis 2.3.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from sklearn.base import clone

from everyface.arrays import I32, I64, AnyArray
from everyface.errors import InputError, TooFewPeopleError
from everyface.grouping.base import Grouping, Partition, blocks, require_table


@dataclass(frozen=True)
class Selection:
    """A partition made within the values of a label, and where that could not be kept.

    Attributes
    ----------
    partition
        The groups of all values together.
    merged
        Values that were grouped as one, because one of them had too few people; each a tuple of
        the values in it. Empty where the label was kept everywhere.
    mixed
        Share of the people whose group holds more than one value.
    fitted
        Value (or values) → its own fitted grouping, for what a method reports of itself.
    """

    partition: Partition
    merged: tuple[tuple[str, ...], ...]
    mixed: float
    fitted: dict[tuple[str, ...], Grouping] = field(default_factory=dict)

    @property
    def kind(self) -> I64:
        """Group → which of the values (or of the values grouped as one) it was made within."""
        sizes = [part.partition_.n_groups for part in self.fitted.values()]
        return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)


def fit_within(
    grouping: Grouping,
    X: AnyArray,
    within: AnyArray,
    *,
    subjects: AnyArray | None = None,
    **each: AnyArray,
) -> Selection:
    """Group the rows of `X` within each value of a label.

    A value with fewer people than the grouping needs (k, or 2k where groups come in pairs)
    joins the value whose mean code is nearest, smallest value first, until all have enough.
    That gives up the label for those people, and never k; `merged` and `mixed` report it.

    Parameters
    ----------
    grouping
        Any grouping; a copy of it is fitted in every value, each with a seed of its own.
    X
        Codes, one row a face.
    within
        One value a row; compared as text. A person whose rows disagree counts under the value
        most of them have (of equally many, the first in order).
    subjects
        Who each row shows; None means that every row is somebody else.
    each
        What else the grouping's `fit` takes, one value a row.
    """
    codes = np.asarray(X)
    if codes.dtype != np.float32:
        codes = np.asarray(X, dtype=np.float64)
    require_table(codes)  # here, where rows still have the caller's numbers
    people = np.arange(len(codes)) if subjects is None else np.asarray(subjects)
    if len(within) != len(codes) or len(people) != len(codes):
        raise InputError(
            f"{len(within)} label values and {len(people)} subjects for {len(codes)} rows",
            "give one of each a row",
        )
    value = one_value_each(np.array([str(v) for v in within]), people)
    classes = _large_enough(grouping, codes, people, value)
    fitted: dict[tuple[str, ...], Grouping] = {}
    members: list[I64] = []
    for number, names in enumerate(classes):
        rows = np.flatnonzero(np.isin(value, names))
        part = clone(grouping).set_params(random_state=_seed(grouping, number))
        own = {name: np.asarray(values)[rows] for name, values in each.items()}
        fitted[names] = part.fit(codes[rows], subjects=people[rows], **own)
        members.append(rows)
    partition = _joined([part.partition_ for part in fitted.values()], members)
    return Selection(
        partition=partition,
        merged=tuple(names for names in classes if len(names) > 1),
        mixed=_mixed(partition.labels, value, people),
        fitted=fitted,
    )


def _joined(parts: Sequence[Partition], members: Sequence[I64]) -> Partition:
    """Join the partitions of all classes into one; `members` are the rows of each."""
    count = sum(map(len, members))
    labels, core = np.empty(count, dtype=np.int32), np.ones(count, dtype=np.bool_)
    partners: list[I32] = []
    groups = 0
    for part, rows in zip(parts, members, strict=True):
        labels[rows] = part.labels + groups
        if part.partner is not None:
            partners.append(part.partner + np.int32(groups))
        if part.core is not None:
            core[rows] = part.core
        groups += part.n_groups
    partner = np.concatenate(partners) if partners else None
    return Partition(labels, partner, None if core.all() else core)


def _seed(grouping: Grouping, number: int) -> int | None:
    """Derive a seed for one class from the seed of the whole."""
    if grouping.random_state is None:
        return None
    return int(np.random.SeedSequence([grouping.random_state, number]).generate_state(1)[0])


def one_value_each(value: AnyArray, people: AnyArray) -> AnyArray:
    """Give all rows of a person the value that most of them have."""
    names, where = np.unique(people, return_inverse=True)
    if len(names) == len(people):
        return value
    rows: list[Counter[str]] = [Counter() for _ in names]
    for person, seen in zip(where, value, strict=True):
        rows[person][str(seen)] += 1
    most = [min(c, key=lambda v, c=c: (-c[v], v)) for c in rows]  # type: ignore[misc]
    settled: AnyArray = np.array(most)[where]
    return settled


def _large_enough(
    grouping: Grouping, X: AnyArray, people: AnyArray, value: AnyArray
) -> list[tuple[str, ...]]:
    """Join values until each class has as many people as the grouping needs."""
    need = grouping.pairs * grouping.k
    _, first, person, photos = np.unique(
        people, return_index=True, return_inverse=True, return_counts=True
    )
    if len(first) < need:
        raise TooFewPeopleError(
            f"{grouping.name} with k = {grouping.k} needs at least {need} people, "
            f"but there are {len(first)}",
            "lower k or add people",
        )
    names, kind = np.unique(value, return_inverse=True)
    classes: list[tuple[str, ...]] = [(str(name),) for name in names]
    heads = np.bincount(kind[first], minlength=len(names))
    sums = np.zeros((len(names), X.shape[1]))
    for block in blocks(*X.shape):
        np.add.at(sums, kind[block], X[block] / photos[person[block], None])  # of people
    while heads.min() < need:
        small = int(np.argmin(heads))
        apart = np.linalg.norm(sums / heads[:, None] - sums[small] / heads[small], axis=1)
        apart[small] = np.inf
        keep, drop = sorted((small, int(np.argmin(apart))))
        classes[keep] = tuple(sorted(classes[keep] + classes.pop(drop)))
        heads[keep] += heads[drop]
        sums[keep] += sums[drop]
        heads, sums = np.delete(heads, drop), np.delete(sums, drop, axis=0)
    return classes


def _mixed(labels: I32, value: AnyArray, people: AnyArray) -> float:
    """Share of the people whose group holds more than one value."""
    pairs = np.unique(np.stack([labels.astype(str), value.astype(str)]), axis=1)
    groups, kinds = np.unique(pairs[0].astype(np.int64), return_counts=True)
    _, first = np.unique(people, return_index=True)
    return float(np.isin(labels[first], groups[kinds > 1]).mean())
