"""GPU memory over time against the card's total, with RAM and disk in a line."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QSizePolicy, QStackedWidget

from gui.engine.hardware.memory.observations import MemoryExpectation
from gui.engine.quantities import GIB
from gui.engine.runs.memory_hook import MemoryRow
from gui.engine.runs.metrics import GpuRow
from gui.engine.runs.status import GpuNow, RunStatus
from gui.engine.texts import _
from gui.window.pages.run.memory_tips import MemoryTips
from gui.window.pages.run.words import gpu_words, host_words
from gui.window.theme.theme import Theme
from gui.window.widgets.card import Card
from gui.window.widgets.chip import Chip
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.memory_chart import MemoryChart

HOT_C = 87.0
"""From here on most cards clock down."""


class GpuCard(Card):
    """What the run takes of the machine; of several GPUs the one that it uses most.

    Args:
        theme: For the chart.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(_("GPU memory"), name="run-gpu")
        self._theme = theme
        self._charts: dict[str, MemoryChart] = {}
        self._stack = QStackedWidget()
        self.title.setWordWrap(False)
        self.title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.figures = ElidedLabel("", "muted")
        self.figures.setObjectName("run-gpu-figures")
        self.head.setStretch(0, 0)
        self.head.addWidget(self.figures, 1)
        self.use = Chip(name="run-gpu-use")
        self.heat = Chip(name="run-gpu-heat")
        self.head.addWidget(self.use)
        self.head.addWidget(self.heat)
        self.none = Label("", "muted")
        self.none.setObjectName("run-no-gpu")
        self.host = ElidedLabel("", "small")
        self.host.setObjectName("run-host")
        self.body.addWidget(self.none)
        self.body.addWidget(self._stack, 1)
        self.tips = MemoryTips()
        self.body.addWidget(self.host)
        self.body.addWidget(self.tips)
        self._forecast: float | None = None
        self._status: RunStatus | None = None
        self._torch: list[MemoryRow] = []
        self.clear()

    def clear(self) -> None:
        """Show that nothing is known yet."""
        for chart in self._charts.values():
            self._stack.removeWidget(chart)
            chart.deleteLater()
        self._charts = {}
        self._torch = []
        self._status = None
        self._stack.hide()
        self.none.setText(_("Memory is shown here once the run takes some."))
        self.none.show()
        self.host.setText("")
        self._say_nothing()
        self._fit()

    def _fit(self) -> None:
        """Take no more room than the words need where there is no time line to draw."""
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setVerticalStretch(2 if self._charts else 0)
        self.setSizePolicy(policy)

    def _say_nothing(self) -> None:
        self.figures.setText("")
        self.use.hide()
        self.heat.hide()

    def add_rows(self, rows: Sequence[GpuRow]) -> None:
        """Draw more of the time line."""
        for uuid in {row.uuid for row in rows}:
            if uuid not in self._charts:
                self._charts[uuid] = MemoryChart(self._theme)
                self._charts[uuid].set_forecast(self._forecast)
                self._stack.addWidget(self._charts[uuid])
            self._charts[uuid].add_rows([row for row in rows if row.uuid == uuid])
        if rows:
            self.none.hide()
            self._stack.show()
            self._fit()
        if self._torch:
            waiting, self._torch = self._torch, []
            self.add_torch(waiting)

    def show_expected(self, expected: MemoryExpectation | None) -> None:
        """Draw what was forecast before the launch."""
        peak = expected.forecast.peak if expected else None
        self._forecast = peak.likely * GIB if peak else None
        for chart in self._charts.values():
            chart.set_forecast(self._forecast)
        if self._status is not None:  # of a run that is over no other comes
            self.show_status(self._status)

    def add_torch(self, rows: Sequence[MemoryRow]) -> None:
        """Draw what tensors take at the most, by torch; it waits until the GPU was seen by its driver."""
        if not self._charts:
            self._torch += rows
            return
        points: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            uuid = self._uuid_of(row)
            if uuid is not None and row.t is not None and row.allocated_peak is not None:
                points.setdefault(uuid, []).append((row.t, float(row.allocated_peak)))
        for uuid, found in points.items():
            self._charts[uuid].add_torch(found)

    def _uuid_of(self, row: MemoryRow) -> str | None:
        """Return whose figures a row has; where torch tells no lasting name, those of the only GPU."""
        named = [uuid for uuid in self._charts if row.uuid is not None and uuid.endswith(row.uuid)]
        alone = list(self._charts) if len(self._charts) == 1 and row.device is not None else []
        return next(iter(named or alone), None)

    def show_status(self, status: RunStatus) -> None:
        """Show the figures of now."""
        self._status = status
        gpu = status.busiest_gpu
        self.host.setText(host_words(status))
        if gpu is not None:
            self._show_gpu(gpu, over=status.verdict is not None)
            return
        self._say_nothing()
        if status.gpu_problem:
            self.none.setText(_("No GPU memory to show: {reason}").format(reason=status.gpu_problem))
        elif status.verdict is not None:
            self.none.setText(_("This run took no GPU memory."))
        self.none.setVisible(not self._charts)

    def _show_gpu(self, gpu: GpuNow, *, over: bool) -> None:
        if gpu.uuid in self._charts:
            self._stack.setCurrentWidget(self._charts[gpu.uuid])
        words = gpu_words(gpu, over=over, forecast_bytes=self._forecast)
        self.figures.setText(words)
        self.figures.setToolTip(f"{gpu.name}: {words}")
        self.use.setVisible(not over and gpu.utilisation_percent is not None)
        self.heat.setVisible(not over and gpu.temperature_c is not None)
        if gpu.utilisation_percent is not None:
            self.use.show_state(_("{percent} %").format(percent=f"{gpu.utilisation_percent:.0f}"))
            self.use.setToolTip(_("How busy the GPU is"))
        if gpu.temperature_c is not None:
            text = _("{degrees} °C").format(degrees=f"{gpu.temperature_c:.0f}")
            self.heat.show_state(text, "warn" if gpu.temperature_c >= HOT_C else "neutral")
            self.heat.setToolTip(_("The GPU’s temperature"))
