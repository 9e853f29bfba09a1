"""Principal components are those of the singular value decomposition (thesis Eq. 3.1-3.6)."""

from __future__ import annotations

import numpy as np
import pytest
import threadpoolctl

from everyface.spaces.components import BLOCK, Components, one_thread, principal


def rows(n: int, d: int, rank: int | None = None) -> np.ndarray:
    rng = np.random.default_rng(n * 1000 + d)
    rank = min(n, d) if rank is None else rank
    spread = np.linspace(20, 1, rank)
    made = (rng.normal(size=(n, rank)) * spread) @ rng.normal(size=(rank, d)) + 50
    return made.astype(np.float32)


@pytest.mark.parametrize(("n", "d"), [(2, 40), (30, 200), (BLOCK + 7, 300), (50, 12)])
def test_they_are_those_of_the_svd(n: int, d: int) -> None:
    x = rows(n, d)
    found = principal(x, 1000)
    centred = x.astype(np.float64) - x.mean(axis=0, dtype=np.float64)
    _, s, vt = np.linalg.svd(centred, full_matrices=False)
    kept = min(n - 1, d)
    assert found.basis.shape == (kept, d) and found.basis.dtype == np.float32
    assert found.mean == pytest.approx(x.mean(axis=0, dtype=np.float64), abs=1e-4)
    assert found.variances == pytest.approx(s[:kept] ** 2 / (n - 1), rel=5e-3)
    assert (np.diff(found.variances) <= 0).all()
    assert np.abs((found.basis * vt[:kept]).sum(axis=1)) == pytest.approx(np.ones(kept), abs=5e-3)
    assert found.basis @ found.basis.T == pytest.approx(np.eye(kept), abs=5e-3)


def test_eq_3_1_the_covariance_is_diagonal_in_them() -> None:
    x = rows(40, 100)
    parameters = principal(x, 1000).project(x)
    covariance = np.cov(parameters.T)
    off = covariance - np.diag(np.diag(covariance))
    assert np.abs(off).max() < 1e-4 * covariance.max()


def test_eq_3_6_all_of_them_rebuild_the_rows() -> None:
    x = rows(25, 300)
    found = principal(x, 1000)
    assert found.rebuild(found.project(x)) == pytest.approx(x, abs=0.02)


def test_the_first_few_keep_the_most() -> None:
    """What is lost is the sum of the variances that are left out (Eq. 3.5)."""
    x = rows(40, 80)
    whole, few = principal(x, 1000), principal(x, 5)
    assert few.basis.shape == (5, 80)
    lost = x - few.rebuild(few.project(x))
    assert (lost**2).sum() / 39 == pytest.approx(whole.variances[5:].sum(), rel=1e-2)


def test_what_does_not_vary_has_no_component() -> None:
    assert len(principal(rows(30, 50, rank=4), 1000).basis) == 4
    flat = principal(np.full((5, 7), 3, np.float32), 10)
    assert flat.basis.shape == (0, 7) and flat.mean == pytest.approx(np.full(7, 3))
    assert flat.rebuild(flat.project(np.ones((1, 7), np.float32)))[0] == pytest.approx(flat.mean)


def test_signs_are_fixed() -> None:
    """The largest entry of each component is positive, whatever the order of the faces."""
    x = rows(20, 60)
    one, other = principal(x, 6), principal(x[::-1].copy(), 6)
    peak = np.abs(one.basis).argmax(axis=1)
    assert (one.basis[np.arange(6), peak] > 0).all()
    assert one.basis == pytest.approx(other.basis, abs=1e-3)


def test_rows_may_lie_in_half_precision() -> None:
    x = rows(BLOCK + 3, 40)
    half = principal(x.astype(np.float16), 8)
    assert half.basis.dtype == np.float32
    assert half.variances == pytest.approx(principal(x, 8).variances, rel=0.02)


def test_a_row_does_not_depend_on_the_others() -> None:
    x = rows(30, 500)
    found = principal(x, 20)
    some = found.project(x[[4, 9]])
    assert some.tobytes() == found.project(x)[[4, 9]].tobytes()
    assert found.rebuild(some).tobytes() == found.rebuild(found.project(x))[[4, 9]].tobytes()


def test_projection_and_rebuilding_are_linear() -> None:
    """Eq. 3.8b and 3.8a, written out."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(9, 4)))[0].T.astype(np.float32)
    held = Components(rng.normal(size=9).astype(np.float32), basis, np.ones(4, np.float32))
    s = rng.normal(size=(1, 9)).astype(np.float32)
    assert held.project(s)[0] == pytest.approx(basis @ (s[0] - held.mean), abs=1e-5)
    alpha = rng.normal(size=(1, 4)).astype(np.float32)
    assert held.rebuild(alpha)[0] == pytest.approx(held.mean + basis.T @ alpha[0], abs=1e-5)


def test_products_run_on_one_thread() -> None:
    @one_thread()
    def inside() -> list[int]:
        return [
            pool["num_threads"]
            for pool in threadpoolctl.threadpool_info()
            if pool["user_api"] == "blas"
        ]

    assert set(inside()) == {1}
