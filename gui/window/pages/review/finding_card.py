"""One finding: how bad, what, why, which arguments, and a button for each way out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from gui.engine.findings import Finding, Fix
from gui.engine.plan.changes import ACTION
from gui.engine.preflight.actions import CONVERT_CAPTIONS, END_RUN, KEEP_TOKEN
from gui.engine.texts import _
from gui.window.pages.review.diff_chip import DiffChip
from gui.window.pages.review.words import Difference, differences_of, mark_of, sentence_case, short
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.chip import Chip
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import FlowLayout, clear, held, widgets_of
from gui.window.widgets.styled import style
from gui.window.widgets.way_button import WayButton

MOST_CHIPS = 4

Shown = tuple[Finding, tuple[tuple[Difference, ...], ...], bool]
"""The finding, what each of its fixes changes, and whether they can be applied."""


class FindingCard(Card):
    """Shows a finding and stays the same widget while it lasts.

    Args:
        finding: What is shown first.
    """

    fix_wanted = Signal(object, object)
    """`Finding` and `Fix`."""
    field_wanted = Signal(str)
    """The target of an argument."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(edge=mark_of(finding.severity).tone, name=f"finding-{finding.id}", margins=Space.L)
        self.finding = finding
        self._shown: Shown | None = None
        self.chip = Chip()
        self.head.insertWidget(0, self.chip, 0, Qt.AlignmentFlag.AlignTop)
        style(self.title, role="strong")
        self.title.setVisible(True)
        self._detail = Label("", "muted")
        self._where = ElidedLabel("", "small", middle=True)
        self._targets = FlowLayout(spacing=Space.XS)
        self._fixes = QVBoxLayout()
        self._fixes.setSpacing(Space.M)
        self._ask: Ask | None = None
        for part in (self._detail, self._where):
            self.body.addWidget(part)
        self.body.addWidget(held(self._targets))
        self.body.addLayout(self._fixes)

    def show_finding(self, finding: Finding, now: Mapping[str, Any], *, editable: bool) -> None:
        """Show the finding as it is now; nothing is touched where nothing has changed.

        Args:
            finding: Of the same id and place.
            now: Target to what counts there now.
            editable: Whether its fixes can be applied.
        """
        shown = (finding, tuple(differences_of(fix, now) for fix in finding.fixes), editable)
        if shown == self._shown:
            return
        before, self._shown, self.finding = self._shown, shown, finding
        mark = mark_of(finding.severity)
        style(self, edge=mark.tone if mark.tone != "neutral" else "")
        self.chip.show_state(mark.word, mark.tone, mark.sign)
        self.title.setText(finding.title)
        self._detail.setText(finding.detail)
        self._detail.setVisible(bool(finding.detail))
        where = "" if finding.where in (None, *finding.arguments) else str(finding.where)
        self._where.setText(where)
        self._where.setVisible(bool(where) and where not in finding.title)
        sources = _("From: {sources}").format(sources=", ".join(finding.sources)) if finding.sources else ""
        self.chip.setToolTip(sources)
        self.title.setToolTip(sources)
        self.setAccessibleName(f"{mark.word}: {finding.title}")
        if before is None or before[0].arguments != finding.arguments:
            self._show_targets(finding.arguments)
        if before is None or before[1:] != shown[1:] or before[0].fixes != finding.fixes:
            self._show_fixes(finding, shown[1], editable=editable)

    def focus_order(self) -> list[QWidget]:
        """Return what takes the keyboard, in the order of the eye."""
        return widgets_of(self._targets) + [
            button for holder in widgets_of(self._fixes) for button in holder.findChildren(QPushButton)
        ]

    def focus_first(self) -> None:
        """Give the keyboard to the first way out, or to the first argument."""
        for button in self.findChildren(Button):
            if button.isVisibleTo(self) and button.isEnabled() and button.objectName().startswith("fix-"):
                button.setFocus(Qt.FocusReason.OtherFocusReason)
                return
        first = next(iter(self.findChildren(Button)), None)
        if first is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_targets(self, targets: tuple[str, ...]) -> None:
        clear(self._targets)
        for target in targets:
            link = Button(short(target, 48), "link", name=f"show-{target}", tip=_("Go to this value"))
            link.setProperty("mono", "true")
            link.setAccessibleName(_("Go to {name}").format(name=target))
            link.clicked.connect(lambda _checked=False, target=target: self.field_wanted.emit(target))
            self._targets.addWidget(link)
        holder = self._targets.parentWidget()
        if holder is not None:
            holder.setVisible(bool(targets))

    def _show_fixes(
        self, finding: Finding, changes: tuple[tuple[Difference, ...], ...], *, editable: bool
    ) -> None:
        focused = next((each.objectName() for each in self.findChildren(Button) if each.hasFocus()), "")
        clear(self._fixes)
        self._ask = None
        for number, (fix, differences) in enumerate(zip(finding.fixes, changes, strict=True)):
            self._fixes.addWidget(self._fix_row(fix, differences, first=number == 0, editable=editable))
        again = self.findChild(Button, focused) if focused.startswith("fix-") else None
        if again is not None:
            again.setFocus(Qt.FocusReason.OtherFocusReason)

    def _fix_row(
        self, fix: Fix, differences: tuple[Difference, ...], *, first: bool, editable: bool
    ) -> QWidget:
        button = WayButton(sentence_case(fix.label), "quiet" if first else "link", name=f"fix-{fix.id}")
        button.setEnabled(editable)
        button.setAccessibleDescription("; ".join(each.words() for each in differences))
        button.clicked.connect(lambda: self._fix_clicked(fix))
        chips = [DiffChip(each, name=f"diff-{each.target}") for each in differences[:MOST_CHIPS]]
        if len(differences) > MOST_CHIPS:
            more = Label(
                _("and {count} more").format(count=len(differences) - MOST_CHIPS), "small", wrap=False
            )
            more.setToolTip("\n".join(each.words() for each in differences))
            return held(FlowLayout(*chips, more, button, spacing=Space.S))
        return held(FlowLayout(*chips, button, spacing=Space.S))

    def _fix_clicked(self, fix: Fix) -> None:
        if fix.changes.get(ACTION) in (None, KEEP_TOKEN):
            self.fix_wanted.emit(self.finding, fix)
            return
        if self._ask is None:
            self._ask = self._question(fix)
            self._ask.yes.connect(lambda: self.fix_wanted.emit(self.finding, fix))
            self._fixes.addWidget(self._ask)
        self._ask.ask()

    def _question(self, fix: Fix) -> Ask:
        name = f"ask-{fix.id}"
        if fix.changes[ACTION] == END_RUN:
            question, detail = _("End what is alive of this run?"), self.finding.detail
            return Ask(question, detail, _("End it"), _("Leave it"), tone="bad", name=name)
        if fix.changes[ACTION] == CONVERT_CAPTIONS:
            question = _("Write these captions in UTF-8?")
            detail = _("Each original is kept beside it, to the byte, and can be brought back.")
            return Ask(question, detail, _("Convert them"), _("Not now"), name=name)
        return Ask(
            _("This is no value of the plan; it is done by hand: {action}").format(
                action=fix.changes[ACTION]
            ),
            _("This program touches nothing of it. Say when it is done; then all is checked again."),
            _("It is done"),
            _("Not now"),
            name=name,
        )
