"""Queue: plans in a row, one after the other on each GPU; added, put in order, paused, taken out."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QWidget

from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.queue_items import FailurePolicy, Queue
from gui.engine.texts import _, ngettext
from gui.window.bridges.hardware import Hardware
from gui.window.bridges.queue_adder import Added, Origin, QueueAdder, Refusal
from gui.window.bridges.queue_list import QueueList
from gui.window.models.queue_table import QueueTable
from gui.window.pages.queue.queue_details import QueueDetails
from gui.window.pages.queue.queue_messages import QueueMessages
from gui.window.pages.queue.queue_reports import report_of, report_of_failure
from gui.window.pages.queue.queue_view import QueueView
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.dropping import Drops
from gui.window.widgets.inputs import Choice
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, column, held, row
from gui.window.widgets.page import Empty, Page, Picture

if TYPE_CHECKING:
    from gui.engine.runs.queue_store import QueueStore, Removed


class QueuePage(Page):
    """The page.

    Args:
        queue: The queue of this home.
        adder: Puts plans into it.
        hardware: Sees the GPUs.
        home: Where runs are.
        theme: Colours, fonts and sizes.
        icons: For pictures.
    """

    open_run = Signal(object)
    """`Path` of the folder of a run that is to be shown."""
    open_plan = Signal(object)
    """`Path` of a plan that is to be opened."""

    def __init__(
        self,
        *,
        queue: QueueList,
        adder: QueueAdder,
        hardware: Hardware,
        home: Home,
        theme: Theme,
        icons: Icons,
    ) -> None:
        super().__init__(_("Queue"), name="queue-page")
        self._queue = queue
        self._adder = adder
        self._hardware = hardware
        self._home = home
        self._icons = icons
        self._table = QueueTable(self)
        self._view = QueueView(theme, self._table)
        self._details = QueueDetails()
        self._messages = QueueMessages(icons)
        self._make_head()
        self._stack = self._make_stack()
        self._busy = Busy(name="queue-checking")
        self.content.setSpacing(Space.M)
        for part in (self._messages, self._busy):
            self.content.addWidget(part)
        self.content.addWidget(self._settings)
        self.content.addWidget(self._stack, 1)
        self.content.addWidget(self._details)
        self.content.addStretch()  # where there is no table, messages are no taller for it
        self._connect()
        self._draw()

    def add_files(self, paths: list[str]) -> None:
        """Put plan files into the queue, in their order."""
        if paths:
            self._messages.clear()
        for path in paths:
            self._adder.add_file(Path(path))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Give the keyboard to the table."""
        super().showEvent(event)
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _make_head(self) -> None:
        self._add = Button(_("Add plans …"), "primary", name="queue-add", shortcut="Ctrl+Shift+A")
        self._add.set_tip(_("Plan files can be dropped here too"))
        self._pause = Button(_("Pause the queue"), name="queue-pause")
        self._pause.set_tip(_("Nothing more is started; what runs goes on"))
        self.buttons.addWidget(self._pause)
        self.buttons.addWidget(self._add)
        options = [("continue", _("start the next one")), ("stop", _("start nothing more on that GPU"))]
        self._policy = Choice(options, name="queue-policy", words=_("After a failure"))
        self._policy.setMinimumContentsLength(24)
        self._clear = Button(_("Take out what is over"), name="queue-clear")
        policy = held(row(Label(_("After a failure"), "small", wrap=False), self._policy, spacing=Space.S))
        self._settings = held(FlowLayout(policy, self._clear, spacing=Space.L))

    def _make_stack(self) -> QStackedWidget:
        stack = QStackedWidget()
        self._card = Card(margins=1, name="queue-card")
        self._card.body.addWidget(self._view)
        looking = Busy(_("Looking at the queue …"), cancellable=False, name="queue-looking")
        self._looking = held(column(looking, None))
        add = Button(_("Add plans …"), name="queue-add-first")
        add.clicked.connect(self._choose_files)
        self._empty = Empty(
            _("Nothing waits"),
            _(
                "Put plans here, and they are trained one after the other, on each GPU, without anybody "
                "there: drop plan files, or press “Add to queue” in a plan's review. Each is checked again "
                "right before it starts."
            ),
            picture=Picture(self._icons, "queue", size=40),
            button=add,
            name="queue-empty",
        )
        for part in (self._card, self._looking, self._empty):
            stack.addWidget(part)
        return stack

    def _connect(self) -> None:
        queue, adder, details, messages = self._queue, self._adder, self._details, self._messages
        queue.changed.connect(self._draw)
        queue.failed.connect(messages.say_failed)
        adder.changed.connect(self._draw_busy)
        adder.added.connect(self._answered)
        adder.refused.connect(self._answered)
        adder.failed.connect(self._not_checked)
        self._busy.cancelled.connect(adder.stop)
        self._hardware.sampled.connect(lambda: details.show_gpus(self._hardware.devices))
        self._add.clicked.connect(self._choose_files)
        self._pause.clicked.connect(self._pause_or_go_on)
        self._policy.changed.connect(self._choose_policy)
        self._clear.clicked.connect(lambda: queue.do(lambda store: store.clear()))
        self._table.moved.connect(self._move)
        self._view.moved.connect(self._move_current)
        self._view.opened.connect(self._open_current)
        self._view.remove_wanted.connect(self._remove_current)
        self._view.selectionModel().currentRowChanged.connect(lambda *_rows: self._draw_details())
        details.changed.connect(self._change)
        details.open_wanted.connect(self._open_current)
        details.retry_wanted.connect(self._retry_current)
        details.remove_wanted.connect(self._remove_current)
        details.up.clicked.connect(lambda: self._move_current(-1))
        details.down.clicked.connect(lambda: self._move_current(1))
        messages.go_on_wanted.connect(lambda: queue.do(lambda store: store.go_on()))
        messages.undo_wanted.connect(self._put_back)
        messages.open_wanted.connect(self.open_plan)
        messages.yes_given.connect(self._say_yes)
        self._drops = Drops(self, self.add_files, shows=self._card)

    def _draw(self) -> None:
        queue = self._queue.queue
        item, row_ = self._view.current_item(), self._view.currentIndex().row()
        if queue is not None:
            self._table.show(queue, datetime.now())
            self._view.measure()
            self._view.select(item.number if item else 0, max(0, row_))
            self._policy.show_value(queue.board.on_failure)
        paused = queue is not None and queue.board.paused
        self._pause.setText(_("Go on") if paused else _("Pause the queue"))
        self._messages.show_queue(queue, self._queue.problem)
        self.subtitle.setText(_summary(queue))
        there = queue is not None and bool(queue.items)
        part: QWidget = self._card if there else self._empty
        self._stack.setCurrentWidget(part if self._queue.known else self._looking)
        self._stack.setHidden(queue is None and bool(self._queue.problem))
        self._settings.setVisible(there)
        self._pause.setVisible(there)
        self._clear.setEnabled(queue is not None and any(each.over for each in queue.items))
        self._draw_details()
        self._draw_busy()

    def _draw_details(self) -> None:
        item = self._view.current_item() if self._queue.queue is not None else None
        self._details.setVisible(item is not None)
        if item is not None:
            place = (self._view.currentIndex().row(), self._table.rowCount())
            self._details.show_gpus(self._hardware.devices)
            self._details.show_item(item, self._table.sentence(item), place)

    def _draw_busy(self) -> None:
        left = self._adder.left
        words = ngettext("Checking the plan …", "Checking {count} plans …", left)
        self._busy.show_progress(words.format(count=left))
        self._busy.cancel.setVisible(left > 1)
        self._busy.setVisible(left > 0)
        self._details.retry.setEnabled(left == 0)

    def _choose_files(self) -> None:
        names, _filter = QFileDialog.getOpenFileNames(
            self, _("Plans for the queue"), "", _("Plans (*.toml);;All files (*)")
        )
        self.add_files(names)

    def _answered(self, outcome: Added | Refusal) -> None:
        report = report_of(outcome)
        if report is not None and outcome.origin is not None:  # of the open plan it is said where it is open
            self._messages.report(report)
        self._queue.refresh()

    def _not_checked(self, origin: Origin, error: PreflightError) -> None:
        if origin is not None:
            self._messages.report(report_of_failure(origin, error))

    def _say_yes(self, origin: Path | int, dangers: tuple[str, ...]) -> None:
        if isinstance(origin, int):
            self._adder.try_again(origin, dangers)
        else:
            self._adder.add_file(origin, dangers)

    def _pause_or_go_on(self) -> None:
        paused = self._queue.queue is not None and self._queue.queue.board.paused
        self._queue.do(lambda store: store.go_on() if paused else store.pause())

    def _choose_policy(self, policy: FailurePolicy) -> None:
        self._queue.do(lambda store: store.set_policy(policy))

    def _move(self, number: int, place: int) -> None:
        self._queue.do(lambda store: store.move(number, place))

    def _move_current(self, way: int) -> None:
        item = self._view.current_item()
        if item is not None:
            self._queue.do(lambda store: store.shift(item.number, way))

    def _change(self, number: int, change: object) -> None:
        self._queue.do(lambda store: store.change(number, change))  # type: ignore[arg-type]

    def _open_current(self) -> None:
        item = self._view.current_item()
        if item is None or item.run is None:
            return
        run = RunFolder(self._home.runs / item.run)
        if run.exists() or item.over:
            self.open_run.emit(run.path)
        else:
            self._messages.say(_("Its run is just being started."), _("Open it in a moment."))

    def _retry_current(self) -> None:
        item = self._view.current_item()
        if item is not None:
            self._messages.clear()
            self._adder.try_again(item.number)

    def _put_back(self, removed: Removed) -> None:
        messages = self._messages
        self._queue.do(
            lambda store: store.put_back(removed),
            failed=lambda error: messages.say_still_out(removed, error),
        )

    def _remove_current(self) -> None:
        item = self._view.current_item()
        if item is not None and self._details.remove.isEnabled():
            self._queue.do(lambda store: _taken_out(store, item.number), self._removed)

    def _removed(self, removed: Removed | None) -> None:
        if removed is not None:
            self._messages.say_removed(removed)


def _taken_out(store: QueueStore, number: int) -> Removed | None:
    """Take an item out; one that is out already, as after a second press of the key, is no trouble."""
    return store.remove(number) if store.read().item(number) is not None else None


def _summary(queue: Queue | None) -> str:
    if queue is None or not queue.items:
        return ""
    waiting, running = len(queue.waiting), len(queue.running)
    words = [
        ngettext("{count} is running", "{count} are running", running).format(count=running)
        if running
        else "",
        ngettext("{count} waits", "{count} wait", waiting).format(count=waiting) if waiting else "",
    ]
    return " · ".join(filter(None, words)) or _("All is over")
