"""What presets compose passes the whole preflight and trains under supervision, for every caution.

The other kinds of training take a step with composed settings in ``tests/endurance``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gui.engine.documents import iterate_json_lines
from gui.engine.paths import Home
from gui.engine.plan.plan_file import PlanFile, load_plan
from gui.engine.plan.presets import compose
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.prepare import Preparation
from gui.engine.runs.processes import tree_of
from gui.engine.runs.requests import ask
from gui.engine.runs.start import read_status, start_supervisor
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import install_at
from gui.engine.trainer.probe import probe

pytestmark = [pytest.mark.usefixtures("no_leftovers"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def facts(real_trainer, tmp_path_factory: pytest.TempPathFactory) -> TrainerFacts:
    return probe(install_at(real_trainer.root, real_trainer.python), tmp_path_factory.mktemp("cache"))


def composed(caution: str, inputs: Path, folder: Path) -> PlanFile:
    """A person's plan: composed settings, files, and what a CPU and 64 px images need."""
    plan = compose("sd15", "lora", "character", caution, 12.0, images=20).plan("composed")
    own = {
        "pretrained_model_name_or_path": str(inputs / "sd15-random.safetensors"),
        "tokenizer_cache_dir": str(inputs / "tokenizers"),
        "output_dir": "out",
        "output_name": "demo",
        "mixed_precision": "no",
    }
    dataset = {
        "resolution": [64, 64],
        "min_bucket_reso": 64,
        "subsets": [{"image_dir": str(inputs / "images" / "1_sks thing")}],
    }
    launch = plan.launch.model_copy(update={"env": {"HF_HUB_OFFLINE": "1"}})
    changed = plan.model_copy(
        update={
            "arguments": plan.arguments | own,
            "dataset": dict(plan.dataset) | dataset,
            "launch": launch,
        }
    )
    PlanFile(changed).save(changed, folder / "plan.toml")
    return load_plan(folder / "plan.toml")


def wait_for(fact: Callable[[], object], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.1)


def state_of(run: RunFolder) -> str:
    status = read_status(run)
    return status.state if status else ""


def steps_of(run: RunFolder) -> list[dict]:
    if not run.events.exists():
        return []
    return [event for event in iterate_json_lines(run.events) if event["event"] == "step"]


@pytest.mark.parametrize("caution", ["stable-first", "safe", "standard"])
def test_that_composed_settings_pass_preflight_and_train(
    caution, real_trainer, facts: TrainerFacts, home: Home, tmp_path: Path
) -> None:
    plan = composed(caution, real_trainer.inputs, tmp_path)
    install, catalogue = install_at(real_trainer.root, real_trainer.python), Catalogue.from_facts(facts)
    collector = Collector(facts)
    checker = Checker(plan.base, catalogue, collector.machine(), collector=collector)
    stops = [found.title for found in checker.findings(plan.plan) if found.severity in ("stop", "danger")]
    assert stops == []

    prepared = Preparation(home, install, facts, catalogue).prepare(plan)
    start_supervisor(prepared.run, prepared.order)
    wait_for(lambda: steps_of(prepared.run) or state_of(prepared.run) == "ended")
    first = steps_of(prepared.run)
    assert first, "the training ended before its first step"
    assert isinstance(first[0]["avr_loss"], float)
    ask(prepared.run, "stop", "test")
    wait_for(lambda: state_of(prepared.run) == "ended", 60)
    assert not tree_of(prepared.run.path).alive()
