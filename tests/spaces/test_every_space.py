"""The shared checks, run over every registered space."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
import threadpoolctl
from sklearn.base import clone

from everyface.errors import InputError
from everyface.faces.align import FACE
from everyface.faces.faceset import FaceSet
from everyface.faces.mesh import POINTS
from everyface.guarantee import Level
from everyface.spaces import SPACES, Space, SynthesisSpace

from .checks import nearest, read_again

NAMES = sorted(SPACES)
DRAWING = [name for name in NAMES if issubclass(SPACES[name], SynthesisSpace)]
CLOSE = {"pixels": 0.1, "eigenfaces": 0.05, "appearance": 0.03}
"""How near a drawn face is read to its code, in distances of the two most alike of 24 codes:
measured 0.078, 0.027 and 0.012. A new space must at least stay nearer to its own code than to any
other."""

each = pytest.mark.parametrize("name", NAMES)
drawing = pytest.mark.parametrize("name", DRAWING)

Fitted = dict[str, tuple[Space, np.ndarray]]


@pytest.fixture(scope="module")
def fitted(faces: FaceSet) -> Fitted:
    """Every space fitted to the synthetic people, and their codes."""
    held = {}
    for name in NAMES:
        space = SPACES[name]().fit(faces)
        held[name] = space, space.transform(faces)
    return held


def synthesis(fitted: Fitted, name: str) -> tuple[SynthesisSpace, np.ndarray]:
    space, codes = fitted[name]
    assert isinstance(space, SynthesisSpace)
    return space, codes


@each
def test_one_float32_vector_a_face(fitted: Fitted, faces: FaceSet, name: str) -> None:
    codes = fitted[name][1]
    assert codes.dtype == np.float32
    assert codes.ndim == 2 and len(codes) == len(faces) and codes.shape[1] > 0
    assert np.isfinite(codes).all()
    assert nearest(codes) > 0


@each
def test_it_is_a_scikit_learn_transformer(name: str, faces: FaceSet) -> None:
    space = SPACES[name]()
    assert space.name == name
    assert clone(space).get_params() == space.get_params()
    some = faces.take(np.arange(4))
    assert space.fit(some) is space
    assert SPACES[name]().fit_transform(some).tobytes() == space.transform(some).tobytes()


@each
def test_the_same_faces_give_the_same_bytes(fitted: Fitted, faces: FaceSet, name: str) -> None:
    again = SPACES[name]().fit(faces).transform(faces)
    assert again.tobytes() == fitted[name][1].tobytes()


@each
def test_threads_change_nothing(fitted: Fitted, faces: FaceSet, name: str) -> None:
    some = faces.take(np.arange(0, len(faces), 5))
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        with threadpoolctl.threadpool_limits(1):
            codes = fitted[name][0].transform(some)
            drawn = draw_some(fitted, name)
    finally:
        cv2.setNumThreads(before)
    assert codes.tobytes() == fitted[name][1][::5].tobytes()
    assert drawn == draw_some(fitted, name)


def draw_some(fitted: Fitted, name: str) -> bytes:
    space, codes = fitted[name]
    return space.inverse_transform(codes[:2]).tobytes() if name in DRAWING else b""


@each
def test_a_code_does_not_depend_on_the_other_faces(
    fitted: Fitted, faces: FaceSet, name: str
) -> None:
    space, codes = fitted[name]
    backwards = np.arange(len(faces))[::-1]
    assert space.transform(faces.take(backwards)).tobytes() == codes[::-1].tobytes()
    for row in (0, 13):
        one = faces.take(np.array([row]))
        one.vectors.clear()
        alone = space.transform(one)
        assert alone.shape == (1, codes.shape[1])
        assert alone.tobytes() == codes[row : row + 1].tobytes()


@each
def test_nobody_has_no_code(fitted: Fitted, faces: FaceSet, name: str) -> None:
    space, codes = fitted[name]
    nobody = faces.take(np.zeros(0, int))
    assert space.transform(nobody).shape == (0, codes.shape[1])


@each
def test_fitting_changes_no_face(faces: FaceSet, name: str) -> None:
    some = faces.take(np.arange(3))
    points, crops = some.points.copy(), some.crops[:].copy()
    SPACES[name]().fit(some).transform(some)
    assert (some.points == points).all() and (some.crops[:] == crops).all()


@each
def test_few_faces(faces: FaceSet, name: str) -> None:
    """Two faces are enough; of one, a space makes what it can or says that it cannot."""
    for count in (2, 1):
        some = faces.take(np.arange(count))
        try:
            codes = SPACES[name]().fit(some).transform(some)
        except InputError as error:
            assert count == 1, error
            continue
        assert codes.shape[0] == count and np.isfinite(codes).all()


@each
def test_what_lowers_the_guarantee_says_why(name: str) -> None:
    lowers = getattr(SPACES[name], "lowers", None)
    assert lowers is None or (isinstance(lowers[0], Level) and len(lowers[1]) > 10)


@drawing
def test_drawn_faces_are_whole(fitted: Fitted, name: str) -> None:
    space, codes = synthesis(fitted, name)
    drawn = space.draw(codes[:3])
    assert drawn.images.dtype == np.uint8 and drawn.images.shape == (3, FACE, FACE, 3)
    assert drawn.points.dtype == np.float32 and drawn.points.shape == (3, POINTS, 3)
    assert drawn.masks.dtype == np.uint8 and drawn.masks.shape == (3, FACE, FACE)
    assert (drawn.points[..., :2] >= 0).all() and (drawn.points[..., :2] < FACE).all()
    for image, mesh, mask in zip(drawn.images, drawn.points, drawn.masks, strict=True):
        x, y = mesh[4, :2].round().astype(int)
        assert mask[y, x] == 255 and mask[0, 0] == mask[-1, -1] == 0
        assert 0.1 < (mask == 255).mean() < 0.6
        assert image[mask == 255].std() > 10
    assert space.inverse_transform(codes[:3]).tobytes() == drawn.images.tobytes()


@drawing
def test_equal_codes_give_equal_bytes(fitted: Fitted, name: str) -> None:
    """In any batch, at any place in it: what the guarantee counts are equal bytes."""
    space, codes = synthesis(fitted, name)
    batch = space.draw(codes[[5, 2, 5, 9]])
    alone = space.draw(codes[[5]])
    for part in ("images", "points", "masks"):
        first, third = getattr(batch, part)[[0, 2]]
        assert first.tobytes() == third.tobytes() == getattr(alone, part)[0].tobytes()
    assert batch.images[0].tobytes() != batch.images[1].tobytes()


@drawing
def test_a_drawn_face_is_read_as_its_code(fitted: Fitted, faces: FaceSet, name: str) -> None:
    """`transform` after `inverse_transform` comes back, by so much."""
    space, codes = synthesis(fitted, name)
    some = codes[::3]
    again = space.transform(read_again(faces, space.draw(some)))
    away = np.linalg.norm(again[:, None] - codes[None], axis=2)
    assert (away.argmin(axis=1) == np.arange(0, len(codes), 3)).all()
    own = np.linalg.norm(again - some, axis=1)
    assert own.max() < CLOSE.get(name, 0.5) * nearest(codes)


@drawing
def test_a_drawn_mean_is_read_as_the_mean(fitted: Fitted, faces: FaceSet, name: str) -> None:
    """Of five people: what the surrogate rules draw most."""
    space, codes = synthesis(fitted, name)
    mean = codes[0:10:2].mean(axis=0, keepdims=True)
    again = space.transform(read_again(faces, space.draw(mean)))
    assert np.linalg.norm(again - mean) < 2 * CLOSE.get(name, 0.5) * nearest(codes)


@drawing
def test_nothing_drawn_of_no_codes(fitted: Fitted, name: str) -> None:
    space, codes = synthesis(fitted, name)
    assert space.draw(codes[:0]).images.shape == (0, FACE, FACE, 3)


@drawing
def test_codes_far_out_are_still_pictures(fitted: Fitted, name: str) -> None:
    """Sums of differences may leave the cloud of faces: no error, no number that is none."""
    space, codes = synthesis(fitted, name)
    far = codes.mean(axis=0) + 4 * (codes[:2] - codes.mean(axis=0))
    drawn = space.draw(far.astype(np.float32))
    assert np.isfinite(drawn.points).all() and drawn.images.std() > 5
