"""Lists that are as long as can be read at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from gui.engine.texts import _


def in_short(lines: Sequence[str], most: int) -> list[str]:
    """Return the first lines, and one that says how many more there are."""
    more = len(lines) - most
    return [*lines[:most], _("and {count} more").format(count=more)] if more > 0 else list(lines)
