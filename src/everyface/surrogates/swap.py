"""k-Same-furthest: everybody gets the mean of the group furthest away (thesis Alg. 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everyface.arrays import F32
from everyface.grouping.base import Partition
from everyface.grouping.wrongmap import own_nearest
from everyface.surrogates.base import Surrogates, heads, partners, require_people, shared


@dataclass(frozen=True)
class Swap:
    """The centroid of the partner group stands for all members of a group (Alg. 3, lines 27-35).

    At least k people share one face, and that face is not even the mean of themselves. Theorem 3
    says more: somebody else's original is always nearer to it. That is measured in each run, in
    the space of the codes given, and stands in the notes.
    """

    def __call__(
        self,
        codes: F32,
        partition: Partition,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Surrogates:
        """Make surrogates; nothing in it is random."""
        require_people(codes, partition)
        source = partners(partition, "swap")[partition.labels]
        drawn = partition.centroids(codes).astype(np.float32)
        own = float(own_nearest(codes, drawn, source).mean())
        return Surrogates(
            codes=drawn,
            source=source,
            guarantee=shared(partition, source),
            notes=(*heads(partition, source), ("share nearest to their own original", own)),
        )
