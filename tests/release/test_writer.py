from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from everyface.arrays import U8
from everyface.errors import InputError, OutputError, TooFewPeopleError
from everyface.guarantee import Guarantee, Level
from everyface.release import Item, verify, work_folder, write
from everyface.release.certificate import CERTIFICATE, IMAGES
from tests.release import build
from tests.release.build import certificate, images, snapshot


def test_release_holds_nothing_but_what_it_must(masters: dict[str, Path]) -> None:
    for path in masters.values():
        names = {found.name for found in path.iterdir()}
        assert names == {"images", "certificate.json", "certificate.sig", "README.txt"}
        for name, (_, time, mode) in snapshot(path).items():
            assert time == build.DAY, name
            assert stat.S_IMODE(mode) == (0o755 if stat.S_ISDIR(mode) else 0o644), name
        assert not work_folder(path).exists()


def test_no_name_of_an_original_and_no_seed_is_anywhere(masters: dict[str, Path]) -> None:
    for path in masters.values():
        for name, (data, _, _) in snapshot(path).items():
            for word in (b"anna", b"portrait", str(build.SEED).encode(), str(path).encode()):
                assert word not in name.encode() + data


def test_faces_of_a_group_are_the_same_bytes(masters: dict[str, Path]) -> None:
    data = certificate(masters["faces"])
    by_group: dict[int, set[bytes]] = {}
    for file in data["files"]:
        raw = (masters["faces"] / IMAGES / file["name"]).read_bytes()
        by_group.setdefault(file["groups"][0], set()).add(raw)
    assert sorted(len(found) for found in by_group.values()) == [1, 1]


def test_pixels_are_those_rendered(masters: dict[str, Path]) -> None:
    wanted = {build.noise(group).tobytes() for group in (0, 1)}
    found = {np.asarray(Image.open(path)).tobytes() for path in images(masters["faces"])}
    assert found == wanted


def test_same_seed_same_bytes_and_another_seed_other_names(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in")
    one = snapshot(build.release(plan, tmp_path / "one"))
    two = snapshot(build.release(plan, tmp_path / "two"))
    assert one == two
    other = snapshot(build.release(plan, tmp_path / "three", seed=build.SEED + 1))
    assert not {n for n in one if "images/" in n} & {n for n in other if "images/" in n}


def test_names_do_not_follow_the_order_of_the_originals(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in")
    seen: list[str] = []

    def audit(paths: Sequence[Path]) -> None:
        seen.extend(path.name for path in paths)

    write(plan, tmp_path / "out", build.renderer(plan), settings=build.settings(), audit=audit)
    assert sorted(seen) == [path.name for path in images(tmp_path / "out")]
    assert seen != sorted(seen)
    assert certificate(tmp_path / "out")["gate"] == "not run"
    assert "not run" in " ".join(verify(tmp_path / "out").remarks)


def test_lossless_photos_become_png_and_all_others_jpeg(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in", "photos")
    items = [replace(plan.items[0], source=plan.items[0].source.with_suffix(".TIF"))]
    plan = replace(plan, items=[*items, *plan.items[1:]])
    out = build.release(plan, tmp_path / "out")
    assert sorted(path.suffix for path in images(out)) == [".jpg"] * 13 + [".png"]
    png = next(path for path in images(out) if path.suffix == ".png")
    assert (np.asarray(Image.open(png)) == build.noise(100, (30, 40))).all()


def test_merged_photos_never_claim_more_than_measured(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in", "photos", guarantee=Guarantee(Level.K_ANONYMOUS))
    claim = certificate(build.release(plan, tmp_path / "out"))["guarantee"]
    assert claim["level"] == "measured"
    assert "merged" in claim["lowered_by"][0]


def test_wrong_map_faces_need_not_be_identical(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in", guarantee=Guarantee(Level.WRONG_MAP, ("no k copies",)))
    out = tmp_path / "out"
    write(plan, out, build.noise, settings=build.settings())
    assert len({path.read_bytes() for path in images(out)}) == 14
    assert any("signer's word" in remark for remark in verify(out).remarks)


def test_groups_with_the_same_picture_are_one_group(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in")
    out = write(plan, tmp_path / "out", lambda _: build.noise(5), settings=build.settings())
    data = certificate(out)
    assert data["groups"] == [{"group": 1, "people": 7, "files": 14}]
    assert data["k_reached"] == 7


def test_group_below_k_is_refused(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in")
    short = [item for item in plan.items if item.people != (6,)]
    with pytest.raises(TooFewPeopleError, match="only 2 people"):
        build.release(replace(plan, items=short), tmp_path / "out")
    photos = build.draft(tmp_path / "in", "photos", made_of={0: 4, 1: 2})
    with pytest.raises(TooFewPeopleError, match="only 2 people"):
        build.release(photos, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (Item(Path("a.jpg"), (), ()), "no face was replaced"),
        (Item(Path("a.jpg"), (1, 2), (0, 0)), "more than one face"),
        (Item(Path("a.jpg"), (1,), (0, 0)), "1 people, 2 surrogates"),
        (Item(Path("a.jpg"), (1,), (1,)), "two groups"),
    ],
)
def test_items_that_must_not_be_released(tmp_path: Path, item: Item, words: str) -> None:
    plan = build.draft(tmp_path / "in")
    with pytest.raises(InputError, match=words):
        build.release(replace(plan, items=[*plan.items, item]), tmp_path / "out")


def test_nothing_to_release(tmp_path: Path) -> None:
    plan = replace(build.draft(tmp_path / "in"), items=[])
    with pytest.raises(InputError, match="no photo is left"):
        build.release(plan, tmp_path / "out")


def test_figures_above_the_bound_are_not_released(tmp_path: Path) -> None:
    attack = {"recogniser": "sface", "against": "x", "people": 7, "found": 3}
    plan = build.draft(tmp_path / "in")

    def audit(_: Sequence[Path]) -> Mapping[str, Any]:
        return {"bound": 1 / 3, "attacks": [attack]}

    with pytest.raises(InputError, match="gate did not pass"):
        write(plan, tmp_path / "out", build.renderer(plan), settings=build.settings(), audit=audit)
    assert not (tmp_path / "out").exists()


def test_names_of_originals_in_free_text_are_refused(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in", "photos", carried_over=("hair in portrait_0",))
    with pytest.raises(InputError, match="would name the original"):
        build.release(plan, tmp_path / "out")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in")
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("keep")
    with pytest.raises(OutputError, match="already exists"):
        build.release(plan, out)
    assert (out / "mine.txt").read_text() == "keep"
    file = tmp_path / "file"
    file.write_text("keep")
    with pytest.raises(OutputError, match="already exists"):
        build.release(plan, file)


def test_an_empty_folder_may_be_used(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert verify(build.release(build.draft(tmp_path / "in"), tmp_path / "out")).files == 14


def test_originals_inside_the_release_are_refused(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "work.work" / "stage" / "in")
    with pytest.raises(OutputError, match="originals lie in"):
        build.release(plan, tmp_path / "work")
    plan = build.draft(tmp_path / "in")
    with pytest.raises(OutputError, match="originals lie in"):
        build.release(plan, tmp_path / "out", private=tmp_path / "in" / "anna_0")
    with pytest.raises(OutputError, match="lie in one another"):
        build.release(plan, tmp_path / "out", private=tmp_path / "out" / "private")


def test_full_disk_leaves_no_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = build.draft(tmp_path / "in")
    whole = os.fsync
    left = [9]

    def full(handle: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        whole(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="disk is full"):
        build.release(plan, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    monkeypatch.undo()
    assert snapshot(build.release(plan, tmp_path / "out")) == snapshot(
        build.release(plan, tmp_path / "calm")
    )


def test_no_permission_is_one_clear_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = build.draft(tmp_path / "in")

    def forbidden(self: Path, *args: object, **options: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", forbidden)
    with pytest.raises(OutputError, match="no permission to write"):
        build.release(plan, tmp_path / "out")


def test_failed_last_look_releases_nothing(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in")

    def audit(_: Sequence[Path]) -> None:
        raise RuntimeError("somebody is recognised")

    with pytest.raises(RuntimeError):
        write(plan, tmp_path / "out", build.renderer(plan), settings=build.settings(), audit=audit)
    assert not (tmp_path / "out").exists()


def test_a_stopped_run_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in", "photos")
    calls: list[int] = []
    good = build.renderer(plan)

    def stopped(index: int) -> U8:
        calls.append(index)
        if index == 12:
            raise KeyboardInterrupt
        return good(index)

    def audit(_: Sequence[Path]) -> Mapping[str, Any]:
        return build.GATE

    with pytest.raises(KeyboardInterrupt):
        write(plan, tmp_path / "out", stopped, settings=build.settings(), audit=audit)
    calls.clear()
    assert not (tmp_path / "out").exists()

    def counted(index: int) -> U8:
        calls.append(index)
        return good(index)

    out = write(plan, tmp_path / "out", counted, settings=build.settings(), audit=audit)
    assert 0 < len(calls) < 14
    assert snapshot(out) == snapshot(build.release(plan, tmp_path / "calm"))


def test_a_damaged_stage_is_made_good(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in", "photos")

    def audit(paths: Sequence[Path]) -> Mapping[str, Any]:
        paths[0].write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(plan, tmp_path / "out", build.renderer(plan), settings=build.settings(), audit=audit)
    stage = work_folder(tmp_path / "out") / "stage"
    (stage / IMAGES / ".half.x1").write_bytes(b"a temporary file of a killed run")
    journal = stage.parent / "stage.jsonl"
    journal.write_bytes(journal.read_bytes()[:-30])
    out = build.release(plan, tmp_path / "out")
    assert snapshot(out) == snapshot(build.release(plan, tmp_path / "calm"))


def test_the_stage_of_another_draft_is_not_believed(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in", "photos")

    def audit(_: Sequence[Path]) -> Mapping[str, Any]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(plan, tmp_path / "out", build.renderer(plan), settings=build.settings(), audit=audit)
    fewer = replace(plan, items=plan.items[2:], notes={"taken out": 2.0})
    out = build.release(fewer, tmp_path / "out")
    assert len(images(out)) == 12
    assert snapshot(out) == snapshot(build.release(fewer, tmp_path / "calm"))


def test_a_copy_without_time_stamps_still_verifies(
    masters: dict[str, Path], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(masters["faces"], copy, copy_function=shutil.copyfile)
    for path in copy.rglob("*"):
        os.utime(path)
    assert any("copy" in remark for remark in verify(copy).remarks)


def test_the_certificate_counts_the_refused_by_reason_alone(tmp_path: Path) -> None:
    gone = tmp_path / "in" / "berta" / "secret.jpg"
    refused = [(gone, f"no face was found in {gone}"), (gone, "an attack still matches it")]
    plan = build.draft(tmp_path / "in", refused=refused)
    out = build.release(plan, tmp_path / "out")
    data = certificate(out)
    assert data["refused"] == {"total": 2, "reasons": {"no face": 1, "at risk": 1}}
    assert b"berta" not in (out / CERTIFICATE).read_bytes()
    assert not (tmp_path / "out.private").exists()


def test_ticks_reach_the_end(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in")
    ticks: list[tuple[str, int, int]] = []
    write(
        plan,
        tmp_path / "out",
        build.renderer(plan),
        settings=build.settings(),
        tick=lambda *said: ticks.append(said),
    )
    assert ticks[-1] == ("writing", 14, 14)
    assert [done for _, done, _ in ticks] == list(range(1, 15))
