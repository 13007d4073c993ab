"""``queue``: plans in a row on each GPU, started one after the other without anybody there."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from gui.cli.context import home
from gui.cli.plan_input import add_script_argument
from gui.cli.queue_add import add_add_arguments, add_plans, retry_items
from gui.cli.queue_list import print_queue
from gui.engine.errors import WrongUsage
from gui.engine.runs.queue_session import ensure_scheduler
from gui.engine.runs.queue_store import QueueStore
from gui.engine.texts import _

Act = Callable[[QueueStore, argparse.Namespace], object]

_OPTIONS = {
    "add": ("gpu", "at", "when_free", "accept", "practice", "script"),
    "retry": ("accept",),
    "pause": ("gpu",),
    "continue": ("gpu",),
}
"""Which options an action takes: one that is passed over in silence is a surprise hours later."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument(
        "action",
        nargs="?",
        default="list",
        choices=list(_actions()),
        metavar="ACTION",
        help=_("one of: {actions}; default: list").format(actions=", ".join(_actions())),
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help=_(
            "add: plan files; remove, retry: numbers; move: a number and its new place, 1 is the first; "
            "policy: continue or stop after a failure"
        ),
    )
    parser.add_argument(
        "--gpu",
        type=int,
        action="append",
        default=[],
        metavar="N",
        help=_("add: train on this GPU (repeat for several); pause, continue: only this one"),
    )
    parser.add_argument("--json", action="store_true", help=_("print the queue as one JSON document"))
    add_script_argument(parser)
    add_add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Do what is asked, and have a scheduler there where there is work; status 1 for a refused plan."""
    _require_meant(options)
    store = QueueStore(home(options))
    done = _actions()[options.action](store, options)
    try:
        ensure_scheduler(store)
    finally:  # it can be looked at all the same
        if options.action == "list" or options.json:
            print_queue(store, json=options.json)
    return 1 if done is False else 0


def _actions() -> dict[str, Act]:
    return {
        "list": _alone(lambda _store, _options: None),
        "add": add_plans,
        "remove": lambda store, options: [store.remove(number) for number in _numbers(store, options)],
        "retry": lambda store, options: retry_items(store, _numbers(store, options), options.accept),
        "clear": _alone(lambda store, _options: store.clear()),
        "move": _move,
        "pause": _alone(lambda store, options: store.pause(_lanes(options))),
        "continue": _alone(lambda store, options: store.go_on(_lanes(options))),
        "start": _alone(lambda _store, _options: None),
        "policy": _policy,
    }


def _alone(act: Act) -> Act:
    """Return an action that takes no words."""

    def checked(store: QueueStore, options: argparse.Namespace) -> object:
        if options.words:
            raise WrongUsage(_("“{action}” takes no more words").format(action=options.action))
        return act(store, options)

    return checked


def _require_meant(options: argparse.Namespace) -> None:
    """Refuse options that the action would pass over."""
    taken = _OPTIONS.get(options.action, ())
    for name in _OPTIONS["add"]:
        if getattr(options, name) and name not in taken:
            option = f"--{name.replace('_', '-')}"
            raise WrongUsage(
                _("“{action}” does not take {option}").format(action=options.action, option=option)
            )
    if any(number < 0 for number in options.gpu):
        raise WrongUsage(_("GPUs are counted from 0"))


def _move(store: QueueStore, options: argparse.Namespace) -> None:
    if len(options.words) != 2 or not all(word.isdecimal() for word in options.words):
        raise WrongUsage(_("“move” needs a number and its new place"))
    number, place = map(int, options.words)
    store.move(number, place - 1)


def _policy(store: QueueStore, options: argparse.Namespace) -> None:
    if options.words not in (["continue"], ["stop"]):
        raise WrongUsage(_("“policy” needs one word: continue or stop"))
    store.set_policy(options.words[0])


def _numbers(store: QueueStore, options: argparse.Namespace) -> list[int]:
    """Return the numbers that are meant; all of them are there, so that none is done in vain."""
    if not options.words or not all(word.isdecimal() for word in options.words):
        raise WrongUsage(_("“{action}” needs numbers, as “queue” shows them").format(action=options.action))
    numbers = list(dict.fromkeys(map(int, options.words)))
    for number in numbers:
        store.item(number)
    return numbers


def _lanes(options: argparse.Namespace) -> list[str]:
    return [str(number) for number in options.gpu]
