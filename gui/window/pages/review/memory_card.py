"""GPU memory: what the plan needs of the chosen GPU, part by part and phase by phase, and does it fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from gui.engine.hardware.gpu import GpuSample
from gui.engine.hardware.memory.forecasts import peak_of
from gui.engine.hardware.memory.room import Room
from gui.engine.hardware.visible import training_gpus
from gui.engine.plan.model import LaunchSettings, TrainingPlan
from gui.engine.preflight.estimate import PlanEstimate
from gui.engine.quantities import GIB, gib
from gui.engine.texts import _
from gui.window.bridges.exact_forecast import ExactForecast
from gui.window.bridges.plan_check import Checked
from gui.window.pages.review.memory_words import parts_words, peak_words, state_of, unknown_words
from gui.window.pages.review.phase_table import PhaseTable
from gui.window.theme.theme import Theme
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.chip import Chip
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, held
from gui.window.widgets.memory_bar import MemoryBar

if TYPE_CHECKING:
    from gui.window.bridges.hardware import Hardware


class MemoryCard(Card):
    """The forecast beside the GPU that the plan would use.

    Args:
        hardware: Sees the GPUs.
        exact: Makes forecasts that are exact.
        theme: Colours and sizes.
    """

    def __init__(self, hardware: Hardware, exact: ExactForecast, theme: Theme) -> None:
        self.chip = Chip(name="gpu-memory-state")
        super().__init__(_("GPU memory"), self.chip, name="gpu-memory")
        self._hardware = hardware
        self._exact = exact
        self._plan: TrainingPlan | None = None
        self._estimate: PlanEstimate | None = None
        self._inherited: Mapping[str, str] = {}
        self.bar = MemoryBar(theme)
        self._words = _small("gpu-memory-words")
        self._parts = _small("gpu-memory-parts")
        self._basis = _small("gpu-memory-basis")
        self._now = _small("gpu-memory-now")
        self._trouble = _small("gpu-memory-trouble")
        self._phases = PhaseTable(theme)
        self._phases.hide()
        self._busy = Busy(name="exact-busy")
        self._busy.cancel.setObjectName("exact-cancel")
        self._busy.cancelled.connect(exact.cancel)
        self._busy.hide()
        self._more = Button(_("Phase by phase"), compact=True, name="show-phases")
        self._more.setCheckable(True)
        self._more.toggled.connect(self._phases.setVisible)
        self._ask = Button(_("Forecast exactly (about a minute)"), compact=True, name="forecast-exactly")
        self._ask.set_tip(
            _("Plays this very training step through in your trainer, without a GPU and without its weights.")
        )
        self._ask.clicked.connect(exact.start)
        buttons = held(FlowLayout(self._more, self._ask))
        parts = (self.bar, self._words, self._parts, self._now, self._basis, buttons)
        for part in (*parts, self._busy, self._trouble, self._phases):
            self.body.addWidget(part)
        hardware.sampled.connect(self._draw_now)
        exact.changed.connect(self._draw_exact)
        exact.progressed.connect(self._busy.show_progress)
        self.show_checked(None, None)

    def show_checked(self, checked: Checked | None, plan: TrainingPlan | None) -> None:
        """Show what is known of a plan.

        Args:
            checked: What was found about it last; the figures stay until there are newer ones.
            plan: As it is now: its GPU is shown at once.
        """
        self._plan = plan
        self._estimate = checked.estimate if checked else None
        self._inherited = checked.view.facts.gpu_choice if checked and checked.view else {}
        estimate = self._estimate
        state = state_of(estimate)
        self.chip.show_state(state.word, state.tone)
        peak = peak_of(estimate.phases) if estimate else None
        self.bar.show_phase(peak, estimate.room if estimate else None)
        if estimate is not None and peak is not None:
            self._words.setText(peak_words(peak, estimate))
            self._parts.setText(parts_words(peak))
        else:
            reason = estimate.unknown if estimate else None
            known = _("Known once the plan was checked.")
            self._words.setText(known if checked is None else unknown_words(reason))
        self._parts.setVisible(peak is not None)
        traced = checked is not None and checked.is_exact
        self._basis.setText(
            _("The training step was traced for exactly this plan, in your own trainer.") if traced else ""
        )
        self._basis.setVisible(traced)
        self._more.setVisible(peak is not None)
        self._phases.setVisible(peak is not None and self._more.isChecked())
        if estimate is not None:
            self._phases.show_estimate(estimate)
        self._draw_now()
        self._draw_exact()

    def focus_order(self) -> list[QPushButton]:
        """Return the buttons in the order of the eye."""
        return [self._more, self._ask, self._busy.cancel]

    def _gpu(self) -> GpuSample | None:
        if self._hardware.problem:  # what was seen before it is not true of now
            return None
        launch = self._plan.launch if self._plan else LaunchSettings()
        used = training_gpus(self._hardware.gpus, launch, self._inherited)
        return min(used, key=lambda gpu: gpu.free_bytes or 0, default=None)

    def _draw_now(self) -> None:
        """Show what the GPU has free at this moment; without a look at the plan's GPU also in the bar."""
        gpu = self._gpu()
        self._now.setText(self._sentence(gpu))
        unknown = self._estimate is None or not (self._estimate.phases or self._estimate.room)
        if unknown and gpu is not None and gpu.total_bytes and gpu.free_bytes is not None:
            self.bar.show_phase(None, Room.of(gpu.total_bytes / GIB, gpu.free_bytes / GIB, None))

    def _draw_exact(self) -> None:
        busy, problem = self._exact.busy, self._exact.problem
        had_keyboard = self._busy.cancel.hasFocus() and not busy
        self._ask.setVisible(self._exact.possible and not busy)
        if had_keyboard:
            (self._more if self._ask.isHidden() else self._ask).setFocus(Qt.FocusReason.OtherFocusReason)
        self._busy.setVisible(busy)
        self._trouble.setVisible(problem is not None and not busy)
        if problem is not None:
            self._trouble.setText(str(problem))

    def _sentence(self, gpu: GpuSample | None) -> str:
        if gpu is None:
            problem = self._hardware.problem
            return _sentence_case(problem) if problem else _("No GPU is seen.")
        if gpu.lost:
            return gpu.sentence() or ""
        if gpu.free_bytes is None or not gpu.total_bytes:
            return _("{name} does not tell how much memory it has free.").format(name=gpu.name)
        text = _("{free} of {total} free now on {name}.")
        return text.format(free=gib(gpu.free_bytes), total=gib(gpu.total_bytes), name=gpu.name)


def _small(name: str) -> Label:
    label = Label("", "small")
    label.setObjectName(name)
    return label


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
