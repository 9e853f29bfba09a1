"""Every layer of a Keras file does what Keras does; code in the file is never run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from torch.nn import functional

from everyface.errors import ModelError
from everyface.models import keras, store
from everyface.models.runtime import Network

Layers = list[tuple[str, str, dict[str, Any], list[str], dict[str, np.ndarray]]]
SHAPE = (10, 13, 3)


def written(path: Path, layers: Layers) -> Path:
    """A Keras file of a functional model: name, kind, settings, inputs and weights a layer."""
    described = [
        {"name": "in", "class_name": "InputLayer", "inbound_nodes": []}
        | {"config": {"batch_input_shape": [None, *SHAPE]}}
    ]
    with h5py.File(path, "w") as file:
        for name, kind, settings, inputs, arrays in layers:
            nodes = [[[source, 0, 0, {}] for source in inputs]]
            described.append(
                {"name": name, "class_name": kind, "config": settings, "inbound_nodes": nodes}
            )
            group = file.create_group(f"model_weights/{name}")
            group.attrs["weight_names"] = [f"{name}/{key}:0".encode() for key in arrays]
            for key, values in arrays.items():
                group[f"{name}/{key}:0"] = values
        config = {"layers": described, "output_layers": [[layers[-1][0], 0, 0]]}
        file.attrs["model_config"] = json.dumps({"config": config})
    return path


def ran(path: Path, x: np.ndarray) -> np.ndarray:
    return Network(keras.read(path), SHAPE).run(x)["output"]


def conv(rng: np.random.Generator, **changed: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    settings = {
        "padding": "same",
        "strides": [1, 1],
        "dilation_rate": [1, 1],
        "use_bias": True,
        "activation": "linear",
        **changed,
    }
    kernel = rng.normal(size=(3, 3, 3, 5)).astype(np.float32)
    arrays = {"kernel": kernel, "bias": rng.normal(size=5).astype(np.float32)}
    return settings, arrays if settings["use_bias"] else {"kernel": kernel}


def same_padded(x: torch.Tensor, window: int, stride: int, value: float = 0.0) -> torch.Tensor:
    """TensorFlow's "same": the odd pixel goes to the right and below."""
    ends = []
    for length in (x.shape[3], x.shape[2]):
        more = max((-(-length // stride) - 1) * stride + window - length, 0)
        ends += [more // 2, more - more // 2]
    return functional.pad(x, ends, value=value)


@pytest.fixture
def x() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(2, *SHAPE)).astype(np.float32)


def first(x: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(x.transpose(0, 3, 1, 2).copy())


def tail(kind: str = "GlobalAveragePooling2D") -> Layers:
    return [("out", kind, {}, ["a"], {})]


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize("activation", ["linear", "relu"])
@pytest.mark.parametrize("use_bias", [True, False])
def test_convolution(
    tmp_path: Path, x: np.ndarray, stride: int, padding: str, activation: str, use_bias: bool
) -> None:
    settings, arrays = conv(
        np.random.default_rng(1),
        strides=[stride, stride],
        padding=padding,
        activation=activation,
        use_bias=use_bias,
    )
    path = written(tmp_path / "a.h5", [("a", "Conv2D", settings, ["in"], arrays)])
    into = first(x) if padding == "valid" else same_padded(first(x), 3, stride)
    kernel = torch.from_numpy(arrays["kernel"].transpose(3, 2, 0, 1).copy())
    bias = torch.from_numpy(arrays["bias"]) if use_bias else None
    wanted = functional.conv2d(into, kernel, bias, stride)
    wanted = wanted.relu() if activation == "relu" else wanted
    assert ran(path, x) == pytest.approx(wanted.numpy(), abs=1e-4)


@pytest.mark.parametrize("padding", ["same", "valid"])
def test_max_pooling(tmp_path: Path, x: np.ndarray, padding: str) -> None:
    settings = {"padding": padding, "pool_size": [3, 3], "strides": [2, 2]}
    path = written(tmp_path / "a.h5", [("a", "MaxPooling2D", settings, ["in"], {})])
    into = first(x) if padding == "valid" else same_padded(first(x), 3, 2, -np.inf)
    assert ran(path, x) == pytest.approx(functional.max_pool2d(into, 3, 2).numpy(), abs=1e-6)


@pytest.mark.parametrize("gamma", [True, False])
@pytest.mark.parametrize("flat", [True, False])
def test_batch_normalisation(tmp_path: Path, x: np.ndarray, gamma: bool, flat: bool) -> None:
    rng = np.random.default_rng(2)
    names = ["beta", "moving_mean", "moving_variance", *(["gamma"] if gamma else [])]
    arrays = {name: rng.uniform(0.5, 2, 3).astype(np.float32) for name in names}
    norm = ("n", "BatchNormalization", {"epsilon": 0.001}, ["a"], arrays)
    before = "GlobalAveragePooling2D" if flat else "Dropout"
    path = written(tmp_path / "a.h5", [("a", before, {}, ["in"], {}), norm])
    into = first(x).mean((2, 3)) if flat else first(x)
    wanted = functional.batch_norm(
        into,
        torch.from_numpy(arrays["moving_mean"]),
        torch.from_numpy(arrays["moving_variance"]),
        torch.from_numpy(arrays["gamma"]) if gamma else None,
        torch.from_numpy(arrays["beta"]),
        eps=0.001,
    )
    assert ran(path, x) == pytest.approx(wanted.numpy(), abs=1e-4)


@pytest.mark.parametrize("use_bias", [True, False])
def test_dense_after_a_mean(tmp_path: Path, x: np.ndarray, use_bias: bool) -> None:
    rng = np.random.default_rng(3)
    arrays = {"kernel": rng.normal(size=(3, 4)).astype(np.float32)}
    arrays |= {"bias": rng.normal(size=4).astype(np.float32)} if use_bias else {}
    dense = ("d", "Dense", {"use_bias": use_bias, "activation": "linear"}, ["a"], arrays)
    path = written(tmp_path / "a.h5", [("a", "GlobalAveragePooling2D", {}, ["in"], {}), dense])
    wanted = x.mean(axis=(1, 2)) @ arrays["kernel"] + arrays.get("bias", np.float32(0))
    assert ran(path, x) == pytest.approx(wanted, abs=1e-4)


def test_joining_adding_scaling_and_what_does_nothing(tmp_path: Path, x: np.ndarray) -> None:
    layers: Layers = [
        ("b", "Activation", {"activation": "relu"}, ["in"], {}),
        ("c", "Lambda", {"arguments": {"scale": 0.17}}, ["b"], {}),
        ("d", "Add", {}, ["in", "b", "c"], {}),
        ("e", "Concatenate", {"axis": 3}, ["d", "in"], {}),
        ("f", "Dropout", {"rate": 0.5}, ["e"], {}),
    ]
    relu = np.maximum(x, 0)
    wanted = np.concatenate([x + relu + 0.17 * relu, x], axis=3).transpose(0, 3, 1, 2)
    assert ran(written(tmp_path / "a.h5", layers), x) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("LSTM", {}, "unknown kind LSTM"),
        ("Lambda", {"arguments": {}}, "a Lambda that is not a scaling"),
        ("Lambda", {"function": ["4wEAAA==", None, None]}, "a Lambda that is not a scaling"),
        ("Lambda", {"arguments": {"scale": 1, "more": 2}}, "a Lambda that is not a scaling"),
        ("Concatenate", {"axis": 1}, "joins along axis 1"),
        ("Activation", {"activation": "selu"}, "unknown activation selu"),
    ],
)
def test_what_is_not_known_is_refused(
    tmp_path: Path, kind: str, settings: dict[str, Any], message: str
) -> None:
    path = written(tmp_path / "a.h5", [("a", kind, settings, ["in"], {})])
    with pytest.raises(ModelError, match=message):
        keras.read(path)


def test_without_h5py_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ModelError, match="needs the package h5py"):
        keras.read(Path("a.h5"))


def test_facenet_is_read_whole() -> None:
    """All of its layers are known, and it gives 128 numbers that depend on the picture."""
    network = Network(keras.read(store.fetch("facenet")))
    assert network.row_shape == (160, 160, 3)
    found = network.run(np.random.default_rng(0).normal(size=(2, 160, 160, 3)))["output"]
    assert found.shape == (2, 128)
    assert np.isfinite(found).all() and np.abs(found[0] - found[1]).max() > 1e-3
