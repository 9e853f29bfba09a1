"""VGG-16 in PyTorch, for the papers' perceptual loss and for LPIPS.

The weights come from a NumPy pickle. It is read by an unpickler that knows arrays and nothing else,
so no code of the file can run.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from everyface.arrays import AnyArray
from everyface.errors import ModelError

Tensor = Any

MIKU = ("conv1_1", "conv1_2", "conv3_2", "conv4_2")
"""The layers that MIKU 2019 (IV.B) and 2020 (Eq. 3) compare, after their rectifiers."""

HEADS = ("conv1_2", "conv2_2", "conv3_3", "conv4_3", "conv5_3")
"""The layers that LPIPS compares (Zhang et al. 2018)."""

_STAGES = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))
NAMES = tuple(
    f"conv{stage}_{number}"
    for stage, (_, layers) in enumerate(_STAGES, 1)
    for number in range(1, layers + 1)
)
_MEAN, _SCALE = (-0.030, -0.088, -0.188), (0.458, 0.448, 0.450)


class Vgg(nn.Module):  # type: ignore[misc]
    """The convolutions of VGG-16, on images (n, 3, h, w) in -1 … 1."""

    def __init__(self) -> None:
        super().__init__()
        self.convolutions = nn.ModuleDict()
        into = 3
        names = iter(NAMES)
        for out, layers in _STAGES:
            for _ in range(layers):
                self.convolutions[next(names)] = nn.Conv2d(into, out, 3, padding=1)
                into = out
        self.heads = nn.ParameterList(torch.zeros(1, out, 1, 1) for out, _ in _STAGES)
        self.register_buffer("mean", torch.tensor(_MEAN).reshape(1, 3, 1, 1))
        self.register_buffer("scale", torch.tensor(_SCALE).reshape(1, 3, 1, 1))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Take the weights from ``vgg16.ckpt``."""
        held = arrays(path)
        made = cls()
        for number, layer in enumerate(made.convolutions.values()):
            kernel = held[f"VGG16_0/Conv_{number}/kernel"].transpose(3, 2, 0, 1)
            layer.weight.data.copy_(torch.from_numpy(kernel.copy()))
            layer.bias.data.copy_(torch.from_numpy(held[f"VGG16_0/Conv_{number}/bias"].copy()))
        for number, head in enumerate(made.heads):
            weight = held[f"NetLinLayer_{number}/Conv_0/kernel"].reshape(1, -1, 1, 1)
            head.data.copy_(torch.from_numpy(weight.copy()))
        made.requires_grad_(requires_grad=False).eval()
        return made

    def features(self, images: Tensor, names: Sequence[str]) -> list[Tensor]:
        """Return what the named layers hold after their rectifiers, in the network's order."""
        found = []
        x = (images - self.mean) / self.scale
        last = max(map(NAMES.index, names))
        for name, layer in list(self.convolutions.items())[: last + 1]:
            if name.endswith("_1") and name != NAMES[0]:
                x = functional.max_pool2d(x, 2)
            x = functional.relu(layer(x))
            if name in names:
                found.append(x)
        return found

    def lpips(self, a: Tensor, b: Tensor, weight: Tensor | None = None) -> Tensor:
        """Return LPIPS of pairs of images, (n,).

        Parameters
        ----------
        a, b
            (n, 3, h, w) in -1 … 1.
        weight
            (n or 1, 1, h, w): how much each place counts; everywhere alike if None.
        """
        total = torch.zeros((), device=a.device)
        pairs = zip(self.features(a, HEADS), self.features(b, HEADS), self.heads, strict=True)
        for x, y, head in pairs:
            away = ((_unit(x) - _unit(y)).square() * head).sum(dim=1, keepdim=True).float()
            total = total + _mean(away, weight)
        return total


def perceptual(vgg: Vgg, image: Tensor, wanted: Sequence[Tensor], weight: Tensor) -> Tensor:
    """Return the papers' perceptual loss, (n,): mean squares in each of the layers `MIKU`, summed.

    The papers sum the squares over a layer; the mean is that sum over a constant, so that no
    layer drowns the others whatever the size of the picture.

    Parameters
    ----------
    vgg
        The network.
    image
        (n, 3, h, w) in -1 … 1.
    wanted
        The photo's features in these layers.
    weight
        (n, 1, h, w): how much each place counts.
    """
    found = vgg.features(image, MIKU)
    return sum(
        _mean((x - y).square().mean(dim=1, keepdim=True), weight)
        for x, y in zip(found, wanted, strict=True)
    )


def _unit(features: Tensor) -> Tensor:
    return features / (features.square().sum(dim=1, keepdim=True).sqrt() + 1e-8)


def _mean(field: Tensor, weight: Tensor | None) -> Tensor:
    """Return the weighted mean over places of (n, 1, h, w), (n,)."""
    if weight is None:
        return field.mean(dim=(1, 2, 3))
    small = functional.adaptive_avg_pool2d(weight, field.shape[-2:])
    return (field * small).sum(dim=(1, 2, 3)) / small.sum(dim=(1, 2, 3)).clamp_min(1e-6)


class _Arrays(pickle.Unpickler):
    """Builds NumPy arrays and plain containers, and nothing else."""

    KNOWN: ClassVar[dict[tuple[str, str], Any]] = {
        ("numpy.core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,  # type: ignore[attr-defined]
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): np.dtype,
    }

    def find_class(self, module: str, name: str) -> Any:
        """Return what an array is made with; refuse all else."""
        try:
            return self.KNOWN[module, name]
        except KeyError:
            raise ModelError(
                f"a file of weights asks for {module}.{name}, which is refused",
                "pull its model again",
            ) from None


def arrays(path: Path) -> dict[str, AnyArray]:
    """Read a pickle of nested dictionaries of arrays, as a flat dictionary of joined names."""
    try:
        held = _Arrays(io.BytesIO(path.read_bytes())).load()
    except (pickle.UnpicklingError, EOFError, TypeError, ValueError) as error:
        raise ModelError(f"{path} holds no arrays", "pull its model again") from error
    return dict(_flat(held, ""))


def _flat(held: Any, name: str) -> Iterator[tuple[str, AnyArray]]:
    if isinstance(held, np.ndarray):
        yield name.removeprefix("/"), held
    elif isinstance(held, Mapping):
        for key, value in held.items():
            yield from _flat(value, f"{name}/{key}")
    else:
        raise ModelError(f"a file of weights holds {type(held).__name__}", "pull its model again")
