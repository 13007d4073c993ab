"""What is said when the window is closed while a training runs."""

from __future__ import annotations

from gui.engine.texts import _, ngettext
from gui.window.bridges.run_list import RunList
from gui.window.main_window import MainWindow
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.layouts import column, held


class Closing:
    """Says once that runs go on; whoever closes again is believed.

    Args:
        window: The frame.
        runs: Those of this machine.
    """

    def __init__(self, window: MainWindow, runs: RunList) -> None:
        self._window = window
        self._runs = runs
        self._ask = Ask("", "", _("Close the window"), _("Stay"), tone="accent", name="closing")
        self._ask.yes.connect(self._close)
        self._place = held(column(self._ask, margins=(Space.XXL, Space.M, Space.XXL, 0)))
        self._ask.no.connect(self._place.hide)
        self._sure = False
        self._place.hide()
        window.messages.addWidget(self._place)

    def may_close(self) -> bool:
        """Whether the window may close now; else the question is shown."""
        living = self._runs.living
        if self._sure or not living or self._place.isVisible():
            return True
        names = ", ".join(f"“{entry.plan_name or entry.name}”" for entry in living)
        question = ngettext("{names} goes on training.", "{names} go on training.", len(living))
        detail = _(
            "Closing the window stops nothing: the training is watched and guarded as before, and is here "
            "again with all that happened when the program is started again."
        )
        self._place.show()
        self._ask.ask(question.format(names=names), detail)
        return False

    def _close(self) -> None:
        self._sure = True
        self._window.close()
