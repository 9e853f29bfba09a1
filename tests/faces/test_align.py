"""Crops are FFHQ's, free of aliasing, and every matrix leads there and back."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everyface.faces.align import (
    FACE,
    apply,
    crop,
    crop_points,
    face_transform,
    invert,
    procrustes,
    scale_of,
)
from everyface.faces.faceset import POINTS, FaceSet
from everyface.faces.mesh import CANONICAL, INNER_EYES, LEFT_EYE, MOUTH_CORNERS, NOSE_TIP, RIGHT_EYE


def similarity(scale: float, degrees: float, x: float, y: float) -> np.ndarray:
    a, b = scale * np.cos(np.radians(degrees)), scale * np.sin(np.radians(degrees))
    return np.array([[a, -b, x], [b, a, y]])


def ffhq_corners(points: np.ndarray) -> np.ndarray:
    """The quadrilateral of FFHQ's published `recreate_aligned_images`, top left first."""
    left, right = points[LEFT_EYE, :2].mean(axis=0), points[RIGHT_EYE, :2].mean(axis=0)
    eyes, mouth = (left + right) / 2, points[MOUTH_CORNERS, :2].mean(axis=0)
    eye_to_eye, eye_to_mouth = right - left, mouth - eyes
    x = eye_to_eye - np.flipud(eye_to_mouth) * [-1, 1]
    x /= np.hypot(*x)
    x *= max(np.hypot(*eye_to_eye) * 2.0, np.hypot(*eye_to_mouth) * 1.8)
    y = np.flipud(x) * [-1, 1]
    c = eyes + eye_to_mouth * 0.1
    return np.stack([c - x - y, c - x + y, c + x + y, c + x - y])


@pytest.mark.parametrize("size", [64, FACE])
def test_the_square_is_ffhqs(size: int) -> None:
    """On flat meshes of any pose, where depth does not count."""
    rng = np.random.default_rng(0)
    for degrees in (0, 30, 170):
        mesh = CANONICAL + rng.normal(0, 0.4, CANONICAL.shape)
        flat = apply(similarity(40, degrees, 300, 200), mesh[:, :2]).astype(float)
        matrix = face_transform(np.c_[flat, np.zeros(POINTS)], size)
        corners = apply(matrix, ffhq_corners(flat))
        # FFHQ counts from the pixels' corners, this project from their centres.
        wanted = np.array([[0, 0], [0, size], [size, size], [size, 0]]) - 0.5
        assert np.abs(corners - wanted).max() < 1e-3 * size


def test_a_turned_head_keeps_its_size() -> None:
    """Distances are taken in three dimensions: no yaw makes the crop tighter."""
    a = np.radians(40)
    turn = np.array([[np.cos(a), 0, -np.sin(a)], [0, 1, 0], [np.sin(a), 0, np.cos(a)]])
    frontal = scale_of(face_transform(CANONICAL))
    assert scale_of(face_transform(CANONICAL @ turn.T)) == pytest.approx(frontal, rel=1e-4)


def test_portraits_are_painted_in_the_ffhq_frame(faces: FaceSet) -> None:
    """The generator learnt FFHQ's faces, so its portraits are crops already: eyes at (0.376, 0.474)
    and (0.624, 0.474) of the side, and no face is moved, turned or scaled by much."""
    points = crop_points(faces) / (faces.size - 1)
    for eye, x in ((LEFT_EYE, 0.376), (RIGHT_EYE, 0.624)):
        middle = points[:, eye, :2].mean(axis=1)
        assert middle.mean(axis=0) == pytest.approx([x, 0.474], abs=0.008)
        assert middle.std(axis=0).max() < 0.01
    matrices = face_transform(faces.points, 512)
    assert scale_of(matrices) == pytest.approx(np.ones(len(faces)), abs=0.12)
    assert np.abs(np.degrees(np.arctan2(matrices[:, 1, 0], matrices[:, 0, 0]))).max() < 5


def test_eyes_are_level_however_the_photo_is_turned(faces: FaceSet) -> None:
    upright = apply(face_transform(faces.points), faces.points)
    for degrees in (90, 180, -45):
        turned = apply(similarity(0.4, degrees, 900, 30), faces.points)
        assert np.abs(apply(face_transform(turned), turned) - upright).max() < 0.05


def ramp(height: int, width: int) -> np.ndarray:
    """A picture whose brightness is its place: red grows to the right, green down.

    In floats, so that nothing is rounded."""
    y, x = np.mgrid[:height, :width]
    return np.stack([x, y, np.full_like(x, 77)], axis=-1).astype(np.float32)


@pytest.mark.parametrize("scale", [0.14, 0.3, 0.5, 0.71, 0.99, 1.0, 1.3, 2.6])
@pytest.mark.parametrize("degrees", [0, 20, 90])
def test_a_crop_shows_what_lies_there(scale: float, degrees: float) -> None:
    """On a ramp every pixel says where it comes from: no half pixel is lost at any scale."""
    photo = ramp(240, 250)
    size = 33
    matrix = similarity(scale, degrees, 0, 0)
    matrix[:, 2] = (size - 1) / 2 - matrix[:, :2] @ [124.5, 119.5]
    cut = crop(photo, matrix, size)
    y, x = np.mgrid[:size, :size]
    back = apply(invert(matrix), np.stack([x, y], axis=-1).reshape(-1, 2)).reshape(size, size, 2)
    margin = 3 / scale + 2
    inside = ((back > margin) & (back < np.array([249, 239]) - margin)).all(axis=-1)
    assert inside.sum() > 9
    assert np.abs(cut[..., :2] - back)[inside].max() < 0.06
    assert cut[..., 2] == pytest.approx(np.full((size, size), 77.0), abs=1e-3)
    rounded = crop(photo.astype(np.uint8), matrix, size)
    assert np.abs(rounded[..., :2] - back)[inside].max() < 2


def test_a_whole_picture_comes_back_as_it_was() -> None:
    photo = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    assert (crop(photo, np.eye(2, 3), 64) == photo).all()


@pytest.mark.parametrize("shrink", [2, 2.5, 3.7, 7.3])
def test_nothing_is_aliased(shrink: float) -> None:
    """The finest stripes become grey when they are shrunk, and no coarser stripes."""
    photo = np.zeros((512, 512, 3), np.uint8)
    photo[:, ::2] = 255
    cut = crop(photo, similarity(1 / shrink, 0, 0, 0), 60)
    inner = cut[4:-4, 4:-4].astype(float)
    assert inner.mean() == pytest.approx(127.5, abs=3)
    assert inner.std() < 20  # 127 if pixels were only picked


def test_crops_reach_over_the_edge_as_they_are_told() -> None:
    photo = np.full((40, 40, 3), 200, np.uint8)
    matrix = similarity(1, 0, 20, 0)
    assert (crop(photo, matrix, 40)[:, :20] == 200).all()
    assert (crop(photo, matrix, 40, cv2.BORDER_CONSTANT)[:, :19] == 0).all()
    far = similarity(0.2, 0, -500, -500)
    assert crop(photo, far, 16).shape == (16, 16, 3)


def test_grey_pictures_too() -> None:
    assert crop(ramp(60, 60)[..., 0], similarity(0.5, 0, 0, 0), 30).shape == (30, 30)


def test_apply_invert_and_scale_of_stacks() -> None:
    rng = np.random.default_rng(0)
    stack = np.stack([similarity(0.3, 20, 5, 6), similarity(4, -100, 0, -3)])
    points = rng.normal(0, 50, (2, 7, 3))
    moved = apply(stack, points)
    for row in range(2):
        assert apply(stack[row], points[row]) == pytest.approx(moved[row], abs=1e-3)
    assert moved[..., 2] == pytest.approx(points[..., 2] * [[0.3], [4]], rel=1e-5)
    assert apply(invert(stack), moved) == pytest.approx(points, abs=1e-3)
    assert scale_of(stack) == pytest.approx([0.3, 4])


@settings(max_examples=40, deadline=None)
@given(
    scale=st.floats(0.05, 20),
    degrees=st.floats(-180, 180),
    x=st.floats(-500, 500),
    seed=st.integers(0, 99),
)
def test_procrustes_finds_a_similarity_again(
    scale: float, degrees: float, x: float, seed: int
) -> None:
    points = np.random.default_rng(seed).normal(0, 10, (5, 2))
    wanted = similarity(scale, degrees, x, -3)
    found = procrustes(points, apply(wanted, points))
    assert found == pytest.approx(wanted, abs=1e-4 * max(1, scale) * 40)


def test_procrustes_is_the_best_there_is() -> None:
    """No similarity nearby lays the points better, on points that none lays exactly."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 10, (6, 2)), rng.normal(0, 10, (6, 2))
    best = procrustes(a, b)

    def error(matrix: np.ndarray) -> float:
        return float(((a @ matrix[:, :2].T + matrix[:, 2] - b) ** 2).sum())

    u, v = best[0, 0], best[1, 0]
    for du, dv, dx, dy in rng.normal(0, 0.01, (50, 4)):
        moved = [[u + du, -v - dv, best[0, 2] + dx], [v + dv, u + du, best[1, 2] + dy]]
        assert error(np.array(moved)) >= error(best)


def test_procrustes_makes_no_mirror_and_goes_by_the_points_it_is_told() -> None:
    points = CANONICAL[:, :2].astype(float)
    assert np.linalg.det(procrustes(points, points * [-1, 1])[:, :2]) > 0
    bent = points.copy()
    bent[0] += 100
    by = np.r_[INNER_EYES, NOSE_TIP]
    assert procrustes(bent, points, by) == pytest.approx(np.eye(2, 3), abs=1e-9)
    assert np.abs(procrustes(bent, points) - np.eye(2, 3)).max() > 1e-3


def test_points_that_fall_together_give_finite_matrices() -> None:
    for matrix in (
        procrustes(np.zeros((5, 2)), np.ones((5, 2))),
        face_transform(np.zeros((478, 3))),
    ):
        assert np.isfinite(matrix).all()
