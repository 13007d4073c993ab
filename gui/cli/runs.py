"""``runs [WORD…] [--json]``: the runs on this machine, newest first, all or those that are looked for."""

from __future__ import annotations

import argparse
import time

from gui.cli.context import home
from gui.cli.progress import plain
from gui.engine.runs.figures import duration, figure
from gui.engine.runs.listing import list_runs
from gui.engine.runs.run_entry import RunEntry
from gui.engine.runs.run_search import KINDS, RunFilter, words_of
from gui.engine.runs.words import verdict_words
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument("words", nargs="*", metavar="WORD", help=_("only runs in which each of these occurs"))
    parser.add_argument("--kind", choices=KINDS, default="all", help=_("only runs that went like this"))
    parser.add_argument("--family", default="", metavar="NAME", help=_("only runs of this model family"))
    parser.add_argument("--tag", default="", help=_("only runs with this tag"))
    parser.add_argument("--favourite", action="store_true", help=_("only runs with a star"))
    parser.add_argument(
        "--since", metavar="DAY", type=_day, help=_("launched on this day or later: 2026-11-30")
    )
    parser.add_argument("--until", metavar="DAY", type=_day, help=_("launched before this day"))
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    place = home(options)
    wanted = RunFilter(
        kind=options.kind,
        words=words_of(" ".join(options.words)),
        family=options.family,
        tag=options.tag,
        favourite=options.favourite,
        since=options.since,
        until=options.until,
    )
    listed = list_runs(place, wanted)
    if options.json:
        print(listed.model_dump_json(by_alias=True, indent=2))
        return 0
    if not listed.runs:
        nothing = _("No runs yet in {folder}.") if wanted.is_any else _("No run in {folder} is like that.")
        print(nothing.format(folder=place.runs))
    width = max((len(entry.name) for entry in listed.runs), default=0)
    for entry in listed.runs:
        print(plain(f"{entry.name:<{width}}  {_words(entry)}"))
    return 0


def _day(text: str) -> float:
    """Return the beginning of a day, local time, in seconds since 1970."""
    return time.mktime(time.strptime(text, "%Y-%m-%d"))


def _words(entry: RunEntry) -> str:
    if entry.state is None:
        return entry.problem
    parts = ["★"] if entry.favourite else []
    parts += [_("practice")] if entry.practice else []
    parts.append(verdict_words(entry.verdict, entry.reason).text if entry.verdict else entry.state)
    if entry.family:
        parts.append(entry.family)
    if entry.step is not None:
        parts.append(_("step {step} of {total}").format(step=entry.step, total=entry.total or "?"))
    if entry.loss is not None:
        parts.append(_("loss {loss}").format(loss=figure(entry.loss)))
    if entry.duration_seconds is not None:
        parts.append(duration(entry.duration_seconds))
    if entry.problem:
        parts.append(entry.problem)
    parts += [f"#{tag}" for tag in entry.tags]
    return " · ".join(parts)
