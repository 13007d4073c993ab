"""Measures how long it takes to make a command of a plan: ``python tests/benchmarks/bench_command.py``.

Prints one JSON document. The goal is below 5 ms; reading the plan file and quoting the preview
stand beside it, as does joining the same words, which is the least that could be done.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gui.engine.plan.plan_file import parse_plan
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.command import build_command
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import TrainerInstall
from gui.engine.trainer.preview import preview

GOAL_MS = 5.0
ROUNDS = 300

SUBSET = '[[dataset.subsets]]\nimage_dir = "images/{number}"\nnum_repeats = 10\nclass_tokens = "mira_x"\n'
PLAN = """
schema = 1
name = "bench"
family = "sdxl"
[arguments]
pretrained_model_name_or_path = "models/sdxl.safetensors"
vae = "models/vae.safetensors"
output_dir = "out"
output_name = "bench"
save_every_n_steps = 200
network_dim = 32
network_alpha = 16
network_args = ["conv_dim=8", "conv_alpha=4"]
unet_lr = 1e-4
text_encoder_lr = [1e-5, 1e-5]
optimizer_type = "AdamW8bit"
optimizer_args = ["weight_decay=0.01", "betas=(0.9, 0.99)"]
lr_scheduler = "cosine"
lr_warmup_steps = 200
max_train_steps = 2000
max_grad_norm = 1.0
mixed_precision = "bf16"
gradient_checkpointing = true
cache_latents = true
no_half_vae = true
sdpa = true
seed = 42
min_snr_gamma = 5
max_data_loader_n_workers = 2
persistent_data_loader_workers = true
sample_every_n_steps = 200
sample_prompts = "prompts.txt"
[dataset]
resolution = [1024, 1024]
batch_size = 2
enable_bucket = true
caption_extension = ".txt"
"""


def milliseconds(work: Callable[[], object]) -> dict[str, float]:
    """Time a piece of work: the middle and the slowest twentieth of many rounds."""
    work()
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        times.append((time.perf_counter() - begin) * 1000)
    times.sort()
    return {"median_ms": round(statistics.median(times), 3), "p95_ms": round(times[int(ROUNDS * 0.95)], 3)}


def main() -> None:
    """Measure and print."""
    text = PLAN + "".join(SUBSET.format(number=number) for number in range(5))
    base = Path("/plans")
    plan = parse_plan(text, base / "plan.toml").plan
    install = TrainerInstall(
        root=Path("/sd-scripts"), python=Path("/venv/python"), origin="sd-scripts", label="x"
    )
    facts = TrainerFacts(
        root="/sd-scripts",
        python="/venv/python",
        packages={"accelerate": "1.6.0", "tensorboard": "2.21.0"},
        backend="cuda",
    )
    catalogue = Catalogue.bundled()
    run = Path("/runs/one")

    def build() -> object:
        return build_command(plan, base, install, facts, catalogue, run)

    command = build_command(plan, base, install, facts, catalogue, run)
    built = milliseconds(build)
    print(
        json.dumps(
            {
                "goal_ms": GOAL_MS,
                "met": built["median_ms"] < GOAL_MS,
                "words": len(command.argv),
                "build_command": built,
                "read_plan_file": milliseconds(lambda: parse_plan(text, base / "plan.toml")),
                "preview": milliseconds(lambda: preview(command, "posix", run)),
                "join_words_only": milliseconds(lambda: " ".join(command.argv)),
                "python": sys.version.split()[0],
                "cores": os.cpu_count(),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
