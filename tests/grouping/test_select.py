"""Groups within a label's values, and what happens where a value has too few people."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=6),
    k=st.integers(2, 5),
    method=st.sampled_from([Mdav, Nearest, Opposed]),
    photos=st.integers(0, 30),
)
def test_the_label_is_kept_or_the_merge_is_named(seed, sizes, k, method, photos):
    rng = np.random.default_rng(seed)
    value = np.repeat([f"value {i}" for i in range(len(sizes))], sizes)
    people = np.concatenate([np.arange(len(value)), rng.integers(0, len(value), photos)])
    X = rng.standard_normal((len(people), 3))
    need = k * method.pairs
    if len(value) < need:
        with pytest.raises(TooFewPeopleError):
            fit_within(method(k, seed), X, value[people], subjects=people)
        return
    found = fit_within(method(k, seed), X, value[people], subjects=people)
    labels, n = found.partition.labels, found.partition.n_groups
    assert people_per_group(labels, people).min() >= k
    together = {name: names for names in found.merged for name in names}
    kinds = [set(value[people][labels == g].tolist()) for g in range(n)]
    for kind in kinds:
        assert len(kind) == 1 or kind <= set(together[next(iter(kind))])
    impure = np.isin(labels, [g for g in range(n) if len(kinds[g]) > 1])
    assert found.mixed == pytest.approx(len(set(people[impure])) / len(value))
    large = {f"value {i}" for i, size in enumerate(sizes) if size >= need}
    for names in found.merged:
        assert set(names) - large, "nothing is merged without need"
    assert all(size >= need or f"value {i}" in together for i, size in enumerate(sizes))
    if found.partition.partner is not None:
        for group, other in enumerate(found.partition.partner):
            joined = kinds[group] | kinds[other]
            assert len(joined) == 1 or joined <= set(together[next(iter(joined))])


def test_a_bad_row_is_named_by_its_number_in_the_whole():
    X = np.random.default_rng(0).standard_normal((20, 3))
    X[13, 1] = np.nan
    with pytest.raises(InputError, match="row 13"):
        fit_within(Nearest(3, 0), X, np.arange(20) % 2)
    with pytest.raises(InputError, match="shape"):
        fit_within(Nearest(3, 0), X[:, 0], np.arange(20) % 2)


def test_values_are_compared_by_people_and_not_by_photos():
    """One of the five "x" has fifty photos at 20. By people "x" stands at 4, by photos at 18.5."""
    X = np.concatenate([np.zeros(4), np.full(50, 20.0), np.full(5, 13.0), np.full(3, 18.0)])
    people = np.concatenate([np.arange(4), np.full(50, 4), np.arange(5, 13)])
    value = np.repeat(["x", "y", "z"], [54, 5, 3])
    found = fit_within(Nearest(4, 0), X[:, None], value, subjects=people)
    assert found.merged == (("y", "z"),)


def test_a_label_that_tells_everybody_apart_is_no_label():
    """A number with hundreds of values, like an age in years and days: all of it is given up."""
    rng = np.random.default_rng(0)
    found = fit_within(Nearest(5, 0), rng.standard_normal((800, 20)), rng.uniform(20, 60, 800))
    assert found.mixed == 1.0
    assert all(len(names) >= 5 for names in found.merged)
    assert sum(len(names) for names in found.merged) == 800
