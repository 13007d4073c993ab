"""What `test` runs, part by part."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gui.engine.texts import _
from house.children import run_in_front

COVERED = "gui/engine/*"
LEAST_COVERAGE = 95


@dataclass(frozen=True)
class Check:
    """One part of the test command: its name and its words after the interpreter."""

    name: str
    words: tuple[str, ...]


def checks(extra: Sequence[str]) -> list[Check]:
    """Return the parts in their order.

    Args:
        extra: More arguments for pytest. With some, only a part of the tests may run, so that
            coverage is not judged.
    """
    import_contracts = "from importlinter.cli import lint_imports_command as go; go()"
    # More workers than a small machine has cores: tests of runs mostly wait for other processes.
    pytest = ("-m", "pytest", "-n", "3", "--dist", "worksteal")
    parts = [
        Check("ruff check", ("-m", "ruff", "check", ".")),
        Check("ruff format", ("-m", "ruff", "format", "--check", ".")),
        Check("mypy", ("-m", "mypy")),
        Check("import contracts", ("-c", import_contracts)),
    ]
    if extra:
        return [*parts, Check("pytest", (*pytest, *extra))]
    report = (
        "-m",
        "coverage",
        "report",
        f"--include={COVERED}",
        f"--fail-under={LEAST_COVERAGE}",
        "--skip-covered",
    )
    return [
        *parts,
        Check("coverage erase", ("-m", "coverage", "erase")),
        Check("pytest", (*pytest, "--cov", "--cov-report=")),
        Check("coverage", report),
    ]


def run_checks(python: Path, project: Path, extra: Sequence[str], say: Callable[[str], None]) -> int:
    """Run the parts one after another, all that they print in sight, up to the first that fails.

    Returns:
        0 when all went well, else the status of the part that failed.
    """
    for check in checks(extra):
        say(f"== {check.name}")
        started = time.monotonic()
        status = run_in_front([str(python), *check.words], project)
        if status:
            say(_("{name} failed (status {status}).").format(name=check.name, status=status))
            return status if status > 0 else 1
        say(f"== {check.name}: {time.monotonic() - started:.1f} s")
    return 0
