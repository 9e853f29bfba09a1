"""Fields over large photos are worked out on a lattice and stay where nothing moves."""

from __future__ import annotations

import numpy as np
import pytest

from everyface.merge import deform, photo
from everyface.merge.deform import backward, dense, lattice, move


def free(nodes: np.ndarray) -> np.ndarray:
    return np.stack([np.full(nodes.shape, -1e6), np.full(nodes.shape, 1e6)], -1)


def test_nothing_moves_where_no_handle_moves() -> None:
    nodes = lattice(300, 400)
    start = np.random.default_rng(0).uniform(50, 250, (20, 2))
    assert move(nodes.reshape(-1, 2), start, start) == pytest.approx(nodes.reshape(-1, 2))
    shift = backward(start, start, nodes, np.ones(nodes.shape[:2]), free(nodes))
    assert np.abs(dense(shift, 300, 400)).max() < 1e-4


def test_one_handle_only_shifts() -> None:
    points = np.random.default_rng(0).uniform(0, 99, (30, 2))
    moved = move(points, np.array([[50.0, 50]]), np.array([[57.0, 41]]))
    assert moved - points == pytest.approx(np.tile([7.0, -9.0], (30, 1)))


@pytest.mark.parametrize(("height", "width"), [(3000, 4000), (4000, 3000), (40, 30)])
def test_a_lattice_spans_the_picture_with_few_nodes(height: int, width: int) -> None:
    nodes = lattice(height, width)
    assert nodes[0, 0].tolist() == [0, 0] and nodes[-1, -1].tolist() == [width - 1, height - 1]
    assert nodes.shape[0] * nodes.shape[1] < 75**2
    steps = np.diff(nodes, axis=1)[..., 0], np.diff(nodes, axis=0)[..., 1]
    assert all(np.ptp(step) < 1e-9 for step in steps)


def test_twelve_megapixels_are_moved_by_a_lattice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums of Eq. 6.4 are taken at some thousand nodes, the pixels between interpolate them
    to a tenth of a pixel."""
    height, width = 3000, 4000
    rng = np.random.default_rng(0)
    angle = np.linspace(0, 2 * np.pi, 36, endpoint=False)
    start = np.stack([2000 + 500 * np.cos(angle), 1500 + 600 * np.sin(angle)], 1)
    end = start + 20 * np.stack([np.cos(2 * angle), np.sin(3 * angle)], 1)
    asked: list[int] = []
    whole = deform._move

    def counting(points: np.ndarray, *rest: object) -> np.ndarray:
        asked.append(len(points))
        return whole(points, *rest)

    monkeypatch.setattr(deform, "_move", counting)
    nodes = lattice(height, width)
    shift = backward(start, end, nodes, np.ones(nodes.shape[:2]), free(nodes))
    field = dense(shift, height, width)
    assert field.shape == (height, width, 2) and field.dtype == np.float32
    assert sum(asked) < 6000
    # Away from the handles, where the field is smooth between nodes.
    points = rng.uniform([0, 0], [width - 1, height - 1], (400, 2)).round()
    far = np.linalg.norm(points[:, None] - end[None], axis=2).min(axis=1) > 150
    exact = move(points[far], end, start) - points[far]
    x, y = points[far].astype(int).T
    assert np.abs(field[y, x] - exact).max() < 0.5
    assert np.abs(field[y, x] - exact).mean() < 0.05


def test_the_nodes_values_are_met_exactly() -> None:
    """Pixel centres of the picture's corners are nodes: nothing is lost at the edge."""
    shift = np.random.default_rng(0).normal(size=(6, 9, 2)).astype(np.float32)
    field = dense(shift, 51, 81)
    assert field[::10, ::10] == pytest.approx(shift, abs=2e-2)


def test_points_follow_the_picture() -> None:
    """What the lookup brings to a point is the point that followed: forward and back."""
    nodes = lattice(200, 240, cells=40)
    rng = np.random.default_rng(1)
    start = rng.uniform(60, 150, (12, 2))
    shift = backward(
        start, start + rng.normal(0, 4, (12, 2)), nodes, np.ones(nodes.shape[:2]), free(nodes)
    )
    points = rng.uniform(30, 170, (50, 2)).astype(np.float32)
    now = photo._follow(points, shift, (200, 240))
    field = dense(shift, 200, 240)
    for before, after in zip(points, now, strict=True):
        x, y = after
        assert after + field[round(float(y)), round(float(x))] == pytest.approx(before, abs=0.6)


def test_where_nothing_is_bent_the_picture_is_the_same_bytes() -> None:
    image = np.random.default_rng(0).integers(0, 256, (60, 80, 3), dtype=np.uint8)
    assert photo._bend(image, np.zeros((7, 9, 2), np.float32)) is image
    one = np.zeros((7, 9, 2), np.float32)
    one[..., 0] = 1
    assert (photo._bend(image, one)[:, :-2] == image[:, 1:-1]).all()
