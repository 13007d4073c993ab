"""The stored memory tables are what the real trainer's networks need, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from gui.engine.hardware.memory.tables import FOLDER, MemoryTable, read_table
from gui.engine.hardware.memory.tracing import Tracer, run_tracer
from gui.engine.resources import resource_path
from gui.engine.trainer.checkout import commit_of
from gui.engine.trainer.installs import TrainerInstall, install_at


@pytest.fixture(scope="module")
def install(real_trainer) -> TrainerInstall:
    return install_at(real_trainer.root, real_trainer.python)


@pytest.fixture(scope="module")
def table(install: TrainerInstall) -> MemoryTable:
    """Return the table of the cheapest family, where this trainer is the one it was made with."""
    stored = read_table(resource_path(FOLDER, "sd15.json"))
    run = run_tracer(install, ["about", "parameters:sd15"], {})
    assert run.failures == {}
    made_with = {"torch": stored.torch, "transformers": stored.transformers}
    if commit_of(install.root) != stored.trainer_commit or run.results["about"] != made_with:
        pytest.skip(f"the tables are of {stored.trainer_commit} with {made_with}, not of this trainer")
    assert run.results["parameters:sd15"] == stored.parameters
    return stored


def test_that_the_cheapest_stored_training_is_traced_again_to_the_byte(
    install: TrainerInstall, table: MemoryTable, tmp_path: Path
):
    stored = min(table.steps, key=lambda row: row.result.operations)
    told: list[int] = []
    tracer = Tracer(install, tmp_path, progress=told.append)
    assert tracer.trace_step("sd15", stored.setting) == stored
    assert told[-1] <= stored.result.operations


def test_that_every_stored_kind_of_pass_is_traced_again_to_the_byte(
    install: TrainerInstall, table: MemoryTable, tmp_path: Path
):
    tracer = Tracer(install, tmp_path)
    for part in {row.setting.part for row in table.passes}:
        stored = min(
            (row for row in table.passes if row.setting.part == part), key=lambda row: row.result.operations
        )
        assert tracer.trace_pass("sd15", stored.setting) == stored
