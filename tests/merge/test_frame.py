"""Rectangles of a photo and the small frame: what goes down and up again stands where it stood."""

from __future__ import annotations

import numpy as np
import pytest

from everyface.merge.frame import SMALL, Box, Small, box_of


def ramp(height: int, width: int) -> np.ndarray:
    y, x = np.mgrid[:height, :width].astype(np.float32)
    return np.stack([x, y, x + y], -1)


def test_boxes() -> None:
    box = box_of(np.array([[10.2, 20.7, 5], [30.0, 40.1, 5]], np.float32), 2)
    assert box == Box(8, 18, 33, 44) and box.shape == (26, 25)
    assert box.origin.tolist() == [8, 18]
    assert Box(-5, 3, 900, 8).within((100, 200, 3)) == Box(0, 3, 200, 8)
    image = np.arange(100 * 200 * 3, dtype=np.uint8).reshape(100, 200, 3)
    part = Box(3, 4, 9, 7).of(image)
    assert (part == image[4:7, 3:9]).all() and part.base is not None


@pytest.mark.parametrize("size", [40.0, 160.0, 500.0, 2000.0])
def test_the_small_frame_has_a_small_face(size: float) -> None:
    near = Box(0, 0, int(2 * size), int(2.2 * size))
    small = Small.of(near, near, size)
    assert small.scale * size == pytest.approx(np.full(2, min(size, SMALL)), rel=0.02)


def test_points_go_where_the_pixels_go() -> None:
    """A point of the photo lies in the small picture on what it lay on."""
    near = Box(37, 21, 637, 521)
    small = Small.of(near, near, 480)
    photo = ramp(521, 637)
    low = small.down(near.of(photo))
    at = np.array([[120.0, 80, 4], [500, 400, -8]], np.float32)
    for (x, y, z), (u, v, w) in zip(at, small.points(at), strict=True):
        value = low[round(float(v)), round(float(u))]
        assert value[:2] == pytest.approx([x, y], abs=float(0.6 / small.scale[0]))
        assert w == pytest.approx(z * small.scale.mean())


def test_up_is_the_way_back_over_the_tight_box() -> None:
    near, tight = Box(10, 20, 490, 420), Box(95, 113, 391, 377)
    small = Small.of(near, tight, 400)
    photo = ramp(420, 490)
    back = small.up(small.down(near.of(photo)))
    assert back.shape[:2] == tight.shape
    assert np.abs(back - tight.of(photo)).max() < 0.15
