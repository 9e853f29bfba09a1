"""The gate: before anything is released, do to it what an attacker would.

The k-anonymity of aligned surrogates does not survive merging: hair, jaw line and light identify
people even when the face is shared by k. So every recogniser at hand attacks the result. It
passes when, for each of them,

* the share of faces whose best match is their own person is at most the bound (1/k), and
* faces match their own person above the recogniser's threshold no more often than strangers.

Those that fail get another surrogate, then a stronger background policy, and at last quarantine,
round by round until the result passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from everyface.arrays import F32, I64, U8, Bool
from everyface.attacks.naive import Gallery, Scores, attack
from everyface.progress import Tick, silent

_BLOCK = 128
"""Faces rendered at a time, so that memory does not grow with their number."""


@dataclass(frozen=True)
class Probes:
    """Released faces as the attacker sees them.

    Attributes
    ----------
    crops
        (m, h, w, 3) RGB.
    points
        (m, 478, 3) mesh points in the crops.
    of_row
        Face asked for → crop; faces that are byte for byte the same share one.
    """

    crops: U8
    points: F32
    of_row: I64


class Stage(Protocol):
    """A result that can be looked at and changed; what moves together is a *unit*.

    A unit is what shares a fate: in aligned form a whole group (so that its faces stay byte for
    byte the same), in merged form one person.
    """

    unit: I64
    """Face → its unit."""

    def probes(self, rows: I64) -> Probes:
        """Render faces as they would be released."""

    def states(self, unit: int) -> int:
        """How many ways there are to release a unit, the mildest first."""

    def set(self, unit: int, state: int) -> None:
        """Choose a way."""

    def quarantine(self, rows: I64) -> I64:
        """Take faces out of the release; return all that go with them, at least `rows`."""


@dataclass(frozen=True)
class Verdict:
    """What one recogniser found."""

    recogniser: str
    scores: Scores
    bound: float

    @property
    def passed(self) -> bool:
        """Whether both criteria hold."""
        return not self.failing.any()

    @property
    def failing(self) -> Bool:
        """Faces that break a criterion that does not hold."""
        scores = self.scores
        found = np.zeros(len(scores.own), dtype=bool)
        if scores.rank1().value > self.bound:
            found |= scores.first
        if scores.own_matches().value > scores.stranger_matches():
            found |= scores.matched
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as certificates hold them."""
        return {
            "recogniser": self.recogniser,
            "bound": round(self.bound, 6),
            "rank1": self.scores.rank1().as_dict(),
            "own_match": self.scores.own_matches().as_dict(),
            "stranger_match": round(self.scores.stranger_matches(), 6),
            "passed": self.passed,
        }


@dataclass
class Findings:
    """What the gate did: each round's figures, and the last."""

    rounds: list[dict[str, Any]] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    rechosen: int = 0
    quarantined: int = 0

    @property
    def passed(self) -> bool:
        """Whether the result withstood every recogniser."""
        return all(verdict.passed for verdict in self.verdicts)


class Gate:
    """Attack, change what fails, attack again.

    Parameters
    ----------
    galleries
        One a recogniser.
    bound
        The greatest allowed rank-1 share.
    """

    def __init__(self, galleries: Sequence[Gallery], bound: float) -> None:
        self.galleries = list(galleries)
        self.bound = bound

    def look(self, stage: Stage, rows: I64) -> list[Scores]:
        """Attack `rows` as they stand."""
        found: list[list[F32]] = [[] for _ in self.galleries]
        for start in range(0, len(rows), _BLOCK):
            probes = stage.probes(rows[start : start + _BLOCK])
            for part, gallery in zip(found, self.galleries, strict=True):
                seen = gallery.recogniser.embed(probes.crops, probes.points)
                part.append(seen[probes.of_row])
        return [
            attack(gallery, np.concatenate(part), rows)
            for gallery, part in zip(self.galleries, found, strict=True)
        ]

    def run(self, stage: Stage, tick: Tick = silent) -> Findings:
        """Change `stage` until it passes, and say what that took."""
        search = _Search(self, stage)
        most = max((stage.states(int(unit)) for unit in search.units), default=1)
        found = Findings()
        while True:
            verdicts = search.verdicts()
            moved = search.step(verdicts) if not all(v.passed for v in verdicts) else []
            found.rounds.append(
                {
                    "changed": len(moved),
                    "rank1": {v.recogniser: round(v.scores.rank1().value, 6) for v in verdicts},
                    "own_match": {
                        v.recogniser: round(v.scores.own_matches().value, 6) for v in verdicts
                    },
                }
            )
            tick("gate", min(len(found.rounds), most), most)
            if not moved:
                break
        found.quarantined = search.expel()
        found.verdicts = search.verdicts()
        found.rechosen = int(sum(state > 0 for state in search.best.values()))
        tick("gate", most, most)
        return found


class _Search:
    """Each unit's walk through its states, remembering the best one seen."""

    def __init__(self, gate: Gate, stage: Stage) -> None:
        self.gate, self.stage = gate, stage
        self.units: I64 = np.unique(stage.unit)
        self.alive = np.ones(len(stage.unit), dtype=bool)
        self.bad = np.zeros(len(stage.unit), dtype=bool)
        self.members = {int(u): np.flatnonzero(stage.unit == u) for u in self.units}
        self.tried = {int(u): 0 for u in self.units}
        self.best = {int(u): 0 for u in self.units}
        self.scores = gate.look(stage, np.arange(len(stage.unit)))
        self.scale = [_spread(scores) for scores in self.scores]

    def verdicts(self) -> list[Verdict]:
        """Judge what is still to be released."""
        return [
            Verdict(gallery.recogniser.name, scores.at(self.alive), self.gate.bound)
            for gallery, scores in zip(self.gate.galleries, self.scores, strict=True)
        ]

    def failing(self, verdicts: Sequence[Verdict]) -> list[int]:
        """Units with a face that breaks a criterion, worst first."""
        self.bad = np.zeros(len(self.alive), dtype=bool)
        for verdict in verdicts:
            self.bad[np.flatnonzero(self.alive)[verdict.failing]] = True
        units = [int(u) for u in np.unique(self.stage.unit[self.bad])]
        return sorted(units, key=lambda u: (-self.risk(u, self.scores), u))

    def risk(self, unit: int, scores: Sequence[Scores]) -> float:
        """How far a unit is from passing, over faces and recognisers, in spreads."""
        rows = self.members[unit]
        return max(
            float(s.at(rows).margin.max() / scale)
            for s, scale in zip(scores, self.scale, strict=True)
        )

    def step(self, verdicts: Sequence[Verdict]) -> list[int]:
        """Move every failing unit to its next state; keep it where that is better."""
        units = [u for u in self.failing(verdicts) if self.tried[u] + 1 < self.stage.states(u)]
        if not units:
            return []
        for unit in units:
            self.tried[unit] += 1
            self.stage.set(unit, self.tried[unit])
        rows = np.sort(np.concatenate([self.members[u] for u in units]))
        seen = [
            old.put(rows, new)
            for old, new in zip(self.scores, self.gate.look(self.stage, rows), strict=True)
        ]
        for unit in units:
            if self.risk(unit, seen) < self.risk(unit, self.scores):
                mine = self.members[unit]
                self.scores = [
                    old.put(mine, new.at(mine)) for old, new in zip(self.scores, seen, strict=True)
                ]
                self.best[unit] = self.tried[unit]
            else:
                self.stage.set(unit, self.best[unit])
        return units

    def expel(self) -> int:
        """Quarantine the worst, unit by unit, until what is left passes; count the faces."""
        count = 0
        while True:
            units = self.failing(self.verdicts())
            if not units:
                return count
            rows = self.members[units[0]]
            gone = self.stage.quarantine(rows[self.alive[rows] & self.bad[rows]])
            count += int(self.alive[gone].sum())
            self.alive[gone] = False


def _spread(scores: Scores) -> float:
    """Return the scale of a recogniser's similarities, to weigh one against another."""
    finite = scores.own[np.isfinite(scores.own)]
    return float(finite.std()) + 1e-6 if len(finite) else 1.0
