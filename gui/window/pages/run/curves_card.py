"""The loss and the log, one at a time, in the largest card of the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QStackedWidget

from gui.engine.runs.events import DiskWarned, FileSeen, Paused, Resumed, Troubled
from gui.engine.runs.loss_advice import LossAdvice
from gui.engine.runs.metrics import StepRow, ValidationRow
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _
from gui.engine.trainer.events import Epoch
from gui.window.bridges.run_reader import Happening
from gui.window.models.log_model import LogModel
from gui.window.pages.run.advice_line import AdviceLine
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.layouts import held, row
from gui.window.widgets.log_view import LogView
from gui.window.widgets.loss_chart import LossChart

MOST_EPOCH_MARKS = 40

Tab = Literal["loss", "log"]


def _every(epochs: int) -> int:
    """Return which epochs are marked: with thousands of them there would be no chart left to see."""
    return -(-epochs // MOST_EPOCH_MARKS)


class CurvesCard(Card):
    """Loss and log.

    Args:
        icons: For the log's buttons; with the theme.
    """

    def __init__(self, icons: Icons) -> None:
        super().__init__(name="run-curves")
        self.chart = LossChart(icons.theme)
        self.log = LogView(icons)
        self._model: LogModel | None = None
        self._nonfinite: int | None = None
        self._stack = QStackedWidget()
        self._stack.addWidget(self.chart)
        self._stack.addWidget(self.log)
        self._tabs: dict[Tab, Button] = {
            "loss": Button(_("Loss"), "segment", name="run-tab-loss"),
            "log": Button(_("Log"), "segment", name="run-tab-log"),
        }
        group = QButtonGroup(self)
        group.setExclusive(True)
        for name, button in self._tabs.items():
            group.addButton(button)
            button.clicked.connect(lambda _on=False, name=name: self.show_tab(name))
        tabs = held(row(*self._tabs.values(), spacing=Space.S))
        tabs.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.head.insertWidget(0, tabs, 0, Qt.AlignmentFlag.AlignVCenter)
        self.head.addStretch(1)
        self.head.addWidget(self.chart.controls, 0, Qt.AlignmentFlag.AlignVCenter)
        self.body.addWidget(self._stack, 1)
        self._advice = AdviceLine()
        self._advice.picked.connect(self.chart.point_at)
        self._advised = False
        self.body.addWidget(self._advice)
        self.show_tab("loss")

    def show_tab(self, name: Tab) -> None:
        """Show the loss or the log."""
        self._tabs[name].setChecked(True)
        self._stack.setCurrentWidget(self.chart if name == "loss" else self.log)
        self.chart.controls.setVisible(name == "loss")
        self._advice.setVisible(name == "loss" and self._advised)

    def show_place(self, step: int | None, log_line: int | None) -> None:
        """Show where in the log or on the curves something happened, as far as either is known."""
        if log_line is not None:
            self.show_tab("log")
            self.log.show_line(log_line)
        elif step is not None:
            self.chart.point_at(step)

    def begin(self, log: Path) -> None:
        """Begin with another run.

        Args:
            log: Its output.
        """
        self.end()
        self.chart.clear()
        self.show_advice(())
        self._nonfinite = None
        self.chart.set_nonfinite(None)
        self._model = LogModel(log)
        self.log.set_model(self._model)

    def end(self) -> None:
        """Let go of the run's files."""
        self.log.set_model(None)
        if self._model is not None:
            self._model.close()
            self._model = None

    def add_rows(self, rows: Sequence[StepRow]) -> None:
        """Draw more."""
        if rows:
            self.chart.add_rows(rows)

    def show_advice(self, advice: Sequence[LossAdvice]) -> None:
        """Say what the curve tells, in a line under it."""
        self._advised = bool(advice)
        self._advice.show_advice(advice)
        self._advice.setVisible(self._advised and self._stack.currentWidget() is self.chart)

    def add_validations(self, rows: Sequence[ValidationRow]) -> None:
        """Draw the loss on images that are not trained on."""
        for seen in rows:
            if seen.loss is not None:
                self.chart.add_validation(seen.step, seen.loss)

    def add_marks(self, happenings: Sequence[Happening]) -> None:
        """Mark what belongs to a step."""
        for event, step in happenings:
            at = step or 0
            match event:
                case Epoch() if event.total > 1 and event.epoch % _every(event.total) == 0:
                    self.chart.add_mark(at, "epoch", _("epoch {epoch}").format(epoch=event.epoch))
                case FileSeen(kind="model", complete=True):
                    saved = event.step if event.step is not None else at
                    self.chart.add_mark(saved, "save", _("saved {step}").format(step=f"{saved:,}"))
                case Paused():
                    self.chart.add_mark(at, "event", _("paused"))
                case Resumed():
                    self.chart.add_mark(at, "event", "")
                case Troubled(over=False):
                    self.chart.add_mark(at, "warning", {"slowed": _("slowed")}.get(event.id, ""))
                case DiskWarned():
                    self.chart.add_mark(at, "warning", _("disk"))

    def show_status(self, status: RunStatus) -> None:
        """Colour what comes after a loss that is not finite."""
        if status.first_nonfinite_step != self._nonfinite:
            self._nonfinite = status.first_nonfinite_step
            self.chart.set_nonfinite(self._nonfinite)
