"""Train the encoder that turns a photo into a code of the generator.

    python -m everyface.training.encoder pack --weights build/encoder/frozen
    python -m everyface.training.encoder train --weights build/encoder/frozen \
        --out build/encoder/run --parts build/encoder/parts --minutes 20
    python -m everyface.training.encoder export --parts build/encoder/parts --out encoder.onnx

`pack` gathers the published networks that training needs from the model store. `train` needs that
folder, PyTorch and NumPy alone; it learns from portraits that the generator paints as it goes, so
the encoder holds nobody. Run again with the same `--out`, it goes on where it was; the parts it
writes at the end are small enough to be carried one by one. `export` joins them into one ONNX
file of 8-bit weights.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from everyface.training.encoder_loop import ROUNDS, Plan, Trainer, judge, run
from everyface.training.encoder_weights import join, pack, split, unpack

_PEOPLE = 32
"""People that the encoder is tried on at the end of a run."""


def train(given: argparse.Namespace) -> None:
    """Train, try, and write the parts."""
    plan = Plan(
        batch=given.batch // ROUNDS * ROUNDS,
        minutes=given.minutes,
        total=given.total or given.minutes,
        out=given.out,
        compiled=given.compiled and given.device.startswith("cuda"),
    )
    trainer = Trainer(unpack(given.weights), plan, given.device)
    if given.start:
        trainer.begin(join(given.start), given.started)
    run(trainer, _say)
    for path in split(trainer.average.state_dict(), given.parts):
        _say(f"{path}: {path.stat().st_size / 2**20:.1f} MiB")
    told, images = judge(trainer, given.people)
    for number, found in enumerate(told, 1):
        _say(f"round {number}: {json.dumps({k: round(v, 4) for k, v in found.items()})}")
    pixels = ((images.clamp(-1, 1) + 1) * 127.5).round().byte().cpu().numpy()
    np.savez_compressed(given.parts / "samples.npz", images=pixels.transpose(0, 1, 3, 4, 2))


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m everyface.training.encoder",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    packs = commands.add_parser("pack", help="gather the frozen networks in one file")
    packs.add_argument("--weights", type=Path, required=True, help="folder to write it to")
    trains = commands.add_parser("train", help="train, or go on")
    trains.add_argument("--weights", type=Path, required=True, help="folder that pack wrote")
    trains.add_argument("--out", type=Path, required=True, help="folder of the checkpoint")
    trains.add_argument("--parts", type=Path, required=True, help="folder for the trained weights")
    trains.add_argument("--minutes", type=float, required=True, help="time of this run")
    trains.add_argument("--total", type=float, help="time of all runs, if there are several")
    trains.add_argument("--batch", type=int, default=96)
    trains.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    trains.add_argument("--people", type=int, default=_PEOPLE, help="how many it is tried on")
    trains.add_argument("--start", type=Path, help="parts of an earlier run to begin from")
    trains.add_argument("--started", type=float, default=0.0, help="minutes that run had taken")
    trains.add_argument("--no-compile", dest="compiled", action="store_false")
    exports = commands.add_parser("export", help="join the parts into one ONNX file")
    exports.add_argument("--parts", type=Path, required=True)
    exports.add_argument("--out", type=Path, required=True, help="the .onnx file to write")
    return parser


def main(arguments: list[str] | None = None) -> None:
    """Run from the command line."""
    given = _parser().parse_args(arguments)
    if given.command == "pack":
        path = pack(given.weights)
        _say(f"{path}: {path.stat().st_size / 2**20:.1f} MiB")
    elif given.command == "train":
        train(given)
    else:
        from everyface.training.encoder_export import export

        _say(f"{given.out}: {export(join(given.parts), given.out) / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
