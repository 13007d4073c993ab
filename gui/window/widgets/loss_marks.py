"""Saves, epochs, events and the end of finite losses, drawn over a chart."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from gui.engine.texts import _
from gui.window.theme.theme import Theme

MarkKind = Literal["save", "epoch", "event", "warning", "error"]

_TOKENS: dict[MarkKind, str] = {
    "save": "good",
    "epoch": "line",
    "event": "muted",
    "warning": "warn",
    "error": "bad",
}
_TEXTS: dict[MarkKind, str] = {**_TOKENS, "epoch": "faint"}
_CLOSEST_LINES = 4.0
_GAP = 4


class Mark(NamedTuple):
    """Something that happened at a step."""

    step: int
    kind: MarkKind
    text: str


@dataclass
class Marks:
    """All that is marked.

    Attributes:
        items: In order of their steps.
        nonfinite: The first step whose loss is not finite.
        last_step: The step at which the run would end, where it should be in sight; else 0.
    """

    items: list[Mark] = field(default_factory=list)
    nonfinite: int | None = None
    last_step: int = 0

    def add(self, mark: Mark) -> None:
        """Take one more; the same one again changes nothing."""
        place = bisect_left(self.items, mark)
        if self.items[place : place + 1] != [mark]:
            self.items.insert(place, mark)


class Sight(NamedTuple):
    """Where a chart is drawn and what is in sight.

    Attributes:
        place: In pixels.
        left: Step at the left edge.
        right: Step at the right edge.
        low: Value at the lower edge, its logarithm on a logarithmic scale.
        high: Value at the upper edge.
        logarithmic: Whether values are drawn by their logarithm.
    """

    place: QRectF
    left: float
    right: float
    low: float
    high: float
    logarithmic: bool

    def x(self, step: float) -> float:
        """Return the pixel of a step."""
        return self.place.left() + (step - self.left) / ((self.right - self.left) or 1) * self.place.width()

    def y(self, value: float) -> float:
        """Return the pixel of a value."""
        if self.logarithmic:
            value = math.log10(value) if value > 0 else self.low
        share = (value - self.low) / ((self.high - self.low) or 1)
        return self.place.bottom() - share * self.place.height()

    def step_at(self, x: float) -> float:
        """Return the step at a pixel."""
        return self.left + (x - self.place.left()) / max(1.0, self.place.width()) * (self.right - self.left)


def draw_behind(painter: QPainter, theme: Theme, sight: Sight, marks: Marks) -> None:
    """Colour the part from the first loss that is not finite."""
    if marks.nonfinite is None or marks.nonfinite > sight.right:
        return
    left = max(sight.place.left(), sight.x(marks.nonfinite))
    band = QRectF(left, sight.place.top(), sight.place.right() - left, sight.place.height())
    painter.fillRect(band, theme.color("bad_soft"))


def draw_marks(painter: QPainter, theme: Theme, sight: Sight, marks: Marks) -> None:
    """Draw the marks in sight; a label that would lie over another is left out."""
    painter.save()
    painter.setClipRect(sight.place)
    painter.setFont(theme.font("small"))
    metrics = QFontMetricsF(theme.font("small"))
    taken: list[tuple[float, float]] = []
    if marks.nonfinite is not None and sight.left <= marks.nonfinite <= sight.right:
        taken.append(_draw_nonfinite(painter, theme, sight, marks.nonfinite, metrics))
    in_sight = [mark for mark in marks.items if sight.left <= mark.step <= sight.right]
    # What matters more gets its label first.
    in_sight.sort(key=lambda mark: ("error", "warning", "save", "event", "epoch").index(mark.kind))
    lines: list[float] = []
    for mark in in_sight:
        x = round(sight.x(mark.step)) + 0.5
        if mark.kind == "epoch" and any(abs(x - other) < _CLOSEST_LINES for other in lines):
            continue
        lines.append(x)
        _draw_line(painter, theme, sight, mark, x)
        width = metrics.horizontalAdvance(mark.text)
        left = x + _GAP if x + _GAP + width <= sight.place.right() else x - _GAP - width
        if mark.text and all(left > end or left + width < begin for begin, end in taken):
            taken.append((left - _GAP, left + width + _GAP))
            painter.setPen(theme.color(_TEXTS[mark.kind]))
            painter.drawText(QPointF(left, sight.place.top() + metrics.ascent() + 1), mark.text)
    painter.restore()


def draw_crosshair(painter: QPainter, theme: Theme, sight: Sight, step: float, value: float) -> None:
    """Draw a line at a step and a dot on the curve."""
    x = sight.x(step)
    if not sight.place.left() <= x <= sight.place.right():
        return
    painter.setPen(QPen(theme.color("muted"), 1))
    painter.drawLine(QPointF(x, sight.place.top()), QPointF(x, sight.place.bottom()))
    if math.isfinite(value):
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("surface"), 2))
        painter.setBrush(theme.color("chart_1"))
        painter.drawEllipse(QPointF(x, sight.y(value)), 4.5, 4.5)


def _draw_line(painter: QPainter, theme: Theme, sight: Sight, mark: Mark, x: float) -> None:
    pen = QPen(theme.color(_TOKENS[mark.kind]), 1)
    if mark.kind != "epoch":
        pen.setDashPattern([2, 3])
    painter.setPen(pen)
    painter.drawLine(QPointF(x, sight.place.top()), QPointF(x, sight.place.bottom()))


def _draw_nonfinite(
    painter: QPainter, theme: Theme, sight: Sight, step: int, metrics: QFontMetricsF
) -> tuple[float, float]:
    x = sight.x(step)
    painter.setPen(QPen(theme.color("bad"), 2))
    painter.drawLine(QPointF(x, sight.place.top()), QPointF(x, sight.place.bottom()))
    words = _("not finite, step {step}").format(step=f"{step:,}")
    width = metrics.horizontalAdvance(words)
    left = x + 2 * _GAP if x + 2 * _GAP + width <= sight.place.right() else x - 2 * _GAP - width
    place = QRectF(left, sight.place.top() + _GAP, width + 1, metrics.height())
    painter.drawText(place, int(Qt.AlignmentFlag.AlignLeft), words)
    return left - _GAP, left + width + _GAP
