"""The walk: faces, group space, groups, synthesis space, surrogates, gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from everyface.arrays import F32, I64
from everyface.attacks.gate import Findings, Gate
from everyface.attacks.naive import Gallery
from everyface.errors import InputError
from everyface.faces.faceset import FaceSet, Refusal
from everyface.faces.identity import available, recogniser
from everyface.grouping.base import Partition
from everyface.grouping.select import fit_within
from everyface.guarantee import Guarantee, Level
from everyface.pipeline.casting import Wishes, cast, foreseen
from everyface.pipeline.options import Options
from everyface.pipeline.people import People
from everyface.pipeline.pool import Painter, Pool
from everyface.pipeline.stages import FacesStage, PhotosStage
from everyface.progress import Tick, silent
from everyface.spaces.base import SynthesisSpace
from everyface.surrogates.base import Surrogates

DEPTH = {"faces": 8, "photos": 4}
"""How many surrogates the gate may try for a unit: in photos it is hair and outline that identify,
and after a few faces a softer background helps more."""
_RESERVE = {"faces": 0.25, "photos": 1.5}
"""Spreads below the gate's limits at which surrogates are sought: merging brings faces nearer."""


@dataclass
class Walked:
    """What the walk made: who gets which face, what is left of the promise, what the gate saw."""

    faces: FaceSet
    refused: tuple[Refusal, ...]
    people: People
    partition: Partition
    pool: Pool
    stage: FacesStage
    guarantee: Guarantee
    notes: dict[str, float]
    galleries: Sequence[Gallery]
    findings: Findings | None
    price: Mapping[str, float]


def walk(faces: FaceSet, options: Options, seed: int, tick: Tick = silent) -> Walked:
    """Take `faces` through the parts that the recipe names."""
    kept = usable(faces)
    if not len(kept):
        raise InputError(
            "no photo can be released", "see the reason given for each photo that was set aside"
        )
    rng = np.random.default_rng(seed)
    people = People.of(kept)
    partition, kind, codes, space, notes = _grouped(kept, people, options, rng, tick)
    made = options.method.make_rule()(codes, partition, rng)
    notes |= dict(made.notes)
    pool = Pool.of(made, partition, codes, rng, kind)
    painter = Painter(space, pool.codes)
    galleries = [Gallery.of(recogniser(name), kept) for name in available()] if options.gate else []
    wishes = _wishes(kept, people, partition, pool, made, options)
    tick("surrogates", 0, 1)
    ranked = cast(pool, foreseen(galleries, painter, people.of_row), wishes, rng)
    tick("surrogates", 1, 1)
    unit = wishes.unit_of[people.of_row]
    stage = (
        PhotosStage(painter, ranked, unit, kept, options.policy)
        if options.form == "photos"
        else FacesStage(painter, ranked, unit, partition.labels[people.of_row])
    )
    first = _unlikeness(stage, people, wishes)
    findings = Gate(galleries, options.bound).run(stage, tick) if options.gate else None
    return Walked(
        faces=kept,
        refused=faces.refused,
        people=people,
        partition=partition,
        pool=pool,
        stage=stage,
        guarantee=_promise(made, space, findings, options),
        notes=notes,
        galleries=galleries,
        findings=findings,
        price={"likeness_before": first, "likeness_after": _unlikeness(stage, people, wishes)},
    )


def usable(faces: FaceSet) -> FaceSet:
    """Return the faces of photos that may be released whole."""
    refused = np.array([refusal.photo for refusal in faces.refused], dtype=np.int64)
    return faces.take(np.flatnonzero(~np.isin(faces.photo, refused)))


def _grouped(
    faces: FaceSet, people: People, options: Options, rng: np.random.Generator, tick: Tick
) -> tuple[Partition, I64 | None, F32, SynthesisSpace, dict[str, float]]:
    """Group people in the group space, and code them in the synthesis space."""
    method = options.method
    tick("grouping", 0, 2)
    space = method.make_synthesis_space().fit(faces)
    codes = people.codes(space, faces)
    where = codes
    if not method.one_space:
        where = people.codes(method.make_group_space().fit(faces), faces)
    tick("grouping", 1, 2)
    grouping = method.make_grouping(options.k, int(rng.integers(2**31)))
    if options.select is None:
        partition = grouping.fit(where).partition_
        tick("grouping", 2, 2)
        return partition, None, codes, space, {}
    found = fit_within(grouping, where, people.kinds(faces, options.select))
    notes = {f"share of people grouped across {options.select}": found.mixed}
    tick("grouping", 2, 2)
    return found.partition, found.kind, codes, space, notes


def _wishes(
    faces: FaceSet,
    people: People,
    partition: Partition,
    pool: Pool,
    made: Surrogates,
    options: Options,
) -> Wishes:
    labels = partition.labels.astype(np.int64)
    shared = len(made.codes) < len(people)
    alone = options.form == "photos" or not shared
    attributes = people.attributes(faces)
    return Wishes(
        unit_of=np.arange(len(people)) if alone else labels,
        group_of=labels,
        people=attributes,
        pool=pool.attributes(partition, attributes),
        reserve=_RESERVE[options.form],
        depth=DEPTH[options.form] if options.gate else 1,
        keep_first=options.method.surrogate.name != "neighbour"
        or not (options.gate or options.select),
    )


def _promise(
    made: Surrogates, space: SynthesisSpace, findings: Findings | None, options: Options
) -> Guarantee:
    """Add up what is left of the promise."""
    promise = made.guarantee
    if space.lowers is not None:
        promise = promise.lowered(*space.lowers)
    if options.form == "photos":
        promise = promise.lowered(
            Level.MEASURED, "the surrogates are merged into the original photos"
        )
    if findings is not None and findings.rechosen and promise.level is Level.WRONG_MAP:
        promise = promise.lowered(
            Level.MEASURED, f"the gate chose another surrogate {findings.rechosen} times"
        )
    return promise


def _unlikeness(stage: FacesStage, people: People, wishes: Wishes) -> float:
    """Return how far, in steps of age, gender and skin, surrogates are from their people."""
    rows = np.unique(people.of_row, return_index=True)[1]
    codes = [stage.code(int(row)) for row in rows if not stage.gone[row]]
    whose = [person for person, row in enumerate(rows) if not stage.gone[row]]
    if not codes:
        return 0.0
    apart = wishes.people[whose] - wishes.pool[codes]
    return round(float(np.sqrt((apart**2).sum(axis=1)).mean()), 4)
