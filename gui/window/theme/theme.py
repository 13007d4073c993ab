"""Palette, type and style sheet of the whole program, in light and dark, at any text size.

Fusion with a palette of our own: ``QStyleHints.setColorScheme`` does nothing where there is no desktop.
"""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from gui.window.theme.sheet import style_sheet
from gui.window.theme.tokens import Appearance, Tokens, load_tokens

AppearanceChoice = Literal["system", "light", "dark"]
FontRole = Literal["title", "card", "body", "small", "mono", "strong"]

_SIZES_PX: dict[str, float] = {"title": 22, "card": 15, "body": 14, "small": 12, "mono": 12.5, "strong": 14}
_SEMIBOLD = ("title", "card", "strong")


class Theme(QObject):
    """How everything looks now.

    Args:
        application: Whose palette, font and style sheet are set.
        appearance: ``system`` follows the desktop.
        text_percent: Size of all text and of what holds it.
    """

    changed = Signal()
    """Colours or text size are other ones now."""

    def __init__(
        self,
        application: QApplication,
        appearance: AppearanceChoice = "system",
        text_percent: int = 100,
    ) -> None:
        super().__init__()
        self._application = application
        self._choice: AppearanceChoice = appearance
        self._percent = text_percent
        self._family = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).families()
        self._mono = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families()
        self._appearance: Appearance = self._wanted()
        self.tokens: Tokens = load_tokens(self._appearance)
        application.setStyle(QStyleFactory.create("Fusion"))
        application.styleHints().colorSchemeChanged.connect(self._system_changed)
        self._apply()

    @property
    def dark(self) -> bool:
        """Whether the dark colours are in use."""
        return self._appearance == "dark"

    @property
    def text_percent(self) -> int:
        """The size of text, 100 is plain."""
        return self._percent

    def color(self, name: str) -> QColor:
        """Return a colour by the name of its token."""
        return QColor(getattr(self.tokens, name))

    def px(self, pixels: float) -> int:
        """Return a length that grows with the text size."""
        return round(pixels * self._percent / 100)

    def font(self, role: FontRole = "body") -> QFont:
        """Return the font of a role."""
        font = QFont()
        font.setFamilies(self._mono if role == "mono" else self._family)
        if role == "mono":
            font.setStyleHint(QFont.StyleHint.Monospace)
        font.setPixelSize(max(1, round(_SIZES_PX[role] * self._percent / 100)))
        if role in _SEMIBOLD:
            font.setWeight(QFont.Weight.DemiBold)
        return font

    def set_appearance(self, appearance: AppearanceChoice) -> None:
        """Use other colours."""
        self._choice = appearance
        self._use(self._wanted())

    def set_text_percent(self, percent: int) -> None:
        """Use another text size."""
        if percent != self._percent:
            self._percent = percent
            self._apply()

    def _wanted(self) -> Appearance:
        if self._choice != "system":
            return self._choice
        scheme = self._application.styleHints().colorScheme()
        return "dark" if scheme == Qt.ColorScheme.Dark else "light"

    def _system_changed(self, _scheme: object) -> None:
        self._use(self._wanted())

    def _use(self, appearance: Appearance) -> None:
        if appearance != self._appearance:
            self._appearance = appearance
            self.tokens = load_tokens(appearance)
            self._apply()

    def _apply(self) -> None:
        self._application.setFont(self.font("body"))
        self._application.setPalette(self._palette())
        self._application.setStyleSheet(style_sheet(self.tokens, self.px, self._mono))
        # Held, so that Python knows the style by this object, whatever else was at its address before.
        self._style = self._application.style()
        self.changed.emit()

    def _palette(self) -> QPalette:
        role = QPalette.ColorRole
        colours = {
            role.Window: "bg",
            role.WindowText: "text",
            role.Base: "surface",
            role.AlternateBase: "bg",
            role.Text: "text",
            role.Button: "raised",
            role.ButtonText: "text",
            role.BrightText: "bad",
            role.ToolTipBase: "raised",
            role.ToolTipText: "text",
            role.PlaceholderText: "faint",
            role.Highlight: "accent",
            role.HighlightedText: "on_accent",
            role.Accent: "accent",
            role.Link: "accent",
            role.LinkVisited: "accent",
            role.Light: "raised",
            role.Midlight: "line",
            role.Mid: "line",
            role.Dark: "line",
            role.Shadow: "line",
        }
        palette = QPalette()
        for place, name in colours.items():
            palette.setColor(place, self.color(name))
        for place in (role.WindowText, role.Text, role.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, place, self.color("faint"))
        return palette
