"""The mesh is drawn so that near triangles hide far ones and the texture comes through unmoved."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from everyface.faces.mesh import TRIANGLES
from everyface.merge.photo import Surrogate, _draw
from everyface.merge.raster import lookup
from everyface.spaces.template import face_mask, template


def test_each_pixel_looks_up_its_place_in_the_texture() -> None:
    """An affine map of a triangle is met exactly."""
    points = np.array([[5, 4, 0], [40, 8, 0], [12, 35, 0]], np.float32)
    turn, shift = np.array([[1.5, 0.4], [-0.3, 2.0]], np.float32), np.float32([7, 9])
    uv = points[:, :2] @ turn.T + shift
    maps = lookup(points, uv, np.array([[0, 1, 2]], np.int32), (40, 50))
    seen = maps[..., 0] >= 0
    y, x = np.nonzero(seen)
    assert seen.sum() == pytest.approx(0.5 * abs(35 * 31 - 4 * 7), rel=0.1)
    assert maps[seen] == pytest.approx(np.stack([x, y], 1) @ turn.T + shift, abs=1e-3)
    assert (maps[~seen] == -1).all()


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_the_nearer_triangle_is_seen(order: list[int]) -> None:
    points = np.array(
        [[0, 0, 5], [30, 0, 5], [0, 30, 5], [0, 0, 2], [30, 0, 2], [0, 30, 2]], np.float32
    )
    uv = np.array([[1, 1]] * 3 + [[2, 2]] * 3, np.float32)
    triangles = np.array([[0, 1, 2], [3, 4, 5]], np.int32)[order]
    maps = lookup(points, uv, triangles, (20, 20))
    assert maps[5, 5] == pytest.approx([2, 2], abs=1e-5)


def test_what_lies_beyond_the_picture_is_left_out() -> None:
    points = np.array([[-50, -50, 0], [100, -50, 0], [-50, 100, 0]], np.float32)
    maps = lookup(points, np.abs(points[:, :2]), np.array([[0, 1, 2]], np.int32), (20, 20))
    assert (maps[..., 0] >= 0).all()
    flat = np.zeros((3, 3), np.float32)
    assert (lookup(flat, flat[:, :2], np.array([[0, 1, 2]], np.int32), (9, 9)) == -1).all()


def test_a_face_in_its_own_place_is_drawn_as_it_was() -> None:
    rng = np.random.default_rng(0)
    image = cv2.GaussianBlur(rng.integers(0, 256, (512, 512, 3), dtype=np.uint8), (0, 0), 3)
    face = Surrogate(image, template(), face_mask(template(), 512))
    drawn, seen = _draw(face, template(), (512, 512))
    inner = cv2.erode((seen > 0.99).astype(np.uint8), np.ones((5, 5))) > 0
    assert inner.sum() > 30_000
    assert np.abs(drawn - image)[inner].max() < 2
    assert lookup(template(), template()[:, :2], TRIANGLES, (512, 512)).shape == (512, 512, 2)


def test_a_shrunk_face_is_not_aliased() -> None:
    """Fine stripes become grey."""
    image = np.zeros((512, 512, 3), np.uint8)
    image[:, ::2] = 255
    face = Surrogate(image, template(), face_mask(template(), 512))
    small = (template() * 0.2).astype(np.float32)
    drawn, seen = _draw(face, small, (110, 110))
    inner = cv2.erode((seen > 0.99).astype(np.uint8), np.ones((5, 5))) > 0
    assert drawn[inner].mean() == pytest.approx(127.5, abs=4)
    assert drawn[inner].std() < 15
