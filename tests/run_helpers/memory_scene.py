"""A plan that a GPU is needed for, and a trainer whose tracer says what a test wants; for the window."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from practice_runs import make_images

from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.forecast import forecast
from gui.engine.hardware.memory.learning import learn
from gui.engine.hardware.memory.observations import Machine, MeasuredStep, MemoryExpectation, Observation
from gui.engine.hardware.memory.question import MemoryQuestion, NetworkQuestion, OptimizerQuestion
from gui.engine.hardware.memory.tables import load_tables
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.plan_file import PlanFile
from gui.engine.quantities import GIB
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.memory_hook import MemoryRow
from gui.engine.runs.metrics import GpuRow
from gui.engine.runs.records import CommandRecord, Manifest
from gui.engine.runs.status import GpuNow, RunStatus, Verdict
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.choosing import Trainer, open_trainer
from gui.engine.trainer.events import Phase
from gui.engine.trainer.installs import TrainerInstall, practice_install

QUESTION = MemoryQuestion(
    family="sdxl",
    width_px=1024,
    height_px=1024,
    checkpointing=True,
    mixed_precision="bf16",
    network=NetworkQuestion(rank=16),
    optimizer=OptimizerQuestion(name="adamw8bit"),
    latents_cached=True,
)
"""What the plans of runs here ask; it needs some 8 GiB."""

TRACER = """
    import json, sys, time
    from pathlib import Path

    with Path(sys.argv[2]).open("a") as results:
        def write(**line):
            results.write(json.dumps(dict(stage="trace", **line)) + "\\n")
            results.flush()

        write(state="begin")
        for number in range(3):
            write(state="progress", operations=2000 * number)
            time.sleep(0.1)
        exec(Path("what").read_text() if Path("what").exists() else "")
        gib = 2**30
        result = dict(trainable_parameters=1, weights=5 * gib, adapter=gib // 8, gradients=gib // 8,
            optimizer_state=0, phases=dict(load=5 * gib, forward_1=6 * gib, backward_1=int(6.5 * gib)),
            peak=int(6.5 * gib), peak_phase="backward_1", peak_operation="mul", allocated=7 * gib,
            reserved=7 * gib, operations=6000)
        write(state="end", result=result)
"""
"""Speaks as the tracer does, and needs no torch."""


def make_tracer(folder: Path) -> None:
    """Write the tracer below a folder of resources.

    Args:
        folder: Stands for the program's own resources.
    """
    program = folder / "memory_tracer" / "trace.py"
    program.parent.mkdir(parents=True)
    program.write_text(textwrap.dedent(TRACER), "utf-8")


def trainer_in(folder: Path, home: Home) -> Trainer:
    """Return a trainer that is no practice trainer, with nothing in it but its folder.

    Args:
        folder: Is made.
        home: Where the answers of trainers are kept.
    """
    (folder / "library").mkdir(parents=True)
    (folder / "train_network.py").write_text("")
    facts = open_trainer(home, practice_install()).facts
    install = TrainerInstall(
        root=folder, python=Path(sys.executable), origin="sd-scripts", label="sd-scripts"
    )
    return Trainer(install, facts, Catalogue.bundled())


def sdxl_plan(folder: Path, *, batch: int = 1, family: str = "sdxl", **arguments: object) -> TrainingPlan:
    """Return a plan for a LoRA; with its defaults it needs some 12 GiB.

    Args:
        folder: Of its images and its results.
        batch: Images at once.
        family: Of models.
        arguments: Other trainer arguments; None leaves one out.
    """
    pictures = folder / "pictures"
    if not pictures.exists():
        make_images(pictures, 4)
    given = {
        "pretrained_model_name_or_path": str(folder / "model.safetensors"),
        "output_dir": str(folder / "out"),
        "output_name": "mira",
        "network_module": "networks.lora",
        "network_dim": 64,
        "network_alpha": 32,
        "optimizer_type": "AdamW",
        "max_train_steps": 1200,
        "mixed_precision": "bf16",
        "gradient_checkpointing": True,
        "cache_latents": True,
        "sdpa": True,
        **arguments,
    }
    return TrainingPlan.model_validate(
        {
            "name": "mira",
            "family": family,
            "arguments": {name: value for name, value in given.items() if value is not None},
            "dataset": {
                "resolution": [1024, 1024],
                "batch_size": batch,
                "caption_extension": ".txt",
                "subsets": [{"image_dir": str(pictures), "num_repeats": 10}],
            },
        }
    )


def teach(home: Home, gpu: str, name: str = "") -> None:
    """Let a run have taught something about a GPU."""
    machine = Machine(gpu=gpu, name=name, torch="2.6.0", driver="580")
    measured = MeasuredStep(allocated=8.0, reserved=8.5, process=9.1)
    seen = Observation(
        software=machine.software,
        family="sdxl",
        checkpointing=True,
        attention="sdpa",
        fixed=6.0,
        activations=1.9,
        spare=0.4,
        measured=measured,
    )
    learn(home, machine, seen, load_figures().prior("linux"))


def write_run(folder: RunFolder, plan: TrainingPlan, *, process_gib: float, total_gib: float = 24.0) -> None:
    """Write the record of a LoRA for SDXL that is over, as driver and torch saw its memory.

    Args:
        folder: Of the run; is made.
        plan: What was launched; its question is ``QUESTION``.
        process_gib: What its training took at the most.
        total_gib: What the GPU has.
    """
    folder.path.mkdir(parents=True)
    PlanFile(plan).save(plan, folder.plan)
    prior = load_figures().prior("linux")
    expected = MemoryExpectation(question=QUESTION, forecast=forecast(QUESTION, load_tables(), prior))
    Manifest(program="1", plan_name="mira", torch="2.6.0", driver="580", memory=expected).write(
        folder.manifest
    )
    CommandRecord(argv=("python", "sdxl_train_network.py"), cwd=folder.path, python="python").write(
        folder.command
    )
    used = [1.0] * 10 + [process_gib] * 50
    metrics = [_gpu_row(float(t), gib, total_gib) for t, gib in enumerate(used)]
    tensors = [
        MemoryRow(t=t, phase="training", event="grown", pid=5, device=0, allocated_peak=int(gib * GIB))
        for t, gib in ((12.0, process_gib - 2), (20.0, process_gib - 1))
    ]
    phases = [Phase(phase="loading", t=0.0), Phase(phase="training", t=10.0), Phase(phase="saving", t=59.0)]
    for path, rows in ((folder.metrics, metrics), (folder.memory, tensors), (folder.events, phases)):
        path.write_text("".join(row.model_dump_json() + "\n" for row in rows))
    peak = int(process_gib * GIB)
    gpu = GpuNow(
        index=0,
        uuid="GPU-1",
        name="A card",
        total_bytes=int(total_gib * GIB),
        peak_used_bytes=peak,
        peak_process_bytes=peak,
    )
    verdict = Verdict(verdict="finished", reason="done", sentence="It is finished.", step=200, total=200)
    RunStatus(
        name=folder.name, plan_name="mira", state="ended", step=200, total=200, gpus=(gpu,), verdict=verdict
    ).write(folder.status)


def _gpu_row(t: float, gib: float, total_gib: float) -> GpuRow:
    held = int(gib * GIB)
    return GpuRow(
        t=t,
        index=0,
        uuid="GPU-1",
        used_bytes=held,
        total_bytes=int(total_gib * GIB),
        peak_used_bytes=held,
        process_bytes=held,
        peak_process_bytes=held,
    )
