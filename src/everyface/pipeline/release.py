"""What the walk gives back: a release that can be looked at, and saved."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from everyface.arrays import U8
from everyface.errors import InputError
from everyface.faces.faceset import FaceSet
from everyface.guarantee import Level
from everyface.merge import gives_away
from everyface.models import policy, registry
from everyface.pipeline.audit import Written, audit, certified
from everyface.pipeline.options import Options
from everyface.pipeline.stages import PhotosStage
from everyface.pipeline.walk import Walked, walk
from everyface.progress import Tick, silent
from everyface.release import Draft, Item, Settings, Signer, write
from everyface.spaces.components import one_thread

_READERS = ("yunet_fp32", "face_mesh", "age", "gender")
"""The networks that every face has gone through."""
_AGAIN = 8
"""How often files that fail the last look are changed or taken out, and all is written anew."""
_AT_RISK = "an attack could still recognise somebody in it whatever face was put in"


class _StillAtRiskError(Exception):
    """Some written faces fail the last look."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        super().__init__()


@dataclass
class Release:
    """Faces that are ready to be published; nothing is written before `save`.

    Attributes
    ----------
    walked
        Who got which face, and what the gate found.
    options
        What was asked for.
    seed
        The secret of this release. Whoever has it can replay the method.
    """

    walked: Walked
    options: Options
    seed: int = field(repr=False)

    @one_thread()
    def save(
        self,
        out: str | Path,
        *,
        private: Path | Literal["beside"] | None = "beside",
        passphrase: str | None = None,
        stamp: int | None = None,
        tick: Tick = silent,
    ) -> Path:
        """Write the release, its certificate, and beside it the private key map.

        Parameters
        ----------
        out
            A new folder.
        private
            Where the key map and the photos set aside go; ``"beside"`` is ``OUT.private``, None
            writes neither.
        passphrase
            Encrypts the key map.
        stamp
            The release's time stamp in seconds since 1970, now when None; only its day is used.
        tick
            Hears how far the work is.

        Returns
        -------
        Path
            The release.

        Examples
        --------
        >>> import everyface as ef
        >>> release = ef.anonymize(faces, k=3, recipe="k-same-m")
        >>> folder = release.save("for-publication", private=Path("for-me-alone"))
        >>> sorted(path.name for path in folder.iterdir())
        ['README.txt', 'certificate.json', 'certificate.sig', 'images']
        >>> len(list((folder / "images").iterdir()))
        24
        """
        now = int(time.time()) if stamp is None else stamp
        settings = Settings(self.seed, now, Signer.load(), private, passphrase)
        for _ in range(_AGAIN):
            rows = self._rows()
            try:
                return write(
                    self._draft(rows),
                    Path(out),
                    lambda index, rows=rows: self._render(rows[index]),  # type: ignore[misc]
                    settings=settings,
                    audit=lambda paths, rows=rows: self._audit(paths, rows, tick),  # type: ignore[misc]
                    tick=tick,
                )
            except _StillAtRiskError as found:
                self.walked.stage.give_up(found.rows)
        raise InputError(
            f"nothing was released to {out}: written files still fail the attacks",
            "use a stronger --background, a larger k, or --form faces",
        )

    @one_thread()
    def image(self, row: int) -> U8:
        """Return the file of one face (faces form) or of its photo (photos form)."""
        return self._render((row,))

    def _rows(self) -> list[tuple[int, ...]]:
        """Return the faces of each file to be written."""
        stage = self.walked.stage
        alive = np.flatnonzero(~stage.gone)
        if self.options.form == "faces":
            return [(int(row),) for row in alive]
        photo = self.walked.faces.photo
        by_photo: dict[int, list[int]] = {}
        for row in alive:
            by_photo.setdefault(int(photo[row]), []).append(int(row))
        return [tuple(rows) for rows in by_photo.values()]

    def _render(self, rows: tuple[int, ...]) -> U8:
        stage = self.walked.stage
        if isinstance(stage, PhotosStage):
            return stage.render_photo(int(self.walked.faces.photo[rows[0]]))
        return stage.render(rows[0])

    def _audit(
        self, paths: Iterable[Path], rows: list[tuple[int, ...]], tick: Tick
    ) -> Mapping[str, Any] | None:
        if not self.walked.galleries:
            return None
        files = [Written(path, faces) for path, faces in zip(paths, rows, strict=True)]
        verdicts, order, missed = audit(self.walked, files, self.options.bound, tick)
        failing = np.unique([row for v in verdicts for row in order[v.failing]])
        if len(failing):
            raise _StillAtRiskError(failing.astype(np.int64))
        account = certified(self.walked, verdicts, self.options.bound)
        account["price"]["faces_not_detected"] = float(missed)
        return account

    def _draft(self, rows: list[tuple[int, ...]]) -> Draft:
        walked, options = self.walked, self.options
        faces, people = walked.faces, walked.people
        items = [
            Item(
                source=faces.photos[faces.photo[part[0]]],
                people=tuple(int(people.of_row[row]) for row in part),
                groups=tuple(self._group(row) for row in part),
            )
            for part in rows
        ]
        policy = options.policy if options.form == "photos" else None
        return Draft(
            form=options.form,
            k=options.k,
            recipe=options.method.as_dict(),
            guarantee=walked.guarantee,
            items=items,
            made_of=self._made_of(items),
            refused=self.refused(),
            models=_models(walked),
            notes=walked.notes,
            carried_over=() if policy is None else (gives_away(policy), *self._raised()),
            background=None if policy is None else policy.value,
        )

    def _group(self, row: int) -> int:
        """Return what a face shares with others: its surrogate; else the group it came from."""
        walked = self.walked
        if self.options.form == "photos" or walked.guarantee.level is Level.K_ANONYMOUS:
            return walked.stage.code(row)
        return int(walked.stage.group[row])

    def _made_of(self, items: list[Item]) -> dict[int, int]:
        """Count, in the photos form, the people whose average each surrogate is."""
        if self.options.form == "faces":
            return {}
        used = {group for item in items for group in item.groups}
        walked = self.walked
        return {code: len(walked.pool.made_of(walked.partition, code)) for code in used}

    def _raised(self) -> tuple[str, ...]:
        stage = self.walked.stage
        if not isinstance(stage, PhotosStage):
            return ()
        photos = np.unique(stage.faces.photo[~stage.gone])
        found = [stage.background(int(photo)) for photo in photos]
        return tuple(
            f"in {found.count((policy, strength))} photos the gate raised the background policy"
            f" to {policy}" + (f" at {strength:.0%} of its strength" if strength < 1 else "")
            for policy, strength in stage.raised
            if (policy, strength) in found
        )

    def refused(self) -> list[tuple[Path, str]]:
        """Return the photos set aside and why: those refused on reading, and by the gate."""
        faces = self.walked.faces
        found = {refusal.photo: refusal.reason for refusal in self.walked.refused}
        for photo in faces.photo[self.walked.stage.gone]:
            found.setdefault(int(photo), _AT_RISK)
        return [(faces.photos[photo], reason) for photo, reason in sorted(found.items())]


def _models(walked: Walked) -> list[dict[str, str]]:
    names = [*_READERS]
    names += [gallery.recogniser.model for gallery in walked.galleries]
    found = [registry.entry(name) for name in dict.fromkeys(names)]
    return [{"name": e.name, "sha256": e.files[0].sha256, "licence": e.licence} for e in found]


def anonymize(
    faces: FaceSet,
    k: int = 5,
    recipe: str | Path = "everyface",
    *,
    random_state: int | None = None,
    tick: Tick = silent,
    **options: Any,
) -> Release:
    """Give every face a surrogate that stands for at least `k` people.

    Parameters
    ----------
    faces
        What `everyface.read` found.
    k
        The least number of people behind each face.
    recipe
        A method's name (`everyface.recipe.names`) or a TOML file.
    random_state
        Seed, to make the same release again: a secret. A new one is drawn when None.
    tick
        Hears how far the work is.
    **options
        The rest of `everyface.pipeline.Options`: form, background, select, gate, max_risk,
        commercial.

    Returns
    -------
    Release
        What can be looked at, and saved.

    Examples
    --------
    >>> import everyface as ef
    >>> release = ef.anonymize(faces, k=4, recipe="k-same-m", random_state=42)
    >>> release.walked.guarantee.level.label
    'k-anonymous'
    >>> import numpy as np
    >>> int(np.bincount(release.walked.partition.labels).min())  # people in the smallest group
    4
    >>> release.image(0).shape  # the face that stands for the first one
    (512, 512, 3)
    """
    seed = new_seed() if random_state is None else random_state
    asked = Options(k=k, recipe=recipe, **options)
    if asked.commercial:
        policy.restrict()
        for name in _READERS:
            policy.require_allowed(registry.entry(name))
    return Release(walk(faces, asked, seed, tick), asked, seed)


def new_seed() -> int:
    """Draw a seed that nobody can guess."""
    import secrets

    return secrets.randbits(62)
