"""All phases of a memory forecast in a small table, and what the forecast rests on."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from gui.engine.hardware.memory.words import parts_in_words, phase_words, range_words, reserve_words
from gui.engine.preflight.estimate import PlanEstimate
from gui.window.pages.review.words import sentence_case
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import clear
from gui.window.widgets.memory_bar import MemoryBar


class PhaseTable(QWidget):
    """A line for each phase: its name, a bar, how much; the phase of the peak stands out.

    Args:
        theme: Colours and sizes.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("memory-phases")
        self._theme = theme
        self._shown: PlanEstimate | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(Space.S)
        self._grid.setVerticalSpacing(Space.XS)
        self._grid.setColumnStretch(0, 1)
        self._basis = Label("", "small")
        self._basis.setObjectName("memory-phases-basis")
        layout.addLayout(self._grid)
        layout.addWidget(self._basis)

    def show_estimate(self, estimate: PlanEstimate) -> None:
        """Show these phases; nothing is touched where nothing has changed."""
        if estimate == self._shown:
            return
        self._shown = estimate
        clear(self._grid)
        names = phase_words()
        most = max((phase.high for phase in estimate.phases), default=0.0)
        for number, phase in enumerate(estimate.phases):
            peak = phase.name == estimate.peak
            what = Label(sentence_case(names[phase.name]), "strong" if peak else "muted")
            much = Label(range_words(phase), "strong" if peak else "muted", wrap=False)
            much.setObjectName(f"phase-{phase.name}")
            much.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            bar = MemoryBar(self._theme, name=f"phase-bar-{phase.name}")
            bar.show_phase(phase, estimate.room, least=most)
            for part in (what, much):
                part.setToolTip(parts_in_words(phase.parts))
            self._grid.addWidget(what, 2 * number, 0)
            self._grid.addWidget(much, 2 * number, 1)
            self._grid.addWidget(bar, 2 * number + 1, 0, 1, 2)
        reserve = (reserve_words(estimate.room),) if estimate.room else ()
        self._basis.setText("\n".join((*estimate.basis, *reserve)))
