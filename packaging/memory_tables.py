"""Makes the memory tables in ``resources/memory`` from a checkout of sd-scripts.

    .venv/bin/python packaging/memory_tables.py --trainer DIR [--python EXE] [--only FAMILY ...] [--first N]
    .venv/bin/python packaging/memory_tables.py --trainer DIR --check [--first N]

Needs the trainer's torch, no GPU and no weights; a row takes ten seconds to a minute on one core and
about a gigabyte. Rows that a table has already are left as they are, so that it can be ended and begun
again; a table of another commit or of other versions is made anew. ``--check`` traces again and compares.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

PROJECT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PROJECT)]

import memory_grid  # noqa: E402 - found in this folder
from gui.engine.documents import write_atomically  # noqa: E402
from gui.engine.errors import CannotRead, PreflightError  # noqa: E402
from gui.engine.hardware.memory.tables import (  # noqa: E402
    MemoryTable,
    PassRow,
    PassSetting,
    StepRow,
    StepSetting,
    read_table,
)
from gui.engine.hardware.memory.tracing import reason_of_failure, run_tracer, task_of  # noqa: E402
from gui.engine.trainer.checkout import commit_of  # noqa: E402
from gui.engine.trainer.installs import TrainerInstall, install_at  # noqa: E402

FOLDER = PROJECT / "resources" / "memory"
CHUNK = 6
"""Rows that are traced before the table is written; they share one start of the trainer's Python."""

_Item = TypeVar("_Item")
Wanted = StepSetting | PassSetting
Row = StepRow | PassRow


def main(words: Sequence[str] | None = None) -> int:
    """Make or check tables; return the exit status."""
    options = _options(words)
    install = install_at(options.trainer, options.python)
    families = options.only or memory_grid.FAMILIES
    if options.check:
        return max(check(install, options.folder / f"{family}.json", options.first) for family in families)
    for table in empty_tables(install, families):
        make(install, table, options.folder, options.first)
    return 0


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trainer", required=True, help="the folder of sd-scripts")
    parser.add_argument("--python", help="its interpreter, where it is not found")
    parser.add_argument("--only", nargs="+", choices=memory_grid.FAMILIES, metavar="FAMILY")
    parser.add_argument("--check", action="store_true", help="trace stored rows again and compare")
    parser.add_argument("--first", type=int, help="only so many rows of each family")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the tables lie")
    return parser.parse_args(words)


def wanted(family: str) -> list[Wanted]:
    """Return the settings that a family's table shall have, in the order in which they are traced."""
    return list(dict.fromkeys(_setting_of(setting) for setting in memory_grid.grid(family)))


def _setting_of(setting: memory_grid.Setting) -> Wanted:
    known = {key: value for key, value in setting.items() if key != "family"}
    if "part" in known:
        return PassSetting.model_validate(known)
    rank = {"rank": None} if known.get("kind") == "full" else {}
    return StepSetting.model_validate({"text_tokens": 77} | known | rank)


def make(install: TrainerInstall, table: MemoryTable, folder: Path, first: int | None) -> None:
    """Add the rows that a family's table lacks; the table is given without rows."""
    family = table.family
    place = folder / f"{family}.json"
    rows = _rows_of(place, table)
    missing = [setting for setting in wanted(family)[:first] if setting not in rows]
    print(f"{family}: {len(rows)} rows are there, {len(missing)} are missing", flush=True)
    for chunk in _chunks(missing):
        rows |= dict(_traced(install, family, chunk))
        write_table(place, table, [rows[setting] for setting in wanted(family) if setting in rows])
        print(f"{family}: {len(rows)} rows", flush=True)


def empty_tables(install: TrainerInstall, families: Sequence[str]) -> list[MemoryTable]:
    """Return tables without rows, as this trainer would begin them."""
    counts = {family: f"parameters:{family}" for family in families}
    run = run_tracer(install, ["about", *counts.values()], {})
    for stage, failure in run.failures.items():
        raise SystemExit(f"{stage}: {reason_of_failure(failure)}")
    return [
        MemoryTable(
            schema=1,
            family=family,
            trainer_commit=commit_of(install.root) or "unknown",
            parameters=run.results[stage],
            steps=(),
            **run.results["about"],
        )
        for family, stage in counts.items()
    ]


def _chunks(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    for begin in range(0, len(items), CHUNK):
        yield items[begin : begin + CHUNK]


def _rows_of(place: Path, table: MemoryTable) -> dict[Wanted, Row]:
    """Return the rows that were traced with the same trainer and versions."""
    try:
        stored = read_table(place)
    except CannotRead:
        return {}
    if stored.model_copy(update={"steps": (), "passes": ()}) != table:
        return {}
    return {row.setting: row for row in _all_rows(stored)}


def _all_rows(table: MemoryTable) -> list[Row]:
    rows: list[Row] = [*table.steps]
    return [*rows, *table.passes]


def _traced(install: TrainerInstall, family: str, settings: Sequence[Wanted]) -> Iterator[tuple[Wanted, Row]]:
    tasks = {str(number): task_of(family, setting) for number, setting in enumerate(settings)}
    run = run_tracer(install, list(tasks), tasks)
    for number, setting in zip(tasks, settings, strict=True):
        if number in run.failures:
            print(f"  {tasks[number]}: {reason_of_failure(run.failures[number])}", file=sys.stderr)
        else:
            yield setting, row_of(setting, run.results[number])


def row_of(setting: Wanted, result: Any) -> Row:
    """Return the row of a setting and of what the tracer answered."""
    kind = PassRow if isinstance(setting, PassSetting) else StepRow
    return kind.model_validate({"setting": setting, "result": result})


def write_table(place: Path, table: MemoryTable, rows: Sequence[Row]) -> None:
    """Write a table with these rows."""
    full = table.model_copy(
        update={
            "steps": tuple(row for row in rows if isinstance(row, StepRow)),
            "passes": tuple(row for row in rows if isinstance(row, PassRow)),
        }
    )
    write_atomically(place, full.model_dump_json(indent=1, by_alias=True) + "\n")


def check(install: TrainerInstall, place: Path, first: int | None) -> int:
    """Trace stored rows again; return 1 where one differs, and say which."""
    rows = _all_rows(read_table(place))[:first]
    family = place.stem
    status = 0
    for chunk in _chunks(rows):
        again = dict(_traced(install, family, [row.setting for row in chunk]))
        for row in chunk:
            same = again.get(row.setting) == row
            status |= not same
            print(f"{family}: {'same' if same else 'DIFFERS'}: {row.setting!r}", flush=True)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PreflightError as error:
        sys.exit(str(error))
