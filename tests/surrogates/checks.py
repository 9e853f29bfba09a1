"""Codes and partitions that surrogate rules are tried on, and the list of the rules."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from everyface.grouping import Mdav, Nearest, Opposed, Partition
from everyface.surrogates import RULES

NAMES = sorted(RULES)
PAIRED = ("shift", "swap")


def people(n: int = 61, d: int = 6, seed: int = 0) -> np.ndarray:
    """Codes of n people, one row each."""
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


def partition_for(name: str, codes: np.ndarray, k: int = 4, seed: int = 0) -> Partition:
    """Groups of the kind that the rule needs."""
    grouping = Opposed(k, seed) if name in PAIRED else Nearest(k, seed)
    return grouping.fit(codes).partition_


def grouped(codes: np.ndarray, k: int = 4) -> Partition:
    """Groups in no pairs."""
    return Mdav(k).fit(codes).partition_


def nearest_original(codes: np.ndarray, face: np.ndarray) -> int:
    """The original that is nearest to a face."""
    return int(np.argmin(((codes.astype(np.float64) - face) ** 2).sum(axis=1)))


def own_is_nearest(codes: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Person → whether nobody else's original is strictly nearer to the face given to them."""
    apart = ((codes.astype(np.float64)[:, None] - given.astype(np.float64)[None]) ** 2).sum(axis=2)
    own = apart.diagonal().copy()
    np.fill_diagonal(apart, np.inf)
    return apart.min(axis=0) >= own


@st.composite
def unkind(draw: st.DrawFn, n: int) -> np.ndarray:
    """Codes of n people with ties, duplicates, constant columns and outliers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.integers(1, 8))
    kinds = ["normal", "heavy", "heaps", "lattice", "twins", "one point"]
    made = {
        "normal": rng.standard_normal((n, d)),
        "heavy": rng.standard_cauchy((n, d)),
        "heaps": rng.integers(0, 3, (n, d)) * 10 + rng.standard_normal((n, d)),
        "lattice": rng.integers(0, 3, (n, d)),
        "twins": np.repeat(rng.standard_normal((n, d)), 2, axis=0)[:n],
        "one point": np.ones((n, d)),
    }[draw(st.sampled_from(kinds))].astype(np.float32)
    if draw(st.booleans()):
        made[:, draw(st.integers(0, d - 1))] = 7.0
    return made
