"""What the groupings are compared by."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

_ROWS = 1 << 15


def _centroids(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    sums = np.zeros((labels.max() + 1, X.shape[1]))
    for start in range(0, len(X), _ROWS):
        np.add.at(sums, labels[start : start + _ROWS], X[start : start + _ROWS])
    return sums / np.bincount(labels)[:, None]


def _squared(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    centroids = _centroids(X, labels)
    parts = [
        np.square(X[at : at + _ROWS] - centroids[labels[at : at + _ROWS]]).sum(axis=1)
        for at in range(0, len(X), _ROWS)
    ]
    return np.concatenate(parts)


def information_loss(X: np.ndarray, labels: np.ndarray) -> float:
    """Mean distance to the centroid (AnonFACES, Definition 3.2)."""
    return float(np.sqrt(_squared(X, labels)).mean())


def squared_error(X: np.ndarray, labels: np.ndarray) -> float:
    """Sum of squared distances to the centroid."""
    return float(_squared(X, labels).sum())


def pairwise(X: np.ndarray, labels: np.ndarray) -> tuple[float, float, float]:
    """Minimum, mean and maximum distance within a group, each averaged over the groups."""
    inside = [pdist(X[labels == g]) for g in range(labels.max() + 1)]
    return (
        float(np.mean([d.min() for d in inside])),
        float(np.mean([d.mean() for d in inside])),
        float(np.mean([d.max() for d in inside])),
    )
