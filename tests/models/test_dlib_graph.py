"""What is not dlib's network is refused; what is, is compared with dlib in the identity tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from everyface.errors import ModelError
from everyface.models import dlib_graph, store
from everyface.models.runtime import Network


@pytest.fixture(scope="module")
def data() -> bytes:
    return store.fetch("dlib_resnet").read_bytes()


def test_vectors_do_not_depend_on_the_batch() -> None:
    network = Network(dlib_graph.read(store.fetch("dlib_resnet")))
    chips = np.random.default_rng(0).integers(0, 256, (3, 150, 150, 3)).astype(np.float32)
    three = network.run(chips)["output"]
    assert three.shape == (3, 128)
    assert network.run(chips[1:2])["output"].tobytes() == three[1:2].tobytes()


@pytest.mark.parametrize("share", [0.5, 0.999])
def test_a_file_that_was_cut_is_refused(tmp_path: Path, data: bytes, share: float) -> None:
    cut = tmp_path / "cut.dat"
    cut.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(ModelError):
        dlib_graph.read(cut)


def test_a_tensor_of_another_kind_is_refused(tmp_path: Path, data: bytes) -> None:
    """The integer after a layer's kind is the version of its tensor."""
    at = data.index(b"con_4", data.index(b"input_rgb_image_sized")) + len(b"con_4")
    assert data[at : at + 2] == b"\x01\x02"
    wrong = tmp_path / "wrong.dat"
    wrong.write_bytes(data[: at + 1] + b"\x03" + data[at + 2 :])
    with pytest.raises(ModelError, match="is not dlib's face recognition network"):
        dlib_graph.read(wrong)
