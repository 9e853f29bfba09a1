"""What every surrogate rule owes: new codes, who shares them, and what is left of the promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from everyface.arrays import F32, I32, AnyArray
from everyface.errors import InputError
from everyface.grouping.base import Partition, require_table
from everyface.guarantee import Guarantee, Level


@dataclass(frozen=True)
class Surrogates:
    """The faces that will stand for the originals.

    Attributes
    ----------
    codes
        (m, d) distinct surrogate codes.
    source
        Person → index into `codes`; people with equal source get byte-identical aligned faces.
    guarantee
        What the rule keeps.
    notes
        What a reader of the certificate must know of this run, a name and a figure each (for
        instance how many people fell under the single-member case).
    """

    codes: F32
    source: I32
    guarantee: Guarantee
    notes: tuple[tuple[str, float], ...] = ()


class Rule(Protocol):
    """A pure function of codes (one row a person), their partition and a random generator."""

    def __call__(self, codes: F32, partition: Partition, rng: np.random.Generator) -> Surrogates:
        """Make surrogates."""


def partners(partition: Partition, rule: str) -> I32:
    """Group → partner, or a refusal where the grouping makes no pairs."""
    if partition.partner is None:
        raise InputError(
            f"the rule {rule} needs groups in pairs", "use it with the grouping opposed"
        )
    return partition.partner


def require_people(codes: AnyArray, partition: Partition) -> None:
    """Refuse codes that are not one row of finite numbers for each person of the partition."""
    require_table(codes)
    if len(codes) != len(partition.labels):
        raise InputError(
            f"{len(codes)} codes were given for {len(partition.labels)} people",
            "give one row a person",
        )


def shared(partition: Partition, source: AnyArray) -> Guarantee:
    """State k-anonymous for means, unless one is a mean of one person: then it is a real face."""
    alone = int((_averaged(partition)[np.unique(source)] < 2).sum())
    kept = Guarantee(Level.K_ANONYMOUS)
    if alone:
        return kept.lowered(
            Level.MEASURED,
            f"{alone} surrogates are the code of one person alone, an original and no average",
        )
    return kept


def heads(partition: Partition, source: AnyArray) -> tuple[tuple[str, float], ...]:
    """Count, for the notes, the fewest people behind one surrogate and before one.

    A face that is the mean of one person is that person's face, however many share it; so how
    many were averaged matters beside how many share.
    """
    averaged = _averaged(partition)[np.unique(source)]
    sharing = np.bincount(source)
    return (
        ("fewest people averaged in a surrogate", float(averaged.min())),
        ("fewest people sharing a surrogate", float(sharing[sharing > 0].min())),
    )


def _averaged(partition: Partition) -> AnyArray:
    """Group → how many people its centroid is the mean of."""
    rows = slice(None) if partition.core is None else partition.core
    found: AnyArray = np.bincount(partition.labels[rows], minlength=partition.n_groups)
    return found
