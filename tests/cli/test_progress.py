from __future__ import annotations

import io
import sys

import pytest

from everyface.cli import progress as module
from everyface.cli.progress import _Lines, lasting, pace, progress


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "0 s"), (59, "59 s"), (61, "1 min 01 s"), (3599.9, "1 h 00 min"), (7500, "2 h 05 min")],
)
def test_durations(seconds: float, said: str) -> None:
    assert lasting(seconds) == said


def test_pace() -> None:
    assert pace(None, None) == ""
    assert pace(12.34, None) == "12.3/s"
    assert pace(0.25, None) == "4.0 s each"
    assert pace(2.0, 90.0).startswith("2.0/s, 1 min 30 s left, done at ")


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, stream = Clock(monkeypatch), io.StringIO()
    tick = _Lines(stream)
    for done in range(101):
        tick("faces", done, 100)
        clock.now += 1
    tick("faces", 100, 100)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "faces 0/100"
    assert lines[-1] == "faces 100/100 in 1 min 40 s"
    assert len(lines) == 6
    assert lines[1].startswith("faces 20/100 (1.0/s, 1 min 20 s left, done at ")


def test_each_stage_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch)
    stream = io.StringIO()
    tick = _Lines(stream)
    for stage in ("faces", "gate", "faces"):
        tick(stage, 0, 0)
        tick(stage, 1, 1)
    assert stream.getvalue().split("\n") == [
        "faces",
        "faces 1/1",
        "gate",
        "gate 1/1",
        "faces",
        "faces 1/1",
        "",
    ]


def test_quiet_says_nothing(capsys) -> None:
    with progress(quiet=True) as tick:
        tick("faces", 1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_bars_and_a_stage_may_start_again(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress(quiet=False) as tick:
        tick("wait", 0, 0)
        for _ in range(2):
            for done in range(4):
                tick("[faces]", done, 3)
    drawn = terminal.getvalue()
    assert "[faces]" in drawn
    assert "3/3" in drawn
