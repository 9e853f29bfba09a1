"""Portraits of people who do not exist, kept in a folder so that a stopped training goes on."""

from __future__ import annotations

from pathlib import Path

import cv2

from everyface.arrays import F32, U8
from everyface.files import write_bytes
from everyface.progress import Tick
from everyface.spaces.latent.generator import Generator

_CHUNK = 32


def painted(generator: Generator, styles: F32, folder: Path, side: int, tick: Tick) -> list[Path]:
    """Paint styles into `folder`, those that are not there yet, and return one path a style."""
    paths = [folder / f"{row:05d}.png" for row in range(len(styles))]
    missing = [row for row, path in enumerate(paths) if not path.exists()]
    for start in range(0, len(missing), _CHUNK):
        rows = missing[start : start + _CHUNK]
        for row, image in zip(rows, generator.images(styles[rows], side), strict=True):
            write_bytes(paths[row], _png(image))
        tick("portraits", start + len(rows), len(missing))
    return paths


def _png(image: U8) -> bytes:
    return bytes(cv2.imencode(".png", cv2.cvtColor(image, cv2.COLOR_RGB2BGR))[1])
