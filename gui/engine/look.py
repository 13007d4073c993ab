"""How the window looks, out of the preferences: the little that must be known before the first paint.

`gui.engine.preferences` judges all of the file; what it stands on takes a third of the time to the first
paint.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast


@dataclass(frozen=True)
class Look:
    """Preferences of these names.

    Attributes:
        appearance: ``system`` follows the desktop.
        text_percent: Of all text.
        language: Of all sentences; None follows the system.
    """

    appearance: Literal["system", "light", "dark"] = "system"
    text_percent: Literal[100, 125, 150] = 100
    language: str | None = None


def read_look(path: Path) -> Look:
    """Return the look that the preferences choose; what is missing, damaged or wrong was never chosen.

    Args:
        path: The file of the preferences, which need not exist.
    """
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return Look()
    appearance, percent = content.get("appearance"), content.get("text_percent")
    language = content.get("language")
    return Look(
        cast(Any, appearance if appearance in ("system", "light", "dark") else "system"),
        cast(Any, percent if type(percent) is int and percent in (100, 125, 150) else 100),
        language if isinstance(language, str) and language else None,
    )
