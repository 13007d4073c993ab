"""Spells ``accelerate launch`` so that nothing but the plan decides how the trainer is started."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gui.engine.findings import Finding, Fix
from gui.engine.plan.model import LaunchSettings
from gui.engine.texts import _
from gui.engine.trainer.facts import TrainerFacts

CONFIG_NAME = "accelerate.yaml"
"""The file in the run folder that stands in for the user's own configuration of accelerate."""

DYNAMO_BACKENDS = (
    *("no", "eager", "aot_eager", "inductor", "aot_ts_nvfuser", "nvprims_nvfuser", "cudagraphs", "ofi"),
    *("fx2trt", "onnxrt", "tensorrt", "aot_torchxla_trace_once", "torchxla_trace_once", "ipex", "tvm"),
)
"""What accelerate 1.6 takes for ``--dynamo_backend`` (accelerate/utils/constants.py)."""


def has_accelerate(facts: TrainerFacts) -> bool:
    """Whether the trainer's Python can start scripts by ``accelerate launch``."""
    return "accelerate" in facts.packages


def trains_on_cpu(facts: TrainerFacts) -> bool:
    """Whether the trainer's torch would compute on the processor."""
    return facts.backend == "cpu"


def accelerate_words(
    launch: LaunchSettings, facts: TrainerFacts, run_folder: Path, mixed_precision: str
) -> list[str]:
    """Return the words between the interpreter and the script.

    The module is run rather than the environment's ``accelerate`` program: that one carries the
    interpreter's absolute path and breaks when an environment is moved or has a space in its path.
    ``--gpu_ids all`` leaves ``CUDA_VISIBLE_DEVICES`` as it is; anything else would overwrite it.

    Args:
        launch: The plan's settings, judged before.
        facts: What is known about the trainer.
        run_folder: Where ``CONFIG_NAME`` lies; without it accelerate reads the user's own file.
        mixed_precision: The trainer's own argument; accelerate is told the same.
    """
    words = ["-m", "accelerate.commands.launch", "--config_file", str(run_folder / CONFIG_NAME)]
    if trains_on_cpu(facts):
        words.append("--cpu")
    elif launch.num_processes > 1:
        words.append("--multi_gpu")
    settings: dict[str, Any] = {
        "num_processes": launch.num_processes,
        "num_machines": launch.num_machines,
        "machine_rank": 0,
        "mixed_precision": mixed_precision,
        "dynamo_backend": launch.dynamo_backend,
        "num_cpu_threads_per_process": launch.num_cpu_threads_per_process,
        "gpu_ids": "all",
    }
    if launch.num_processes > 1:
        # Port 0, "choose one", hangs for ever with some versions of torch (seen with accelerate 1.6).
        settings["main_process_port"] = free_port()
    for name, value in settings.items():
        words += [f"--{name}", str(value)]
    return words


def accelerate_config_text(facts: TrainerFacts) -> str:
    """Return a configuration for accelerate that changes nothing.

    Only keys that every version knows: newer ones refuse what they do not know.
    """
    use_cpu = "true" if trains_on_cpu(facts) else "false"
    return (
        "# Stands in for a configuration of accelerate elsewhere on this machine, which could change\n"
        "# the run. The command line says everything that matters.\n"
        "compute_environment: LOCAL_MACHINE\n"
        "distributed_type: 'NO'\n"
        "mixed_precision: 'no'\n"
        "num_machines: 1\n"
        "num_processes: 1\n"
        f"use_cpu: {use_cpu}\n"
    )


def judge_launch(launch: LaunchSettings, facts: TrainerFacts | None) -> Iterator[Finding]:
    """Say what could not be started so: several processes without GPUs, or without accelerate.

    Args:
        launch: The plan's settings.
        facts: The trainer; None when it is not known, and nothing is said about what it can do.
    """
    if launch.num_processes < 1:
        title = _("launch.num_processes must be 1 or more, not {value}.").format(value=launch.num_processes)
        yield _refused("launch-processes", "launch.num_processes", title, 1)
    elif launch.num_processes > 1 and facts is not None:
        yield from _judge_processes(launch.num_processes, facts)
    if launch.num_machines != 1:
        title = _("Trainings over several machines are not supported.")
        yield _refused("launch-machines", "launch.num_machines", title, 1)
    if launch.num_cpu_threads_per_process < 1:
        title = _("launch.num_cpu_threads_per_process must be 1 or more, not {value}.")
        target = "launch.num_cpu_threads_per_process"
        yield _refused("launch-threads", target, title.format(value=launch.num_cpu_threads_per_process), 2)
    if launch.dynamo_backend not in DYNAMO_BACKENDS:
        title = _("launch.dynamo_backend cannot be “{value}”.").format(value=launch.dynamo_backend)
        yield _refused("launch-dynamo", "launch.dynamo_backend", title, "no")


def _judge_processes(count: int, facts: TrainerFacts) -> Iterator[Finding]:
    if not has_accelerate(facts):
        title = _("Several processes need accelerate, which this trainer does not have.")
    elif trains_on_cpu(facts):
        title = _("Several processes need a GPU each; this trainer sees none.")
    elif facts.gpus and count > len(facts.gpus):
        title = _("{count} processes need a GPU each; this trainer sees {gpus}.").format(
            count=count, gpus=len(facts.gpus)
        )
    else:
        return
    yield _refused("multigpu", "launch.num_processes", title, max(1, len(facts.gpus)))


def _refused(kind: str, target: str, title: str, instead: int | str) -> Finding:
    fix = Fix(
        id=f"set-{instead}",
        label=_("set it to {value}").format(value=instead),
        changes={target: instead},
        safe=True,
    )
    return Finding(id=kind, severity="stop", title=title, arguments=(target,), where=target, fixes=(fix,))


def free_port() -> int:
    """Return a TCP port of this machine that nobody listens on now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
