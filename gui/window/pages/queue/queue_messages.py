"""What the Queue page says above its table: what was taken out, what was not put in, what holds it up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.runs.queue_items import Queue
from gui.engine.runs.queue_words import queue_sentence
from gui.engine.texts import _
from gui.window.bridges.queue_adder import Added, Refusal
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button

if TYPE_CHECKING:
    from gui.engine.runs.queue_store import Removed

MOST_NAMED = 6


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
    add_wanted = Signal(object, object)
    """`Path` of a plan, and a tuple of ids of dangers that the user says yes to."""

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self._removed: Removed | None = None
        self._refusal: Refusal | None = None
        self._held = Banner(icons, "warn", name="queue-held")
        self._said = Banner(icons, "accent", name="queue-said")
        self._go_on = Button(_("Go on"), compact=True, name="queue-go-on")
        self._undo = Button(_("Undo"), compact=True, shortcut="Ctrl+Z", name="queue-undo")
        self._open = Button(_("Open the plan"), compact=True, name="queue-open-plan")
        self._all_the_same = Button(_("Add it all the same"), compact=True, name="queue-add-all-the-same")
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
        self._all_the_same.clicked.connect(self._add_refused)
        self._fit()

    def show_queue(self, queue: Queue | None, problem: str) -> None:
        """Say what holds the queue up."""
        lines = [problem, *(queue.problems if queue else ())]
        held = queue_sentence(queue) if queue else ""
        title = held or _("Something is wrong with the queue.")
        self._held.show_words(title, "\n".join(filter(None, lines)), "warn")
        self._go_on.setVisible(bool(held))
        self._held.setVisible(bool(held or any(lines)))
        self._fit()

    def say_removed(self, removed: Removed) -> None:
        """Offer to undo a removal."""
        self._removed = removed
        self.say(_("“{name}” was taken out of the queue.").format(name=removed.item.name), "", undo=True)

    def say_added(self, added: Added) -> None:
        """Say what would refuse it just now; nothing where all is well."""
        if not added.passing:
            return
        title = _("“{name}” is in the queue. As things are now it would be refused:")
        text = "\n".join(f"• {finding.title}" for finding in added.passing)
        self.say(title.format(name=added.item.name), text)

    def say_refused(self, refusal: Refusal) -> None:
        """Say why a plan was not put into the queue, and the ways on."""
        self._refusal = refusal
        titles = [f"• {finding.title}" for finding in refusal.findings[:MOST_NAMED]]
        more = len(refusal.findings) - MOST_NAMED
        titles += [_("and {count} more").format(count=more)] if more > 0 else []
        dangers = all(finding.severity == "danger" for finding in refusal.findings)
        title = _("“{name}” was not put into the queue.").format(name=refusal.name)
        self.say(title, "\n".join(titles), opens=True, accepts=dangers, bad=True)

    def say_failed(self, error: PreflightError) -> None:
        """Say why something was not done."""
        self.say(_("This was not done."), str(error), bad=True)

    def clear(self) -> None:
        """Take away what was said."""
        self._said.hide()
        self._fit()

    def say(
        self,
        title: str,
        text: str,
        *,
        undo: bool = False,
        opens: bool = False,
        accepts: bool = False,
        bad: bool = False,
    ) -> None:
        """Say something, in place of what was said before.

        Args:
            title: In a line.
            text: The rest.
            undo: Whether it can be undone.
            opens: Whether the plan can be opened.
            accepts: Whether the plan can be added all the same.
            bad: Whether something was not done.
        """
        self._undo.setVisible(undo)
        self._open.setVisible(opens)
        self._all_the_same.setVisible(accepts)
        self._said.show_words(title, text, "bad" if bad else "accent")
        self._said.show()
        self._fit()

    def _fit(self) -> None:
        """Take no room where nothing is said."""
        self.setVisible(not (self._held.isHidden() and self._said.isHidden()))

    def _put_back(self) -> None:
        if self._removed is not None:
            self.undo_wanted.emit(self._removed)
        self.clear()

    def _open_refused(self) -> None:
        path = self._path()
        if path is not None:
            self.open_wanted.emit(path)
        self.clear()

    def _add_refused(self) -> None:
        path = self._path()
        if path is not None and self._refusal is not None:
            ids = tuple(dict.fromkeys(finding.id for finding in self._refusal.findings))
            self.add_wanted.emit(path, ids)
        self.clear()

    def _path(self) -> Path | None:
        return self._refusal.path if self._refusal is not None else None
