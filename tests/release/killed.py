"""Write a release slowly, so that a test can kill this process at any moment."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from everyface.arrays import U8
from everyface.release import write
from tests.release import build


def main(folder: Path) -> None:
    plan = build.draft(folder / "in", "photos")
    render = build.renderer(plan)

    def slow(index: int) -> U8:
        time.sleep(0.02)
        return render(index)

    settings = build.settings(private="beside")
    write(plan, folder / "out", slow, settings=settings, audit=lambda paths: build.GATE)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
