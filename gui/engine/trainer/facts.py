"""What is known about one installed trainer: the result of the probe."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.trainer.argument import Argument

SCHEMA = 1


class GpuSeen(Document):
    """A GPU that the trainer's own torch sees.

    Attributes:
        index: In torch's order, which ``CUDA_VISIBLE_DEVICES`` may change.
        name: As the driver tells it.
        uuid: ``GPU-…``; None where this torch does not tell.
        capability: Compute capability, ``"8.6"``; None on AMD.
        total_bytes: The device's memory.
        bf16: Whether the hardware computes bf16 natively; None when torch cannot tell.
        usable: Whether a small calculation really worked; None when it could not be tried
            (memory full).
        problem: Why it is not usable, in torch's words.
    """

    index: int
    name: str
    uuid: str | None = None
    capability: str | None = None
    total_bytes: int | None = None
    bf16: bool | None = None
    usable: bool | None = None
    problem: str | None = None


class ImportFailure(Document):
    """Why a module or script could not be imported.

    Attributes:
        exception: The exception's type, or ``crash``, ``hang``, ``exit``.
        message: Its message, first line.
        missing: The module that is not installed, where that is the reason.
        where: ``file.py:123`` of the innermost frame inside the trainer's folder.
    """

    exception: str
    message: str = ""
    missing: str | None = None
    where: str | None = None


class ScriptFacts(Document):
    """A training script's parser, or why there is none."""

    arguments: tuple[Argument, ...] = ()
    error: ImportFailure | None = None


class AccelerateConfig(Document):
    """The configuration that ``accelerate launch`` reads when it is not told otherwise.

    Attributes:
        path: The file in force.
        values: Its content; empty when it cannot be read.
        problem: Why it cannot be read.
    """

    path: str
    values: dict[str, Any] = Field(default_factory=dict)
    problem: str | None = None


class TrainerFacts(Document):
    """Everything that rules, commands and forms may know about one trainer.

    Attributes:
        root: The folder with the training scripts.
        python: The interpreter, as it was called.
        name: What the trainer calls itself: ``sd-scripts``, or what its ``TRAINER.json`` says.
        commit: 40 hex digits; None when the folder is no git checkout.
        version: ``0.10.1``; None when it cannot be told.
        python_version: ``3.10.11``.
        platform: ``sys.platform`` of the trainer's Python.
        torch: Its version; None when it is missing.
        torch_problem: Why torch cannot be imported, though it is installed.
        cuda: The CUDA version that torch was built for; None for a CPU build.
        hip: The ROCm version that torch was built for.
        backend: Where torch would compute: ``cuda``, ``rocm``, ``xpu``, ``mps``, ``cpu``.
        arch_list: The architectures this torch was compiled for (``sm_86``).
        gpus: What torch sees.
        packages: Distribution to version; None when the module is there without a version.
            What is absent is not installed.
        unusable: Packages that are installed and cannot be imported, or do not work; and why.
        modules: Top-level modules that can be imported; None when that is not known.
        accelerate: The accelerate configuration in force.
        scripts: File name to parser.
        problems: Plain sentences about what is wrong with the install.
    """

    schema_: int = Field(default=SCHEMA, alias="schema")
    root: str
    python: str
    name: str = "sd-scripts"
    commit: str | None = None
    version: str | None = None
    python_version: str = ""
    platform: str = ""
    torch: str | None = None
    torch_problem: str | None = None
    cuda: str | None = None
    hip: str | None = None
    backend: str = "cpu"
    arch_list: tuple[str, ...] = ()
    gpus: tuple[GpuSeen, ...] = ()
    packages: dict[str, str | None] = Field(default_factory=dict)
    unusable: dict[str, str] = Field(default_factory=dict)
    modules: tuple[str, ...] | None = None
    accelerate: AccelerateConfig | None = None
    scripts: dict[str, ScriptFacts] = Field(default_factory=dict)
    problems: tuple[str, ...] = ()
