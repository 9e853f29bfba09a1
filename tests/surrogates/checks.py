"""Codes and partitions that surrogate rules are tried on, and the list of the rules."""

from __future__ import annotations

import numpy as np

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
