"""Refined: better than its start, the same with any number of threads, and its constraints."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from everyface.errors import InputError
from everyface.grouping import Hierarchical, Mdav, Refined
from everyface.grouping.anneal import Cooling, anneal, started
from everyface.grouping.pieces import pieces
from everyface.grouping.rounds import means
from everyface.grouping.search import error, opened, settle
from everyface.grouping.sensitive import free
from everyface.grouping.table import distances, nearest_first, outside_in

from .checks import Case, cases, people_per_group


def squared_error(X: np.ndarray, labels: np.ndarray) -> float:
    return float(((X - means(X, labels)[labels]) ** 2).sum())


def cloud(n: int, d: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


def partitions(people: list[int], k: int):
    """Every way to cut people into groups of at least k, the first person's group first."""
    from itertools import combinations

    if not people:
        yield []
        return
    first, rest = people[0], people[1:]
    for size in range(k - 1, len(rest) + 1):
        if 0 < len(rest) - size < k:
            continue
        for others in combinations(rest, size):
            left = [p for p in rest if p not in others]
            for more in partitions(left, k):
                yield [[first, *others], *more]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "k"), [(9, 2), (8, 3), (9, 4)])
def test_finds_the_best_of_all_groupings_of_a_few_people(seed, n, k):
    X = cloud(n, 2, seed).astype(float)
    best = min(
        sum(((X[g] - X[g].mean(axis=0)) ** 2).sum() for g in made)
        for made in partitions(list(range(n)), k)
    )
    assert squared_error(X, Refined(k, 0).fit_predict(X)) == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("k", [2, 3, 5, 10])
def test_is_better_than_mdav_and_than_a_tree(k):
    X = cloud(150, 6)
    ours = squared_error(X, Refined(k, 0, turns=100).fit_predict(X))
    assert ours < 0.97 * squared_error(X, Mdav(k).fit_predict(X))
    assert ours < 0.97 * squared_error(X, Hierarchical(k).fit_predict(X))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 60), k=st.integers(2, 8))
def test_the_running_sums_are_those_of_the_grouping(seed, n, k):
    """The annealing and the search change sums step by step; they must stay the true ones."""
    k = min(k, n // 2)
    X = cloud(n, 3, seed)
    D = distances(X)
    rules = free(k)
    state = opened(D, outside_in(D, k), n // k, rules.most)
    near = nearest_first(D, min(n - 1, 16))
    anneal(state, rules, near, Cooling(20, 2.0, 0.5, seed, True), 0)
    fresh = opened(D, state.labels, n // k, rules.most)
    np.testing.assert_allclose(state.W, fresh.W, atol=1e-6 * (1 + fresh.W.max()))
    assert (state.sizes == fresh.sizes).all()
    for g in range(len(state.sizes)):
        members = np.sort(state.members[g, : state.sizes[g]])
        assert (members == np.flatnonzero(state.labels == g)).all()
    assert set(state.sizes) <= {0, *range(k, 2 * k)}
    before = error(fresh.sizes, fresh.W)
    assert settle(fresh, rules) <= before + 1e-9


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(6, 24), k=st.integers(2, 4))
def test_no_move_and_no_swap_is_left_that_helps(seed, n, k):
    X = cloud(n, 2, seed).astype(float)
    labels = Refined(k, seed, turns=5).fit_predict(X)
    least = squared_error(X, labels)
    sizes = np.bincount(labels)
    for i in range(n):
        for j in range(i):
            if labels[i] != labels[j]:
                other = labels.copy()
                other[[i, j]] = labels[[j, i]]
                assert squared_error(X, other) > least * (1 - 1e-5)
        for b in range(len(sizes)):
            if b != labels[i] and sizes[labels[i]] > k and sizes[b] < 2 * k - 1:
                other = labels.copy()
                other[i] = b
                assert squared_error(X, other) > least * (1 - 1e-5)


def test_mdav_from_a_table_is_mdav():
    X = cloud(101, 5)
    for k in (2, 3, 7, 40):
        assert squared_error(X, outside_in(distances(X), k)) == pytest.approx(
            squared_error(X, Mdav(k).fit_predict(X)), rel=0.02
        )


@given(seed=st.integers(0, 10**6), n=st.integers(2, 150), d=st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_tables_are_those_of_plain_arithmetic(seed, n, d):
    X = cloud(n, d, seed)
    D = distances(X)
    exact = ((X[:, None].astype(float) - X[None]) ** 2).sum(-1)
    np.testing.assert_allclose(D, exact, rtol=1e-5, atol=1e-6)
    count = min(n - 1, 7)
    near = nearest_first(D, count)
    for i in range(n):
        others = np.delete(np.arange(n), i)
        assert near[i].tolist() == others[np.lexsort((others, D[i, others]))][:count].tolist()


@pytest.mark.parametrize("n", [300, 1000])
def test_the_same_groups_with_any_number_of_threads(n):
    X = cloud(n, 8)
    made = [
        Refined(3, 7, piece=120, turns=5, rounds=3, threads=t).fit_predict(X) for t in (1, 2, 5)
    ]
    assert (made[0] == made[1]).all()
    assert (made[0] == made[2]).all()
    assert (made[0] != Refined(3, 8, piece=120, turns=5, rounds=3).fit_predict(X)).any()


def test_pieces_cost_little_and_rounds_mend_what_they_cut():
    X = cloud(1200, 6)
    whole = squared_error(X, Refined(5, 0, turns=60).fit_predict(X))
    once = squared_error(X, Refined(5, 0, piece=200, rounds=1, turns=60).fit_predict(X))
    often = squared_error(X, Refined(5, 0, piece=200, rounds=8, turns=60).fit_predict(X))
    assert often < once
    assert often < 1.04 * whole


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 400), most=st.integers(5, 60))
def test_pieces_hold_everybody_once_and_about_the_same(seed, n, most):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 5, n)
    made = pieces(cloud(n, 3, seed) if seed % 3 else np.ones((n, 3)), weights, most, seed)
    assert sorted(np.concatenate(made).tolist()) == list(range(n))
    assert max(weights[rows].sum() for rows in made) <= 2 * most + 10
    assert all(len(rows) for rows in made)


def test_from_a_memory_map_and_from_float64_alike(tmp_path):
    X = cloud(400, 6)
    X.tofile(tmp_path / "codes.f32")
    mapped = np.memmap(tmp_path / "codes.f32", np.float32, "r", shape=X.shape)
    plain = Refined(4, 1, turns=10, piece=160).fit_predict(X)
    assert (plain == Refined(4, 1, turns=10, piece=160).fit_predict(mapped)).all()
    assert (plain == Refined(4, 1, turns=10, piece=160).fit_predict(X.astype(float))).all()


def test_unlike_seeds_give_unlike_dice():
    assert len({int(started(seed)[0]) for seed in range(200)}) > 190


@settings(max_examples=40, deadline=None)
@given(
    case=cases(),
    values=st.integers(1, 4),
    distinct=st.integers(1, 3),
    closeness=st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]),
    seed=st.integers(0, 10**6),
)
def test_constraints_hold(case: Case, values, distinct, closeness, seed):
    """ℓ-diversity and t-closeness, counted anew, also under ties, duplicates and many photos."""
    people = np.unique(case.subjects)
    kinds = np.random.default_rng(seed).integers(0, values, len(people))
    kind = dict(zip(people.tolist(), kinds.tolist(), strict=True))
    rows = np.array([f"value {kind[p]}" for p in case.subjects.tolist()])
    made = Refined(case.k, case.seed, diversity=distinct, closeness=closeness, turns=10)
    if len(np.unique(kinds)) < distinct:
        with pytest.raises(InputError, match="distinct values"):
            made.fit(case.X, subjects=case.subjects, sensitive=rows)
        return
    labels = made.fit_predict(case.X, subjects=case.subjects, sensitive=rows)
    assert people_per_group(labels, case.subjects).min() >= case.k
    whole = np.bincount(kinds, minlength=values) / len(kinds)
    first = np.unique(case.subjects, return_index=True)[1]
    for g in range(labels.max() + 1):
        inside = kinds[labels[first] == g]
        assert len(np.unique(inside)) >= distinct
        shares = np.bincount(inside, minlength=values) / len(inside)
        assert 0.5 * np.abs(shares - whole).sum() <= closeness + 1e-9


def test_constraints_cost_no_more_than_they_must():
    """Values that lie mixed do not force large groups; values that lie apart do cost error."""
    X = cloud(120, 3)
    mixed = np.random.default_rng(0).integers(0, 2, 120)
    free_of_it = squared_error(X, Refined(5, 0, turns=60).fit_predict(X))
    diverse = Refined(5, 0, turns=60, diversity=2).fit_predict(X, sensitive=mixed)
    assert np.bincount(diverse).max() <= 9
    assert squared_error(X, diverse) < 1.15 * free_of_it
    apart = (X[:, 0] > 0).astype(int)
    torn = Refined(5, 0, turns=60, diversity=2).fit_predict(X, sensitive=apart)
    assert squared_error(X, torn) > 1.15 * free_of_it


def test_a_rare_value_forces_large_groups():
    kinds = np.array([0] * 38 + [1] * 2)
    labels = Refined(4, 0, diversity=2, turns=10).fit_predict(cloud(40), sensitive=kinds)
    assert labels.max() == 1


def test_constraints_in_pieces():
    X = cloud(900, 5)
    kinds = np.random.default_rng(1).integers(0, 3, 900)
    made = Refined(5, 0, diversity=2, closeness=0.4, piece=200, rounds=2, turns=5)
    labels = made.fit_predict(X, sensitive=kinds)
    whole = np.bincount(kinds) / 900
    for g in range(labels.max() + 1):
        shares = np.bincount(kinds[labels == g], minlength=3) / (labels == g).sum()
        assert (shares > 0).sum() >= 2
        assert 0.5 * np.abs(shares - whole).sum() <= 0.4 + 1e-9


def test_within_a_label_and_diverse():
    X = cloud(80)
    within = np.repeat(["a", "b"], 40)
    kinds = np.tile([0, 1], 40)
    made = Refined(4, 0, diversity=2, turns=10).fit(X, within=within, sensitive=kinds)
    assert made.selection_.mixed == 0.0
    for g in range(made.labels_.max() + 1):
        assert len(set(within[made.labels_ == g])) == 1
        assert len(set(kinds[made.labels_ == g])) == 2


@pytest.mark.parametrize(
    ("options", "sensitive", "message"),
    [
        ({"diversity": 2}, None, "no sensitive values"),
        ({"closeness": 0.5}, None, "no sensitive values"),
        ({"diversity": 0}, np.zeros(20), "diversity is 0"),
        ({"closeness": 1.5}, np.zeros(20), "closeness 1.5"),
        ({}, np.zeros(19), "19 sensitive values"),
        ({"diversity": 2}, np.zeros(20), "2 distinct values, but there are 1"),
    ],
)
def test_refusals(options, sensitive, message):
    with pytest.raises(InputError, match=message):
        Refined(4, **options).fit(cloud(20), sensitive=sensitive)


@settings(max_examples=20, deadline=None)
@given(k=st.integers(2, 9), seed=st.integers(0, 10**6), extra=st.integers(0, 8))
def test_fewer_than_two_groups_of_people_are_one_group(k, seed, extra):
    assume(extra < k)
    assert Refined(k, seed).fit_predict(cloud(k + extra, 3, seed)).max() == 0
