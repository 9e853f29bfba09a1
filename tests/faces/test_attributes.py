"""Labels follow the face and not how it is cut, and skin is measured as colour science does."""

from __future__ import annotations

import cv2
import dlib
import numpy as np
import pytest

from everyface.faces import attributes
from everyface.faces.align import apply, crop, crop_points, procrustes
from everyface.faces.attributes import ages, labels, males, skin
from everyface.faces.faceset import FaceSet
from everyface.faces.landmarks import EXPRESSIONS
from everyface.faces.mesh import CHEEKS
from everyface.spaces.template import template

LINEAR = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(rgb: tuple[int, int, int]) -> tuple[float, float, float]:
    """CIELAB (D65) of an sRGB colour, by the definition."""
    c = np.array(rgb) / 255
    c = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    t = LINEAR @ c / LINEAR.sum(axis=1)
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def plain(colour: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """One crop in one colour, and a mean face on it."""
    return np.full((1, 512, 512, 3), colour, np.uint8), template()[None]


@pytest.mark.parametrize("colour", [(240, 200, 180), (160, 110, 80), (70, 45, 35)])
def test_skin_is_lightness_and_typology_angle(colour: tuple[int, int, int]) -> None:
    light, angle = skin(*plain(colour))
    lightness, _, yellow = lab(colour)
    assert light[0] == pytest.approx(lightness, abs=0.5)
    assert angle[0] == pytest.approx(np.degrees(np.arctan2(lightness - 50, yellow)), abs=1.5)


def test_fair_skin_has_the_larger_angle() -> None:
    angles = [skin(*plain(c))[1][0] for c in ((240, 200, 180), (160, 110, 80), (70, 45, 35))]
    assert angles[0] > 41 and 0 < angles[1] < 41 and angles[2] < -30


def test_a_strand_of_hair_on_a_cheek_does_not_count() -> None:
    crops, points = plain((200, 150, 120))
    before = np.stack(skin(crops, points))
    for x, y in points[0, CHEEKS[:3], :2].round().astype(int):
        cv2.circle(crops[0], (int(x), int(y)), 20, (10, 5, 5), -1)
    assert np.stack(skin(crops, points)) == pytest.approx(before)


def test_skin_is_taken_from_the_cheeks() -> None:
    crops, points = plain((30, 200, 30))
    for x, y in points[0, CHEEKS, :2].round().astype(int):
        cv2.circle(crops[0], (int(x), int(y)), 12, (200, 150, 120), -1)
    assert skin(crops, points)[0] == pytest.approx(skin(*plain((200, 150, 120)))[0])


def test_a_mesh_beside_the_crop_is_no_error() -> None:
    crops, points = plain((200, 150, 120))
    assert np.isfinite(skin(crops, points + 5000)).all()


def test_every_label_has_a_value_a_face(faces: FaceSet) -> None:
    held = faces.labels
    assert set(held) >= {"age", "gender", "gender_probability", "skin", "skin_light", "expression"}
    assert held["expression"].shape == (len(faces), len(EXPRESSIONS))
    assert set(held["gender"]) == {"female", "male"}
    assert (held["gender_probability"] >= 0.5).all() and (held["gender_probability"] <= 1).all()
    assert (held["age"] > 0).all() and (held["age"] < 80).all()
    assert np.ptp(held["age"]) > 10 and np.ptp(held["skin_light"]) > 10


def test_gender_and_its_probability_are_one_thing(faces: FaceSet) -> None:
    male = males(faces.crops[:], crop_points(faces))
    said = np.where(faces.labels["gender"] == "male", male, 1 - male)
    assert faces.labels["gender_probability"] == pytest.approx(said, abs=1e-6)


def test_age_is_the_expectation_over_the_classes(
    faces: FaceSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shared(*years: int) -> object:
        def run(_: str, crops: np.ndarray, *__: object) -> np.ndarray:
            return np.eye(81, dtype=np.float32)[list(years)].mean(axis=0, keepdims=True)

        return run

    for years, expected in (((1,), 1), ((37,), 37), ((80,), 80), ((20, 40), 30), ((0, 4), 2.125)):
        monkeypatch.setattr(attributes, "_classes", shared(*years))
        assert ages(*plain((9, 9, 9)))[0] == pytest.approx(expected)


@pytest.mark.parametrize(("name", "side"), [("age", 64), ("gender", 32)])
def test_chips_are_those_that_the_networks_learnt_from(
    faces: FaceSet, monkeypatch: pytest.MonkeyPatch, name: str, side: int
) -> None:
    """dlib's own cut, with a padding of a fifth; half a pixel away they differ by 7 and 11."""
    seen: list[np.ndarray] = []

    class Listening:
        def run(self, batch: np.ndarray) -> dict[str, np.ndarray]:
            seen.append(batch)
            return {"classes": np.zeros((len(batch), 81), np.float32)}

    monkeypatch.setattr(attributes, "network", lambda _: Listening())
    points = crop_points(faces).round()
    {"age": ages, "gender": males}[name](faces.crops[:], points)
    ours = seen[0].transpose(0, 2, 3, 1) * 256 + attributes._MEANS
    away = []
    for row in range(0, len(faces), 4):
        marks = points[row, attributes._CHIP_POINTS, :2].astype(int).tolist()
        shape = dlib.full_object_detection(
            dlib.rectangle(0, 0, faces.size, faces.size), [dlib.point(*xy) for xy in marks]
        )
        chip = dlib.get_face_chip(faces.crops[row], shape, size=side, padding=0.2)
        away.append(np.abs(ours[row] - chip).mean())
    assert np.mean(away) < {64: 5.5, 32: 8.5}[side]


def test_labels_do_not_depend_on_the_cut(faces: FaceSet) -> None:
    """The same faces cut smaller, turned and shifted are as old and of the same gender."""
    some = faces.take(np.arange(0, len(faces), 3))
    points = crop_points(some)
    turn = cv2.getRotationMatrix2D((260, 240), 25, 0.6)
    moved = np.stack([crop(image, turn, 400) for image in some.crops])
    there = apply(turn, points)
    assert males(moved, there) == pytest.approx(males(some.crops[:], points), abs=0.25)
    assert np.abs(ages(moved, there) - ages(some.crops[:], points)).mean() < 3
    assert skin(moved, there)[0] == pytest.approx(some.labels["skin_light"], abs=2)


def test_a_face_that_is_not_where_the_mesh_says_has_other_labels(faces: FaceSet) -> None:
    """The chips are cut by the mesh."""
    some = faces.take(np.arange(0, len(faces), 3))
    upside_down = procrustes(np.array([[0, 0], [1, 0]]), np.array([[511, 511], [510, 511]]))
    wrong = apply(upside_down, crop_points(some))
    assert np.abs(ages(some.crops[:], wrong) - some.labels["age"]).mean() > 3


def test_labels_do_not_depend_on_the_other_faces(faces: FaceSet) -> None:
    points = crop_points(faces)
    one = labels(faces.crops[7:8], points[7:8])
    for name, values in one.items():
        assert np.asarray(values).tobytes() == np.asarray(faces.labels[name][7:8]).tobytes(), name


def test_labels_of_nobody() -> None:
    none = labels(np.zeros((0, 512, 512, 3), np.uint8), np.zeros((0, 478, 3), np.float32))
    assert {len(values) for values in none.values()} == {0}
