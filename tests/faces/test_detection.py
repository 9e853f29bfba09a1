"""The detector reads its network as OpenCV does, sees all of a photo, and faces any way up."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyface.faces import detection
from everyface.faces.detection import Detections, detect, overlap, together
from everyface.faces.faceset import FaceSet
from everyface.faces.mesh import FIVE
from everyface.models import store

from .pictures import collage, pasted, scene, turned


def best(picture: np.ndarray) -> Detections:
    """The surest candidate."""
    found = detect([picture])[0]
    assert len(found) and found.score[0] == found.score.max()
    return found.take(np.array([0]))


def eyes_apart(five: np.ndarray) -> float:
    return float(np.linalg.norm(five[0, 0] - five[0, 1]))


@pytest.mark.parametrize("number", [0, 7, 14, 20])
def test_the_network_is_read_as_opencv_reads_it(portraits: list[np.ndarray], number: int) -> None:
    side = 320
    picture = cv2.resize(portraits[number], (side, side), interpolation=cv2.INTER_AREA)
    theirs = cv2.FaceDetectorYN.create(
        str(store.fetch(detection.MODEL)), "", (side, side), score_threshold=0.6
    )
    _, [row, *_] = theirs.detect(np.ascontiguousarray(picture[..., ::-1]))
    batch = picture[None, ..., ::-1].transpose(0, 3, 1, 2)
    outputs = detection.network(detection.MODEL, (3, side, side)).run(batch)
    ours = detection._decoded([output[0] for output in outputs.values()], side)
    top = ours.take(np.array([ours.score.argmax()]))
    assert np.abs(top.box[0] - [row[0], row[1], row[0] + row[2], row[1] + row[3]]).max() < 0.5
    # OpenCV names the eye on the left of the picture first, as we do.
    assert np.abs(top.five[0] - row[4:14].reshape(5, 2)).max() < 0.5
    assert top.score[0] == pytest.approx(row[14], abs=1e-3)


@given(length=st.integers(1, 5000), side=st.sampled_from([320, 640]))
def test_tiles_leave_no_gap_and_overlap_by_more_than_the_faces_left_to_them(
    length: int, side: int
) -> None:
    starts = detection._starts(length, side)
    assert starts[0] == 0
    if length <= side:
        assert starts == [0]
        return
    assert starts[-1] == length - side
    steps = np.diff(starts)
    assert (steps > 0).all() and (steps <= side - detection._OVERLAP).all()


def test_five_points_lie_on_the_face(faces: FaceSet, portraits: list[np.ndarray]) -> None:
    """Two networks that know nothing of each other agree on eyes, nose and mouth."""
    for picture, mesh in zip(portraits[::4], faces.points[::4], strict=True):
        five = best(picture).five
        away = np.linalg.norm(five[0] - mesh[FIVE, :2], axis=1)
        assert away.max() < 0.25 * eyes_apart(five)


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_quarter_turns(portraits: list[np.ndarray], turns: int) -> None:
    """Box and points come back in the turned photo's pixels, left eye first as the face stands."""
    upright = best(portraits[3])
    here = best(np.ascontiguousarray(np.rot90(portraits[3], turns)))
    x, y = upright.five[0].T
    for _ in range(turns):
        x, y = y, 511 - x
    assert np.abs(here.five[0] - np.stack([x, y], axis=1)).max() < 0.08 * eyes_apart(upright.five)
    low, high = here.five[0].min(axis=0), here.five[0].max(axis=0)
    assert (here.box[0, :2] < low).all() and (here.box[0, 2:] > high).all()


@pytest.mark.parametrize("degrees", [45, -45, 135, -135])
def test_half_quarter_turns(portraits: list[np.ndarray], degrees: float) -> None:
    """The network is unsure of single points then; the middle of the face and which way up it is
    are enough for the mesh."""
    upright = best(portraits[6])
    picture, matrix = turned(portraits[6], degrees, 0.7)
    here = best(picture)
    assert here.score[0] > 0.7
    middle = upright.five[0].mean(axis=0) @ matrix[:, :2].T + matrix[:, 2]
    assert np.abs(here.five[0].mean(axis=0) - middle).max() < 0.25 * eyes_apart(here.five)
    across = here.five[0, 1] - here.five[0, 0]
    off = np.degrees(np.arctan2(across[1], across[0])) - degrees
    assert abs((off + 180) % 360 - 180) < 40


@pytest.mark.parametrize("face", [16, 20, 28, 48])
def test_small_faces(faces: FaceSet, portraits: list[np.ndarray], face: int) -> None:
    for number in (0, 9, 17):
        low, high = faces.box[number, :2], faces.box[number, 2:]
        side = round(512 * face / (high - low).max())
        found = best(pasted(scene(480, 640), portraits[number], 301, 77, side))
        centre = (low + high) / 2 * side / 512 + [301, 77]
        assert np.abs(found.box.reshape(2, 2).mean(axis=0) - centre).max() < 0.3 * face


def test_a_small_face_in_a_large_photo(portraits: list[np.ndarray]) -> None:
    """Tiles of the full size see what is nothing in the whole."""
    photo = pasted(scene(1500, 2000), portraits[0], 1270, 640, 40)
    found = best(photo)
    assert found.score[0] > 0.6
    assert np.abs(found.box.reshape(2, 2).mean(axis=0) - [1290, 663]).max() < 8


def test_a_face_on_the_seam_of_tiles_is_one_face(portraits: list[np.ndarray]) -> None:
    """At x = 620, one tile of 640 cuts it and the next one holds it whole."""
    photo = pasted(scene(640, 1200), portraits[4], 590, 300, 70)
    found = detect([photo])[0]
    assert (found.score > 0.5).sum() == 1
    assert found.box[0, 0] > 590 and found.box[0, 2] < 660


def test_thirty_faces_in_one_photo(portraits: list[np.ndarray]) -> None:
    shown = [portraits[number % len(portraits)] for number in range(30)]
    found = detect([collage(shown, columns=6, side=150, gap=20)])[0]
    sure = found.take(found.score > 0.8)
    assert len(sure) == 30
    cells = (sure.box.reshape(-1, 2, 2).mean(axis=1) - 10) // 170
    assert len(np.unique(cells, axis=0)) == 30


def test_candidates_do_not_depend_on_the_other_photos(portraits: list[np.ndarray]) -> None:
    pictures = [portraits[0], portraits[5][:300], scene(90, 700), portraits[9]]
    together_ = detect(pictures)
    for picture, found in zip(pictures, together_, strict=True):
        alone = detect([picture])[0]
        for name in ("box", "five", "score"):
            assert getattr(alone, name).tobytes() == getattr(found, name).tobytes()


def test_plain_pictures_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object) -> None:
        raise AssertionError("the network was run on a plain picture")

    monkeypatch.setattr(detection, "network", run)
    assert [len(found) for found in detect([scene(300, 900), np.zeros((50, 50, 3), np.uint8)])] == [
        0,
        0,
    ]


def test_overlap_is_intersection_over_union() -> None:
    box = np.array([0, 0, 10, 10], np.float32)
    others = np.array([[0, 0, 10, 10], [5, 0, 15, 10], [10, 0, 20, 10], [2, 2, 4, 4]], np.float32)
    assert overlap(box, others) == pytest.approx([1, 50 / 150, 0, 4 / 100])


def test_the_better_of_two_candidates_for_one_face_stays() -> None:
    box = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [50, 50, 60, 60]], np.float32)
    score = np.array([0.5, 0.9, 0.6], np.float32)
    kept = detection._distinct(Detections(box, np.zeros((3, 5, 2), np.float32), score))
    assert kept.score == pytest.approx([0.9, 0.6])
    assert kept.box[0] == pytest.approx(box[1])


def test_lists_are_joined_in_order() -> None:
    assert len(together([])) == 0
    one = Detections(
        np.ones((2, 4), np.float32), np.ones((2, 5, 2), np.float32), np.ones(2, np.float32)
    )
    joined = together([one, together([]), one])
    assert joined.box.shape == (4, 4) and joined.five.shape == (4, 5, 2)
