"""The command line's door: one clear line for every wrong use, the right status, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gui import __version__
from gui.cli import main
from gui.engine.errors import CannotRead, WrongUsage


def put_in_place(monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    """Let the sub-command ``runs`` be one that does what the test wants."""
    module = SimpleNamespace(
        add_arguments=lambda parser: parser.add_argument("--json", action="store_true"), run=run
    )
    monkeypatch.setattr(main.importlib, "import_module", lambda name: module)


def test_that_help_is_the_overview(capsys: pytest.CaptureFixture[str]):
    assert main.run(["--help"]) == 0
    out = capsys.readouterr().out
    assert "usage" in out
    assert all(name in out for name, command in main.commands().items() if command.summary)
    assert "\n  supervise" not in out


def test_that_the_version_is_told(capsys: pytest.CaptureFixture[str]):
    assert main.run(["--version"]) == 0
    assert __version__ in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [["nothing-of-the-kind"], ["--no-such-option"], ["runs", "--no-such-option"]]
)
def test_that_wrong_use_is_one_line_and_status_2(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    put_in_place(monkeypatch, lambda options: 0)
    assert main.run(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "--help" in captured.err


@pytest.mark.parametrize("error", [WrongUsage("two plans at once"), CannotRead("x.toml", "it is not there")])
def test_that_an_error_of_the_engine_is_one_line_and_status_2(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def fail(options: Any) -> int:
        raise error

    put_in_place(monkeypatch, fail)
    assert main.run(["runs"]) == 2
    assert capsys.readouterr().err == f"kohya-preflight: {error}\n"


def test_that_a_sub_command_gets_its_own_and_the_common_options(monkeypatch: pytest.MonkeyPatch):
    seen: list[Any] = []
    put_in_place(monkeypatch, lambda options: seen.append(options) or 1)
    assert main.run(["runs", "--json", "--home", "h", "--trainer", "t", "--python", "p"]) == 1
    assert (seen[0].json, seen[0].home, seen[0].trainer, seen[0].python) == (True, "h", "t", "p")


TALKATIVE = """
import sys, types
from gui.cli import main
say = lambda options: print("line\\n" * {lines}) or 0
main.importlib.import_module = lambda name: types.SimpleNamespace(add_arguments=lambda parser: None, run=say)
sys.exit(main.run(["runs"]))
"""


@pytest.mark.parametrize("lines", [1, 100_000])
def test_that_a_reader_who_leaves_early_is_no_error(lines: int):
    child = subprocess.Popen(
        [sys.executable, "-c", TALKATIVE.format(lines=lines)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.close()
    assert child.communicate()[1] == b""
    assert child.returncode == 0


def test_that_ctrl_c_ends_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def interrupt(options: Any) -> int:
        raise KeyboardInterrupt

    put_in_place(monkeypatch, interrupt)
    assert main.run(["runs"]) == 130
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", main.commands())
def test_that_every_sub_command_tells_its_use(name: str, capsys: pytest.CaptureFixture[str]):
    assert main.run([name, "--help"]) == 0
    assert f"kohya-preflight {name}" in capsys.readouterr().out


def test_that_the_program_is_started_as_a_module():
    done = subprocess.run([sys.executable, "-m", "gui", "--version"], capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout) == (0, f"kohya-preflight {__version__}\n")


def test_that_the_overview_goes_through_the_door_of_texts(
    pseudo_language: str, capsys: pytest.CaptureFixture[str]
):
    assert main.run(["--help"]) == 0
    overview = capsys.readouterr().out.split("\n")
    for name in (name for name, command in main.commands().items() if command.summary):
        line = next(line for line in overview if line.startswith(f"  {name} "))
        assert line.endswith("·"), line


def test_that_words_that_begin_with_a_dash_can_be_given_after_two_dashes(monkeypatch: pytest.MonkeyPatch):
    seen: list[Any] = []
    module = SimpleNamespace(
        add_arguments=lambda parser: parser.add_argument("plan"),
        run=lambda options: seen.append(options.plan) or 0,
    )
    monkeypatch.setattr(main.importlib, "import_module", lambda name: module)
    assert main.run(["runs", "--", "-plan.toml"]) == 0
    assert seen == ["-plan.toml"]


def test_that_a_system_error_is_one_line_and_status_2():
    failing = TALKATIVE.format(lines=1).replace('print("line\\n" * 1) or 0', "open('/nowhere/of/that/kind')")
    done = subprocess.run([sys.executable, "-c", failing], capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("kohya-preflight: /nowhere/of/that/kind: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
@pytest.mark.parametrize("lines", [1, 100_000])
def test_that_output_that_cannot_be_written_is_one_line_and_status_2(lines: int):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", TALKATIVE.format(lines=lines)],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
    assert done.returncode == 2
    assert done.stderr.startswith("kohya-preflight: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="closes descriptors as a POSIX shell does")
def test_that_it_works_without_standard_streams():
    """As ``parse - <&- >&- 2>&-`` starts it."""
    starter = "import os, sys; [os.close(n) for n in (0, 1, 2)]; os.execv(sys.executable, sys.argv[1:])"
    words = [sys.executable, "-m", "gui", "parse", "-"]
    assert subprocess.run([sys.executable, "-c", starter, *words]).returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="sends Ctrl+C as a POSIX terminal does")
def test_that_ctrl_c_while_the_program_is_loaded_is_no_traceback():
    interrupted = """
import sys
from gui.__main__ import main
class Interrupted:
    def find_spec(self, name, *_rest):
        if name == "gui.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
main()
"""
    done = subprocess.run([sys.executable, "-c", interrupted], capture_output=True)
    assert (done.returncode, done.stderr) == (130, b"")
