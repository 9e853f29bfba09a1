"""The whole job from photos to a release, in a work folder that survives a kill."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from everyface.errors import EveryfaceWarning, InputError, OutputError
from everyface.faces import read
from everyface.faces.photo import find_photos
from everyface.faces.reading import CROPS
from everyface.files import write_bytes, writing
from everyface.guarantee import Guarantee, Level
from everyface.models import policy
from everyface.pipeline.options import Options
from everyface.pipeline.release import Release, new_seed
from everyface.pipeline.walk import walk
from everyface.progress import Tick, silent
from everyface.release import Signer, read_key_map, verify, work_folder
from everyface.release.certificate import CERTIFICATE, IMAGES
from everyface.release.names import Names
from everyface.release.places import require_empty

_STATE = "run.json"
_FACES = "faces"
_OURS = {"run", "faces", "stage"}
"""What files and folders of a work folder are called, whatever follows the name."""


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

    def folder(self, out: Path) -> Path | None:
        """Return the private folder of the release `out`."""
        return out.with_name(f"{out.name}.private") if self.private == "beside" else self.private


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
    the release stands, and nothing stands under `out` before. A run that is refused is over:
    only what was read stays, for the next one.
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
    job = _begun(work, out, json.loads(json.dumps(asked)), secrets.seed, resume)
    if _stands(out, job):
        refused = _set_aside(out, secrets)
    else:
        with _over_if_refused(work):
            faces = read(photos, subjects, tick=tick, store=work / _FACES)
            release = Release(walk(faces, options, job.seed, tick), options, job.seed)
            release.save(
                out,
                private=secrets.private,
                passphrase=secrets.passphrase,
                stamp=job.stamp,
                tick=tick,
            )
        refused = tuple(release.refused())
    with writing(work):
        shutil.rmtree(work, ignore_errors=True)
    return _summary(out, secrets.folder(out), len(photos), refused, time.monotonic() - started)


def _begun(work: Path, out: Path, asked: Mapping[str, Any], seed: int | None, resume: bool) -> Job:
    """Start a job, or take up the one that was left."""
    state = work / _STATE
    if not (state.exists() and resume):
        require_empty(out)
    if state.exists() and not resume:
        raise OutputError(
            f"an unfinished run lies in {work}",
            "continue it with --resume, or delete that folder to start anew",
        )
    if state.exists():
        job = _left(state)
        if job.asked != asked or seed not in (None, job.seed):
            changed = [key for key in asked if job.asked.get(key) != asked[key]] or ["seed"]
            raise InputError(
                f"the unfinished run in {work} was asked for something else "
                f"({', '.join(changed)} changed)",
                "resume it with the same photos and options, or delete that folder",
            )
        return job
    _require_ours(work)
    job = Job(new_seed() if seed is None else seed, int(time.time()), asked)
    with writing(work):
        work.mkdir(parents=True, exist_ok=True, mode=0o700)
        work.chmod(0o700)
    text = json.dumps({"seed": job.seed, "stamp": job.stamp, "asked": dict(asked)})
    write_bytes(state, text.encode(), private=True)
    return job


def _require_ours(work: Path) -> None:
    """Refuse a folder of somebody else's where the work would lie: it is removed in the end."""
    with writing(work):
        names = {path.name for path in work.iterdir()} if work.exists() else set()
        others = {name for name in names if name.strip(".").partition(".")[0] not in _OURS}
    if others:
        raise OutputError(
            f"{work} already exists and is not of an unfinished run",
            "move it away, or choose another name for -o",
        )


def _left(state: Path) -> Job:
    try:
        held = json.loads(state.read_text("utf-8"))
        return Job(held["seed"], held["stamp"], held["asked"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutputError(
            f"the unfinished run in {state.parent} cannot be continued: {state.name} is damaged",
            "delete that folder to start anew",
        ) from error


@contextlib.contextmanager
def _over_if_refused(work: Path) -> Iterator[None]:
    """End a run that cannot be finished as asked: nothing is left to be resumed.

    Faces that were read are kept, because reading is what takes long and does not depend on the
    options.
    """
    try:
        yield
    except InputError:
        faces = work / _FACES
        with writing(work):
            if any(path.stat().st_size for path in faces.glob(CROPS)):
                for path in {*work.iterdir()} - {faces}:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                warnings.warn(
                    f"what was read of the photos is kept in {work} for the next run; delete "
                    "that folder if there is none",
                    EveryfaceWarning,
                    stacklevel=2,
                )
            else:
                shutil.rmtree(work)
        raise


def _stands(out: Path, job: Job) -> bool:
    """Say whether the run was killed between its last two steps, so that its release stands."""
    images, stem = out / IMAGES, Names(job.seed).first()
    if not images.is_dir() or not any(path.stem == stem for path in images.iterdir()):
        require_empty(out)
        return False
    verify(out, Signer.load().public_key)
    return True


def _set_aside(out: Path, secrets: Secrets) -> tuple[tuple[Path, str], ...]:
    """Read back which photos were set aside: from the key map, or else as the certificate says."""
    private = secrets.folder(out)
    if private is not None:
        held = read_key_map(private, secrets.passphrase)["refused"]
        return tuple((Path(entry["original"]), str(entry["reason"])) for entry in held)
    reasons = _certificate(out)["refused"]["reasons"]
    return tuple((Path(), reason) for reason, count in reasons.items() for _ in range(count))


def _certificate(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / CERTIFICATE).read_text("utf-8")))


def _summary(
    out: Path,
    private: Path | None,
    photos: int,
    refused: tuple[tuple[Path, str], ...],
    seconds: float,
) -> Summary:
    """Say what the certificate of the finished release says."""
    held = _certificate(out)
    return Summary(
        out=out,
        private=private,
        photos=photos,
        released=photos - held["refused"]["total"],
        quarantined=refused,
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
