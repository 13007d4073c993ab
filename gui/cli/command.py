"""``command PLAN``: the exact command line that would run."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from gui.cli.context import home, token_store, trainer_of
from gui.cli.plan_input import add_plan_arguments, plan_of
from gui.engine.documents import write_atomically
from gui.engine.errors import PlanNotRunnable
from gui.engine.findings import Finding
from gui.engine.hardware.gpu import machine_gpus
from gui.engine.hardware.visible import lasting_names
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.plan_file import PlanFile
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.runs.folder import safe_name
from gui.engine.texts import _
from gui.engine.trainer.command import TrainerCommand, build_command
from gui.engine.trainer.preview import ShownCommand, preview
from gui.engine.trainer.quoting import SHELLS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    add_plan_arguments(parser)
    parser.add_argument(
        "--shell",
        choices=SHELLS,
        default="powershell" if os.name == "nt" else "posix",
        help=_("the shell to quote for"),
    )
    parser.add_argument("--practice", action="store_true", help=_("for the built-in practice trainer"))
    parser.add_argument(
        "--write",
        metavar="DIR",
        help=_("write the files that the command reads there, so that it can be run by hand"),
    )
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def run(options: argparse.Namespace) -> int:
    """Print the command, or why there is none.

    Returns:
        1 when the plan cannot run, else 0.
    """
    planfile = plan_of(options).file
    planfile.require_known()
    for note in planfile.notes:
        print(note, file=sys.stderr)
    folder = Path(options.write).absolute() if options.write else _next_run(options, planfile.plan)
    try:
        command = _command(options, planfile, folder)
    except PlanNotRunnable as refusal:
        return _refused(options, folder, refusal.findings)
    if options.write:
        for path, text in command.files(folder).items():
            write_atomically(path, text)
    text = preview(command, options.shell, folder)
    if options.json:
        shown = ShownCommand(command=command.redacted(), shell=options.shell, text=text, run_folder=folder)
        print(shown.model_dump_json(by_alias=True, indent=2))
    else:
        print(text, end="")
    return 0


def _command(options: argparse.Namespace, planfile: PlanFile, folder: Path) -> TrainerCommand:
    install, facts, catalogue = trainer_of(options, planfile.plan, options.practice, base=planfile.base)
    chosen = planfile.plan.launch.gpu_ids
    names = lasting_names(machine_gpus().devices()) if chosen else []
    return build_command(
        planfile.plan,
        planfile.base,
        install,
        facts,
        catalogue,
        folder,
        tokens=token_store(options).for_preview({**os.environ, **planfile.plan.launch.env}),
        gpu_uuids=names,
        library=PresetLibrary(home(options).presets),
    )


def _next_run(options: argparse.Namespace, plan: TrainingPlan) -> Path:
    """The folder is made at launch and bears its time; until then a placeholder stands for it."""
    return home(options).runs / f"YYYYMMDD-HHMMSS-{safe_name(plan.name)}"


def _refused(options: argparse.Namespace, folder: Path, findings: tuple[Finding, ...]) -> int:
    if options.json:
        shown = ShownCommand(shell=options.shell, run_folder=folder, findings=findings)
        print(shown.model_dump_json(by_alias=True, indent=2))
    for finding in findings:
        print(f"{finding.id}: {finding.title} {finding.detail}".rstrip(), file=sys.stderr)
    return 1
