"""``runs [--json]``: the runs on this machine, newest first."""

from __future__ import annotations

import argparse

from gui.cli.context import home
from gui.engine.runs.figures import duration, figure
from gui.engine.runs.listing import RunEntry, list_runs
from gui.engine.runs.words import verdict_words
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    place = home(options)
    listed = list_runs(place)
    if options.json:
        print(listed.model_dump_json(by_alias=True, indent=2))
        return 0
    if not listed.runs:
        print(_("No runs yet in {folder}.").format(folder=place.runs))
    width = max((len(entry.name) for entry in listed.runs), default=0)
    for entry in listed.runs:
        print(f"{entry.name:<{width}}  {_words(entry)}")
    return 0


def _words(entry: RunEntry) -> str:
    if entry.state is None:
        return entry.problem
    parts = [_("practice")] if entry.practice else []
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
    return " · ".join(parts)
