"""Bars with a rate and an end time on a terminal, a line now and then in a log."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
)
from rich.text import Text

from everyface.progress import Tick, silent

_EVERY = 20.0
"""Seconds between two lines about the same stage in a log."""


def lasting(seconds: float) -> str:
    """Say a duration: 45 s, 3 min 20 s, 2 h 05 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def pace(rate: float | None, left: float | None) -> str:
    """Say how fast work goes and when it ends."""
    if not rate:
        return ""
    said = f"{rate:.1f}/s" if rate >= 1 else f"{1 / rate:.1f} s each"
    if left is None:
        return said
    end = datetime.now() + timedelta(seconds=left)
    return f"{said}, {lasting(left)} left, done at {end:%H:%M}"


class _Pace(ProgressColumn):
    """Rate, time left and the time of day at which a stage ends."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        if task.finished:
            return Text(lasting(task.finished_time or 0.0))
        left = task.time_remaining
        return Text(pace(task.speed, left))


class _Bars:
    """A bar a stage; a stage that starts again gets its bar back."""

    def __init__(self, bars: Progress) -> None:
        self.bars = bars
        self.tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage not in self.tasks:
            self.tasks[stage] = self.bars.add_task(stage, total=total or None)
        task = self.tasks[stage]
        if done < self.bars.tasks[self.bars.task_ids.index(task)].completed:
            self.bars.reset(task)
        self.bars.update(task, completed=done, total=total or None)


class _Lines:
    """One line when a stage starts, one when it ends, and one now and then between."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.stage = ""
        self.finished = False
        self.started = self.said = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self.stage:
            self.stage, self.started, self.said = stage, now, 0.0
            self.finished = False
        ended = bool(total) and done >= total
        if self.finished or (not ended and now - self.said < _EVERY):
            return
        self.finished, self.said = ended, now
        spent = now - self.started
        of = f" {done}/{total}" if total else f" {done}" if done else ""
        if ended:
            tail = f" in {lasting(spent)}" if spent >= 1 else ""
        else:
            rate = done / spent if spent > 1 else None
            left = (total - done) / rate if rate and total else None
            tail = f" ({said})" if (said := pace(rate, left)) else ""
        print(f"{stage}{of}{tail}", file=self.stream, flush=True)


@contextlib.contextmanager
def progress(quiet: bool) -> Iterator[Tick]:
    """Yield what rooms call as they work; draw on standard error, so that results stay clean."""
    if quiet:
        yield silent
    elif sys.stderr.isatty():
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            _Pace(),
        )
        with Progress(*columns, console=Console(stderr=True)) as bars:
            yield _Bars(bars)
    else:
        yield _Lines(sys.stderr)
