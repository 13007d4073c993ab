"""Writes a plan for others: a command line, the trainer's TOML files, settings of the kohya_ss GUI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomlkit

from gui.engine.plan.dataset_options import arguments_from_dataset
from gui.engine.plan.dataset_toml import dataset_toml
from gui.engine.plan.families import script_for
from gui.engine.plan.model import LaunchSettings, TrainingPlan
from gui.engine.plan.paths import absolute, with_paths
from gui.engine.plan.preset_filling import fill_plan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.tokens import without_secrets
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue, ScriptArguments
from gui.engine.trainer.quoting import Shell, cmd_words, posix_words, powershell_command, powershell_words
from gui.engine.trainer.values import Words, words_for

_CONTINUED = {"posix": " \\\n  ", "cmd": " ^\n  ", "powershell": " `\n  "}


@dataclass(frozen=True)
class Exported:
    """A plan in another program's form.

    Attributes:
        text: The content of the file.
        beside: Files that it names, which must lie in the same folder: name to content.
        notes: What could not be said in that form.
    """

    text: str
    beside: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass
class Exportable:
    """A plan as other programs need it: presets filled in, paths absolute, no tokens.

    Attributes:
        plan: That plan.
        script: Its script's arguments.
        folder: Where the exported files will lie.
        stem: What the names of files beside begin with.
    """

    plan: TrainingPlan
    script: ScriptArguments
    folder: Path
    stem: str
    notes: list[str] = field(default_factory=list)

    def arguments_and_dataset(self, *, inline: bool) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the arguments, and the dataset file where one is needed.

        Args:
            inline: Whether the dataset goes among the arguments where it can be said there.
        """
        arguments, dataset = dict(self.plan.arguments), self.plan.dataset
        if not dataset:
            return arguments, {}
        told = arguments_from_dataset(dataset, self.folder)
        bare = not (dataset.get("subsets") or dataset.get("datasets")) and not told.left
        if bare or (inline and not told.left):
            return {**told.arguments, **arguments}, {}
        name = f"{self.stem}.dataset.toml"
        arguments["dataset_config"] = str(self.folder / name)
        return arguments, {name: dataset_toml(dataset, self.folder)}


def exportable(
    plan: TrainingPlan, base: Path, target: Path, catalogue: Catalogue, library: PresetLibrary | None = None
) -> Exportable:
    """Fill in what presets and family say, and make paths absolute.

    Args:
        plan: The plan.
        base: The folder against which its relative paths are meant.
        target: The file that will be written.
        catalogue: The trainer's arguments.
        library: The presets that the plan may name.

    Raises:
        PlanNotRunnable: Neither script nor family and kind tell what to run.
        ScriptNotUsable: The trainer lacks the script.
    """
    script = catalogue.script(script_for(plan))
    filled = fill_plan(plan, library, script.arguments).plan
    data = with_paths(without_secrets(filled.data()), lambda value: absolute(value, base), base)
    absolute_plan = TrainingPlan.model_validate({**data, "script": script.name})
    return Exportable(absolute_plan, script, target.absolute().parent, target.stem or "plan")


def export_command(ready: Exportable, shell: Shell) -> Exported:
    """Return a command line for ``accelerate launch``, one argument a line.

    Raises:
        WrongUsage: A value cannot be typed in that shell.
    """
    arguments, beside = ready.arguments_and_dataset(inline=True)
    words = [*launch_words(ready.plan.launch), ready.script.name, *_spelled(ready, arguments)]
    quoted = {"posix": posix_words, "cmd": cmd_words, "powershell": powershell_words}[shell](words)
    lines: list[str] = []
    for word, shown in zip(words, quoted, strict=True):
        if lines and not word.startswith("--"):
            lines[-1] += f" {shown}"
        else:
            lines.append(shown)
    joined = _CONTINUED[shell]
    text = powershell_command(lines, joined) if shell == "powershell" else joined.join(lines)
    env = [_variable(name, value, shell) for name, value in ready.plan.launch.env.items()]
    return Exported("\n".join([*env, text]) + "\n", beside, tuple(ready.notes))


def _variable(name: str, value: str, shell: Shell) -> str:
    if shell == "posix":
        return f"export {name}={posix_words([value])[0]}"
    if shell == "cmd":
        return f'set "{name}={value}"'
    return f"$env:{name} = '{value.replace(chr(39), chr(39) * 2)}'"


def launch_words(launch: LaunchSettings) -> list[str]:
    """Return ``accelerate launch`` with the settings that differ from its own."""
    words = ["accelerate", "launch", f"--num_cpu_threads_per_process={launch.num_cpu_threads_per_process}"]
    if launch.num_processes > 1:
        words += ["--multi_gpu", f"--num_processes={launch.num_processes}"]
    if launch.num_machines > 1:
        words.append(f"--num_machines={launch.num_machines}")
    if launch.dynamo_backend != "no":
        words.append(f"--dynamo_backend={launch.dynamo_backend}")
    if launch.gpu_ids:
        words.append(f"--gpu_ids={','.join(map(str, launch.gpu_ids))}")
    return words


def _spelled(ready: Exportable, arguments: Mapping[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in arguments.items():
        row = ready.script.arguments.get(name)
        spelled = words_for(row, value) if row else None
        if isinstance(spelled, Words):
            words += spelled.words
        elif value is not None:
            ready.notes.append(cannot_say(name))
    return words


def cannot_say(name: str) -> str:
    """Say that a setting does not go into this form."""
    return _("{name} cannot be said in this form and is left out.").format(name=name)


def export_toml(ready: Exportable) -> Exported:
    """Return the trainer's two files: arguments for ``--config_file``, and the dataset beside them."""
    arguments, beside = ready.arguments_and_dataset(inline=False)
    document = tomlkit.document()
    document.add(tomlkit.comment(f"script: {ready.script.name}"))
    for name, value in arguments.items():
        if value is None:
            continue
        if name not in ready.script.arguments:
            ready.notes.append(cannot_say(name))
        else:
            document.add(name, tomlkit.item(value))
    launch = ready.plan.launch
    if launch != LaunchSettings():
        ready.notes.append(_("How accelerate is started cannot be said in these files."))
    return Exported(tomlkit.dumps(document), beside, tuple(ready.notes))
