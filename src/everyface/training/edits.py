"""Find the edits of `everyface.spaces.latent.edits`: ``python -m everyface.training.edits``.

Portraits of random styles are painted, read like any photo, and measured: smile, yaw, pitch, where
the light comes from and how much there is. Ridge regression reads each measure off the style; the
steps are the smallest moves that change one reading and none of the others. The steps are then
tried on other people and scaled so that one step is one standard deviation as measured.

Painting takes a second a portrait on two cores. The portraits are kept in the work folder,
so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import cv2
import numpy as np
from sklearn.linear_model import RidgeCV

from everyface import faces as faces_room
from everyface.arrays import F32, F64, I32
from everyface.faces.align import crop_points
from everyface.faces.faceset import FaceSet
from everyface.faces.mesh import CHEEKS, LIPS_INNER, MOUTH_CORNERS
from everyface.files import write_bytes
from everyface.progress import Tick, silent
from everyface.spaces.latent.edits import LAYERS_OF, Edits
from everyface.spaces.latent.generator import Generator
from everyface.training.portraits import painted

SPREAD = 0.8
"""Truncation of the portraits that are measured: wider than the people that are later made."""
_SEED, _TRIAL_SEED, _TRIALS = 7, 99, 16
_SIDE = 256
_EYES = (33, 263)
_NOSE = (168, 2)
_LIP_MIDDLES = (LIPS_INNER[5], LIPS_INNER[15])


def measure(faces: FaceSet) -> F64:
    """Measure every face, (n, 5) in the order of `LAYERS_OF`.

    Smile is how wide the mouth is and how far its corners stand above its middle, in parts of the
    distance of the outer eye corners: lengths in three dimensions, so that a turn of the head does
    not count. Light is L* of the cheeks' skin, side the right cheek's less the left's.
    """
    points = faces.points.astype(np.float64)
    eyes = np.linalg.norm(points[:, _EYES[1]] - points[:, _EYES[0]], axis=1)
    down = points[:, _NOSE[1]] - points[:, _NOSE[0]]
    down /= np.linalg.norm(down, axis=1, keepdims=True)
    corners = points[:, MOUTH_CORNERS]
    width = np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)
    middle = points[:, _LIP_MIDDLES].mean(axis=1)
    lift = ((middle - corners.mean(axis=1)) * down).sum(axis=1)
    cheeks = _lightness(faces)
    left, right = (
        cheeks[:, : len(CHEEKS) // 2].mean(axis=1),
        cheeks[:, len(CHEEKS) // 2 :].mean(axis=1),
    )
    return np.stack(
        [
            (width + lift) / eyes,
            faces.pose[:, 0],
            faces.pose[:, 1],
            right - left,
            (left + right) / 2,
        ],
        axis=1,
    )


def _lightness(faces: FaceSet) -> F64:
    """Return L* around the points of both cheeks, (n, 8)."""
    where = np.clip(np.rint(crop_points(faces)[:, CHEEKS, :2]).astype(int), 0, faces.size - 1)
    values = np.empty(where.shape[:2])
    window = max(3, faces.size // 24)
    for row, image in enumerate(faces.crops):
        smooth = cv2.blur(np.ascontiguousarray(image), (window, window)).astype(np.float32) / 255
        lightness = cv2.cvtColor(smooth, cv2.COLOR_RGB2LAB)[..., 0]
        values[row] = lightness[where[row, :, 1], where[row, :, 0]]
    return values


def regress(offsets: F32, values: F64) -> tuple[F64, F64]:
    """Return readings (m, 512), in standard deviations, and the steps that change one reading each.

    The steps are the rows of the readings' pseudo-inverse: the shortest moves for which one
    reading rises by one and the others stay.
    """
    scaled = (values - values.mean(axis=0)) / values.std(axis=0)
    readings = np.stack(
        [RidgeCV(alphas=np.logspace(-1, 5, 25)).fit(offsets, column).coef_ for column in scaled.T]
    )
    return readings, np.linalg.pinv(readings).T


def find(work: Path, portraits: int, tick: Tick = silent) -> Edits:
    """Paint, measure, regress and calibrate."""
    generator = Generator(tick)
    styles = generator.w(generator.draw(portraits, _SEED), SPREAD)
    values, seen = _measured(generator, styles, work / "portraits", tick)
    readings, directions = regress((styles - generator.mean)[seen], values)
    edits = Edits(
        names=tuple(LAYERS_OF),
        directions=directions.astype(np.float32),
        readings=readings.astype(np.float32),
        layers=np.array(list(LAYERS_OF.values()), dtype=np.int32),
        deviation=values.std(axis=0).astype(np.float32),
    )
    return _calibrated(edits, generator, work, tick)


def _calibrated(edits: Edits, generator: Generator, work: Path, tick: Tick) -> Edits:
    """Scale each step to one standard deviation, as measured on people it was not found on."""
    people = generator.w(generator.draw(_TRIALS, _TRIAL_SEED), SPREAD)
    still = np.full((len(edits.names), _TRIALS), np.nan)
    changed = np.full_like(still, np.nan)
    values, seen = _measured(generator, people, work / "before", tick)
    still[:, seen] = values.T
    for row, name in enumerate(edits.names):
        moved = edits.apply(people, {name: np.ones(_TRIALS)})
        values, seen = _measured(generator, moved, work / f"after-{name}", tick)
        changed[row, seen] = values[:, row]
    gains = np.nanmean(changed - still, axis=1) / edits.deviation
    return Edits(
        edits.names,
        (edits.directions / gains[:, None]).astype(np.float32),
        edits.readings,
        edits.layers,
        edits.deviation,
    )


def _measured(generator: Generator, styles: F32, folder: Path, tick: Tick) -> tuple[F64, I32]:
    """Return the measures of the portraits in which one face was found, and which those are."""
    paths = painted(generator, styles, folder, _SIDE, tick)
    faces = faces_room.read(paths, tick=tick)
    alone = np.bincount(faces.photo, minlength=len(paths))[faces.photo] == 1
    faces = faces.take(alone)
    return measure(faces), faces.photo


def save(edits: Edits, out: Path) -> None:
    """Write the edits as arrays without pickles."""
    data = io.BytesIO()
    np.savez_compressed(
        data,
        names=np.array(edits.names),
        directions=edits.directions,
        readings=edits.readings,
        layers=edits.layers,
        deviation=edits.deviation,
    )
    write_bytes(out, data.getvalue())


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m everyface.training.edits", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the .npz file to write")
    parser.add_argument("--work", type=Path, required=True, help="folder that keeps the portraits")
    parser.add_argument("--portraits", type=int, default=384, help="how many are measured")
    given = parser.parse_args()
    save(find(given.work, given.portraits), given.out)


if __name__ == "__main__":
    main()
