"""The appearance space of k-Same-M: a face is its shape beside its shape-free texture."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, Self

import cv2
import numpy as np

from everyface.arrays import F32, F64, U8
from everyface.errors import InputError
from everyface.faces.align import FACE, crop_points
from everyface.faces.faceset import POINTS, FaceSet
from everyface.faces.mesh import RIGID
from everyface.spaces.appearance.detail import evened, strength
from everyface.spaces.appearance.generic import Model, canvas, filler, generic
from everyface.spaces.appearance.shape import frontalise
from everyface.spaces.base import Drawn, SynthesisSpace
from everyface.spaces.components import one_thread, principal
from everyface.spaces.template import BACKDROP, at_face_size, face_mask

FEW = 20
"""Below this many faces the generic model is used: its people are more than theirs."""

MOST_FITTED = 1200
"""A model is fitted to at most this many faces, evenly spread over those given."""

BLOCK = 32
WORKERS = 2


def rigid_weights() -> F32:
    """Return how much each point says about the pose of the head."""
    weights = np.zeros(POINTS, np.float32)
    weights[RIGID] = 1
    return weights


class Appearance(SynthesisSpace):
    """Shape and texture apart, each in its principal components (thesis 3.1.2).

    The code of a face is γ = (r α, β): shape parameters α (Eq. 3.8b), weighted by
    r = √(Σλ_t / Σλ_s) so that both halves vary alike (Eq. 3.10, 3.11), and texture parameters β
    (Eq. 3.9b). Shapes are the 478 mesh points turned to the front; textures lie on the
    generic model's symmetric mean shape, with what the photo hides filled in (`Fill`).

    Parameters
    ----------
    components
        The most components that either half keeps.
    model
        "set" fits both halves to the faces, "generic" takes the shipped ones, "auto" fits from
        `FEW` faces on.
    detail
        Give back the sharpness that means lose (`everyface.spaces.appearance.detail`).

    Notes
    -----
    With fewer faces than `components` the fitted model spans them exactly, so that a mean of
    codes is the code of the mean shape and the mean texture: k-Same-M loses nothing to PCA.
    """

    name = "appearance"

    def __init__(
        self,
        components: int = 400,
        model: Literal["auto", "set", "generic"] = "auto",
        detail: bool = True,
    ) -> None:
        self.components = components
        self.model = model
        self.detail = detail

    @one_thread()
    def fit(self, faces: FaceSet, y: object = None) -> Self:  # noqa: ARG002
        """Learn both halves from `faces`, or take the generic ones."""
        if self.model not in ("auto", "set", "generic"):
            raise InputError(
                f"the appearance model {self.model!r} is unknown", "use auto, set or generic"
            )
        if self.model == "set" and len(faces) < 2:
            raise InputError(f"an appearance model cannot be fitted to {len(faces)} faces")
        own = self.model == "set" or (self.model == "auto" and len(faces) >= FEW)
        self.model_ = self._fitted(faces) if own else generic()
        shape, texture = self.model_.shape, self.model_.texture
        self.weight_ = float(
            np.sqrt(texture.variances.sum() / max(float(shape.variances.sum()), 1e-12))
        )
        return self

    @one_thread()
    def transform(self, faces: FaceSet) -> F32:
        """Return the code γ of every face."""
        shape, texture = self.model_.shape, self.model_.texture
        codes = np.empty((len(faces), self.n_components), np.float32)
        for rows, shapes, textures in _measured(faces):
            packed = np.stack([canvas().packing.pack(held) for held in textures])
            forms = shapes.reshape(len(shapes), -1)
            codes[rows] = np.concatenate(
                [self.weight_ * shape.project(forms), texture.project(packed)], axis=1
            )
        return codes

    @one_thread()
    def draw(self, codes: F32) -> Drawn:
        """Draw each code's texture on its own shape, cut out on a plain ground."""
        split = len(self.model_.shape.basis)
        codes = np.asarray(codes, np.float32)
        points = np.empty((len(codes), POINTS, 3), np.float32)
        images = np.empty((len(codes), FACE, FACE, 3), np.uint8)
        masks = np.empty((len(codes), FACE, FACE), np.uint8)

        def one(row: int) -> None:
            code = codes[row : row + 1]
            form = self.model_.shape.rebuild(code[:, :split] / self.weight_)
            points[row] = form.reshape(POINTS, 3)
            images[row], masks[row] = self._drawn(code[:, split:], points[row])

        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(one, range(len(codes))))
        return Drawn(images, points, masks)

    @property
    def n_components(self) -> int:
        """Length of a code."""
        return len(self.model_.shape.basis) + len(self.model_.texture.basis)

    def _drawn(self, parameters: F32, points: F32) -> tuple[U8, U8]:
        frame = canvas()
        texture = frame.packing.unpack(self.model_.texture.rebuild(parameters)[0])
        if self.detail:
            texture = frame.carried(evened(texture, self.model_.energy, frame.inside))
        image, cover = frame.write(texture, points, FACE)
        soft = np.clip(cv2.GaussianBlur(cover, (0, 0), 2.0) * 2 - 1, 0, 1)[..., None]
        image = np.clip(image, 0, 255) * soft + BACKDROP * (1 - soft)
        return np.round(image).astype(np.uint8), face_mask(points, FACE)

    def _fitted(self, faces: FaceSet) -> Model:
        """Fit both halves to at most `MOST_FITTED` of the faces, textures kept on disk."""
        chosen = np.unique(np.linspace(0, len(faces) - 1, MOST_FITTED).round().astype(np.int64))
        chosen = chosen[: len(faces)]
        base = generic()
        shapes = np.empty((len(chosen), POINTS * 3), np.float32)
        energy: F64 = np.zeros(base.energy.shape)
        with tempfile.TemporaryFile() as file:
            rows = np.memmap(file, np.float16, "w+", shape=(len(chosen), canvas().packing.length))
            for part, forms, textures in _measured(faces.take(chosen)):
                shapes[part] = forms.reshape(len(forms), -1)
                rows[part] = [canvas().packing.pack(held) for held in textures]
                energy += sum(strength(held, canvas().inside) for held in textures)
            return Model(
                reference=base.reference,
                shape=principal(shapes, self.components),
                texture=principal(rows, self.components),
                error=base.error,
                energy=np.asarray(energy / len(chosen), np.float32),
                provenance=f"fitted to {len(chosen)} faces of the set",
            )


def _measured(faces: FaceSet) -> Iterator[tuple[slice, F32, list[F32]]]:
    """Yield, block by block, the rows, their frontal shapes and their filled textures."""
    frame, fill, weights = canvas(), filler(), rigid_weights()

    def one(crop: U8, held: F32, form: F32) -> F32:
        return fill(frame.read(crop, held), frame.seen(held, form))

    with ThreadPoolExecutor(WORKERS) as pool:
        start = 0
        for block in faces.blocks(BLOCK):
            rows = slice(start, start + len(block))
            start = rows.stop
            points = crop_points(block) * np.float32(FACE / faces.size)
            crops = [at_face_size(crop) for crop in block.crops]
            forms = frontalise(points, frame.reference, weights)
            yield rows, forms, list(pool.map(one, crops, points, forms))
