"""The appearance space: shape and texture apart (thesis 3.1.2, Eq. 3.7 to 3.11)."""

import cv2
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from everyface.errors import InputError
from everyface.faces import FaceSet
from everyface.faces.align import FACE
from everyface.spaces import Appearance, Pixels
from everyface.spaces.appearance.detail import evened, strength
from everyface.spaces.appearance.frame import _TO_YCC
from everyface.spaces.appearance.generic import canvas, filler, generic
from everyface.spaces.appearance.shape import frontalise
from everyface.spaces.appearance.space import FEW, rigid_weights


@pytest.fixture(scope="module")
def fitted(faces: FaceSet) -> Appearance:
    return Appearance().fit(faces)


@pytest.fixture(scope="module")
def codes(fitted: Appearance, faces: FaceSet) -> np.ndarray:
    return fitted.transform(faces)


def texture_of(row: int = 0) -> np.ndarray:
    """A bare face: one of the shipped model's own."""
    model = generic().texture
    parameters = np.zeros((1, len(model.basis)), np.float32)
    parameters[0, row] = np.sqrt(model.variances[row])
    return np.clip(canvas().packing.unpack(model.rebuild(parameters)[0]), 0, 255)


@pytest.mark.parametrize("turn", [(0, 0, 90), (10, -30, 5), (-15, 25, 170)])
def test_the_turn_of_the_head_is_taken_out_of_the_shape(turn):
    face = generic().reference
    rotated = face @ Rotation.from_euler("xyz", turn, degrees=True).as_matrix() * 0.4 + [90, 7, -3]
    back = frontalise(rotated[None].astype(np.float32), face, rigid_weights())[0]
    assert np.abs(back - face).max() < 0.05


def test_an_open_mouth_stays_in_the_shape():
    """Only rigid points say where the head is, so that a jaw that drops does not turn it."""
    face = generic().reference
    speaking = face.copy()
    below = (face[:, 1] > face[4, 1]) & (rigid_weights() == 0)
    speaking[below, 1] += 0.2 * (face[below, 1] - face[4, 1])
    assert below.sum() > 100
    back = frontalise(speaking[None], face, rigid_weights())[0]
    assert np.abs(back - speaking).max() < 1e-2


def test_shape_and_texture_vary_alike(fitted, codes, faces):
    """Eq. 3.10 and 3.11: r² = Σλ_t / Σλ_s makes both halves of γ as variable."""
    split = len(fitted.model_.shape.basis)
    assert split == len(fitted.model_.texture.basis) == len(faces) - 1
    shape, texture = codes[:, :split].var(axis=0).sum(), codes[:, split:].var(axis=0).sum()
    assert shape == pytest.approx(texture, rel=0.01)


def test_a_fitted_model_holds_its_own_faces(fitted, faces):
    """With fewer faces than components nothing is lost, so a mean of codes is a mean of faces."""
    for half in (fitted.model_.shape, fitted.model_.texture):
        gram = half.basis @ half.basis.T
        np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-3)
    codes = fitted.transform(faces)
    shape, split = fitted.model_.shape, len(fitted.model_.shape.basis)
    held = shape.rebuild(codes[:, :split] / fitted.weight_)
    again = shape.rebuild(shape.project(held))
    np.testing.assert_allclose(again, held, atol=0.05)
    np.testing.assert_allclose(held.mean(axis=0), shape.mean, atol=0.05)
    forms = fitted.draw(codes[:3]).points
    np.testing.assert_allclose(forms.reshape(3, -1), held[:3], atol=0.05)


def test_equal_codes_give_equal_bytes_in_any_company(fitted, codes):
    whole = fitted.draw(codes[:5])
    for row in range(5):
        alone = fitted.draw(codes[row : row + 1])
        assert alone.images[0].tobytes() == whole.images[row].tobytes()
        assert alone.points[0].tobytes() == whole.points[row].tobytes()
    twice = fitted.draw(np.repeat(codes[:1], 3, axis=0)).images
    assert len({image.tobytes() for image in twice}) == 1


def test_a_face_has_the_same_code_in_any_company(fitted, codes, faces):
    some = np.array([7, 2, 11])
    assert fitted.transform(faces.take(some)).tobytes() == codes[some].tobytes()


def test_a_packed_texture_comes_back():
    frame, texture = canvas(), texture_of()
    smooth = cv2.GaussianBlur(texture, (0, 0), 3)
    back = frame.packing.unpack(frame.packing.pack(smooth))
    assert np.abs(back - smooth)[frame.inside].mean() < 0.5
    other = smooth + 10 * np.array([1, -1, 0.5], np.float32)
    apart = np.linalg.norm(frame.packing.pack(other) - frame.packing.pack(smooth))
    step = np.array([10, -10, 5]) @ _TO_YCC.T
    assert apart == pytest.approx(np.linalg.norm(step) * np.sqrt(frame.inside.sum()), rel=0.02)


def test_what_covers_a_face_is_filled_and_a_mole_stays():
    frame, texture = canvas(), texture_of()
    seen = np.ones(frame.shape, np.float32)
    eyes = frame.points[[33, 263]]
    covered = texture.copy()
    for x, y in eyes:
        cv2.circle(covered, (round(float(x)), round(float(y))), 38, (15, 15, 15), 6)
    mole = covered.copy()
    x, y = (round(float(v)) for v in frame.points[205])
    cv2.circle(mole, (x, y), 5, (60, 30, 25), -1)
    ring = np.abs(covered - texture).max(axis=2) > 50
    inside = ring & frame.inside & (filler()._edge > 0.99)
    filled = filler()(mole, seen)
    before = np.abs(covered - texture)[inside].mean()
    assert np.abs(filled - texture)[inside].mean() < 0.4 * before
    assert (
        np.abs(filled[y - 2 : y + 3, x - 2 : x + 3] - mole[y - 2 : y + 3, x - 2 : x + 3]).mean() < 8
    )


def test_what_is_turned_away_is_filled():
    frame, texture = canvas(), texture_of(1)
    seen = np.ones(frame.shape, np.float32)
    seen[:, frame.width * 3 // 4 :] = 0
    broken = np.where(seen[..., None] > 0, texture, 0).astype(np.float32)
    filled = filler()(broken, seen)
    hidden = frame.inside & (seen == 0)
    assert np.abs(filled - texture)[hidden].mean() < 25
    assert np.abs(broken - texture)[hidden].mean() > 60


def grain(size: float, sigma: float) -> np.ndarray:
    """Grey noise of one coarseness."""
    noise = np.random.default_rng(0).standard_normal((*canvas().shape, 1)).astype(np.float32)
    soft = cv2.GaussianBlur(noise, (0, 0), sigma)[..., None] if sigma else noise
    return np.asarray(size * soft / soft.std(), np.float32)


def test_detail_is_raised_and_never_lowered():
    frame, usual = canvas(), generic().energy
    core = cv2.erode(frame.inside.astype(np.uint8), np.ones((25, 25)))
    core = cv2.resize(core, usual.shape[:0:-1], interpolation=cv2.INTER_NEAREST) > 0
    faint = cv2.GaussianBlur(texture_of(), (0, 0), 3) + grain(0.8, 0) + grain(0.8, 1.5)
    raised = evened(faint, usual, frame.inside)
    before, after = (strength(held, frame.inside)[:, core] for held in (faint, raised))
    assert (after.mean(axis=1) > 1.2 * before.mean(axis=1)).all()
    assert (after.mean(axis=1) < 1.2 * usual[:, core].mean(axis=1)).all()
    assert (raised[~frame.inside] == faint[~frame.inside]).all()
    strong = faint + grain(60, 0) + grain(60, 1) + grain(60, 2)
    np.testing.assert_allclose(evened(strong, usual, frame.inside), strong, atol=1e-3)


def test_averages_are_sharper_than_those_of_pixels(fitted, codes, faces):
    """Ghosts: features that do not fall together wash each other out (thesis 2.3.2)."""
    pixels = Pixels(FACE).fit(faces)
    ghost = pixels.draw(pixels.transform(faces).mean(axis=0, keepdims=True))
    plain = Appearance(detail=False).fit(faces)
    clean = plain.draw(codes.mean(axis=0, keepdims=True))

    def energy(drawn) -> float:
        grey = drawn.images[0].mean(axis=2)
        steep = np.hypot(*np.gradient(grey))
        return float(steep[cv2.erode(drawn.masks[0], np.ones((21, 21))) == 255].mean())

    assert energy(clean) > 1.15 * energy(ghost)


def test_small_sets_take_the_shipped_model(faces):
    assert len(faces) >= FEW
    few = faces.take(np.arange(FEW - 1))
    assert Appearance().fit(few).model_ is generic()
    assert Appearance().fit(faces).model_ is not generic()
    assert Appearance(model="generic").fit(faces).model_ is generic()
    assert "19 faces" in Appearance(model="set").fit(few).model_.provenance
    with pytest.raises(InputError, match="unknown"):
        Appearance(model="best").fit(faces)
    with pytest.raises(InputError, match="1 faces"):
        Appearance(model="set").fit(faces.take(np.array([0])))
