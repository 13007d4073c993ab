"""What is wrong with one image, and with the dataset as a whole: what it means, and the ways out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.dataset.problem_kinds import problem_kinds
from gui.engine.findings import Finding, Fix
from gui.engine.texts import _
from gui.window.models.image_rows import NOT_OF_IMAGES
from gui.window.pages.data.tile_words import short_words, tone_of
from gui.window.theme.space import Space
from gui.window.widgets.chip import Chip
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, clear, column, held
from gui.window.widgets.styled import style
from gui.window.widgets.way_button import WayButton


class ImageFindings(QWidget):
    """One entry a kind of trouble, the worst first."""

    fix_wanted = Signal(object)
    """`Fix`."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("data-findings")
        self._shown: tuple[object, ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(Space.M)

    def show_findings(self, keys: Sequence[str], findings: Sequence[Finding], target: str) -> None:
        """Show what is wrong.

        Args:
            keys: The kinds of trouble.
            findings: Of the whole dataset; they have the ways out.
            target: The image's subset, in the words of fixes.
        """
        fixes = {key: _fixes(key, findings, target) for key in keys}
        general = [each for each in findings if each.id not in _of_images() and each.severity != "hint"]
        shown = (tuple(keys), tuple(fixes.items()), tuple(general))
        if shown == self._shown:
            return
        self._shown = shown
        clear(self._column)
        for key in keys:
            self._column.addWidget(self._entry(key, fixes[key]))
        if general:
            self._column.addWidget(Label(_("About all images"), "strong"))
        for finding in general:
            self._column.addWidget(self._general(finding))

    def _entry(self, key: str, fixes: Sequence[Fix]) -> QWidget:
        kind = problem_kinds()[key]
        chip = Chip(short_words(key), tone_of(kind.severity), name=f"data-finding-{key}")
        parts: list[QWidget | FlowLayout] = [chip, Label(kind.detail(), "small")]
        buttons = [self._button(key, fix) for fix in fixes]
        if buttons:
            parts.append(FlowLayout(*buttons))
        return held(column(*parts, spacing=Space.XS))

    def _general(self, finding: Finding) -> QWidget:
        title = Label(finding.title, "small")
        style(title, tone=tone_of(finding.severity))
        parts: list[QWidget | FlowLayout] = [title, Label(finding.detail, "small")]
        buttons = [self._button(finding.id, fix) for fix in finding.fixes]
        if buttons:
            parts.append(FlowLayout(*buttons))
        return held(column(*parts, spacing=Space.XS), name=f"data-general-{finding.id}")

    def _button(self, key: str, fix: Fix) -> WayButton:
        button = WayButton(fix.label[:1].upper() + fix.label[1:], "quiet", name=f"data-fix-{key}-{fix.id}")
        button.clicked.connect(lambda: self.fix_wanted.emit(fix))
        return button


def _of_images() -> set[str]:
    """Return the ids of findings that name images: those are shown with each of them."""
    return {kind.id for kind in problem_kinds().values() if kind.key not in NOT_OF_IMAGES}


def _fixes(key: str, findings: Sequence[Finding], target: str) -> tuple[Fix, ...]:
    identity = problem_kinds()[key].id
    told = (each for each in findings if each.id == identity and each.where == target)
    fixes = {(fix.id, fix.label): fix for each in told for fix in each.fixes}
    return tuple(fixes.values())
