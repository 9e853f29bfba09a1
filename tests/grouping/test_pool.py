"""The pool answers as plain float64 would, ties to the lowest index."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from everyface.grouping.pool import Pool, squared


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(3, 80),
    d=st.integers(1, 8),
    kind=st.sampled_from(["normal", "integers", "shifted"]),
)
def test_same_as_brute_force(seed, n, d, kind):
    rng = np.random.default_rng(seed)
    X = {
        "normal": rng.standard_normal((n, d)),
        "integers": rng.integers(0, 3, (n, d)).astype(float),
        "shifted": 1e6 + rng.standard_normal((n, d)) * 1e-3,
    }[kind]
    pool, left = Pool(X), np.arange(n)
    while len(left) > 1:
        point = X[rng.integers(n)] if rng.random() < 0.5 else X[left].mean(axis=0)
        apart = squared(X[left], point)
        count = int(rng.integers(1, len(left) + 1))
        expected = left[np.lexsort((left, apart))][:count]
        assert (pool.nearest(point, count) == expected).all()
        assert pool.furthest(point) == left[np.argmax(apart)]
        np.testing.assert_allclose(pool.mean, X[left].mean(axis=0), rtol=1e-9, atol=1e-9)
        gone = expected[: max(1, count // 2)]
        pool.remove(gone)
        left = np.setdiff1d(left, gone)
        assert (pool.rows == left).all()
        assert len(pool) == len(left)


def test_nobody_is_nearest_when_nobody_is_asked_for():
    assert len(Pool(np.ones((3, 2))).nearest(np.ones(2), 0)) == 0
