"""Splits scripts and pasted lines of the three shells into commands."""

from __future__ import annotations

import re

from gui.engine.importers.shell_cmd import read_cmd
from gui.engine.importers.shell_posix import PosixReader
from gui.engine.importers.shell_powershell import PowershellReader
from gui.engine.importers.shell_text import Script
from gui.engine.trainer.quoting import Shell

_SUFFIXES: dict[str, Shell] = {".bat": "cmd", ".cmd": "cmd", ".ps1": "powershell", ".sh": "posix"}
_SIGNS: tuple[tuple[Shell, re.Pattern[str]], ...] = (
    ("posix", re.compile(r"\A#!.*\b(?:ba|z|da)?sh\b|\\\n|^[ \t]*export \w+=", re.MULTILINE)),
    (
        "powershell",
        re.compile(r"`[ \t]*\n|^[ \t]*\$(?:env:)?\w+\s*=|^[ \t]*& |\A[ \t]*<#", re.MULTILINE | re.IGNORECASE),
    ),
    (
        "cmd",
        re.compile(
            r"\^[ \t]*\n|^[ \t]*@echo\b|^[ \t]*set \"?\w+=|^[ \t]*(?:rem|call) "
            r"|%\w+%|\^\"|(?:\s|\A)[A-Za-z]:\\",
            re.MULTILINE | re.IGNORECASE,
        ),
    ),
)


def shell_of(text: str, suffix: str = "") -> Shell:
    """Return the shell that a text is written for, by its file's ending or by what only one shell has."""
    known = _SUFFIXES.get(suffix.lower())
    if known:
        return known
    return next((shell for shell, pattern in _SIGNS if pattern.search(text)), "posix")


def shell_commands(text: str, shell: Shell) -> Script:
    r"""Return the commands of a script; nothing is run.

    Args:
        text: Lines ended by ``\n``.
        shell: Whose rules count.

    Raises:
        UnclosedQuote: A quote is not closed.
        TooLong: Variables multiply beyond any use.
    """
    if shell == "cmd":
        return read_cmd(text)
    return PosixReader(text).read() if shell == "posix" else PowershellReader(text).read()
