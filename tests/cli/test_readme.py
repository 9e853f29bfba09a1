"""The README's commands, typed one after the other by somebody with a folder of photos."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

import everyface.pipeline.run  # noqa: F401
from everyface.demo import people
from tests.test_project import ROOT, commands

ELSEWHERE = {("models", "pull")}
"""Needs packages that were downloaded by hand; tests/models does it."""
MADE_FIRST = ["doctor", "anonymize", "verify", "key"]


PEOPLE = 16
"""Enough for ten to be told apart by their faces alone, which counts lookalikes as one."""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with one photo each of some people, and no word about who is who."""
    monkeypatch.setattr(sys.modules["everyface.pipeline.run"], "new_seed", lambda: 20_261_119)
    (tmp_path / "photos").mkdir()
    for path in people.make(tmp_path / "people", PEOPLE, 2)[::2]:
        shutil.move(path, tmp_path / "photos" / f"{path.parent.name}.jpg")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_first_release(cli, desk: Path) -> None:
    lines = [words for words in commands(ROOT / "README.md") if tuple(words[:2]) not in ELSEWHERE]
    lines.sort(key=lambda w: MADE_FIRST.index(w[0]) if w[0] in MADE_FIRST else len(MADE_FIRST))
    said: dict[str, str] = {}
    for words in lines:
        typed = " ".join(words)
        if typed in said:
            continue
        if "FINGERPRINT" in words:
            words[words.index("FINGERPRINT")] = cli("key", "--json").document["fingerprint"]
        ran = cli(*words)
        # Only doctor judges the machine that the tests happen to run on.
        assert ran.code == 0 or (words[0] == "doctor" and "This machine is not fit" in ran.out), (
            f"everyface {typed}: {ran.err}"
        )
        assert "error" not in ran.err
        said[typed] = ran.out
    assert "This machine is" in said["doctor"]
    [released] = re.findall(
        rf"Released (\d+) of {PEOPLE} photos", said["anonymize photos/ -o release"]
    )
    assert int(released) >= 5
    assert "k-anonymous: every face is shared" in said["anonymize photos/ -o release"]
    assert f"release holds what it promises: {released} images" in said["verify release"]
    assert "no key was given" in said["verify release"]
    assert "no key was given" not in said["verify release --key FINGERPRINT"]
    assert str(desk / "photos" / "person_001.jpg") in said["keymap release.private"]
    assert "fingerprint" in said["key"]
    assert "everyface" in said["recipes"]
    assert {"models licences", "models list"} <= said.keys()
