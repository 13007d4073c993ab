"""The program itself, as a process of its own: it opens quietly and ends cleanly."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.usefixtures("no_leftovers")

SAYS_WHEN_OPEN = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from gui.window import app

make_application = app.make_application

def that_is_watched(*given):
    application = make_application(*given)
    QTimer.singleShot(100, look)
    return application

def look():
    windows = [each for each in QApplication.topLevelWidgets() if each.objectName() == "main-window"]
    if not windows or windows[0].current != "start":
        QTimer.singleShot(50, look)
        return
    print("open", flush=True)
    if closes:
        windows[0].close()

closes = sys.argv.pop(1) == "closes"
app.make_application = that_is_watched
from gui.__main__ import main
main()
"""


def start(home, how: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", SAYS_WHEN_OPEN, how, "--home", str(home.root)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("how", ["closes", "is interrupted"])
def test_that_the_program_opens_quietly_and_ends_cleanly(home, how):
    window = start(home, how)
    try:
        assert window.stdout is not None
        assert window.stdout.readline() == "open\n"
        if how != "closes":
            window.send_signal(signal.SIGINT)
        out, err = window.communicate(timeout=60)
    finally:
        window.kill()
    assert (out, err, window.returncode) == ("", "", 0)
    assert home.window_state.is_file(), "how it stood is kept"
