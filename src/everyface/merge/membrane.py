"""Poisson cloning as a membrane: a smooth correction takes the seam away (thesis, Eq. 6.3)."""

from __future__ import annotations

import numpy as np

from everyface.arrays import F32, U8
from everyface.compiled import compiled

FREE, KNOWN, OUTSIDE = 1, 2, 0
"""What a cell is to `solve`."""


@compiled
def _relax(  # noqa: C901
    field: F32, kind: U8, decay: float, omega: float, rounds: int, tolerance: float
) -> int:
    height, width, channels = field.shape
    for turn in range(rounds):
        most = 0.0
        for parity in range(2):
            for y in range(height):
                for x in range((y + parity) % 2, width, 2):
                    if kind[y, x] != 1:
                        continue
                    count = decay
                    for c in range(channels):
                        total = 0.0
                        count = decay
                        if y > 0 and kind[y - 1, x] != 0:
                            total += field[y - 1, x, c]
                            count += 1.0
                        if y < height - 1 and kind[y + 1, x] != 0:
                            total += field[y + 1, x, c]
                            count += 1.0
                        if x > 0 and kind[y, x - 1] != 0:
                            total += field[y, x - 1, c]
                            count += 1.0
                        if x < width - 1 and kind[y, x + 1] != 0:
                            total += field[y, x + 1, c]
                            count += 1.0
                        if count > 0.0:
                            change = omega * (total / count - field[y, x, c])
                            field[y, x, c] += change
                            most = max(most, abs(change))
        if most < tolerance:
            return turn + 1
    return rounds


def solve(field: F32, kind: U8, decay: float = 0.0, rounds: int = 600) -> F32:
    """Spread known values smoothly over the free cells.

    Cloning with the surrogate's own gradients (Eq. 6.3) is the surrogate plus a correction c whose
    Laplacian is zero and which equals target - source on the boundary. Here c is also free to
    take any value along boundary that is hair, beard or background (a Neumann edge), so that
    dark hair never bleeds into the face, nor a white wall; and it decays towards zero away from
    its boundary (Laplacian c = `decay` c), which limits what of the original comes back.

    Parameters
    ----------
    field
        (h, w, channels), read where `kind` is `KNOWN`.
    kind
        (h, w): `FREE`, `KNOWN` or `OUTSIDE`. Edges to `OUTSIDE` cells are Neumann.
    decay
        0 is the membrane of Eq. 6.3.
    rounds
        At most so many sweeps of red-black successive over-relaxation.
    """
    out = np.where((kind == KNOWN)[..., None], field, 0).astype(np.float32)
    omega = 2.0 / (1.0 + np.sin(np.pi / max(8, min(kind.shape))))
    _relax(out, np.ascontiguousarray(kind, np.uint8), decay, float(omega), rounds, 2e-5)
    return out
