"""Time, memory and loss of `refined` as the people become many, and Mondrian from disk."""

from __future__ import annotations

import multiprocessing
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.grouping.measures import information_loss, squared_error
from benchmarks.grouping.sets import facelike
from everyface.grouping import Mondrian, Refined

K = 10
_SHARE = 16


def resident() -> int:
    """Bytes of this process in memory that are its own, without what is mapped from files."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    raise OSError("this system does not say how much memory a process has")


def peak(work: Callable[[], np.ndarray]) -> tuple[np.ndarray, float, int]:
    """Run something; return its result, its seconds, and the most memory it took on top."""
    before, most, done = resident(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            most[0] = max(most[0], resident() - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    try:
        found = work()
    finally:
        taken = time.perf_counter() - start
        done.set()
        watcher.join()
    return found, taken, most[0]


def distance_pass(X: np.ndarray, rows: int = 1024) -> float:
    """Seconds of one blocked all-pairs pass, from one block in sixteen (the blocks are alike)."""
    sizes = np.einsum("ij,ij->i", X, X)
    starts = range(0, len(X) - rows + 1, rows * _SHARE)
    start = time.perf_counter()
    for first in starts:
        block = X[first : first + rows] @ X.T
        block *= -2.0
        block += sizes
        block += sizes[first : first + rows, None]
    return (time.perf_counter() - start) * (len(X) / rows) / len(starts)


def _measured(n: int, reference: bool, answer: multiprocessing.Queue) -> None:
    Refined(K, 0).fit(facelike(5000, seed=1))  # compiled before the clock starts
    X = facelike(n)
    passes = [distance_pass(X)] if reference else []
    labels, seconds, memory = peak(lambda: Refined(K, 0).fit_predict(X))
    if reference:
        passes.append(distance_pass(X))
    answer.put((seconds, memory, information_loss(X, labels), squared_error(X, labels), passes))


def scale(sizes: list[int]) -> list[tuple[int, float]]:
    """Print one row for each number of people; return their times."""
    print(f"\n### `refined`, face-like codes, 128 dimensions, k = {K}\n")
    print(
        "| people | seconds | MB beyond the input | information loss | squared error "
        "| distance pass, seconds (before, after) | refined ÷ pass |"
    )
    print("| --: | --: | --: | --: | --: | --: | --: |")
    times = []
    for n in sizes:
        answer: multiprocessing.Queue = multiprocessing.get_context("spawn").Queue()
        reference = 20_000 <= n <= 200_000
        job = multiprocessing.get_context("spawn").Process(
            target=_measured, args=(n, reference, answer)
        )
        job.start()
        seconds, memory, loss, error, passes = answer.get()
        job.join()
        shown = ", ".join(f"{p:.0f}" for p in passes)
        ratio = f"{seconds / np.mean(passes):.2f}" if passes else ""
        print(
            f"| {n:,} | {seconds:.1f} | {memory / 1e6:,.0f} | {loss:.4f} | {error:,.1f} "
            f"| {shown} | {ratio} |",
            flush=True,
        )
        times.append((n, seconds))
    if len(times) > 1:
        logs = np.log(np.array(times))
        print(
            f"\nTime grows with an exponent of {np.polyfit(logs[:, 0], logs[:, 1], 1)[0]:.2f} "
            f"(fit), {(logs[-1, 1] - logs[0, 1]) / (logs[-1, 0] - logs[0, 0]):.2f} (ends)."
        )
    return times


def pieces_against_one_table(n: int = 20_000) -> None:
    """Print what cutting people into pieces costs in loss."""
    X = facelike(200_000)[:n]
    print(f"\n### `refined` in pieces and on one table, {n:,} of the 200,000 people, k = {K}\n")
    print("| | seconds | information loss | squared error |\n| --- | --: | --: | --: |")
    for name, made in (
        ("pieces (as shipped)", Refined(K, 0)),
        ("one table", Refined(K, 0, piece=n, turns=400)),
    ):
        start = time.perf_counter()
        labels = made.fit_predict(X)
        print(
            f"| {name} | {time.perf_counter() - start:.1f} | {information_loss(X, labels):.4f} "
            f"| {squared_error(X, labels):,.1f} |",
            flush=True,
        )


def mondrian_from_disk(n: int = 197_016, d: int = 9_216) -> None:
    """Run Mondrian at the size of the MIKU papers from a memory map, and delete the file."""
    folder = Path(tempfile.mkdtemp(prefix="everyface-"))
    need = 4 * n * d
    try:
        if shutil.disk_usage(folder).free < 2 * need:
            print(f"\nskipped: Mondrian at {n:,} × {d:,} needs {need / 1e9:.1f} GB of disk twice")
            return
        file = folder / "codes.f32"
        X = np.memmap(file, np.float32, "w+", shape=(n, d))
        rng = np.random.default_rng(0)
        for start in range(0, n, 2048):
            X[start : start + 2048] = rng.standard_normal(X[start : start + 2048].shape, np.float32)
        X.flush()
        X = np.memmap(file, np.float32, "r", shape=(n, d))
        labels, seconds, memory = peak(lambda: Mondrian(K, 0).fit_predict(X))
        sizes = np.bincount(labels)
        print(f"\n### Mondrian, {n:,} × {d:,} float32 from disk, k = {K}\n")
        print(
            "| GB on disk | seconds | MB of memory | groups | sizes |\n"
            "| --: | --: | --: | --: | --: |"
        )
        print(
            f"| {need / 1e9:.1f} | {seconds:.0f} | {memory / 1e6:,.0f} | {len(sizes):,} "
            f"| {sizes.min()} to {sizes.max()} |",
            flush=True,
        )
    finally:
        shutil.rmtree(folder)
