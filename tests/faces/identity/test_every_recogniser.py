"""The shared checks, run over every registered recogniser."""

from __future__ import annotations

import importlib.util

import cv2
import numpy as np
import pytest

from everyface.errors import InputError
from everyface.faces import identity
from everyface.faces.align import apply, crop, crop_points
from everyface.faces.faceset import FaceSet
from everyface.faces.identity import RECOGNISERS, available, embedded, recogniser
from everyface.faces.identity.base import aligned, cosine, minus_distance
from everyface.models import policy, registry, store

each = pytest.mark.parametrize("name", sorted(RECOGNISERS))
SELF_TO_SELF = {"sface": 0.99, "dlib": -0.08, "facenet": 0.985}
"""Least similarity of a face and the same face cut otherwise; measured 0.998, -0.033, 0.997."""


def pairs(faces: FaceSet) -> tuple[np.ndarray, np.ndarray]:
    """Which pairs of faces are one person's, and which are two people's."""
    same = faces.subject[:, None] == faces.subject
    return same & ~np.eye(len(faces), dtype=bool), ~same


@each
def test_one_vector_a_face_and_it_tells_people_apart(faces: FaceSet, name: str) -> None:
    found = embedded(faces, name)
    assert found.dtype == np.float32 and found.ndim == 2 and len(found) == len(faces)
    assert np.isfinite(found).all()
    known = recogniser(name)
    alike = known.similarity(found, found)
    same, other = pairs(faces)
    # SFace chose these people; the others never saw them before.
    assert (alike[same] >= known.threshold).mean() > 0.9
    assert (alike[other] >= known.threshold).mean() < 0.1
    ranked = np.where(np.eye(len(faces), dtype=bool), -np.inf, alike).argmax(axis=1)
    assert (faces.subject[ranked] == faces.subject).mean() > 0.95


@each
def test_a_vector_does_not_depend_on_the_other_faces(faces: FaceSet, name: str) -> None:
    known, points = recogniser(name), crop_points(faces)
    order = np.array([5, 0, 17])
    some = known.embed(faces.crops[order], points[order])
    for row, number in enumerate(order):
        assert some[row].tobytes() == embedded(faces, name)[number].tobytes()
    assert len(known.embed(faces.crops[:0], points[:0])) == 0


@each
def test_a_vector_does_not_depend_on_the_cut(faces: FaceSet, name: str) -> None:
    known, points = recogniser(name), crop_points(faces)
    turn = cv2.getRotationMatrix2D((250, 260), -20, 0.7)
    rows = [1, 12]
    moved = np.stack([crop(faces.crops[row], turn, 420) for row in rows])
    again = known.embed(moved, apply(turn, points[rows]))
    itself = np.diag(known.similarity(embedded(faces, name)[rows], again))
    assert itself.min() > SELF_TO_SELF[name]


@each
def test_larger_is_more_alike_and_the_order_of_two_does_not_matter(
    faces: FaceSet, name: str
) -> None:
    known, found = recogniser(name), embedded(faces, name)
    alike = known.similarity(found[:5], found)
    assert alike.shape == (5, len(faces)) and alike.dtype == np.float32
    assert (alike.argmax(axis=1) == np.arange(5)).all()
    assert alike == pytest.approx(known.similarity(found, found[:5]).T, abs=1e-5)


@each
def test_what_is_no_crop_is_refused(name: str) -> None:
    known = recogniser(name)
    points = np.zeros((1, 478, 3), np.float32)
    for crops in (np.zeros((1, 9, 9, 3), np.float32), np.zeros((9, 9, 3), np.uint8)):
        with pytest.raises(InputError, match="wants crops of uint8"):
            known.embed(crops, points)
    with pytest.raises(InputError, match=r"wants points of \(2, 478, 3\)"):
        known.embed(np.zeros((2, 9, 9, 3), np.uint8), points)


@each
def test_its_weights_are_in_the_registry(name: str) -> None:
    known = recogniser(name)
    assert known.name == name and registry.entry(known.model).role == "recognise"
    assert recogniser(name) is known


def test_an_unknown_recogniser_is_refused() -> None:
    with pytest.raises(InputError, match=r"no recogniser named 'eigen'.*choose one of sface"):
        recogniser("eigen")


def test_each_set_is_embedded_once(faces: FaceSet, monkeypatch: pytest.MonkeyPatch) -> None:
    held = embedded(faces, "sface")
    chosen = faces.take(np.array([3, 1]))

    def again(_: str) -> None:
        raise AssertionError("embedded twice")

    monkeypatch.setattr(identity, "recogniser", again)
    assert embedded(faces, "sface") is held
    assert (embedded(chosen, "sface") == held[[3, 1]]).all()


def test_long_sets_are_embedded_in_blocks(faces: FaceSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """In their order, and the ears are told."""
    many = faces.take(np.arange(len(faces))[::-1])
    many.vectors.clear()
    blocks = FaceSet.blocks
    monkeypatch.setattr(FaceSet, "blocks", lambda self: blocks(self, 10))
    heard: list[tuple[str, int, int]] = []
    found = embedded(many, "sface", lambda *told: heard.append(told))
    assert (found == embedded(faces, "sface")[::-1]).all()
    assert [done for _, done, _ in heard] == [0, 10, 20, 24]
    assert {(stage, total) for stage, _, total in heard} == {("recognising (sface)", 24)}


def test_nobody_has_no_vectors(faces: FaceSet) -> None:
    nobody = faces.take(np.zeros(0, int))
    nobody.vectors.clear()
    assert embedded(nobody, "sface").shape == (0, 128)


def test_facenet_needs_h5py(monkeypatch: pytest.MonkeyPatch) -> None:
    assert available()[:2] == ["sface", "dlib"]
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert available() == ["sface", "dlib"]


def test_facenet_counts_once_its_weights_are_here(
    monkeypatch: pytest.MonkeyPatch, faces: FaceSet
) -> None:
    embedded(faces, "facenet")
    assert "facenet" in available()
    missing = store.Status(store.State.ABSENT, 0)
    monkeypatch.setattr(identity.store, "status", lambda _: missing)
    assert "facenet" not in available()


def test_weights_that_may_not_be_used_are_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "allowed", lambda entry: entry.name != "dlib_resnet")
    assert "dlib" not in available() and "sface" in available()


def test_cosine_and_distance() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(n, 6)).astype(np.float32) for n in (3, 4))
    for i in range(3):
        for j in range(4):
            dot = float(a[i] @ b[j] / np.linalg.norm(a[i]) / np.linalg.norm(b[j]))
            assert cosine(a, b)[i, j] == pytest.approx(dot, abs=1e-5)
            apart = float(np.linalg.norm(a[i] - b[j]))
            assert minus_distance(a, b)[i, j] == pytest.approx(-apart, abs=1e-5)
    assert cosine(np.zeros((1, 6), np.float32), b).tolist() == [[0] * 4]
    assert np.isfinite(minus_distance(a, a)).all()


def test_landmarks_are_brought_onto_the_template() -> None:
    """A dot on each landmark is a dot on the template."""
    template = np.array([[20.0, 30], [60, 28], [41, 52], [25, 70], [58, 72]])
    a = np.radians(33)
    turn = 2.5 * np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    marks = template @ turn.T + [150, 40]
    image = np.zeros((400, 400, 3), np.uint8)
    for x, y in marks.round().astype(int):
        cv2.circle(image, (int(x), int(y)), 6, (255, 255, 255), -1)
    cut = aligned(image, marks, template, 96)[..., 0]
    for x, y in template.astype(int):
        assert cut[y, x] > 200
    assert cut.mean() < 10
