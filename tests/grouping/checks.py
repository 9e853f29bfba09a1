"""What every grouping must hold, whatever its method: run over all that are registered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from everyface.grouping import GROUPINGS, Grouping

NAMES = sorted(GROUPINGS)
UP_TO_2K = [name for name in NAMES if name != "opposed"]


@dataclass(frozen=True)
class Case:
    """Codes that a method may be given, as unkind as photos can make them."""

    X: np.ndarray
    subjects: np.ndarray
    k: int
    seed: int

    def fit(self, name: str) -> Grouping:
        return GROUPINGS[name](k=self.k, random_state=self.seed).fit(self.X, subjects=self.subjects)


@st.composite
def cases(draw: st.DrawFn, pairs: int = 1) -> Case:
    """Draw codes with duplicates, ties, constant columns and several photos a person."""
    k = draw(st.integers(2, 6))
    n = draw(st.integers(pairs * k, pairs * k + 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.integers(1, 6))
    kind = draw(st.sampled_from(["normal", "integers", "one point", "line", "huge", "tiny"]))
    X = {
        "normal": rng.standard_normal((n, d)),
        "integers": rng.integers(0, 3, (n, d)).astype(float),
        "one point": np.ones((n, d)),
        "line": np.arange(n, dtype=float)[:, None] * np.ones(d),
        "huge": rng.standard_normal((n, d)) * 1e30,
        "tiny": 1.0 + rng.standard_normal((n, d)) * 1e-12,
    }[kind]
    if draw(st.booleans()):
        X[:, draw(st.integers(0, d - 1))] = 7.0
    people = np.arange(n)
    if draw(st.booleans()):
        more = rng.integers(0, n, draw(st.integers(1, 2 * n)))
        people = np.concatenate([people, more])
        X = np.concatenate([X, X[more] + rng.standard_normal((len(more), d)) * 0.1])
        order = rng.permutation(len(people))
        people, X = people[order], X[order]
    return Case(X, people, k, draw(st.integers(0, 1000)))


def people_per_group(labels: np.ndarray, subjects: np.ndarray) -> np.ndarray:
    """Distinct people in each label."""
    return np.array([len(np.unique(subjects[labels == g])) for g in np.unique(labels)])
