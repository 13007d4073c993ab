"""Puts together again what a wrong mark at a line's end has broken apart.

A line goes on in the next only where the shell's own mark is its very last sign: ``^`` for cmd, a backtick
for PowerShell, a backslash for bash. After another shell's mark, a blank behind the mark or a comment in
between, the shell ends the command, and what stands below is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gui.engine.importers.shell_text import Command

MARKS = ("^", "\\", "`")
"""What is left as a word of its own where it does not do what it was meant to."""

Judge = Callable[[Command], bool]


def mended(commands: Sequence[Command], takes: Judge, unfinished: Judge) -> tuple[list[Command], list[int]]:
    """Return commands as they were meant, and the lines that their shell would not take as part of one.

    Args:
        commands: As the shell would run them.
        takes: Whether a command can have arguments of the trainer.
        unfinished: Whether it does not yet name what it starts.
    """
    made: list[Command] = []
    lines: list[int] = []
    for command in commands:
        before = made[-1] if made else None
        if before is not None and _belong(before, command, takes, unfinished):
            made[-1] = replace(before, words=(*_without_marks(before.words), *command.words))
            lines.append(command.line)
        else:
            made.append(command)
    return made, lines


def _belong(before: Command, command: Command, takes: Judge, unfinished: Judge) -> bool:
    if command.words[0].startswith("--"):
        return takes(before)
    return _is_mark(before.words[-1]) and unfinished(before)


def _without_marks(words: tuple[str, ...]) -> tuple[str, ...]:
    end = len(words)
    while end > 1 and _is_mark(words[end - 1]):
        end -= 1
    return words[:end]


def _is_mark(word: str) -> bool:
    """An escaped blank is left of a mark that is followed by one."""
    return word.strip() in ("", *MARKS)
