"""k-Same: everybody gets the mean of the own group (thesis Alg. 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everyface.arrays import F32
from everyface.grouping.base import Partition
from everyface.surrogates.base import Surrogates, heads, require_people, shared


@dataclass(frozen=True)
class Mean:
    """The centroid of a group stands for all its members, so at least k people share one face.

    An attacker who knows the people still guesses right once in k: the mean of few looks a
    little like each of them.
    """

    def __call__(
        self,
        codes: F32,
        partition: Partition,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Surrogates:
        """Make surrogates; nothing in it is random."""
        require_people(codes, partition)
        return Surrogates(
            codes=partition.centroids(codes).astype(np.float32),
            source=partition.labels,
            guarantee=shared(partition, partition.labels),
            notes=heads(partition, partition.labels),
        )
