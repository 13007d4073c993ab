"""torch for the practice trainer: seen, borrowed, measured, and fetched by a real pip from a real index."""

from __future__ import annotations

import base64
import hashlib
import http.server
import io
import os
import re
import sys
import threading
import venv
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from gui.engine.errors import Cancelled, TorchNotFetched, TrainerBroken
from gui.engine.trainer import practice, torch_fetch
from gui.engine.trainer.choosing import KnownTrainer
from gui.engine.trainer.installs import checkout_at, practice_install
from gui.engine.trainer.interpreters import executable_in, has_torch
from gui.engine.trainer.pip_failures import error_lines, failure_of
from gui.engine.trainer.torch_sizes import TORCH_MB, UNPACKED, this_platform


def wheel(size: int = 100) -> bytes:
    """Return a wheel of a package called torch, so large that fetching it takes some pieces."""
    files = {
        "torch/__init__.py": b"__version__ = '2.13.0'\n",
        "torch/weights.bin": os.urandom(size),
        "torch-2.13.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0\n",
        "torch-2.13.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}"
        for name, data in files.items()
    ]
    files["torch-2.13.0.dist-info/RECORD"] = "\n".join([*rows, "torch-2.13.0.dist-info/RECORD,,"]).encode()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


class Index(http.server.ThreadingHTTPServer):
    """A package index with one package; ``held`` makes it stop in the middle of the wheel."""

    daemon_threads = True

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), IndexHandler)
        self.content = content
        self.go_on = threading.Event()
        self.go_on.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/simple/"


class IndexHandler(http.server.BaseHTTPRequestHandler):
    server: Index

    def do_GET(self) -> None:
        name = "torch-2.13.0-py3-none-any.whl"
        if self.path == "/simple/torch/":
            self.answer("text/html", f'<a href="/{name}">{name}</a>'.encode())
        elif self.path == f"/{name}":
            self.answer("application/octet-stream", self.server.content)
        else:
            self.send_error(404)

    def answer(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        half = len(content) // 2
        self.wfile.write(content[:half])
        self.wfile.flush()
        self.server.go_on.wait(60)
        self.wfile.write(content[half:])

    def log_message(self, *_words: object) -> None:
        pass


@pytest.fixture
def index(monkeypatch):
    server = Index(wheel(3_000_000))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("PIP_INDEX_URL", server.url)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    yield server
    server.go_on.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A Python with pip and nothing else."""
    folder = tmp_path_factory.mktemp("own python")
    venv.create(folder, symlinks=os.name != "nt", with_pip=True)
    return executable_in(folder)


@pytest.fixture
def constraints(tmp_path):
    file = tmp_path / "constraints.txt"
    file.write_text("numpy==2.0\ntorch==2.13.0\n")
    return file


def test_that_without_an_index_the_network_is_named(home, index, environment, constraints, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple/")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(TorchNotFetched, match="no network") as caught:
        torch_fetch.fetch_torch(home, python=environment, constraints=constraints)
    assert caught.value.cause == "no-network"
    assert caught.value.said
    assert caught.value.log == home.cache / "fetch-torch.log"


def test_that_a_version_that_there_is_not_is_told(home, index, environment, constraints, tmp_path):
    constraints.write_text("torch==9.9.9\n")
    home.root.parent.mkdir(parents=True, exist_ok=True)
    home.root.touch()  # no log can be written: that is no reason to fail
    with pytest.raises(TorchNotFetched, match="no release") as caught:
        torch_fetch.fetch_torch(home, python=environment, constraints=constraints)
    assert caught.value.log is None


def test_that_torch_is_fetched_with_progress(home, index, environment, constraints, no_leftovers):
    told = []
    torch_fetch.fetch_torch(
        home, lambda *words: told.append(words), python=environment, constraints=constraints
    )
    assert has_torch(environment)
    assert [text for text, *_figures in dict.fromkeys(row[:1] for row in told)] == [
        "looking for torch",
        "fetching torch",
        "unpacking; this takes minutes",
    ]
    sizes = [(done, total) for text, done, total in told if total]
    assert sizes
    assert {total for _done, total in sizes} == {round(len(index.content) / 1e5) * 100}
    assert all(done <= total for done, total in sizes)
    assert "torch-2.13.0" in (home.cache / "fetch-torch.log").read_text()


@pytest.mark.usefixtures("no_leftovers")
def test_that_a_fetch_can_be_called_off_and_leaves_nothing(home, index, tmp_path, constraints):
    venv.create(tmp_path / "own", symlinks=os.name != "nt", with_pip=True)
    python = executable_in(tmp_path / "own")
    index.go_on.clear()
    seen = threading.Event()

    def progress(text, done, total):
        if done:
            seen.set()

    index.go_on = HalfOpen(index.go_on)
    with pytest.raises(Cancelled):
        torch_fetch.fetch_torch(home, progress, seen.is_set, python=python, constraints=constraints)
    assert seen.is_set()
    assert not has_torch(python)


class HalfOpen:
    """Lets the index page through and holds the wheel."""

    def __init__(self, event):
        self.event, self.set, self.asked = event, event.set, 0

    def wait(self, seconds):
        self.asked += 1
        if self.asked > 1:
            self.event.wait(seconds)


def test_that_a_python_without_pip_is_told(home, tmp_path, monkeypatch):
    venv.create(tmp_path / "bare", symlinks=os.name != "nt", with_pip=False)
    with pytest.raises(TorchNotFetched, match="no pip"):
        torch_fetch.fetch_torch(home, python=executable_in(tmp_path / "bare"))
    with pytest.raises(TorchNotFetched, match="no pip"):
        torch_fetch.fetch_torch(home, python=tmp_path / "nothing")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(TorchNotFetched, match="no pip"):
        torch_fetch.fetch_torch(home)


@pytest.fixture
def no_torch_here(monkeypatch):
    monkeypatch.setattr(practice, "own_torch_is_there", lambda: False)


def test_that_nothing_is_fetched_where_the_disk_has_no_room(home, no_torch_here, monkeypatch):
    monkeypatch.setattr(practice, "this_platform", lambda: ("linux", "x86_64"))
    monkeypatch.setattr(practice.shutil, "disk_usage", lambda path: SimpleNamespace(free=10**6))
    monkeypatch.setattr(torch_fetch, "_run_pip", lambda *words: pytest.fail("pip was started"))
    with pytest.raises(TorchNotFetched, match=r"disk is full.* MiB|disk is full.* GiB"):
        torch_fetch.fetch_torch(home)


@pytest.mark.parametrize("place", [*TORCH_MB, ("plan9", "mips")])
def test_that_the_size_is_told_before(no_torch_here, constraints, monkeypatch, place):
    monkeypatch.setattr(practice, "this_platform", lambda: place)
    needed = practice.torch_needed(constraints)
    assert needed.requirement == "torch==2.13.0"
    assert needed.megabytes == TORCH_MB.get(place)
    assert ("MB" in needed.words() or "GB" in needed.words()) is (place in TORCH_MB)
    assert ("NVIDIA" in needed.words()) is (place[0] == "linux")


def test_that_little_room_is_told_before(no_torch_here, monkeypatch):
    monkeypatch.setattr(practice, "this_platform", lambda: ("linux", "x86_64"))
    monkeypatch.setattr(
        practice.shutil, "disk_usage", lambda path: SimpleNamespace(free=int(UNPACKED * 2741e6))
    )
    needed = practice.torch_needed()
    assert needed.roomy
    assert "disk" not in needed.words()
    short = needed.model_copy(update={"free_bytes": 2**30})
    assert not short.roomy
    assert "1.0 GiB are free" in short.words()


def test_that_unknown_room_is_no_reason_against(no_torch_here, monkeypatch):
    def fail(path):
        raise OSError

    monkeypatch.setattr(practice.shutil, "disk_usage", fail)
    assert practice.torch_needed().roomy


@pytest.mark.torch
def test_that_torch_that_is_there_is_not_needed(home):
    pytest.importorskip("torch")
    assert practice.torch_needed() is None
    trainer = practice.practice_trainer(home)
    assert trainer is not None
    assert (trainer.install, bool(trainer.facts.torch)) == (practice_install(), True)


def test_that_the_tested_version_is_asked_for_where_it_is_known(tmp_path, monkeypatch):
    assert re.fullmatch(r"torch==[\d.]+", practice.requirement_of_torch(practice.tested_versions()))
    monkeypatch.setattr(practice, "resources_root", lambda: tmp_path / "gui" / "_resources")
    assert practice.tested_versions() is None
    assert practice.requirement_of_torch(None).startswith("torch>=")
    (tmp_path / "none.txt").write_text("numpy==2.0\n")
    assert practice.requirement_of_torch(tmp_path / "none.txt").startswith("torch>=")

    def unknown(name):
        raise practice.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(practice.importlib.metadata, "requires", unknown)
    monkeypatch.setattr(practice.importlib.metadata, "distribution", unknown)
    assert practice.requirement_of_torch(None) == "torch"
    assert not practice.own_torch_is_there()


@pytest.fixture
def other_trainers(home, no_torch_here, monkeypatch):
    """Two trainers of this machine with torch, of which the first is broken."""
    pythons = [home.root / name / "python" for name in ("broken", "good")]
    installs = [
        practice_install().model_copy(update={"python": python, "practice": False}) for python in pythons
    ]
    checkout = checkout_at(practice_install().root)
    known = [KnownTrainer(checkout, None, default=False)]
    known += [KnownTrainer(checkout, install, default=False) for install in installs]
    monkeypatch.setattr(practice, "known_trainers", lambda home: known)
    monkeypatch.setattr(practice, "has_torch", lambda python: python in pythons)
    monkeypatch.setattr(
        practice, "practice_install", lambda python=sys.executable: installs[0].model_copy(
            update={"python": Path(python), "practice": True}
        )
    )  # fmt: skip
    return pythons


def test_that_a_working_trainers_python_is_borrowed(home, other_trainers, monkeypatch):
    def ask(home, install, *, progress, cancelled):
        if install.python.parent.name == "broken":
            raise TrainerBroken(install.root, install.python)
        return SimpleNamespace(install=install, facts=SimpleNamespace(torch="2.6"))

    monkeypatch.setattr(practice, "open_trainer", ask)
    trainer = practice.practice_trainer(home)
    assert trainer.install.python == other_trainers[1]
    assert trainer.install.practice


def test_that_the_search_can_be_called_off_and_may_find_nothing(home, other_trainers, monkeypatch):
    def called_off(*_words, **_named):
        raise Cancelled

    monkeypatch.setattr(practice, "open_trainer", called_off)
    with pytest.raises(Cancelled):
        practice.practice_trainer(home)
    monkeypatch.setattr(practice, "known_trainers", lambda home: [])
    assert practice.practice_trainer(home) is None


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "no-disk",
        ),
        ("WARNING: Retrying after NewConnectionError\nERROR: No matching distribution found", "no-network"),
        ("ERROR: No matching distribution found for torch==9", "no-release"),
        ("error: externally-managed-environment", "managed"),
        ("ERROR: [Errno 13] Permission denied: '/usr/lib'", "not-allowed"),
        ("ERROR: what", "other"),
    ],
)
def test_that_every_failure_has_words_of_its_own(text, cause):
    lines = text.splitlines()
    assert failure_of(lines) == cause
    said = str(TorchNotFetched(cause, said=tuple(error_lines(lines, 3))))
    assert "{" not in said
    assert ("ERROR: what" in said) is (cause == "other")
    assert "pip gave no reason" in str(TorchNotFetched("other"))


def test_that_the_platform_is_named_as_the_figures_are():
    assert this_platform("win32", "AMD64") in TORCH_MB
    assert this_platform()[0] == sys.platform
