"""Bending the background to the new outline by moving least squares (thesis, section 6.2)."""

from __future__ import annotations

import cv2
import numpy as np

from everyface.arrays import F32, F64, as_f32
from everyface.compiled import compiled

LEAST_AREA = 0.15
"""The smallest local area, relative to the undeformed, that a deformation may shrink to."""


@compiled
def _move(points: F64, start: F64, end: F64, alpha: float) -> F64:
    out = np.empty_like(points)
    n = start.shape[0]
    weight = np.empty(n)
    for k in range(points.shape[0]):
        x, y = points[k, 0], points[k, 1]
        total = 0.0
        px = py = qx = qy = 0.0
        hit = -1
        for i in range(n):
            square = (start[i, 0] - x) ** 2 + (start[i, 1] - y) ** 2
            if square < 1e-12:
                hit = i
                break
            w = 1.0 / square**alpha
            weight[i] = w
            total += w
            px += w * start[i, 0]
            py += w * start[i, 1]
            qx += w * end[i, 0]
            qy += w * end[i, 1]
        if hit >= 0:
            out[k, 0], out[k, 1] = end[hit, 0], end[hit, 1]
            continue
        px, py, qx, qy = px / total, py / total, qx / total, qy / total
        real = imaginary = scale = 0.0
        for i in range(n):
            ax, ay = start[i, 0] - px, start[i, 1] - py
            bx, by = end[i, 0] - qx, end[i, 1] - qy
            real += weight[i] * (ax * bx + ay * by)
            imaginary += weight[i] * (ax * by - ay * bx)
            scale += weight[i] * (ax * ax + ay * ay)
        if scale > 1e-12 * total:  # the handles do not all fall together
            real, imaginary = real / scale, imaginary / scale
        else:
            real = 1.0
        dx, dy = x - px, y - py
        out[k, 0] = qx + real * dx - imaginary * dy
        out[k, 1] = qy + imaginary * dx + real * dy
    return out


def move(points: F64, start: F64, end: F64, alpha: float = 1.5) -> F64:
    """Move `points` (n, 2) as the handles `start` → `end` (m, 2) do.

    Each point v gets its own best transformation l_v, the minimiser of
    sum_i w_i |l_v(p_i) - q_i|^2 with w_i = 1 / |p_i - v|^(2 alpha) (Eq. 6.4 and 6.5). The thesis
    lets l_v be affine; here it is a similarity, in closed form (Schaefer et al. 2006), which
    cannot shear hair and collars.
    """
    return np.asarray(
        _move(
            np.ascontiguousarray(points, np.float64),
            np.ascontiguousarray(start, np.float64),
            np.ascontiguousarray(end, np.float64),
            alpha,
        )
    )


def least_area(grid: F64) -> float:
    """Return the smallest signed cell area of a mapped grid (h, w, 2), 1 for an undeformed one.

    The grid must have been spaced by one unit; at or below 0 the map folds.
    """
    right, down = np.diff(grid, axis=1)[:-1], np.diff(grid, axis=0)[:, :-1]
    cross = right[..., 0] * down[..., 1] - right[..., 1] * down[..., 0]
    return float(cross.min())


def lattice(height: int, width: int, cells: int = 72) -> F64:
    """Return grid nodes (rows, cols, 2) over a picture, about `cells` steps on the longer side."""
    rows = max(2, round(cells * height / max(height, width))) + 1
    cols = max(2, round(cells * width / max(height, width))) + 1
    xs, ys = np.linspace(0, width - 1, cols), np.linspace(0, height - 1, rows)
    return np.stack(np.meshgrid(xs, ys), -1)


def backward(start: F64, end: F64, nodes: F64, window: F64, most: F64) -> F32:
    """Return at the nodes the displacement at which the deformed picture looks up its source.

    Parameters
    ----------
    start
        Handles in the picture, (n, 2).
    end
        Where they go.
    nodes
        From `lattice`.
    window
        (rows, cols) from 0 to 1: 0 holds a node still.
    most
        (rows, cols, 2, 2) the lowest and highest x and y of the displacement, so that nothing is
        looked up beyond the photo's edge.

    Returns
    -------
    F32
        (rows, cols, 2). It never folds: where handles would cross, the motion is reduced until
        it does not.
    """
    moved = move(nodes.reshape(-1, 2), end, start).reshape(nodes.shape)
    shift = np.clip((moved - nodes) * window[..., None], most[..., 0], most[..., 1])
    step = np.maximum(nodes[1, 1] - nodes[0, 0], 1e-9)
    while least_area((nodes + shift) / step) < LEAST_AREA:
        shift *= 0.85
    return shift.astype(np.float32)


def dense(shift: F32, height: int, width: int) -> F32:
    """Return the displacement of every pixel from that of the nodes, bilinear."""
    rows, cols = shift.shape[:2]
    scale = np.array(
        [[(cols - 1) / max(width - 1, 1), 0, 0], [0, (rows - 1) / max(height - 1, 1), 0]],
        np.float32,
    )
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return as_f32(
        cv2.warpAffine(shift, scale, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    )
