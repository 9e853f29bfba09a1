"""Groups within a label's values, and what happens where a value has too few people."""

import numpy as np
import pytest

from everyface.errors import InputError, TooFewPeopleError
from everyface.grouping import Mdav, Nearest, Opposed
from everyface.grouping.select import fit_within

from .checks import people_per_group


def test_groups_never_mix_values_that_have_enough_people():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    smile = rng.integers(0, 3, 60)
    found = fit_within(Mdav(4), X, smile)
    labels = found.partition.labels
    assert found.merged == ()
    assert found.mixed == 0.0
    assert np.bincount(labels).min() >= 4
    assert all(len(set(smile[labels == g])) == 1 for g in range(found.partition.n_groups))


def test_a_small_value_joins_the_one_most_like_it_and_says_so():
    X = np.concatenate([np.zeros((10, 2)), np.full((10, 2), 5.0), np.full((3, 2), 6.0)])
    X += np.random.default_rng(0).standard_normal(X.shape) * 0.1
    value = np.array(["none"] * 10 + ["smile"] * 10 + ["laugh"] * 3)
    found = fit_within(Nearest(4, 0), X, value)
    assert found.merged == (("laugh", "smile"),)
    assert set(found.partition.labels[:10]).isdisjoint(found.partition.labels[10:])
    assert 4 / 23 <= found.mixed <= 13 / 23
    assert np.bincount(found.partition.labels).min() >= 4


def test_all_values_too_small_become_one():
    X = np.random.default_rng(0).standard_normal((10, 2))
    found = fit_within(Nearest(5, 0), X, np.arange(10))
    assert len(found.merged) == 1
    assert len(found.merged[0]) == 10
    assert found.mixed == 1.0


def test_pairs_need_twice_as_many_and_stay_within_their_value():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 4))
    value = np.repeat(["a", "b", "c"], [20, 23, 7])
    found = fit_within(Opposed(4, 0), X, value)
    assert len(found.merged) == 1
    assert "c" in found.merged[0]
    partner, labels = found.partition.partner, found.partition.labels
    groups = np.arange(found.partition.n_groups)
    assert (partner[partner] == groups).all()
    assert (partner != groups).all()
    assert found.partition.core is not None
    alone = next(name for name in "ab" if name not in found.merged[0])
    mine = set(labels[value == alone])
    assert {int(partner[g]) for g in mine} == mine


def test_people_count_and_not_photos():
    X = np.random.default_rng(0).standard_normal((40, 2))
    people = np.concatenate([np.arange(12), np.full(28, 12)])
    value = np.repeat(["a", "b"], [12, 28])
    found = fit_within(Nearest(4, 0), X, value, subjects=people)
    assert found.merged == (("a", "b"),)
    assert people_per_group(found.partition.labels, people).min() >= 4


def test_a_person_whose_photos_disagree_counts_under_most_of_them():
    X = np.random.default_rng(0).standard_normal((30, 2))
    people = np.repeat(np.arange(10), 3)
    value = np.array(["a", "a", "b"] * 5 + ["b", "b", "a"] * 5)
    found = fit_within(Nearest(5, 0), X, value, subjects=people)
    assert found.merged == ()
    assert found.mixed == 0.0
    labels = found.partition.labels
    assert len(set(labels[:15])) == 1
    assert len(set(labels[15:])) == 1
    assert labels[0] != labels[15]


def test_the_same_seed_gives_the_same_groups_and_classes_have_seeds_of_their_own():
    half = np.random.default_rng(0).standard_normal((40, 3))
    X, value = np.concatenate([half, half]), np.repeat([0, 1], 40)
    one = fit_within(Nearest(4, 9), X, value).partition.labels
    assert (one == fit_within(Nearest(4, 9), X, value).partition.labels).all()
    assert (one[:40] != one[40:] - one[:40].max() - 1).any()
    fit_within(Nearest(4), X, value)


def test_refusals():
    with pytest.raises(TooFewPeopleError, match="at least 5 people, but there are 4"):
        fit_within(Nearest(5), np.zeros((4, 2)), np.zeros(4))
    with pytest.raises(InputError, match="one of each"):
        fit_within(Nearest(2), np.zeros((4, 2)), np.zeros(3))
