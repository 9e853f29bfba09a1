"""Hierarchical partitioning: a tree cut until a branch is large enough (AnonFACES, Alg. 1)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

from everyface.arrays import F64, I32, I64
from everyface.errors import InputError
from everyface.grouping.base import Grouping, Partition

LINKAGES = ("ward", "average", "complete", "single")


def even_sizes(people: int, k: int) -> list[int]:
    """Return the sizes of ⌊n / k⌋ groups that differ by one at most, larger ones first (line 2).

    The paper gives k + 1 to the first n mod m groups. That is the same where n mod k does not
    exceed m; elsewhere it would leave people over, and here the groups grow further instead.
    """
    groups = people // k
    size, larger = divmod(people, groups)
    return [size + 1] * larger + [size] * (groups - larger)


class Hierarchical(Grouping):
    """Fixed sizes from a hierarchical tree (Algorithm 1 of AnonFACES).

    Each turn builds the tree of all who are left, cuts it into ⌊n / k⌋ branches and then into
    fewer, until the largest branch has as many people as the turn's group needs, and takes them
    from there. Time is that of ⌊n / k⌋ trees, O(n³ / k). Nothing is random.

    What the paper leaves open, and how it is read here: ``|q| ≤ k_j`` in line 6 would never end
    for a branch of exactly k_j people, so it is ``<``; "the lowest k members" (line 9) are those
    whose own first merge is lowest in the tree, and of equally low ones the first by index;
    "update the tree" (line 11) builds it anew from the people who are left.

    Parameters
    ----------
    k
        The least number of people in a group.
    random_state
        Not used.
    linkage
        ``ward``, ``average``, ``complete`` or ``single``.
    cut
        Into how many branches the tree is cut at first: ``paper`` is ⌊n / k⌋ (lines 1 and 12),
        whose largest branch always suffices; ``finest`` begins with one branch a person and ends
        at the tightest branch that is large enough, which the paper's text allows ("cut the tree
        at different thresholds until we find a cluster with at least k members").
    """

    name: ClassVar[str] = "hierarchical"

    def __init__(
        self,
        k: int = 5,
        random_state: int | None = None,
        linkage: Literal["ward", "average", "complete", "single"] = "ward",
        cut: Literal["paper", "finest"] = "paper",
    ) -> None:
        super().__init__(k, random_state)
        self.linkage = linkage
        self.cut = cut

    def _partition(self, X: F64, rng: np.random.Generator) -> Partition:  # noqa: ARG002
        if self.linkage not in LINKAGES:
            raise InputError(f"linkage is {self.linkage!r}", f"use one of {', '.join(LINKAGES)}")
        if self.cut not in ("paper", "finest"):
            raise InputError(f"cut is {self.cut!r}", 'use "paper" or "finest"')
        scale = float(np.abs(X - X.mean(axis=0)).max()) or 1.0
        flat = (X - X.mean(axis=0)) / scale
        left = np.arange(len(X), dtype=np.int64)
        labels: I32 = np.zeros(len(X), np.int32)
        for turn, size in enumerate(even_sizes(len(X), self.k)):
            taken = left
            if size < len(left):
                tree = linkage(pdist(flat[left]), self.linkage)
                branches = len(left) // self.k if self.cut == "paper" else len(left)
                taken = left[lowest(tree, branches, size)]
            labels[taken] = turn
            left = np.setdiff1d(left, taken, assume_unique=True)
        return Partition(labels)


def lowest(tree: F64, branches: int, size: int) -> I64:
    """Cut a tree into `branches`, then fewer, until one has `size` people; return its lowest.

    Cutting a tree of n people into b branches undoes all but its first n − b merges, so the cut
    into one branch less is the next merge.
    """
    people = len(tree) + 1
    one, other = tree[:, 0].astype(np.int64), tree[:, 1].astype(np.int64)
    heads = np.concatenate([np.ones(people), tree[:, 3]])
    over = np.full(2 * people - 1, len(tree), dtype=np.int64)
    over[one] = over[other] = np.arange(len(tree))
    merged = people - branches
    standing = np.flatnonzero((over >= merged) & (np.arange(len(over)) < people + merged))
    largest = int(standing[np.argmax(heads[standing])])
    while heads[largest] < size:
        if heads[people + merged] > heads[largest] or over[largest] == merged:
            largest = people + merged
        merged += 1
    inside, waiting = [], [largest]
    while waiting:
        node = waiting.pop()
        if node < people:
            inside.append(node)
        else:
            waiting += [int(one[node - people]), int(other[node - people])]
    members = np.array(inside)
    order = np.lexsort((members, tree[over[members], 2]))
    found: I64 = members[order[:size]]
    return found
