"""Drawing the textured mesh: which pixel of the surrogate's image each pixel of the photo shows."""

from __future__ import annotations

import numpy as np

from everyface.arrays import F32, I32
from everyface.compiled import compiled


@compiled
def _fill(points: F32, uv: F32, triangles: I32, maps: F32, depth: F32) -> None:
    height, width = depth.shape
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, bx, by = points[a, 0], points[a, 1], points[b, 0], points[b, 1]
        cx, cy = points[c, 0], points[c, 1]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if abs(area) < 1e-9:
            continue
        y0 = max(int(np.ceil(min(ay, by, cy))), 0)
        y1 = min(int(np.floor(max(ay, by, cy))), height - 1)
        x0 = max(int(np.ceil(min(ax, bx, cx))), 0)
        x1 = min(int(np.floor(max(ax, bx, cx))), width - 1)
        inverse = 1.0 / area
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                wb = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) * inverse
                wc = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) * inverse
                wa = 1.0 - wb - wc
                if wa < -1e-5 or wb < -1e-5 or wc < -1e-5:
                    continue
                z = wa * points[a, 2] + wb * points[b, 2] + wc * points[c, 2]
                if z < depth[y, x]:
                    depth[y, x] = z
                    maps[y, x, 0] = wa * uv[a, 0] + wb * uv[b, 0] + wc * uv[c, 0]
                    maps[y, x, 1] = wa * uv[a, 1] + wb * uv[b, 1] + wc * uv[c, 1]


def lookup(points: F32, uv: F32, triangles: I32, shape: tuple[int, int]) -> F32:
    """Return for every pixel the (x, y) of the texture that is nearest to the camera there.

    Parameters
    ----------
    points
        (n, 3) mesh in pixels of the result; smaller z hides larger z.
    uv
        (n, 2) the same mesh in pixels of the texture.
    triangles
        (m, 3) indices.
    shape
        Height and width of the result.

    Returns
    -------
    F32
        (h, w, 2); −1 where there is no mesh.
    """
    maps = np.full((*shape, 2), -1, np.float32)
    depth = np.full(shape, np.inf, np.float32)
    _fill(
        np.ascontiguousarray(points, np.float32),
        np.ascontiguousarray(uv, np.float32),
        np.ascontiguousarray(triangles, np.int32),
        maps,
        depth,
    )
    return maps
