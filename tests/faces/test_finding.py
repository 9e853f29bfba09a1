"""Faces, doubts and errors: what two networks must agree on, and what sets a photo aside."""

from __future__ import annotations

import numpy as np
import pytest

from everyface.faces import finding
from everyface.faces.detection import Detections
from everyface.faces.faceset import POINTS, FaceSet
from everyface.faces.finding import Found, find

from .pictures import collage, pasted, scene, turned


def alone(picture: np.ndarray) -> Found:
    """The only face of a picture that is beyond doubt."""
    [found] = find([picture])
    assert found.refusal == "" and len(found.score) == 1
    return found


def decided(boxes: list[list[float]], score: list[float], presence: list[float]) -> Found:
    """What is decided about candidates whose meshes fill their boxes."""
    box = np.array(boxes, np.float32)
    points = np.zeros((len(box), POINTS, 3), np.float32)
    points[:, 0, :2], points[:, 1:, :2] = box[:, :2], box[:, None, 2:]
    five = np.zeros((len(box), 5, 2), np.float32)
    candidates = Detections(box, five, np.array(score, np.float32))
    return finding._decide(candidates, points, np.array(presence, np.float32))


FIRST, FAR = [10.0, 10.0, 50.0, 60.0], [200.0, 200.0, 240.0, 250.0]


@pytest.mark.parametrize(
    ("score", "presence", "word"),
    [
        (0.5, 0.5, "face"),
        (0.99, 0.5, "face"),
        (0.4, 0.9, "face"),
        (0.6, 0.49, "doubt"),
        (0.95, 0.0, "doubt"),
        (0.49, 0.89, "doubt"),
        (0.4, 0.5, "doubt"),
        (0.59, 0.49, "nothing"),
        (0.4, 0.0, "nothing"),
    ],
)
def test_who_must_agree(score: float, presence: float, word: str) -> None:
    """The table of docs/faces.md, at its edges."""
    found = decided([FAR], [score], [presence])
    assert len(found.score) == (word == "face")
    expected = "there may be a face at x = 220, y = 225 that could not be made out"
    assert found.refusal == (expected if word == "doubt" else "")


def test_several_doubts_are_counted() -> None:
    found = decided([FAR, [0, 0, 20, 20], [400, 0, 420, 20]], [0.7, 0.8, 0.9], [0.0, 0.0, 0.0])
    assert found.refusal.endswith(", and at 2 more places that could not be made out")


def test_a_doubt_within_a_face_is_a_part_of_it() -> None:
    part, beside = [30, 30, 50, 50], [45, 30, 65, 50]
    assert decided([FIRST, part], [0.9, 0.8], [1.0, 0.0]).refusal == ""
    assert decided([FIRST, beside], [0.9, 0.8], [1.0, 0.0]).refusal != ""


def test_a_face_is_counted_once() -> None:
    """Two candidates whose meshes settled on one place, the surer one stays."""
    moved = [x + 4 for x in FIRST]
    found = decided([moved, FIRST, FAR], [0.6, 0.9, 0.9], [0.9, 1.0, 1.0])
    assert found.score == pytest.approx([0.9, 0.9])
    assert found.box[0] == pytest.approx(FIRST)


def test_a_face_within_a_face_is_a_part_of_it() -> None:
    """A mouth that both networks take for a small face, also where it reaches a little beyond."""
    mouth = [20, 40, 40, 65]
    found = decided([mouth, FIRST], [0.7, 0.9], [0.99, 1.0])
    assert found.score == pytest.approx([0.9]) and found.refusal == ""
    outer = [0, 0, 70, 80]
    assert decided([outer, FIRST], [0.7, 0.9], [0.9, 1.0]).score == pytest.approx([0.9])


def test_two_people_one_before_the_other_are_two() -> None:
    behind = [28, 0, 78, 60]
    found = decided([FIRST, behind], [0.9, 0.8], [1.0, 1.0])
    assert len(found.score) == 2


def test_a_doubt_round_a_face_is_that_face_with_its_hair() -> None:
    assert decided([FIRST, [0, 0, 70, 80]], [0.9, 0.8], [1.0, 0.0]).refusal == ""
    assert decided([FIRST, [0, 0, 140, 160]], [0.9, 0.8], [1.0, 0.0]).refusal != ""


def test_faces_run_from_left_to_right() -> None:
    boxes = [[x, y, x + 40, y + 50] for x, y in ((300, 0), (0, 90), (150, 400))]
    found = decided(boxes, [0.9, 0.7, 0.8], [1.0, 1.0, 1.0])
    assert found.box[:, 0].tolist() == [0, 150, 300]
    assert found.score == pytest.approx([0.7, 0.8, 0.9])


@pytest.mark.parametrize("degrees", [0, 45, 90, 180, -45, -90])
def test_turned_faces(faces: FaceSet, portraits: list[np.ndarray], degrees: float) -> None:
    for number in (1, 10, 19):
        picture, matrix = turned(portraits[number], degrees, 0.7)
        points = alone(picture).points[0, :, :2]
        wanted = faces.points[number, :, :2] @ matrix[:, :2].T + matrix[:, 2]
        assert np.linalg.norm(points - wanted, axis=1).max() < 12


@pytest.mark.parametrize("face", [24, 32, 40])
def test_small_faces(faces: FaceSet, portraits: list[np.ndarray], face: int) -> None:
    for number in (2, 11, 16):
        side = round(512 * face / np.ptp(faces.points[number, :, 1]))
        points = alone(pasted(scene(480, 640), portraits[number], 77, 301, side)).points[0, :, :2]
        wanted = (faces.points[number, :, :2] + 0.5) * side / 512 - 0.5 + [77, 301]
        assert np.linalg.norm(points - wanted, axis=1).mean() < 0.05 * face


def test_most_faces_of_16_pixels_are_found(faces: FaceSet, portraits: list[np.ndarray]) -> None:
    scenes = []
    for picture, points in zip(portraits, faces.points, strict=True):
        side = round(512 * 16 / np.ptp(points[:, 1]))
        scenes.append(pasted(scene(240, 320), picture, 150, 90, side))
    assert sum(len(found.score) == 1 for found in find(scenes)) >= 18


def test_thirty_faces_in_one_photo(portraits: list[np.ndarray]) -> None:
    shown = [portraits[number % len(portraits)] for number in range(30)]
    [found] = find([collage(shown, columns=6, side=150, gap=20)])
    assert found.refusal == ""
    cells = (found.box.reshape(-1, 2, 2).mean(axis=1) - 10) // 170
    assert len(cells) == len(np.unique(cells, axis=0)) == 30


@pytest.mark.parametrize("part", ["left", "right", "top", "bottom"])
def test_faces_at_the_border(faces: FaceSet, portraits: list[np.ndarray], part: str) -> None:
    """A third of the face is cut off; what is left is found where it is."""
    for number in (0, 13, 22):
        (x0, y0), (x1, y1) = faces.box[number].reshape(2, 2)
        x, y = round(float(x0 + 0.3 * (x1 - x0))), round(float(y0 + 0.3 * (y1 - y0)))
        right, bottom = round(float(x1 - 0.3 * (x1 - x0))), round(float(y1 - 0.3 * (y1 - y0)))
        cut = {
            "left": (slice(None), slice(x, None)),
            "right": (slice(None), slice(None, right)),
            "top": (slice(y, None), slice(None)),
            "bottom": (slice(None, bottom), slice(None)),
        }[part]
        corner = [x if part == "left" else 0, y if part == "top" else 0]
        [found] = find([np.ascontiguousarray(portraits[number][cut])])
        assert len(found.score) == 1
        away = np.linalg.norm(found.points[0, :, :2] + corner - faces.points[number, :, :2], axis=1)
        assert np.median(away) < 0.1 * (x1 - x0)


def test_no_face_in_plain_pictures_and_noise() -> None:
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, (300, 400, 3), dtype=np.uint8)
    ramp = np.broadcast_to(np.linspace(0, 255, 400)[None, :, None], (300, 400, 3))
    stripes = np.broadcast_to((np.arange(400) // 20 % 2 * 255)[None, :, None], (300, 400, 3))
    cloud = noise.repeat(10, axis=0).repeat(10, axis=1)[:300, :400]
    pictures = [scene(300, 400), noise, ramp.astype(np.uint8), stripes.astype(np.uint8), cloud]
    for found in find(pictures):
        assert len(found.score) == 0
        assert found.refusal == "no face was found in it"


def test_a_second_look_is_taken_where_nothing_was_found(portraits: list[np.ndarray]) -> None:
    """A small face that lies on its side in a wide photo: seen only if all turns are looked at
    finely."""
    lying = np.ascontiguousarray(np.rot90(portraits[8]))
    photo = pasted(scene(700, 1300), lying, 900, 400, 34)
    assert len(finding._look([photo], thorough=False)[0].score) == 0
    points = alone(photo).points[0, :, :2]
    assert np.abs(points.mean(axis=0) - [917, 417]).max() < 5


def test_a_face_is_found_once_however_it_is_shown(portraits: list[np.ndarray]) -> None:
    """Also in the mirror, where a part of it may look like a smaller face."""
    for found in find([np.ascontiguousarray(picture[:, ::-1]) for picture in portraits]):
        assert len(found.score) == 1 and found.refusal == ""
