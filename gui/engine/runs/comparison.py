"""Puts two or more runs side by side: what they were told, what they ran on, how they went."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gui.engine.errors import PreflightError, RunRefused
from gui.engine.paths import Home
from gui.engine.runs.comparison_losses import loss_curve, loss_tables
from gui.engine.runs.comparison_models import Cell, ComparedRow, ComparedRun, Comparison
from gui.engine.runs.comparison_results import Fact, environment_of, results_of, titles
from gui.engine.runs.comparison_samples import sample_groups
from gui.engine.runs.comparison_settings import (
    PLACES,
    arguments_used,
    dataset_used,
    images_per_step,
    origins_of,
)
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.launched import launched_settings
from gui.engine.runs.listing import RunIndex
from gui.engine.runs.run_entry import RunEntry
from gui.engine.runs.start import read_status
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _


class _Side(NamedTuple):
    """What is known of one run."""

    run: ComparedRun
    arguments: Mapping[str, Cell]
    origins: Mapping[str, str]
    dataset: Mapping[str, Cell]
    environment: Mapping[str, Fact]
    results: Mapping[str, Fact]


def compare(runs: Sequence[RunFolder], home: Home, *, norms: bool = True) -> Comparison:
    """Put runs side by side, in the order in which they are given.

    What cannot be read of one of them is left out.

    Args:
        runs: Two or more, over or not.
        home: Holds the user's presets, which tell where values come from.
        norms: Whether the numbers of their last files are looked at too, which takes seconds.

    Raises:
        RunRefused: It is only one.
    """
    if len({run.path for run in runs}) < 2:
        raise RunRefused(_("A comparison needs two runs or more."))
    sides = [_side(run, home, norms=norms) for run in runs]
    curves = [loss_curve(run, side.run.images_per_step) for run, side in zip(runs, sides, strict=True)]
    return Comparison(
        runs=tuple(side.run for side in sides),
        arguments=_rows([side.arguments for side in sides], [side.origins for side in sides]),
        dataset=_rows([side.dataset for side in sides]),
        environment=_rows_of_facts([side.environment for side in sides]),
        results=_rows_of_facts([side.results for side in sides], sort=False),
        losses=loss_tables(curves),
        samples=sample_groups(runs),
    )


def last_good(run: RunFolder, home: Home) -> RunFolder | None:
    """Return the newest finished run before this one that wrote under the same names, or had the same plan.

    Args:
        run: The run that is not as good.
        home: Where runs are kept.
    """
    entries = RunIndex(home).entries()
    own = next((entry for entry in entries if entry.folder == run.path), None)
    name = own.plan_name if own is not None else _plan_name(run)
    before = [entry for entry in entries if _is_good(entry) and entry.name < run.name]
    output = _output(run)
    same: tuple[Callable[[RunEntry], bool], ...] = (
        lambda entry: output is not None and _output(RunFolder(entry.folder)) == output,
        lambda entry: bool(name) and entry.plan_name == name,
    )
    for fits in same:
        found = next((entry for entry in before if fits(entry)), None)
        if found is not None:
            return RunFolder(found.folder)
    return None


def _is_good(entry: RunEntry) -> bool:
    return entry.verdict == "finished"


def _plan_name(run: RunFolder) -> str:
    status = _status(run)
    return status.plan_name if status is not None else ""


def _output(run: RunFolder) -> tuple[str, str] | None:
    settings = launched_settings(run)
    folder, name = settings.text("output_dir"), settings.text("output_name")
    return (str(Path(folder)), name) if folder and name else None


def _side(run: RunFolder, home: Home, *, norms: bool) -> _Side:
    status = _status(run)
    verdict = status.verdict if status is not None else None
    arguments = arguments_used(run)
    return _Side(
        run=ComparedRun(
            name=run.name,
            folder=run.path,
            plan_name=status.plan_name if status is not None else "",
            verdict=verdict.verdict if verdict is not None else None,
            reason=verdict.reason if verdict is not None else "",
            practice=status.practice if status is not None else False,
            images_per_step=images_per_step(run),
        ),
        arguments=arguments,
        origins=origins_of(run, home, arguments),
        dataset=dataset_used(run),
        environment=environment_of(run),
        results=results_of(status, norms=norms),
    )


def _status(run: RunFolder) -> RunStatus | None:
    try:
        return read_status(run)
    except PreflightError:
        return None


def _rows(
    sides: Sequence[Mapping[str, Cell]], origins: Sequence[Mapping[str, str]] = ()
) -> tuple[ComparedRow, ...]:
    """Return a row for each name, differing ones first; what only names places comes last."""
    rows = []
    known = titles()
    for name in dict.fromkeys(name for side in sides for name in side):
        values = tuple(side.get(name) for side in sides)
        last = name.rpartition(".")[2]
        rows.append(
            ComparedRow(
                id=name,
                title=name[: len(name) - len(last)] + known.get(last, last),
                values=values,
                shown=tuple("" if value is None else _text(value) for value in values),
                origins=tuple(
                    side.get(name) if value is not None else None
                    for side, value in zip(origins, values, strict=False)
                ),
                differs=_differ(values),
                place=last in PLACES,
            )
        )
    return tuple(sorted(rows, key=lambda row: (not row.differs, row.place)))


def _rows_of_facts(sides: Sequence[Mapping[str, Fact]], *, sort: bool = True) -> tuple[ComparedRow, ...]:
    known = titles()
    rows = []
    for name in (name for name in known if any(name in side for side in sides)):
        facts = [side.get(name) for side in sides]
        values = tuple(fact.value if fact is not None else None for fact in facts)
        shown = tuple(fact.shown if fact is not None else "" for fact in facts)
        rows.append(
            ComparedRow(id=name, title=known[name], values=values, shown=shown, differs=_differ(values))
        )
    return tuple(sorted(rows, key=lambda row: not row.differs) if sort else rows)


def _text(value: Cell) -> str:
    return _("yes") if value is True else _("no") if value is False else str(value)


def _differ(values: Sequence[Cell]) -> bool:
    """Whether values are not all the same; ``1e-4`` and ``0.0001`` are."""
    return len({_same(value) for value in values}) > 1


def _same(value: Cell) -> object:
    if isinstance(value, bool) or value is None:
        return (value,)
    try:
        return float(value)
    except ValueError:
        return value
