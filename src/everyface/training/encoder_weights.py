"""Weights on the way to and from the machine that trains.

That machine may have PyTorch and NumPy alone, and what travels may be narrow: the frozen
networks go as one file of half-precision and 8-bit numbers, the trained ones come back in parts.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from everyface.arrays import AnyArray
from everyface.errors import InputError
from everyface.files import write_bytes
from everyface.spaces.latent.nets.perceptual import Vgg
from everyface.spaces.latent.nets.sface import Cut, SFaceNet
from everyface.spaces.latent.nets.synthesis import FULL, Synthesis
from everyface.spaces.latent.nets.synthesis import Mapping as MappingNet

FROZEN = "frozen.npz"
PART = 14 << 20
"""Bytes of one part at most."""

_DRAWS, _SEED = 10_000, 0


@dataclass(frozen=True)
class Frozen:
    """The networks that training uses and does not change."""

    mapping: MappingNet
    synthesis: Synthesis
    vgg: Vgg
    sface: SFaceNet
    cut: Cut

    def to(self, device: str) -> Frozen:
        """Move all of them."""
        for net in (self.mapping, self.synthesis, self.vgg, self.sface):
            net.to(device)
        return self

    def mean(self) -> Any:
        """Return the mean style (512,), over the draw that `Generator.mean` takes."""
        shape = (_DRAWS, self.mapping.layers[0].in_features)
        drawn = np.random.default_rng(_SEED).standard_normal(shape, dtype=np.float32)
        z = torch.from_numpy(drawn).to(self.mapping.layers[0].weight.device)
        with torch.no_grad():
            return self.mapping(z).double().mean(dim=0).float()


def pack(folder: Path) -> Path:
    """Write the frozen networks, taken from the model store, into `folder`."""
    from everyface.models import store

    nets: dict[str, Any] = {
        "mapping": MappingNet.read(store.fetch("stylegan_mapping")),
        "synthesis": Synthesis.read(store.fetch("stylegan_synthesis")),
        "vgg": Vgg.read(store.fetch("vgg16_lpips")),
        "sface": SFaceNet.read(store.fetch("sface")),
    }
    held: dict[str, AnyArray] = {"cut": _mean_cut()}
    for name, net in nets.items():
        for key, values in net.state_dict().items():
            coarse = name in ("vgg", "sface") and values.ndim > 1 and values.numel() > 1 << 12
            held |= dict(_narrowed(f"{name}/{key}", values.numpy(), coarse=coarse))
    return _write(folder / FROZEN, held)


def unpack(folder: Path) -> Frozen:
    """Read what `pack` wrote."""
    path = folder / FROZEN
    if not path.is_file():
        raise InputError(
            f"{path} is not there", "make it with python -m everyface.training.encoder pack"
        )
    held = dict(_widened([path]))
    nets: dict[str, Any] = {
        "mapping": MappingNet(),
        "synthesis": Synthesis(),
        "vgg": Vgg(),
        "sface": SFaceNet(),
    }
    for name, net in nets.items():
        state = {
            key.partition("/")[2]: torch.from_numpy(np.array(values))
            for key, values in held.items()
            if key.startswith(f"{name}/")
        }
        net.load_state_dict(state)
        net.requires_grad_(requires_grad=False).eval()
    return Frozen(**nets, cut=Cut(held["cut"], FULL))


def split(state: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write a network's weights in half precision, in parts small enough to travel."""
    parts: list[dict[str, AnyArray]] = [{}]
    size = 0
    for key, values in state.items():
        array = values.detach().cpu().numpy().astype(np.float16)
        if size + array.nbytes > PART:
            parts.append({})
            size = 0
        parts[-1][key] = array
        size += array.nbytes
    return [_write(folder / f"encoder-{number}.npz", part) for number, part in enumerate(parts, 1)]


def join(folder: Path) -> dict[str, Any]:
    """Read what `split` wrote."""
    paths = sorted(folder.glob("encoder-*.npz"))
    if not paths:
        raise InputError(f"{folder} holds no parts of an encoder", "name the folder of --parts")
    return {key: torch.from_numpy(np.array(values)) for key, values in _widened(paths)}


def _mean_cut() -> AnyArray:
    """Return the matrix from the mean portrait to the recogniser's square."""
    import tempfile

    import cv2

    from everyface import faces as faces_room
    from everyface.faces.align import procrustes
    from everyface.faces.identity.sface import TEMPLATE
    from everyface.faces.mesh import FIVE
    from everyface.spaces.latent.generator import Generator

    generator = Generator()
    image = generator.images(generator.mean[None], FULL)[0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mean.png"
        write_bytes(path, bytes(cv2.imencode(".png", cv2.cvtColor(image, cv2.COLOR_RGB2BGR))[1]))
        faces = faces_room.read([path])
    return procrustes(faces.points[0][FIVE], TEMPLATE)


def _narrowed(name: str, values: AnyArray, *, coarse: bool) -> Iterable[tuple[str, AnyArray]]:
    if not coarse:
        yield name, values.astype(np.float16 if values.ndim else np.float32)
        return
    flat = values.reshape(len(values), -1)
    scale = np.maximum(np.abs(flat).max(axis=1), 1e-12) / 127
    yield name, np.round(flat / scale[:, None]).astype(np.int8).reshape(values.shape)
    yield f"{name}|scale", scale.astype(np.float32)


def _widened(paths: Iterable[Path]) -> Iterable[tuple[str, AnyArray]]:
    for path in paths:
        with np.load(path, allow_pickle=False) as held:
            for name in held.files:
                if name.endswith("|scale"):
                    continue
                values = held[name].astype(np.float64 if name == "cut" else np.float32)
                if f"{name}|scale" in held.files:
                    scale = held[f"{name}|scale"]
                    values *= scale.reshape(-1, *[1] * (values.ndim - 1))
                yield name, values


def _write(path: Path, held: Mapping[str, AnyArray]) -> Path:
    data = io.BytesIO()
    np.savez_compressed(data, **held)  # type: ignore[arg-type]
    write_bytes(path, data.getvalue())
    return path
