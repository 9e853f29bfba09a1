from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from everyface.cli import models
from everyface.cli.app import app
from everyface.errors import EveryfaceWarning, InputError


def test_without_arguments_it_shows_its_help(cli) -> None:
    ran = cli()
    assert ran.code == 2
    assert "anonymize" in ran.out
    assert "error" not in ran.err


def test_version(cli) -> None:
    ran = cli("--version")
    assert ran.code == 0
    assert ran.out.startswith("everyface ")


@pytest.mark.parametrize("command", [c.name for c in app.registered_commands])
def test_every_command_has_help(cli, command: str) -> None:
    ran = cli(command, "--help")
    assert ran.code == 0
    assert "Usage" in ran.out


LEAVES = [*[(c.name,) for c in app.registered_commands]] + [
    ("models", c.name) for c in models.app.registered_commands
]


@pytest.mark.parametrize("command", LEAVES, ids=" ".join)
def test_every_command_can_answer_a_machine(cli, command: tuple[str, ...]) -> None:
    assert "--json" in cli(*command, "--help").out
    refused = cli(*command, "--nonsense", "--json")
    assert refused.code == 2
    assert refused.document["error"]["kind"] == "UsageError"


@pytest.mark.parametrize("command", LEAVES, ids=" ".join)
def test_help_is_wrapped_where_the_terminal_ends(
    cli, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = cli(*command, "--help").out
    prose = [line.strip() for line in text.partition("╭")[0].splitlines() if line.strip()]
    assert not [line for line in prose if line[0].islower() and not line.startswith("everyface ")]


def test_a_misspelt_command_is_guessed(cli) -> None:
    ran = cli("anonymise")
    assert ran.code == 2
    assert "'anonymize'?" in ran.err
    assert "Traceback" not in ran.err


def test_errors_in_json_are_one_document(cli) -> None:
    ran = cli("verify", "--jsn", "--json")
    assert ran.code == 2
    assert ran.document["error"]["exit_code"] == 2
    assert "--json" in ran.document["error"]["message"]


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch):
    def fail(error: BaseException) -> None:
        def look():
            raise error

        monkeypatch.setattr("everyface.cli.doctor.LOOKS", (look,))

    return fail


def test_a_users_error_is_one_sentence_and_its_code(cli, failing) -> None:
    failing(InputError("the shoe is untied", "tie it"))
    ran = cli("doctor")
    assert ran.code == 2
    assert ran.err == "error: the shoe is untied. Tie it.\n"
    assert ran.out == ""


def test_an_unexpected_error_leaves_a_private_log_and_no_traceback(
    cli, failing, tmp_path: Path
) -> None:
    failing(ZeroDivisionError("deep inside\nsecond line"))
    ran = cli("doctor", "--json")
    assert ran.code == 1
    assert "Traceback" not in ran.err
    assert "second line" not in ran.err
    [log] = (tmp_path / "log").iterdir()
    assert str(log) in ran.err
    assert "Traceback" in log.read_text()
    assert log.stat().st_mode & 0o077 == 0
    assert ran.document["error"]["kind"] == "UnexpectedError"


def test_debug_shows_the_trace(cli, failing, tmp_path: Path) -> None:
    failing(ZeroDivisionError("deep inside"))
    ran = cli("--debug", "doctor")
    assert ran.code == 1
    assert "Traceback" in ran.err
    assert not (tmp_path / "log").exists()


def test_a_log_that_cannot_be_written_hides_nothing(cli, failing, monkeypatch, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("platformdirs.user_log_dir", lambda _: str(tmp_path / "file"))
    failing(ZeroDivisionError("deep inside"))
    ran = cli("doctor")
    assert ran.code == 1
    assert "--debug" in ran.err


def test_interrupted(cli, failing) -> None:
    failing(KeyboardInterrupt())
    ran = cli("doctor")
    assert ran.code == 130
    assert ran.err.strip() == "stopped."


def test_our_warnings_are_notes_and_others_are_silent(cli, monkeypatch) -> None:
    def look():
        import warnings

        warnings.warn("two files were left out", EveryfaceWarning, stacklevel=1)
        warnings.warn("for developers only", DeprecationWarning, stacklevel=1)
        return iter(())

    monkeypatch.setattr("everyface.cli.doctor.LOOKS", (look,))
    ran = cli("doctor")
    assert ran.err == "note: two files were left out\n"


def test_help_does_not_pay_for_the_networks() -> None:
    """What a command line costs to start: no inference, no learning, no compiler."""
    code = (
        "import sys; from everyface.cli.app import run; run(['anonymize', '--help']);"
        "print([m for m in ('openvino', 'sklearn', 'torch', 'numba', 'cv2') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"
