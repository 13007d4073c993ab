"""Twenty plans really started: ten that we let go, which train, and ten that we stop, which fail late.

Late is after loading and caching: when the optimizer is made, at the first step, sample or save.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gui.engine.findings import Finding
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.plan_file import PlanFile, load_plan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector
from gui.engine.runs.prepare import Preparation
from gui.engine.runs.start import read_status, start_supervisor
from gui.engine.runs.status import Verdict
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import install_at
from gui.engine.trainer.probe import probe

pytestmark = [pytest.mark.usefixtures("no_leftovers"), pytest.mark.timeout(900)]


@dataclass(frozen=True)
class Start:
    """One plan to start.

    Attributes:
        name: What it is about.
        arguments: Changes to a sound plan; None leaves an argument out.
        dataset: Changes to its dataset section.
    """

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    dataset: dict[str, Any] = field(default_factory=dict)


FIXED = ["relative_step=False", "scale_parameter=False", "warmup_init=False"]

TRAIN = (
    Start(
        "saves at each step, keeps one", {"save_every_n_steps": 1, "save_last_n_steps": 1, "save_state": True}
    ),
    Start("samples at each step", {"sample_every_n_steps": 1, "sample_prompts": "prompts.txt"}),
    Start("cosine to a least rate", {"lr_scheduler": "cosine_with_min_lr", "lr_scheduler_min_lr_ratio": 0.1}),
    Start("Adafactor in relative steps", {"optimizer_type": "Adafactor"}),
    Start(
        "Adafactor at a fixed rate",
        {
            "optimizer_type": "Adafactor",
            "optimizer_args": FIXED,
            "lr_scheduler": "constant_with_warmup",
            "lr_warmup_steps": 1,
        },
    ),
    Start("schedule-free", {"optimizer_type": "AdamWScheduleFree"}),
    Start(
        "validates at each step",
        {"validate_every_n_steps": 1, "max_validation_steps": 1},
        {"validation_split": 0.2, "validation_seed": 1},
    ),
    Start("DyLoRA", {"network_module": "networks.dylora", "network_args": ["unit=2"]}),
    Start(
        "buckets and checkpointing",
        {"gradient_checkpointing": True, "cache_latents": None},
        {"enable_bucket": True, "min_bucket_reso": 64},
    ),
    Start(
        "the text encoder too, by block",
        {"network_train_unet_only": None, "network_args": ["down_lr_weight=sine"]},
    ),
)

FAIL = (
    Start("warm-up of a constant rate", {"lr_warmup_steps": 1}),
    Start("saves at each 0th step", {"save_every_n_steps": 0}),
    Start("a first step beyond the last", {"initial_step": 2}),
    Start("samples without prompts", {"sample_every_n_steps": 1}),
    Start("prompts of another kind", {"sample_every_n_steps": 1, "sample_prompts": "prompts.md"}),
    Start("weights in bf16 beside full precision", {"full_bf16": True}),
    Start("an optimizer that is not installed", {"optimizer_type": "DAdaptation"}),
    Start("optimizer_args in another language", {"optimizer_args": ["amsgrad=true"]}),
    Start("ranks of 24 blocks", {"network_args": ["block_dims=" + ",".join(["4"] * 24)]}),
    Start("DyLoRA with an odd unit", {"network_module": "networks.dylora", "network_args": ["unit=3"]}),
)


def plan_of(start: Start, inputs: Path, folder: Path) -> TrainingPlan:
    """Return a sound plan of two steps, changed; its own files lie in a folder."""
    arguments = {
        "pretrained_model_name_or_path": str(inputs / "sd15-random.safetensors"),
        "tokenizer_cache_dir": str(inputs / "tokenizers"),
        "network_module": "networks.lora",
        "network_dim": 4,
        "network_alpha": 1,
        "network_train_unet_only": True,
        "learning_rate": 1e-4,
        "seed": 42,
        "mixed_precision": "no",
        "cache_latents": True,
        "max_data_loader_n_workers": 0,
        "max_train_steps": 2,
        "output_dir": str(folder / "out"),
        "output_name": "demo",
        **start.arguments,
    }
    if "sample_prompts" in arguments:
        arguments["sample_prompts"] = str(folder / arguments["sample_prompts"])
    dataset = {
        "resolution": [64, 64],
        "caption_extension": ".txt",
        "subsets": [{"image_dir": str(inputs / "images" / "1_sks thing")}],
        **start.dataset,
    }
    return TrainingPlan(
        name="start",
        family="sd15",
        kind="lora",
        arguments={name: value for name, value in arguments.items() if value is not None},
        dataset=dataset,
        launch={"env": {"HF_HUB_OFFLINE": "1"}},
    )


@pytest.fixture(scope="module")
def facts(real_trainer, tmp_path_factory: pytest.TempPathFactory) -> TrainerFacts:
    return probe(install_at(real_trainer.root, real_trainer.python), tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Collect a row for each start, and print them all at the end."""
    rows: list[str] = []
    yield rows
    plugins = request.config.pluginmanager
    with plugins.get_plugin("capturemanager").global_and_fixture_disabled():
        for row in ("", *rows):
            plugins.get_plugin("terminalreporter").write_line(row)


@dataclass(frozen=True)
class Started:
    """What came of a start.

    Attributes:
        stops: Our stop findings.
        verdict: What the supervisor said at the end.
        seconds: From the launch to the end.
    """

    stops: list[Finding]
    verdict: Verdict
    seconds: float


@pytest.fixture
def try_out(
    real_trainer, facts: TrainerFacts, home: Home, table: list[str], tmp_path: Path
) -> Callable[[Start], Started]:
    install, catalogue = install_at(real_trainer.root, real_trainer.python), Catalogue.from_facts(facts)

    def run(start: Start) -> Started:
        (tmp_path / "prompts.txt").write_text("sks thing --w 64 --h 64 --s 2\n", "utf-8")
        (tmp_path / "prompts.md").write_text("sks thing\n", "utf-8")
        written = plan_of(start, real_trainer.inputs, tmp_path)
        PlanFile(written).save(written, tmp_path / "plan.toml")
        plan = load_plan(tmp_path / "plan.toml")
        collector = Collector(facts)
        found = Checker(plan.base, catalogue, collector.machine(), collector=collector).findings(plan.plan)
        stops = [finding for finding in found if finding.severity == "stop"]
        # What we would refuse is launched all the same: the trainer is to show what it does.
        prepared = Preparation(home, install, facts, catalogue, judge=lambda _plan: ()).prepare(plan)
        begun = time.monotonic()
        start_supervisor(prepared.run, prepared.order)
        deadline = begun + 800
        while (status := read_status(prepared.run)) is None or status.verdict is None:
            assert time.monotonic() < deadline, "the run did not end"
            time.sleep(0.2)
        started = Started(stops, status.verdict, time.monotonic() - begun)
        ours = ", ".join(sorted({finding.id for finding in stops})) or "go"
        table.append(
            f"{start.name:42} {ours:22} {started.verdict.verdict:16} "
            f"step {started.verdict.step} exit {started.verdict.exit_status} {started.seconds:.0f} s"
        )
        return started

    return run


@pytest.mark.parametrize("start", TRAIN, ids=lambda start: start.name)
def test_that_what_we_let_go_trains_to_the_end(start: Start, try_out: Callable[[Start], Started]) -> None:
    started = try_out(start)
    assert not started.stops
    assert started.verdict.verdict == "finished"


@pytest.mark.parametrize("start", FAIL, ids=lambda start: start.name)
def test_that_what_we_stop_would_have_failed(start: Start, try_out: Callable[[Start], Started]) -> None:
    started = try_out(start)
    assert started.stops
    assert started.verdict.verdict == "failed"
