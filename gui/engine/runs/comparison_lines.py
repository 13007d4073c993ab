"""What a comparison says in plain lines, in a terminal, and as a table for other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from gui.engine.runs.comparison_models import ComparedRow, ComparedRun, Comparison, LossTable
from gui.engine.runs.figures import figure
from gui.engine.texts import _, ngettext

WIDEST = 46
"""Letters of a value; the middle of a longer one is left out, since both of its ends tell most."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def comparison_lines(found: Comparison, *, everything: bool = False) -> list[str]:
    """Return the comparison as lines.

    Args:
        found: The comparison.
        everything: Whether what is the same is told too.
    """
    lines = [f"{label_of(number)}  {run.name}" for number, run in enumerate(found.runs)]
    for title, rows in sections(found):
        shown = [row for row in rows if row.differs or everything]
        if title == results_title():
            shown = list(rows)
        if shown or rows:
            lines += ["", *_section(title, shown, len(found.runs), _same_count(rows, shown))]
    for table in found.losses:
        lines += ["", *_losses(table, len(found.runs))]
    lines += _sample_lines(found)
    return lines


def sections(found: Comparison) -> Iterator[tuple[str, tuple[ComparedRow, ...]]]:
    """Yield the parts of a comparison with their titles."""
    yield _("Arguments"), found.arguments
    yield _("Dataset"), found.dataset
    yield _("Environment"), found.environment
    yield results_title(), found.results


def results_title() -> str:
    """Return what the part is called that tells how the runs went."""
    return _("Results")


def label_of(number: int) -> str:
    """Return the letter of a run in a comparison."""
    return LETTERS[number] if number < len(LETTERS) else str(number + 1)


def origin_words(origin: str | None) -> str:
    """Return who said a value, in a word; empty where that is the plan itself, or nobody knows."""
    if origin is None or origin == "plan":
        return ""
    kind, _colon, name = origin.partition(":")
    return {
        "preset": _("preset {name}").format(name=name),
        "family": _("family"),
        "program": _("set by the program"),
    }.get(kind, "")


def same_words(count: int) -> str:
    """Say how many things are the same."""
    return ngettext("{count} is the same", "{count} are the same", count).format(count=count)


def table_title(table: LossTable) -> str:
    """Return what a table of losses is called."""
    return _("Mean loss by steps") if table.by == "steps" else _("Mean loss by images")


def cell_text(row: ComparedRow, number: int, most: int = 1 << 16) -> str:
    """Return the value of a run, cut to so many letters, with who said it where that is not the plan."""
    text = _cut(row.shown[number], most)
    origin = origin_words(row.origins[number] if number < len(row.origins) else None)
    return f"{text} ({origin})" if text and origin else text


def comparison_csv(found: Comparison) -> str:
    """Return the comparison as CSV: part, name, then a column a run."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["part", "name", *(run.name for run in found.runs)])
    parts = (
        ("arguments", found.arguments),
        ("dataset", found.dataset),
        ("environment", found.environment),
        ("results", found.results),
    )
    for part, rows in parts:
        for row in rows:
            writer.writerow([part, row.id, *("" if value is None else value for value in row.values)])
    for table in found.losses:
        for place, end in enumerate(table.ends):
            values = (losses[place] for losses in table.losses)
            writer.writerow(
                [f"mean loss by {table.by}", end, *("" if v is None else repr(v) for v in values)]
            )
    return buffer.getvalue()


def run_words(run: ComparedRun) -> str:
    """Return what a run is called in a comparison: its plan's name, or its own."""
    return run.plan_name or run.name


def _same_count(rows: Sequence[ComparedRow], shown: Sequence[ComparedRow]) -> int:
    return len(rows) - len(shown)


def _section(title: str, rows: Sequence[ComparedRow], count: int, same: int) -> list[str]:
    head = f"{title} · {same_words(same)}" if same else title
    cells = [
        [_cut(row.title or row.id), *(cell_text(row, n, WIDEST) or "–" for n in range(count))] for row in rows
    ]
    return [head, *_table([["", *(label_of(n) for n in range(count))], *cells])] if cells else [head]


def _losses(table: LossTable, count: int) -> list[str]:
    rows = [["", *(label_of(number) for number in range(count))]]
    for place, end in enumerate(table.ends):
        losses = (run[place] for run in table.losses)
        rows.append([f"{end:,}", *("–" if loss is None else figure(loss) for loss in losses)])
    return [table_title(table), *_table(rows)]


def _sample_lines(found: Comparison) -> list[str]:
    shared = [group for group in found.samples if sum(map(bool, group.samples)) > 1]
    if not shared:
        return []
    lines = ["", _("Samples of the same prompt and seed")]
    for group in shared:
        seed = _("no seed of its own") if group.seed is None else _("seed {seed}").format(seed=group.seed)
        lines.append(f"  {_cut(group.prompt, 2 * WIDEST)} · {seed}")
        for number, samples in enumerate(group.samples):
            steps = ", ".join("?" if each.step is None else f"{each.step:,}" for each in samples)
            lines.append(f"    {label_of(number)}  " + (steps or "–"))
    return lines


def _table(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _cut(text: str, most: int = WIDEST) -> str:
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[:half]}…{text[-half:]}"
