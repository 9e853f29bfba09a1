"""A draft becomes a release: staged, certified, verified, and moved into place in one step."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from everyface import __version__
from everyface.errors import InputError
from everyface.files import write_bytes, writing
from everyface.progress import Tick, silent
from everyface.release.certificate import (
    CERTIFICATE,
    IMAGES,
    README,
    SCHEMA,
    SIGNATURE,
    Gate,
    canonical,
    gate_from,
    validated,
)
from everyface.release.claims import gate_breaches
from everyface.release.draft import Draft, Item, Settings
from everyface.release.leaks import strings
from everyface.release.names import Names
from everyface.release.places import Places
from everyface.release.private import require_free, write_private
from everyface.release.readme import readme
from everyface.release.reasons import reason_counts
from everyface.release.staging import Journal, Render, Staged, stage_images
from everyface.release.verification import verify

Audit = Callable[[Sequence[Path]], Mapping[str, Any] | None]


def write(
    draft: Draft,
    out: Path,
    render: Render,
    *,
    settings: Settings,
    audit: Audit | None = None,
    tick: Tick = silent,
) -> Path:
    """Write a release and its private part; nothing stands under `out` until all of it does.

    Parameters
    ----------
    draft
        What to release.
    out
        The folder of the release; it must not exist, or be empty.
    render
        Item's index → its pixels, uint8 (h, w, 3). It must depend on the draft and the seed
        alone; it is called once for each file, and once for each group of a k-anonymous release.
    settings
        Seed, time stamp, key, and where the private part goes.
    audit
        The last look: attacks the written files, given in the order of the items, and returns
        what it found (see `everyface.release.certificate.gate_from`), or None if there is
        nothing to attack with. It may raise; then nothing is released. None: not run, and the
        certificate says so.
    tick
        Hears how many files are written.

    Returns
    -------
    Path
        The release.
    """
    draft.check()
    names = Names(settings.seed)
    places = Places.of(out, settings)
    places.check(draft.sources)
    if places.private is not None:
        require_free(places.private, names.release(draft))
    with writing(places.work):
        places.work.mkdir(parents=True, exist_ok=True, mode=0o700)
    journal = Journal(places.journal, draft, names)
    journal.resume(places.stage)
    staged = stage_images(draft, places.stage, render, names, journal, tick)
    found = None if audit is None else audit([places.stage / IMAGES / s.name for s in staged])
    data = {**_certificate(draft, staged, names, settings.day), "gate": _gate(found, draft.k)}
    _certify(draft, places.stage, data, settings)
    _stamp(places.stage, settings.day)
    verify(places.stage, settings.signer.public_key)
    if places.private is not None:
        key_map = _key_map(draft, staged, names, settings.seed)
        write_private(places.private, key_map, draft.refused, settings.passphrase)
    _publish(places)
    return places.out


def _gate(found: Mapping[str, Any] | None, k: int) -> dict[str, Any] | str:
    """Bring what the attacks found into the certificate; refuse figures above the bound."""
    if found is None:
        return "not run"
    try:
        data = gate_from(found)
        gate = Gate.model_validate_json(canonical(data))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"the gate's figures cannot be certified ({error})") from error
    for breach in gate_breaches(gate, k):
        raise InputError(
            f"the gate did not pass: {breach.what}",
            "raise k or the background policy, or allow more rounds",
        )
    return data


def _certify(draft: Draft, stage: Path, data: dict[str, Any], settings: Settings) -> None:
    """Write the note, the certificate and its signature into the stage."""
    key = settings.signer.public_key
    note = readme(draft.claim.level.label, draft.k, data["gate"] != "not run", key)
    write_bytes(stage / README, note)
    data["readme"] = {"sha256": hashlib.sha256(note).hexdigest(), "bytes": len(note)}
    _refuse_names(data, draft)
    raw = validated(data)
    write_bytes(stage / CERTIFICATE, raw)
    signature = {
        "algorithm": "Ed25519",
        "public_key": key,
        "signature": settings.signer.sign(raw),
    }
    write_bytes(stage / SIGNATURE, canonical(signature))


def _certificate(draft: Draft, staged: Sequence[Staged], names: Names, day: int) -> dict[str, Any]:
    files, groups = _files(draft, staged, names)
    return {
        "schema_version": SCHEMA,
        "release": names.release(draft),
        "created": datetime.fromtimestamp(day, UTC).date().isoformat(),
        "software": {"name": "everyface", "version": __version__},
        "form": draft.form,
        "k": draft.k,
        "k_reached": min(group["people"] for group in groups),
        "counts": {
            "files": len(files),
            "faces": sum(len(item.people) for item in draft.items),
            "people": len({person for item in draft.items for person in item.people}),
            "groups": len(groups),
        },
        "guarantee": {
            "level": draft.claim.level.label,
            "lowered_by": list(draft.claim.lowered_by),
        },
        "background": draft.background,
        "carried_over": list(draft.carried_over),
        "recipe": dict(draft.recipe),
        "models": [
            {key: model[key] for key in ("name", "sha256", "licence")} for model in draft.models
        ],
        "notes": dict(draft.notes),
        "refused": {
            "total": len(draft.refused),
            "reasons": reason_counts(reason for _, reason in draft.refused),
        },
        "groups": groups,
        "files": files,
    }


def _files(
    draft: Draft, staged: Sequence[Staged], names: Names
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the entries of files and groups, under their new names and in shuffled order."""
    shared = _shared(draft, staged)
    numbers = names.numbers(shared.values())
    files = [
        {
            **asdict(image),
            "groups": [numbers[shared[group]] for group in item.groups],
            "people": [names.person(p) for p in item.people] if draft.form == "faces" else [],
        }
        for item, image in zip(draft.items, staged, strict=True)
    ]
    merged = [
        Item(item.source, item.people, tuple(shared[group] for group in item.groups))
        for item in draft.items
    ]
    people = replace(draft, items=merged).people_behind()
    count: dict[int, int] = {}
    for item in merged:
        for group in set(item.groups):
            count[group] = count.get(group, 0) + 1
    groups = [
        {"group": number, "people": people[group], "files": count[group]}
        for group, number in numbers.items()
    ]
    return sorted(files, key=lambda entry: str(entry["name"])), groups


def _shared(draft: Draft, staged: Sequence[Staged]) -> dict[int, int]:
    """Map groups to themselves, or to one another where chance gave them the same picture."""
    groups = {group for item in draft.items for group in item.groups}
    if not draft.identical:
        return {group: group for group in groups}
    first: dict[str, int] = {}
    return {
        item.groups[0]: first.setdefault(image.sha256, item.groups[0])
        for item, image in zip(draft.items, staged, strict=True)
    }


def _refuse_names(data: Mapping[str, Any], draft: Draft) -> None:
    """Refuse a certificate into whose free text the name of an original has slipped."""
    free = {key: value for key, value in data.items() if key not in ("files", "groups")}
    text = "\n".join(strings(free))
    for path in set(draft.sources):
        for word in {path.name, path.stem, str(path.parent.absolute())}:
            if (
                len(word) > 4
                and word in text
                and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
            ):
                raise InputError(
                    f"the certificate would name the original {path}",
                    "take the name out of the recipe, the notes or what was carried over",
                )


def _key_map(draft: Draft, staged: Sequence[Staged], names: Names, seed: int) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA,
        "release": names.release(draft),
        "keep": "Private. It leads from every released file back to its original.",
        "seed": seed,
        "files": [
            {
                "original": str(item.source.absolute()),
                "released": f"{IMAGES}/{image.name}",
                "people": list(item.people),
                "pseudonyms": [names.person(person) for person in item.people],
            }
            for item, image in zip(draft.items, staged, strict=True)
        ],
        "refused": [
            {"original": str(path.absolute()), "reason": reason} for path, reason in draft.refused
        ],
    }


def _stamp(stage: Path, day: int) -> None:
    """Give every file and folder the one time and the usual mode."""
    with writing(stage):
        for path in [*stage.rglob("*"), stage]:
            path.chmod(0o755 if path.is_dir() else 0o644)
            os.utime(path, (day, day))


def _publish(places: Places) -> None:
    """Move the stage to its final name, in one step, and clear away what made it."""
    with writing(places.out):
        if places.out.exists():
            places.out.rmdir()
        places.stage.rename(places.out)
        places.journal.unlink(missing_ok=True)
        if not any(places.work.iterdir()):
            shutil.rmtree(places.work)
