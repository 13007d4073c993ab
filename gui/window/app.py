"""Starts the window: the application, its look, the first paint, and only then everything else."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QLibraryInfo, QLocale, QTimer, QTranslator
from PySide6.QtWidgets import QApplication

from gui import __version__
from gui.engine.freed_memory import keep_for_good
from gui.engine.look import Look, read_look
from gui.engine.paths import Home
from gui.engine.texts import _, use_language
from gui.window.main_window import MainWindow
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme
from gui.window.widgets.opening import Opening

SWITCH_SECONDS = 0.0002
"""So soon a thread that is at work lets the window go on, which asks at each part of a picture. Python's own
is 25 times that."""


def run_window(
    home: Home, plan: Path | None = None, trainer: str | None = None, python: str | None = None
) -> int:
    """Open the window and stay until it is closed.

    Args:
        home: Where runs, caches and preferences are.
        plan: To open at once.
        trainer: Use this one instead of the default; a folder, or ``practice``.
        python: Its interpreter.

    Returns:
        The exit status.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    look = read_look(home.preferences)
    use_language(look.language)
    application = make_application(sys.argv[:1], look)
    theme = Theme(application, look.appearance, look.text_percent)
    icons = Icons(theme)
    window = MainWindow(icons)
    opening = Opening(icons)
    window.pages.addWidget(opening)
    window.show()
    endings: list[Callable[[], None]] = []

    def start() -> None:
        from gui.window.workbench import Workbench  # what it imports would delay the first paint

        bench = Workbench(application, window, icons, home, trainer=trainer, python=python)
        endings.append(bench.close)
        hooks.report = bench.report_fault
        opening.hide()
        opening.deleteLater()
        bench.begin(plan)
        keep_for_good()

    hooks = _Hooks()
    # After the first paint: a paint is posted when the window shows, a timer of zero comes behind it.
    QTimer.singleShot(0, lambda: QTimer.singleShot(0, start))
    window.closed.connect(application.quit)
    application.setQuitOnLastWindowClosed(True)
    # Not at once: a signal may come in the middle of a paint.
    signal.signal(signal.SIGINT, lambda *_signal: QTimer.singleShot(0, window.close))
    with hooks:
        status = application.exec()
    for end in endings:
        end()
    return status


def make_application(words: list[str], look: Look) -> QApplication:
    """Return the application, named, and with Qt's own words in the user's language."""
    application = QApplication(words)
    application.setApplicationName("kohya-preflight")
    application.setApplicationDisplayName(_("Kohya Preflight"))
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("kohya-preflight")
    locale = QLocale(look.language) if look.language else QLocale.system()
    translator = QTranslator(application)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translator.load(locale, "qtbase", "_", folder):
        application.installTranslator(translator)
    return application


class _Hooks:
    """Brings faults that nobody caught to the user's eyes as long as the window is open."""

    def __init__(self) -> None:
        self.report: Callable[[Exception], None] = self._print
        self._before = (sys.excepthook, threading.excepthook)

    def __enter__(self) -> _Hooks:
        sys.excepthook = self._fault
        threading.excepthook = self._thread_fault
        return self

    def __exit__(self, *_details: object) -> None:
        sys.excepthook, threading.excepthook = self._before

    def _fault(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self._before[0](kind, error, trace)
        if isinstance(error, Exception):
            self.report(error)

    def _thread_fault(self, what: threading.ExceptHookArgs) -> None:
        self._before[1](what)
        if isinstance(what.exc_value, Exception):
            self.report(what.exc_value)

    @staticmethod
    def _print(_error: Exception) -> None:
        """Before there is a place to show it, the terminal has it already."""
