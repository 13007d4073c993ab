"""``import FILE``: makes a plan of what other programs write, and says what was changed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from gui.cli.context import token_store
from gui.cli.plan_input import add_script_argument, plan_of, require_free
from gui.engine.errors import NotAToken
from gui.engine.importers.imported import ImportReport
from gui.engine.importers.reading import PlanInput
from gui.engine.plan.tokens import tokens_in, without_secrets
from gui.engine.redaction import SECRET_ARGUMENTS, Secret
from gui.engine.texts import _
from gui.engine.token_store import TokenStore, kept_words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument(
        "plan",
        metavar="FILE",
        help=_(
            "a script (.sh, .bat, .ps1), a command line, settings of the kohya_ss GUI or of "
            "LoRA_Easy_Training_Scripts, a TOML file of the trainer, or a trained file; - is the input"
        ),
    )
    add_script_argument(parser)
    parser.add_argument("-o", "--output", metavar="PLAN", help=_("where the plan goes; else it is printed"))
    parser.add_argument("--overwrite", action="store_true", help=_("replace a file that is there"))
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def run(options: argparse.Namespace) -> int:
    """Write or print the plan; notes go to stderr."""
    target = Path(options.output) if options.output else None
    if target is not None:
        require_free(target, options.overwrite)
    given = plan_of(options)
    given.file.require_known()
    if target is not None:
        given.file.save(given.file.plan, target)
    kept = keep_tokens(token_store(options), secrets_of(given))
    if options.json:
        print(report_of(given, kept).model_dump_json(by_alias=True, indent=2))
        return 0
    for line in [*_remarks(given), *kept]:
        print(line, file=sys.stderr)
    if target is None:
        print(given.file.shown_text(), end="")
    else:
        print(_("written: {path}").format(path=target))
    return 0


def secrets_of(given: PlanInput) -> dict[str, Secret]:
    """Return the tokens that stood in what was given, by the trainer's argument."""
    return {**{found.name: found.secret for found in tokens_in(given.file.plan)}, **given.secrets}


def keep_tokens(store: TokenStore, secrets: Mapping[str, Secret]) -> list[str]:
    """Move tokens into the keyring, and say what became of them."""
    said = []
    for name, secret in secrets.items():
        try:
            place = store.keep(name, secret.reveal())
        except NotAToken as error:
            said.append(str(error))
            continue
        if place == "keyring":
            said.append(kept_words(name, place, store.problem))
        else:  # this program ends now, and its memory with it
            text = _(
                "The token of {name} is not kept, for the system's keyring cannot be used: {problem}. "
                "Set the variable {variable} before a run."
            )
            variable = SECRET_ARGUMENTS[name]
            said.append(text.format(name=name, problem=store.problem, variable=variable))
    return said


def report_of(given: PlanInput, kept: Sequence[str] = ()) -> ImportReport:
    """Return what was read as a document, without tokens.

    Args:
        given: What was read.
        kept: What became of its tokens, in sentences.
    """
    return ImportReport(
        kind=given.kind,
        plan=type(given.file.plan).model_validate(without_secrets(given.file.plan.data())),
        notes=(*given.file.notes, *kept),
        findings=given.findings,
        secrets=tuple(secrets_of(given)),
    )


def _remarks(given: PlanInput) -> list[str]:
    found = [f"{finding.title} {finding.detail} ({finding.id})" for finding in given.findings]
    return [*given.file.notes, *found]
