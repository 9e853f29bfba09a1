"""Quality falls with everything that makes a face a worse likeness, and with nothing else."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from everyface.faces.align import crop_points
from everyface.faces.faceset import FaceSet
from everyface.faces.quality import quality

Parts = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def parts(faces: FaceSet) -> Parts:
    """What quality is computed from, of six faces."""
    some = faces.take(np.arange(0, len(faces), 4))
    return {
        "crops": some.crops[:],
        "crop_points": crop_points(some),
        "points": some.points,
        "pose": some.pose,
        "sure": some.score,
    }


def with_(parts: Parts, **changed: np.ndarray) -> np.ndarray:
    return quality(**{**parts, **changed})


def test_good_portraits_are_good(faces: FaceSet) -> None:
    assert faces.quality.dtype == np.float32
    assert faces.quality.min() > 0.8 and faces.quality.max() <= 1


@pytest.mark.parametrize("sigma", [3, 6])
def test_blur_lowers_it(parts: Parts, sigma: float) -> None:
    blurred = np.stack([cv2.GaussianBlur(crop, (0, 0), sigma) for crop in parts["crops"]])
    assert (with_(parts, crops=blurred) < with_(parts) - 0.05).all()


def test_more_blur_lowers_it_more(parts: Parts) -> None:
    values = [
        with_(parts, crops=np.stack([cv2.GaussianBlur(c, (0, 0), s) for c in parts["crops"]]))
        for s in (2, 4, 8)
    ]
    assert (np.diff(values, axis=0) < 0).all()


@pytest.mark.parametrize("factor", [0.05, 12.0])
def test_drowned_and_burnt_pictures_lower_it(parts: Parts, factor: float) -> None:
    wrong = np.clip(parts["crops"].astype(float) * factor, 0, 255).astype(np.uint8)
    assert (with_(parts, crops=wrong) < with_(parts) - 0.05).all()


def test_a_small_face_in_the_photo_lowers_it(parts: Parts) -> None:
    """However sharp its crop is: the size is that in the photo. Above 60 pixels it is enough."""
    twice, tenth = (with_(parts, points=parts["points"] * share) for share in (2, 0.1))
    assert twice == pytest.approx(with_(parts), rel=1e-5)
    assert (tenth < with_(parts) - 0.1).all()


def test_it_falls_as_the_head_turns(parts: Parts) -> None:
    values = []
    for degrees in (0, 20, 45, 80):
        pose = np.zeros_like(parts["pose"])
        pose[::2, 0], pose[1::2, 1] = degrees, -degrees
        values.append(with_(parts, pose=pose))
    assert (np.diff(values, axis=0) < 0).all()


def test_roll_does_not_count(parts: Parts) -> None:
    rolled = parts["pose"] + np.float32([0, 0, 90])
    assert (with_(parts, pose=rolled) == with_(parts)).all()


def test_none_makes_up_for_another(parts: Parts) -> None:
    """A geometric mean: a fifth of a drawback's logarithm, and nothing at all is nothing."""
    sure = np.full(len(parts["sure"]), 0.5, np.float32)
    ratio = with_(parts, sure=sure / 2) / with_(parts, sure=sure)
    assert ratio == pytest.approx(np.full(len(sure), 0.5 ** (1 / 5)), rel=1e-5)
    assert (with_(parts, sure=sure * 0) == 0).all()
    away = parts["pose"] * 0 + np.float32([120, 0, 0])
    assert (with_(parts, pose=away) == 0).all()


def test_only_the_face_counts(parts: Parts) -> None:
    """What lies outside the oval may be anything."""
    crops = parts["crops"].copy()
    crops[:, :60] = np.random.default_rng(0).integers(0, 256, crops[:, :60].shape, np.uint8)
    assert with_(parts, crops=crops) == pytest.approx(with_(parts), abs=1e-6)


def test_a_mesh_beside_the_crop_is_no_error(parts: Parts) -> None:
    found = with_(parts, crop_points=parts["crop_points"] + 5000)
    assert np.isfinite(found).all()
