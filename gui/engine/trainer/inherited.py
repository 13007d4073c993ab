"""The environment in which a trainer's Python starts, free of this program's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

OWN_VARIABLES = (
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONEXECUTABLE",
    "PYTHONSAFEPATH",
    "__PYVENV_LAUNCHER__",
    "_MEIPASS2",
    "COVERAGE_PROCESS_CONFIG",
    "COVERAGE_PROCESS_START",
)
"""What belongs to the Python that runs this program and would mislead, or slow down, another one."""


def variables_to_unset(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the variables that a trainer must not inherit.

    Args:
        environment: Where to look; None takes this process's own.
    """
    variables = os.environ if environment is None else environment
    own = [name for name in OWN_VARIABLES if name in variables]
    own += [name for name in variables if name.startswith("_PYI_")]
    if variables.get("VIRTUAL_ENV") == sys.prefix:
        own.append("VIRTUAL_ENV")
    if _packed() and "LD_LIBRARY_PATH" in variables and "LD_LIBRARY_PATH_ORIG" not in variables:
        own.append("LD_LIBRARY_PATH")
    return tuple(own)


def variables_to_set(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables that a trainer gets back as they were before this program started.

    A packed program changes the library path for itself and keeps the old value aside.

    Args:
        environment: Where to look; None takes this process's own.
    """
    variables = os.environ if environment is None else environment
    before = variables.get("LD_LIBRARY_PATH_ORIG")
    return {"LD_LIBRARY_PATH": before} if _packed() and before is not None else {}


def clean_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a whole environment for a process of the trainer's Python.

    Args:
        environment: What to start from; None takes this process's own.
    """
    variables = os.environ if environment is None else environment
    unset = variables_to_unset(variables)
    kept = {name: value for name, value in variables.items() if name not in unset}
    return kept | variables_to_set(variables)


def _packed() -> bool:
    return bool(getattr(sys, "frozen", False))
