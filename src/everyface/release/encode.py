"""Pixels to bytes: nothing but the picture, and always the same bytes."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from everyface.arrays import U8
from everyface.errors import InputError

QUALITY = 95
LOSSLESS = {".png", ".tif", ".tiff", ".bmp"}
MAX_JPEG_SIDE = 65_500


def suffix_for(source: Path, form: str) -> str:
    """PNG for faces and where the original was lossless, JPEG for all other photos."""
    return ".png" if form == "faces" or source.suffix.lower() in LOSSLESS else ".jpg"


def encode(image: U8, suffix: str) -> bytes:
    """Encode an (h, w, 3) RGB image without any metadata."""
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype.name != "uint8":
        raise InputError(f"a rendered image has shape {image.shape} and type {image.dtype}")
    if suffix == ".jpg" and max(image.shape) > MAX_JPEG_SIDE:
        raise InputError(f"a side of {max(image.shape)} pixels does not fit into a JPEG file")
    out = io.BytesIO()
    picture = Image.fromarray(image)
    if suffix == ".png":
        picture.save(out, "PNG", compress_level=6)
    else:
        picture.save(out, "JPEG", quality=QUALITY, subsampling=0)
    return out.getvalue()
