"""The memory hook in the real trainer: nothing is different with it but that it says what it saw."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from real_plan import real_plan

from gui.engine.paths import Home
from gui.engine.plan.plan_file import load_plan
from gui.engine.runs.events import read_events
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.memory_hook import read_memory
from gui.engine.runs.prepare import Preparation
from gui.engine.runs.records import Manifest
from gui.engine.runs.session import look_after
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.events import Step
from gui.engine.trainer.installs import install_at
from gui.engine.trainer.probe import probe

pytestmark = [pytest.mark.usefixtures("no_leftovers"), pytest.mark.timeout(900)]


@pytest.fixture
def train(real_trainer, home: Home, tmp_path: Path) -> Callable[..., RunFolder]:
    install = install_at(real_trainer.root, real_trainer.python)
    facts = probe(install, tmp_path / "cache")

    def run(*, hook: bool, workers: int) -> RunFolder:
        plan = tmp_path / "plan.toml"
        text = real_plan(
            real_trainer.inputs,
            "hooked",
            launch={"measure_memory": hook},
            learning_rate=1e-4,
            max_data_loader_n_workers=workers,
            max_train_steps=4,
            output_dir="out",
        )
        plan.write_text(text, "utf-8")
        prepared = Preparation(home, install, facts, Catalogue.from_facts(facts)).prepare(load_plan(plan))
        verdict = look_after(prepared.run, prepared.order)
        assert verdict is not None and (verdict.verdict, verdict.exit_status) == ("finished", 0)
        assert Manifest.read(prepared.run.manifest).measures_memory is hook
        return prepared.run

    return run


def printed(run: RunFolder) -> list[str]:
    """Return the lines of the log without what differs from run to run: times, speeds, the run's own name."""
    text = run.output_log.read_text("utf-8").replace(run.name, "RUN")
    # A time of day stands only where it is another one than a line before.
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", " " * 19, text)
    text = re.sub(r"\d+(\.\d+)? ?(it/s|s/it)|\?it/s|\[?\d\d:\d\d(:\d\d)?(<(\d\d:\d\d|\?))?", "N", text)
    # A bar is redrawn as often as time allows.
    return [line for line in re.split(r"[\r\n]+", text) if line.strip() and "%|" not in line]


def losses(run: RunFolder) -> list[float | None]:
    return [event.loss for event in read_events(run.events) if isinstance(event, Step)]


@pytest.mark.parametrize("workers", [0, 1])
def test_that_with_the_hook_losses_output_and_exit_are_the_same(
    train: Callable[..., RunFolder], workers: int
) -> None:
    plain, hooked = train(hook=False, workers=workers), train(hook=True, workers=workers)
    assert losses(hooked) == losses(plain)
    assert len(losses(hooked)) == 4 and None not in losses(hooked)
    assert printed(hooked) == printed(plain)
    assert not plain.memory.exists()
    (row,) = read_memory(hooked.memory)
    assert (row.event, row.device, row.allocated_peak) == ("no-cuda", None, None)
    assert row.t is not None and row.t > 0
