"""How good the groupings of every method are, set by set and k by k."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import cut_tree, linkage
from sklearn.metrics import silhouette_score

from benchmarks.grouping.measures import information_loss, pairwise, squared_error
from benchmarks.grouping.scale import peak
from benchmarks.grouping.sets import Codes, facelike
from everyface.grouping import (
    Balanced,
    Grouping,
    Hierarchical,
    KMember,
    Mdav,
    Mondrian,
    Nearest,
    OnePass,
    Opposed,
    Refined,
)
from everyface.grouping.bound import Bound, lower_bound
from everyface.grouping.hierarchical import even_sizes
from everyface.grouping.pairs import pairs_bound

KS = (2, 5, 10, 20, 50)


def methods(k: int) -> dict[str, Grouping]:
    """Every method by the name it has in the tables; ours is the last."""
    return {
        "nearest": Nearest(k, 0),
        "mdav": Mdav(k),
        "mondrian": Mondrian(k, 0),
        "opposed": Opposed(k, 0),
        "hierarchical ward": Hierarchical(k),
        "hierarchical ward, finest cut": Hierarchical(k, cut="finest"),
        "hierarchical average": Hierarchical(k, linkage="average"),
        "hierarchical complete": Hierarchical(k, linkage="complete"),
        "hierarchical single": Hierarchical(k, linkage="single"),
        "balanced elki": Balanced(k, 0),
        "balanced furthest": Balanced(k, 0, "furthest"),
        "balanced random": Balanced(k, 0, "random"),
        "kmember": KMember(k, 0),
        "onepass": OnePass(k, 0),
        "refined": Refined(k, 0),
    }


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    method: str
    loss: float
    error: float
    apart: tuple[float, float, float]
    silhouette: float
    sizes: tuple[int, int]
    seconds: float
    memory: int


def measured(codes: Codes, k: int) -> list[Row]:
    """Run every method on a set; what it is measured on are the people."""
    people = np.asarray(codes.people(), np.float64)
    first = np.unique(codes.subjects, return_index=True)[1]
    rows = []
    for name, method in methods(k).items():
        labels, seconds, memory = peak(
            lambda method=method: method.fit_predict(codes.X, subjects=codes.subjects)
        )
        mine = labels[first]
        sizes = np.bincount(mine)
        rows.append(
            Row(
                name,
                information_loss(people, mine),
                squared_error(people, mine),
                pairwise(people, mine),
                float(silhouette_score(people, mine)),
                (int(sizes.min()), int(sizes.max())),
                seconds,
                memory,
            )
        )
    return rows


def proven(codes: Codes, k: int, rounds: int) -> Bound:
    """Bound the squared error; at k = 2 by pairs and triples, which is closer."""
    people = np.asarray(codes.people(), np.float64)
    found = lower_bound(people, k, rounds=rounds)
    if k > 2:
        return found
    return Bound(found.neighbours, found.spectral, max(found.combined, pairs_bound(people)))


def report(codes: Codes, rounds: int) -> list[str]:
    """Print the tables of one set; return what they say of refined against the others."""
    verdicts = []
    for k in KS:
        rows = measured(codes, k)
        bound = proven(codes, k, rounds)
        print(f"\n### {codes.name}, k = {k}\n")
        print(
            f"No grouping has a squared error below {bound.combined:.3f} (nearest neighbours "
            f"alone: {bound.neighbours:.3f}, spectrum alone: {bound.spectral:.3f}).\n"
        )
        print(
            "| method | information loss | squared error | above the bound "
            "| min / mean / max distance | silhouette | sizes | seconds | MB |"
        )
        print("| --- | --: | --: | --: | --: | --: | --: | --: | --: |")
        for r in rows:
            near, mean, far = r.apart
            print(
                f"| {r.method} | {r.loss:.4f} | {r.error:.3f} | {100 * bound.gap(r.error):.1f} % "
                f"| {near:.3f} / {mean:.3f} / {far:.3f} | {r.silhouette:.4f} "
                f"| {r.sizes[0]} to {r.sizes[1]} | {r.seconds:.3f} | {r.memory / 1e6:.0f} |",
                flush=True,
            )
        verdicts.append(verdict(codes.name, k, rows, bound))
    return verdicts


def verdict(name: str, k: int, rows: list[Row], bound: Bound) -> str:
    """Compare refined with the best of the others, with ward and with MDAV."""
    ours, others = rows[-1], rows[:-1]
    by = {row.method: row for row in rows}

    def below(what: str, than: float) -> str:
        return f"{100 * (1 - getattr(ours, what) / than):.2f} %"

    second = max(others, key=lambda row: row.silhouette)
    return (
        f"| {name} | {k} | {below('loss', by['hierarchical ward'].loss)} "
        f"| {below('loss', by['hierarchical ward, finest cut'].loss)} "
        f"| {below('error', by['mdav'].error)} "
        f"| {below('loss', min(r.loss for r in others))} "
        f"| {below('error', min(r.error for r in others))} "
        f"| {ours.silhouette:.4f} ({second.silhouette:.4f}, {second.method}) "
        f"| {100 * bound.gap(ours.error):.2f} % |"
    )


def verdict_head() -> None:
    """Print the head of the table that sums up."""
    print("\n### How far `refined` lies below the others\n")
    print("Loss is information loss, error is squared error, as in the tables above.\n")
    print(
        "| set | k | loss, ward | loss, ward finest cut | error, MDAV | loss, best other "
        "| error, best other | silhouette (best other) | error above the bound |"
    )
    print("| --- | --: | --: | --: | --: | --: | --: | --: | --: |")


def literal_hierarchical(X: np.ndarray, k: int) -> np.ndarray:
    """Algorithm 1 of AnonFACES with SciPy's `linkage` and `cut_tree`, line by line."""
    left, labels = np.arange(len(X)), np.zeros(len(X), np.int32)
    for turn, size in enumerate(even_sizes(len(X), k)):
        taken = left
        if len(left) > size:
            tree, branches = linkage(X[left], "ward"), len(left) // k
            inside = np.zeros(0, np.int64)
            while len(inside) < size:
                cut = cut_tree(tree, branches)[:, 0]
                inside = np.flatnonzero(cut == np.bincount(cut).argmax())
                branches -= 1
            taken = left[inside[:size]]
        labels[taken] = turn
        left = np.setdiff1d(left, taken)
    return labels


def speed(n: int = 1000, k: int = 5) -> None:
    """Print how much faster refined is than hierarchical partitioning."""
    X = facelike(n).astype(np.float64)
    Refined(k, 0).fit(X)
    print(f"\n### Time at n = {n:,}, k = {k}, face-like codes\n")
    print("| | seconds (least of three) | refined is faster by | information loss |")
    print("| --- | --: | --: | --: |")
    found = {}
    for name, work, times in (
        ("refined", lambda: Refined(k, 0).fit_predict(X), 3),
        (
            "hierarchical ward, as the paper does (linkage and cut_tree of SciPy)",
            lambda: literal_hierarchical(X, k),
            1,
        ),
        (
            "hierarchical ward, ours (the same trees, cut faster)",
            lambda: Hierarchical(k).fit_predict(X),
            1,
        ),
        ("mdav", lambda: Mdav(k).fit_predict(X), 3),
        ("nearest", lambda: Nearest(k, 0).fit_predict(X), 3),
    ):
        taken = []
        for _ in range(times):
            start = time.perf_counter()
            labels = work()
            taken.append(time.perf_counter() - start)
        found[name] = min(taken)
        print(
            f"| {name} | {min(taken):.3f} | {min(taken) / found['refined']:.1f} × "
            f"| {information_loss(X, labels):.4f} |",
            flush=True,
        )
