"""GPU memory: what the chosen GPU has free now, and a place for the forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QProgressBar

from gui.engine.hardware.gpu import GpuSample
from gui.engine.plan.model import TrainingPlan
from gui.engine.quantities import gib
from gui.engine.texts import _
from gui.window.widgets.card import Card
from gui.window.widgets.chip import Chip
from gui.window.widgets.labels import Label

if TYPE_CHECKING:
    from gui.window.bridges.hardware import Hardware

UNITS = 1000


class MemoryCard(Card):
    """The GPU that the plan would use.

    Args:
        hardware: Sees the GPUs.
    """

    def __init__(self, hardware: Hardware) -> None:
        self.chip = Chip(_("no forecast yet"))
        super().__init__(_("GPU memory"), self.chip, name="gpu-memory")
        self._hardware = hardware
        self._plan: TrainingPlan | None = None
        self._bar = QProgressBar()
        self._bar.setRange(0, UNITS)
        self._bar.setTextVisible(False)
        self._words = Label("", "small")
        self._words.setObjectName("gpu-memory-words")
        self.body.addWidget(self._bar)
        self.body.addWidget(self._words)
        hardware.sampled.connect(self._draw)
        self._draw()

    def show_plan(self, plan: TrainingPlan) -> None:
        """Show the GPU of another plan."""
        self._plan = plan
        self._draw()

    def _gpu(self) -> GpuSample | None:
        chosen = self._plan.launch.gpu_ids if self._plan else ()
        return next((gpu for gpu in self._hardware.gpus if not chosen or gpu.index == chosen[0]), None)

    def _draw(self) -> None:
        gpu = self._gpu()
        total = gpu.total_bytes if gpu else None
        free = gpu.free_bytes if gpu else None
        known = bool(gpu and total and free is not None)
        self._bar.setVisible(known)
        self.chip.setVisible(known)
        self._words.setText(self._sentence(gpu))
        if total and free is not None:
            self._bar.setValue(round(UNITS * (total - free) / total))
            self._bar.setAccessibleName(self._words.text())

    def _sentence(self, gpu: GpuSample | None) -> str:
        if gpu is None:
            problem = self._hardware.problem
            return _sentence_case(problem) if problem else _("No GPU is seen.")
        if gpu.lost:
            return gpu.sentence() or ""
        if gpu.free_bytes is None or not gpu.total_bytes:
            return _("{name} does not tell how much memory it has free.").format(name=gpu.name)
        text = _(
            "{free} of {total} free now on {name}. How much this plan needs is not forecast yet: watch the "
            "first steps."
        )
        return text.format(free=gib(gpu.free_bytes), total=gib(gpu.total_bytes), name=gpu.name)


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
