"""Shows a command as people would type it, without tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.findings import Finding
from gui.engine.texts import _
from gui.engine.trainer.command import TrainerCommand
from gui.engine.trainer.launch_environment import TOKEN_VARIABLES
from gui.engine.trainer.quoting import (
    Shell,
    cmd_escaped,
    cmd_words,
    posix_words,
    powershell_command,
    powershell_words,
)

_PLAIN_VALUE = re.compile(r"[^()%!^\"<>&|]*")


class ShownCommand(Document):
    """What ``command --json`` prints.

    Attributes:
        command: The command without tokens; None when none can be made.
        shell: The shell that ``text`` is written for.
        text: What can be pasted into it; empty without a command.
        run_folder: Where the files lie that the command reads.
        findings: Why no command can be made.
    """

    schema_: int = Field(default=1, alias="schema")
    command: TrainerCommand | None = None
    shell: Shell
    text: str = ""
    run_folder: Path
    findings: tuple[Finding, ...] = ()


def preview(command: TrainerCommand, shell: Shell, run_folder: Path) -> str:
    """Return the command with folder and environment, as it can be pasted into a shell.

    Args:
        command: What would run.
        shell: The shell to write for.
        run_folder: Where the files lie that the command reads.

    Raises:
        WrongUsage: A word cannot be typed in that shell.
    """
    shown = _without_tokens(command)
    sign = "rem" if shell == "cmd" else "#"
    lines = [f"{sign} {line}" for line in _remarks(command, run_folder)]
    write = {"posix": _posix, "cmd": _cmd, "powershell": _powershell}[shell]
    return "\n".join([*lines, *write(shown)]) + "\n"


def _without_tokens(command: TrainerCommand) -> TrainerCommand:
    """Leave token variables out: what is pasted must not overwrite the user's own with dots."""
    environment = {name: v for name, v in command.environment.items() if name not in TOKEN_VARIABLES}
    return command.redacted().model_copy(update={"environment": environment})


def _remarks(command: TrainerCommand, run_folder: Path) -> list[str]:
    files = ", ".join(str(path) for path in command.files(run_folder))
    remarks = [_("Needs, written at launch: {files}").format(files=files)] if files else []
    hidden = [name for name in command.environment if name in TOKEN_VARIABLES]
    if hidden:
        remarks.append(_("Not shown, and set for the run: {names}").format(names=", ".join(hidden)))
    return [re.sub(r"[\x00-\x1f\x7f]", "?", remark) for remark in [*remarks, *command.notes]]


def _posix(command: TrainerCommand) -> list[str]:
    unset = [word for name in command.unset for word in ("-u", name)]
    settings = [f"{name}={value}" for name, value in command.environment.items()]
    environment = [" ".join(posix_words(["env", *unset, *settings]))] if unset or settings else []
    folder = f"cd {posix_words([str(command.cwd)])[0]} &&"
    return [" \\\n  ".join([folder, *environment, *_grouped(command.argv, posix_words(command.argv))])]


def _cmd(command: TrainerCommand) -> list[str]:
    lines = [f"cd /d {cmd_words(['cd', str(command.cwd)])[1]}"]
    lines += [f"set {name}=" for name in command.unset]
    for name, value in command.environment.items():
        entry = f"{name}={value}"
        lines.append(f'set "{entry}"' if _PLAIN_VALUE.fullmatch(entry) else f"set {cmd_escaped(entry)}")
    return [*lines, " ".join(cmd_words(command.argv))]


def _powershell(command: TrainerCommand) -> list[str]:
    lines = [f"Set-Location -LiteralPath {_text(str(command.cwd))}"]
    lines += [f"Remove-Item Env:{name} -ErrorAction Ignore" for name in command.unset]
    lines += [f"${{env:{name}}} = {_text(value)}" for name, value in command.environment.items()]
    return [*lines, powershell_command(_grouped(command.argv, powershell_words(command.argv)), " `\n  ")]


def _text(value: str) -> str:
    return "'" + re.sub("(['\u2018\u2019\u201a\u201b])", r"\1\1", value) + "'"


def _grouped(argv: Sequence[str], quoted: Sequence[str]) -> list[str]:
    """Return one line for each option and its values."""
    lines: list[str] = []
    for word, text in zip(argv, quoted, strict=True):
        if not lines or word.startswith("--") or word.endswith(".py"):
            lines.append(text)
        else:
            lines[-1] += f" {text}"
    return lines
