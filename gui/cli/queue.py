"""``queue``: plans in a row on each GPU, started one after the other without anybody there."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from gui.cli.context import home
from gui.cli.plan_input import add_script_argument
from gui.cli.queue_add import add_add_arguments, add_plans
from gui.cli.queue_list import print_queue
from gui.engine.errors import WrongUsage
from gui.engine.runs.queue_session import ensure_scheduler
from gui.engine.runs.queue_store import QueueStore
from gui.engine.texts import _

Act = Callable[[QueueStore, argparse.Namespace], bool | None]


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
    store = QueueStore(home(options))
    done = _actions()[options.action](store, options)
    ensure_scheduler(store)
    if options.action == "list" or options.json:
        print_queue(store, json=options.json)
    return 1 if done is False else 0


def _actions() -> dict[str, Act]:
    return {
        "list": _nothing,
        "add": add_plans,
        "remove": lambda store, options: _each(options, store.remove),
        "retry": lambda store, options: _each(options, store.retry),
        "clear": _clear,
        "move": _move,
        "pause": lambda store, options: store.pause(_lanes(options)),
        "continue": lambda store, options: store.go_on(_lanes(options)),
        "start": _nothing,
        "policy": _policy,
    }


def _nothing(_store: QueueStore, options: argparse.Namespace) -> None:
    """Only look, or see that a scheduler lives."""
    if options.words:
        raise WrongUsage(_("“{action}” takes no more words").format(action=options.action))


def _clear(store: QueueStore, options: argparse.Namespace) -> None:
    _nothing(store, options)
    store.clear()


def _move(store: QueueStore, options: argparse.Namespace) -> None:
    numbers = _numbers(options)
    if len(numbers) != 2:
        raise WrongUsage(_("“move” needs a number and its new place"))
    store.move(numbers[0], numbers[1] - 1)


def _policy(store: QueueStore, options: argparse.Namespace) -> None:
    if options.words not in (["continue"], ["stop"]):
        raise WrongUsage(_("“policy” needs one word: continue or stop"))
    store.set_policy(options.words[0])


def _each(options: argparse.Namespace, act: Callable[[int], object]) -> None:
    for number in _numbers(options):
        act(number)


def _numbers(options: argparse.Namespace) -> list[int]:
    if not options.words or not all(word.isdecimal() for word in options.words):
        raise WrongUsage(_("“{action}” needs numbers, as “queue” shows them").format(action=options.action))
    return [int(word) for word in options.words]


def _lanes(options: argparse.Namespace) -> list[str]:
    return [str(number) for number in options.gpu]
