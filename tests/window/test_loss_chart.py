"""The loss over steps: what it tells in words, what it draws, zoom, crosshair, export."""

from __future__ import annotations

import csv
import math
import subprocess
import sys
from array import array
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from gui.engine.errors import CannotWrite
from gui.engine.runs.metrics import StepRow
from gui.window.models.loss_series import LossSeries
from gui.window.theme.theme import Theme
from gui.window.widgets.labels import ElidedLabel
from gui.window.widgets.loss_chart import LossChart

Show = Callable[..., QWidget]


def rows(first: int, last: int, loss: float | None = None) -> list[StepRow]:
    return [
        StepRow(
            step=n,
            loss=0.1 + 0.1 / n if loss is None else loss,
            avr_loss=0.15,
            lr={"unet": 1e-4, "textencoder": 5e-5},
        )
        for n in range(first, last + 1)
    ]


@pytest.fixture
def chart(qtbot: QtBot, theme: Theme, show: Show) -> LossChart:
    chart = LossChart(theme)
    show(chart, 800, 400)
    chart.add_rows(rows(1, 400))
    qtbot.waitUntil(lambda: plot(chart) is not None and plot(chart).isVisible())
    return chart


def plot(chart: LossChart) -> QWidget:
    return chart.findChild(QWidget, "loss-plot")  # type: ignore[return-value]


def told(chart: LossChart) -> str:
    label = chart.findChild(ElidedLabel, "loss-readout")
    assert label is not None
    return label.text()


def named(chart: LossChart, name: str) -> QWidget:
    found = chart.findChild(QWidget, name)
    assert found is not None, name
    return found


def in_sight(chart: LossChart) -> tuple[float, float]:
    return plot(chart).in_sight()  # type: ignore[attr-defined,no-any-return]


def picture(chart: LossChart) -> QImage:
    return plot(chart).grab().toImage()


def count_of(image: QImage, colour: str) -> int:
    return sum(
        image.pixelColor(x, y).name() == colour for x in range(image.width()) for y in range(image.height())
    )


def test_that_an_empty_chart_says_what_will_be_here(theme: Theme, show: Show) -> None:
    chart = LossChart(theme)
    show(chart, 700, 300)
    assert named(chart, "loss-empty").isVisible()
    assert chart.accessibleDescription() == "No step yet."


def test_that_nothing_heavy_is_imported_before_the_first_step() -> None:
    code = (
        "import sys, gui.window.widgets.loss_chart, gui.window.widgets.memory_chart;"
        "print(sorted({'numpy', 'pyqtgraph'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_that_pyqtgraphs_own_settings_stay_as_they_are(chart: LossChart) -> None:
    import pyqtgraph

    assert pyqtgraph.getConfigOption("antialias") is False
    assert pyqtgraph.getConfigOption("background") == "k"
    assert pyqtgraph.getConfigOption("useOpenGL") is False


def test_that_it_tells_the_newest_figures(qtbot: QtBot, chart: LossChart) -> None:
    qtbot.waitUntil(lambda: told(chart).startswith("step 400 · loss 0.1003"))
    assert "avr_loss 0.15" in told(chart) and "lr unet 0.0001" in told(chart)
    assert chart.accessibleDescription() == told(chart)
    chart.add_rows(rows(401, 500))
    qtbot.waitUntil(lambda: told(chart).startswith("step 500 · "))
    assert in_sight(chart) == (1, 500)


def test_that_a_loss_that_is_not_finite_is_a_gap_and_a_red_band(qtbot: QtBot, chart: LossChart) -> None:
    band = chart._theme.tokens.bad_soft
    assert count_of(picture(chart), band) == 0
    chart.add_rows(rows(401, 420, math.nan))
    chart.set_nonfinite(401)
    qtbot.waitUntil(lambda: told(chart).endswith("not finite since step 401"))
    assert "loss not finite" in told(chart)
    image = picture(chart)
    assert count_of(image, band) > 10_000
    assert in_sight(chart)[1] > 500
    assert count_of(image.copy(0, 0, image.width() // 2, image.height()), band) == 0


def test_that_saves_are_marked(qtbot: QtBot, chart: LossChart) -> None:
    good = chart._theme.tokens.good
    assert count_of(picture(chart), good) == 0
    chart.add_mark(200, "save", "saved 200")
    chart.add_mark(200, "save", "saved 200")
    chart.add_mark(100, "epoch", "epoch 1")
    chart.add_mark(300, "warning", "swings")
    qtbot.waitUntil(lambda: count_of(picture(chart), good) > 50)
    assert len(chart._marks.items) == 3


def test_that_the_crosshair_tells_values_by_mouse_and_keys(qtbot: QtBot, chart: LossChart) -> None:
    view = plot(chart)
    place = view._sight().place  # type: ignore[attr-defined]
    qtbot.mouseMove(view.viewport(), QPoint(round(place.left()), 150))  # type: ignore[attr-defined]
    qtbot.mouseMove(view.viewport(), QPoint(round(place.center().x()), 150))  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: told(chart).startswith(("step 199", "step 200", "step 201")))
    view.setFocus()
    step = int(told(chart).split()[1])
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert told(chart).startswith(f"step {step + 1} ")
    qtbot.keyClick(view, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert told(chart).startswith(f"step {step - 9} ")
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert told(chart).startswith("step 400 ")


def wheel(widget: QWidget, modifiers: Qt.KeyboardModifier) -> bool:
    middle = QPointF(widget.rect().center())
    event = QWheelEvent(
        middle,
        QPointF(widget.mapToGlobal(middle)),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        modifiers,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


def test_that_only_the_wheel_with_ctrl_zooms(qtbot: QtBot, chart: LossChart) -> None:
    viewport = plot(chart).viewport()  # type: ignore[attr-defined]
    assert not wheel(viewport, Qt.KeyboardModifier.NoModifier)
    assert in_sight(chart) == (1, 400)
    wheel(viewport, Qt.KeyboardModifier.ControlModifier)
    left, right = in_sight(chart)
    assert 1 < left < right < 400
    assert named(chart, "loss-fit").isVisible()
    chart.add_rows(rows(401, 500))
    qtbot.waitUntil(lambda: told(chart).startswith("step 500"))
    assert in_sight(chart) == (left, right)
    qtbot.mouseClick(named(chart, "loss-fit"), Qt.MouseButton.LeftButton)
    assert in_sight(chart) == (1, 500)
    assert not named(chart, "loss-fit").isVisible()


def test_that_dragging_chooses_steps_and_a_double_click_brings_all(qtbot: QtBot, chart: LossChart) -> None:
    view = plot(chart)
    viewport, place = view.viewport(), view._sight().place  # type: ignore[attr-defined]
    at = [QPoint(round(place.left() + place.width() * part), 150) for part in (0.25, 0.5, 0.75)]
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=at[0])
    qtbot.mouseMove(viewport, at[1])
    qtbot.mouseMove(viewport, at[2])
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=at[2])
    left, right = in_sight(chart)
    assert left == pytest.approx(100, abs=3) and right == pytest.approx(300, abs=3)
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, at[2])
    qtbot.mouseMove(viewport, at[1])
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, at[1])
    assert in_sight(chart)[0] == pytest.approx(150, abs=3)
    qtbot.mouseDClick(viewport, Qt.MouseButton.LeftButton, pos=at[1])
    assert in_sight(chart) == (1, 400)


def test_that_keys_zoom_move_and_fit(qtbot: QtBot, chart: LossChart) -> None:
    view = plot(chart)
    qtbot.keyClick(view, Qt.Key.Key_Plus)
    left, right = in_sight(chart)
    assert right - left == pytest.approx(399 * 0.7)
    qtbot.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert in_sight(chart)[0] > left
    qtbot.keyClick(view, Qt.Key.Key_Minus)
    qtbot.keyClick(view, Qt.Key.Key_0)
    assert in_sight(chart) == (1, 400)


def test_that_curves_can_be_hidden(qtbot: QtBot, chart: LossChart) -> None:
    def drawn() -> bool:
        return count_of(picture(chart), chart._theme.tokens.chart_2) > 0

    qtbot.waitUntil(drawn)
    qtbot.mouseClick(named(chart, "loss-show-rate"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not drawn())
    qtbot.mouseClick(named(chart, "loss-show-rate"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(drawn)
    assert not named(chart, "loss-show-validation").isVisible()
    chart.add_validation(100, 0.12)
    chart.add_validation(200, 0.13)
    qtbot.waitUntil(named(chart, "loss-show-validation").isVisible)


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_that_the_scale_can_be_logarithmic(qtbot: QtBot, chart: LossChart) -> None:
    before = picture(chart)
    qtbot.mouseClick(named(chart, "loss-more"), Qt.MouseButton.LeftButton)
    menu = chart.findChild(QMenu, "loss-menu")
    assert menu is not None
    qtbot.waitUntil(menu.isVisible)
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not menu.isVisible())
    assert plot(chart).logarithmic  # type: ignore[attr-defined]
    assert picture(chart) != before


def test_that_a_spike_does_not_flatten_the_curve(qtbot: QtBot, chart: LossChart) -> None:
    chart.add_rows([StepRow(step=401, loss=500.0, lr={"unet": 1e-4})])
    qtbot.waitUntil(lambda: told(chart).startswith("step 401"))
    assert plot(chart)._sight().high < 100  # type: ignore[attr-defined]


def test_that_it_follows_the_theme_at_once(chart: LossChart, theme: Theme) -> None:
    theme.set_appearance("dark")
    image = picture(chart)
    assert image.pixelColor(1, 1).name() == theme.tokens.surface
    theme.set_text_percent(150)
    assert not picture(chart).isNull()


def test_that_figures_are_exported_as_csv(chart: LossChart, tmp_path: Path) -> None:
    chart.add_rows([StepRow(step=401, loss=math.nan, lr={"odd,name": 0.5})])
    chart.add_validation(200, 0.5)
    chart.export_csv(tmp_path / "loss.csv")
    with (tmp_path / "loss.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 401
    assert float(table[0]["loss"]) == pytest.approx(0.2) and table[0]["step"] == "1"
    assert float(table[0]["lr unet"]) == 1e-4 and table[0]["lr odd,name"] == ""
    assert table[400]["loss"] == "" and table[199]["validation_loss"] == "0.5"
    with pytest.raises(CannotWrite):
        chart.export_csv(tmp_path / "loss.csv" / "below")


def test_that_what_is_seen_is_exported_as_a_picture(chart: LossChart, tmp_path: Path) -> None:
    chart.export_png(tmp_path / "loss.png")
    image = QImage(str(tmp_path / "loss.png"))
    assert image.width() == plot(chart).width() * 2
    assert count_of(image, chart._theme.tokens.chart_1) > 100


def test_that_many_rows_at_once_all_arrive(qtbot: QtBot, chart: LossChart) -> None:
    chart.add_rows(rows(401, 9000))
    qtbot.waitUntil(lambda: told(chart).startswith("step 9,000"))
    assert len(chart.series) == 9000


def test_that_another_run_begins_with_nothing(qtbot: QtBot, chart: LossChart) -> None:
    chart.add_mark(5, "save", "saved 5")
    chart.clear()
    qtbot.waitUntil(named(chart, "loss-empty").isVisible)
    assert told(chart) == "No step yet."
    chart.add_rows(rows(1, 3))
    qtbot.waitUntil(lambda: told(chart).startswith("step 3"))


def test_that_a_bar_without_a_tracker_is_drawn_by_its_mean(qtbot: QtBot, theme: Theme, show: Show) -> None:
    chart = LossChart(theme)
    show(chart, 700, 300)
    chart.add_rows([StepRow(step=n, avr_loss=0.2) for n in range(1, 50)])
    qtbot.waitUntil(lambda: "mean 0.2" in told(chart))
    assert not named(chart, "loss-show-step").isVisible()
    chart.add_rows([StepRow(step=50, loss=0.1)])
    qtbot.waitUntil(named(chart, "loss-show-step").isVisible)


LOSSES = st.lists(st.one_of(st.none(), st.floats(0, 10), st.just(math.nan), st.just(math.inf)), max_size=40)


@settings(max_examples=100, deadline=None)
@given(LOSSES, st.integers(1, 60), st.randoms(use_true_random=False))
def test_that_the_order_of_rows_does_not_matter(
    losses: list[float | None], window: int, random: object
) -> None:
    table = [StepRow(step=n, loss=loss) for n, loss in enumerate(losses, 1)]
    mixed = list(table)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    first, second = LossSeries(window), LossSeries(window)
    first.add(table)
    for row in mixed:
        second.add([row])
    assert list(map(repr, first.smoothed)) == pytest.approx(list(map(repr, second.smoothed)))
    assert list(map(repr, first.loss)) == list(map(repr, second.loss))


def test_that_smoothing_is_not_drawn_towards_zero() -> None:
    series = LossSeries(window=50)
    series.add(StepRow(step=n, loss=0.5) for n in range(1, 100))
    assert all(value == pytest.approx(0.5) for value in series.smoothed)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.one_of(st.floats(-1e6, 1e6), st.just(math.nan)), min_size=1, max_size=500),
    st.integers(1, 40),
)
@example([0.0, math.nan, math.nan, math.nan, 1.0, math.nan, 0.0], 2)
def test_that_thinning_loses_no_peak(values: list[float], buckets: int) -> None:
    from gui.window.widgets.loss_peaks import peaks

    steps = array("d", range(1, len(values) + 1))
    thin = peaks(steps, array("d", values), 0, len(values) + 1, buckets)
    finite = [value for value in values if not math.isnan(value)]
    kept = [value for value in thin.y.tolist() if not math.isnan(value)]
    assert len(thin.x) <= max(2 * buckets + 2, 4)
    assert (max(finite), min(finite)) == (max(kept), min(kept)) if finite else not kept
    assert all(a <= b for a, b in zip(thin.x.tolist(), thin.x.tolist()[1:], strict=False))


def test_that_a_loss_that_explodes_hides_nothing_of_what_it_came_from() -> None:
    from gui.window.widgets.loss_peaks import Curve, worth_showing

    steps = np.arange(35.0)
    losses = np.where(steps < 28, 0.1, 1e30 * steps)
    sight = worth_showing(Curve(steps, losses), Curve(steps, losses), Curve(steps[:0], losses[:0]))
    assert sight is not None
    assert sight[0] < 0.1 < sight[1] < 2


def test_that_a_curve_that_explodes_is_seen_to_leave_at_the_top(qtbot: QtBot, chart: LossChart) -> None:
    """Qt draws no line to a point that lies 1e34 times the height of the picture away."""

    def blue_at_the_top_right() -> int:
        image = picture(chart)
        corner = image.copy(image.width() // 2, 0, image.width() // 2, image.height() // 4)
        return count_of(corner, chart._theme.tokens.chart_1)

    assert blue_at_the_top_right() == 0
    chart.add_rows(rows(401, 401, loss=1e34))
    qtbot.waitUntil(lambda: blue_at_the_top_right() > 0)


def test_that_there_is_no_step_and_a_half(qtbot: QtBot, theme: Theme, show: Show) -> None:
    chart = LossChart(theme)
    show(chart, 800, 400)
    chart.add_rows(rows(1, 3))
    qtbot.waitUntil(lambda: plot(chart) is not None and plot(chart).isVisible())
    axis = plot(chart).plotItem.getAxis("bottom")  # type: ignore[attr-defined]
    ticks = [value for _spacing, values in axis.tickValues(1, 3, 800) for value in values]
    assert ticks and all(value == int(value) for value in ticks)
