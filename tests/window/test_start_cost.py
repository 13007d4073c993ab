"""What must not come back: imports that delay the first paint, and a Qt that loses references."""

from __future__ import annotations

import subprocess
import sys

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot


def answer(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_that_nothing_heavy_is_imported_before_the_first_paint() -> None:
    heavy = "'pydantic', 'numpy', 'pyqtgraph', 'yaml', 'tomlkit', 'psutil', 'PIL', 'pynvml', 'safetensors'"
    code = (
        "import sys, gui.cli.main, gui.cli.window, gui.window.app;"
        f"print(sorted({{{heavy}}} & set(sys.modules)))"
    )
    assert answer(code) == "[]"


def test_that_imports_are_pythons_own_with_qt_loaded() -> None:
    code = (
        "import builtins; own = builtins.__import__;"
        "import gui.window.app, PySide6.QtWidgets; print(builtins.__import__ is own)"
    )
    assert answer(code) == "True"


def test_that_qt_keeps_its_references_to_none(qtbot: QtBot) -> None:
    label = QLabel()
    qtbot.addWidget(label)
    label.setText("warm")
    before = sys.getrefcount(None)
    for number in range(200):
        label.setText(f"text {number}")
    # PySide6 6.12.0 lost one at each call; the rest of Python moves it by a handful.
    assert abs(sys.getrefcount(None) - before) < 50
