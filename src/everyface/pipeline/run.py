"""The whole job from photos to a release, in a work folder that survives a kill."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from everyface.errors import InputError, OutputError
from everyface.faces import read
from everyface.faces.photo import find_photos
from everyface.files import write_bytes, writing
from everyface.guarantee import Guarantee, Level
from everyface.models import policy
from everyface.pipeline.options import Options
from everyface.pipeline.release import Release, new_seed
from everyface.pipeline.walk import walk
from everyface.progress import Tick, silent
from everyface.release import work_folder

_STATE = "run.json"


@dataclass(frozen=True)
class Summary:
    """What a run made, for people and for machines."""

    out: Path
    private: Path | None
    photos: int
    released: int
    quarantined: tuple[tuple[Path, str], ...]
    people: int
    k: int
    k_reached: int
    groups: int
    guarantee: Guarantee
    gate: Mapping[str, Any] | None
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "out": str(self.out),
            "private": None if self.private is None else str(self.private),
            "photos": self.photos,
            "released": self.released,
            "quarantined": [
                {"photo": str(path), "reason": reason} for path, reason in self.quarantined
            ],
            "people": self.people,
            "k": self.k,
            "k_reached": self.k_reached,
            "groups": self.groups,
            "guarantee": {
                "level": self.guarantee.level.label,
                "lowered_by": list(self.guarantee.lowered_by),
            },
            "gate": self.gate,
            "seconds": round(self.seconds, 1),
        }


@dataclass(frozen=True)
class Secrets:
    """What stays with the custodian.

    Parameters
    ----------
    seed
        Makes the same release again; a new one is drawn when None.
    private
        Where the key map and the photos set aside go, as in `Release.save`.
    passphrase
        Encrypts the key map.
    """

    seed: int | None = None
    private: Path | Literal["beside"] | None = "beside"
    passphrase: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Job:
    """What must not change between a run and its continuation."""

    seed: int
    stamp: int
    asked: Mapping[str, Any]


def run(
    paths: Sequence[Path],
    out: Path,
    subjects: str,
    options: Options,
    *,
    resume: bool = False,
    secrets: Secrets = Secrets(),
    tick: Tick = silent,
) -> Summary:
    """Read, anonymise and release; killed at any moment, it continues with `resume`.

    All that is unfinished lies in ``OUT.work``, readable by its owner only. It is removed when
    the release stands, and nothing stands under `out` before.
    """
    started = time.monotonic()
    if options.commercial:
        policy.restrict()
    photos = find_photos(paths)
    asked = {
        **options.as_dict(),
        "subjects": subjects,
        "photos": [str(path.absolute()) for path in photos],
    }
    work = work_folder(out)
    job = _begun(work, json.loads(json.dumps(asked)), secrets.seed, resume)
    faces = read(photos, subjects, tick=tick, store=work / "faces")
    release = Release(walk(faces, options, job.seed, tick), options, job.seed)
    private = secrets.private
    release.save(out, private=private, passphrase=secrets.passphrase, stamp=job.stamp, tick=tick)
    with writing(work):
        shutil.rmtree(work, ignore_errors=True)
    beside = out.with_name(f"{out.name}.private") if private == "beside" else private
    return _summary(release, out, beside, time.monotonic() - started)


def _begun(work: Path, asked: Mapping[str, Any], seed: int | None, resume: bool) -> Job:
    """Start a job, or take up the one that was left."""
    state = work / _STATE
    if state.exists() and not resume:
        raise OutputError(
            f"an unfinished run lies in {work}",
            "continue it with --resume, or delete that folder to start anew",
        )
    if state.exists():
        held = json.loads(state.read_text("utf-8"))
        job = Job(held["seed"], held["stamp"], held["asked"])
        if job.asked != asked or seed not in (None, job.seed):
            changed = [key for key in asked if job.asked.get(key) != asked[key]] or ["seed"]
            raise InputError(
                f"the unfinished run in {work} was asked for something else "
                f"({', '.join(changed)} changed)",
                "resume it with the same photos and options, or delete that folder",
            )
        return job
    job = Job(new_seed() if seed is None else seed, int(time.time()), asked)
    with writing(work):
        work.mkdir(parents=True, exist_ok=True, mode=0o700)
        work.chmod(0o700)
    text = json.dumps({"seed": job.seed, "stamp": job.stamp, "asked": dict(asked)})
    write_bytes(state, text.encode(), private=True)
    return job


def _summary(release: Release, out: Path, private: Path | None, seconds: float) -> Summary:
    """Read back what the certificate says of the finished release."""
    held = json.loads((out / "certificate.json").read_text("utf-8"))
    walked = release.walked
    return Summary(
        out=out,
        private=private,
        photos=len(walked.faces.photos),
        released=len(walked.faces.photos) - held["refused"]["total"],
        quarantined=tuple(release.refused()),
        people=held["counts"]["people"],
        k=held["k"],
        k_reached=held["k_reached"],
        groups=held["counts"]["groups"],
        guarantee=Guarantee(
            Level.from_label(held["guarantee"]["level"]), tuple(held["guarantee"]["lowered_by"])
        ),
        gate=None if held["gate"] == "not run" else held["gate"],
        seconds=seconds,
    )
