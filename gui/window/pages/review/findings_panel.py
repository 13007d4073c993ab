"""The left column: all findings by severity, the hints folded, and what fixes have done."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from gui.engine.findings import Finding
from gui.engine.texts import _, ngettext
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.review.finding_card import FindingCard
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.labels import ElidedLabel
from gui.window.widgets.layouts import held, row, widgets_of

CARDS_SHOWN = 15
"""A plan may have thousands of findings; more cards than anybody reads at once make the page slow."""

Key = tuple[str, str | None, int]


class FindingsPanel(QWidget):
    """Cards that stay where they are while their finding lasts.

    Args:
        document: Tells what counts now, for the differences that fixes make.
    """

    fix_wanted = Signal(object, object)
    """`Finding` and `Fix`."""
    field_wanted = Signal(str)

    def __init__(self, document: PlanDocument) -> None:
        super().__init__()
        self.setObjectName("findings")
        self._document = document
        self._cards: dict[Key, FindingCard] = {}
        self._findings: tuple[Finding, ...] = ()
        self._room = CARDS_SHOWN
        self._main = QVBoxLayout()
        self._main.setSpacing(Space.M)
        self._hints = QVBoxLayout()
        self._hints.setSpacing(Space.M)
        self._hint_cards = held(self._hints, "hint-cards")
        self._hint_cards.hide()
        self.hints_button = Button("", "segment", name="show-hints")
        self.hints_button.toggled.connect(self._fold)
        self._hint_titles = ElidedLabel("", "muted")
        line = row(self.hints_button, spacing=Space.M)
        line.addWidget(self._hint_titles, 1)
        self._hint_line = held(line, "hint-line")
        self._more = Button("", name="show-more", compact=True)
        self._more.clicked.connect(self._show_more)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.M)
        layout.addLayout(self._main)
        layout.addWidget(self._more)
        layout.addWidget(self._hint_line)
        layout.addWidget(self._hint_cards)
        self._hint_line.hide()
        self._more.hide()

    def show_findings(self, findings: Sequence[Finding]) -> None:
        """Show these and no others; cards of findings that stay are only brought up to date."""
        self._findings = tuple(findings)
        hints = [each for each in findings if each.severity == "hint"]
        main = [each for each in findings if each.severity != "hint"]
        keyed = _keyed(main[: self._room]) + _keyed(hints[: self._room])
        self._remove({key for key, _finding in keyed})
        places = {"main": 0, "hint": 0}
        for key, finding in keyed:
            kind = "hint" if finding.severity == "hint" else "main"
            layout = self._hints if kind == "hint" else self._main
            self._place(layout, places[kind], self._card(key, finding))
            places[kind] += 1
        self._say_more(len(main) - self._room)
        self._show_hint_line(hints)

    def focus_order(self) -> list[QWidget]:
        """Return what takes the keyboard, in the order of the eye."""
        main: list[QWidget] = []
        hints: list[QWidget] = []
        for card in self._in_order():
            (hints if card.finding.severity == "hint" else main).extend(card.focus_order())
        return [*main, self._more, self.hints_button, *hints]

    def first_card(self) -> FindingCard | None:
        """Return the card of the worst finding."""
        return next((card for card in self._in_order() if card.finding.severity != "hint"), None)

    def _in_order(self) -> list[FindingCard]:
        widgets = [*widgets_of(self._main), *widgets_of(self._hints)]
        return [widget for widget in widgets if isinstance(widget, FindingCard)]

    def _card(self, key: Key, finding: Finding) -> FindingCard:
        card = self._cards.get(key)
        if card is None:
            card = self._cards[key] = FindingCard(finding)
            card.fix_wanted.connect(self.fix_wanted)
            card.field_wanted.connect(self.field_wanted)
        targets = {target for fix in finding.fixes for target in fix.changes}
        now = {target: self._document.effective(target).value for target in targets}
        card.show_finding(finding, now, editable=not self._document.read_only)
        return card

    @staticmethod
    def _place(layout: QVBoxLayout, place: int, card: FindingCard) -> None:
        if layout.indexOf(card) != place:
            layout.insertWidget(place, card)

    def _remove(self, kept: set[Key]) -> None:
        """Take away what is mended; the keyboard goes on to the next card."""
        order = self._in_order()
        focused = QApplication.focusWidget()
        for key in [key for key in self._cards if key not in kept]:
            card = self._cards.pop(key)
            if focused is not None and card.isAncestorOf(focused):
                after = order[order.index(card) + 1 :] + order[: order.index(card)][::-1]
                following = next((each for each in after if each in self._cards.values()), None)
                if following is not None:
                    following.focus_first()
            for layout in (self._main, self._hints):
                layout.removeWidget(card)
            card.hide()
            card.deleteLater()

    def _say_more(self, hidden: int) -> None:
        self._more.setVisible(hidden > 0)
        text = ngettext("Show {count} more", "Show {count} more", max(hidden, 1))
        self._more.setText(text.format(count=f"{max(hidden, 1):,}"))

    def _show_more(self) -> None:
        self._room += CARDS_SHOWN
        self.show_findings(self._findings)

    def _show_hint_line(self, hints: list[Finding]) -> None:
        self._hint_line.setVisible(bool(hints))
        text = ngettext("{count} hint", "{count} hints", len(hints))
        self.hints_button.setText(text.format(count=f"{len(hints):,}"))
        self.hints_button.set_tip(_("Show or hide the hints"))
        self._hint_titles.setText("  ·  ".join(each.title.rstrip(".") for each in hints[:8]))
        self._hint_cards.setVisible(bool(hints) and self.hints_button.isChecked())

    def _fold(self, open_now: bool) -> None:
        self._hint_cards.setVisible(open_now)
        self._hint_titles.setVisible(not open_now)


def _keyed(findings: Sequence[Finding]) -> list[tuple[Key, Finding]]:
    """Name each finding so that it is known again: by id, place, and which of those alike it is."""
    seen: dict[tuple[str, str | None], int] = {}
    keyed: list[tuple[Key, Finding]] = []
    for finding in findings:
        alike = (finding.id, finding.where)
        seen[alike] = seen.get(alike, 0) + 1
        keyed.append(((*alike, seen[alike]), finding))
    return keyed
