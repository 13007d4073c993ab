"""A field of the wizard: everyday name, trainer's name, editor, reason, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from gui.engine.plan.changes import UnknownTarget, apply_changes
from gui.engine.plan.effective import Effective, without_own
from gui.engine.texts import _
from gui.window.pages.plan.editors import WIDTH, EitherEditor, make_editor, shown
from gui.window.pages.plan.effects import value_words
from gui.window.pages.plan.fields import Field, Group
from gui.window.pages.plan.finding_lines import FindingLines
from gui.window.pages.plan.parts import Parts
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, line
from gui.window.widgets.styled import style

NAME_WIDTH = 220
NARROW = 660
"""Below this width, pixels at a text size of 100 %, reasons stand below their values."""

FLASH_MS = 900
WIDEST = 16777215
"""Qt's own word for no limit."""


class FieldRow(QWidget):
    """One field.

    Args:
        parts: The plan and what is known about it.
        field: What it is.
    """

    def __init__(self, parts: Parts, field: Field) -> None:
        super().__init__()
        self.setObjectName(f"row-{field.name}")
        self.field = field
        self._parts = parts
        self._refused = ""
        self.editor = make_editor(field, parts.theme)
        self.editor.edited.connect(self._edited)
        if isinstance(self.editor, EitherEditor):
            self.editor.switched.connect(self._switched)
        self._title = Label(field.title)
        self._names = Label(" · ".join(name.rpartition(".")[2] for name in field.targets), "mono")
        self._names.setToolTip("\n".join(field.targets))
        self._reason = Label("", "small")
        self._changed = Label("", "small", wrap=False)
        style(self._changed, tone="accent")
        self._back = Button(_("take back"), "link", name=f"take-back-{field.name}")
        self._back.clicked.connect(self._take_back)
        self.findings = FindingLines(parts.document)
        self._arrange()
        parts.theme.changed.connect(self._fit)

    @property
    def fits(self) -> bool:
        """Whether the field counts for what is trained."""
        parts, whens = self._parts, self.field.whens
        known = any(parts.knows(target) for target in self.field.targets)
        return known and (not whens or any(when.holds(parts.situation) for when in whens))

    def refresh(self) -> None:
        """Show what the plan has now."""
        document = self._parts.document
        found = {target: document.effective(target) for target in self.field.targets}
        values = {target: self._value(each) for target, each in found.items()}
        defaults = {target: document.default(target) for target in self.field.targets}
        self.editor.show_values(values, defaults)
        self.editor.setEnabled(not document.read_only)
        self._show_reason(found)
        self._show_deviation(found)
        self.show_findings()

    def show_findings(self) -> None:
        """Show what preflight says now."""
        findings = self._parts.checks.among(self.field.targets)
        self.findings.show_findings(findings)
        bad = [each.title for each in findings if each.severity in ("stop", "danger")]
        self.editor.show_trouble(self._refused or "\n".join(bad))

    def flash(self, target: str) -> None:
        """Give the field the keyboard, and mark it for a moment."""
        place = self.editor.place(target)
        place.setFocus(Qt.FocusReason.OtherFocusReason)
        style(place, flash=True)
        QTimer.singleShot(FLASH_MS, place, lambda: style(place, flash=False))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put reasons where there is room for them."""
        super().resizeEvent(event)
        self._fit()

    @staticmethod
    def _value(found: Effective) -> Any:
        """Return what is said; the trainer's own default is the placeholder."""
        return None if found.source == "trainer" else found.value

    def _arrange(self) -> None:
        names = QVBoxLayout()
        names.setSpacing(0)
        names.addWidget(self._title)
        names.addWidget(self._names)
        back = FlowLayout(self._changed, self._back, spacing=0)
        self._words = QWidget()
        words = QVBoxLayout(self._words)
        words.setContentsMargins(0, 0, 0, 0)
        words.setSpacing(2)
        words.addStretch(1)
        words.addWidget(self._reason)
        words.addLayout(back)
        words.addStretch(1)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, Space.S + 2, 0, Space.S + 2)
        self._grid.setHorizontalSpacing(Space.L)
        self._grid.setVerticalSpacing(Space.XS)
        self._grid.addLayout(names, 0, 0, Qt.AlignmentFlag.AlignVCenter)
        self._wide: bool | None = None
        self._fit()

    def _fit(self) -> None:
        px = self._parts.theme.px
        wide, path = self.width() >= px(NARROW), self.field.kind in ("file", "folder")
        self._grid.setColumnMinimumWidth(0, min(px(NAME_WIDTH), max(120, self.width() // 3)))
        self._grid.setColumnStretch(1, 0 if wide else 1)
        self._grid.setColumnStretch(2, 1 if wide else 0)
        fixed = wide and not path
        self.editor.setMinimumWidth(px(WIDTH) if fixed else 0)
        self.editor.setMaximumWidth(px(WIDTH) if fixed else WIDEST)
        if wide != self._wide:
            self._wide = wide
            for part in (self.editor, self._words, self.findings):
                self._grid.removeWidget(part)
            middle = Qt.AlignmentFlag.AlignVCenter
            self._grid.addWidget(self.editor, 0, 1, 1, 2 if path and wide else 1, middle)
            places = {(True, False): (0, 2, 1, 1), (True, True): (1, 1, 1, 2)}
            self._grid.addWidget(self._words, *places.get((wide, path), (1, 0, 1, 2)))
            self._grid.addWidget(self.findings, *((2, 1, 1, 2) if wide else (2, 0, 1, 2)))

    def _show_reason(self, found: dict[str, Effective]) -> None:
        reasons = [each.reason for each in found.values() if each.reason]
        text = " ".join(dict.fromkeys(reasons)) or self.field.note
        unusual = self._unusual(found)
        self._reason.setText(f"{text} {unusual}".strip())
        self._reason.setVisible(bool(self._reason.text()))

    def _unusual(self, found: dict[str, Effective]) -> str:
        low, high = self.field.low, self.field.high
        for each in found.values():
            value = each.value
            if each.source != "user" or isinstance(value, bool) or not isinstance(value, int | float):
                continue
            if (low is not None and value < low) or (high is not None and value > high):
                if high is None:
                    return _("Usual is {low} or more.").format(low=shown(low))
                return _("Usual is {low} to {high}.").format(low=shown(low), high=shown(high))
        return ""

    def _show_deviation(self, found: dict[str, Effective]) -> None:
        document = self._parts.document
        away = [target for target in found if document.deviates(target)]
        before = " · ".join(value_words(found[target].preset_value) for target in away)
        self._changed.setText(_("changed from {value}").format(value=before) + " ·")
        self._changed.setVisible(bool(away))
        self._back.setVisible(bool(away) and not document.read_only)

    def _edited(self, target: str, value: object) -> None:
        document = self._parts.document
        self._refused = document.set_value(target, value)
        document.end_merge()
        if self._refused:
            self.show_findings()
        else:
            self.refresh()

    def _switched(self, before: str, after: str, number: object) -> None:
        """Say the same at the other place."""
        document = self._parts.document
        value = self._converted(after, number)
        try:
            plan = apply_changes(without_own(document.plan, before), {after: value})
        except UnknownTarget:
            return
        text = _("Change {name}").format(name=after)
        document.replace(
            plan.model_copy(update={"without": self._kept_out(plan.without, before, value)}), text
        )
        self.refresh()

    def _kept_out(self, without: tuple[str, ...], before: str, value: object) -> tuple[str, ...]:
        """What counted at the other place must not come back from a preset."""
        if value is None or before in without:
            return without
        return (*without, before) if before in self._parts.document.filled.values else without

    def _converted(self, after: str, number: object) -> object:
        report = self._parts.checks.report
        steps = report.steps if report else None
        if not isinstance(number, int) or steps is None or not steps.epochs or not steps.total_steps:
            return number if isinstance(number, int) else None
        per_epoch = max(1, -(-steps.total_steps // steps.epochs))
        return max(1, round(number / per_epoch)) if after.endswith("epochs") else number * per_epoch

    def _take_back(self) -> None:
        document = self._parts.document
        for target in self.field.targets:
            if document.effective(target).source == "user" or document.deviates(target):
                document.take_back(target, merge=f"back-{self.field.name}")
        document.end_merge()
        self._refused = ""
        self.refresh()
        self.editor.place(self.field.name).setFocus(Qt.FocusReason.OtherFocusReason)


class FieldCard(Card):
    """Fields that stand together.

    Args:
        parts: The plan and what is known about it.
        group: The fields.
        aside: At the right of the title.
    """

    def __init__(self, parts: Parts, group: Group, aside: QWidget | None = None) -> None:
        super().__init__(group.title, aside)
        self.body.setSpacing(0)
        self.rows: list[FieldRow] = []
        self._lines: list[QWidget] = []
        for field in group.fields:
            row = FieldRow(parts, field)
            above = line()
            self.body.addWidget(above)
            self.body.addWidget(row)
            self.rows.append(row)
            self._lines.append(above)
        self.body.addStretch(1)

    def refresh(self) -> None:
        """Show the fields that count, with what the plan has now."""
        for row, above in zip(self.rows, self._lines, strict=True):
            fits = row.fits
            row.setVisible(fits)
            above.setVisible(fits)
            if fits:
                row.refresh()
        self.setVisible(any(row.fits for row in self.rows))

    def show_findings(self) -> None:
        """Show what preflight says now."""
        for row in self.rows:
            row.show_findings()


def row_of(cards: Sequence[FieldCard], target: str) -> FieldRow | None:
    """Return the row that edits a place; None where none does."""
    rows = (row for card in cards for row in card.rows if row.fits)
    return next((row for row in rows if target in row.field.targets), None)
