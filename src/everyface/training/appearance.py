"""Train the generic appearance model on people who do not exist.

    python -m everyface.training.appearance --out generic.npz --work portraits

The generator draws the faces, so the model holds nobody. Which of them wear glasses or a fringe
nobody says; the model of bare faces is found by turns instead: fit a few components, take what
they cannot explain for hidden, fill it, and fit again with more.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import cv2
import numpy as np

from everyface import faces as faces_room
from everyface.arrays import F32, AnyArray
from everyface.faces.align import FACE, apply, crop_points, face_transform
from everyface.faces.faceset import FaceSet
from everyface.faces.mesh import CANONICAL
from everyface.files import write_bytes
from everyface.progress import Tick, silent
from everyface.spaces.appearance.detail import strength
from everyface.spaces.appearance.fill import COARSE, Fill
from everyface.spaces.appearance.frame import TextureFrame
from everyface.spaces.appearance.generic import Model
from everyface.spaces.appearance.shape import frontalise, mean_shape
from everyface.spaces.appearance.space import rigid_weights
from everyface.spaces.components import Components, principal
from everyface.spaces.latent.generator import Generator
from everyface.training.portraits import painted

ROUNDS = (12, 30, 50)
"""Components of the model of bare faces, round by round."""

KEPT = 0.85
"""Of the faces, the share that the model is fitted to; those with most hidden are left out."""

TURNED = 0.9
"""Faces of which less than this share is seen are too turned to learn from."""

TEXTURES, SHAPES = 160, 120
"""Components that are shipped; their bases are most of the file."""

WORKERS = 2


@dataclass(frozen=True)
class Seen:
    """What is learnt from: textures and shapes of faces that look into the camera."""

    frame: TextureFrame
    textures: list[AnyArray]
    seen: list[AnyArray]
    shapes: F32


def train(faces: FaceSet, provenance: str, tick: Tick = silent) -> Model:
    """Fit the generic model to `faces`."""
    data = _read(faces)
    filled, error = _bare(data, tick)
    energy = np.mean([strength(_float(t), data.frame.inside) for t in filled], axis=0)
    vectors = np.stack([data.frame.packing.pack(_float(t)) for t in filled])
    return Model(
        reference=data.frame.reference,
        shape=principal(data.shapes.reshape(len(data.shapes), -1), SHAPES),
        texture=principal(vectors, TEXTURES),
        error=error,
        energy=np.asarray(energy, np.float32),
        provenance=f"{provenance}; {len(filled)} faces seen from the front were used",
    )


def _read(faces: FaceSet) -> Seen:
    weights = rigid_weights()
    points = crop_points(faces)
    mean = mean_shape(points, np.asarray(CANONICAL, np.float32), weights)
    frame = TextureFrame(apply(face_transform(mean), mean))
    shapes = frontalise(points, frame.reference, weights)
    textures, seen, kept = [], [], []
    for row in range(len(faces)):
        shown = frame.seen(points[row], shapes[row])
        if shown[frame.inside].mean() >= TURNED:
            kept.append(row)
            seen.append(shown.astype(np.float16))
            textures.append(_bytes(frame.read(faces.crops[row], points[row])))
    return Seen(frame, textures, seen, shapes[kept])


def _bare(data: Seen, tick: Tick) -> tuple[list[AnyArray], F32]:
    """Find the model of bare faces by turns; return the best textures, filled, and its error."""
    packing = data.frame.packing
    filled = data.textures
    chosen = np.arange(len(filled))
    for turn, most in enumerate(ROUNDS):
        vectors = np.stack([packing.pack(_float(filled[row])) for row in chosen])
        model = principal(vectors.astype(np.float16), most)
        error = _usual_error(data, model, chosen)
        fill = Fill(data.frame, model, error)
        tick("bare faces", turn, len(ROUNDS))
        work: Callable[[int], tuple[AnyArray, float]] = partial(_filled, data, fill)
        with ThreadPoolExecutor(WORKERS) as pool:
            done = list(pool.map(work, range(len(data.textures))))
        filled = [texture for texture, _ in done]
        hidden = np.array([share for _, share in done])
        chosen = np.sort(np.argsort(hidden, kind="stable")[: int(KEPT * len(hidden))])
    tick("bare faces", len(ROUNDS), len(ROUNDS))
    return [filled[row] for row in chosen], error


def _filled(data: Seen, fill: Fill, row: int) -> tuple[AnyArray, float]:
    texture, seen = _float(data.textures[row]), _float(data.seen[row])
    trust, _ = fill.trust(texture, seen)
    return _bytes(fill(texture, seen)), float(1 - trust[data.frame.inside].mean())


def _usual_error(data: Seen, model: Components, chosen: AnyArray) -> F32:
    """Median over faces, pixel by pixel, of what the model leaves of the *unfilled* textures.

    Taken twice a median away from zero, it is near the standard deviation of faces that the
    model did not learn from, and no glasses or fringes enter a median.
    """
    packing, errors = data.frame.packing, []
    height, width = data.frame.shape
    for row in chosen:
        texture = _float(data.textures[row])
        held = model.rebuild(model.project(packing.pack(texture)[None]))[0]
        away = cv2.resize(
            texture - packing.unpack(held),
            (width // COARSE, height // COARSE),
            interpolation=cv2.INTER_AREA,
        )
        errors.append(np.sqrt((away**2).mean(axis=2)).astype(np.float16))
    middle = 1.6 * np.median(np.stack(errors), axis=0).astype(np.float32)
    return np.asarray(cv2.GaussianBlur(middle, (0, 0), 2.0), np.float32)


def _bytes(texture: F32) -> AnyArray:
    return np.round(np.clip(texture, 0, 255)).astype(np.uint8)


def _float(texture: AnyArray) -> F32:
    return np.asarray(texture, np.float32)


def _print(stage: str, done: int, total: int) -> None:
    print(f"{stage}: {done} of {total}", flush=True)  # noqa: T201


def main(arguments: list[str] | None = None) -> None:
    """Draw people, read them, train, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the .npz file to write")
    parser.add_argument("--work", type=Path, required=True, help="folder that keeps the portraits")
    parser.add_argument("--faces", type=int, default=900)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--psi", type=float, default=0.8)
    given = parser.parse_args(arguments)
    generator = Generator(_print)
    styles = generator.w(generator.draw(given.faces, given.seed), given.psi)
    paths = painted(generator, styles, given.work / "portraits", FACE, _print)
    model = train(
        faces_room.read(paths, tick=_print, store=given.work / "faces"),
        f"{given.faces} synthetic portraits drawn by MobileStyleGAN (stylegan_mapping, "
        f"stylegan_synthesis in models/registry.toml), seed {given.seed}, "
        f"truncation {given.psi}; no photograph of a real person",
        _print,
    )
    data = BytesIO()
    model.save(data)
    write_bytes(given.out, data.getvalue())


if __name__ == "__main__":
    main()
