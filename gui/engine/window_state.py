"""How the window was left: nobody chose it, and nothing is lost with it."""

from __future__ import annotations

import contextlib
from typing import Any

from pydantic import ValidationError

from gui.engine.documents import Document, read_json, write_atomically
from gui.engine.errors import CannotRead, CannotWrite
from gui.engine.paths import Home


class WindowState(Document):
    """What makes the window look as it was left.

    Attributes:
        geometry: Size and place, in Qt's own words.
        page: The page that was in front.
        step: The step of the plan that was in front.
        plan: The plan's file that was open.
    """

    geometry: str = ""
    page: str = ""
    step: str = ""
    plan: str = ""


def load_window_state(home: Home) -> WindowState:
    """Return how the window was left; what is missing or damaged is as at the first time."""
    try:
        content: Any = read_json(home.window_state)
    except CannotRead:
        return WindowState()
    known: dict[str, Any] = {}
    for name in WindowState.model_fields if isinstance(content, dict) else ():
        with contextlib.suppress(ValidationError, KeyError):
            known[name] = getattr(WindowState.model_validate({name: content[name]}), name)
    return WindowState(**known)


def save_window_state(home: Home, state: WindowState) -> None:
    """Keep it; a home that cannot be written costs nothing but a look."""
    with contextlib.suppress(CannotWrite):
        write_atomically(home.window_state, state.model_dump_json(indent=1), durable=False)
