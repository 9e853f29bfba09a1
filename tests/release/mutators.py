"""Every planted breach: how to break a good release, and the code that must be reported.

Some breaches are signed anew, by the publisher's own key or by an attacker's, so that the check
cannot lean on the signature alone.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from everyface.release.certificate import CERTIFICATE, IMAGES, README, SIGNATURE, canonical
from tests.release import build
from tests.release.build import certificate, entry, images, recertify, resign, sign, stamp

Break = Callable[[Path], None]


@dataclass(frozen=True)
class Planted:
    name: str
    code: str
    form: str
    do: Break


PLANTED: list[Planted] = []


def planted(code: str, form: str = "faces") -> Callable[[Break], Break]:
    def note(do: Break) -> Break:
        PLANTED.append(Planted(do.__name__, code, form, do))
        return do

    return note


def edited(change: Callable[[dict[str, Any]], object]) -> Break:
    """Change the certificate and let the publisher himself sign it."""

    def do(release: Path) -> None:
        data = certificate(release)
        change(data)
        resign(release, data)

    return do


def claim(name: str, code: str, form: str, change: Callable[[dict[str, Any]], object]) -> None:
    PLANTED.append(Planted(name, code, form, edited(change)))


def two_groups(release: Path) -> tuple[Path, Path]:
    """One image of each of two groups."""
    data = certificate(release)
    first = images(release)[0]
    home = entry(data, first.name)["groups"]
    return first, next(p for p in images(release) if entry(data, p.name)["groups"] != home)


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def with_chunk(raw: bytes, added: bytes) -> bytes:
    """Put a chunk right after IHDR."""
    return raw[:33] + added + raw[33:]


def with_segment(raw: bytes, marker: int, body: bytes) -> bytes:
    """Put a segment right after JFIF."""
    added = struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body
    return raw[:20] + added + raw[20:]


def png(image: np.ndarray[Any, Any], **options: Any) -> bytes:
    out = io.BytesIO()
    Image.fromarray(image).save(out, "PNG", **options)
    return out.getvalue()


def rewrite(path: Path, raw: bytes) -> None:
    path.write_bytes(raw)
    stamp(path.parent.parent)


# The folder ----------------------------------------------------------------------------------


@planted("extra-file")
def extra_image(release: Path) -> None:
    shutil.copy(images(release)[0], release / IMAGES / "0123456789abcdef.png")
    stamp(release)


@planted("extra-file")
def extra_file_at_the_top(release: Path) -> None:
    (release / "key_map.json").write_text("{}")
    stamp(release)


@planted("extra-file")
def hidden_file(release: Path) -> None:
    (release / IMAGES / ".DS_Store").write_bytes(b"names of folders")
    stamp(release)


@planted("extra-file")
def nested_folder(release: Path) -> None:
    (release / IMAGES / "more").mkdir()
    stamp(release)


@planted("extra-file")
def nested_folder_at_the_top(release: Path) -> None:
    (release / "originals").mkdir()
    stamp(release)


@planted("missing-file")
def missing_image(release: Path) -> None:
    images(release)[3].unlink()
    stamp(release)


@planted("missing-file")
def missing_readme(release: Path) -> None:
    (release / README).unlink()
    stamp(release)


@planted("missing-file")
def missing_certificate(release: Path) -> None:
    (release / CERTIFICATE).unlink()


@planted("missing-file")
def renamed_image(release: Path) -> None:
    images(release)[0].rename(release / IMAGES / "anna.png")
    stamp(release)


@planted("symlink")
def image_is_a_symlink(release: Path) -> None:
    path = images(release)[0]
    target = release.parent / "elsewhere.png"
    path.rename(target)
    path.symlink_to(target)
    stamp(release)


@planted("symlink")
def folder_is_a_symlink(release: Path) -> None:
    target = release.parent / "elsewhere"
    (release / IMAGES).rename(target)
    (release / IMAGES).symlink_to(target)


@planted("symlink")
def certificate_is_a_symlink(release: Path) -> None:
    target = release.parent / "elsewhere.json"
    (release / CERTIFICATE).rename(target)
    (release / CERTIFICATE).symlink_to(target)


@planted("hard-link")
def image_is_a_hard_link(release: Path) -> None:
    os.link(images(release)[0], release.parent / "elsewhere.png")


@planted("not-a-file")
def image_is_a_pipe(release: Path) -> None:
    path = images(release)[0]
    path.unlink()
    os.mkfifo(path)
    stamp(release)


@planted("not-a-file")
def readme_is_a_folder(release: Path) -> None:
    (release / README).unlink()
    (release / README).mkdir()
    stamp(release)


@planted("time-stamp")
def changed_time_stamp(release: Path) -> None:
    os.utime(images(release)[2], (build.DAY + 77, build.DAY + 77))


@planted("time-stamp")
def changed_time_stamp_of_the_folder(release: Path) -> None:
    os.utime(release / IMAGES, (build.DAY + 77, build.DAY + 77))


# The bytes of images -------------------------------------------------------------------------


@planted("hash")
def swapped_images(release: Path) -> None:
    one, two = two_groups(release)
    a, b = one.read_bytes(), two.read_bytes()
    one.write_bytes(b)
    two.write_bytes(a)
    stamp(release)


@planted("hash")
def one_bit_changed(release: Path) -> None:
    path = images(release)[0]
    raw = bytearray(path.read_bytes())
    raw[60] ^= 1
    rewrite(path, bytes(raw))


@planted("size")
def same_pixels_encoded_anew(release: Path) -> None:
    path = images(release)[0]
    rewrite(path, png(np.array(Image.open(path)), compress_level=0))


@planted("hash")
def readme_edited(release: Path) -> None:
    raw = (release / README).read_bytes()
    (release / README).write_bytes(raw.replace(b"Everyface", b"Everybody"))
    stamp(release)


@planted("size")
def zero_bytes(release: Path) -> None:
    rewrite(images(release)[0], b"")


@planted("size")
def truncated_image(release: Path) -> None:
    path = images(release)[0]
    rewrite(path, path.read_bytes()[:-20])


@planted("damaged")
def truncated_image_certified(release: Path) -> None:
    truncated_image(release)
    recertify(release, images(release)[0])


@planted("damaged", "photos")
def truncated_photo_certified(release: Path) -> None:
    path = images(release)[0]
    path.write_bytes(path.read_bytes()[:300])
    recertify(release, path)


@planted("damaged")
def wrong_checksum_certified(release: Path) -> None:
    path = images(release)[0]
    raw = bytearray(path.read_bytes())
    raw[-20] ^= 1
    path.write_bytes(bytes(raw))
    recertify(release, path)


@planted("format")
def text_called_png(release: Path) -> None:
    path = images(release)[0]
    path.write_bytes(b"the original lies under my desk")
    recertify(release, path)


@planted("format")
def jpeg_called_png(release: Path) -> None:
    path = images(release)[0]
    out = io.BytesIO()
    Image.open(path).save(out, "JPEG")
    path.write_bytes(out.getvalue())
    recertify(release, path)


@planted("format")
def alpha_channel_certified(release: Path) -> None:
    path = images(release)[0]
    path.write_bytes(png(np.array(Image.open(path).convert("RGBA"))))
    recertify(release, path)


@planted("dimensions")
def other_size_certified(release: Path) -> None:
    path = images(release)[0]
    path.write_bytes(png(build.noise(5, (30, 30))))
    recertify(release, path)


@planted("metadata")
def png_text_certified(release: Path) -> None:
    path = images(release)[0]
    path.write_bytes(with_chunk(path.read_bytes(), chunk(b"tEXt", b"Author\x00Anna")))
    recertify(release, path)


@planted("metadata")
def png_exif_certified(release: Path) -> None:
    path = images(release)[0]
    path.write_bytes(
        with_chunk(path.read_bytes(), chunk(b"eXIf", b"II*\x00\x08\x00\x00\x00\x00\x00"))
    )
    recertify(release, path)


@planted("metadata")
def png_icc_profile_certified(release: Path) -> None:
    path = images(release)[0]
    path.write_bytes(png(np.array(Image.open(path)), icc_profile=b"made by Anna"))
    recertify(release, path)


@planted("metadata")
def png_time_certified(release: Path) -> None:
    path = images(release)[0]
    path.write_bytes(with_chunk(path.read_bytes(), chunk(b"tIME", b"\x07\xea\x0b\x13\x06\x15\x00")))
    recertify(release, path)


@planted("trailing")
def bytes_after_the_png_certified(release: Path) -> None:
    path = images(release)[0]
    path.write_bytes(path.read_bytes() + b"the original")
    recertify(release, path)


@planted("trailing")
def bytes_inside_the_png_stream_certified(release: Path) -> None:
    path = images(release)[0]
    raw = path.read_bytes()
    (length,) = struct.unpack(">I", raw[33:37])
    body = raw[41 : 41 + length] + b"the original"
    path.write_bytes(raw[:33] + chunk(b"IDAT", body) + raw[45 + length :])
    recertify(release, path)


@planted("trailing")
def rows_below_the_picture_certified(release: Path) -> None:
    path = images(release)[0]
    raw = path.read_bytes()
    (length,) = struct.unpack(">I", raw[33:37])
    pixels = zlib.decompress(raw[41 : 41 + length]) + bytes(61)
    path.write_bytes(raw[:33] + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b""))
    recertify(release, path)


@planted("metadata", "photos")
def exif_put_back(release: Path) -> None:
    path = images(release)[0]
    exif = Image.Exif()
    exif[0x010E] = "Anna at home"
    out = io.BytesIO()
    Image.open(path).save(out, "JPEG", exif=exif, quality=95)
    path.write_bytes(out.getvalue())
    recertify(release, path)


@planted("metadata", "photos")
def xmp_certified(release: Path) -> None:
    path = images(release)[0]
    body = b"http://ns.adobe.com/xap/1.0/\x00<x:xmpmeta/>"
    path.write_bytes(with_segment(path.read_bytes(), 0xE1, body))
    recertify(release, path)


@planted("metadata", "photos")
def icc_segment_certified(release: Path) -> None:
    path = images(release)[0]
    path.write_bytes(with_segment(path.read_bytes(), 0xE2, b"ICC_PROFILE\x00\x01\x01Anna"))
    recertify(release, path)


@planted("metadata", "photos")
def comment_certified(release: Path) -> None:
    path = images(release)[0]
    path.write_bytes(with_segment(path.read_bytes(), 0xFE, b"Anna"))
    recertify(release, path)


@planted("metadata", "photos")
def jfif_thumbnail_certified(release: Path) -> None:
    path = images(release)[0]
    raw = path.read_bytes()
    body = raw[6:18] + b"\x01\x01" + b"\xff\x00\x00"
    path.write_bytes(raw[:2] + struct.pack(">BBH", 0xFF, 0xE0, len(body) + 2) + body + raw[20:])
    recertify(release, path)


@planted("trailing", "photos")
def original_after_the_jpeg_certified(release: Path) -> None:
    path = images(release)[0]
    path.write_bytes(path.read_bytes() + path.read_bytes())
    recertify(release, path)


# The signature -------------------------------------------------------------------------------


@planted("unsigned")
def signature_removed(release: Path) -> None:
    (release / SIGNATURE).unlink()
    stamp(release)


@planted("signature")
def signature_of_another_certificate(release: Path) -> None:
    data = json.loads((release / SIGNATURE).read_bytes())
    data["signature"] = build.PUBLISHER.sign(b"another one")
    (release / SIGNATURE).write_bytes(canonical(data))
    stamp(release)


@planted("signature")
def signature_under_another_name(release: Path) -> None:
    data = json.loads((release / SIGNATURE).read_bytes())
    data["public_key"] = build.ATTACKER.public_key
    (release / SIGNATURE).write_bytes(canonical(data))
    stamp(release)


@planted("signature")
def signature_with_an_extra_field(release: Path) -> None:
    data = json.loads((release / SIGNATURE).read_bytes())
    (release / SIGNATURE).write_bytes(canonical({**data, "note": "Anna"}))
    stamp(release)


@planted("wrong-key")
def signed_by_an_attacker(release: Path) -> None:
    resign(release, certificate(release), build.ATTACKER)


@planted("wrong-key")
def gate_figure_edited_by_an_attacker(release: Path) -> None:
    data = certificate(release)
    data["gate"]["attacks"][0].update({"found": 0, "rank1": 0.0, "low": 0.0, "high": 0.409616})
    resign(release, data, build.ATTACKER)


@planted("signature")
def certificate_edited_unsigned(release: Path) -> None:
    data = certificate(release)
    data["recipe"]["name"] = "everyface"
    (release / CERTIFICATE).write_bytes(canonical(data))
    stamp(release)


# The certificate as a document ---------------------------------------------------------------


@planted("unreadable")
def key_stands_twice(release: Path) -> None:
    raw = (release / CERTIFICATE).read_bytes()
    sign(release, raw.replace(b'  "k": 3,\n', b'  "k": 3,\n  "k": 3,\n'), build.PUBLISHER)


@planted("unreadable")
def invalid_json(release: Path) -> None:
    sign(release, b'{"k": 3', build.PUBLISHER)


@planted("unreadable")
def deeply_nested_json(release: Path) -> None:
    sign(release, b"[" * 200_000 + b"]" * 200_000, build.PUBLISHER)


@planted("unreadable")
def not_a_number(release: Path) -> None:
    raw = (release / CERTIFICATE).read_bytes()
    sign(release, raw.replace(b'groups": 0.0', b'groups": NaN'), build.PUBLISHER)


@planted("size")
def certificate_too_large(release: Path) -> None:
    with (release / CERTIFICATE).open("r+b") as file:
        file.truncate(2**28 + 1)
    stamp(release)


@planted("not-canonical")
def blanks_that_say_something(release: Path) -> None:
    raw = (release / CERTIFICATE).read_bytes()
    sign(release, raw + b" \t \t", build.PUBLISHER)


@planted("not-canonical")
def certificate_is_a_list(release: Path) -> None:
    sign(release, b"[]\n", build.PUBLISHER)


claim("schema_of_the_future", "schema", "faces", lambda d: d.update(schema_version="2"))
claim("field_missing", "schema", "faces", lambda d: d.pop("guarantee"))
claim("field_unknown", "schema", "faces", lambda d: d.update(remark="safe"))
claim("k_is_a_text", "schema", "faces", lambda d: d.update(k="3"))
claim("k_is_one", "schema", "faces", lambda d: d.update(k=1))
claim("day_that_never_was", "schema", "faces", lambda d: d.update(created="2026-02-31"))
claim("name_leads_out", "schema", "faces", lambda d: d["files"][0].update(name="../../x.png"))
claim("name_is_absolute", "schema", "faces", lambda d: d["files"][0].update(name="/etc/x.png"))
claim(
    "hash_in_capitals",
    "schema",
    "faces",
    lambda d: d["files"][0].update(sha256=d["files"][0]["sha256"].upper()),
)
claim("hash_of_another_file", "hash", "faces", lambda d: d["files"][0].update(sha256="0" * 64))
claim("size_of_another_file", "size", "faces", lambda d: d["files"][0].update(bytes=99999))
claim("dimensions_edited", "dimensions", "faces", lambda d: d["files"][0].update(width=21))
claim("file_listed_twice", "count", "faces", lambda d: d["files"].insert(0, d["files"][0]))
claim("order_says_something", "order", "faces", lambda d: d["files"].reverse())


# What is counted -----------------------------------------------------------------------------


@planted("below-k")
def group_of_k_minus_one(release: Path) -> None:
    """One person's files are gone, and every figure of the certificate is made to fit."""
    data = certificate(release)
    small = min(data["groups"], key=lambda group: group["people"])
    victim = next(f["people"][0] for f in data["files"] if f["groups"] == [small["group"]])
    for file in [f for f in data["files"] if f["people"] == [victim]]:
        (release / IMAGES / file["name"]).unlink()
        data["files"].remove(file)
        small["files"] -= 1
    small["people"] -= 1
    data["k_reached"] = 2
    data["counts"].update(files=len(data["files"]), faces=len(data["files"]), people=6)
    resign(release, data)


@planted("below-k")
def person_counted_twice(release: Path) -> None:
    """Two people of the smallest group become one; the group still claims three."""
    data = certificate(release)
    small = min(data["groups"], key=lambda group: group["people"])["group"]
    mine = [file for file in data["files"] if file["groups"] == [small]]
    names = sorted({file["people"][0] for file in mine})
    for file in mine:
        if file["people"] == [names[1]]:
            file["people"] = [names[0]]
    resign(release, data)


@planted("not-identical")
def one_of_a_group_differs(release: Path) -> None:
    path = images(release)[0]
    path.write_bytes(png(build.noise(9)))
    recertify(release, path)


@planted("below-k")
def original_slipped_in(release: Path) -> None:
    """An original takes a surrogate's place, and the publisher himself signs it."""
    path = images(release)[0]
    path.write_bytes(png(build.noise(9)))
    recertify(release, path)


@planted("wrong-key")
def original_slipped_in_by_an_attacker(release: Path) -> None:
    path = images(release)[0]
    path.write_bytes(png(build.noise(9)))
    recertify(release, path, build.ATTACKER)


@planted("size")
def original_slipped_in_unsigned(release: Path) -> None:
    rewrite(images(release)[0], png(build.noise(9)))


@planted("shared-bytes")
def one_picture_for_two_groups(release: Path) -> None:
    data = certificate(release)
    one, two = two_groups(release)
    raw = one.read_bytes()
    other = entry(data, two.name)["groups"]
    for file in data["files"]:
        if file["groups"] == other:
            (release / IMAGES / file["name"]).write_bytes(raw)
            file.update({key: entry(data, one.name)[key] for key in ("sha256", "bytes")})
    resign(release, data)


@planted("two-groups")
def person_in_two_groups(release: Path) -> None:
    data = certificate(release)
    one, two = two_groups(release)
    entry(data, two.name)["people"] = entry(data, one.name)["people"]
    resign(release, data)


@planted("below-k")
def file_moved_to_a_group_of_its_own(release: Path) -> None:
    data = certificate(release)
    file = data["files"][0]
    home = next(group for group in data["groups"] if group["group"] == file["groups"][0])
    home["files"] -= 1
    file["groups"] = [3]
    data["groups"].append({"group": 3, "people": 1, "files": 1})
    data["counts"]["groups"] = 3
    data["k_reached"] = 1
    resign(release, data)


claim("k_raised", "below-k", "faces", lambda d: d.update(k=4))
claim("k_lowered", "gate", "faces", lambda d: (d.update(k=4), d["gate"].update(bound=0.3333333)))
claim("k_reached_raised", "count", "faces", lambda d: d.update(k_reached=4))
claim("people_raised", "count", "faces", lambda d: d["counts"].update(people=8))
claim("files_raised", "count", "faces", lambda d: d["counts"].update(files=15))
claim("faces_raised", "count", "photos", lambda d: d["counts"].update(faces=15))
claim("groups_raised", "count", "faces", lambda d: d["counts"].update(groups=3))
claim("group_people_raised", "count", "faces", lambda d: d["groups"][0].update(people=6))
claim("group_files_raised", "count", "faces", lambda d: d["groups"][0].update(files=9))
claim(
    "group_without_files",
    "count",
    "faces",
    lambda d: d["groups"].append({"group": 3, "people": 3, "files": 2}),
)
claim("group_not_listed", "count", "faces", lambda d: d["groups"].pop())
claim("groups_numbered_otherwise", "count", "photos", lambda d: d["groups"].reverse())
claim("more_people_than_faces", "count", "photos", lambda d: d["counts"].update(people=99))
claim("photo_group_below_k", "below-k", "photos", lambda d: d["groups"][0].update(people=2))
claim("file_without_person", "count", "faces", lambda d: d["files"][0].update(people=[]))
claim(
    "photo_with_a_pseudonym",
    "count",
    "photos",
    lambda d: d["files"][0].update(people=["0123456789ab"]),
)
claim("refused_hidden", "count", "faces", lambda d: d["refused"].update(total=3))


# What is claimed -----------------------------------------------------------------------------

claim(
    "photos_claim_k_anonymity",
    "level",
    "photos",
    lambda d: d["guarantee"].update(level="k-anonymous", lowered_by=[]),
)
claim(
    "photos_claim_wrong_map", "level", "photos", lambda d: d["guarantee"].update(level="wrong-map")
)
claim(
    "lowered_but_claimed_in_full",
    "level",
    "faces",
    lambda d: d["guarantee"].update(lowered_by=["the expression was kept"]),
)
claim("no_reason_given", "level", "photos", lambda d: d["guarantee"].update(lowered_by=[]))
claim("background_of_faces", "level", "faces", lambda d: d.update(background="blur"))
claim("gate_bound_above_one_in_k", "gate", "faces", lambda d: d["gate"].update(bound=0.4))
claim("gate_figure_above_the_bound", "gate", "faces", lambda d: d["gate"].update(bound=0.1))
claim(
    "gate_share_edited",
    "gate",
    "faces",
    lambda d: d["gate"]["attacks"][0].update(rank1=0.01),
)
claim(
    "gate_interval_edited",
    "gate",
    "photos",
    lambda d: d["gate"]["attacks"][0].update(high=0.2),
)
claim(
    "gate_found_more_than_there_are",
    "gate",
    "faces",
    lambda d: d["gate"]["attacks"][0].update(found=8),
)
claim(
    "gate_matches_more_than_strangers",
    "gate",
    "faces",
    lambda d: d["gate"]["attacks"][0].update(own_above=0.5, strangers_above=0.1),
)
claim("gate_without_attacks", "schema", "faces", lambda d: d["gate"].update(attacks=[]))
claim("seed_put_in", "leak", "faces", lambda d: d["recipe"].update(random_state=7))
claim("seed_put_deep", "leak", "faces", lambda d: d["recipe"]["surrogate"].update(seed=7))
claim("seed_among_notes", "leak", "faces", lambda d: d["notes"].update({"the seed": 7.0}))
claim("path_put_in", "leak", "faces", lambda d: d["recipe"].update(data="/home/anna/photos"))
claim("path_of_windows", "leak", "faces", lambda d: d["recipe"].update(data="C:\\Users\\Anna"))
claim(
    "name_of_an_original",
    "leak",
    "photos",
    lambda d: d["carried_over"].append("hair of anna_portrait.jpg"),
)
