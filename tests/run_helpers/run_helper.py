"""Makes runs whose trainer is a small script of a test, and waits for what they do."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gui.engine.runs.events import Launching, RunEvent, read_events
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.journal import Lines
from gui.engine.runs.records import CommandRecord, LaunchOrder, Manifest, mark_of
from gui.engine.runs.status import RunStatus
from gui.engine.trainer.events import TrainerEvent

HERE = Path(__file__).parent

FINISHES = """
header(5)
for n in range(1, 6):
    step(n, 5, 0.5 - n / 100)
    sleep(0.05)
save(f"{out}/lora.safetensors")
saved()
"""
"""A training that goes well."""

GOES_ON = """
header(1000)
for n in range(1, 1001):
    step(n, 1000, 0.5)
    sleep(0.05)
"""
"""One that takes almost a minute."""


WAITS = """
header(5)
step(1, 5, .5); step(2, 5, .5)
wait_for(f"{out}/go")
for n in (3, 4, 5): step(n, 5, .5)
save(f"{out}/lora.safetensors")
saved()
"""
"""One that goes well and ends only once the file ``go`` is in its output folder."""


def make_run(tmp_path: Path, source: str, **options: Any) -> tuple[RunFolder, LaunchOrder]:
    """Write a run folder for a script.

    Args:
        tmp_path: Of the test.
        source: The trainer; ``out`` is its output folder, ``log`` its tracker's folder, and all of
            ``acting`` is there.
        options: Fields of the command and the manifest; ``home`` and ``name`` say where its folder is made.
    """
    tmp_path.mkdir(exist_ok=True)
    home, name = options.pop("home", tmp_path / "home"), options.pop("name", "20261130-010203-a run")
    run = RunFolder(home / "runs" / name)
    run.path.mkdir(parents=True)
    out = options.pop("output_dir", tmp_path / "out")
    out.mkdir(exist_ok=True)
    script = tmp_path / "train_network.py"
    first = f"import sys; sys.path.insert(0, {str(HERE)!r})\nfrom acting import *\n"
    script.write_text(
        first + f"out = {str(out)!r}\nlog = {str(tmp_path / 'tracker')!r}\n" + textwrap.dedent(source),
        "utf-8",
    )
    argv = (sys.executable, str(script), *options.pop("words", ()))
    known = {name: options.pop(name) for name in list(options) if name in Manifest.model_fields}
    command = CommandRecord(
        argv=argv,
        cwd=tmp_path,
        python=sys.executable,
        script="train_network.py",
        output_dir=out,
        output_name="lora",
        expected_final=options.pop("expected_final", out / "lora.safetensors"),
        **options,
    )
    before = tuple(mark for path in sorted(out.iterdir()) if (mark := mark_of(path)))
    command.write(run.command)
    Manifest(program="test", plan_name="a run", existing=before, **known).write(run.manifest)
    run.requests.mkdir()
    RunStatus(name=run.name, plan_name="a run").write(run.status)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    environment |= {"PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
    return run, LaunchOrder(argv=argv, cwd=tmp_path, environment=environment, python=sys.executable)


def left_alone(run: RunFolder) -> RunFolder:
    """Make a run as old as one whose launch was cut short long ago."""
    os.utime(run.path, (1e9, 1e9))
    return run


def wait_until(true: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait until something is true; fail after a time that is far too long."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


def status(run: RunFolder) -> RunStatus:
    """Return the run's status."""
    return RunStatus.read(run.status)


def ended(run: RunFolder) -> bool:
    """Whether the run is judged; a folder that was taken away is written anew piece by piece."""
    return run.status.is_file() and status(run).state == "ended"


def happened(run: RunFolder) -> list[TrainerEvent | RunEvent]:
    """Return all events so far."""
    return list(read_events(run.events))


def of_kind(run: RunFolder, kind: type[Any]) -> list[Any]:
    """Return the events of one kind."""
    return [event for event in happened(run) if isinstance(event, kind)]


def at_least_step(run: RunFolder, number: int) -> bool:
    """Whether the run has done so many steps."""
    return (status(run).step or 0) >= number


def launched_before_a_restart(run: RunFolder) -> None:
    """Write into a run that it was launched, and that the machine was started anew since."""
    lines = Lines(run.events)
    lines.add(Launching(boot_id="another boot", boot_seconds=5.0))
    lines.close()
    gone = {"pid": os.getpid(), "boot_id": "another boot", "start_ticks": 1}
    note = {"schema": 1, "launcher": gone, "trainer": gone, "group": 1, "started_boottime": 5.0}
    run.launcher.write_text(json.dumps(note), "utf-8")
