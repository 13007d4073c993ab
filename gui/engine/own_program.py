"""How this program starts itself again: from a source tree, installed, and frozen."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def own_words() -> list[str]:
    """Return how this program calls itself."""
    return [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "gui"]


def own_environment() -> dict[str, str]:
    """Return an environment in which a child finds the same program, installed or not."""
    program = str(Path(__file__).resolve().parents[2])
    paths = [program, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
