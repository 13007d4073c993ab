"""A change of a value as a small chip: name, the old value struck through, the new one."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QLabel, QSizePolicy

from gui.window.pages.review.words import Difference, short
from gui.window.widgets.styled import style

LONGEST_NAME = 40
LONGEST_VALUE = 22


class DiffChip(QLabel):
    """What a fix does to one value; the whole of it is in the tooltip.

    Args:
        difference: What it does.
    """

    def __init__(self, difference: Difference, *, name: str = "") -> None:
        super().__init__()
        self.setObjectName(name)
        style(self, role="code")
        self.setTextFormat(Qt.TextFormat.RichText)  # for the line through the old value; all else is escaped
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setText(_rich(difference))
        words = difference.words()
        self.setAccessibleName(words)
        self.setToolTip(words)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """It may be cut; the tooltip has all."""
        return QSize(40, super().minimumSizeHint().height())


def _rich(each: Difference) -> str:
    name = escape(short(each.target, LONGEST_NAME))
    before, after = (escape(short(text, LONGEST_VALUE)) for text in each[1:])
    if not after:
        return f"{name} <s>{before}</s>" if before and before != "true" else f"<s>{name}</s>"
    if after == "true":
        return f"+ {name}"
    return f"{name} <s>{before}</s> → {after}" if before else f"+ {name} {after}"
