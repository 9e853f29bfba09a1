"""Two opposed groups cut into pairs of clusters that do not overlap (thesis Alg. 4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from everyface.arrays import F64
from everyface.grouping.opposed import overlap
from everyface.grouping.pool import squared


@dataclass
class Pair:
    """One cluster of each of two opposed groups.

    Attributes
    ----------
    sides
        The people of the one cluster and of the other.
    forced
        Whether somebody joined by Alg. 5, so that the spheres may overlap and Theorem 4 is void.
    """

    sides: tuple[list[int], list[int]]
    forced: bool = False

    @property
    def single(self) -> bool:
        """Whether each cluster is one person, so that moving would hand over the very face."""
        return len(self.sides[0]) == len(self.sides[1]) == 1


@dataclass
class Cut:
    """What two groups were cut into.

    Attributes
    ----------
    pairs
        Clusters that are moved onto each other.
    lone
        People in no cluster, each with the person of the other group whom to draw near.
    """

    pairs: list[Pair] = field(default_factory=list)
    lone: list[tuple[int, int]] = field(default_factory=list)


def cut(
    X: F64, groups: tuple[list[int], list[int]], rng: np.random.Generator, *, assign: bool
) -> Cut:
    """Cut two opposed groups into pairs of clusters whose spheres do not touch (Alg. 4).

    One cluster of a pair is taken from the one group, one from the other: a random person, the
    person of the other group furthest from it, and then to each the nearest, until they would
    touch or nobody is left.

    Parameters
    ----------
    X
        Codes, one row a person.
    groups
        The people of the two groups.
    rng
        Draws the people who start.
    assign
        What to do with people who stand alone: True lets Alg. 5 put them into clusters, False
        names them in `lone`.
    """
    left = (list(groups[0]), list(groups[1]))
    found = Cut()
    while left[0] and left[1]:
        pair = _grow(X, left, rng)
        if pair.single and assign:
            _break_up(X, pair, left)
        if pair.single and assign:  # nobody was left to join it
            for side in (0, 1):
                left[side].extend(pair.sides[side])
            break
        if pair.single:
            (c,), (f,) = pair.sides
            found.lone += [(c, f), (f, c)]
        else:
            found.pairs.append(pair)
    for side in (0, 1):
        for person in left[side]:
            if assign:
                nearest = _by_distance(X, found.pairs, side, person)[0]
                nearest.sides[side].append(person)
                nearest.forced = True
            else:
                _join_or_stand_alone(X, found, side, person, groups[1 - side])
    return found


def _grow(X: F64, left: tuple[list[int], list[int]], rng: np.random.Generator) -> Pair:
    """Take one pair of clusters out of the people `left` (Alg. 4, lines 4-21)."""
    c = left[0].pop(int(rng.integers(len(left[0]))))
    f = left[1].pop(int(np.argmax(squared(X[left[1]], X[c]))))
    sides = ([c], [f])
    while left[0] or left[1]:
        joining = [_nearest(X, left[side], sides[side]) for side in (0, 1)]
        trial = [sides[side] + joining[side] for side in (0, 1)]
        if overlap(X[trial[0]], X[trial[1]]):
            break
        for side in (0, 1):
            for person in joining[side]:
                sides[side].append(person)
                left[side].remove(person)
    return Pair(sides)


def _nearest(X: F64, left: list[int], cluster: list[int]) -> list[int]:
    """Find the person nearest to a cluster's centroid; nobody, where nobody is left."""
    if not left:
        return []
    return [left[int(np.argmin(squared(X[left], X[cluster].mean(axis=0))))]]


def _break_up(X: F64, pair: Pair, left: tuple[list[int], list[int]]) -> None:
    """Let one more person join a pair of single people, if anybody is left (Alg. 5, 1-6).

    The person comes from the group that has more people left, so that both last as long.
    """
    for side in (0, 1) if len(left[0]) >= len(left[1]) else (1, 0):
        for person in _nearest(X, left[side], pair.sides[side]):
            pair.sides[side].append(person)
            left[side].remove(person)
            pair.forced = True
            return


def _by_distance(X: F64, pairs: list[Pair], side: int, person: int) -> list[Pair]:
    """Order pairs by how near their cluster on this side is to a person."""
    if not pairs:
        return []
    centres = np.array([X[pair.sides[side]].mean(axis=0) for pair in pairs])
    return [pairs[i] for i in np.argsort(squared(centres, X[person]), kind="stable")]


def _join_or_stand_alone(X: F64, found: Cut, side: int, person: int, others: list[int]) -> None:
    """Put a person whose counterpart group is used up where the spheres still do not touch."""
    for pair in _by_distance(X, found.pairs, side, person):
        trial = [*pair.sides[side], person]
        if not overlap(X[trial], X[pair.sides[1 - side]]):
            pair.sides[side].append(person)
            return
    found.lone.append((person, others[int(np.argmax(squared(X[others], X[person])))]))
