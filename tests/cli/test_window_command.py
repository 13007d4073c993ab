"""The window is opened without a word, and where it cannot be, one line says why."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gui.cli import main, window
from gui.engine.paths import Home

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can be without a display")


@pytest.fixture
def opened(monkeypatch):
    """Write down what the window would be opened with."""
    app = pytest.importorskip("gui.window.app")
    calls = []
    monkeypatch.setattr(app, "run_window", lambda *words: calls.append(words) or 0)
    monkeypatch.setattr(window, "why_no_window", lambda: None)
    return calls


def test_that_no_word_opens_the_window(opened, home):
    assert main.run([]) == 0
    assert opened == [(home, None, None, None)]


def test_that_the_common_options_alone_open_it_too(opened, tmp_path):
    home = tmp_path / "h"
    assert main.run(["--home", str(home), "--trainer", "t", "--python", "p"]) == 0
    assert main.run([f"--home={home}"]) == 0
    assert opened == [(Home(home), None, "t", "p"), (Home(home), None, None, None)]


def test_that_a_plan_is_handed_over(opened, home, tmp_path, monkeypatch, capsys):
    (tmp_path / "plan.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    assert main.run(["window", "plan.toml"]) == 0
    assert opened == [(home, tmp_path / "plan.toml", None, None)]
    assert main.run(["window", "none.toml"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@linux_only
def test_that_no_display_is_one_line_and_status_2():
    variables = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    done = subprocess.run([sys.executable, "-m", "gui"], capture_output=True, encoding="utf-8", env=variables)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "no display" in done.stderr


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ImportError("libEGL.so.1: cannot open shared object file"), "sudo apt-get install libegl1"),
        (ModuleNotFoundError("No module named 'PySide6'", name="PySide6"), "PySide6-Essentials"),
        (ImportError("a broken file", name="gui.window.app"), "a broken file; install Kohya Preflight again"),
    ],
)
def test_that_a_qt_that_cannot_be_loaded_is_one_line(monkeypatch, capsys, error, words):
    class Finder:
        def find_spec(self, name, path=None, target=None):
            if name == "gui.window.app":
                raise error

    monkeypatch.setattr(window, "why_no_window", lambda: None)
    monkeypatch.delitem(sys.modules, "gui.window.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    assert main.run(["window"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert words in said
