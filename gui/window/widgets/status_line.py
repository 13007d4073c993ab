"""The line below every page: GPU memory, the running step, the trainer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QProgressBar

from gui.engine.hardware.gpu import GpuSample
from gui.engine.quantities import GIB, gib
from gui.engine.texts import _
from gui.window.models.run_words import chip_words, name_of, steps_words
from gui.window.models.trainer_words import sentence, short_gpu_name, short_line
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.buttons import Button
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import row
from gui.window.widgets.styled import style

if TYPE_CHECKING:
    from gui.engine.runs.run_entry import RunEntry
    from gui.window.bridges.hardware import Hardware
    from gui.window.bridges.run_list import RunList
    from gui.window.bridges.trainers import Trainers

HEIGHT = 40
BAR_WIDTH = 180
NARROW_BAR_WIDTH = 60
ROOMY = 1000
"""In pixels at a text size of 100 %."""

NEARLY_FULL = 0.95


class StatusLine(QFrame):
    """Always shows what the GPU holds and what is running.

    Args:
        hardware: The GPUs.
        trainers: The one in use.
        runs: Those of this machine.
        theme: Gives sizes.
    """

    open_run = Signal(object)
    """`Path` of the run's folder that was clicked."""

    def __init__(self, *, hardware: Hardware, trainers: Trainers, runs: RunList, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("status-line")
        style(self, role="status-line")
        self._hardware = hardware
        self._trainers = trainers
        self._runs = runs
        self._theme = theme
        self._shown: RunEntry | None = None
        self._seen_living: set[str] = set()
        self._looked_at: set[str] = set()
        self._gpu = Label("", "small", wrap=False)
        self._gpu.setObjectName("status-gpu")
        self._bar = QProgressBar()
        self._bar.setObjectName("status-gpu-bar")
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 1000)
        self._memory = Label("", "small", wrap=False)
        self._memory.setObjectName("status-gpu-memory")
        self._idle = Label("", "small", wrap=False)
        self._idle.setObjectName("status-idle")
        self._run = Button("", "link", name="status-run", tip=_("Show this run"), compact=True)
        self._trainer = ElidedLabel("", "small")
        self._trainer.setObjectName("status-trainer")
        self._trainer.setAlignment(Qt.AlignmentFlag.AlignRight)
        left = row(self._gpu, self._bar, self._memory, spacing=Space.S)
        middle = row(self._idle, self._run, spacing=0)
        layout = row(left, middle, spacing=Space.XL, margins=(Space.L, Space.S, Space.L, Space.S))
        layout.addWidget(self._trainer, 1)
        self.setLayout(layout)
        self._run.clicked.connect(self._clicked)
        hardware.sampled.connect(self._draw_gpu)
        trainers.changed.connect(self._draw_trainer)
        runs.changed.connect(self._draw_run)
        theme.changed.connect(self._measure)
        self._measure()
        self._draw_gpu()
        self._draw_trainer()
        self._draw_run()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Give words the room before the bar."""
        super().resizeEvent(event)
        self._measure()

    def _measure(self) -> None:
        roomy = self.width() >= self._theme.px(ROOMY)
        self._bar.setFixedWidth(self._theme.px(BAR_WIDTH if roomy else NARROW_BAR_WIDTH))
        self.setMinimumHeight(self._theme.px(HEIGHT))  # the same with a run and without

    def _draw_gpu(self) -> None:
        gpus = self._hardware.gpus
        self._bar.setVisible(bool(gpus))
        self._memory.setVisible(bool(gpus))
        if not gpus:
            known = self._hardware.known
            self._gpu.setText(_("No GPU") if known else _("Looking for GPUs …"))
            self._gpu.setToolTip(self._hardware.problem)
            return
        gpu = max(gpus, key=_share)
        more = len(gpus) - 1
        name = short_gpu_name(gpu.name) or _("GPU {index}").format(index=gpu.index)
        self._gpu.setText(_("{gpu} and {count} more").format(gpu=name, count=more) if more else name)
        self._draw_memory(gpu)
        words = [self._hardware.problem, *(gpu_sentence(each) for each in gpus)]
        for part in (self._gpu, self._bar, self._memory):
            part.setToolTip("\n".join(filter(None, words)))

    def _draw_memory(self, gpu: GpuSample) -> None:
        share = _share(gpu)
        style(self._bar, tone="bad" if gpu.lost else "warn" if share > NEARLY_FULL else "")
        self._bar.setValue(round(1000 * share))
        if gpu.lost:
            words = _("does not answer")
        elif gpu.used_bytes is None or not gpu.total_bytes:
            words = _("memory not told")
        else:
            words = _("{used} of {total} GiB").format(
                used=f"{gpu.used_bytes / GIB:.1f}", total=f"{gpu.total_bytes / GIB:.1f}"
            )
        self._memory.setText(words)
        self._bar.setAccessibleName(_("GPU memory: {words}").format(words=words))

    def _draw_run(self) -> None:
        living = self._runs.living
        entry = living[0] if living else self._just_ended()
        self._seen_living |= {each.name for each in living}
        self._shown = entry
        self._run.setVisible(entry is not None)
        self._idle.setVisible(entry is None)
        if entry is None:
            self._idle.setText(_("Nothing is running") if self._runs.known else "")
            return
        parts = [name_of(entry), chip_words(entry).text, steps_words(entry)]
        if len(living) > 1:
            parts.append(_("and {count} more").format(count=len(living) - 1))
        self._run.setText(" · ".join(filter(None, parts)))

    def _just_ended(self) -> RunEntry | None:
        """Return the run that was seen running and is over, until another one runs or it was looked at."""
        for entry in self._runs.entries:
            if entry.name in self._seen_living and entry.name not in self._looked_at:
                return entry
        return None

    def _clicked(self) -> None:
        entry = self._shown
        if entry is None:
            return
        if entry.verdict is not None:
            self._looked_at.add(entry.name)
        self.open_run.emit(entry.folder)
        self._draw_run()

    def _draw_trainer(self) -> None:
        trainer = self._trainers.current
        if trainer is not None:
            self._trainer.setText(short_line(trainer.facts))
            self._trainer.setToolTip(f"{trainer.install.label}\n{sentence(trainer)}")
        elif self._trainers.busy or not self._trainers.looked:
            self._trainer.setText(_("Looking for trainers …"))
        else:
            self._trainer.setText(_("No trainer"))
            self._trainer.setToolTip(str(self._trainers.problem or ""))


def _share(gpu: GpuSample) -> float:
    return (gpu.used_bytes or 0) / gpu.total_bytes if gpu.total_bytes else 0.0


def gpu_sentence(gpu: GpuSample) -> str:
    """Return all that is known of a GPU now, in a line."""
    lost = gpu.sentence()
    if lost:
        return lost
    parts = [_("GPU {index}: {name}").format(index=gpu.index, name=gpu.name or gpu.uuid)]
    if gpu.used_bytes is not None and gpu.total_bytes:
        parts.append(_("{used} of {total}").format(used=gib(gpu.used_bytes), total=gib(gpu.total_bytes)))
    if gpu.utilisation_percent is not None:
        parts.append(f"{gpu.utilisation_percent:.0f} %")
    if gpu.temperature_c is not None:
        parts.append(f"{gpu.temperature_c:.0f} °C")
    if gpu.power_w is not None:
        parts.append(f"{gpu.power_w:.0f} W")
    return ", ".join(parts)
