"""The question before a launch in spite of dangers, and what findings are called in short."""

from __future__ import annotations

from collections.abc import Sequence

from gui.engine.findings import Finding
from gui.engine.texts import _, ngettext
from gui.window.models.short_list import in_short

MOST_NAMED = 8


def launch_question(dangers: Sequence[Finding]) -> str:
    """Return what is asked before a launch in spite of them."""
    text = ngettext(
        "One thing is likely to go wrong. Launch all the same?",
        "{count} things are likely to go wrong. Launch all the same?",
        len(dangers),
    )
    return text.format(count=len(dangers))


def danger_lines(dangers: Sequence[Finding]) -> str:
    """Return what the yes is given to, and that it is kept."""
    note = _("Your yes is kept in the run's record.")
    return f"{titles_of(dangers)}\n{note}"


def titles_of(findings: Sequence[Finding]) -> str:
    """Return a line for each, as many as can be read at a glance."""
    return "\n".join(in_short(list(dict.fromkeys(f"• {each.title}" for each in findings)), MOST_NAMED))
