"""Starts child processes that stay in the environment and answer to Ctrl-C themselves."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

_NOT_FOR_CHILDREN = (
    "PYTHONHOME",
    "PYTHONPATH",
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "__PYVENV_LAUNCHER__",
)


def child_variables() -> dict[str, str]:
    """Return the environment variables for children: nothing may lead them out of ``.venv``."""
    variables = {name: value for name, value in os.environ.items() if name not in _NOT_FOR_CHILDREN}
    return {**variables, "PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}


def run_in_front(words: Sequence[str], cwd: Path) -> int:
    """Run a child in this terminal and return its exit status.

    Ctrl-C reaches the child as well; it may have something to ask or to tidy first, so it is not
    killed for that and this process waits. A wish to terminate is handed on, so that nothing is
    left behind.
    """
    with subprocess.Popen(words, cwd=cwd, env=child_variables()) as child:
        before = [
            (signal.SIGINT, signal.signal(signal.SIGINT, signal.SIG_IGN)),
            (signal.SIGTERM, signal.signal(signal.SIGTERM, lambda *_details: child.terminate())),
        ]
        try:
            return child.wait()
        finally:
            for number, handler in before:
                signal.signal(number, handler)
