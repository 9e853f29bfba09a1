"""Who is nearest to the surrogate that stands for them, counted as brute force would."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from everyface.grouping import Opposed
from everyface.grouping.wrongmap import own_nearest


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), n=st.integers(2, 40), m=st.integers(1, 12), d=st.integers(1, 5)
)
def test_same_as_brute_force(seed, n, m, d):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, d)).astype(float)
    Y = rng.integers(0, 4, (m, d)).astype(float)
    source = rng.integers(0, m, n)
    apart = ((X[:, None] - Y[None]) ** 2).sum(-1)
    found = own_nearest(X, Y, source)
    for p in range(n):
        others = np.delete(apart[:, source[p]], p)
        assert found[p] == (not (others < apart[p, source[p]]).any())


@pytest.mark.parametrize("d", [1, 2, 3, 8, 30])
@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_theorem_3_to_the_letter(d, k):
    """With the thesis' frozen centroids the nearest original is never one's own."""
    for seed in range(8):
        X = np.random.default_rng(seed).standard_normal((70, d))
        assert Opposed(k, seed, least=1).fit(X).exceptions_ == 0


def test_theorem_3_with_centroids_of_k_people_is_counted():
    """Full means give up the theorem's certainty, and hardly anything of its effect."""
    found = total = 0
    for d in (1, 2, 3, 8, 30):
        for k in (2, 3, 5, 8):
            for seed in range(8):
                X = np.random.default_rng(seed).standard_normal((70, d))
                found += Opposed(k, seed).fit(X).exceptions_
                total += 70
    assert found / total < 0.005


def test_an_exception_that_cannot_be_avoided_is_reported():
    """Three corners and their centre, k = 2: whoever shares with whom, the centre is unlucky."""
    corners = [[np.cos(a), np.sin(a)] for a in (0, 2 * np.pi / 3, 4 * np.pi / 3)]
    X = np.array([*corners, [0.0, 0.0]])
    assert all(Opposed(2, seed).fit(X).exceptions_ == 1 for seed in range(8))


def test_identical_people_have_no_wrong_map():
    assert Opposed(2, 0).fit(np.ones((8, 3))).exceptions_ == 8


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(4, 50),
    d=st.integers(1, 6),
    k=st.integers(2, 6),
    kind=st.sampled_from(["normal", "heavy", "heaps", "lattice"]),
)
def test_theorem_3_on_any_codes_without_duplicates(seed, n, d, k, kind):
    """Also with ties: Lemma 2 is strict as long as no two people have the same code."""
    rng = np.random.default_rng(seed)
    X = {
        "normal": rng.standard_normal((n, d)),
        "heavy": rng.standard_cauchy((n, d)),
        "heaps": rng.integers(0, 3, (n, d)) * 10 + rng.standard_normal((n, d)),
        "lattice": rng.integers(0, 9, (n, d)).astype(float),
    }[kind]
    X = np.unique(X, axis=0)
    k = min(k, len(X) // 2)
    assume(k >= 2)
    fitted = Opposed(k, seed, least=1).fit(X)
    found = fitted.partition_
    assert fitted.exceptions_ == 0
    apart = np.linalg.norm(
        X[:, None] - found.centroids(X)[found.partner][found.labels][None], axis=2
    )
    for p in range(len(X)):
        assert np.delete(apart[:, p], p).min() < apart[p, p]
