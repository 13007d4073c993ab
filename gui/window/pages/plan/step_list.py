"""The steps at the left, each with its state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QIcon, QKeySequence, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from gui.engine.texts import _, ngettext
from gui.window.pages.plan.places import STEPS, StepName, step_words
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.styled import style

MARK = 20
"""Side of a mark, pixels at a text size of 100 %."""

WIDTH = 200
WIDEST = 300


@dataclass(frozen=True)
class StepState:
    """How a step stands.

    Attributes:
        mark: ``untouched`` shows its number.
        count: Of what stops the run.
    """

    mark: Literal["untouched", "fine", "warnings", "stops"] = "untouched"
    count: int = 0

    def words(self) -> str:
        """Return it in words."""
        if self.mark == "stops":
            return ngettext("{count} stops the run", "{count} stop the run", self.count).format(
                count=self.count
            )
        return {"untouched": _("not looked at yet"), "fine": _("fine"), "warnings": _("worth a look")}[
            self.mark
        ]


class StepList(QWidget):
    """Buttons for the steps. Up and Down go from one to the next, as Qt does it for buttons of a group.

    Args:
        icons: Draws the marks.
    """

    chosen = Signal(str)

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("step-list")
        self.setAccessibleName(_("Steps of the plan"))
        self._icons = icons
        self._group = QButtonGroup(self)
        self._states: dict[StepName, StepState] = {}
        self._words = step_words()
        self.buttons: dict[StepName, QToolButton] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        for number, name in enumerate(STEPS, start=1):
            if name == "arguments":
                layout.addSpacing(Space.M)
            button = self._button(name, number)
            self.buttons[name] = button
            layout.addWidget(button)
        layout.addStretch(1)
        icons.theme.changed.connect(self._draw)
        self._draw()

    def show_current(self, name: StepName) -> None:
        """Show which step is seen."""
        self.buttons[name].setChecked(True)

    def show_states(self, states: Mapping[StepName, StepState]) -> None:
        """Show how the steps stand."""
        if dict(states) != self._states:
            self._states = dict(states)
            self._draw()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Cut long words where there is no room."""
        super().resizeEvent(event)
        self._name()

    def _button(self, name: StepName, number: int) -> QToolButton:
        button = QToolButton()
        button.setObjectName(f"go-{name}")
        button.setCheckable(True)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setShortcut(QKeySequence(f"Ctrl+{number}"))
        style(button, kind="step")
        button.clicked.connect(lambda: self.chosen.emit(name))
        self._group.addButton(button)
        return button

    def _name(self) -> None:
        # The current one is bold, and wider.
        room, metrics = (
            self.width() - self._icons.theme.px(MARK + 40),
            QFontMetrics(self._icons.theme.font("strong")),
        )
        for name, button in self.buttons.items():
            words = metrics.elidedText(self._words[name], Qt.TextElideMode.ElideRight, max(room, 40))
            if button.text() != f" {words}":
                keys = button.shortcut()
                button.setText(f" {words}")
                button.setShortcut(keys)

    def _draw(self) -> None:
        px = self._icons.theme.px
        self.setFixedWidth(min(px(WIDTH), WIDEST))
        for number, (name, button) in enumerate(self.buttons.items(), start=1):
            state = self._states.get(name, StepState())
            button.setIcon(QIcon(self._mark(state, number, name)))
            button.setIconSize(QSize(px(MARK), px(MARK)))
            keys = button.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            told = "" if name == "arguments" else f" · {state.words()}"
            button.setToolTip(f"{self._words[name]}{told} ({keys})")
            button.setAccessibleName(f"{self._words[name]}{told}")
        self._name()

    def _mark(self, state: StepState, number: int, name: StepName) -> QPixmap:
        """Draw a mark: a circle with a sign, a count or the step's number."""
        theme = self._icons.theme
        ratio, side = 2.0, theme.px(MARK)
        pixmap = QPixmap(QSize(side, side) * ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        pixmap.setDevicePixelRatio(ratio)
        place = QRectF(0, 0, side, side)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if name == "arguments":
            self._icons.paint(painter, place.adjusted(1, 1, -1, -1), "more", theme.color("muted"))
            painter.end()
            return pixmap
        tone = {"untouched": "accent", "fine": "good", "warnings": "warn", "stops": "bad"}[state.mark]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color(f"{tone}_soft"))
        painter.drawEllipse(place.adjusted(0.5, 0.5, -0.5, -0.5))
        if state.mark == "fine":
            inset = side * 0.22
            self._icons.paint(
                painter, place.adjusted(inset, inset, -inset, -inset), "check", theme.color(tone)
            )
        else:
            texts = {"untouched": str(number), "warnings": "!"}
            font = theme.font("small")
            font.setBold(True)
            painter.setFont(font)
            painter.setPen(theme.color(tone))
            painter.drawText(
                place, Qt.AlignmentFlag.AlignCenter, texts.get(state.mark, str(min(state.count, 99)))
            )
        painter.end()
        return pixmap
