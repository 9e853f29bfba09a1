"""Where a release, its work and its private part lie, and what must not lie where."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from everyface.errors import OutputError
from everyface.files import writing
from everyface.release.draft import Settings


@dataclass(frozen=True)
class Places:
    """The folders of one release, absolute."""

    out: Path
    work: Path
    private: Path | None

    @classmethod
    def of(cls, out: Path, settings: Settings) -> Places:
        """Derive every folder from where the release shall stand."""
        out = out.absolute()
        beside = out.with_name(f"{out.name}.private")
        private = beside if settings.private == "beside" else settings.private
        return cls(out, work_folder(out), None if private is None else Path(private).absolute())

    @property
    def stage(self) -> Path:
        """The release while it is being made."""
        return self.work / "stage"

    @property
    def journal(self) -> Path:
        """What of the stage is finished."""
        return self.work / "stage.jsonl"

    def check(self, sources: Iterable[Path]) -> None:
        """Refuse to overwrite anything, and to mix originals with what is released."""
        require_empty(self.out)
        if self.private is not None and (
            _inside(self.private, self.out) or _inside(self.out, self.private)
        ):
            raise OutputError(
                f"the private folder {self.private} and the release {self.out} lie in one another",
                "keep the key map outside the release",
            )
        folders = [place for place in (self.out, self.stage, self.private) if place is not None]
        for source in {path.parent for path in sources}:
            for place in folders:
                if _inside(source, place):
                    raise OutputError(
                        f"originals lie in {source}, inside {place}", "release to another folder"
                    )


def work_folder(out: Path) -> Path:
    """Return where the work of a release lies until it is finished: beside it, on the same disk."""
    out = out.absolute()
    return out.with_name(f"{out.name}.work")


def require_empty(out: Path) -> None:
    """Refuse to write over anything."""
    with writing(out):
        if out.is_symlink() or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
            raise OutputError(
                f"{out} already exists", "choose a new folder; nothing is ever overwritten"
            )


def _inside(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
