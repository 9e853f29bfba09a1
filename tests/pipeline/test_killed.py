"""A process that is really killed, and the run that continues it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from everyface.errors import EveryfaceError, InputError, OutputError, TooFewPeopleError
from everyface.faces import reading
from everyface.pipeline import Options, Secrets, Summary, run
from everyface.release import read_key_map, verify
from tests.pipeline import killed
from tests.pipeline.conftest import QUICK, K, snapshot

ROOT = Path(__file__).parents[2]
ASKED = Options(k=K, recipe=QUICK)
MOMENTS = [("reading", 2), ("gate", 1), ("writing", 4), ("published", 1)]


@pytest.fixture(scope="module", autouse=True)
def _small_shards() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "SHARD", killed.SHARD)
        yield


def start(photos: Path, out: Path, moment: str, count: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.pipeline.killed", str(photos), str(out)]
    environment = {**os.environ, "PYTHONPATH": "src:.", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen([*command, moment, str(count)], cwd=ROOT, env=environment)


def resumed(few: Path, out: Path, **how: object) -> Summary:
    return run([few], out, "each", ASKED, resume=True, **how)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def calm(few: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the release of the same run, never killed."""
    out = tmp_path_factory.mktemp("calm") / "release"
    run([few], out, "each", ASKED, secrets=Secrets(killed.SEED))
    return out


@pytest.mark.parametrize(("moment", "count"), MOMENTS)
def test_it_ends_in_the_same_release(
    few: Path, calm: Path, tmp_path: Path, moment: str, count: int
) -> None:
    out = tmp_path / "release"
    assert start(few, out, moment, count).wait() == -signal.SIGKILL
    assert (tmp_path / "release.work" / "run.json").stat().st_mode & 0o077 == 0
    if moment == "published":
        verify(out)
    else:
        assert not out.exists()
        with pytest.raises(OutputError, match="--resume"):
            run([few], out, "each", ASKED)
    told: list[tuple[str, int]] = []
    done = resumed(few, out, tick=lambda stage, done, _: told.append((stage, done)))
    if moment in ("gate", "writing"):
        assert [at for stage, at in told if stage == "reading"] == [7], "nothing is read twice"
    assert snapshot(out) == snapshot(calm)
    private = tmp_path / "release.private"
    assert read_key_map(private) == read_key_map(calm.with_name("release.private"))
    assert (done.photos, done.private) == (7, private)
    assert done.released + len(done.quarantined) == 7
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release", "release.private"]


@pytest.fixture
def left(few: Path, calm: Path, tmp_path: Path) -> Path:
    """Return where a run was left, as far as `run.json` tells, and nothing done."""
    work = tmp_path / "release.work"
    work.mkdir()
    asked = {**ASKED.as_dict(), "subjects": "each"}
    asked["photos"] = [str(path) for path in sorted(few.iterdir())]
    (work / "run.json").write_text(json.dumps({"seed": killed.SEED, "stamp": 0, "asked": asked}))
    return tmp_path / "release"


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"k": 2}, "k changed"),
        ({"form": "photos"}, "form changed"),
        ({"gate": False}, "gate changed"),
        ({"select": "gender"}, "select changed"),
        ({"max_risk": 0.1}, "max_risk changed"),
        ({"recipe": "mdav"}, "recipe changed"),
        ({"form": "photos", "background": "blur"}, "form, background changed"),
    ],
)
def test_other_options_are_refused(few: Path, left: Path, changed: dict, name: str) -> None:
    options = Options(**{"k": K, "recipe": QUICK, **changed})
    with pytest.raises(InputError, match=name):
        run([few], left, "each", options, resume=True)
    assert (left.with_name("release.work") / "run.json").exists()


def test_other_photos_people_and_seeds_are_refused(few: Path, left: Path) -> None:
    some = sorted(few.iterdir())[:5]
    with pytest.raises(InputError, match="photos changed"):
        run(some, left, "each", ASKED, resume=True)
    with pytest.raises(InputError, match="subjects changed"):
        run([few], left, "folder", ASKED, resume=True)
    with pytest.raises(InputError, match="seed changed"):
        resumed(few, left, secrets=Secrets(1))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"seed": 1}'])
def test_a_damaged_state_is_named(few: Path, left: Path, text: str) -> None:
    state = left.with_name("release.work") / "run.json"
    state.write_text(text)
    with pytest.raises(OutputError, match="damaged"):
        resumed(few, left)


def test_with_nothing_to_resume_it_simply_runs(few: Path, calm: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    run([few], out, "each", ASKED, resume=True, secrets=Secrets(killed.SEED))
    assert snapshot(out) == snapshot(calm)


def test_another_release_in_the_way_is_not_taken_for_the_own(
    few: Path, left: Path, calm: Path
) -> None:
    state = left.with_name("release.work") / "run.json"
    state.write_text(state.read_text().replace(str(killed.SEED), "5"))
    left.symlink_to(calm)
    with pytest.raises(OutputError, match="already exists"):
        resumed(few, left)


def test_a_changed_release_is_not_taken_for_the_own(few: Path, left: Path, calm: Path) -> None:
    left.mkdir()
    (left / "images").mkdir()
    for path in (calm / "images").iterdir():
        (left / "images" / path.name).write_bytes(path.read_bytes())
    with pytest.raises(EveryfaceError):
        resumed(few, left)
    assert left.exists()


def test_a_refused_run_is_over(few: Path, tmp_path: Path) -> None:
    """What was read serves the next run, with other options; nothing has to be resumed."""
    out = tmp_path / "release"
    with pytest.warns(UserWarning, match="for the next run"), pytest.raises(TooFewPeopleError):
        run([few], out, "each", Options(k=9, recipe=QUICK))
    assert [path.name for path in tmp_path.iterdir()] == ["release.work"]
    assert [path.name for path in (tmp_path / "release.work").iterdir()] == ["faces"]
    told: list[tuple[str, int]] = []
    run([few], out, "each", ASKED, tick=lambda stage, done, _: told.append((stage, done)))
    assert [done for stage, done in told if stage == "reading"] == [7]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release", "release.private"]


def test_a_folder_of_somebody_else_is_not_removed(few: Path, tmp_path: Path) -> None:
    work = tmp_path / "release.work"
    work.mkdir()
    (work / "thesis.txt").write_text("precious")
    with pytest.raises(OutputError, match="not of an unfinished run"):
        run([few], tmp_path / "release", "each", ASKED)
    assert (work / "thesis.txt").read_text() == "precious"
