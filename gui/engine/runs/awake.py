"""Keeps the machine from falling asleep while a run lives."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from gui.engine.texts import _


@dataclass(frozen=True)
class Wakefulness:
    """Whether the machine is held awake.

    Attributes:
        active: It is.
        method: How, by wakepy's name for it; None when it is not.
        note: What the user should know when it is not, else None.
    """

    active: bool
    method: str | None
    note: str | None


@contextlib.contextmanager
def keep_awake() -> Iterator[Wakefulness]:
    """Hold the machine awake inside ``with``; where that is not possible, say so once and go on.

    The screen may still turn off. A rented server without a desktop has no service to ask (and does
    not fall asleep either), so this is never an error.
    """
    with contextlib.ExitStack() as stack:
        try:
            from wakepy import keep

            mode = stack.enter_context(keep.running(on_fail="pass"))
            active, method = mode.active, mode.method
        except Exception:  # noqa: BLE001 - whatever a desktop's services answer, the training goes on
            active, method = False, None
        if active:
            yield Wakefulness(True, method.name if method else None, None)
        else:
            yield Wakefulness(False, None, _not_held())


def _not_held() -> str:
    return _(
        "This system offers no way to keep the machine awake. If it may fall asleep, turn that off in "
        "its power settings until the training is over."
    )
