"""The one door for every sentence that a person reads.

English is the source. ``_("…")`` marks and translates a sentence; values go in by
``.format`` afterwards, so that a translator sees the whole sentence. Catalogues live in
``resources/translations/<language>/LC_MESSAGES/kohya_preflight.mo``.
"""

from __future__ import annotations

import gettext
import locale
import os
from pathlib import Path

from gui.engine.resources import resource_path

DOMAIN = "kohya_preflight"


class _Door:
    """Holds the catalogue in use, so that sentences made later follow a change of language."""

    def __init__(self) -> None:
        self._catalogue: gettext.NullTranslations | None = None

    def use(self, language: str | None, folder: Path | None = None) -> gettext.NullTranslations:
        languages = [language] if language else _system_languages()
        self._catalogue = gettext.translation(
            DOMAIN, localedir=folder or resource_path("translations"), languages=languages, fallback=True
        )
        return self._catalogue

    @property
    def catalogue(self) -> gettext.NullTranslations:
        return self._catalogue or self.use(None)


_door = _Door()


def _system_languages() -> list[str]:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return value.split(":")
    code = locale.getlocale()[0]
    return [code] if code else []


def use_language(language: str | None, folder: Path | None = None) -> None:
    """Choose the language of all sentences made from now on.

    Args:
        language: A code such as ``"ko"``; None follows the system.
        folder: Where the catalogues are, if not in the program's resources.
    """
    _door.use(language, folder)


def _(message: str) -> str:
    """Return the sentence in the user's language; the English source where there is none."""
    return _door.catalogue.gettext(message) if message else ""


def ngettext(singular: str, plural: str, number: int) -> str:
    """Return the form of the sentence that fits ``number``."""
    return _door.catalogue.ngettext(singular, plural, number)


def known_languages(folder: Path | None = None) -> list[str]:
    """Return the codes of all languages that can be spoken; the source's English is the first.

    Args:
        folder: Where the catalogues are, if not in the program's resources.
    """
    place = folder or resource_path("translations")
    found = place.glob(f"*/LC_MESSAGES/{DOMAIN}.mo")
    return ["en", *sorted({path.parent.parent.name for path in found} - {"en"})]
