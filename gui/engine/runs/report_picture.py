"""Draws the figures of a run as a picture, without a window: loss, learning rates, GPU memory.

Its words are names of fields and units, which are not translated: the font that comes along knows
no other letters.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gui.engine.quantities import GIB
from gui.engine.runs.metrics import AnyRow, GpuRow, StepRow, ValidationRow

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

WIDTH = 2400
HEIGHTS = {"loss": 840, "lr": 360, "GiB": 440}
LEFT, RIGHT, TOP, BOTTOM = 180, 60, 76, 60
SHRINK = 2
"""Everything is drawn so many times as large, and made smaller at the end: lines are smooth then."""

SMOOTH = 50
MOST_TIMES = 12
"""A curve that explodes leaves the picture; what it came from stays to be seen."""

_PAPER, _LINE, _INK, _BAD = "#ffffff", "#dddddd", "#444444", "#c62828"
_COLOURS = ("#1f5fbf", "#c9640f", "#2e7d32", "#7b3fa0", "#00838f", "#8d6e63")
_FAINT = "#b9cdec"

Points = list[tuple[float, float]]


class Figures(NamedTuple):
    """What is drawn, each series by its name.

    Attributes:
        loss: By step.
        rates: Learning rates by step.
        memory: GiB by seconds.
        nonfinite: The first step without a finite loss.
    """

    loss: Mapping[str, Points]
    rates: Mapping[str, Points]
    memory: Mapping[str, Points]
    nonfinite: int | None = None


def figures_of(rows: Iterable[AnyRow], nonfinite: int | None = None) -> Figures:
    """Sort the rows of ``metrics.jsonl`` into series; what is not finite is left out."""
    loss: dict[str, Points] = {}
    rates: dict[str, Points] = {}
    memory: dict[str, Points] = {}
    for row in rows:
        match row:
            case StepRow():
                _add(loss, "loss", row.step, row.loss)
                _add(loss, "avr_loss", row.step, row.avr_loss)
                for name, rate in row.lr.items():
                    _add(rates, f"lr {name}", row.step, rate)
            case ValidationRow():
                _add(loss, "validation loss", row.step, row.loss)
            case GpuRow():
                held = row.process_bytes if row.process_bytes is not None else row.used_bytes
                _add(memory, f"GPU {row.index}", row.t, None if held is None else held / GIB)
                total = None if row.total_bytes is None else row.total_bytes / GIB
                _add(memory, f"GPU {row.index} total", row.t, total)
            case _:
                pass
    if "loss" in loss:
        loss["smoothed"] = _smoothed(loss["loss"])
        loss.pop("avr_loss", None)
    return Figures(loss, rates, memory, nonfinite)


def metrics_picture(figures: Figures) -> bytes | None:
    """Return a PNG of what there is; None where there is nothing to draw."""
    from PIL import Image, ImageDraw  # heavy, and most reports are only looked through

    panels = [
        (name, series)
        for name, series in (("loss", figures.loss), ("lr", figures.rates), ("GiB", figures.memory))
        if any(len(points) > 1 for points in series.values())
    ]
    if not panels:
        return None
    height = sum(HEIGHTS[name] for name, _series in panels)
    image = Image.new("RGB", (WIDTH, height), _PAPER)
    draw, top = ImageDraw.Draw(image), 0
    for name, series in panels:
        _Panel(draw, name, top, series, figures.nonfinite if name != "GiB" else None).draw()
        top += HEIGHTS[name]
    small = image.resize((WIDTH // SHRINK, height // SHRINK), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _add(series: dict[str, Points], name: str, x: float | None, y: float | None) -> None:
    if x is not None and y is not None and math.isfinite(x) and math.isfinite(y):
        series.setdefault(name, []).append((x, y))


def _smoothed(points: Points) -> Points:
    """Return an exponential mean over about `SMOOTH` steps, corrected for its start."""
    share, total, weight = 2 / (SMOOTH + 1), 0.0, 0.0
    smooth: Points = []
    for x, y in points:
        total += share * (y - total)
        weight += share * (1 - weight)
        smooth.append((x, total / weight))
    return smooth


class _Panel:
    """One plot of the picture.

    Args:
        draw: Draws.
        name: What its values are.
        top: Pixels above it.
        series: Points by name.
        nonfinite: A step to be marked.
    """

    def __init__(
        self, draw: ImageDraw, name: str, top: int, series: Mapping[str, Points], nonfinite: int | None
    ) -> None:
        self._draw = draw
        self._name = name
        self._series = {key: points for key, points in series.items() if points}
        self._nonfinite = nonfinite
        self._top, self._bottom = top + TOP, top + HEIGHTS[name] - BOTTOM
        every = [point for points in self._series.values() for point in points]
        steps = [x for x, _y in every] + ([] if nonfinite is None else [float(nonfinite)])
        self._x = min(steps), max(steps)
        self._y = _range([y for _x, y in every], from_zero=name != "loss")
        self._font = _font()

    def draw(self) -> None:
        """Draw axes, curves and their names."""
        for value in _ticks(*self._y, count=5):
            y = self._place(self._x[0], value)[1]
            self._draw.line((LEFT, y, WIDTH - RIGHT, y), _LINE, 2)
            self._draw.text((LEFT - 16, y), f"{value:.3g}", _INK, self._font, "rm")
        for value in _ticks(*self._x, count=8, least=1.0):
            x = self._place(value, self._y[0])[0]
            self._draw.text((x, self._bottom + 12), f"{value:,.0f}", _INK, self._font, "mt")
        if self._nonfinite is not None:
            x = self._place(self._nonfinite, self._y[0])[0]
            self._draw.line((x, self._top, x, self._bottom), _BAD, 4)
        self._draw_curves()

    def _draw_curves(self) -> None:
        unit = f"{self._name} over " + ("seconds" if self._name == "GiB" else "steps")
        self._draw.text((WIDTH - RIGHT, self._top - 48), unit, _INK, self._font, "ra")
        at = LEFT
        for number, (name, points) in enumerate(self._series.items()):
            faint = name == "loss" and "smoothed" in self._series
            colour = _FAINT if faint else _COLOURS[number % len(_COLOURS)]
            shown = self._thinned(points)
            if len(shown) > 1:
                self._draw.line(shown, colour, 2 if faint else 4, joint="curve")
            self._draw.line((at, self._top - 32, at + 44, self._top - 32), colour, 6)
            self._draw.text((at + 56, self._top - 48), name, _INK, self._font)
            at += 96 + int(self._draw.textlength(name, self._font))

    def _thinned(self, points: Points) -> Points:
        """Return pixels, the least and the greatest value of each column: no peak is lost."""
        columns: dict[int, list[float]] = {}
        for x, y in points:
            px, py = self._place(x, y)
            columns.setdefault(round(px), []).append(py)
        return [
            (float(column), y)
            for column, values in sorted(columns.items())
            for y in ((values[0],) if len(values) == 1 else (max(values), min(values)))
        ]

    def _place(self, x: float, y: float) -> tuple[float, float]:
        across = (x - self._x[0]) / ((self._x[1] - self._x[0]) or 1)
        up = min(1.0, max(0.0, (y - self._y[0]) / ((self._y[1] - self._y[0]) or 1)))
        width, height = WIDTH - LEFT - RIGHT, self._bottom - self._top
        return LEFT + across * width, self._bottom - up * height


def _range(values: Sequence[float], *, from_zero: bool) -> tuple[float, float]:
    """Return what the axis spans."""
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    usual = ordered[int((len(ordered) - 1) * 0.75)]
    if usual > 0:
        high = max(min(high, MOST_TIMES * usual), low)
    room = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    return (0.0 if from_zero and low >= 0 else low - room), high + room


def _ticks(low: float, high: float, count: int, least: float = 0.0) -> list[float]:
    """Return round values between two, not closer to each other than the least distance."""
    rough = max((high - low) / count, least)
    if not rough > 0 or not math.isfinite(rough):
        return [low]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first = math.ceil(low / step)
    return [number * step for number in range(first, math.floor(high / step) + 1)]


def _font() -> FreeTypeFont | ImageFont:
    from PIL import ImageFont

    return ImageFont.load_default(15 * SHRINK)
