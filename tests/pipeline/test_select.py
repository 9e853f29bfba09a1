"""A label that people were grouped within survives every later choice of a face."""

import numpy as np
import pytest

from everyface.grouping import Nearest, Partition
from everyface.grouping.select import Selection, fit_within
from everyface.pipeline.casting import Wishes, cast
from everyface.pipeline.pool import Pool
from everyface.surrogates import Mean, Neighbour

RNG = np.random.default_rng


def selected(*people: int, k: int = 3) -> tuple[np.ndarray, np.ndarray, Selection]:
    """Codes of so many people of each value, their values, and their groups."""
    value = np.repeat([f"value {i}" for i in range(len(people))], people)
    codes = RNG(0).standard_normal((len(value), 5)).astype(np.float32)
    return codes, value, fit_within(Nearest(k, 0), codes, value)


def wishes(partition: Partition, pool: Pool, *, keep_first: bool) -> Wishes:
    labels = partition.labels.astype(np.int64)
    return Wishes(
        unit_of=labels,
        group_of=labels,
        people=np.zeros((len(labels), 1), np.float32),
        pool=np.zeros((len(pool), 1), np.float32),
        reserve=0.0,
        depth=40,
        keep_first=keep_first,
    )


def test_kinds_are_the_values_of_groups() -> None:
    _, value, found = selected(9, 14, 2)
    kinds = found.kind[found.partition.labels]
    assert len(found.merged) == 1
    together = {name: names for names in found.merged for name in names}
    for one in range(len(value)):
        alike = [together.get(value[one], value[one]) == together.get(v, v) for v in value]
        assert (kinds == kinds[one]).tolist() == alike


@pytest.mark.parametrize("rule", [Mean(), Neighbour()])
@pytest.mark.parametrize("keep_first", [False, True])
def test_no_face_that_may_be_tried_is_made_of_people_of_another_value(rule, keep_first) -> None:
    codes, value, found = selected(9, 12, 3)
    partition = found.partition
    pool = Pool.of(rule(codes, partition, RNG(1)), partition, codes, RNG(2), found.kind)
    risk = np.zeros((len(pool), len(codes)), np.float32)
    ranked = cast(pool, risk, wishes(partition, pool, keep_first=keep_first), RNG(3))
    for group in range(partition.n_groups):
        [own] = set(value[partition.labels == group])
        tried = ranked[group][ranked[group] >= 0]
        assert len(tried)
        for code in tried:
            assert set(value[pool.made_of(partition, int(code))]) == {own}


def test_all_faces_of_the_value_are_offered_and_no_label_offers_all() -> None:
    """Groups 0 to 2 and 3 to 6: two other means or three, and mixtures of two others."""
    codes, _, found = selected(9, 12)
    partition = found.partition
    made = Mean()(codes, partition, RNG(1))
    pool = Pool.of(made, partition, codes, RNG(2), found.kind)
    means = (pool.shares == 1).any(axis=1)
    assert (pool.allowed(np.arange(7)) & means).sum(axis=1).tolist() == [2, 2, 2, 3, 3, 3, 3]
    mixed = pool.shares[~means]
    assert len(mixed) == 14
    assert ((mixed[:, :3] > 0).sum(axis=1) % 2 == 0).all(), "both of one value"
    free = Pool.of(made, partition, codes, RNG(2))
    assert (free.allowed(np.arange(7)) & (free.shares == 1).any(axis=1)).sum(axis=1).min() == 6
