"""Makes the exact command line of a plan: arguments, dataset file and environment. Never a shell."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.errors import NewerDocument, PlanNotRunnable
from gui.engine.findings import Finding
from gui.engine.plan.model import SCHEMA, TrainingPlan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.redaction import HIDDEN, redact_argv
from gui.engine.texts import _
from gui.engine.trainer.accelerate_launch import (
    CONFIG_NAME,
    accelerate_config_text,
    accelerate_words,
    has_accelerate,
    judge_launch,
)
from gui.engine.trainer.catalogue import Catalogue, ScriptArguments
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.final_file import final_file, output_name, save_extension
from gui.engine.trainer.installs import TrainerInstall
from gui.engine.trainer.launch_environment import (
    TOKEN_VARIABLES,
    added_variables,
    judge_environment,
    removed_variables,
)
from gui.engine.trainer.resolving import ResolvedPlan, resolve
from gui.engine.trainer.values import Words, words_for

DATASET_NAME = "dataset.toml"
TRACKER_NAME = "tracker"

LONGEST_WINDOWS_COMMAND = 32_766
"""Characters that CreateProcess takes; it needs one more for the end."""

_FIRST = (
    *("pretrained_model_name_or_path", "v2", "v_parameterization", "model_type", "vae", "clip_l", "clip_g"),
    *("t5xxl", "ae", "gemma2", "text_encoder", "byt5", "qwen3", "controlnet_model_name_or_path"),
    *("dataset_config", "output_dir", "output_name", "save_model_as", "save_precision"),
    *("save_every_n_epochs", "save_every_n_steps", "save_last_n_epochs", "save_last_n_steps", "save_state"),
    *("resume", "network_module", "network_dim", "network_alpha", "network_dropout", "network_args"),
    *("network_weights", "network_train_unet_only", "network_train_text_encoder_only"),
    *("learning_rate", "unet_lr", "text_encoder_lr", "optimizer_type", "optimizer_args", "max_grad_norm"),
    *("lr_scheduler", "lr_warmup_steps", "lr_scheduler_num_cycles", "lr_scheduler_args"),
    *("max_train_steps", "max_train_epochs", "gradient_accumulation_steps", "seed", "mixed_precision"),
)
"""The order in which people read a command; what is not here follows in the trainer's own order."""


class TrainerCommand(Document):
    """Everything that is needed to start a training, and what it will leave behind.

    Attributes:
        argv: The words, the interpreter first. No token is ever among them.
        cwd: The folder to run in: the trainer's own.
        environment: Variables to add; the only place where tokens stand. See ``redacted``.
        unset: Inherited variables to leave out.
        dataset_toml: The content of ``dataset.toml`` in the run folder; None when the plan brings
            a dataset file of its own.
        accelerate_config: The content of ``accelerate.yaml`` in the run folder; None without accelerate.
        python: The trainer's interpreter.
        script: The training script's file name.
        output_dir: Where models are saved, absolute.
        output_name: What their names begin with.
        logging_dir: Where the trainer's event files go; None when it writes none that can be read.
        save_extension: Of what is saved: ``".safetensors"``; ``""`` for a folder; None when unknown.
        expected_final: The last file of a finished run; None when it cannot be told.
        notes: What was done with the plan that a user should know.
    """

    argv: tuple[str, ...]
    cwd: Path
    environment: dict[str, str] = Field(default_factory=dict, repr=False)
    unset: tuple[str, ...] = ()
    dataset_toml: str | None = None
    accelerate_config: str | None = None
    python: Path
    script: str
    output_dir: Path
    output_name: str
    logging_dir: Path | None = None
    save_extension: str | None = None
    expected_final: Path | None = None
    notes: tuple[str, ...] = ()

    def files(self, run_folder: Path) -> dict[Path, str]:
        """Return what must lie in the run folder before the start: path to content."""
        wanted = {DATASET_NAME: self.dataset_toml, CONFIG_NAME: self.accelerate_config}
        return {run_folder / name: text for name, text in wanted.items() if text is not None}

    def child_environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the trainer's whole environment, made from what it would inherit."""
        kept = {name: value for name, value in environ.items() if name not in self.unset}
        return kept | self.environment

    def secrets(self) -> tuple[str, ...]:
        """Return the tokens that stand in the environment."""
        return tuple(value for name, value in self.environment.items() if name in TOKEN_VARIABLES and value)

    def redacted(self) -> TrainerCommand:
        """Return the command as it may be shown and written."""
        secrets = self.secrets()
        hidden = {name: HIDDEN if value in secrets else value for name, value in self.environment.items()}
        return self.model_copy(update={"environment": hidden, "argv": tuple(redact_argv(self.argv, secrets))})


@dataclass(frozen=True)
class _Start:
    """What surrounds the plan: who runs it, where, with which tokens and devices."""

    install: TrainerInstall
    facts: TrainerFacts
    run_folder: Path
    tokens: Mapping[str, str]
    gpu_uuids: Sequence[str]
    environ: Mapping[str, str]


def build_command(  # noqa: PLR0917 – the parts of a start, in the order in which they are found
    plan: TrainingPlan,
    base: Path,
    install: TrainerInstall,
    facts: TrainerFacts,
    catalogue: Catalogue,
    run_folder: Path,
    *,
    tokens: Mapping[str, str] | None = None,
    gpu_uuids: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
    library: PresetLibrary | None = None,
) -> TrainerCommand:
    """Return the command that trains a plan.

    Nothing is written or started. Arguments go on the command line, never into the trainer's
    ``--config_file``, which skips its own checks; the dataset goes into a file.

    Args:
        plan: What the user wants.
        base: The folder of the plan file, against which relative paths are meant.
        install: The trainer.
        facts: What is known about it.
        catalogue: Its arguments.
        run_folder: Where the run will keep its files.
        tokens: Variable to token, for the environment.
        gpu_uuids: UUIDs of all NVIDIA devices in NVML's order; ``launch.gpu_ids`` counts in it.
        environ: What the trainer would inherit; None takes this process's own.
        library: The presets that the plan may name; None takes the program's own.

    Raises:
        PlanNotRunnable: Something is unknown, wrong or missing; it carries the findings.
        ScriptNotUsable: The trainer lacks the script, or cannot import it.
        NewerDocument: A newer version of this program wrote the plan.
    """
    if plan.schema_ > SCHEMA:
        raise NewerDocument(base / plan.name, plan.schema_, SCHEMA)
    inherited = os.environ if environ is None else environ
    start = _Start(install, facts, run_folder.absolute(), tokens or {}, gpu_uuids, inherited)
    resolved = resolve(plan, base, catalogue, library=library)
    findings = [
        *resolved.findings,
        *judge_launch(plan.launch, facts),
        *judge_environment(plan.launch, gpu_uuids),
    ]
    _refuse([finding for finding in findings if finding.severity == "stop"])
    command = _command(plan, resolved, start)
    _refuse([*_token_in_words(command), *_too_long(command, facts)])
    return command


def _refuse(findings: list[Finding]) -> None:
    if findings:
        raise PlanNotRunnable(findings)


def _command(plan: TrainingPlan, resolved: ResolvedPlan, start: _Start) -> TrainerCommand:
    arguments, logging_dir = _with_tracker(resolved, start)
    if resolved.dataset_toml is not None:
        arguments["dataset_config"] = str(start.run_folder / DATASET_NAME)
    with_accelerate = has_accelerate(start.facts)
    precision = str(arguments.get("mixed_precision") or "no")
    launcher = (
        accelerate_words(plan.launch, start.facts, start.run_folder, precision) if with_accelerate else []
    )
    tokens = {**start.tokens, **resolved.tokens}
    added = added_variables(plan.launch, start.gpu_uuids, tokens, start.environ)
    script = str(start.install.root.absolute() / resolved.script.name)
    return TrainerCommand(
        argv=(str(start.install.python), *launcher, script, *_words(arguments, resolved.script)),
        cwd=start.install.root.absolute(),
        environment=added,
        unset=removed_variables(start.environ, added),
        dataset_toml=resolved.dataset_toml,
        accelerate_config=accelerate_config_text(start.facts) if with_accelerate else None,
        python=start.install.python,
        script=resolved.script.name,
        output_dir=Path(str(arguments["output_dir"])),
        output_name=output_name(arguments),
        logging_dir=logging_dir,
        save_extension=save_extension(arguments, resolved.script),
        expected_final=final_file(arguments, resolved.script),
        notes=resolved.notes,
    )


def _with_tracker(resolved: ResolvedPlan, start: _Start) -> tuple[dict[str, Any], Path | None]:
    """Switch the trainer's own event files on, which alone tell the loss of each step.

    The user's choice stands. ``tensorboard`` without a folder is refused by the trainer, so the
    run's own folder is filled in (train_util.py:5441-5454).
    """
    arguments = dict(resolved.arguments)
    known = resolved.script.arguments.keys() >= {"log_with", "logging_dir"}
    chosen, folder = arguments.get("log_with"), arguments.get("logging_dir")
    if chosen == "wandb" or (chosen is None and not folder and "tensorboard" not in start.facts.packages):
        return arguments, None
    if not known:
        return arguments, None
    if not folder:
        arguments["logging_dir"] = str(start.run_folder / TRACKER_NAME)
    arguments["log_with"] = chosen or "tensorboard"
    return arguments, Path(str(arguments["logging_dir"]))


def _words(arguments: Mapping[str, Any], script: ScriptArguments) -> list[str]:
    """Spell the arguments, judged before, in an order that stays the same from run to run."""
    order = {name: place for place, name in enumerate(dict.fromkeys((*_FIRST, *_names(script))))}
    words: list[str] = []
    for name in sorted(arguments, key=order.__getitem__):
        judged = words_for(script.arguments[name], arguments[name])
        if isinstance(judged, Words):
            words += judged.words
    return words


def _names(script: ScriptArguments) -> list[str]:
    return [row.dest for row in script.rows]


def _token_in_words(command: TrainerCommand) -> Iterator[Finding]:
    """Keep tokens out of the command line, which every user of the machine can see."""
    secrets = command.secrets()
    hidden = redact_argv(command.argv, secrets)
    flag = ""
    for word, shown in zip(command.argv, hidden, strict=True):
        flag = word.split("=", 1)[0].removeprefix("--") if word.startswith("--") else flag
        if word != shown:
            yield Finding(
                id="secret-in-arguments",
                severity="stop",
                title=_("{name} holds a token.").format(name=flag),
                detail=_(
                    "Everybody on this machine can read a command line. Take the token out and set it as a "
                    "variable of the environment."
                ),
                arguments=(flag,),
                where=flag,
            )


def _too_long(command: TrainerCommand, facts: TrainerFacts) -> Iterator[Finding]:
    length = len(subprocess.list2cmdline(command.argv))
    if (facts.platform or os.name) in ("win32", "nt") and length > LONGEST_WINDOWS_COMMAND:
        yield Finding(
            id="command-too-long",
            severity="stop",
            title=_("The command line has {length} characters; Windows takes {most}.").format(
                length=length, most=LONGEST_WINDOWS_COMMAND
            ),
            detail=_("Shorter paths and fewer network_args would help."),
        )
