"""What a form can promise at all, and whether the attacks' figures are what they say."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime

from everyface.release.breach import Breach
from everyface.release.certificate import Attack, Certificate, Gate
from everyface.release.interval import clopper_pearson

CLOSE = 1e-6


def claims(certificate: Certificate) -> Iterator[Breach]:
    """Check that nothing is claimed that this form, or these figures, cannot carry."""
    level = certificate.guarantee.level
    if certificate.form == "photos" and level != "measured":
        yield Breach("level", f"merged photos can be measured only, not {level}")
    if level == "k-anonymous" and certificate.guarantee.lowered_by:
        yield Breach("level", "the guarantee was lowered and is claimed in full")
    if level == "measured" and not certificate.guarantee.lowered_by:
        yield Breach("level", "the guarantee is not full and no reason is given")
    if certificate.form == "faces" and certificate.background is not None:
        yield Breach("level", "a background policy is claimed for faces without background")
    if created_day(certificate) is None:
        yield Breach("schema", f"{certificate.created} is not a day")
    if isinstance(certificate.gate, Gate):
        yield from gate_breaches(certificate.gate, certificate.k)


def created_day(certificate: Certificate) -> int | None:
    """Return the day of the release in seconds since 1970, None if there is no such day."""
    try:
        day = date.fromisoformat(certificate.created)
    except ValueError:
        return None
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


def gate_breaches(gate: Gate, k: int) -> Iterator[Breach]:
    """Check the attacks' figures against the bound, and the bound against 1/k."""
    if gate.bound > 1 / k + CLOSE:
        yield Breach("gate", f"the gate's bound {gate.bound} is above 1/k = {1 / k:.4f}")
    for attack in gate.attacks:
        yield from _attack(attack, gate.bound)


def _attack(attack: Attack, bound: float) -> Iterator[Breach]:
    name = attack.recogniser
    if attack.found > attack.people:
        yield Breach("gate", f"{name} found {attack.found} of {attack.people} people")
        return
    if abs(attack.rank1 - attack.found / attack.people) > CLOSE:
        yield Breach("gate", f"{name}: rank-1 {attack.rank1} is not {attack.found}/{attack.people}")
    low, high = clopper_pearson(attack.found, attack.people)
    if abs(attack.low - low) > CLOSE or abs(attack.high - high) > CLOSE:
        yield Breach("gate", f"{name}: the interval is not [{low}, {high}]")
    if attack.found / attack.people > bound + CLOSE:
        yield Breach(
            "gate", f"{name} recognised {attack.found} of {attack.people}, the bound is {bound}"
        )
    own, strangers = attack.own_above, attack.strangers_above
    if own is not None and strangers is not None and own > strangers + CLOSE:
        yield Breach("gate", f"{name} matches people to themselves more often than to strangers")
