"""A little package index on disk, and a registry that buys from it."""

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

from everyface.models.registry import Registry

ALPHA, BETA, GAMMA, DELTA = (bytes([n]) * (1000 + n) for n in range(4))


def wheel(folder: Path, name: str, members: dict[str, bytes], tag: str = "py3-none-any") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-1.0-{tag}.whl"
    meta = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nRequires-Python: >=3.1,<3.2\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
        archive.writestr(f"{name}-1.0.dist-info/METADATA", meta)
        archive.writestr(f"{name}-1.0.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return path


def sdist(folder: Path, name: str, members: dict[str, bytes]) -> Path:
    path = folder / f"{name}-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for member, data in members.items():
            info = tarfile.TarInfo(f"{name}-1.0/{member}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def zipped(name: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, data)
    return buffer.getvalue()


def file(carrier: str, member: str, data: bytes, **more: object) -> dict[str, object]:
    sha = hashlib.sha256(data).hexdigest()
    return {"carrier": carrier, "member": member, "sha256": sha, "bytes": len(data), **more}


def stocked(folder: Path) -> Registry:
    """Put four carriers into `folder` and return the registry that knows them."""
    wheel(folder, "first_home", {"w/alpha.bin": ALPHA, "w/beta.task": zipped("b.tflite", BETA)})
    wheel(folder, "second_home", {"x/alpha.bin": ALPHA}, "py3-none-manylinux2014_x86_64")
    wheel(folder, "pair", {"p/g.xml": GAMMA, "p/g.bin": DELTA})
    source = sdist(folder, "source", {"s/gamma.ckpt": GAMMA})

    def model(*files: dict[str, object], commercial: bool = True) -> dict[str, object]:
        said = {"role": "test", "note": "test", "licence": "test", "commercial": commercial}
        return {**said, "files": files}

    twin = [{"carrier": "second_home", "member": "x/alpha.bin"}]
    models = {
        "alpha": model(file("first_home", "w/alpha.bin", ALPHA, mirrors=twin)),
        "beta": model(file("first_home", "w/beta.task", BETA, inner="b.tflite")),
        "pair": model(file("pair", "p/g.xml", GAMMA), file("pair", "p/g.bin", DELTA)),
        "gamma": model(file("source", "s/gamma.ckpt", GAMMA), commercial=False),
    }
    carriers = {
        "first_home": {"requirement": "first_home==1.0", "bytes": 1},
        "second_home": {
            "requirement": "second-home==1.0",
            "platform": "manylinux2014_x86_64",
            "bytes": 1,
        },
        "pair": {"requirement": "pair==1.0", "bytes": 1},
        "source": {
            "requirement": "source==1.0",
            "archive": "sdist",
            "sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
            "bytes": 1,
        },
    }
    return Registry.model_validate({"carriers": carriers, "models": models})
