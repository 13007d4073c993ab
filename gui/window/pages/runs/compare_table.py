"""One part of a comparison as a table: what it is, then the value of each run."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QGridLayout, QWidget

from gui.engine.runs.comparison_lines import cell_text, label_of, same_words
from gui.engine.runs.comparison_models import ComparedRow
from gui.engine.texts import _
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.labels import ElidedLabel, Label

MOST_TITLE_LETTERS = 26


class CompareTable(Card):
    """A card with a table; what is the same is shown on demand.

    Args:
        title: Of the part.
        rows: Differing ones first.
        runs: How many runs there are.
        name: Of the card; rows are called after it and their ids.
        everything: Whether all is shown at once.
    """

    def __init__(
        self, title: str, rows: Sequence[ComparedRow], runs: int, *, name: str, everything: bool = False
    ) -> None:
        same = sum(not row.differs for row in rows)
        self._more = Button("", "link", name=f"{name}-more")
        super().__init__(title, self._more, name=name)
        self._rows = list(rows)
        self._runs = runs
        self._name = name
        self._everything = everything
        self._table = QWidget()
        self.body.addWidget(self._table)
        self._more.setVisible(bool(same) and not everything)
        self._more.clicked.connect(self._turn)
        self._nothing = Label(_("Nothing differs."), "muted")
        self.body.addWidget(self._nothing)
        self._fill()

    def _turn(self) -> None:
        self._everything = not self._everything
        self._fill()

    def _fill(self) -> None:
        """Make the table anew: it is seldom asked for, and small."""
        shown = [row for row in self._rows if row.differs or self._everything]
        same = sum(not row.differs for row in self._rows)
        words = _("Hide what is the same") if self._everything else _("Show all: {same}")
        self._more.setText(words.format(same=same_words(same)))
        self._nothing.setVisible(not shown)
        table = QWidget()
        grid = QGridLayout(table)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(Space.L)
        grid.setVerticalSpacing(Space.XS)
        widest = max((self.fontMetrics().horizontalAdvance(row.title or row.id) for row in shown), default=0)
        letters = self.fontMetrics().averageCharWidth()
        grid.setColumnMinimumWidth(0, min(widest + letters, MOST_TITLE_LETTERS * letters))
        grid.setColumnStretch(0, 4)
        for number in range(self._runs):
            grid.setColumnStretch(number + 1, 5)
            if shown:
                grid.addWidget(Label(label_of(number), "small"), 0, number + 1)
        for line, row in enumerate(shown, 1):
            grid.addWidget(self._title(row), line, 0)
            for number in range(self._runs):
                grid.addWidget(self._value(row, number), line, number + 1)
        self.body.replaceWidget(self._table, table)
        self._table.hide()
        self._table.deleteLater()
        self._table = table

    def _title(self, row: ComparedRow) -> ElidedLabel:
        label = ElidedLabel(row.title or row.id, "muted", middle=True)
        label.setObjectName(f"{self._name}-row-{row.id}")
        return label

    def _value(self, row: ComparedRow, number: int) -> ElidedLabel:
        text = cell_text(row, number) or "–"
        label = ElidedLabel(text, "body" if row.differs else "muted", middle=True)
        label.setObjectName(f"{self._name}-value-{row.id}-{number}")
        label.setAccessibleName(f"{row.title or row.id}, {label_of(number)}: {text}")
        return label
