"""What groups must hold of a sensitive value: some distinct ones (ℓ), in usual shares (t)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from everyface.arrays import I32, I64
from everyface.errors import InputError
from everyface.grouping.search import Rules

_SLOWER = 0.97


def free(k: int) -> Rules:
    """Return the rules where nothing is asked but a size."""
    return Rules(k, 2 * k - 1, np.zeros(0, np.int32), np.zeros(0), 1, 1.0)


def kept(rules: Rules, labels: I32) -> bool:
    """Whether every group holds what the rules ask for."""
    sizes = np.bincount(labels)
    if sizes.min() < rules.least or sizes.max() > rules.most:
        return False
    if not len(rules.kinds):
        return True
    values = len(rules.whole)
    counts = np.bincount(labels.astype(np.int64) * values + rules.kinds, minlength=0)
    shares = np.zeros(len(sizes) * values)
    shares[: len(counts)] = counts
    table = shares.reshape(len(sizes), values)
    apart = 0.5 * np.abs(table / sizes[:, None] - rules.whole).sum(axis=1)
    distinct = (table > 0).sum(axis=1)
    return bool(distinct.min() >= rules.distinct and apart.max() <= rules.apart + 1e-12)


def dealt(rules: Rules, order: I64) -> tuple[I32, int]:
    """Deal people out to as many groups as can be made to hold what the rules ask for.

    Two ways are tried for ever fewer groups. The first cuts `order` (near people stand near
    each other in it) once every value's people have been spread evenly along it, so each group
    is a stretch with every value's share in it. The second deals one value after the other, like
    cards: at first no more of a value than there are groups, so that none gets the same twice,
    then the rest. If Σ_v min(n_v, m) ≥ ℓ·m, it gives each of m groups ℓ distinct values, and
    shares as even as whole people can be. One group of everybody holds anything that can be held.

    Returns
    -------
    tuple of I32 and int
        Person → group, and how many people a group may hold: 2k − 1, or more where the rules
        force groups to be larger.
    """
    n = len(rules.kinds)
    present = len(np.unique(rules.kinds))
    if present < rules.distinct:
        raise InputError(
            f"every group is to hold {rules.distinct} distinct values, but there are {present}",
            "ask for fewer",
        )
    groups = n // rules.least
    while True:
        most = max(rules.most, 2 * (n // groups) - 1, -(-n // groups))
        for labels in _ways(rules.kinds, order, groups):
            if kept(rules._replace(most=most), labels):
                return labels, most
        groups = max(1, min(groups - 1, int(groups * _SLOWER)))


def _ways(kinds: I32, order: I64, groups: int) -> Iterator[I32]:
    n = len(kinds)
    by_value = order[np.argsort(kinds[order], kind="stable")]
    heads = np.bincount(kinds)
    rank = np.arange(n) - np.repeat(np.cumsum(heads) - heads, heads)
    place = np.empty(n)
    place[by_value] = (rank + 0.5) / np.repeat(heads, heads)
    spread = order[np.argsort(place[order], kind="stable")]
    for sequence, cards in ((spread, False), (by_value, True)):
        labels = np.empty(n, np.int32)
        if cards:
            first = rank < groups
            sequence = np.concatenate([sequence[first], sequence[~first]])  # noqa: PLW2901
            labels[sequence] = np.arange(n) % groups
        else:
            labels[sequence] = np.arange(n) * groups // n
        yield labels
