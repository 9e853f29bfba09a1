"""No grouping is below the bounds: not the best of all, found by trying every one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everyface.errors import InputError, TooFewPeopleError
from everyface.grouping import Refined
from everyface.grouping.bound import _projection, _rows, lower_bound
from everyface.grouping.pairs import pairs_bound

from .test_refined import cloud, partitions, squared_error


def best(X: np.ndarray, k: int) -> float:
    return min(
        sum(((X[g] - X[g].mean(axis=0)) ** 2).sum() for g in made)
        for made in partitions(list(range(len(X))), k)
    )


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 9),
    d=st.integers(1, 4),
    k=st.integers(2, 4),
    kind=st.sampled_from(["normal", "integers", "heaps"]),
)
def test_no_grouping_is_below_the_bound(seed, n, d, k, kind):
    rng = np.random.default_rng(seed)
    X = {
        "normal": rng.standard_normal((n, d)),
        "integers": rng.integers(0, 3, (n, d)).astype(float),
        "heaps": rng.integers(0, 3, (n, 1)) * 9.0 + rng.standard_normal((n, d)),
    }[kind]
    found, least = lower_bound(X, min(k, n), rounds=40), best(X, min(k, n))
    assert max(found.neighbours, found.spectral, found.combined) <= least + 1e-7
    assert found.combined >= max(found.neighbours, found.spectral)
    if k == 2:
        assert found.neighbours - 1e-5 <= pairs_bound(X) <= least + 1e-7


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 8), k=st.integers(2, 4))
def test_every_split_and_every_price_is_a_proof(seed, n, k):
    """Not only those that the ascent comes across; prices and splits of any size."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    half = 0.5 * ((X[:, None] - X[None]) ** 2).sum(-1)
    split = rng.standard_normal((n, n)) * rng.choice([0.0, 0.3, 3.0])
    split = split + split.T + rng.choice([0.0, 1.0]) * half
    price = rng.standard_normal(n) * rng.choice([0.0, 0.3, 3.0])
    k = min(k, n)
    proven = _rows(half - split, price, k)[0] + _projection(split, k)[0]
    assert proven <= best(X, k) + 1e-9


def test_neighbours_by_hand():
    """0, 1, 3 and 7 at k = 2: nearest squared 1, 1, 4, 16; 22 / 4."""
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    assert lower_bound(X, 2).neighbours == pytest.approx(5.5)


def test_spectral_by_hand():
    """Four corners of a 4 × 2 rectangle in two groups: the scatter is 16 and 4; 4 is left."""
    X = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 2.0], [4.0, 2.0]])
    found = lower_bound(X, 2)
    assert found.spectral == pytest.approx(4.0)
    assert found.combined == pytest.approx(best(X, 2))


def test_pairs_are_exact_where_fractions_do_not_help():
    """Three apart from three: two triples; the odd cycle's half pairs are cut off."""
    X = np.array([[0.0, 0], [1, 0], [0.5, 0.8], [50, 0], [51, 0], [50.5, 0.8]])
    assert pairs_bound(X) == pytest.approx(best(X, 2), rel=1e-4)


@pytest.mark.parametrize("seed", [0, 2])
def test_pairs_can_be_reached(seed):
    """Here the bound is the optimum: a grouping has it, and none can have less."""
    X = np.random.default_rng(seed).standard_normal((60, 4))
    assert squared_error(X, Refined(2, 0).fit_predict(X)) == pytest.approx(pairs_bound(X), rel=1e-5)
    assert pairs_bound(X) > lower_bound(X, 2, rounds=20).combined


def test_together_they_are_closer_than_each():
    X = cloud(120, 20).astype(float)
    found = lower_bound(X, 10, rounds=60)
    assert found.combined > 1.02 * max(found.neighbours, found.spectral)
    assert found.gap(1.1 * found.combined) == pytest.approx(0.1)


def test_many_people_have_the_bounds_of_blocks():
    X = cloud(2300, 3)
    found = lower_bound(X, 4)
    exact = ((X[:, None].astype(float) - X[None]) ** 2).sum(-1)
    np.fill_diagonal(exact, np.inf)
    assert found.neighbours == pytest.approx(np.sort(exact, axis=1)[:, :3].sum() / 8, rel=1e-5)
    assert found.combined == max(found.neighbours, found.spectral)


def test_photos_are_averaged_to_people():
    X = np.array([[0.0], [2.0], [3.0], [9.0]])
    assert lower_bound(X, 2, subjects=np.array([0, 0, 1, 2])).combined > 0.0
    with pytest.raises(TooFewPeopleError):
        lower_bound(X, 4, subjects=np.array([0, 0, 1, 2]))
    with pytest.raises(InputError, match="k is 1"):
        lower_bound(X, 1)
    with pytest.raises(InputError, match="row 1"):
        pairs_bound(np.array([[0.0], [np.nan]]))


def test_identical_people_have_nothing_to_lose():
    assert lower_bound(np.ones((12, 3)), 3).combined == pytest.approx(0.0, abs=1e-9)
    assert pairs_bound(np.ones((5, 2))) == 0.0
    assert lower_bound(np.ones((12, 3)), 3).gap(0.0) == 0.0
