"""k-Diff-furthest: everybody keeps a face of their own, moved to the other side (thesis 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from everyface.arrays import F32, F64, I32, AnyArray
from everyface.errors import InputError
from everyface.grouping.base import Partition
from everyface.grouping.wrongmap import own_nearest
from everyface.guarantee import Guarantee, Level
from everyface.surrogates.base import Surrogates, partners, require_people
from everyface.surrogates.cut import Cut, cut


@dataclass(frozen=True)
class Shift:
    """Each member of a cluster is moved by the vector between two centroids (Eq. 5.1).

    Distances inside a cluster stay what they were (Eq. 5.2), and somebody of the other cluster is
    nearer to the new face than its own original (Theorem 4), as long as the two spheres do not
    overlap. Groups of k overlap easily; so each pair of groups is first cut into pairs of
    clusters that do not, as Alg. 4 does with the whole set.

    Parameters
    ----------
    single
        What becomes of a pair of single people, who would get each other's very face (5.3).
        ``"random"``: each gets a random face around the other (Eq. 5.11, 5.12), which keeps the
        wrong-map. ``"assign"``: one more person joins (Alg. 5), which may break it.
    spread
        ``"ball"``: random faces uniform in the ball (Eq. 5.12); ``"distance"``: uniform in
        their distance from its centre (Eq. 5.11). The radius is a quarter of the pair's distance.
    """

    single: Literal["random", "assign"] = "random"
    spread: Literal["ball", "distance"] = "ball"

    def __call__(self, codes: F32, partition: Partition, rng: np.random.Generator) -> Surrogates:
        """Make surrogates; `rng` starts the clusters and draws the random faces."""
        if self.single not in ("random", "assign") or self.spread not in ("ball", "distance"):
            raise InputError(
                f"single is {self.single!r} and spread is {self.spread!r}",
                'use "random" or "assign", and "ball" or "distance"',
            )
        require_people(codes, partition)
        partner = partners(partition, "shift")
        X: F64 = np.asarray(codes, dtype=np.float64)
        moved = np.empty_like(X)
        special = 0
        for group in np.flatnonzero(partner > np.arange(len(partner))):
            sides = (
                np.flatnonzero(partition.labels == group).tolist(),
                np.flatnonzero(partition.labels == partner[group]).tolist(),
            )
            parts = cut(X, sides, rng, assign=self.single == "assign")
            self._move(X, parts, moved, rng)
            special += len(parts.lone)
            special += sum(len(p.sides[0]) + len(p.sides[1]) for p in parts.pairs if p.forced)
        drawn = moved.astype(np.float32)
        source: I32 = np.arange(len(X), dtype=np.int32)
        own = own_nearest(X, drawn, source)
        return Surrogates(
            codes=drawn,
            source=source,
            guarantee=_guarantee(own),
            notes=(
                ("share under the single-member case", special / len(X)),
                ("share nearest to their own original", float(own.mean())),
            ),
        )

    def _move(self, X: F64, parts: Cut, moved: F64, rng: np.random.Generator) -> None:
        """Fill the rows of `moved` that belong to the people in `parts`."""
        for pair in parts.pairs:
            c, f = pair.sides
            step = X[f].mean(axis=0) - X[c].mean(axis=0)
            moved[c] = X[c] + step
            moved[f] = X[f] - step
        for person, near in parts.lone:
            radius = float(np.linalg.norm(X[person] - X[near])) / 4
            moved[person] = X[near] + self._draw(radius, X.shape[1], rng)

    def _draw(self, radius: float, width: int, rng: np.random.Generator) -> F64:
        """Draw a vector within `radius` (Eq. 5.11 or 5.12), u in (0, 1]."""
        direction = rng.standard_normal(width)
        u = 1.0 - rng.random()
        reach = u if self.spread == "distance" else u ** (1.0 / width)
        vector: F64 = radius * reach * direction / np.linalg.norm(direction)
        return vector


def _guarantee(own: AnyArray) -> Guarantee:
    """State wrong-map, unless somebody was found for whom it does not hold."""
    kept = Guarantee(Level.K_ANONYMOUS).lowered(
        Level.WRONG_MAP, "shift gives everybody a face of their own, so no k people share one"
    )
    if own.any():
        return kept.lowered(
            Level.MEASURED,
            f"for {int(own.sum())} of {len(own)} people no other original is nearer to the "
            "surrogate than their own",
        )
    return kept
