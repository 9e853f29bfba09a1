from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from everyface import pipeline
from everyface.cli import checks
from everyface.errors import OutputError, TooFewPeopleError
from everyface.guarantee import Guarantee, Level

GATE = {
    "bound": 0.2,
    "attacks": [
        {"recogniser": "sface", "people": 10, "found": 1, "rank1": 0.1, "low": 0.0025, "high": 0.44}
    ],
}


def summary(out: Path, **changes: Any) -> pipeline.Summary:
    given: dict[str, Any] = {
        "out": out,
        "private": out.with_name(f"{out.name}.private"),
        "photos": 12,
        "released": 11,
        "quarantined": ((Path("photos/x.jpg"), "no face was found"),),
        "people": 10,
        "k": 5,
        "k_reached": 5,
        "groups": 2,
        "guarantee": Guarantee(Level.K_ANONYMOUS),
        "gate": GATE,
        "seconds": 125.0,
    }
    return pipeline.Summary(**{**given, **changes})


class Job:
    """Stands in for the whole walk, and remembers how it was called."""

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self.subjects = ""
        self.options = pipeline.Options()
        self.how: dict[str, Any] = {}
        self.does: Callable[[Path], pipeline.Summary] = summary

    def __call__(self, paths, out, subjects, options, **how: Any) -> pipeline.Summary:
        self.paths, self.subjects, self.options, self.how = list(paths), subjects, options, how
        how["tick"]("faces", 1, 1)
        return self.does(out)


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> Job:
    made = Job()
    monkeypatch.setattr(pipeline, "run", made)
    return made


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "a.jpg").write_bytes(b"not decoded here")
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "release"


def test_the_defaults_are_the_safe_ones(cli, job: Job, photos: Path, out: Path) -> None:
    ran = cli("anonymize", photos, "-o", out)
    assert ran.code == 0
    assert job.paths == [photos]
    assert job.subjects == "auto"
    assert (job.options.k, job.options.form, job.options.gate) == (5, "faces", True)
    assert job.options.max_risk is None
    assert job.how["secrets"] == pipeline.Secrets(None, "beside", None)
    assert job.how["resume"] is False


def test_the_summary_in_plain_words(cli, job: Job, photos: Path, out: Path) -> None:
    said = cli("anonymize", photos, "-o", out).out
    assert f"Released 11 of 12 photos of 10 people in {out}" in said
    assert "groups of at least 5 (k = 5 asked), 2 groups" in said
    assert "k-anonymous: every face is shared, byte for byte, by at least 5 people" in said
    assert "sface found 1 of 10 again (10.0%, 95 % interval 0.2% to 44.0%; allowed 20.0%)" in said
    assert "1 photo, not released" in said
    assert "1 × no face was found" in said
    assert f"{out}.private says who is who" in said
    assert "2 min 05 s" in said
    assert f"everyface verify {out}" in said


def test_the_summary_hides_nothing_bad(cli, job: Job, photos: Path, out: Path) -> None:
    lowered = Guarantee(Level.K_ANONYMOUS).lowered(Level.MEASURED, "merged into the photos")
    job.does = lambda out: summary(out, guarantee=lowered, gate=None, private=None, quarantined=())
    said = cli("anonymize", photos, "-o", out, "--no-gate", "--private", "none").out
    assert "measured: nothing is proven" in said
    assert "lowered, because merged into the photos" in said
    assert "not run" in said
    assert "every photo was released" in said
    assert "no key map was kept" in said


def test_json_is_one_document_and_progress_stays_away(cli, job, photos, out) -> None:
    ran = cli("anonymize", photos, "-o", out, "--json")
    assert ran.document["released"] == 11
    assert ran.document["guarantee"]["level"] == "k-anonymous"
    assert "faces 1/1" in ran.err
    assert cli("anonymize", photos, "-o", out, "--json", "--quiet").err == ""


def test_every_option_arrives(cli, job: Job, photos: Path, out: Path, tmp_path: Path) -> None:
    (tmp_path / "seed").write_text(" 77\n")
    (tmp_path / "phrase").write_text("correct horse\n")
    table = tmp_path / "people.csv"
    table.write_text("file,subject\na.jpg,A\n")
    ran = cli(
        *("anonymize", photos, "-o", out, "-k", 7, "--recipe", "k-same-select", "--form", "photos"),
        *("--subjects", f"csv:{table}", "--background", "blur", "--select", "gender"),
        *("--max-risk", 0.05, "--resume", "--seed-file", tmp_path / "seed"),
        *("--private", tmp_path / "safe", "--passphrase-file", tmp_path / "phrase"),
        "--commercial",
    )
    assert ran.code == 0
    asked = job.options
    assert (asked.k, asked.recipe, asked.form, asked.select) == (
        *(7, "k-same-select", "photos", "gender"),
    )
    assert (asked.policy.value, asked.max_risk) == ("blur", 0.05)
    assert (asked.gate, asked.commercial) == (True, True)
    assert job.subjects == f"csv:{table}"
    assert job.how["secrets"] == pipeline.Secrets(77, tmp_path / "safe", "correct horse")
    assert job.how["resume"] is True


def test_ctrl_c_says_how_to_go_on(cli, job: Job, photos: Path, out: Path) -> None:
    def interrupt(_: Path) -> pipeline.Summary:
        raise KeyboardInterrupt

    job.does = interrupt
    ran = cli("anonymize", photos, "-o", out, "--json")
    assert ran.code == 130
    assert "Run the same command with --resume to continue." in ran.err
    assert f"{out}.work" in ran.err
    assert ran.document["error"]["exit_code"] == 130


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TooFewPeopleError("k = 5 needs 5 people, but there are 2", "lower k"), 2),
        (OutputError("the disk is full while writing x", "free some space"), 4),
    ],
)
def test_errors_of_the_walk_keep_their_code(cli, job, photos, out, error, code) -> None:
    def fail(_: Path) -> pipeline.Summary:
        raise error

    job.does = fail
    ran = cli("anonymize", photos, "-o", out)
    assert ran.code == code
    assert ran.err.splitlines()[-1].startswith(f"error: {error.what}. ")
    assert ran.out == ""


REFUSED = [
    (["-k", "1"], 2, "k must be 2 or more"),
    (["-k", "many"], 2, "-k"),
    (["--recipe", "k-same-n"], 2, "did you mean k-same-m"),
    (["--recipe", "mine.toml"], 2, "mine.toml cannot be read"),
    (["--recipe", "k-same-select"], 2, "--select gender"),
    (["--form", "film"], 2, "'faces', 'photos'"),
    (["--background", "blurred"], 2, "'blur'"),
    (["--subjects", "folders"], 2, "did you mean folder"),
    (["--subjects", "csv:"], 2, "csv:people.csv"),
    (["--subjects", "csv:nobody.csv"], 2, "nobody.csv does not exist"),
    (["--subjects", "pattern:"], 2, "{person}"),
    (["--max-risk", "2"], 2, "between 0 and 1"),
    (["--max-risk", "0.5"], 2, "above 1/k = 0.2"),
    (["--max-risk", "0.1", "--no-gate"], 2, "nothing is attacked"),
    (["--background", "blur"], 2, "add --form photos"),
    (["--seed-file", "nothing.txt"], 2, "nothing.txt cannot be read"),
    (["--passphrase"], 2, "not a terminal"),
    (["--passphrase-file", "nothing.txt"], 2, "nothing.txt cannot be read"),
    (["--colour", "red"], 2, "--colour"),
]


@pytest.mark.parametrize(("options", "code", "says"), REFUSED, ids=lambda value: str(value)[:30])
def test_what_cannot_be_done_is_said_before_any_work(
    cli, job: Job, photos: Path, out: Path, options: list[str], code: int, says: str
) -> None:
    ran = cli("anonymize", photos, "-o", out, *options)
    assert ran.code == code
    assert says.lower() in ran.err.lower()
    assert ran.err.startswith("error: ")
    assert len(ran.err.splitlines()) == 1
    assert job.paths == []


@pytest.mark.parametrize("text", ["", "twelve", "-1", "1.5"])
def test_a_seed_file_without_a_seed(cli, job, photos, out, tmp_path, text: str) -> None:
    (tmp_path / "seed").write_text(text)
    ran = cli("anonymize", photos, "-o", out, "--seed-file", tmp_path / "seed")
    assert ran.code == 2
    assert "one whole number" in ran.err


def test_a_passphrase_needs_something_to_encrypt(cli, job, photos, out, tmp_path) -> None:
    (tmp_path / "phrase").write_text("correct horse")
    given = ["anonymize", photos, "-o", out, "--passphrase-file", tmp_path / "phrase"]
    assert "nothing to encrypt" in cli(*given, "--private", "none").err
    (tmp_path / "phrase").write_text("\n")
    assert "passphrase is empty" in cli(*given).err
    assert job.paths == []


def test_a_passphrase_is_typed_unseen(job, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(checks.sys, "stdin", type("Terminal", (), {"isatty": lambda _: True})())
    monkeypatch.setattr(checks.typer, "prompt", lambda _, **how: asked.update(how) or "secret")
    assert checks.passphrase(None, True) == "secret"
    assert asked["hide_input"] is True
    assert asked["confirmation_prompt"]


class TestPaths:
    """What must not lie where."""

    @pytest.fixture(autouse=True)
    def _here(self, cli, job: Job, photos: Path, tmp_path: Path) -> None:
        self.cli, self.job, self.photos, self.tmp = cli, job, photos, tmp_path

    def refused(self, *arguments: object) -> str:
        ran = self.cli("anonymize", *arguments)
        assert ran.code == 4
        assert self.job.paths == []
        return ran.err

    def test_a_release_that_exists(self) -> None:
        old = self.tmp / "old"
        old.mkdir()
        (old / "a.png").write_text("precious")
        assert "nothing is ever overwritten" in self.refused(self.photos, "-o", old).lower()
        assert (old / "a.png").read_text() == "precious"

    def test_an_empty_folder_may_become_the_release(self) -> None:
        (self.tmp / "new").mkdir()
        assert self.cli("anonymize", self.photos, "-o", self.tmp / "new").code == 0

    def test_a_file_in_the_way(self) -> None:
        (self.tmp / "file").write_text("precious")
        self.refused(self.photos, "-o", self.tmp / "file")
        assert (self.tmp / "file").read_text() == "precious"

    def test_the_photos_as_release(self) -> None:
        assert "both input and output" in self.refused(self.photos, "-o", self.photos)

    def test_a_release_among_the_photos(self) -> None:
        assert "inside the photos" in self.refused(self.photos, "-o", self.photos / "new")

    def test_a_release_among_the_photos_by_another_name(self) -> None:
        (self.tmp / "link").symlink_to(self.photos)
        assert "inside the photos" in self.refused(self.photos, "-o", self.tmp / "link" / "new")

    def test_photos_inside_the_release(self) -> None:
        error = self.refused(self.photos / "a.jpg", "-o", self.photos)
        assert "inside the release folder" in error

    def test_the_key_map_inside_the_release(self) -> None:
        out = self.tmp / "new"
        for private in (out, out / "private"):
            error = self.refused(self.photos, "-o", out, "--private", private)
            assert "lies inside the release" in error

    def test_the_key_map_among_the_photos(self) -> None:
        error = self.refused(self.photos, "-o", self.tmp / "new", "--private", self.photos)
        assert "both input and private folder" in error


class TestRealBeginnings:
    """The first steps of the real walk: they need no network."""

    def test_a_photo_that_is_not_there(self, cli, tmp_path: Path, out: Path) -> None:
        ran = cli("anonymize", tmp_path / "nobody.jpg", "-o", out)
        assert ran.code == 2
        assert "nobody.jpg cannot be found" in ran.err

    def test_an_empty_folder(self, cli, tmp_path: Path, out: Path) -> None:
        (tmp_path / "empty").mkdir()
        ran = cli("anonymize", tmp_path / "empty", "-o", out, "--json")
        assert ran.code == 2
        assert "there is no photo in" in ran.document["error"]["message"]
        assert not out.exists()
        assert not out.with_name("release.work").exists()

    def test_an_unfinished_run_is_not_forgotten(self, cli, photos: Path, out: Path) -> None:
        work = out.with_name("release.work")
        work.mkdir()
        (work / "run.json").write_text("{}")
        ran = cli("anonymize", photos, "-o", out)
        assert ran.code == 4
        assert "--resume" in ran.err
