"""The colours of one appearance, by what they are for; one file each in ``resources/themes``.

Read before the first paint, so by the standard library alone.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, fields
from typing import Literal

from gui.engine.resources import resource_path

Appearance = Literal["light", "dark"]
_COLOUR = re.compile(r"#[0-9a-f]{6}")


@dataclass(frozen=True)
class Tokens:
    """Colours as ``#rrggbb``.

    Attributes:
        bg: The window.
        surface: Cards, side bar, status line.
        raised: Buttons and menus.
        line: Borders and grids.
        text: What is read first.
        muted: What is read second.
        faint: What need not be read.
        accent: The one action, and what is selected.
        accent_soft: Behind it.
        on_accent: Text on it.
        good: All is well.
        good_soft: Behind it.
        warn: Worth a look.
        warn_soft: Behind it.
        bad: Wrong or lost.
        bad_soft: Behind it.
        chart_1: The loss.
        chart_2: The learning rate.
    """

    bg: str
    surface: str
    raised: str
    line: str
    text: str
    muted: str
    faint: str
    accent: str
    accent_soft: str
    on_accent: str
    good: str
    good_soft: str
    warn: str
    warn_soft: str
    bad: str
    bad_soft: str
    chart_1: str
    chart_2: str

    def __post_init__(self) -> None:
        for field in fields(self):
            if not _COLOUR.fullmatch(getattr(self, field.name)):
                raise ValueError(field.name)


def load_tokens(appearance: Appearance) -> Tokens:
    """Return the colours of an appearance."""
    return Tokens(**tomllib.loads(resource_path("themes", f"{appearance}.toml").read_text("utf-8")))
