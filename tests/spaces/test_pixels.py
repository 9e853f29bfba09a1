"""The pixel space: aligned by five points, cut out by the mean face, as it was and no more."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from everyface.errors import InputError
from everyface.faces.align import FACE, crop, crop_points, face_transform
from everyface.faces.faceset import Crops, FaceSet
from everyface.faces.mesh import FIVE
from everyface.spaces import Pixels
from everyface.spaces.template import BACKDROP, at_face_size, face_mask, template


def test_eyes_nose_and_mouth_fall_together(faces: FaceSet) -> None:
    """The five points, drawn into the crops, are found where the template has them."""
    space = Pixels(128)
    spread = []
    for row in range(0, len(faces), 4):
        points = crop_points(faces)[row]
        aligned = space._aligned(dotted(points[FIVE, :2]), points)[..., 0]
        y, x = np.mgrid[:128, :128]
        for x0, y0 in (template()[FIVE, :2] + 0.5) / 4 - 0.5:
            near = aligned * (np.hypot(x - x0, y - y0) < 9)
            middle = [(near * x).sum() / near.sum(), (near * y).sum() / near.sum()]
            spread.append(np.abs(np.array(middle) - [x0, y0]).max())
    assert np.mean(spread) < 2.5 and np.max(spread) < 9


def dotted(marks: np.ndarray) -> np.ndarray:
    image = np.zeros((FACE, FACE, 3), np.uint8)
    for x, y in marks.round().astype(int).tolist():
        cv2.circle(image, (x, y), 7, (255, 255, 255), -1)
    return image


def test_codes_are_brightness_values(faces: FaceSet) -> None:
    codes = Pixels().fit(faces).transform(faces.take(np.arange(3)))
    assert codes.min() >= 0 and codes.max() <= 255
    assert codes.shape[1] % 3 == 0
    assert (codes == codes.round()).all()


@pytest.mark.parametrize("side", [64, 256, FACE])
def test_what_was_read_is_drawn_in_its_place(faces: FaceSet, side: int) -> None:
    space = Pixels(side).fit(faces)
    one = faces.take(np.array([6]))
    drawn = space.draw(space.transform(one))
    inside = cv2.erode((drawn.masks[0] == 255).astype(np.uint8), np.ones((9, 9))) > 0
    wanted = space._aligned(one.crops[0], crop_points(one)[0])
    wanted = cv2.resize(wanted, (FACE, FACE), interpolation=cv2.INTER_CUBIC)
    away = np.abs(drawn.images[0].astype(float) - wanted)[inside]
    assert away.mean() < 0.6
    assert (drawn.points[0] == template()).all()


def test_outside_is_plain_and_no_dark_rim_stands_at_the_edge(faces: FaceSet) -> None:
    """A white face on the grey ground stays between both: enlarging met no step."""
    space = Pixels(96).fit(faces)
    width = space.transform(faces.take(np.array([0]))).shape[1]
    drawn = space.draw(np.full((1, width), 255, np.float32))
    assert (drawn.images[0][drawn.masks[0] == 0] == BACKDROP).all()
    assert drawn.images[0].min() >= BACKDROP
    assert (drawn.images[0][drawn.masks[0] == 255] == 255).all()


def test_a_mean_of_codes_is_the_mean_of_pixels(faces: FaceSet) -> None:
    space = Pixels().fit(faces)
    codes = space.transform(faces.take(np.arange(0, 10, 2)))
    mean = space.draw(codes.mean(axis=0, keepdims=True)).images[0].astype(float)
    images = space.draw(codes).images.astype(float).mean(axis=0)
    assert np.abs(mean - images).mean() < 0.3


@pytest.mark.parametrize("side", [0, 15, FACE + 1])
def test_sides_that_make_no_sense_are_refused(faces: FaceSet, side: int) -> None:
    with pytest.raises(InputError, match=f"the side of a face is {side}"):
        Pixels(side).fit(faces)


def test_the_template_is_an_aligned_face_that_nobody_can_change() -> None:
    assert face_transform(template()) == pytest.approx(np.eye(2, 3), abs=1e-4)
    assert not template().flags.writeable


def test_a_mask_rises_softly_inside_the_contour() -> None:
    mask = face_mask(template(), FACE)
    values = mask[int(template()[4, 1])].astype(int)
    left = np.diff(values[: FACE // 2])
    assert (left >= 0).all() and 3 <= (left > 0).sum() <= 8
    assert values.max() == 255 and values[0] == 0
    assert abs(int((mask > 0).sum()) - int((mask[:, ::-1] > 0).sum())) == 0


def test_smaller_crops_are_brought_to_size(faces: FaceSet) -> None:
    image = faces.crops[2]
    small = crop(image, np.array([[0.5, 0, -0.25], [0, 0.5, -0.25]]), 256)
    assert at_face_size(small).shape == (FACE, FACE, 3)
    assert (at_face_size(image) == image).all()
    one = replace(faces.take(np.array([2])), crops=Crops(np.stack([small])))
    codes = [Pixels(64).fit(faces).transform(held) for held in (one, faces.take(np.array([2])))]
    assert np.abs(codes[0] - codes[1]).mean() < 2
