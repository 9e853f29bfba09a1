"""The rivals of the papers on cases worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everyface.errors import InputError
from everyface.grouping import Balanced, Hierarchical, KMember, OnePass
from everyface.grouping.balanced import assigned, transferred
from everyface.grouping.hierarchical import even_sizes

NO_ORDER = np.empty(0, np.int64)


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


def groups(labels: np.ndarray) -> list[list[int]]:
    return [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]


@given(people=st.integers(2, 300), k=st.integers(2, 40))
def test_sizes_are_even_and_leave_nobody_over(people, k):
    """AnonFACES Alg. 1, lines 1 and 2, also where n mod k exceeds the number of groups."""
    if people < k:
        return
    sizes = even_sizes(people, k)
    assert sum(sizes) == people
    assert len(sizes) == people // k
    assert min(sizes) >= k
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)


def test_hierarchical_by_hand():
    """k = 2, seven people: sizes 3, 2, 2; three branches, three heaps, the largest goes first."""
    X = column(0, 1, 10, 11, 12, 30, 31)
    for link in ("ward", "average", "complete", "single"):
        found = groups(Hierarchical(2, linkage=link).fit_predict(X))
        assert found[0] == [2, 3, 4]
        assert sorted(found[1:]) == [[0, 1], [5, 6]]


def test_hierarchical_takes_the_lowest_of_a_branch_that_is_too_large():
    """k = 3: two branches, {0, 1} and four people, of whom 14 and 14.5 merge lowest, then 10."""
    X = column(0, 1, 10, 12, 14, 14.5)
    found = groups(Hierarchical(3, linkage="single").fit_predict(X))
    assert found == [[2, 4, 5], [0, 1, 3]]


def test_hierarchical_cut_finest_takes_the_tightest_branch():
    """k = 2: the largest of two branches is the heap at 0; the tightest pair is at 50."""
    X = column(0, 2, 5, 50, 50.1)
    assert groups(Hierarchical(2, linkage="single").fit_predict(X))[0] == [0, 1, 2]
    X = column(0, 2, 5, 9, 50, 50.1)
    assert groups(Hierarchical(2, linkage="single", cut="finest").fit_predict(X))[0] == [4, 5]
    assert groups(Hierarchical(2, linkage="single", cut="paper").fit_predict(X))[0] == [0, 1]


def test_linkages_differ():
    X = np.random.default_rng(0).standard_normal((60, 3))
    made = {tuple(Hierarchical(5, linkage=link).fit_predict(X)) for link in ("ward", "single")}
    assert len(made) == 2
    with pytest.raises(InputError, match="linkage"):
        Hierarchical(2, linkage="median").fit(X)
    with pytest.raises(InputError, match="cut"):
        Hierarchical(2, cut="deep").fit(X)


def test_assignment_of_balanced_by_hand():
    """Those with most to lose first: rows 2 (9 − 0), 0 (6 − 0), 1 (5 − 1), 3 (2 − 1).

    Rows 2 and 0 fill one place of group 0 and of group 1; row 1 fills group 0; row 3 prefers
    group 0 too, which is full.
    """
    apart = np.array([[0.0, 6.0], [1.0, 5.0], [9.0, 0.0], [1.0, 2.0]])
    assert assigned(apart, NO_ORDER).tolist() == [0, 0, 1, 1]
    assert assigned(apart, np.array([3, 1, 0, 2])).tolist() == [1, 0, 1, 0]


def test_assignment_ranks_anew_when_a_group_is_full():
    """Rows 0, 1 fill group 0. Rows 2 and 3 then prefer 1 and 2; row 4 takes what is left."""
    apart = np.array(
        [[0.0, 9.0, 9.0], [0.0, 8.0, 8.0], [1.0, 2.0, 7.0], [1.0, 7.0, 2.0], [0.5, 3.0, 4.0]]
    )
    labels = assigned(apart, NO_ORDER)
    assert labels.tolist() == [0, 0, 1, 2, 1]
    assert np.bincount(labels).tolist() == [2, 2, 1]


def test_transfers_of_balanced_by_hand():
    """Row 1 would gain 3 in group 1, row 2 would gain 3 in group 0: they change places."""
    apart = np.array([[0.0, 9.0], [4.0, 1.0], [1.0, 4.0], [9.0, 0.0]])
    labels = np.array([0, 0, 1, 1], np.int32)
    assert transferred(apart, labels) == 2
    assert labels.tolist() == [0, 1, 0, 1]
    assert transferred(apart, labels) == 0


def test_a_change_of_places_may_cost_one_of_two():
    """Row 0 would gain 5 in group 1 and waits; row 2 loses 2, but both together gain 3."""
    apart = np.array([[6.0, 1.0], [0.0, 9.0], [3.0, 1.0], [9.0, 0.0]])
    labels = np.array([0, 0, 1, 1], np.int32)
    assert transferred(apart, labels) == 2
    assert labels.tolist() == [1, 0, 0, 1]
    apart[2] = [7.0, 1.0]
    labels = np.array([0, 0, 1, 1], np.int32)
    assert transferred(apart, labels) == 0, "together they would lose 1"


def test_a_single_move_needs_room_on_both_sides():
    """Five people in groups of 2 and 3: one may move from the larger to the smaller group."""
    apart = np.array([[0.0, 9.0], [0.0, 9.0], [5.0, 1.0], [9.0, 0.0], [9.0, 0.0]])
    labels = np.array([0, 0, 0, 1, 1], np.int32)
    assert transferred(apart, labels) == 1
    assert labels.tolist() == [0, 0, 1, 1, 1]
    labels = np.array([0, 0, 1, 1, 0], np.int32)
    transferred(apart, labels)
    assert np.bincount(labels).min() == 2


def test_balanced_furthest_by_hand():
    """k = 2: 20 has the largest sum of distances and takes 11; then 0 takes 1; the rest is {5, 6}.

    Sums at first: 0: 43, 1: 39, 5: 31, 6: 31, 11: 41, 20: 77.
    """
    X = column(0, 1, 5, 6, 11, 20)
    found = groups(Balanced(2, variant="furthest").fit_predict(X))
    assert found == [[4, 5], [0, 1], [2, 3]]


@pytest.mark.parametrize("variant", ["elki", "furthest", "random"])
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 60), k=st.integers(2, 6))
def test_balanced_sizes_differ_by_one_at_most(variant, seed, n, k):
    k = min(k, n)
    X = np.random.default_rng(seed).integers(0, 5, (n, 2)).astype(float)
    sizes = np.bincount(Balanced(k, seed, variant).fit_predict(X))
    assert sizes.min() >= k
    assert sizes.max() - sizes.min() <= 1


def test_balanced_finds_heaps():
    X = np.repeat(column(0, 100, 200), 4, axis=0)
    for variant in ("elki", "furthest", "random"):
        found = Balanced(4, 0, variant).fit_predict(X)
        assert sorted(groups(found)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    with pytest.raises(InputError, match="variant"):
        Balanced(4, variant="best").fit(X)


def test_kmember_by_hand():
    """Byun's distance and loss are sums over dimensions, each divided by its range.

    In units of the ranges the five are (0, 0), (1, 0.1), (0.9, 0), (0.1, 1), (0.2, 0.8). Whoever
    is drawn first, the furthest is 1 or 3, in opposite corners; each takes its neighbour; 0 joins
    the group whose loss, size times ranges, grows least: from 2 × 0.2 to 3 × 1.1, and not from
    2 × 0.3 to 3 × 1.2.
    """
    X = np.array([[0, 0], [10, 1], [9, 0], [1, 10], [2, 8]], dtype=float)
    for seed in range(5):
        found = KMember(2, seed).fit_predict(X)
        assert sorted(groups(found)) == [[0, 1, 2], [3, 4]]


def test_kmember_grows_by_ranges_and_not_by_distance_to_the_seed():
    """From 0, the next is at (0, 4); then (4, 0) would widen a second range by 4, (0, 9) one by 5.

    In the plane (4, 0) is nearer to the seed and to the mean, and in sums of differences too; but
    with x counted in units of 40 and y in units of 400, 4 / 40 is more than 5 / 400.
    """
    X = np.array([[0, 0], [0, 4], [4, 0], [0, 9], [40, 400], [40, 399], [40, 398]], dtype=float)
    found = KMember(3, drawn(7, 4)).fit_predict(X)
    assert found[0] == found[1] == found[3]


def drawn(n: int, *wanted: int) -> int:
    """Find a seed that draws these people first."""

    def first(seed: int) -> set[int]:
        rng = np.random.default_rng(seed)
        if len(wanted) == 1:
            return {int(rng.integers(n))}
        return set(rng.choice(n, len(wanted), replace=False).tolist())

    return next(seed for seed in range(100_000) if first(seed) == set(wanted))


def test_onepass_by_hand():
    """From 0 and 1 all others join 1; of {1, 2, 3, 50, 51}, mean 21.4, 50 and 51 leave for 0."""
    labels = OnePass(3, drawn(6, 0, 1)).fit_predict(column(0, 1, 2, 3, 50, 51))
    assert sorted(groups(labels)) == [[0, 4, 5], [1, 2, 3]]


def test_onepass_moves_means_at_once():
    """From seeds 0 and 10, 4 and 4.6 join 0, whose mean comes to 2.87; so 6 joins it and not 10.

    Had the mean stayed at 0, 6 would have joined 10, and 10.3 would have been sent to 0.
    """
    X = column(0, 4, 4.6, 6, 10, 10.1, 10.2, 10.3)
    labels = OnePass(4, drawn(8, 0, 4)).fit_predict(X)
    assert sorted(groups(labels)) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_onepass_hands_out_those_furthest_from_the_mean():
    """Of those who join 0 and 2, the furthest from their means leave for 100, who is alone."""
    X = column(0, 1, 2, 3, 9, 100)
    labels = OnePass(2, drawn(6, 0, 2, 5)).fit_predict(X)
    assert sorted(groups(labels)) == [[0, 1], [2, 3], [4, 5]]
