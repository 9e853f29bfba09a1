"""Piecewise-affine maps between two positions of the same mesh (thesis 3.1.2)."""

from __future__ import annotations

import numpy as np

from everyface.arrays import F32, I32
from everyface.compiled import compiled


@compiled
def _rasterise(points: F32, triangles: I32, ids: I32, bary: F32) -> None:
    height, width = ids.shape
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay = points[a, 0], points[a, 1]
        bx, by = points[b, 0] - ax, points[b, 1] - ay
        cx, cy = points[c, 0] - ax, points[c, 1] - ay
        area = bx * cy - by * cx
        if abs(area) < 1e-9:
            continue
        left = max(0, int(np.ceil(ax + min(0.0, bx, cx) - 1e-3)))
        right = min(width - 1, int(np.floor(ax + max(0.0, bx, cx) + 1e-3)))
        top = max(0, int(np.ceil(ay + min(0.0, by, cy) - 1e-3)))
        bottom = min(height - 1, int(np.floor(ay + max(0.0, by, cy) + 1e-3)))
        for y in range(top, bottom + 1):
            for x in range(left, right + 1):
                v = ((x - ax) * cy - (y - ay) * cx) / area
                w = ((y - ay) * bx - (x - ax) * by) / area
                if v >= -1e-4 and w >= -1e-4 and v + w <= 1.0001:
                    ids[y, x] = t
                    bary[y, x, 0] = 1.0 - v - w
                    bary[y, x, 1] = v
                    bary[y, x, 2] = w


@compiled
def _blend(values: F32, triangles: I32, ids: I32, bary: F32, out: F32) -> None:
    for y in range(ids.shape[0]):
        for x in range(ids.shape[1]):
            t = ids[y, x]
            if t >= 0:
                for c in range(values.shape[1]):
                    out[y, x, c] = (
                        bary[y, x, 0] * values[triangles[t, 0], c]
                        + bary[y, x, 1] * values[triangles[t, 1], c]
                        + bary[y, x, 2] * values[triangles[t, 2], c]
                    )


def rasterise(points: F32, triangles: I32, height: int, width: int) -> tuple[I32, F32]:
    """Return, for every pixel, the triangle that covers it (−1: none) and its weights there.

    Parameters
    ----------
    points
        (p, 2) or more columns; x and y in pixels, pixel centres at whole numbers.
    triangles
        (m, 3) indices into `points`; where two overlap the later one wins.
    """
    ids = np.full((height, width), -1, np.int32)
    bary = np.zeros((height, width, 3), np.float32)
    _rasterise(np.ascontiguousarray(points[:, :2], np.float32), triangles, ids, bary)
    return ids, bary


def spread(values: F32, triangles: I32, ids: I32, bary: F32, outside: float = 0.0) -> F32:
    """Interpolate a value a vertex, (p, c), linearly over the triangles: (h, w, c)."""
    out = np.full((*ids.shape, values.shape[1]), outside, np.float32)
    _blend(np.ascontiguousarray(values, np.float32), triangles, ids, bary, out)
    return out
