"""What a photo hides of a face: found by a robust fit, filled from a model of bare faces.

Glasses, fringes, hands and the far cheek of a turned head are not the face, and each of them
becomes a ghost in a mean. The thesis (3.1.2) regards them as noise and picks its training images by
hand so that the model cannot show them. Here a model of bare faces is fitted to what can be trusted
of each texture, iteratively reweighted; what it cannot explain is taken for hidden and replaced by
what it expects there, with the photo's own light carried over the seam.
"""

from __future__ import annotations

import cv2
import numpy as np

from everyface.arrays import F32, AnyArray
from everyface.faces.mesh import CHEEKS, LEFT_BROW, RIGHT_BROW
from everyface.spaces.appearance.frame import TextureFrame
from everyface.spaces.components import Components

COARSE = 4
"""The fit works on textures shrunk by this factor."""

ROUNDS = (10, 25, 50, 50, 50)
"""How many components each round of reweighting may use."""

DOUBT = (2.6, 4.0)
"""Residuals, in units of the model's usual error, from where trust falls to where it is gone."""

EXTENT = 12
"""A doubtful patch narrower and lower than this many coarse pixels is a mole, a glint or a lash
of this person: it stays. Frames of glasses, fringes and hands are larger."""

HAIR = (0.55, 0.78)
"""Above the brows, darker than this share of the cheeks' luminance is hair; from the second on
it is skin."""

EDGE = 14.0
"""Pixels from the contour over which trust grows: the mesh's edge slips onto hair and wall."""

LUMA = np.array([[0.299, 0.587, 0.114]], np.float32)


def luma(texture: F32) -> F32:
    """Return the luminance of (h, w, 3), (h, w)."""
    return np.asarray(cv2.transform(texture, LUMA), np.float32)


class Fill:
    """Replaces the hidden parts of textures.

    Parameters
    ----------
    frame
        Where textures live.
    model
        Components of packed textures of bare faces.
    error
        (h / 4, w / 4): the model's usual error on bare faces, in grey levels.
    """

    def __init__(self, frame: TextureFrame, model: Components, error: F32) -> None:
        self.frame = frame
        most = min(max(ROUNDS), len(model.basis))
        self._model = Components(model.mean, model.basis[:most], model.variances[:most])
        self._error = np.maximum(error, 4.0)
        self._inside = _shrunk(frame.inside.astype(np.float32)) > 0.5
        self._mean = self._coarse(frame.packing.unpack(model.mean))
        self._basis = np.stack(
            [self._coarse(frame.packing.unpack(row)) for row in self._model.basis]
        )
        edge = cv2.distanceTransform(frame.inside.astype(np.uint8), cv2.DIST_L2, 5)
        self._edge = np.clip(edge / EDGE - 0.2, 0, 1).astype(np.float32)
        self._forehead = _above_brows(frame)
        self._cheeks = _cheeks(frame)

    def __call__(self, texture: F32, seen: F32) -> F32:
        """Return `texture` with everything filled that is not trusted.

        Parameters
        ----------
        texture, seen
            As `TextureFrame` reads them.
        """
        trust, parameters = self.trust(texture, seen)
        expected = self.frame.packing.unpack(self._model.rebuild(parameters[None])[0])
        light = _diffused(texture - expected, trust)
        filled = texture * trust[..., None] + (expected + light) * (1 - trust[..., None])
        return np.asarray(self.frame.carried(np.clip(filled, 0, 255)), np.float32)

    def trust(self, texture: F32, seen: F32) -> tuple[F32, F32]:
        """Return how far each pixel shows bare face, (h, w), and the fitted parameters."""
        bare = seen * self._edge * self._skin(texture)
        prior = _shrunk(bare)[self._inside]
        coarse = self._coarse(texture)
        error = self._error[self._inside]
        weight = prior
        parameters = np.zeros(len(self._basis), np.float32)
        ratio = np.zeros(0, np.float32)
        for most in ROUNDS:
            parameters = self._fitted(coarse, weight, error, most)
            residual = coarse - self._mean - parameters @ self._basis
            away = np.sqrt((residual.reshape(-1, 3) ** 2).mean(axis=1))
            ratio = away / error
            weight = prior / (1 + (ratio / DOUBT[0]) ** 2) ** 2
        doubt = np.zeros(self._inside.shape, np.float32)
        doubt[self._inside] = np.clip((ratio - DOUBT[0]) / (DOUBT[1] - DOUBT[0]), 0, 1)
        doubt = _large(doubt)
        doubt = cv2.GaussianBlur(cv2.dilate(doubt, np.ones((3, 3), np.uint8)), (0, 0), 1.2)
        height, width = self.frame.shape
        fine = cv2.resize(doubt, (width, height), interpolation=cv2.INTER_LINEAR)
        return np.asarray(bare * (1 - np.clip(1.6 * fine, 0, 1)), np.float32), parameters

    def _fitted(self, coarse: F32, weight: F32, error: F32, most: int) -> F32:
        """Maximum a posteriori parameters under independent errors and the model's variances."""
        basis = self._basis[:most]
        w = np.repeat(weight / error**2, 3)
        scaled = basis * w
        normal = scaled @ basis.T / 6 + np.diag(1 / self._model.variances[:most])
        held = np.zeros(len(self._basis), np.float32)
        held[:most] = np.linalg.solve(normal, scaled @ (coarse - self._mean) / 6)
        return held

    def _coarse(self, texture: F32) -> F32:
        return np.asarray(_shrunk(texture)[self._inside].ravel(), np.float32)

    def _skin(self, texture: F32) -> F32:
        """Return 0 where the forehead or a temple is much darker than the cheeks: hair."""
        light = cv2.GaussianBlur(luma(texture), (0, 0), 1.5)
        cheeks = float(np.median(light[self._cheeks]))
        share = np.clip((light / max(cheeks, 1.0) - HAIR[0]) / (HAIR[1] - HAIR[0]), 0, 1)
        share = cv2.erode(share.astype(np.float32), np.ones((5, 5), np.uint8))
        return np.asarray(1 - self._forehead * (1 - share), np.float32)


def _shrunk(image: AnyArray) -> F32:
    height, width = image.shape[:2]
    held: F32 = cv2.resize(image, (width // COARSE, height // COARSE), interpolation=cv2.INTER_AREA)
    return held


def _large(doubt: F32) -> F32:
    """Keep the connected patches that reach far enough to be something worn or held."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats((doubt > 0).astype(np.uint8))
    far = np.maximum(stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT]) >= EXTENT
    far[0] = False
    return np.asarray(doubt * far[labels], np.float32)


def _diffused(values: F32, weight: F32) -> F32:
    """Carry `values` on smoothly to where their weight is nought (pull-push)."""
    if min(weight.shape) <= 4:
        mean = (values * weight[..., None]).sum(axis=(0, 1)) / max(float(weight.sum()), 1e-6)
        return np.broadcast_to(mean, values.shape).astype(np.float32)
    height, width = weight.shape
    small_weight = cv2.pyrDown(weight)
    small = cv2.pyrDown(values * weight[..., None]) / np.maximum(small_weight, 1e-6)[..., None]
    coarse = _diffused(small, np.minimum(small_weight * 4, 1))
    coarse = cv2.pyrUp(coarse, dstsize=(width, height))
    share = weight[..., None]
    return np.asarray(values * share + coarse * (1 - share), np.float32)


def _above_brows(frame: TextureFrame) -> F32:
    """Return 1 on the forehead, 0 below the upper edge of the brows, soft between."""
    brows = frame.points[np.concatenate([LEFT_BROW, RIGHT_BROW])]
    rows = np.arange(frame.height, dtype=np.float32)[:, None]
    top = float(brows[:, 1].min())
    ramp = np.clip((top + 2 - rows) / 8, 0, 1)
    return np.asarray(np.broadcast_to(ramp, frame.shape), np.float32)


def _cheeks(frame: TextureFrame) -> AnyArray:
    y, x = np.mgrid[: frame.height, : frame.width]
    near = [(x - a) ** 2 + (y - b) ** 2 < (frame.width / 14) ** 2 for a, b in frame.points[CHEEKS]]
    return np.asarray(np.any(near, axis=0) & frame.inside)
