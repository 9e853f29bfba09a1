"""The table that travels: columns of one length, rows chosen without reading crops."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from everyface.errors import InputError
from everyface.faces.faceset import Crops, FaceSet


def test_columns_must_fit(faces: FaceSet) -> None:
    for name in ("sizes", "box", "points", "pose", "score", "quality", "subject"):
        with pytest.raises(InputError, match=rf"FaceSet\.{name} has shape"):
            replace(faces, **{name: getattr(faces, name)[:-1]})
    with pytest.raises(InputError, match=r"FaceSet\.crops"):
        replace(faces, crops=faces.crops.take(np.arange(3)))
    with pytest.raises(InputError, match="label 'height' has 3 values for 24 faces"):
        faces.with_labels(height=np.zeros(3))
    with pytest.raises(InputError, match="label 'sface' has 3 values"):
        replace(faces, vectors={"sface": np.zeros((3, 128), np.float32)})


@pytest.mark.parametrize(
    "held",
    [np.zeros((2, 4, 4), np.uint8), np.zeros((2, 4, 4, 1), np.uint8), np.zeros((2, 4, 4, 3))],
)
def test_crops_are_colour_bytes(held: np.ndarray) -> None:
    with pytest.raises(InputError, match="expected uint8"):
        Crops(held)


def test_rows_are_taken_in_the_order_asked_for(faces: FaceSet) -> None:
    rows = np.array([7, 2, 2, 23])
    chosen = faces.with_labels(number=np.arange(len(faces))).take(rows)
    assert len(chosen) == len(chosen.crops) == 4
    for field in fields(faces):
        if field.name in ("photo", "box", "points", "pose", "score", "quality", "subject"):
            assert (getattr(chosen, field.name) == getattr(faces, field.name)[rows]).all()
    assert chosen.labels["number"].tolist() == rows.tolist()
    assert (chosen.crops[:] == faces.crops[:][rows]).all()
    assert (chosen.crops[1] == faces.crops[2]).all()
    assert chosen.photos == faces.photos and chosen.subjects == faces.subjects
    mask = faces.subject == 3
    assert (faces.take(mask).subject == 3).all() and len(faces.take(mask)) == mask.sum()


def test_choosing_rows_of_chosen_rows(faces: FaceSet) -> None:
    twice = faces.take(np.array([9, 8, 7])).take(np.array([2, 0]))
    assert (twice.crops[:] == faces.crops[np.array([7, 9])]).all()


def test_choosing_reads_nothing() -> None:
    """Rows are kept as numbers: not one byte of the crops is copied."""
    held = np.zeros((5, 8, 8, 3), np.uint8)
    crops = Crops(held).take(np.array([3, 1]))
    held[3] = 9
    assert (crops[0] == 9).all()
    assert [int(image.max()) for image in crops] == [9, 0]


def test_choosing_faces_reads_no_crop(faces: FaceSet) -> None:
    assert faces.take(np.array([3, 1])).take(np.array([0])).crops._held is faces.crops._held


def test_blocks_hold_every_row_once(faces: FaceSet) -> None:
    blocks = list(faces.blocks(10))
    assert [len(block) for block in blocks] == [10, 10, 4]
    assert (np.concatenate([block.points for block in blocks]) == faces.points).all()
    assert list(faces.take(np.zeros(0, int)).blocks(10)) == []


def test_people_with_rows_are_counted(faces: FaceSet) -> None:
    assert faces.n_subjects == 12 and len(faces.subjects) == 12
    assert faces.take(np.array([0, 1, 5])).n_subjects == 2


def test_labels_are_added_and_not_lost(faces: FaceSet) -> None:
    more = faces.with_labels(shoe=np.arange(len(faces)))
    assert {*faces.labels, "shoe"} == set(more.labels)
    assert "shoe" not in faces.labels


def test_nobody_is_a_set_too() -> None:
    empty = FaceSet(
        photos=(Path("a.jpg"),),
        sizes=np.zeros((1, 2), np.int32),
        photo=np.zeros(0, np.int32),
        box=np.zeros((0, 4), np.float32),
        points=np.zeros((0, 478, 3), np.float32),
        pose=np.zeros((0, 3), np.float32),
        score=np.zeros(0, np.float32),
        quality=np.zeros(0, np.float32),
        subject=np.zeros(0, np.int32),
        subjects=(),
        crops=Crops(np.zeros((0, 512, 512, 3), np.uint8)),
    )
    assert len(empty) == 0 and empty.n_subjects == 0 and empty.size == 512
