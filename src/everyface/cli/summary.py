"""The end of a run in plain words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from everyface.cli.progress import lasting
from everyface.guarantee import Guarantee, Level

if TYPE_CHECKING:
    from everyface.pipeline import Summary

_MEANS = {
    Level.K_ANONYMOUS: "every face is shared, byte for byte, by at least {k} people",
    Level.WRONG_MAP: "whoever looks for the nearest original finds somebody else, but there are "
    "not {k} copies of each face",
    Level.MEASURED: "nothing is proven; the attacks below are all there is",
}


def sentences(done: Summary) -> list[str]:
    """Say what was released, how safe it is, what was set aside, and how to check it."""
    return [
        "",
        f"Released {done.released} of {done.photos} photos of {_people(done.people)} in {done.out}",
        "",
        f"  people      groups of at least {done.k_reached} (k = {done.k} asked), "
        + count(done.groups, "group", "groups"),
        *guarantee_lines(done.guarantee, done.k_reached),
        *gate_lines(done.gate),
        *_aside(done),
        *_private(done),
        f"  time        {lasting(done.seconds)}",
        "",
        f"Check it at any time, on any machine:  everyface verify {done.out}",
    ]


def count(number: int, one: str, many: str) -> str:
    """Say a number of things."""
    return f"{number} {one if number == 1 else many}"


def _people(number: int) -> str:
    return count(number, "person", "people")


def guarantee_lines(guarantee: Guarantee, k: int) -> list[str]:
    """Say what is promised, and what lowered it."""
    lines = [f"  guarantee   {guarantee.level.label}: {_MEANS[guarantee.level].format(k=k)}"]
    lines += [f"              lowered, because {why}" for why in guarantee.lowered_by]
    return lines


def gate_lines(gate: Mapping[str, Any] | None) -> list[str]:
    """Say what each recogniser found in the end, beside what was allowed."""
    if gate is None:
        return ["  attacks     not run: nobody has tried to find these people again"]
    lines: list[str] = []
    for attack in gate["attacks"]:
        head = "  attacks     " if not lines else "              "
        share = attack["found"] / attack["people"]
        line = f"{head}{attack['recogniser']} found {attack['found']} of {attack['people']} again"
        line += f" ({share:.1%}"
        if "low" in attack:
            line += f", 95 % interval {attack['low']:.1%} to {attack['high']:.1%}"
        lines.append(f"{line}; allowed {gate['bound']:.1%})")
    return lines


def _aside(done: Summary) -> list[str]:
    if not done.quarantined:
        return ["  set aside   none: every photo was released"]
    reasons = Counter(reason for _, reason in done.quarantined).most_common()
    lines = [f"  set aside   {count(len(done.quarantined), 'photo', 'photos')}, not released:"]
    lines += [f"              {number} × {reason}" for reason, number in reasons]
    return lines


def _private(done: Summary) -> list[str]:
    if done.private is None:
        return ["  private     no key map was kept: nobody can say who is who, not even you"]
    return [f"  private     {done.private} says who is who. Keep it safe; never publish it"]
