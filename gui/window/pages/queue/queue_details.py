"""The item that is selected: where and when it starts, how it ended, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.errors import WrongUsage
from gui.engine.hardware.gpu import GpuDevice
from gui.engine.runs.queue_changes import started_at, started_on, started_when_free
from gui.engine.runs.queue_hours import next_moment
from gui.engine.runs.queue_items import QueueItem
from gui.engine.texts import _
from gui.window.models.short_list import in_short
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.inputs import Choice, TextField
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, held, row
from gui.window.widgets.switch import Switch

Change = Callable[[QueueItem], QueueItem]
MOST_FINDINGS = 6


class QueueDetails(Card):
    """Tells and changes one item."""

    changed = Signal(int, object)
    """An item's number, and a function that makes the new item of the old one."""
    open_wanted = Signal()
    retry_wanted = Signal()
    remove_wanted = Signal()

    def __init__(self) -> None:
        super().__init__(name="queue-details")
        self._item: QueueItem | None = None
        self._gpus: tuple[GpuDevice, ...] = ()
        self._choices: list[tuple[object, str]] = []
        self._sentence = Label("", "muted", selectable=True)
        self._sentence.setObjectName("queue-sentence")
        self._findings = Label("", "small", selectable=True)
        self._findings.setObjectName("queue-findings")
        self._make_options()
        self._make_actions()
        self.title.setVisible(True)
        for part in (self._sentence, self._findings, self._options):
            self.body.addWidget(part)
        self.body.addLayout(FlowLayout(self.open, self.retry, self.up, self.down, self.remove))

    def _make_options(self) -> None:
        self._gpu = Choice(name="queue-gpu", words=_("Trains on"))
        self._gpu.setMinimumContentsLength(26)
        self._gpu.changed.connect(lambda gpus: self._tell(started_on(gpus)))
        self._hour = TextField(placeholder=_("at once"), name="queue-hour", words=_("Not before"))
        self._hour.setToolTip(_("An hour of the day, such as 02:00; empty starts it in its turn"))
        self._hour.changed.connect(self._hour_typed)
        self._hour.setMaximumWidth(110)
        self._free = Switch(_("Wait until its memory is free"), name="queue-when-free")
        self._free.setToolTip(
            _("It then starts once the GPU has the memory that the plan is expected to need")
        )
        self._free.changed.connect(lambda on: self._tell(started_when_free(on)))
        self._of_gpu = held(row(Label(_("Trains on"), "small", wrap=False), self._gpu, spacing=Space.S))
        hour = held(row(Label(_("Not before"), "small", wrap=False), self._hour, spacing=Space.S))
        self._options = QWidget()
        layout = QVBoxLayout(self._options)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(FlowLayout(self._of_gpu, hour, self._free, spacing=Space.L))

    def _make_actions(self) -> None:
        self.open = Button(
            _("Open the run"), "primary", name="queue-open", tip=_("Key: {key}").format(key=_("Enter"))
        )
        tip = _("It waits for its turn again as it was put in: later changes of the plan's file do not count")
        self.retry = Button(_("Try again"), name="queue-retry", tip=tip)
        self.up = Button(_("Earlier"), name="queue-up", tip=_("Key: {key}").format(key="Alt+↑"))
        self.down = Button(_("Later"), name="queue-down", tip=_("Key: {key}").format(key="Alt+↓"))
        self.remove = Button(
            _("Take out"), "danger", name="queue-remove", tip=_("Key: {key}").format(key=_("Delete"))
        )
        self.open.clicked.connect(self.open_wanted)
        self.retry.clicked.connect(self.retry_wanted)
        self.remove.clicked.connect(self.remove_wanted)

    def show_item(self, item: QueueItem, sentence: str, place: tuple[int, int]) -> None:
        """Show an item.

        Args:
            item: Which.
            sentence: How it ended, or what it waits for.
            place: Where it stands, counted from 0, and how many there are.
        """
        typing = self._hour.hasFocus() and self._item is not None and self._item.number == item.number
        self._item = item
        waiting = item.state == "waiting"
        self.title.setText(_("{number}. {name}").format(number=item.number, name=item.name))
        shown = "" if item.findings else sentence
        self._sentence.setText(shown)
        self._sentence.setVisible(bool(shown))
        lines = [f"• {finding.title} {finding.detail}".strip() for finding in item.findings]
        self._findings.setText("\n".join(in_short(lines, MOST_FINDINGS)))
        self._findings.setVisible(bool(item.findings))
        self._options.setVisible(waiting)
        self._of_gpu.setVisible(not item.practice)
        self._free.setVisible(not item.practice)
        self._show_gpus()
        if not typing:
            hour = item.hour_to_come(datetime.now())
            self._hour.show_value(f"{hour:%H:%M}" if hour is not None else "")
            self._hour.show_trouble()
        self._free.show_value(item.when_free)
        self.open.setVisible(item.run is not None)
        self.retry.setVisible(item.over)
        self.up.setEnabled(place[0] > 0)
        self.down.setEnabled(place[0] < place[1] - 1)
        self.remove.setEnabled(item.state != "running")
        tip = _("Stop its run first") if item.state == "running" else _("Key: {key}").format(key=_("Delete"))
        self.remove.set_tip(tip)

    def show_gpus(self, gpus: Sequence[GpuDevice]) -> None:
        """Offer the GPUs that there are."""
        if tuple(gpus) != self._gpus:
            self._gpus = tuple(gpus)
            self._show_gpus()

    def _show_gpus(self) -> None:
        options: list[tuple[object, str]] = [((), _("The trainer's choice"))]
        options += [
            ((gpu.index,), _("GPU {index}: {name}").format(index=gpu.index, name=gpu.name))
            for gpu in self._gpus
        ]
        chosen = self._item.gpus if self._item else ()
        if chosen not in [gpus for gpus, _words in options]:
            options.append((chosen, _("GPU {numbers}").format(numbers=" + ".join(map(str, chosen)))))
        if options != self._choices:  # else a list that is open would be taken away
            self._choices = options
            self._gpu.set_options(options)
        self._gpu.show_value(chosen)

    def _hour_typed(self, text: str) -> None:
        try:
            moment = next_moment(text, datetime.now()) if text.strip() else None
        except WrongUsage as error:
            self._hour.show_trouble(str(error))
            return
        self._hour.show_trouble()
        self._tell(started_at(moment))

    def _tell(self, change: Change) -> None:
        if self._item is not None:
            self.changed.emit(self._item.number, change)
