"""A plan that a GPU is needed for, and a trainer whose tracer says what a test wants; for the window."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from practice_runs import make_images

from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.choosing import Trainer, open_trainer
from gui.engine.trainer.installs import TrainerInstall, practice_install

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
