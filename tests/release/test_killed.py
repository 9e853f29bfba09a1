from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from everyface.release import read_key_map, verify
from tests.release import build
from tests.release.build import snapshot

ROOT = Path(__file__).parents[2]


def start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.release.killed", str(folder)]
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": "src:."})


def test_a_run_killed_at_any_moment_ends_in_the_same_release(tmp_path: Path) -> None:
    """SIGKILL, again and again: no half release is ever seen, and the end is the same bytes."""
    build.originals(tmp_path / "in")
    out, staged = tmp_path / "out", tmp_path / "out.work" / "stage" / "images"
    for files in (1, 4, 8, 12, 14):
        process = start(tmp_path)
        deadline = time.monotonic() + 20
        while process.poll() is None and time.monotonic() < deadline:
            if staged.is_dir() and len(list(staged.glob("*.jpg"))) >= files:
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if out.exists():
            verify(out)
            break
    else:
        assert start(tmp_path).wait() == 0
    plan = build.draft(tmp_path / "in", "photos")
    calm = build.release(plan, tmp_path / "calm")
    assert snapshot(out) == snapshot(calm)
    assert len(read_key_map(tmp_path / "out.private")["files"]) == 14
    assert not (tmp_path / "out.work").exists()
