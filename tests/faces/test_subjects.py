"""Who is who: nobody is counted twice, and two faces of one photo are two people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from everyface.errors import InputError
from everyface.faces import subjects
from everyface.faces.faceset import FaceSet
from everyface.faces.identity import embedded, recogniser
from everyface.faces.naming import Naming, naming
from everyface.faces.subjects import Rows, assign

PHOTOS = [Path(f"/p/{letter}.jpg") for letter in "abcdef"]


def rows(photo: list[int], people: list[int], size: list[float] | None = None) -> Rows:
    """Faces of people whose vectors are clearly theirs."""
    rng = np.random.default_rng(0)
    who = np.eye(8)[people] + rng.normal(0, 0.05, (len(people), 8))
    return Rows(
        np.array(photo, np.int32),
        np.array(size or [100.0] * len(photo), np.float32),
        lambda wanted: who[wanted].astype(np.float32),
    )


def named(said: Naming, faces: Rows) -> list[str]:
    subject, names = assign(said, PHOTOS, faces)
    assert subject.dtype == np.int32
    assert sorted(set(subject.tolist())) == list(range(len(names)))
    return [names[i] for i in subject]


def unreachable(_: np.ndarray) -> np.ndarray:
    raise AssertionError("faces were compared although everything was said")


def clustered(faces: FaceSet) -> np.ndarray:
    """Which rows `auto` takes for one person, (n, n)."""
    vectors = embedded(faces, "sface")
    known = Rows(faces.photo, np.ptp(faces.points[..., 0], axis=1), lambda wanted: vectors[wanted])
    subject, _ = assign(naming("auto", faces.photos), faces.photos, known)
    return subject[:, None] == subject


def test_auto_counts_nobody_twice(faces: FaceSet) -> None:
    """Both photos of every synthetic person together, at the price of a few who share a name."""
    together = clustered(faces)
    same = faces.subject[:, None] == faces.subject
    assert together[same].all()
    assert together[~same].mean() < 0.1


def test_auto_keeps_people_apart_who_do_not_look_alike(faces: FaceSet) -> None:
    alike = recogniser("sface").similarity(embedded(faces, "sface"), embedded(faces, "sface"))
    chosen: list[int] = []
    for person in range(faces.n_subjects):
        here = faces.subject == person
        if all(alike[here][:, faces.subject == other].max() < 0.28 for other in chosen):
            chosen.append(person)
    assert len(chosen) >= 3
    some = faces.take(np.isin(faces.subject, chosen))
    assert (clustered(some) == (some.subject[:, None] == some.subject)).all()


def test_auto_keeps_two_faces_of_a_photo_apart(faces: FaceSet) -> None:
    """Even if they are the very same face: a mirror, twins, a photo on the wall."""
    assert named(Naming(), rows([0, 0, 1], [3, 3, 5])) == ["a.jpg", "a.jpg#2", "b.jpg"]


def test_auto_names_a_person_by_the_first_photo() -> None:
    found = named(Naming(), rows([0, 1, 2, 3, 3], [1, 2, 1, 2, 4]))
    assert found == ["a.jpg", "b.jpg", "a.jpg", "b.jpg", "d.jpg#2"]


def test_auto_goes_by_the_mean_of_all_pairs() -> None:
    """Average linkage at a cosine of 0.30, below what verification asks for."""
    a = np.array([1.0, 0, 0, 0])

    def at(cosine: float) -> Rows:
        b = np.array([cosine, np.sqrt(1 - cosine**2), 0, 0])
        held = np.stack([a, b]).astype(np.float32)
        return Rows(np.arange(2, dtype=np.int32), np.ones(2, np.float32), lambda w: held[w])

    assert named(Naming(), at(0.31)) == ["a.jpg", "a.jpg"]
    assert named(Naming(), at(0.29)) == ["a.jpg", "b.jpg"]


def test_auto_does_not_compare_more_than_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subjects, "MOST_AUTO", 2)
    with pytest.raises(InputError, match="3 faces"):
        assign(Naming(), PHOTOS, rows([0, 1, 2], [1, 2, 3]))


def test_auto_of_one_face() -> None:
    assert named(Naming(), rows([4], [1])) == ["e.jpg"]


def test_what_is_said_is_not_asked_again() -> None:
    faces = Rows(np.array([0, 1, 2], np.int32), np.ones(3, np.float32), unreachable)
    assert named(Naming({0: "ann", 1: "ann", 2: "bob"}), faces) == ["ann", "ann", "bob"]


def test_a_name_belongs_to_the_face_that_looks_like_the_persons_others() -> None:
    """In photo c, ann is the smaller face on the right."""
    faces = rows([0, 1, 2, 2], [1, 2, 3, 1], [100, 100, 400, 90])
    found = named(Naming({0: "ann", 1: "bob", 2: "ann"}), faces)
    assert found == ["ann", "bob", "c.jpg", "ann"]


def test_with_nothing_to_compare_it_is_the_largest() -> None:
    faces = rows([0, 0, 0], [1, 2, 3], [50, 200, 60])
    assert named(Naming({0: "ann"}), faces) == ["a.jpg", "ann", "a.jpg#3"]


def test_the_photos_own_name_is_given_once() -> None:
    """With `each`, the largest face has the photo's name; it need not stand on the left."""
    found = named(naming("each", PHOTOS), rows([0, 0, 0], [1, 2, 3], [50, 200, 60]))
    assert found == ["a.jpg#1", "a.jpg", "a.jpg#3"]


def test_a_bystander_who_is_known_is_that_person() -> None:
    faces = rows([0, 1, 1], [1, 2, 1], [100, 300, 50])
    assert named(Naming({0: "ann", 1: "bob"}), faces) == ["ann", "bob", "ann"]


def test_a_bystander_on_two_photos_is_one_person() -> None:
    faces = rows([0, 0, 1, 1], [1, 5, 2, 5], [300, 50, 300, 50])
    found = named(Naming({0: "ann", 1: "bob"}), faces)
    assert found == ["ann", "a.jpg#2", "bob", "a.jpg#2"]


def test_two_faces_of_a_photo_are_never_one_person() -> None:
    faces = rows([0, 1, 1], [1, 1, 1], [100, 300, 50])
    found = named(Naming({0: "ann", 1: "ann"}), faces)
    assert found[0] == "ann" and found.count("ann") == 2


def test_faces_that_a_table_counts() -> None:
    said = Naming(face={(0, 1): "ann", (0, 2): "bob"}, person={1: "ann"})
    assert named(said, rows([0, 0, 1], [1, 2, 1])) == ["ann", "bob", "ann"]


def test_faces_that_a_table_leaves_out_are_compared() -> None:
    said = Naming(face={(0, 2): "bob"}, person={1: "ann"})
    found = named(said, rows([0, 0, 0, 1], [1, 2, 6, 1]))
    assert found == ["ann", "bob", "a.jpg#3", "ann"]
