from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from everyface.cli.app import run


@dataclass(frozen=True)
class Ran:
    """What one command line left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on standard output."""
        return dict(json.loads(self.out))


Cli = Callable[..., Ran]


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Cli]:
    """Run a command line in this process, with every folder of the user moved to `tmp_path`."""
    for name in ("EVERYFACE_DEBUG", "EVERYFACE_COMMERCIAL"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("EVERYFACE_KEYS", str(tmp_path / "keys"))
    monkeypatch.setattr("platformdirs.user_log_dir", lambda _: str(tmp_path / "log"))

    def called(*arguments: str | Path) -> Ran:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    with warnings.catch_warnings():
        yield called
