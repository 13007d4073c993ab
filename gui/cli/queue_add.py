"""``queue add``: checks plans and puts them into the queue."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from pathlib import Path

from gui.cli.context import home, trainer_of
from gui.cli.launching import add_launch_options, say_findings
from gui.engine.errors import WrongUsage
from gui.engine.importers.reading import PlanInput, read_setup
from gui.engine.runs.preparing import look_before_launch
from gui.engine.runs.queue_foresight import foresee
from gui.engine.runs.queue_hours import next_moment
from gui.engine.runs.queue_store import QueueStore, Wish
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue


def add_add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of adding."""
    group = parser.add_argument_group(_("add"))
    group.add_argument("--at", metavar="HH:MM", help=_("do not start before this hour"))
    group.add_argument(
        "--when-free",
        action="store_true",
        help=_("wait until the GPU has the memory that the plan is expected to need"),
    )
    add_launch_options(group)


def add_plans(store: QueueStore, options: argparse.Namespace) -> bool:
    """Put plans at the end of the queue; all or none, since half of them would be a surprise.

    Returns:
        False when one of them would be refused at its turn, which is said.
    """
    if not options.words:
        raise WrongUsage(_("“add” needs a plan"))
    moment = next_moment(options.at, datetime.now()) if options.at else None
    plans = [read_setup(Path(word), options.script, Catalogue.bundled()) for word in options.words]
    wishes = [_wish(plan, options, moment) for plan in plans]
    wanted = [(plan, wish) for plan, wish in zip(plans, wishes, strict=True) if wish is not None]
    if len(wanted) < len(plans):
        return False
    for plan, wish in wanted:
        item = store.add(plan.file, wish)
        print(_("Number {number} in the queue: {name}").format(number=item.number, name=item.name))
    return True


def _wish(plan: PlanInput, options: argparse.Namespace, moment: datetime | None) -> Wish | None:
    """Return how a plan is to be started; None when it could not be whenever its turn comes."""
    file = plan.file
    file.require_known()
    trainer = trainer_of(options, file.plan, options.practice, base=file.base)
    look = look_before_launch(home(options), trainer, file.base, plan.findings)
    lasting, passing = foresee(look.judge(file), options.accept)
    if lasting:
        print(_("{name} was not put into the queue.").format(name=file.plan.name), file=sys.stderr)
        say_findings(lasting)
        return None
    for finding in passing:
        text = _("As things are now {name} would be refused: {reason}")
        print(text.format(name=file.plan.name, reason=finding.title), file=sys.stderr)
    if plan.secrets:
        text = _("The tokens in {name} are left out; its run gets those of the system's keyring.")
        print(text.format(name=file.plan.name), file=sys.stderr)
    return Wish(
        install=trainer.install,
        gpus=tuple(options.gpu),
        accepted=tuple(options.accept),
        not_before=moment,
        when_free=options.when_free,
    )
