"""A whole face into a whole photo: what changes, and what must not."""

import cv2
import numpy as np
import pytest

from everyface.errors import InputError
from everyface.faces import FaceSet
from everyface.faces.photo import read_photo
from everyface.merge import Background, Surrogate, apply_background, gives_away, into_photo, place
from everyface.merge.pose import face_size
from everyface.spaces import Appearance


@pytest.fixture(scope="module")
def photo(faces: FaceSet) -> np.ndarray:
    return read_photo(faces.photos[int(faces.photo[0])])


@pytest.fixture(scope="module")
def target(faces: FaceSet) -> np.ndarray:
    return faces.points[0]


@pytest.fixture(scope="module")
def face(faces: FaceSet) -> Surrogate:
    """The mean face of the shipped model."""
    space = Appearance(model="generic").fit(faces)
    drawn = space.draw(np.zeros((1, space.n_components), np.float32))
    return Surrogate(drawn.images[0], drawn.points[0], drawn.masks[0])


def beyond(mesh: np.ndarray, shape: tuple[int, ...], reach: float) -> np.ndarray:
    """Pixels further from a face's box than `reach` face sizes."""
    y, x = np.mgrid[: shape[0], : shape[1]]
    far = reach * face_size(mesh)
    low, high = mesh[:, :2].min(axis=0) - far, mesh[:, :2].max(axis=0) + far
    return np.asarray((x < low[0]) | (x > high[0]) | (y < low[1]) | (y > high[1]))


def central(mesh: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A patch between the eyes and the mouth."""
    y, x = np.mgrid[: shape[0], : shape[1]]
    return np.asarray(np.hypot(x - mesh[4, 0], y - mesh[4, 1]) < 0.15 * face_size(mesh))


def test_only_the_surroundings_of_the_face_change(photo, target, face):
    wide = np.pad(photo, ((400, 400), (400, 400), (0, 0)), mode="reflect")
    before, mesh = wide.copy(), target + np.array([400, 400, 0], np.float32)
    merged = into_photo(wide, mesh, face)
    assert (wide == before).all(), "the photo that was given is left alone"
    far = beyond(mesh, wide.shape, 0.85)
    assert far.any()
    assert (merged[far] == wide[far]).all()
    middle = central(mesh, wide.shape)
    assert np.abs(merged[middle].astype(int) - wide[middle]).mean() > 2


def test_the_same_photo_gives_the_same_bytes(photo, target, face):
    one, two = (into_photo(photo, target, face) for _ in range(2))
    assert one.tobytes() == two.tobytes()


def test_a_grey_photo_stays_grey(photo, target, face):
    grey = np.repeat(photo.mean(axis=2, keepdims=True).astype(np.uint8), 3, axis=2)
    merged = into_photo(grey, target, face)
    assert (merged != grey).any()
    assert np.ptp(merged, axis=2).max() == 0


def test_the_new_face_takes_the_light_of_the_photo(photo, target, face):
    """A photo twice as dark gets a face twice as dark."""
    dark = (photo * 0.5).astype(np.uint8)
    middle = central(target, photo.shape)
    light, shade = (into_photo(p, target, face)[middle].mean() for p in (photo, dark))
    assert shade / light == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize("apart", [0.75, 1.4])
def test_the_other_face_of_a_photo_is_not_touched(photo, target, face, apart):
    """Side by side, and where two heads overlap: the larger one stays whole."""
    both = np.concatenate([photo, photo], axis=1)
    middle = target.mean(axis=0)
    near = (target - middle) * 1.05 + middle + np.array([apart * face_size(target), 0, 0])
    near = near.astype(np.float32)
    merged = into_photo(both, target, face, others=(target, near))
    inside = np.zeros(both.shape[:2], np.uint8)
    hull = cv2.convexHull(np.ascontiguousarray(near[:, :2]))
    cv2.fillConvexPoly(inside, np.round(hull).astype(np.int32), 1)
    rim = 0.02 * face_size(target)
    theirs = cv2.distanceTransform(inside, cv2.DIST_L2, 5) > rim
    assert (merged[theirs] == both[theirs]).all()
    assert (merged[~theirs] != both[~theirs]).any()
    alone = into_photo(both, target, face)
    assert (alone[theirs] != both[theirs]).any()


def test_policies_leave_the_faces_and_hide_the_rest(photo, target, face):
    merged = into_photo(photo, target, face)
    mesh = place(face.points, target)
    middle, far = central(mesh, photo.shape), beyond(mesh, photo.shape, 0.02)
    for policy in Background:
        made = apply_background(merged, (mesh,), policy)
        assert (made[middle] == merged[middle]).all()
        same = into_photo(photo, target, face, background=policy)
        assert (made == same).all()
        assert gives_away(policy)
    assert (apply_background(merged, (mesh,), "keep") == merged).all()
    assert np.unique(apply_background(merged, (mesh,), "mask")[far]).tolist() == [128]
    assert len(np.unique(apply_background(merged, (mesh,), "mean")[far], axis=0)) == 1
    blurred = apply_background(merged, (mesh,), "blur")
    steps = [np.abs(np.diff(p.astype(int), axis=1))[far[:, 1:]].max() for p in (merged, blurred)]
    assert steps[1] < 0.2 * steps[0]


def test_a_face_at_the_edge_of_the_photo_is_replaced_too(photo, target, face):
    left = int(target[:, 0].mean())
    cut = np.ascontiguousarray(photo[:, left:])
    mesh = target - np.array([left, 0, 0], np.float32)
    merged = into_photo(cut, mesh, face)
    assert merged.shape == cut.shape
    middle = central(mesh, cut.shape)
    assert (merged[middle] != cut[middle]).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"photo": np.zeros((40, 40), np.uint8)}, "expected RGB"),
        ({"photo": np.zeros((40, 40, 3), np.float32)}, "expected RGB"),
        ({"target": np.zeros((68, 2), np.float32)}, "the target mesh"),
        ({"target": np.full((478, 3), np.nan, np.float32)}, "the target mesh"),
    ],
)
def test_what_cannot_be_merged_is_refused(photo, target, face, change, message):
    given = {"photo": photo, "target": target, **change}
    with pytest.raises(InputError, match=message):
        into_photo(given["photo"], given["target"], face)
