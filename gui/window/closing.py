"""What is said when the window is closed while a training runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gui.engine.texts import _, ngettext
from gui.window.bridges.launcher import Launcher
from gui.window.bridges.run_list import RunList
from gui.window.main_window import MainWindow
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.layouts import column, held

if TYPE_CHECKING:
    from gui.engine.runs.run_entry import RunEntry


class Closing:
    """Says once that runs go on; whoever closes again is believed.

    A run that is just being launched is not left half made: the window closes as soon as it has begun, and
    stays to say why where it has not.

    Args:
        window: The frame.
        runs: Those of this machine.
        launcher: Whose launch is waited for.
    """

    def __init__(self, window: MainWindow, runs: RunList, launcher: Launcher) -> None:
        self._window = window
        self._runs = runs
        self._launcher = launcher
        self._due = False
        self._ask = Ask("", "", _("Close the window"), _("Stay"), tone="accent", name="closing")
        self._ask.yes.connect(self._close)
        self._place = held(column(self._ask, margins=(Space.XXL, Space.M, Space.XXL, 0)))
        self._ask.no.connect(self._no)
        self._sure = False
        self._place.hide()
        window.messages.addWidget(self._place)
        launcher.changed.connect(self._launch_changed)
        launcher.launched.connect(self._launched)
        launcher.refused.connect(self._stay)
        launcher.failed.connect(self._stay)

    def may_close(self) -> bool:
        """Whether the window may close now; else it is said why not."""
        if self._sure or self._place.isVisible():
            self._launcher.cancel()
            return True
        if self._launcher.starting:
            self._due = True
            detail = _("The window closes as soon as it runs; it goes on without the window.")
            self._show(_("The training is just being started."), detail)
            return False
        living = self._runs.living_now()
        if living:
            self._show(*_words(living))
        return not living

    def _show(self, question: str, detail: str) -> None:
        self._place.show()
        self._ask.ask(question, detail)

    def _launch_changed(self) -> None:
        if self._launcher.starting:
            self._stay()

    def _launched(self, _run: object) -> None:
        if self._due:
            self._close()

    def _no(self) -> None:
        self._due = False
        self._place.hide()

    def _stay(self, _why: object = None) -> None:
        """Whoever wanted to leave sees what became of the launch instead."""
        if self._due:
            self._due = False
            self._place.hide()

    def _close(self) -> None:
        self._sure = True
        self._window.close()


def _words(living: Sequence[RunEntry]) -> tuple[str, str]:
    names = ", ".join(f"“{entry.plan_name or entry.name}”" for entry in living)
    question = ngettext("{names} goes on training.", "{names} go on training.", len(living))
    detail = _(
        "Closing the window stops nothing: the training is watched and guarded as before, and is here "
        "again with all that happened when the program is started again."
    )
    return question.format(names=names), detail
