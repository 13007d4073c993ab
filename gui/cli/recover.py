"""``recover RUN``: after a run has ended, what to try next; as a plan, or launched at once."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from gui.cli.context import home, token_store
from gui.cli.launching import add_accept_option, launch, say_refusal, watch_launched
from gui.cli.plan_input import add_overwrite_argument, require_free
from gui.engine.errors import PlanNotRunnable, RunRefused, WrongUsage
from gui.engine.plan.changes import changes_in_words, difference_in_words
from gui.engine.runs.folder import RunFolder, find_run
from gui.engine.runs.records import Manifest
from gui.engine.runs.recovery import recovery_of
from gui.engine.runs.recovery_images import put_bad_aside
from gui.engine.runs.recovery_models import Recovery, RecoveryTry
from gui.engine.runs.recovery_plans import plan_of_try, run_checker
from gui.engine.runs.retry import prepare_try
from gui.engine.runs.settling import settle
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument("run", metavar="RUN", help=_("a run's folder, its name, or the beginning of it"))
    parser.add_argument("--try", dest="way", metavar="ID", help=_("which try; the first without it"))
    add_accept_option(parser)
    then = parser.add_mutually_exclusive_group()
    then.add_argument("-o", "--output", metavar="PLAN", help=_("write the plan of the try"))
    then.add_argument("--run", dest="launch", action="store_true", help=_("launch the try"))
    then.add_argument("--json", action="store_true", help=_("print one JSON document"))
    add_overwrite_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Tell what to try, or make it; status 1 when there is nothing to try.

    Raises:
        UnknownRun: There is no such run.
        WrongUsage: It has no such try, or the plan's file is there already.
    """
    if options.output:
        require_free(Path(options.output), options.overwrite)
    folder = find_run(home(options), options.run)
    if not settle(folder):
        print(_("The run has not ended yet."), file=sys.stderr)
        return 1
    recovery = recovery_of(folder)
    chosen = _chosen(recovery, options.way)
    if options.json:
        print(recovery.model_dump_json(by_alias=True, indent=2))
    elif chosen is not None and (options.output or options.launch):
        set_images_aside(folder, options, chosen)
        return _launch(folder, options, chosen) if options.launch else write_try(folder, options, chosen)
    else:
        print("\n".join(recovery_lines(recovery)))
    return 0 if recovery.tries or recovery.kind == "fine" else 1


def recovery_lines(recovery: Recovery) -> Iterator[str]:
    """Yield what recovery says, in lines."""
    yield recovery.happened
    if recovery.point_words:
        yield recovery.point_words
    for number, each in enumerate(recovery.tries, start=1):
        yield f"{number}. {each.title}  [{each.id}]"
        yield from (f"     {words}" for words in (each.effect, each.continues, *each.cautions) if words)
        for row in each.rows:
            yield f"     {difference_in_words(row.target, row.before, row.after)}"
    for title, lines in (
        (_("Outside of the plan:"), recovery.by_hand),
        (_("What cannot help:"), recovery.hopeless),
        (_("Left out:"), recovery.left_out),
    ):
        if lines:
            yield title
            yield from (f"  {line}" for line in lines)


def write_try(folder: RunFolder, options: argparse.Namespace, chosen: RecoveryTry) -> int:
    """Write the plan of a try, and say so."""
    file = plan_of_try(folder, chosen)
    file.save(file.plan, Path(options.output))
    text = _("Written: {path}, with {changes}.")
    print(text.format(path=options.output, changes=changes_in_words(chosen.changes) or _("no change")))
    return 0


def set_images_aside(folder: RunFolder, options: argparse.Namespace, chosen: RecoveryTry) -> None:
    """Move the images that a try leaves out, and say so; whoever chose the try has said yes to that."""
    if chosen.set_aside:
        checker = run_checker(folder, Manifest.read(folder.manifest), home(options))
        for name in put_bad_aside(folder, checker, chosen.set_aside):
            print(_("in quarantine now; “dataset … --restore” brings it back: {name}").format(name=name))


def _launch(folder: RunFolder, options: argparse.Namespace, chosen: RecoveryTry) -> int:
    manifest = Manifest.read(folder.manifest)
    tokens = {} if manifest.practice else token_store(options).for_run(os.environ)
    try:
        prepared = prepare_try(folder, manifest, home(options), chosen, tokens, accepted=options.accept)
    except (PlanNotRunnable, RunRefused) as error:
        return say_refusal(error)
    return watch_launched(prepared, launch(prepared, f"{chosen.title} ({prepared.run.name})"))


def _chosen(recovery: Recovery, way: str | None) -> RecoveryTry | None:
    if way is None:
        return next(iter(recovery.tries), None)
    chosen = recovery.try_of(way)
    if chosen is None:
        known = ", ".join(each.id for each in recovery.tries) or _("none")
        raise WrongUsage(_("there is no try “{id}”; there are: {known}").format(id=way, known=known))
    return chosen
