"""The bootstrap's environment: when it is made, kept, repaired, and what it asks pip for."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from house import environment as module
from house.children import child_variables, run_in_front
from house.environment import Environment, ensure, make_path_file_readable
from house.trouble import Trouble

PROJECT = Path(__file__).resolve().parents[2]
DOOR = PROJECT / "packaging" / "bootstrap.py"


def stamped(environment: Environment, *parts: str) -> None:
    environment.stamp.write_text(json.dumps({"digest": environment.digest(), "parts": parts}), "utf-8")


class Pip:
    """Stands where child processes are started; writes down the words and answers as told."""

    def __init__(self, log: Path, status: int = 0, says: str = "Installing collected packages: x\n") -> None:
        self.log, self.status, self.says = log, status, says
        self.calls: list[list[str]] = []

    def __call__(self, words: list[Any], **_options: Any) -> subprocess.CompletedProcess[str]:
        command = [str(word) for word in words]
        if not Path(command[0]).exists():
            raise FileNotFoundError(command[0])
        if "-c" in command:
            version = f"{sys.version_info.major}.{sys.version_info.minor}\n"
            return subprocess.CompletedProcess(words, 0, version, "")
        if command[1:3] == ["-m", "venv"]:
            python = Path(command[3]) / "bin" / "python"
            python.parent.mkdir(parents=True)
            python.touch()
        else:
            self.log.write_text(self.says, "utf-8")
            self.calls.append(command[4:])
            return subprocess.CompletedProcess(words, self.status)
        return subprocess.CompletedProcess(words, 0, "", "")


@pytest.fixture
def pip(checkout: Environment, monkeypatch: pytest.MonkeyPatch) -> Pip:
    stand_in = Pip(checkout.log)
    monkeypatch.setattr(module.subprocess, "run", stand_in)
    return stand_in


def test_that_the_door_refuses_an_old_python_in_one_line(tmp_path: Path):
    program = (
        f"import sys, runpy; sys.version_info = (3, 9, 1); runpy.run_path({str(DOOR)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "3.11" in done.stderr
    assert "3.9" in done.stderr


def test_that_any_python_can_read_the_door():
    source = DOOR.read_text("ascii")
    ast.parse(source, feature_version=(3, 4))
    assert not [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.JoinedStr | ast.AnnAssign)
    ]


def test_that_the_bootstrap_needs_nothing_but_the_standard_library(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-I", "-S", DOOR, "--help"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "setup" in done.stdout


def test_that_nothing_is_started_when_all_is_there(
    checkout: Environment, interpreter: Path, monkeypatch: pytest.MonkeyPatch
):
    stamped(checkout, "program", "tools", "torch")
    monkeypatch.setattr(module.subprocess, "run", None)
    ensure(checkout, ["program", "torch"], pytest.fail)


@pytest.mark.parametrize("name", ["pyproject.toml", "packaging/constraints.txt"])
def test_that_a_changed_requirement_makes_the_stamp_old(checkout: Environment, interpreter: Path, name: str):
    stamped(checkout, "program")
    assert checkout.installed() == {"program"}
    with (checkout.project / name).open("a") as file:
        file.write("\n# changed\n")
    assert checkout.installed() == frozenset()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"digest": 1}'])
def test_that_a_damaged_stamp_counts_as_none(checkout: Environment, interpreter: Path, content: str):
    checkout.stamp.write_text(content, "utf-8")
    assert checkout.installed() == frozenset()


def test_that_a_fresh_checkout_gets_an_environment_with_pinned_versions(checkout: Environment, pip: Pip):
    told: list[str] = []
    ensure(checkout, ["program"], told.append)
    packages, program = pip.calls
    assert packages[packages.index("--constraint") + 1] == str(checkout.constraints)
    assert packages[-2:] == ["pydantic>=2", "hatchling"]
    assert program[-1] == str(checkout.project)
    assert "--no-build-isolation" in program
    assert checkout.installed() == {"program"}
    assert any("fetched" in line for line in told)


def test_that_another_part_keeps_those_that_are_there(checkout: Environment, pip: Pip):
    ensure(checkout, ["program"], lambda text: None)
    ensure(checkout, ["program", "torch"], lambda text: None)
    assert "torch>=2.6" in pip.calls[2]
    assert "pytest" not in pip.calls[2]
    assert checkout.installed() == {"program", "torch"}


def test_that_an_environment_cut_off_while_installing_is_made_anew(checkout: Environment, pip: Pip):
    ensure(checkout, ["program"], lambda text: None)
    debris = checkout.folder / "half a package"
    debris.touch()
    checkout.unfinished.write_text("installing", "utf-8")
    assert checkout.installed() == frozenset()
    ensure(checkout, ["program"], lambda text: None)
    assert not debris.exists()
    assert not checkout.unfinished.exists()


def test_that_an_environment_cut_off_while_it_was_made_is_made_anew(checkout: Environment, pip: Pip):
    checkout.folder.mkdir()
    checkout.unfinished.write_text(module.MAKING, "utf-8")
    told: list[str] = []
    ensure(checkout, ["program"], told.append)
    assert "interrupted" in told[0]
    assert checkout.installed() == {"program"}


def test_that_a_failed_fetch_leaves_what_was_there_of_use(checkout: Environment, pip: Pip):
    ensure(checkout, ["program"], lambda text: None)
    pip.status, pip.says = 1, "2026-01-01T10:00:00,1 ERROR: NewConnectionError\n"
    with pytest.raises(Trouble, match="no network"):
        ensure(checkout, ["torch"], lambda text: None)
    assert checkout.installed() == {"program"}


def test_that_an_environment_of_another_python_is_made_anew(
    checkout: Environment, pip: Pip, monkeypatch: pytest.MonkeyPatch
):
    checkout.folder.mkdir()
    (checkout.folder / "theirs").touch()
    monkeypatch.setattr(module, "_works", lambda environment: False)
    told: list[str] = []
    ensure(checkout, ["program"], told.append)
    assert not (checkout.folder / "theirs").exists()
    assert "made anew" in told[0]


def test_that_a_link_in_the_place_of_the_environment_loses_nothing_behind_it(
    checkout: Environment, pip: Pip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    precious = tmp_path / "elsewhere" / "precious"
    precious.parent.mkdir()
    precious.touch()
    checkout.folder.symlink_to(precious.parent)
    monkeypatch.setattr(module, "_works", lambda environment: False)
    ensure(checkout, ["program"], lambda text: None)
    assert precious.exists()
    assert not checkout.folder.is_symlink()


def test_that_a_python_without_venv_is_told_the_package_that_helps(
    checkout: Environment, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(module, "may_install", lambda: False)
    with pytest.raises(Trouble, match=rf"apt-get install python3\.{sys.version_info.minor}-venv"):
        ensure(checkout, ["program"], lambda text: None)


def test_that_venv_is_installed_where_that_is_allowed(
    checkout: Environment, pip: Pip, monkeypatch: pytest.MonkeyPatch
):
    installed: list[str] = []
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: name if installed else None)
    monkeypatch.setattr(module, "may_install", lambda: True)
    monkeypatch.setattr(module, "install", lambda packages, log: installed.extend(packages))
    ensure(checkout, ["program"], lambda text: None)
    assert installed == [f"python3.{sys.version_info.minor}-venv"]


def test_that_a_folder_that_cannot_be_written_is_named(
    checkout: Environment, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_arguments: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(module, "_make", refuse)
    with pytest.raises(Trouble, match="could not be written"):
        ensure(checkout, ["program"], lambda text: None)


def test_that_two_set_ups_of_one_checkout_follow_one_another(checkout: Environment):
    order: list[str] = []
    waiting = threading.Event()

    def second() -> None:
        def say(text: str) -> None:
            order.append(text)
            waiting.set()

        with module._alone(checkout.project, say):
            order.append("second")

    with module._alone(checkout.project, pytest.fail):
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(10)
        order.append("first")
    thread.join(10)
    assert "waiting" in order[0]
    assert order[1:] == ["first", "second"]


def test_that_the_path_file_is_plain_ascii_and_works(checkout: Environment):
    site = checkout.folder / "lib" / "site-packages"
    site.mkdir(parents=True)
    file = site / "_editable_impl_kohya_preflight.pth"
    file.write_text(f"{checkout.project}\n", "utf-8")
    make_path_file_readable(checkout)
    line = file.read_text("ascii")
    path: list[str] = []
    exec(line.replace("sys.path", "path").removeprefix("import sys; "), {"path": path})
    assert path == [str(checkout.project)]


def test_that_children_are_not_led_out_of_the_environment(monkeypatch: pytest.MonkeyPatch):
    for name in ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET"):
        monkeypatch.setenv(name, "elsewhere")
    monkeypatch.setenv("PIP_USER", "1")
    variables = child_variables()
    assert "elsewhere" not in variables.values()
    assert variables["PIP_USER"] == "0"


ASKS_FIRST = """
import os, signal, sys, time
signal.signal(signal.{name}, lambda *_: (time.sleep(0.5), os.write(1, b"asked first\\n"), os._exit(7)))
os.write(1, b"up\\n")
time.sleep(30)
"""
IN_FRONT = """
import sys
from pathlib import Path
from house.children import run_in_front
sys.exit(run_in_front([sys.executable, "-c", {program!r}], Path.cwd()))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize(("name", "to_all"), [("SIGINT", True), ("SIGTERM", False)])
def test_that_the_child_has_the_last_word(name: str, to_all: bool):
    parent = subprocess.Popen(
        [sys.executable, "-c", IN_FRONT.format(program=ASKS_FIRST.format(name=name))],
        cwd=PROJECT / "packaging",
        env={**child_variables(), "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"up\n"
        # A terminal sends Ctrl-C to everyone in it; whoever terminates means one process.
        send = os.killpg if to_all else os.kill
        send(parent.pid, getattr(signal, name))
        assert parent.stdout.read() == b"asked first\n"
    assert parent.returncode == 7


def test_that_the_status_of_a_child_in_front_is_told(tmp_path: Path):
    assert run_in_front([sys.executable, "-c", "import sys; sys.exit(3)"], tmp_path) == 3
