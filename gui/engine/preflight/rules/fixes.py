"""The fixes that most rules offer: leave something out, write another value, do something by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gui.engine.findings import Fix
from gui.engine.plan.changes import ACTION
from gui.engine.texts import _


def leave_out(*names: str, safe: bool = False, identity: str = "leave-out") -> Fix:
    """Return the fix that takes arguments out of the plan.

    Args:
        names: Targets.
        safe: Whether nothing is lost that the user would miss.
        identity: Its id within the finding.
    """
    label = _("leave {names} out").format(names=", ".join(names))
    return Fix(id=identity, label=label, changes=dict.fromkeys(names), safe=safe)


def write(changes: Mapping[str, Any], label: str, *, identity: str = "write", safe: bool = False) -> Fix:
    """Return the fix that writes values.

    Args:
        changes: Target to value.
        label: What will happen.
        identity: Its id within the finding.
        safe: Whether nothing is lost that the user would miss.
    """
    return Fix(id=identity, label=label, changes=dict(changes), safe=safe)


def by_hand(action: str, label: str) -> Fix:
    """Return the fix that is no value of the plan: something is to be done with files.

    Args:
        action: Its name, part of the interface.
        label: What is to be done.
    """
    return Fix(id=action, label=label, changes={ACTION: action}, safe=False)


def first_few(names: Sequence[str], count: int = 3) -> str:
    """Return the first names as one text."""
    return ", ".join(names[:count]) + (" …" if len(names) > count else "")
