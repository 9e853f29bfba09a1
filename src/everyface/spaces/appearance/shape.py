"""The shape half of the appearance model: faces turned to the front and laid upon each other."""

from __future__ import annotations

import numpy as np

from everyface.arrays import F32, I64

ROUNDS = 3


def frontalise(points: F32, reference: F32, weights: F32) -> F32:
    """Turn, scale and shift each mesh onto `reference` in three dimensions.

    The thesis aligns two-dimensional shapes by Procrustes analysis, which leaves the turn of the
    head in the shape. The mesh is three-dimensional, so its pose can be taken out: this is the
    least-squares similarity of Umeyama (1991), for all faces at once.

    Parameters
    ----------
    points
        (n, p, 3).
    reference
        (p, 3), looking into the camera.
    weights
        (p,): how much each point says about where the head is (lips and jaw move).
    """
    w = (weights / weights.sum()).astype(np.float64)
    x = points.astype(np.float64)
    y = reference.astype(np.float64)
    x = x - np.einsum("p,npc->nc", w, x)[:, None]
    middle = w @ y
    y = y - middle
    u, s, vt = np.linalg.svd(np.einsum("p,pi,npj->nij", w, y, x))
    flip = np.sign(np.linalg.det(u) * np.linalg.det(vt))
    u[:, :, 2] *= flip[:, None]
    s[:, 2] *= flip
    scale = s.sum(axis=1) / np.einsum("p,npc,npc->n", w, x, x)
    turned = np.einsum("nij,npj->npi", u @ vt, x) * scale[:, None, None]
    return np.asarray(turned + middle, np.float32)


def mirror_index(canonical: F32) -> I64:
    """Return for each point the one on the other side of the face."""
    x = canonical - canonical.mean(axis=0)
    mirrored = x * np.array([-1.0, 1.0, 1.0], x.dtype)
    gap = ((mirrored[:, None] - x[None]) ** 2).sum(axis=2)
    return np.asarray(gap.argmin(axis=1), np.int64)


def mean_shape(points: F32, canonical: F32, weights: F32) -> F32:
    """Return the symmetric mean of many meshes, by generalised Procrustes analysis."""
    other = mirror_index(canonical)
    reference = canonical
    for _ in range(ROUNDS):
        mean = frontalise(points, reference, weights).mean(axis=0)
        mean -= mean.mean(axis=0)
        reference = (mean + mean[other] * np.array([-1.0, 1.0, 1.0], np.float32)) / 2
    return np.asarray(reference, np.float32)
