"""`python -m benchmarks.grouping`: tables to the screen, plots to a folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.grouping import quality, scale, sets
from benchmarks.grouping.plots import plot_loss, plot_times

PARTS = ("quality", "speed", "scale", "mondrian")
REAL = Path("../shared/data/celeba/eval")


def main() -> None:
    """Read the options and run the parts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grouping", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="folder for the plots")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this (repeatable)")
    parser.add_argument("--photos", type=Path, default=REAL, help="photos PERSON_NUMBER.jpg")
    parser.add_argument("--cache", type=Path, help="keep what is read from the photos here")
    parser.add_argument("--bound-rounds", type=int, default=100, help="effort for the bounds")
    parser.add_argument("--most", type=int, default=1_000_000, help="people at the most in `scale`")
    options = parser.parse_args()
    parts = options.part or PARTS
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
    if "quality" in parts:
        verdicts = []
        for codes in [*sets.real(options.photos, options.cache), *sets.synthetic()]:
            verdicts += quality.report(codes, options.bound_rounds)
        quality.verdict_head()
        print("\n".join(verdicts), flush=True)
        if options.output:
            plot_loss(options.output)
    if "speed" in parts:
        quality.speed()
    if "scale" in parts:
        sizes = [n for n in (10_000, 30_000, 100_000, 200_000, 1_000_000) if n <= options.most]
        times = scale.scale(sizes)
        scale.pieces_against_one_table()
        if options.output:
            plot_times(times, options.output)
    if "mondrian" in parts:
        scale.mondrian_from_disk()


if __name__ == "__main__":
    main()
