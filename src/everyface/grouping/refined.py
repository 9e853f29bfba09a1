"""Refined: MDAV's groups, improved by annealing until no move or swap helps (ours)."""

from __future__ import annotations

import os
from typing import ClassVar, Self

import numpy as np
from sklearn.base import clone

from everyface.arrays import I32, AnyArray
from everyface.errors import InputError
from everyface.grouping.base import Grouping, Partition
from everyface.grouping.pieces import pieces
from everyface.grouping.rounds import Effort, grouped
from everyface.grouping.search import Rules
from everyface.grouping.select import Selection, fit_within, one_value_each
from everyface.grouping.sensitive import dealt, free, kept

_TURNS, _SMALL, _FEW = 40, 600, 3
"""Turns a round; sets that are small, or groups of so few, are given more, and take no longer."""
ONE_TABLE = 4096
"""Up to so many people are searched on one table of distances, if `piece` does not say less."""


class Refined(Grouping):
    """The groups with the lowest squared error that we know how to find.

    Groups start as MDAV's and are changed, between people who are near each other, by moves,
    swaps, dissolved and founded groups: at first also where that raises the squared error, then
    less and less (`anneal`), and at last only where it lowers it, until no move and no swap does
    (`search`). Up to some thousand people are searched on one table of distances; more are cut
    into pieces, over and over along other lines (`rounds`). Sizes lie in [k, 2k − 1], unless
    `diversity` or `closeness` force them to be larger. docs/methods/grouping.md has the details.

    Parameters
    ----------
    k
        The least number of people in a group.
    random_state
        Seed; the same seed gives the same groups, whatever the number of threads.
    diversity
        ℓ: how many distinct sensitive values every group must hold.
    closeness
        t: how far the shares of sensitive values in a group may be from those of everybody, in
        total variation (half the sum of absolute differences; 0 to 1).
    turns
        How often each person is drawn, in each round; None chooses by the number of people.
    rounds
        How often many people are cut into pieces.
    piece
        About how many people a piece holds; at least 40 k are taken. None chooses.
    threads
        Pieces searched at the same time; None means as many as there are processors.

    Attributes
    ----------
    selection_
        With `within`: which values had to be joined, and how many people that concerns.
    """

    name: ClassVar[str] = "refined"
    streams: ClassVar[bool] = True
    selection_: Selection

    def __init__(
        self,
        k: int = 5,
        random_state: int | None = None,
        diversity: int = 1,
        closeness: float = 1.0,
        turns: int | None = None,
        rounds: int = 8,
        piece: int | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(k, random_state)
        self.diversity = diversity
        self.closeness = closeness
        self.turns = turns
        self.rounds = rounds
        self.piece = piece
        self.threads = threads

    def fit(
        self,
        X: AnyArray,
        y: object = None,  # noqa: ARG002
        *,
        subjects: AnyArray | None = None,
        sensitive: AnyArray | None = None,
        within: AnyArray | None = None,
    ) -> Self:
        """Group the rows of `X`; rows with equal `subjects` are one person.

        Parameters
        ----------
        X
            Codes, one row a face; float32 is taken as it is, also from a memory map.
        subjects
            Who each row shows; None means that every row is somebody else.
        sensitive
            A value a row, compared as text, for `diversity` and `closeness`. A person whose rows
            disagree counts under the value most of them have.
        within
            A label a row that groups should not mix (see `fit_within`). The shares that
            `closeness` compares with are then those of the people with the same label.
        """
        if within is not None:
            alone = {} if sensitive is None else {"sensitive": np.asarray(sensitive)}
            self.selection_ = fit_within(clone(self), X, within, subjects=subjects, **alone)
            self.partition_ = self.selection_.partition
            self.labels_ = self.partition_.labels
            return self
        self._kinds = self._kinds_of(len(X), subjects, sensitive)
        try:
            return super().fit(X, subjects=subjects)
        finally:
            del self._kinds

    def fit_predict(
        self,
        X: AnyArray,
        y: object = None,  # noqa: ARG002
        *,
        subjects: AnyArray | None = None,
        sensitive: AnyArray | None = None,
        within: AnyArray | None = None,
    ) -> I32:
        """Group the rows of `X` and return one label a row."""
        return self.fit(X, subjects=subjects, sensitive=sensitive, within=within).labels_

    def _kinds_of(
        self, rows: int, subjects: AnyArray | None, sensitive: AnyArray | None
    ) -> I32 | None:
        """Give the sensitive values numbers, one a person in the order of the people's names."""
        if self.diversity < 1 or not 0.0 <= self.closeness <= 1.0:
            raise InputError(
                f"diversity is {self.diversity} and closeness {self.closeness}",
                "diversity counts values, from 1; closeness is a share, from 0 to 1",
            )
        if sensitive is None:
            if self.diversity > 1 or self.closeness < 1.0:
                raise InputError("there are no sensitive values", "give one a row: sensitive=…")
            return None
        people = np.arange(rows) if subjects is None else np.asarray(subjects)
        if len(sensitive) != rows or len(people) != rows:
            raise InputError(
                f"{len(sensitive)} sensitive values and {len(people)} subjects for {rows} rows",
                "give one of each a row",
            )
        values = one_value_each(np.array([str(v) for v in sensitive]), people)
        _, first = np.unique(people, return_index=True)
        return np.unique(values[first], return_inverse=True)[1].astype(np.int32)

    def _partition(self, X: AnyArray, rng: np.random.Generator) -> Partition:
        seed = int(rng.integers(2**62))
        effort = self._effort(len(X))
        rules, start = free(self.k), None
        if self._kinds is not None:
            rules = self._rules(self._kinds)
            order = np.concatenate(pieces(X, np.ones(len(X), np.int64), max(self.k, 8), seed))
            start, most = dealt(rules, order)
            rules = rules._replace(most=most)
        labels = grouped(X, rules, start, effort, seed)
        if not kept(rules, labels):
            raise AssertionError(f"{self.name} broke its own rules")
        return Partition(labels)

    def _rules(self, kinds: I32) -> Rules:
        shares = np.bincount(kinds) / len(kinds)
        return Rules(
            int(self.k), 2 * int(self.k) - 1, kinds, shares, self.diversity, float(self.closeness)
        )

    def _effort(self, people: int) -> Effort:
        """Choose what was left open: the fewer people, the longer each is searched."""
        piece = self.piece or (ONE_TABLE if people <= ONE_TABLE else 1024)
        piece = max(piece, 40 * self.k)
        small = people <= _SMALL
        turns = self.turns
        if turns is None:
            turns = _TURNS * (50 if small else 1)
            if self.k <= _FEW:
                turns *= 4 if small else 50 if people <= piece else 2
        threads = self.threads or len(os.sched_getaffinity(0))
        return Effort(turns, 4 if small else 1, self.rounds, piece, threads)
