"""The colours of one appearance, by what they are for; one file each in ``resources/themes``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.resources import resource_path
from gui.engine.yaml_text import parse_yaml

Appearance = Literal["light", "dark"]
Colour = Annotated[str, Field(pattern=r"^#[0-9a-f]{6}$")]


class Tokens(Document):
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

    bg: Colour
    surface: Colour
    raised: Colour
    line: Colour
    text: Colour
    muted: Colour
    faint: Colour
    accent: Colour
    accent_soft: Colour
    on_accent: Colour
    good: Colour
    good_soft: Colour
    warn: Colour
    warn_soft: Colour
    bad: Colour
    bad_soft: Colour
    chart_1: Colour
    chart_2: Colour


def load_tokens(appearance: Appearance) -> Tokens:
    """Return the colours of an appearance."""
    text = resource_path("themes", f"{appearance}.yaml").read_text("utf-8")
    return Tokens.model_validate(parse_yaml(text))
