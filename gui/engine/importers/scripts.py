"""Makes a plan of a script or of pasted command lines: .sh, .bat, .cmd, .ps1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath

from gui.engine.errors import CannotRead
from gui.engine.importers.argument_words import take_words
from gui.engine.importers.assembling import Draft, Source
from gui.engine.importers.broken_lines import mended
from gui.engine.importers.launch_words import take_environment, take_launch_words
from gui.engine.importers.shell_text import Command, Script, TooLong, UnclosedQuote
from gui.engine.importers.shell_words import shell_commands, shell_of
from gui.engine.texts import _, ngettext
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.quoting import Shell

_PYTHON = re.compile(r"(?:python|pythonw|py)[\d.]*(?:\.exe)?\Z", re.IGNORECASE)
_SILENT = frozenset(
    {"echo", "@echo", "pause", "setlocal", "endlocal", "exit", "set", "title", "chcp", "clear", "cls"}
)
_SHOWN = 6
_MARK: dict[Shell, str] = {"posix": "\\", "cmd": "^", "powershell": "`"}


@dataclass(frozen=True)
class _Training:
    command: Command
    script: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def names_training(text: str, catalogue: Catalogue) -> bool:
    """Return whether a text speaks of a training script."""
    return "accelerate" in text or any(name in text for name in catalogue.scripts)


def read_script(text: str, shell: Shell, source: Source, catalogue: Catalogue) -> Draft:
    """Gather what the training command of a script says.

    Args:
        text: The script, or pasted lines.
        shell: Whose rules count.
        source: Where it comes from.
        catalogue: The trainer's scripts and arguments.

    Raises:
        CannotRead: A quote is not closed, or no command starts a training.
    """
    said = _commands(text, shell, source)
    said.commands, broken = _mended(said.commands, catalogue)
    trainings = [found for command in said.commands if (found := _training(command, catalogue))]
    if not trainings:
        raise CannotRead(source.path, _("no command in it starts a training script of sd-scripts"))
    chosen = trainings[0]
    known = catalogue.script(chosen.script)
    draft = Draft(known.name)
    _tell_broken(draft, broken, shell)
    _tell(draft, said, chosen, trainings)
    take_environment(draft, chosen.command.environment)
    take_launch_words(draft, chosen.before)
    take_words(draft, chosen.after, known)
    return draft


def read_words(text: str, script: str, source: Source, catalogue: Catalogue) -> Draft:
    """Gather arguments that were pasted without the command in front of them.

    Args:
        text: Several arguments on a line, on any number of lines.
        script: The training script that they are for.
        source: Where they come from.
        catalogue: The trainer's scripts and arguments.

    Raises:
        CannotRead: A quote is not closed.
        ScriptNotUsable: The trainer has no such script.
    """
    shell = shell_of(text)
    known = catalogue.script(script)
    draft = Draft(known.name)
    said = _commands(text, shell, source)
    commands, broken = mended(said.commands, takes=lambda _command: True, unfinished=lambda _command: False)
    _tell_broken(draft, broken, shell)
    take_words(draft, [word for command in commands for word in command.words], known)
    return draft


def _mended(commands: Sequence[Command], catalogue: Catalogue) -> tuple[list[Command], list[int]]:
    def trains(command: Command) -> bool:
        return _training(command, catalogue) is not None

    def launches(command: Command) -> bool:
        return _starts_programs(command.words, bare=False)

    return mended(
        commands,
        takes=lambda command: trains(command) or launches(command),
        unfinished=lambda command: launches(command) and not trains(command),
    )


def _commands(text: str, shell: Shell, source: Source) -> Script:
    """Return what a text says; raises CannotRead."""
    try:
        return shell_commands(text, shell)
    except UnclosedQuote as error:
        reason = _("line {number}: a quote is not closed").format(number=error.line)
        raise CannotRead(source.path, reason) from error
    except TooLong as error:
        raise CannotRead(source.path, _("its variables grow beyond any use")) from error


def _training(command: Command, catalogue: Catalogue) -> _Training | None:
    """Return how a command starts a training script; None when it does something else."""
    for place, word in enumerate(command.words):
        name = base_name(word)
        started = _starts_programs(command.words[:place], name == word)
        if name in catalogue.scripts and started:
            before, after = command.words[:place], command.words[place + 1 :]
            return _Training(command, name, before, after)
    return None


def _starts_programs(before: Sequence[str], bare: bool) -> bool:
    """Whether the words in front of a script's name start it, and do not print it or fetch it."""
    if not before:
        return True
    program = base_name(before[0])
    programs = {"accelerate", "accelerate.exe", "torchrun", "deepspeed", "uv", "conda", "micromamba"}
    return bool(_PYTHON.match(program)) or program in programs or (bare and program.endswith("activate"))


def base_name(word: str) -> str:
    """Return the last part of a path, of either kind of system."""
    return PurePosixPath(word).name if "\\" not in word else PureWindowsPath(word).name


def _tell_broken(draft: Draft, lines: list[int], shell: Shell) -> None:
    if not lines:
        return
    shown = ", ".join(map(str, lines[:_SHOWN])) + (" …" if len(lines) > _SHOWN else "")
    draft.note(
        ngettext(
            "The shell would end the command before line {lines} and lose what follows: a line goes on only "
            "where {mark} is the very last sign of the one above it. It was taken as it is meant.",
            "The shell would end the command before lines {lines} and lose what follows: a line goes on "
            "only where {mark} is the very last sign of the one above it. It was taken as it is meant.",
            len(lines),
        ).format(lines=shown, mark=_MARK[shell])
    )


def _tell(draft: Draft, said: Script, chosen: _Training, trainings: list[_Training]) -> None:
    others = len(trainings) - 1
    if others:
        draft.note(
            ngettext(
                "{count} more command starts a training; the first, of line {line}, was taken.",
                "{count} more commands start trainings; the first, of line {line}, was taken.",
                others,
            ).format(count=others, line=chosen.command.line)
        )
    passed = [
        " ".join(command.words[:2])
        for command in said.commands
        if command not in [training.command for training in trainings]
        and command.words[0].lower() not in _SILENT
    ]
    if passed:
        shown = "; ".join(dict.fromkeys(passed[:_SHOWN])) + ("; …" if len(passed) > _SHOWN else "")
        draft.note(_("Passed over, as they start no training: {commands}").format(commands=shown[:300]))
    words = " ".join(chosen.command.words)
    used = [name for name in said.unknown if name.lower() in words.lower()]
    if used:
        draft.note(
            _(
                "The script does not say what these variables hold: {names}. They stay as they are written."
            ).format(names=", ".join(used[:_SHOWN]))
        )
    if said.dynamic:
        draft.note(
            _("The script decides some things while it runs; what it adds that way is not in the plan.")
        )
