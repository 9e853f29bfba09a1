"""The trained encoder as an ONNX file: 8 bits a weight, normalisations folded in."""

from __future__ import annotations

import copy
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from everyface.arrays import AnyArray
from everyface.errors import ModelError
from everyface.files import write_bytes
from everyface.spaces.latent.encoder import opened
from everyface.training.encoder_net import SIDE, Encoder

_AWAY = 0.05
"""How far the file's codes may be from the network's, in parts of their length."""

_SMALL = 1 << 12
"""Tensors of fewer numbers stay as they are."""


def export(state: Mapping[str, Any], out: Path) -> int:
    """Write the encoder with these weights, read it back and compare; return the file's size."""
    network = Encoder()
    network.load_state_dict(dict(state))
    data = packed(as_onnx(folded(network.eval())))
    write_bytes(out, data)
    torch.manual_seed(0)
    pair = torch.rand(2, 6, SIDE, SIDE) * 2 - 1
    with torch.no_grad():
        wanted = network(pair).numpy()
    away = np.linalg.norm(opened(out).run(pair.numpy())["step"] - wanted)
    if away > _AWAY * np.linalg.norm(wanted):
        raise ModelError(f"{out} does not say what the trained encoder says")
    return len(data)


def folded(network: Encoder) -> Encoder:
    """Return the network with every normalisation folded into its convolution."""
    made = copy.deepcopy(network)
    for module in list(made.modules()):
        if not isinstance(module, nn.Sequential):
            continue
        for number in range(len(module) - 1):
            first, second = module[number], module[number + 1]
            if isinstance(first, nn.Conv2d) and isinstance(second, nn.BatchNorm2d):
                module[number] = fuse_conv_bn_eval(first, second)
                module[number + 1] = nn.Identity()
    return made


def as_onnx(network: Encoder) -> bytes:
    """Trace the network."""
    data = io.BytesIO()
    torch.onnx.export(
        network,
        (torch.zeros(1, 6, SIDE, SIDE),),
        data,
        input_names=["pair"],
        output_names=["step"],
        opset_version=17,
        dynamo=False,
    )
    return data.getvalue()


def packed(data: bytes) -> bytes:
    """Store large weights as 8-bit integers, with a scale for each output, widened when read."""
    try:
        import onnx
        from onnx import helper, numpy_helper
    except ImportError as error:
        raise ModelError(
            "writing ONNX needs the package onnx", "pip install 'everyface[torch]'"
        ) from error
    model = onnx.load_from_string(data)
    graph, kept, wide = model.graph, [], []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size < _SMALL:
            kept.append(tensor)
            continue
        name, (coarse, scale) = tensor.name, _rounded(values)
        for part, held in (("whole", coarse), ("scale", scale)):
            kept.append(numpy_helper.from_array(held, f"{name}.{part}"))
        floats = {"to": onnx.TensorProto.FLOAT}
        wide.append(helper.make_node("Cast", [f"{name}.whole"], [f"{name}.float"], **floats))
        wide.append(helper.make_node("Mul", [f"{name}.float", f"{name}.scale"], [name]))
    nodes = [*wide, *graph.node]
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(kept)
    graph.node.extend(nodes)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _rounded(values: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Round to 8 bits along the first axis, which is that of outputs."""
    axes = tuple(range(1, values.ndim))
    scale = np.maximum(np.abs(values).max(axis=axes, keepdims=True), 1e-12) / 127
    return np.round(values / scale).astype(np.int8), scale.astype(np.float32)
