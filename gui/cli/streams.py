"""Input and output of a process that was started with odd ones: closed, full, left by their reader."""

from __future__ import annotations

import os
import sys


def open_closed_streams() -> None:
    """Let a program that was started without standard streams (``>&-``) read and write nothing."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def speak_utf8() -> None:
    """Let a Windows console or a pipe in another encoding show every sentence."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def discard_output() -> None:
    """Send what is still to be printed nowhere: Python flushes once more at its end and would trip."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
