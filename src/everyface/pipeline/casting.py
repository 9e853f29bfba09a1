"""Casting: which surrogate is tried for whom, and in what order.

A good surrogate shares age, gender and skin with its person, so that the data stay useful, and is
far from them in identity, so that the gate lets it pass. What the gate will see is foreseen
here by showing the drawn surrogates to the same recognisers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from everyface.arrays import F32, I32, I64
from everyface.attacks.naive import Gallery
from everyface.pipeline.pool import Painter, Pool, spread

_BLOCK = 32
_RISK = 1.5
"""Steps of likeness that one spread of risk is worth."""
_CHANCE = 0.3
"""Scale of the secret jitter that keeps the choice from being replayed."""


@dataclass(frozen=True)
class Wishes:
    """What the search for surrogates goes by.

    Attributes
    ----------
    unit_of
        Person → unit (a group in aligned form, a person in merged form).
    group_of
        Person → group.
    people, pool
        Attributes of people and of codes, in steps.
    reserve
        How many spreads below the limit a surrogate should stay: merging brings faces nearer.
    depth
        How many choices to rank.
    keep_first
        Whether the rule's own choice goes first (a published method is run as published).
    """

    unit_of: I64
    group_of: I64
    people: F32
    pool: F32
    reserve: float
    depth: int
    keep_first: bool


def foreseen(galleries: Sequence[Gallery], painter: Painter, of_row: I64) -> F32:
    """Return how near each code comes to each person, in spreads above the limit, (m, people).

    The greatest over the recognisers of own similarity less the smaller of the best other
    person's similarity and the recogniser's threshold: what the gate judges.
    """
    worst: F32 | None = None
    for gallery in galleries:
        margins = _margins(gallery, painter, of_row)
        worst = margins if worst is None else np.maximum(worst, margins)
    if worst is None:
        return np.full((len(painter.codes), int(of_row.max()) + 1), -np.inf, dtype=np.float32)
    return worst


def _margins(gallery: Gallery, painter: Painter, of_row: I64) -> F32:
    order = np.argsort(of_row, kind="stable")
    _, start = np.unique(of_row[order], return_index=True)
    near: list[F32] = []
    for first in range(0, len(painter.codes), _BLOCK):
        drawn = painter.block(first, min(first + _BLOCK, len(painter.codes)))
        seen = gallery.recogniser.embed(drawn.images, drawn.points)
        sim = gallery.recogniser.similarity(seen, gallery.embeddings)
        near.append(np.maximum.reduceat(sim[:, order], start, axis=1))
    own = np.concatenate(near)
    ranked = np.sort(own, axis=1)
    best = ranked[:, -1:]
    second = ranked[:, -2:-1] if own.shape[1] > 1 else np.full_like(best, -np.inf)
    other = np.where(own >= best, second, best)
    margin = own - np.minimum(other, gallery.recogniser.threshold)
    return np.asarray(margin / spread(own), dtype=np.float32)


def cast(pool: Pool, risk: F32, wishes: Wishes, rng: np.random.Generator) -> I32:
    """Rank codes for every unit, (units, depth); −1 where there are no more to try."""
    units = int(wishes.unit_of.max()) + 1
    ranked = np.full((units, wishes.depth), -1, dtype=np.int32)
    for unit in range(units):
        members = np.flatnonzero(wishes.unit_of == unit)
        groups = np.unique(wishes.group_of[members])
        first = int(pool.chosen[members[0]])
        if not pool.of_kind(groups)[:, first].all():
            first = pool.own(int(groups[0]))
        usable = np.asarray(pool.allowed(groups).all(axis=0))
        cost = _cost(members, risk, wishes) + _CHANCE * rng.gumbel(size=len(pool))
        order = [int(c) for c in np.argsort(cost, kind="stable") if usable[c] and c != first]
        if wishes.keep_first or not order:
            order.insert(0, first)
        ranked[unit, : len(order)] = order[: wishes.depth]
    return ranked


def _cost(members: I64, risk: F32, wishes: Wishes) -> F32:
    unlike = wishes.people[members].mean(axis=0) - wishes.pool
    short = np.maximum(0, risk[:, members].max(axis=1) + wishes.reserve)
    return np.asarray(np.sqrt((unlike**2).sum(axis=1)) + _RISK * short, dtype=np.float32)
