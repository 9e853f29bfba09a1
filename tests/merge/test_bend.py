"""The background bends to a new outline and never folds (thesis, Eq. 6.4 and 6.5)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everyface.merge.deform import LEAST_AREA, backward, lattice, least_area, move


def handles(seed: int, count: int = 12) -> np.ndarray:
    return np.random.default_rng(seed).uniform(20, 180, (count, 2))


def test_handles_go_where_they_are_sent():
    start = handles(0)
    end = start + np.random.default_rng(1).normal(0, 5, start.shape)
    np.testing.assert_allclose(move(start, start, end), end)
    near = move(start + 1e-3, start, end)
    np.testing.assert_allclose(near, end, atol=0.05)


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
def test_a_similarity_is_carried_to_every_point(alpha):
    """The best similarity at each point is the same one, if one fits all handles."""
    start, points = handles(0), handles(1, 50)
    turn = 1.3 * np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    found = move(points, start, start @ turn.T + [7, -3], alpha)
    np.testing.assert_allclose(found, points @ turn.T + [7, -3])


def test_every_point_gets_the_best_similarity_of_eq_6_4():
    """Solved as plain weighted least squares in the four numbers of a similarity."""
    start, points = handles(0), handles(1, 20)
    end = start + np.random.default_rng(2).normal(0, 8, start.shape)
    for v, found in zip(points, move(points, start, end), strict=True):
        weight = np.sqrt(1 / np.linalg.norm(start - v, axis=1) ** 3)  # α = 1.5
        x, y = start.T
        one, nil = np.ones(len(x)), np.zeros(len(x))
        rows = np.concatenate([np.stack([x, -y, one, nil], 1), np.stack([y, x, nil, one], 1)])
        both = np.concatenate([weight, weight])
        a, b, dx, dy = np.linalg.lstsq(rows * both[:, None], end.T.ravel() * both, rcond=None)[0]
        expected = [a * v[0] - b * v[1] + dx, b * v[0] + a * v[1] + dy]
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), far=st.floats(0, 120))
def test_a_bent_background_never_folds(seed, far):
    """Also where handles cross each other."""
    rng = np.random.default_rng(seed)
    start = rng.uniform(20, 180, (10, 2))
    end = start + rng.normal(0, far, start.shape)
    nodes = lattice(200, 200)
    window = np.ones(nodes.shape[:2])
    last = np.array([199.0, 199.0])
    most = np.stack([-0.7 * nodes, 0.7 * (last - nodes)], -1)
    shift = backward(start, end, nodes, window, most).astype(np.float64)
    step = nodes[1, 1] - nodes[0, 0]
    assert least_area((nodes + shift) / step) >= LEAST_AREA - 1e-4
    looked_up = nodes + shift
    assert looked_up.min() >= -1e-3
    assert (looked_up <= last + 1e-3).all()


def test_a_closed_window_holds_still_and_folding_is_seen():
    nodes = lattice(100, 100)
    start = handles(0)
    most = np.stack([np.full(nodes.shape, -50.0), np.full(nodes.shape, 50.0)], -1)
    still = backward(start, start + 9, nodes, np.zeros(nodes.shape[:2]), most)
    assert not still.any()
    square = np.stack(np.meshgrid(np.arange(4.0), np.arange(4.0)), -1)
    assert least_area(square) == 1
    square[1, 1] = [2.5, 2.5]
    assert least_area(square) < 0
