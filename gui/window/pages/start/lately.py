"""What was done lately: runs and plans, a row each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from gui.engine.plan.recents import Recent, Recents
from gui.engine.texts import _
from gui.window.bridges.run_list import RunList
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.models.run_words import chip_words, day_words, facts_line, name_of, sentence_of, when_words
from gui.window.theme.space import Space
from gui.window.widgets.card import Card
from gui.window.widgets.chip import Chip, Tone
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import clear, line, row
from gui.window.widgets.styled import style

if TYPE_CHECKING:
    from gui.engine.runs.run_entry import RunEntry

MOST = 4
_KEY = "start-recents"


class LatelyRow(QFrame):
    """A row that opens something by a click, by Enter or by Space.

    Args:
        name: The object name.
        chip: At the left; None for none.
        title: What it is called.
        facts: More about it.
        when: At the right.
    """

    clicked = Signal()

    def __init__(self, name: str, chip: Chip | None, title: str, facts: str, when: str) -> None:
        super().__init__()
        self.setObjectName(name)
        style(self, role="row")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(", ".join(filter(None, (chip.text() if chip else "", title, facts, when))))
        strong = Label(title, "strong", wrap=False)
        strong.setMaximumWidth(420)
        strong.setToolTip(title)
        muted = ElidedLabel(facts, "muted")
        end = Label(when, "muted", wrap=False)
        parts: list[QWidget] = [*([chip] if chip else []), strong]
        layout = row(*parts, spacing=Space.M, margins=(Space.S, Space.M, Space.S, Space.M))
        layout.addWidget(muted, 1)
        layout.addWidget(end)
        self.setLayout(layout)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Open it."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Open it by key."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.clicked.emit()
        else:
            super().keyPressEvent(event)


class Lately(QWidget):
    """The newest runs, then the plans that were open.

    Args:
        runs: Those of this machine.
        recents: The plans.
        tasks: For looking whether the plans are still there.
    """

    open_run = Signal(object)
    open_plan = Signal(str)

    def __init__(self, runs: RunList, recents: Recents, tasks: Tasks) -> None:
        super().__init__()
        self.setObjectName("lately")
        self._runs = runs
        self._recents = recents
        self._tasks = tasks
        self._shown: object = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.M)
        self._run_title = Label(_("Lately"), "card")
        self._run_card = Card(margins=Space.S, name="lately-runs")
        self._plan_title = Label(_("Plans"), "card")
        self._plan_card = Card(margins=Space.S, name="lately-plans")
        for part in (self._run_title, self._run_card, self._plan_title, self._plan_card):
            layout.addWidget(part)
            if part is self._run_card:
                layout.addSpacing(Space.M)
        for card in (self._run_card, self._plan_card):
            card.body.setSpacing(0)
        self._plans: list[Recent] = []
        self._titles: dict[str, str] = {}
        self._show_plans([])
        runs.changed.connect(self._draw_runs)
        runs.changed.connect(self._name_families)
        self._draw_runs()

    def look(self) -> None:
        """Look at the plans again."""

        def work(_handle: TaskHandle) -> list[Recent]:
            return [each for each in self._recents.entries() if not each.missing][:MOST]

        self._tasks.run(work, self._show_plans, key=_KEY)

    def _draw_runs(self) -> None:
        entries = [each for each in self._runs.entries if each.condition != "foreign"][:MOST]
        shown = [each.model_dump(exclude={"duration_seconds", "samples"}) for each in entries]
        if shown == self._shown:
            return
        self._shown = shown
        self._run_title.setVisible(bool(entries))
        self._run_card.setVisible(bool(entries))
        self._fill(self._run_card, [self._run_row(entry) for entry in entries])

    def _name_families(self) -> None:
        """Write the plans anew once the titles of families are known."""
        if self._titles != self._runs.family_titles:
            self._titles = dict(self._runs.family_titles)
            self._show_plans(self._plans)

    def _run_row(self, entry: RunEntry) -> LatelyRow:
        words = chip_words(entry)
        chip = Chip(words.text, cast("Tone", words.tone), mark=words.mark)
        facts = facts_line(entry, self._runs.family_titles)
        made = LatelyRow(f"lately-run-{entry.name}", chip, name_of(entry), facts, when_words(entry))
        made.clicked.connect(lambda: self.open_run.emit(entry.folder))
        made.setToolTip(sentence_of(entry))
        return made

    def _show_plans(self, plans: list[Recent]) -> None:
        self._plans = plans
        self._plan_title.setVisible(bool(plans))
        self._plan_card.setVisible(bool(plans))
        self._fill(self._plan_card, [self._plan_row(number, plan) for number, plan in enumerate(plans)])

    def _plan_row(self, number: int, plan: Recent) -> LatelyRow:
        family = self._runs.family_titles.get(plan.family, plan.family)
        facts = " · ".join(filter(None, (family, str(Path(plan.path).parent))))
        made = LatelyRow(f"lately-plan-{number}", None, plan.name, facts, day_words(plan.opened))
        made.setToolTip(plan.path)
        made.clicked.connect(lambda: self.open_plan.emit(plan.path))
        return made

    @staticmethod
    def _fill(card: Card, rows: Sequence[LatelyRow]) -> None:
        clear(card.body)
        for number, each in enumerate(rows):
            if number:
                card.body.addWidget(line())
            card.body.addWidget(each)
