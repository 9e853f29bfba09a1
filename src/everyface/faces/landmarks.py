"""The 478 mesh points of found faces, how sure the network is, how the head is turned.

The network (MediaPipe's) wants a face upright in a square of 256 pixels. The detector's eyes give
the first square; the mesh found in it gives a better one, so every face is looked at twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from everyface.arrays import F32, F64, I32, U8, AnyArray
from everyface.faces.align import apply, crop, invert
from everyface.faces.detection import Detections
from everyface.faces.mesh import CANONICAL, POINTS, RIGID, indices
from everyface.models.runtime import network

_SIDE = 256
_ROOM = 1.5
_CHUNK = 32

_BLENDSHAPE_POINTS = indices(
    "0 1 4 5 6 7 8 10 13 14 17 21 33 37 39 40 46 52 53 54 55 58 61 63 65 66 67 70 78 80 81 82 84 "
    "87 88 91 93 95 103 105 107 109 127 132 133 136 144 145 146 148 149 150 152 153 154 155 157 "
    "158 159 160 161 162 163 168 172 173 176 178 181 185 191 195 197 234 246 249 251 263 267 269 "
    "270 276 282 283 284 285 288 291 293 295 296 297 300 308 310 311 312 314 317 318 321 323 324 "
    "332 334 336 338 356 361 362 365 373 374 375 377 378 379 380 381 382 384 385 386 387 388 389 "
    "390 397 398 400 402 405 409 415 454 466 468 469 470 471 472 473 474 475 476 477"
)

_NAMES = (
    "neutral browDownLeft browDownRight browInnerUp browOuterUpLeft browOuterUpRight cheekPuff "
    "cheekSquintLeft cheekSquintRight eyeBlinkLeft eyeBlinkRight eyeLookDownLeft eyeLookDownRight "
    "eyeLookInLeft eyeLookInRight eyeLookOutLeft eyeLookOutRight eyeLookUpLeft eyeLookUpRight "
    "eyeSquintLeft eyeSquintRight eyeWideLeft eyeWideRight jawForward jawLeft jawOpen jawRight "
    "mouthClose mouthDimpleLeft mouthDimpleRight mouthFrownLeft mouthFrownRight mouthFunnel "
    "mouthLeft mouthLowerDownLeft mouthLowerDownRight mouthPressLeft mouthPressRight mouthPucker "
    "mouthRight mouthRollLower mouthRollUpper mouthShrugLower mouthShrugUpper mouthSmileLeft "
    "mouthSmileRight mouthStretchLeft mouthStretchRight mouthUpperUpLeft mouthUpperUpRight "
    "noseSneerLeft noseSneerRight"
)
EXPRESSIONS = tuple(_NAMES.split())
"""What the columns of the label `expression` mean; left and right are the person's own."""


@dataclass(frozen=True)
class Meshes:
    """(n, 478, 3) points in photo pixels, and (n,) how sure the network is that a face is there."""

    points: F32
    presence: F32


def meshes(photos: Sequence[U8], photo: I32, found: Detections) -> Meshes:
    """Return the mesh of every candidate.

    Parameters
    ----------
    photos
        The pictures.
    photo
        Candidate → index into `photos`.
    found
        The candidates of all photos, one after the other.
    """
    if not len(found):
        return Meshes(np.zeros((0, POINTS, 3), np.float32), np.zeros(0, np.float32))
    centre = (found.box[:, :2] + found.box[:, 2:]) / 2
    side = _ROOM * (found.box[:, 2:] - found.box[:, :2]).max(axis=1)
    across = found.five[:, 1] - found.five[:, 0]
    first = _look(photos, photo, _squares(centre, side, across))
    low, high = first.points[..., :2].min(axis=1), first.points[..., :2].max(axis=1)
    across = first.points[:, 263, :2] - first.points[:, 33, :2]
    side = _ROOM * _extent(first.points, across)
    return _look(photos, photo, _squares((low + high) / 2, side, across))


def pose(points: AnyArray) -> F32:
    """Return yaw, pitch, roll in degrees of (n, 478, 3) meshes, (n, 3).

    The rigid points of `CANONICAL` are laid on each mesh by rotation and scale (Kabsch); the
    rotation is read as the head's own yaw and pitch inside a picture that was then rolled. Yaw is
    positive with the nose to the right of the picture, pitch with the nose up, roll clockwise.
    """
    seen = np.asarray(points, dtype=np.float64)[:, RIGID]
    model = CANONICAL[RIGID].astype(np.float64)
    seen = seen - seen.mean(axis=1, keepdims=True)
    model = model - model.mean(axis=0)
    u, _, v = np.linalg.svd(np.swapaxes(seen, 1, 2) @ model)
    flip = np.ones((len(seen), 3))
    flip[:, 2] = np.sign(np.linalg.det(u @ v))
    turn = (u * flip[:, None]) @ v
    yaw = np.arcsin(turn[:, 2, 0].clip(-1, 1))
    pitch = -np.arctan2(turn[:, 2, 1], turn[:, 2, 2])
    roll = np.arctan2(turn[:, 1, 0], turn[:, 0, 0])
    return np.asarray(np.degrees(np.stack([yaw, pitch, roll], axis=1)), dtype=np.float32)


def expressions(points: AnyArray) -> F32:
    """Return 52 expression coefficients, 0 to 1, of (n, 478, 3) upright meshes in crop pixels."""
    rows = np.asarray(points, dtype=np.float32)[:, _BLENDSHAPE_POINTS, :2]
    if not len(rows):
        return np.zeros((0, len(EXPRESSIONS)), np.float32)
    (found,) = network("blendshapes").run(rows).values()
    return np.asarray(found.reshape(len(rows), len(EXPRESSIONS)))


def _extent(points: F32, across: F32) -> F32:
    """Longer side of each mesh's box, measured along and across its own eyes."""
    axis = across / np.maximum(np.linalg.norm(across, axis=1), 1e-6)[:, None]
    along = np.einsum("nij,nj->ni", points[..., :2], axis)
    down = np.einsum("nij,nj->ni", points[..., :2], np.stack([-axis[:, 1], axis[:, 0]], axis=1))
    longer: F32 = np.maximum(np.ptp(along, axis=1), np.ptp(down, axis=1)).astype(np.float32)
    return longer


def _squares(centre: AnyArray, side: AnyArray, across: AnyArray) -> F64:
    """Photo → square matrices that bring `across` level."""
    angle = np.arctan2(across[:, 1], across[:, 0]).astype(np.float64)
    scale = _SIDE / np.maximum(side, 1).astype(np.float64)
    cos, sin = np.cos(angle) * scale, np.sin(angle) * scale
    turn = np.stack([np.stack([cos, sin], axis=1), np.stack([-sin, cos], axis=1)], axis=1)
    shift = (_SIDE - 1) / 2 - turn @ centre[..., None].astype(np.float64)
    return np.concatenate([turn, shift], axis=2)


def _look(photos: Sequence[U8], photo: I32, squares: F64) -> Meshes:
    """Run the network over one square a candidate and bring its points back to the photo."""
    points = np.empty((len(photo), POINTS, 3), np.float32)
    presence = np.empty(len(photo), np.float32)
    net = network("face_mesh")
    for first in range(0, len(photo), _CHUNK):
        rows = range(first, min(first + _CHUNK, len(photo)))
        seen = [crop(photos[photo[i]], squares[i], _SIDE, cv2.BORDER_REPLICATE) for i in rows]
        found, sure, _ = net.run(np.stack(seen).astype(np.float32) / 255).values()
        points[first : rows.stop] = found.reshape(-1, POINTS, 3)
        presence[first : rows.stop] = 1 / (1 + np.exp(-sure.reshape(-1)))
    return Meshes(apply(invert(squares), points), presence)
