"""Reading a Keras .h5 file as an OpenVINO graph, without Keras and without running its code.

A Keras file holds its layers as JSON and its weights as arrays. It may also hold marshalled
Python functions (`Lambda` layers); these are never run. The one kind that FaceNet uses, scaling by
a constant, is known by its argument ``scale``; every other kind is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from everyface.arrays import F32
from everyface.errors import ModelError

if TYPE_CHECKING:
    import openvino

Node = Any


@dataclass(frozen=True)
class Layer:
    """One layer: what it takes, its settings, and its weights by their short names."""

    inputs: list[Node]
    config: Mapping[str, Any]
    arrays: Mapping[str, F32]


def read(path: Path) -> openvino.Model:
    """Build the graph of a functional Keras model with one input and one output.

    Channels stay last at the input; inside, the graph runs channels first.
    """
    import openvino
    from openvino import opset13 as ops

    with _opened(path) as file:
        config = json.loads(file.attrs["model_config"])["config"]
        nodes: dict[str, Node] = {}
        entrance = None
        for layer in config["layers"]:
            name, kind, settings = layer["name"], layer["class_name"], layer["config"]
            if kind == "InputLayer":
                shape = settings["batch_input_shape"]
                entrance = ops.parameter([-1, *shape[1:]], np.float32, name="input")
                nodes[name] = ops.transpose(entrance, np.array([0, 3, 1, 2]))
                continue
            if kind not in _LAYERS:
                raise ModelError(f"{path} has a layer of the unknown kind {kind}")
            inputs = [nodes[source[0]] for source in layer["inbound_nodes"][0]]
            nodes[name] = _LAYERS[kind](Layer(inputs, settings, _arrays(file, name)))
    exit_name = config["output_layers"][0][0]
    model = openvino.Model([nodes[exit_name]], [entrance], "keras")
    model.output(0).get_tensor().set_names({"output"})
    return model


def _opened(path: Path) -> Any:
    try:
        import h5py
    except ImportError as error:
        raise ModelError(
            f"reading {path.name} needs the package h5py", "pip install h5py"
        ) from error
    return h5py.File(path, "r")


def _arrays(file: Any, name: str) -> dict[str, F32]:
    """Return a layer's weights by their short names (``kernel``, ``bias``, …)."""
    group = file["model_weights"][name]
    names = [n.decode() if isinstance(n, bytes) else str(n) for n in group.attrs["weight_names"]]
    return {n.rpartition("/")[2].partition(":")[0]: np.asarray(group[n], np.float32) for n in names}


def _convolution(layer: Layer) -> Node:
    from openvino import opset13 as ops

    kernel = layer.arrays["kernel"].transpose(3, 2, 0, 1).copy()
    ends = {"same": "same_upper", "valid": "valid"}[layer.config["padding"]]
    out = ops.convolution(
        layer.inputs[0],
        kernel,
        layer.config["strides"],
        [0, 0],
        [0, 0],
        layer.config["dilation_rate"],
        ends,
    )
    if layer.config["use_bias"]:
        out = ops.add(out, layer.arrays["bias"].reshape(1, -1, 1, 1))
    return _activated(out, layer.config["activation"])


def _dense(layer: Layer) -> Node:
    from openvino import opset13 as ops

    out = ops.matmul(layer.inputs[0], layer.arrays["kernel"], False, False)
    if layer.config["use_bias"]:
        out = ops.add(out, layer.arrays["bias"].reshape(1, -1))
    return _activated(out, layer.config["activation"])


def _normalisation(layer: Layer) -> Node:
    from openvino import opset13 as ops

    gain = 1 / np.sqrt(layer.arrays["moving_variance"].astype(np.float64) + layer.config["epsilon"])
    gain *= layer.arrays.get("gamma", np.float32(1))
    shift = layer.arrays.get("beta", np.float32(0)) - layer.arrays["moving_mean"] * gain
    flat = (
        (1, -1, 1, 1)
        if layer.inputs[0].get_output_partial_shape(0).rank.get_length() == 4
        else (1, -1)
    )
    scaled = ops.multiply(layer.inputs[0], gain.astype(np.float32).reshape(flat))
    return ops.add(scaled, shift.astype(np.float32).reshape(flat))


def _activation(layer: Layer) -> Node:
    return _activated(layer.inputs[0], layer.config["activation"])


def _activated(node: Node, kind: str) -> Node:
    from openvino import opset13 as ops

    if kind == "linear":
        return node
    if kind == "relu":
        return ops.relu(node)
    raise ModelError(f"a Keras file uses the unknown activation {kind}")


def _max_pool(layer: Layer) -> Node:
    from openvino import opset8 as ops

    ends = {"same": "same_upper", "valid": "valid"}[layer.config["padding"]]
    size, strides = layer.config["pool_size"], layer.config["strides"]
    return ops.max_pool(
        layer.inputs[0], strides, [1, 1], [0, 0], [0, 0], size, auto_pad=ends
    ).output(0)


def _mean_pool(layer: Layer) -> Node:
    from openvino import opset13 as ops

    return ops.reduce_mean(layer.inputs[0], np.array([2, 3]), False)


def _concatenation(layer: Layer) -> Node:
    from openvino import opset13 as ops

    if layer.config["axis"] not in (3, -1):
        raise ModelError(
            f"a Keras file joins along axis {layer.config['axis']} instead of channels"
        )
    return ops.concat(layer.inputs, 1)


def _sum(layer: Layer) -> Node:
    from openvino import opset13 as ops

    total = layer.inputs[0]
    for node in layer.inputs[1:]:
        total = ops.add(total, node)
    return total


def _scaling(layer: Layer) -> Node:
    from openvino import opset13 as ops

    arguments = layer.config.get("arguments", {})
    if set(arguments) != {"scale"}:
        raise ModelError("a Keras file holds a Lambda that is not a scaling by a constant")
    return ops.multiply(layer.inputs[0], np.float32(arguments["scale"]))


def _nothing(layer: Layer) -> Node:
    return layer.inputs[0]


_LAYERS: dict[str, Callable[[Layer], Node]] = {
    "Activation": _activation,
    "Add": _sum,
    "BatchNormalization": _normalisation,
    "Concatenate": _concatenation,
    "Conv2D": _convolution,
    "Dense": _dense,
    "Dropout": _nothing,
    "GlobalAveragePooling2D": _mean_pool,
    "Lambda": _scaling,
    "MaxPooling2D": _max_pool,
}
