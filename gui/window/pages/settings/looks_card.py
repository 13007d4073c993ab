"""How the window looks, and the language it speaks."""

from __future__ import annotations

from PySide6.QtCore import QLocale

from gui.engine.texts import _, known_languages
from gui.window.bridges.settings import Settings
from gui.window.pages.settings.choices_card import Keep
from gui.window.pages.settings.parts import Segments, SettingRow
from gui.window.theme.theme import Theme
from gui.window.widgets.card import Card
from gui.window.widgets.inputs import Choice
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import line
from gui.window.widgets.styled import style

_CHOICE_WIDTH = 220


class LooksCard(Card):
    """Appearance and text size, which change at once, and language, which needs a new start.

    Args:
        settings: Holds them.
        theme: Gives sizes.
        keep: Keeps a change.
    """

    def __init__(self, settings: Settings, theme: Theme, keep: Keep) -> None:
        super().__init__(_("Appearance and language"), name="settings-looks")
        self._settings = settings
        self._theme = theme
        self._spoken = settings.values.language
        self._appearance = Segments(
            [("system", _("As the system")), ("light", _("Light")), ("dark", _("Dark"))],
            name="setting-appearance",
            words=_("Appearance"),
        )
        self._appearance.changed.connect(lambda value: keep(appearance=value))
        self._size = Segments(
            [(percent, f"{percent} %") for percent in (100, 125, 150)],
            name="setting-text",
            words=_("Text size"),
        )
        self._size.changed.connect(lambda value: keep(text_percent=value))
        self._language = Choice(_languages(), name="setting-language", words=_("Language"))
        self._language.changed.connect(lambda value: keep(language=value))
        self._later = Label(
            _("Kept. The language changes when the window is opened the next time."),
            "small",
        )
        self._later.setObjectName("language-later")
        style(self._later, tone="accent")
        rows = (
            (_("Appearance"), _("Changes at once."), self._appearance),
            (_("Text size"), _("Of everything in this window; changes at once."), self._size),
            (_("Language"), _("Takes effect at the next start."), self._language),
        )
        for place, row in enumerate(rows):
            if place:
                self.body.addWidget(line())
            self.body.addWidget(SettingRow(*row))
        self.body.addWidget(self._later)
        theme.changed.connect(self._fit)
        self._fit()
        self.show_values()

    def show_values(self) -> None:
        """Show what is kept."""
        values = self._settings.values
        self._appearance.show_value(values.appearance)
        self._size.show_value(values.text_percent)
        self._language.show_value(values.language)
        self._later.setVisible(values.language != self._spoken)

    def _fit(self) -> None:
        self._language.setFixedWidth(self._theme.px(_CHOICE_WIDTH))


def _languages() -> list[tuple[object, str]]:
    """Return what can be spoken, each language by its own name."""
    options: list[tuple[object, str]] = [(None, _("Follow the system"))]
    options += [(code, _own_name(code)) for code in known_languages()]
    return options


def _own_name(code: str) -> str:
    locale = QLocale(code)
    if code == "en":
        return "English"
    if locale.language() == QLocale.Language.C:
        return code
    return locale.nativeLanguageName() or code
