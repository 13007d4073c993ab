"""What is searched for among the runs: words, how they went, star, family, day, tag."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, cast

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QButtonGroup, QWidget

from gui.engine.runs.run_search import Kind, RunFilter, is_of_kind, words_of
from gui.engine.texts import _
from gui.window.theme.theme import Theme
from gui.window.widgets.buttons import Button
from gui.window.widgets.inputs import Choice, TextField
from gui.window.widgets.layouts import FlowLayout

if TYPE_CHECKING:
    from gui.engine.runs.run_entry import RunEntry

SEARCH_PX = 220
DAY = 86400

When = Literal["", "today", "week", "month"]


class RunFilters(QWidget):
    """The line above the table.

    Args:
        theme: Gives the width of the search.
    """

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._kind: Kind = "all"
        self.search = TextField(
            placeholder=_("Search runs"), live=True, name="runs-search", words=_("Search runs")
        )
        self.search.setClearButtonEnabled(True)
        self._words: dict[Kind, str] = {
            "all": _("All"),
            "running": _("Running"),
            "finished": _("Finished"),
            "trouble": _("Trouble"),
            "practice": _("Practice"),
        }
        self._kinds = self._make_kinds()
        self._star = Button("★", "segment", name="runs-favourites", tip=_("Only favourites"))
        self._star.setAccessibleName(_("Only favourites"))
        self._family = Choice(name="runs-family", words=_("Model family"))
        self._tag = Choice(name="runs-tag", words=_("Tag"))
        self._when = Choice(
            [
                ("", _("Any day")),
                ("today", _("Today")),
                ("week", _("Last 7 days")),
                ("month", _("Last 30 days")),
            ],
            name="runs-when",
            words=_("Day of the launch"),
        )
        parts = (self._star, self._family, self._tag, self._when)
        self.setLayout(FlowLayout(self.search, *self._kinds.values(), *parts))
        self._connect()
        self.show_entries((), {})
        self._measure()

    def wanted(self) -> RunFilter:
        """Return what is searched for."""
        return RunFilter(
            kind=self._kind,
            words=words_of(self.search.text()),
            family=str(self._family.value() or ""),
            tag=str(self._tag.value() or ""),
            favourite=self._star.isChecked(),
            since=_since(cast("When", self._when.value() or "")),
        )

    def show_entries(self, entries: Sequence[RunEntry], titles: Mapping[str, str]) -> None:
        """Offer what there is among the runs."""
        for kind, button in self._kinds.items():
            count = sum(is_of_kind(each, kind) for each in entries)
            button.setText(f"{self._words[kind]} {count:,}" if count else self._words[kind])
        families = sorted({each.family for each in entries if each.family}, key=lambda n: titles.get(n, n))
        _offer(self._family, _("Any family"), [(name, titles.get(name, name)) for name in families])
        tags = {tag.casefold(): tag for each in entries for tag in each.tags}
        _offer(self._tag, _("Any tag"), [(tag, f"#{tag}") for _key, tag in sorted(tags.items())])
        self._tag.setVisible(self._tag.count() > 1)
        self._family.setVisible(self._family.count() > 2)
        self._star.setVisible(self._star.isChecked() or any(each.favourite for each in entries))

    def clear(self) -> None:
        """Search for nothing."""
        self.search.clear()
        self._kinds["all"].setChecked(True)
        self._kind = "all"
        self._star.setChecked(False)
        for choice in (self._family, self._tag, self._when):
            choice.show_value("")
        self.changed.emit()

    def _make_kinds(self) -> dict[Kind, Button]:
        group = QButtonGroup(self)
        made: dict[Kind, Button] = {}
        for kind, text in self._words.items():
            button = Button(text, "segment", name=f"runs-kind-{kind}")
            button.clicked.connect(lambda _checked, kind=kind: self._choose(kind))
            group.addButton(button)
            made[kind] = button
        made["all"].setChecked(True)
        return made

    def _connect(self) -> None:
        self.search.textChanged.connect(lambda _text: self.changed.emit())
        self._star.clicked.connect(lambda _checked: self.changed.emit())
        for choice in (self._family, self._tag, self._when):
            choice.changed.connect(lambda _value: self.changed.emit())
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self.search.setFocus)
        self.search.setToolTip(_("Key: {key}").format(key=find.key().toString()))
        self._theme.changed.connect(self._measure)

    def _choose(self, kind: Kind) -> None:
        self._kind = kind
        self.changed.emit()

    def _measure(self) -> None:
        self.search.setFixedWidth(self._theme.px(SEARCH_PX))


def _offer(choice: Choice, anything: str, options: list[tuple[str, str]]) -> None:
    """Offer other values; what is chosen stays chosen, also where there is none of it left."""
    wanted = [("", anything), *options]
    if [choice.itemData(index) for index in range(choice.count())] == [value for value, _words in wanted]:
        return
    chosen = choice.value()
    choice.set_options(wanted)
    choice.show_value(chosen or "")


def _since(when: When) -> float | None:
    """Return when the days begin that are wanted."""
    if not when:
        return None
    today = time.localtime()
    midnight = time.mktime((today.tm_year, today.tm_mon, today.tm_mday, 0, 0, 0, 0, 0, -1))
    return midnight - {"today": 0, "week": 6, "month": 29}[when] * DAY
