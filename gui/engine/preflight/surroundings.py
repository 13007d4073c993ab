"""Facts about what surrounds a training: who else uses the GPU, disks, other runs, the user's settings."""

from __future__ import annotations

from typing import Literal

from gui.engine.documents import Document

DiskKind = Literal["solid", "rotational", "network"]


class HolderFact(Document):
    """A process that holds memory of a GPU.

    Attributes:
        pid: Its number, as the driver tells it; inside a container perhaps one of the host's.
        name: Its program; empty where that is not told.
        gib: What it holds, GiB; None where the driver does not tell (Windows).
        run: The name of the run of this program that it belongs to; None when to none.
    """

    pid: int
    name: str = ""
    gib: float | None = None
    run: str | None = None


class TrainerGpuFact(Document):
    """A GPU as the trainer's own torch saw it.

    Attributes:
        name: As torch tells it.
        uuid: ``GPU-…``; None where this torch does not tell.
        usable: Whether a small calculation worked; None when it could not be tried.
        problem: Why it did not, in torch's words.
    """

    name: str = ""
    uuid: str | None = None
    usable: bool | None = None
    problem: str | None = None


class DiskFact(Document):
    """The disk of one place that the plan names.

    Attributes:
        argument: The target that names it: ``output_dir``, ``dataset.subsets.0.image_dir``.
        path: The place; empty where only facts were given.
        kind: What the disk is; None where the system does not tell.
        free_gib: Room on it, GiB.
        answers: Whether it answers at all: a network drive may be gone.
    """

    argument: str
    path: str = ""
    kind: DiskKind | None = None
    free_gib: float | None = None
    answers: bool = True


class AccelerateFact(Document):
    """The user's own configuration of accelerate, which a run of this program does not use.

    Attributes:
        path: The file.
        num_processes: How many it would start.
        mixed_precision: ``no``, ``fp16``, ``bf16``, ``fp8``.
        gpu_ids: ``all`` or numbers with commas.
        distributed_type: ``NO``, ``MULTI_GPU``, ``DEEPSPEED``, ``FSDP``, …
        use_cpu: Whether it trains on the processor.
        problem: Why it cannot be read.
    """

    path: str = ""
    num_processes: int | None = None
    mixed_precision: str | None = None
    gpu_ids: str | None = None
    distributed_type: str | None = None
    use_cpu: bool = False
    problem: str | None = None


class PowerFact(Document):
    """How the machine is powered.

    Attributes:
        on_battery: Whether it is without mains; None where there is no battery.
        plan: Which way its power settings lean; None where they do not tell.
        sleep_minutes: After so long without use it falls asleep; 0 never, None where it does not tell.
    """

    on_battery: bool | None = None
    plan: Literal["saver", "balanced", "performance"] | None = None
    sleep_minutes: float | None = None


PROMPTS = "sample_prompts"
"""The argument that names the file of the samples' prompts."""


class TextFact(Document):
    """A text file that the trainer will read.

    Attributes:
        argument: The target that names it.
        path: The file.
        problem: What the trainer would stumble over: ``encoding`` (no UTF-8), ``mark`` (a byte order
            mark), ``escape`` (backslashes in a TOML text), ``syntax`` (no TOML, no JSON).
        line: Where, from 1.
        words: What is wrong, as a reader says it.
        sizes_px: Width and height of each size of sample that prompts in it ask for; None for the
            trainer's own.
    """

    argument: str
    path: str = ""
    problem: Literal["encoding", "mark", "escape", "syntax"] | None = None
    line: int | None = None
    words: str = ""
    sizes_px: tuple[tuple[int | None, int | None], ...] = ()


class RunFact(Document):
    """A run of this program of which something is alive.

    Attributes:
        name: The run's name.
        folder: The run's folder, absolute; empty where only facts were given.
        over: Whether its trainer has ended, or it was judged: what lives is left over.
        watched: Whether its supervisor lives.
        processes: Pids of what lives.
        output_dir: Where it saves, absolute.
        output_name: What its files are called.
    """

    name: str
    folder: str = ""
    over: bool = False
    watched: bool = True
    processes: tuple[int, ...] = ()
    output_dir: str | None = None
    output_name: str = ""
