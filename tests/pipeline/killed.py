"""Anonymise a folder, and kill this process at one moment of the work."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from everyface.faces import reading
from everyface.pipeline import Options, Secrets, run
from everyface.release import writer
from tests.pipeline.conftest import QUICK, K, one_attacker

SEED = 20_261_119
SHARD = 3


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(photos: Path, out: Path, moment: str, count: int) -> None:
    seen = 0

    def tick(stage: str, done: int, total: int) -> None:
        nonlocal seen
        seen += stage == moment
        if seen == count:
            die()

    reading.SHARD = SHARD
    one_attacker(pytest.MonkeyPatch())
    if moment == "published":
        publish = writer._publish
        writer._publish = lambda places: (publish(places), die())
    run([photos], out, "each", Options(k=K, recipe=QUICK), secrets=Secrets(SEED), tick=tick)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
