"""The encoder's training, on networks small enough to run at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from everyface.spaces.latent.encoder import opened  # noqa: E402
from everyface.training import encoder_data, encoder_loop, encoder_net  # noqa: E402
from everyface.training.encoder_export import export, folded  # noqa: E402
from everyface.training.encoder_loop import ROUNDS, Plan, Trainer, judge  # noqa: E402
from everyface.training.encoder_loss import head  # noqa: E402
from everyface.training.encoder_net import SIDE, Encoder  # noqa: E402
from everyface.training.encoder_weights import join, split  # noqa: E402

LAYERS, WIDTH = 23, 512


class Painter(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Paints the first three numbers of the middle style as one colour."""

    def narrowed(self, _dtype: Any) -> Self:
        return self

    def forward(self, styles: Any, side: int) -> Any:
        return torch.tanh(styles[:, 11, :3, None, None]).expand(-1, -1, side, side)


class Judge(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Stands in for both networks that compare images."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(()))

    def lpips(self, a: Any, b: Any, weight: Any) -> Any:
        return ((a - b).abs() * weight).mean(dim=(1, 2, 3))

    def forward(self, faces: Any) -> Any:
        return faces.mean(dim=(2, 3)) + 0.1


@dataclass
class Frozen:
    mapping: Any
    synthesis: Any
    vgg: Any
    sface: Any

    def to(self, _device: str) -> Self:
        return self

    def cut(self, images: Any) -> Any:
        return images

    def mean(self) -> Any:
        return torch.zeros(WIDTH)


@pytest.fixture
def trainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trainer:
    torch.manual_seed(0)
    monkeypatch.setattr(encoder_net, "_STAGES", ((8, 1), (8, 1), (8, 1), (8, 1)))
    frozen = Frozen(torch.nn.Identity(), Painter(), Judge(), Judge())
    return Trainer(frozen, Plan(ROUNDS, 1e9, 1e9, tmp_path / "run", compiled=False), "cpu")


@pytest.fixture(scope="module")
def drawn() -> Any:
    torch.manual_seed(0)
    return encoder_data.codes(torch.nn.Identity(), torch.zeros(WIDTH), 600)


class TestCodes:
    def test_some_have_one_style_and_some_several(self, drawn: Any) -> None:
        kinds = [len(torch.unique(code, dim=0)) for code in drawn]
        one = sum(n == 1 for n in kinds) / len(kinds)
        wavering = sum(n == LAYERS for n in kinds) / len(kinds)
        alone = encoder_data.PLAIN + encoder_data.MIXED * 0.7 ** len(encoder_data._CUTS)
        assert one == pytest.approx(alone, abs=0.06)
        assert wavering <= 1 - encoder_data.PLAIN - encoder_data.MIXED + 0.05
        assert {2, 3, 4} <= set(kinds)

    def test_they_are_pulled_to_the_mean(self, drawn: Any) -> None:
        assert drawn.mean().item() == pytest.approx(0, abs=0.02)
        assert 0.6 < drawn.std().item() < 0.9


class TestDisturbing:
    def test_what_is_seen_differs_and_stays_a_picture(self) -> None:
        torch.manual_seed(0)
        portraits = torch.rand(32, 3, 64, 64) * 2 - 1
        seen, wanted = encoder_data.seen(portraits)
        assert seen.shape == wanted.shape == portraits.shape
        assert max(seen.abs().max(), wanted.abs().max()) <= 1
        for changed in (wanted - portraits, seen - wanted):
            share = (changed.abs().amax(dim=(1, 2, 3)) > 1e-3).float().mean()
            assert share > 0.6

    @pytest.mark.parametrize(("quality", "least", "most"), [(95, 0, 0.02), (25, 0.05, 0.3)])
    def test_compression_loses_more_the_lower_its_quality(
        self, monkeypatch: pytest.MonkeyPatch, quality: float, least: float, most: float
    ) -> None:
        monkeypatch.setattr(encoder_data, "_sometimes", lambda changed, _x, _share: changed)
        monkeypatch.setattr(
            encoder_data,
            "_between",
            lambda _low, _high, *shape, device: torch.full(shape, float(quality), device=device),
        )
        torch.manual_seed(0)
        picture = 0.2 * torch.randn(4, 3, 16, 16)
        lost = (encoder_data._compressed(picture) - picture).square().mean().sqrt()
        assert least <= lost <= most

    def test_the_blocks_cosines_can_be_undone(self) -> None:
        base = encoder_data._cosines("cpu")
        assert torch.allclose(base @ base.T, torch.eye(8), atol=1e-5)


class TestNetwork:
    def test_the_exported_file_says_what_the_network_says(self, tmp_path: Path) -> None:
        torch.manual_seed(0)
        network = Encoder().eval()
        for module in network.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.weight.data.uniform_(0.5, 1)
                module.running_mean.uniform_(-0.1, 0.1)
                module.running_var.uniform_(0.5, 1.5)
        pair = torch.rand(1, 6, SIDE, SIDE) * 2 - 1
        with torch.no_grad():
            true = network(pair)
            assert (folded(network)(pair) - true).abs().max() < 1e-5 * true.abs().max()
        size = export(network.state_dict(), tmp_path / "encoder.onnx")
        found = opened(tmp_path / "encoder.onnx").run(pair.numpy())["step"]
        assert found.shape == (1, LAYERS, WIDTH)
        away = np.linalg.norm(found - true.numpy()) / np.linalg.norm(true.numpy())
        assert 0 < away < 0.05
        assert size < 22 << 20

    def test_parts_join_to_the_whole(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("everyface.training.encoder_weights.PART", 4 << 20)
        state = Encoder().state_dict()
        paths = split(state, tmp_path)
        assert len(paths) > 5
        assert max(path.stat().st_size for path in paths) < 8 << 20
        joined = join(tmp_path)
        assert joined.keys() == state.keys()
        for name, values in state.items():
            assert torch.allclose(joined[name], values.float(), rtol=1e-3, atol=1e-4)


class TestLoop:
    def test_the_code_is_learnt_first_then_images_in_rounds(
        self, trainer: Trainer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert trainer.train().keys() == {"code"}
        assert trainer.waiting == []
        monkeypatch.setattr(encoder_loop, "FIRST", 0.0)
        assert trainer.train().keys() == {"code", "pixels", "lpips", "identity"}
        held = trainer.waiting
        assert len(held) == ROUNDS - 1
        assert torch.equal(held[0].image, Painter()(held[0].code, SIDE))
        trainer.train()
        assert torch.equal(trainer.waiting[1].true, held[0].true)
        assert not torch.equal(trainer.waiting[1].code, held[0].code)

    def test_a_step_learns_and_the_average_follows(self, trainer: Trainer) -> None:
        before = trainer.encoder.heads[0].out.bias.clone()
        trainer.train()
        now, average = (net.heads[0].out.bias for net in (trainer.encoder, trainer.average))
        assert (now - before).abs().max() > 0
        assert torch.allclose(average, before + (now - before) * 10 / 11, atol=1e-7)

    def test_a_stopped_run_goes_on(self, trainer: Trainer) -> None:
        trainer.train()
        trainer.save()
        other = Trainer(trainer.frozen, trainer.plan, "cpu")
        other.resume()
        assert other.step == 1
        assert other.before > 0
        for name, values in trainer.average.state_dict().items():
            assert torch.equal(other.average.state_dict()[name], values)
        assert len(other.optimiser.state_dict()["state"]) > 0

    def test_judging_changes_nothing_and_is_repeatable(self, trainer: Trainer) -> None:
        torch.manual_seed(3)
        wanted = torch.rand(1)
        torch.manual_seed(3)
        told, images = judge(trainer, 2)
        assert torch.equal(torch.rand(1), wanted)
        assert judge(trainer, 2)[0] == told
        assert len(told) == ROUNDS
        assert images.shape == (2, 1 + ROUNDS, 3, SIDE, SIDE)

    def test_the_head_counts_more_than_what_is_around(self) -> None:
        place = head("cpu")[0, 0]
        assert place[SIDE // 2, SIDE // 2] > 0.99
        assert place[0, 0] < 0.3
