"""``queue add``: checks plans and puts them into the queue."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from gui.cli.context import trainer_of
from gui.cli.launching import add_launch_options, say_findings
from gui.cli.progress import plain
from gui.engine.errors import WrongUsage
from gui.engine.importers.reading import PlanInput, read_setup
from gui.engine.runs.queue_foresight import Foresight
from gui.engine.runs.queue_hours import next_moment
from gui.engine.runs.queue_look import look_again, look_ahead
from gui.engine.runs.queue_store import QueueStore, Wish
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue


def add_add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of adding."""
    group = parser.add_argument_group(_("add; retry takes --accept"))
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
    wishes = [_wish(store, plan, options, moment) for plan in plans]
    wanted = [(plan, wish) for plan, wish in zip(plans, wishes, strict=True) if wish is not None]
    if len(wanted) < len(plans):
        return False
    for plan, wish in wanted:
        item = store.add(plan.file, wish)
        text = _("Number {number} in the queue: {name}")
        print(text.format(number=item.number, name=plain(item.name)))
    return True


def retry_items(store: QueueStore, numbers: Sequence[int], accepted: Sequence[str]) -> bool:
    """Let items wait for their turn again; all or none.

    Returns:
        False when one of them would be refused again, which is said.
    """
    items = [store.item(number) for number in numbers]
    for item in items:
        item.require_over()
    refused = _("{name} would be refused at its turn; changes of its plan file since do not count.")
    well = [_is_foreseen_well(item.name, look_again(store, item, accepted), refused) for item in items]
    if not all(well):
        return False
    for number in numbers:
        store.retry(number, accepted)
    return True


def _is_foreseen_well(name: str, foresight: Foresight, refused: str) -> bool:
    """Say what would refuse a plan at its turn; return whether it can wait for it."""
    if foresight.lasting:
        print(refused.format(name=plain(name)), file=sys.stderr)
        say_findings(foresight.lasting)
        return False
    for finding in foresight.passing:
        text = _("As things are now {name} would be refused: {reason}")
        print(text.format(name=plain(name), reason=finding.title), file=sys.stderr)
    return True


def _wish(
    store: QueueStore, plan: PlanInput, options: argparse.Namespace, moment: datetime | None
) -> Wish | None:
    """Return how a plan is to be started; None when it could not be whenever its turn comes."""
    file = plan.file
    file.require_known()
    trainer = trainer_of(options, file.plan, options.practice, base=file.base)
    gpus = tuple(options.gpu)
    foresight = look_ahead(store, file, trainer, options.accept, gpus=gpus, given=plan.findings)
    if not _is_foreseen_well(file.plan.name, foresight, _("{name} was not put into the queue.")):
        return None
    if plan.secrets:
        text = _("The tokens in {name} are left out; its run gets those of the system's keyring.")
        print(text.format(name=file.plan.name), file=sys.stderr)
    return Wish(
        install=trainer.install,
        gpus=gpus,
        accepted=tuple(options.accept),
        not_before=moment,
        when_free=options.when_free,
    )
