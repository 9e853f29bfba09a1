"""Where the time of `anonymize` goes, and that its memory does not grow with the photos.

    .venv/bin/python -m benchmarks.throughput

The walk is run with every thread pool made serial, so that no two things happen at once and the
wall time can be told apart: networks (OpenVINO inference, compilation apart), OpenCV calls, the
loops that Numba compiled, picture files (Pillow), and the rest, which is ours. Then it is run as it
is, once for each number of photos, each in a process of its own, for its speed and its peak memory.

Without ``--photos`` it works on synthetic people; more photos than there are come from copies.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

SIZES = (60, 120, 240, 480)
FORMS = ("faces", "photos")


class Ledger:
    """Wall time by kind; a call inside another counts for the inner one alone."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._stack: list[float] = []

    def timed(self, kind: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return `call`, charged to `kind`."""

        def charged(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            self._stack.append(0.0)
            try:
                return call(*args, **kwargs)
            finally:
                took = time.perf_counter() - start
                inner = self._stack.pop()
                self.spent[kind] += took - inner
                if self._stack:
                    self._stack[-1] += took

        return charged


class Serial(concurrent.futures.ThreadPoolExecutor):
    """A pool that does at once what it is given."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run now."""
        done: concurrent.futures.Future[Any] = concurrent.futures.Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - as a pool does, whatever it is
            done.set_exception(error)
        return done

    def map(self, fn: Any, *iterables: Iterable[Any], **_: Any) -> Iterator[Any]:
        """Run one after the other."""
        return (fn(*args) for args in zip(*iterables, strict=False))


def instrument(ledger: Ledger) -> None:
    """Charge the libraries' calls and make every pool serial, before the rest is imported."""
    concurrent.futures.ThreadPoolExecutor = Serial  # type: ignore[misc]
    import cv2

    for name in dir(cv2):
        call = getattr(cv2, name)
        if type(call).__name__ == "builtin_function_or_method":
            setattr(cv2, name, ledger.timed("OpenCV", call))
    from everyface import compiled

    made = compiled.compiled
    compiled.compiled = lambda loop: ledger.timed("Numba", made(loop))
    from PIL import Image, ImageFile

    Image.Image.save = ledger.timed("picture files", Image.Image.save)
    ImageFile.ImageFile.load = ledger.timed("picture files", ImageFile.ImageFile.load)
    from everyface.models import runtime

    runtime.Network.__init__ = ledger.timed("compiling networks", runtime.Network.__init__)
    runtime.Network.run = ledger.timed("networks", runtime.Network.run)


def work(folder: Path, form: str, out: Path) -> None:
    """Anonymise `folder` as the command line does."""
    from everyface.pipeline import Options, Secrets, run

    run([folder], out, "folder", Options(k=5, form=form), secrets=Secrets(seed=1))


def profile(folder: Path, form: str, out: Path) -> dict[str, float]:
    """Return wall seconds by kind, the whole under "all"."""
    ledger = Ledger()
    instrument(ledger)
    ledger.timed("Python and NumPy", work)(folder, form, out)
    return {**ledger.spent, "all": sum(ledger.spent.values())}


def measure(folder: Path, form: str, out: Path) -> dict[str, float]:
    """Return wall seconds and peak memory in MB of a run as it is."""
    start = time.perf_counter()
    work(folder, form, out)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": time.perf_counter() - start, "peak": peak}


def apart(what: str, folder: Path, form: str, scratch: Path) -> dict[str, float]:
    """Run `what` in a process of its own."""
    out = scratch / "release"
    for left in scratch.glob("release*"):
        shutil.rmtree(left)
    command = [sys.executable, "-m", "benchmarks.throughput", "--step", what]
    command += ["--photos", str(folder), "--form", form, "--out", str(out)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(said.stdout.splitlines()[-1])
    return found


def sample(people: list[Path], count: int, into: Path) -> Path:
    """Copy `count` photos, a folder a person; copies of the copies are other people."""
    shutil.rmtree(into, ignore_errors=True)
    for number in range(count):
        turn, index = divmod(number, len(people))
        photo = people[index]
        place = into / f"{turn}_{photo.parent.name}"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(photo, place)
    return into


def tables(folder: Path, scratch: Path, sizes: list[int]) -> None:
    """Print what was measured."""
    photos = sorted(p for p in folder.rglob("*") if p.suffix.lower() in {".jpg", ".png"})
    some = sample(photos, max(sizes), scratch / "photos")
    shares = {form: apart("profile", some, form, scratch) for form in FORMS}
    kinds = sorted({kind for part in shares.values() for kind in part} - {"all"})
    kinds.sort(key=lambda kind: -sum(part.get(kind, 0) for part in shares.values()))
    print("| share of the wall time, serial |", " | ".join(FORMS), "|")
    print("| --- | --- | --- |")
    for kind in kinds:
        cells = [f"{part.get(kind, 0) / part['all']:.1%}" for part in shares.values()]
        print(f"| {kind} |", " | ".join(cells), "|")
    needed = ("networks", "OpenCV")
    cells = [f"{sum(part[k] for k in needed) / part['all']:.1%}" for part in shares.values()]
    print("| **networks and OpenCV** |", " | ".join(cells), "|")
    print("\n| form | photos | photos a second | peak memory, MB |\n| --- | --- | --- | --- |")
    for form in FORMS:
        for count in sizes:
            found = apart("measure", sample(photos, count, scratch / "photos"), form, scratch)
            speed = count / found["seconds"]
            print(f"| {form} | {count} | {speed:.2f} | {found['peak']:.0f} |", flush=True)


def main() -> None:
    """Read the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--photos", type=Path, help="a folder with one folder for each person")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--step", choices=("profile", "measure"), help=argparse.SUPPRESS)
    parser.add_argument("--form", choices=FORMS, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step:
        step = profile if args.step == "profile" else measure
        print(json.dumps(step(args.photos, args.form, args.out)))
        return
    with tempfile.TemporaryDirectory() as held:
        folder = args.photos
        if folder is None:
            from everyface.demo import people

            folder = Path(held) / "people"
            people.make(folder, 60, 2)
        tables(folder, Path(held), args.sizes)


if __name__ == "__main__":
    main()
