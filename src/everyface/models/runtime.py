"""One inference runtime for every network: OpenVINO on the CPU, in 32-bit floats."""

from __future__ import annotations

import functools
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from everyface.arrays import F32, AnyArray
from everyface.errors import InputError, ModelError
from everyface.models import store
from everyface.progress import Tick, silent

if TYPE_CHECKING:
    import openvino


@functools.cache
def core() -> openvino.Core:
    """Return the process's one OpenVINO core."""
    import openvino

    return openvino.Core()


class Network:
    """A network with one input, run row by row on all cores.

    Every row is an inference of its own, so a row's output is the same to the byte whatever
    other rows it travels with and in whatever order; the rows run side by side on streams, which
    is as fast as a batch. Precision is 32-bit: left alone, some processors compute in bfloat16,
    which moves a generated pixel by as much as a quarter of its range.

    Parameters
    ----------
    model
        An ONNX, TFLite or IR file, or a graph already built.
    row_shape
        Shape of one row, where the graph leaves it open or it should be another.
    streams
        How many rows run at once; None leaves it to OpenVINO. One suits networks whose
        activations are large.
    """

    def __init__(
        self,
        model: Path | openvino.Model,
        row_shape: tuple[int, ...] | None = None,
        streams: int | None = None,
    ) -> None:
        import openvino

        graph = self._read(model) if isinstance(model, Path) else model
        only = graph.input(0)
        shape = row_shape or tuple(d.get_length() for d in list(only.partial_shape)[1:])
        graph.reshape({only: [1, *shape]})
        options: dict[str, Any] = {"INFERENCE_PRECISION_HINT": "f32"}
        options["PERFORMANCE_HINT"] = "THROUGHPUT"
        if streams is not None:
            options["NUM_STREAMS"] = str(streams)
        compiled = core().compile_model(graph, "CPU", options)
        self.row_shape = shape
        self.outputs = tuple(_name(port, i) for i, port in enumerate(compiled.outputs))
        self._shapes = tuple(_row(tuple(port.shape)) for port in compiled.outputs)
        self._queue = openvino.AsyncInferQueue(compiled)
        self._queue.set_callback(self._collect)
        self._lock = threading.Lock()

    @staticmethod
    def _read(path: Path) -> openvino.Model:
        try:
            return core().read_model(path)
        except RuntimeError as error:
            raise ModelError(
                f"{path} cannot be read as a network", "pull its model again"
            ) from error

    def run(self, batch: AnyArray, tick: Tick = silent) -> dict[str, F32]:
        """Return every output by name, one row an input row.

        An output without a batch axis gets one.
        """
        rows = np.ascontiguousarray(batch, dtype=np.float32)
        if rows.shape[1:] != self.row_shape:
            raise InputError(f"a network wants rows of {self.row_shape}, got {rows.shape[1:]}")
        with self._lock:
            results = [np.empty((len(rows), *shape), np.float32) for shape in self._shapes]
            for i in range(len(rows)):
                self._queue.start_async({0: rows[i : i + 1]}, (results, i))
                tick("inference", i, len(rows))
            self._queue.wait_all()
        tick("inference", len(rows), len(rows))
        return dict(zip(self.outputs, results, strict=True))

    @staticmethod
    def _collect(request: openvino.InferRequest, where: tuple[list[F32], int]) -> None:
        results, i = where
        for number, result in enumerate(results):
            result[i] = request.get_output_tensor(number).data.reshape(result.shape[1:])


def _name(port: openvino.ConstOutput, number: int) -> str:
    return min(port.names) if port.names else str(number)


def _row(shape: tuple[int, ...]) -> tuple[int, ...]:
    return shape[1:] if len(shape) > 1 and shape[0] == 1 else shape


@functools.cache
def network(
    name: str, row_shape: tuple[int, ...] | None = None, streams: int | None = None
) -> Network:
    """Return the network of a registry entry, fetched and compiled once a process."""
    return Network(store.fetch(name), row_shape, streams)
