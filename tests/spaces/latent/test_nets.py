"""The networks rebuilt in PyTorch are the published ones."""

from __future__ import annotations

import importlib
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everyface.errors import ModelError

NETS = "everyface.spaces.latent.nets"


def test_without_torch_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [name for name in sys.modules if name.startswith(NETS)]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ModelError, match=r"everyface\[torch\]"):
        importlib.import_module(f"{NETS}.synthesis")


GRAPH = """<?xml version="1.0"?><net name="g" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"/>
<layer id="1" name="k" type="Const" version="opset1">
<data element_type="f32" shape="2, 1" offset="8" size="8"/></layer>
<layer id="2" name="sum" type="Add" version="opset1"/></layers><edges>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/></edges></net>"""


class TestGraph:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        pytest.importorskip("torch")
        (tmp_path / "g.xml").write_text(GRAPH)
        (tmp_path / "g.bin").write_bytes(np.array([9, 9, 1.5, -2], "<f4").tobytes())
        return tmp_path / "g.xml"

    def test_constants_and_wires_are_read(self, path: Path) -> None:
        from everyface.spaces.latent.nets import ir

        graph = ir.read(path)
        assert graph.constant("k").tolist() == [[1.5], [-2.0]]
        assert graph.sources[2] == [0, 1]
        assert graph.user(0, "Add") == 2
        assert graph.operand(2).tolist() == [[1.5], [-2.0]]

    def test_another_graph_is_refused(self, path: Path) -> None:
        from everyface.spaces.latent.nets import ir

        graph = ir.read(path)
        for ask in (lambda: graph.constant("x"), lambda: graph.user(0, "MatMul")):
            with pytest.raises(ModelError, match="not the generator's graph"):
                ask()

    def test_numbers_that_are_cut_off_are_refused(self, path: Path) -> None:
        from everyface.spaces.latent.nets import ir

        path.with_suffix(".bin").write_bytes(b"\0" * 12)
        with pytest.raises(ModelError, match="too short"):
            ir.read(path)


@pytest.fixture(scope="module")
def styles() -> Any:
    """One code in W+ whose layers come from several people."""
    pytest.importorskip("torch")
    from everyface.spaces.latent.generator import LAYERS, Generator

    w = Generator().w(Generator.draw(3, seed=5))
    return w[np.arange(LAYERS) % 3][None]


@pytest.fixture(scope="module")
def painted(styles: Any) -> Any:
    import torch

    from everyface.models import store
    from everyface.spaces.latent.nets.synthesis import Synthesis

    net = Synthesis.read(store.fetch("stylegan_synthesis"))
    with torch.no_grad():
        code = torch.from_numpy(styles)
        features = net.features(code)
        return {side: net.image(features, code, side) for side in (1024, 512, 128)}


class TestGenerator:
    def test_styles_are_those_of_the_published_network(self) -> None:
        torch = pytest.importorskip("torch")
        from everyface.models import store
        from everyface.spaces.latent.generator import Generator
        from everyface.spaces.latent.nets.synthesis import Mapping

        z = Generator.draw(4, seed=2)
        net = Mapping.read(store.fetch("stylegan_mapping"))
        found = net(torch.from_numpy(z)).detach().numpy()
        assert np.abs(found - Generator().w(z)).max() < 1e-4

    def test_images_are_those_of_the_published_network(self, styles: Any, painted: Any) -> None:
        from everyface.spaces.latent import generator

        true = generator._synthesis().run(styles)["img"]
        assert np.abs(painted[1024].numpy() - true).max() < 1e-4
        assert np.abs(true).max() > 0.5

    @pytest.mark.parametrize("side", [512, 128])
    def test_smaller_images_are_area_means(self, painted: Any, side: int) -> None:
        from torch.nn import functional

        means = functional.avg_pool2d(painted[1024], 1024 // side)
        assert (painted[side] - means).abs().max() < 1e-5

    def test_gradients_are_those_of_finite_differences(self) -> None:
        torch = pytest.importorskip("torch")
        from everyface.spaces.latent.nets.synthesis import Block

        torch.manual_seed(0)
        block = Block(8, 4, 4).double()
        for parameter in block.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
        x = torch.randn(1, 8, 2, 2, dtype=torch.float64)
        part = torch.randn(3, 512, dtype=torch.float64)
        steps = torch.zeros(3, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(lambda s: block(x, (s[:, None] * part)[None] + 0.1), steps)

    def test_what_is_compiled_is_the_same(self) -> None:
        torch = pytest.importorskip("torch")
        from everyface.spaces.latent.nets.synthesis import each_channel

        x, kernel = torch.randn(2, 5, 7, 6), torch.randn(5, 1, 3, 3)
        shifted = torch.compile(each_channel, backend="eager")
        assert torch.allclose(shifted(x, kernel), each_channel(x, kernel), atol=1e-5)

    def test_a_narrowed_copy_leaves_the_network_as_it_was(self) -> None:
        torch = pytest.importorskip("torch")
        from everyface.spaces.latent.nets.synthesis import Synthesis

        net = Synthesis()
        narrow = net.narrowed(torch.bfloat16)
        assert narrow.first.weight.dtype is torch.bfloat16
        assert narrow.first.style.weight.dtype is torch.float32
        assert net.first.weight.dtype is torch.float32


class Evil:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return eval, ("1",)


@pytest.fixture(scope="module")
def vgg() -> Any:
    pytest.importorskip("torch")
    from everyface.models import store
    from everyface.spaces.latent.nets.perceptual import Vgg

    return Vgg.read(store.fetch("vgg16_lpips"))


class TestPerceptual:
    def test_a_pickle_of_arrays_is_read(self, tmp_path: Path) -> None:
        pytest.importorskip("torch")
        from everyface.spaces.latent.nets.perceptual import arrays

        held = {"a": {"b": np.arange(6, dtype=np.float32).reshape(2, 3)}}
        data = pickle.dumps(held, protocol=3).replace(b"numpy._core", b"numpy.core")
        (tmp_path / "a.ckpt").write_bytes(data)
        assert arrays(tmp_path / "a.ckpt")["a/b"].tolist() == held["a"]["b"].tolist()

    def test_a_pickle_that_wants_to_run_code_is_refused(self, tmp_path: Path) -> None:
        pytest.importorskip("torch")
        from everyface.spaces.latent.nets.perceptual import arrays

        (tmp_path / "a.ckpt").write_bytes(pickle.dumps({"a": Evil()}))
        with pytest.raises(ModelError, match="refused"):
            arrays(tmp_path / "a.ckpt")

    def test_lpips_grows_with_what_is_changed(self, vgg: Any) -> None:
        import torch
        from torch.nn import functional

        torch.manual_seed(0)
        image = functional.interpolate(torch.rand(1, 3, 8, 8) * 2 - 1, size=64, mode="bicubic")
        noise = torch.randn_like(image)
        far = [vgg.lpips(image, image + amount * noise).item() for amount in (0, 0.1, 0.4)]
        assert far[0] == 0
        assert far[0] < far[1] < far[2]

    def test_the_papers_layers_have_their_sizes(self, vgg: Any) -> None:
        import torch

        from everyface.spaces.latent.nets.perceptual import MIKU

        shapes = [tuple(f.shape[1:]) for f in vgg.features(torch.zeros(1, 3, 32, 32), MIKU)]
        assert shapes == [(64, 32, 32), (64, 32, 32), (256, 8, 8), (512, 4, 4)]

    def test_what_is_masked_does_not_count(self, vgg: Any) -> None:
        import torch

        from everyface.spaces.latent.nets.perceptual import MIKU, perceptual

        torch.manual_seed(0)
        image = torch.rand(1, 3, 128, 128)
        weight = torch.zeros(1, 1, 128, 128)
        weight[..., :32] = 1
        other = image.clone()
        other[..., 96:] = -1
        wanted = vgg.features(image, MIKU)
        assert perceptual(vgg, other, wanted, weight).item() == pytest.approx(0, abs=1e-6)
        assert perceptual(vgg, other, wanted, torch.ones_like(weight)).item() > 0.01


class TestRecogniser:
    def test_vectors_are_those_of_the_published_network(self) -> None:
        torch = pytest.importorskip("torch")
        from everyface.models import store
        from everyface.models.runtime import network
        from everyface.spaces.latent.nets.sface import SFaceNet

        faces = np.random.default_rng(0).integers(0, 256, (2, 3, 112, 112)).astype(np.float32)
        net = SFaceNet.read(store.fetch("sface"))
        found = net(torch.from_numpy(faces)).detach().numpy()
        assert np.abs(found - network("sface").run(faces)["fc1"]).max() < 1e-4

    def test_a_point_is_cut_to_where_the_matrix_says(self) -> None:
        torch = pytest.importorskip("torch")
        from everyface.spaces.latent.nets.sface import Cut

        matrix = np.array([[0.25, 0.05, -8.0], [-0.05, 0.25, 12.0]])
        portrait = torch.full((1, 3, 256, 256), -1.0)
        portrait[:, :, 118:123, 138:143] = 1
        cut = Cut(matrix * [[2, 2, 1], [2, 2, 1]], 128)(
            torch.nn.functional.avg_pool2d(portrait, 2)
        )[0, 0]
        rows, columns = torch.meshgrid(torch.arange(112.0), torch.arange(112.0), indexing="ij")
        x, y = ((cut * at).sum() / cut.sum() for at in (columns, rows))
        # In the smaller portrait the square's middle, (140, 120), is at (69.75, 59.75).
        wanted = (matrix * [[2, 2, 1], [2, 2, 1]]) @ [69.75, 59.75, 1]
        assert [x.item(), y.item()] == pytest.approx(wanted.tolist(), abs=0.2)
