"""What the Queue page says above its table: what was taken out, what was not put in, what holds it up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.runs.queue_items import Queue
from gui.engine.runs.queue_words import queue_sentence
from gui.engine.texts import _
from gui.window.models.short_list import in_short
from gui.window.pages.queue.queue_reports import MOST_NAMED, Report, words_of
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button

if TYPE_CHECKING:
    from gui.engine.runs.queue_store import Removed


class QueueMessages(QWidget):
    """One message of a kind at a time.

    Args:
        icons: Draw pictures.
    """

    go_on_wanted = Signal()
    undo_wanted = Signal(object)
    """`Removed`."""
    open_wanted = Signal(object)
    """`Path` of a plan that was refused."""
    yes_given = Signal(object, object)
    """The `Origin` of a plan, and a tuple of ids of dangers that the user says yes to."""

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self._removed: list[Removed] = []
        self._reports: list[Report] = []
        self._held = Banner(icons, "warn", name="queue-held")
        self._said = Banner(icons, "accent", name="queue-said")
        self._go_on = Button(_("Go on"), compact=True, name="queue-go-on")
        self._undo = Button(_("Undo"), compact=True, shortcut="Ctrl+Z", name="queue-undo")
        self._open = Button(_("Open the plan"), compact=True, name="queue-open-plan")
        self._all_the_same = Button(_("Do it all the same"), compact=True, name="queue-all-the-same")
        self._all_the_same.set_tip(_("Your yes to what is likely to go wrong is kept in the run's record."))
        self._held.set_buttons(self._go_on)
        self._said.set_buttons(self._undo, self._open, self._all_the_same)
        self._said.make_closable(self.clear, "queue-said-close")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        for part in (self._held, self._said):
            part.hide()
            layout.addWidget(part)
        self._go_on.clicked.connect(self.go_on_wanted)
        self._undo.clicked.connect(self._put_back)
        self._open.clicked.connect(self._open_refused)
        self._all_the_same.clicked.connect(self._accept)
        self._fit()

    def show_queue(self, queue: Queue | None, problem: str) -> None:
        """Say what holds the queue up."""
        lines = in_short([*filter(None, [problem]), *(queue.problems if queue else ())], MOST_NAMED)
        held = queue_sentence(queue) if queue else ""
        title = held or _("Something is wrong with the queue.")
        self._held.show_words(title, "\n".join(lines), "warn")
        self._go_on.setVisible(bool(held))
        self._held.setVisible(bool(held or lines))
        self._fit()

    def say_removed(self, removed: Removed) -> None:
        """Offer to undo a removal, and those before it."""
        self._removed.append(removed)
        self._say_last_removed()

    def say_still_out(self, removed: Removed, error: PreflightError) -> None:
        """Say why something was not put back; it can be tried again."""
        self._removed.append(removed)
        self.say(_("This was not done."), str(error), undo=True, bad=True)

    def report(self, report: Report) -> None:
        """Say what came of a plan, beside what came of those before it."""
        self._reports.append(report)
        title, text = words_of(self._reports)
        accepts = all(each.dangers for each in self._reports if each.bad)
        bad = any(each.bad for each in self._reports)
        self._undo.setVisible(False)
        self._open.setVisible(len(self._reports) == 1 and bad and report.path is not None)
        self._all_the_same.setVisible(bad and accepts)
        self._show(title, text, bad=bad)

    def say_failed(self, error: PreflightError) -> None:
        """Say why something was not done."""
        self.say(_("This was not done."), str(error), bad=True)

    def clear(self) -> None:
        """Take away what was said."""
        self._reports = []
        self._removed = []
        self._said.hide()
        self._fit()

    def say(self, title: str, text: str, *, undo: bool = False, bad: bool = False) -> None:
        """Say something, in place of what was said before.

        Args:
            title: In a line.
            text: The rest.
            undo: Whether it can be undone.
            bad: Whether something was not done.
        """
        self._reports = []
        self._undo.setVisible(undo)
        self._open.setVisible(False)
        self._all_the_same.setVisible(False)
        self._show(title, text, bad=bad)

    def _show(self, title: str, text: str, *, bad: bool) -> None:
        self._said.show_words(title, text, "bad" if bad else "accent")
        self._said.show()
        self._fit()

    def _fit(self) -> None:
        """Take no room where nothing is said."""
        self.setVisible(not (self._held.isHidden() and self._said.isHidden()))

    def _say_last_removed(self) -> None:
        name = self._removed[-1].item.name
        self.say(_("“{name}” was taken out of the queue.").format(name=name), "", undo=True)

    def _put_back(self) -> None:
        if self._removed:
            self.undo_wanted.emit(self._removed.pop())
        if self._removed:
            self._say_last_removed()
        else:
            self.clear()

    def _open_refused(self) -> None:
        path = next((report.path for report in self._reports), None)
        self.clear()
        if path is not None:
            self.open_wanted.emit(path)

    def _accept(self) -> None:
        reports = self._reports
        self.clear()
        for report in reports:
            if report.bad:
                self.yes_given.emit(report.origin, report.dangers)
