"""``fix PLAN -o OUT``: applies fixes and prints the changes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from gui.cli import check
from gui.cli.context import home, token_store
from gui.engine.errors import KeyringRefused, WrongUsage
from gui.engine.plan.changes import ACTION, Change, differences
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.tokens import is_token_variable, tokens_in
from gui.engine.preflight.actions import CONVERT_CAPTIONS, END_RUN, KEEP_TOKEN
from gui.engine.preflight.caption_conversion import convert_captions
from gui.engine.preflight.check import Checker
from gui.engine.preflight.fixing import Fixed, apply_named_fixes, apply_safe_fixes
from gui.engine.redaction import HIDDEN, SECRET_ARGUMENTS, redact_text
from gui.engine.runs.end_run import end_run
from gui.engine.texts import _, ngettext
from gui.engine.token_store import kept_words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    check.add_arguments(parser)
    parser.add_argument(
        "--only", nargs="+", metavar="ID", help=_("apply only these, as ID or ID:FIX, also unsafe ones")
    )
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help=_("where the new plan goes"))


def run(options: argparse.Namespace) -> int:
    """Write the mended plan and print what was changed.

    Returns:
        1 when a stop finding remains, else 0.
    """
    given, checker = check.prepare(options)
    given.file.require_known()
    for note in given.file.notes:
        print(note, file=sys.stderr)
    plan = given.file.plan
    unknown: tuple[str, ...] = ()
    if options.only:
        fixed, unknown = apply_named_fixes(plan, options.only, checker.findings)
    else:
        fixed = apply_safe_fixes(plan, checker.findings)
    if unknown:
        raise WrongUsage(_("There is no such finding or fix now: {names}").format(names=", ".join(unknown)))
    kept = _keep_tokens(options, plan, fixed)
    given.file.save(fixed.plan, Path(options.output))
    for line in [*kept, *_end_runs(options, fixed), *_convert(checker, plan, fixed)]:
        print(line, file=sys.stderr)
    _tell(options, plan, fixed)
    return 1 if any(finding.severity == "stop" for finding in fixed.remaining) else 0


def _keep_tokens(options: argparse.Namespace, plan: TrainingPlan, fixed: Fixed) -> list[str]:
    """Put the tokens that are to be moved into the keyring; where that fails, nothing is written.

    Raises:
        KeyringRefused: There is no keyring that could be used.
        NotAToken: What the plan holds is none.
    """
    places = {done.finding.where for done in fixed.applied if done.fix.changes.get(ACTION) == KEEP_TOKEN}
    store, said = token_store(options), []
    for found in tokens_in(plan):
        if found.target in places:
            place = store.keep(found.name, found.secret.reveal())
            if place == "memory":
                raise KeyringRefused(found.name, store.problem)
            said.append(kept_words(found.name, place, store.problem))
    return said


def _end_runs(options: argparse.Namespace, fixed: Fixed) -> Iterator[str]:
    """End the runs that were named, and say what was done.

    Raises:
        CannotEnd: Something lives on in spite of force.
    """
    for done in fixed.applied:
        if done.fix.changes.get(ACTION) == END_RUN:
            folder = home(options).runs / str(done.finding.where)
            count = end_run(folder, "terminal")
            text = ngettext(
                "{count} process of the run {name} was ended.",
                "{count} processes of the run {name} were ended.",
                count,
            )
            yield text.format(count=count, name=folder.name)


def _convert(checker: Checker, plan: TrainingPlan, fixed: Fixed) -> Iterator[str]:
    """Convert the captions of the subsets that were named, and say what was done.

    Raises:
        CannotRead: A folder cannot be listed.
        CannotWrite: A caption cannot be written.
    """
    wanted = (done for done in fixed.applied if done.fix.changes.get(ACTION) == CONVERT_CAPTIONS)
    for target in dict.fromkeys(str(done.finding.where) for done in wanted):
        yield f"{target}: {convert_captions(checker, plan, target).words()}"


def _tell(options: argparse.Namespace, before: TrainingPlan, fixed: Fixed) -> None:
    if not fixed.applied:
        print(_("Nothing was changed."))
    for done in fixed.applied:
        print(f"{done.finding.title} ({done.finding.id}) → {done.fix.label}")
        if done.fix.changes.get(ACTION) not in (None, KEEP_TOKEN, END_RUN, CONVERT_CAPTIONS):
            print(
                "  "
                + _("This is no value of the plan; do it by hand: {name}").format(
                    name=done.fix.changes[ACTION]
                )
            )
    for change in differences(before, fixed.plan):
        print(f"  {change.target}: {_shown(change, change.before)} → {_shown(change, change.after)}")
    stops = [finding for finding in fixed.remaining if finding.severity == "stop"]
    for finding in stops:
        print(_("still a stop: {title} ({id})").format(title=finding.title, id=finding.id), file=sys.stderr)
    print(_("written: {path}").format(path=options.output))


def _shown(change: Change, value: object) -> str:
    if value is None:
        return "—"
    name = change.target.removeprefix("env.")
    is_token = name in SECRET_ARGUMENTS or is_token_variable(name)
    return HIDDEN if is_token else redact_text(str(value))
