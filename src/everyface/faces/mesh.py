"""The 478 mesh points: which is which, how they are joined, and where they lie on a mean face.

The first 468 points and the triangles between them are MediaPipe's canonical face model
(Apache-2.0), read from the `geometry_pipeline_metadata_landmarks.binarypb` inside the
`face_landmarker.task` that the landmark network comes in; a test reads it again and compares. The
model is one disk with closed lids and lips. The iris points are joined into it here: in each
eye the 14 triangles give way to a Delaunay triangulation with the iris' centre and its two
horizontal ends, so that a mean of faces keeps one iris an eye. The vertical ends (470, 472, 475,
477) lie behind the lids on nearly everybody and belong to no triangle.

Left and right are those of the *picture*: `LEFT_EYE` is the eye on the left of the photo of
somebody who looks into the camera.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from everyface.arrays import F32, I32
from everyface.faces.faceset import POINTS

__all__ = [
    "CANONICAL",
    "CHEEKS",
    "FIVE",
    "INNER_EYES",
    "IRISES",
    "LEFT_BROW",
    "LEFT_EYE",
    "LEFT_IRIS",
    "LIPS_INNER",
    "LIPS_OUTER",
    "MIRROR",
    "MOUTH_CORNERS",
    "NOSE_TIP",
    "OVAL",
    "POINTS",
    "RIGHT_BROW",
    "RIGHT_EYE",
    "RIGHT_IRIS",
    "RIGID",
    "TRIANGLES",
    "indices",
]


def indices(text: str) -> I32:
    """Return the point numbers that a text lists, as an array that cannot be changed."""
    values = np.array(text.split(), dtype=np.int32)
    values.setflags(write=False)
    return values


OVAL: I32 = indices(
    "10 338 297 332 284 251 389 356 454 323 361 288 397 365 379 378 400 377 "
    "152 148 176 149 150 136 172 58 132 93 234 127 162 21 54 103 67 109"
)
"""The face's contour, closed, clockwise in the picture from the middle of the forehead."""

LEFT_EYE: I32 = indices("33 246 161 160 159 158 157 173 133 155 154 153 145 144 163 7")
RIGHT_EYE: I32 = indices("362 398 384 385 386 387 388 466 263 249 390 373 374 380 381 382")
"""Eye contours, closed, clockwise in the picture from each eye's left corner."""

LEFT_BROW: I32 = indices("70 63 105 66 107 55 65 52 53 46")
RIGHT_BROW: I32 = indices("336 296 334 293 300 276 283 282 295 285")
"""Brow contours, closed, clockwise in the picture."""

LIPS_OUTER: I32 = indices("61 185 40 39 37 0 267 269 270 409 291 375 321 405 314 17 84 181 91 146")
LIPS_INNER: I32 = indices("78 191 80 81 82 13 312 311 310 415 308 324 318 402 317 14 87 178 88 95")
"""Lip contours, closed, clockwise in the picture from the left corner."""

LEFT_IRIS: I32 = indices("468 469 470 471 472")
RIGHT_IRIS: I32 = indices("473 474 475 476 477")
"""Centre, right, top, left and bottom of each iris."""

IRISES: I32 = indices("468 473")
INNER_EYES: I32 = indices("133 362")
MOUTH_CORNERS: I32 = indices("61 291")
NOSE_TIP = 4

FIVE: I32 = indices("468 473 4 61 291")
"""Left iris, right iris, nose tip, left and right mouth corner: what recognisers align by."""

RIGID: I32 = indices(
    "6 168 197 195 5 4 1 19 94 2 98 327 33 133 362 263 127 356 234 454 "
    "10 151 9 8 103 332 54 284 21 251 162 389 109 338"
)
"""Forehead, nose, eye corners and temples: what neither speech nor a smile moves much."""

CHEEKS: I32 = indices("50 101 118 205 280 330 347 425")
"""Points in the middle of both cheeks, for the colour of the skin."""


def _shipped() -> tuple[I32, F32, I32]:
    with (files("everyface.faces") / "mesh.npz").open("rb") as file, np.load(file) as held:
        arrays = (
            held["triangles"].astype(np.int32),
            held["canonical"],
            held["mirror"].astype(np.int32),
        )
    for array in arrays:
        array.setflags(write=False)
    return arrays


TRIANGLES, CANONICAL, MIRROR = _shipped()
"""`TRIANGLES`: (910, 3), one disk without holes or overlaps, clockwise in the picture.

`CANONICAL`: (478, 3), a mean frontal face in centimetres in the picture's axes: x to the
right, y down, z away from the camera. It is the mean of what the landmark network finds on 60
synthetic people and their mirror images, laid on MediaPipe's metric model by rotation and scale;
on it every triangle has a positive area, which on MediaPipe's own lips is not so.

`MIRROR`: (478,), the point that each point becomes in a mirrored picture.
"""
