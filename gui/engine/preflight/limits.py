"""Figures about machine and trainer by which rules decide, as data with their sources."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.resources import resource_path
from gui.engine.yaml_text import read_yaml

Version = tuple[int, ...]


def version_of(text: str | None) -> Version | None:
    """Return the numbers that a version begins with: ``2.6.0+cu124`` is (2, 6, 0); None without any."""
    found = re.match(r"v?(\d+(?:\.\d+)*)", text or "")
    return tuple(int(part) for part in found[1].split(".")) if found else None


class _Sourced(Document):
    sources: tuple[str, ...]


class GpuLimits(_Sourced):
    """Figures about GPUs.

    Attributes:
        idle_use_gib: Less than this should be in use before a launch.
        consumer: Parts of the names of cards for games.
    """

    idle_use_gib: float = Field(gt=0)
    consumer: tuple[str, ...]


class Architecture(_Sourced):
    """What GPUs of a compute capability and above need.

    Attributes:
        capability: ``"10.0"``.
        cuda: The oldest CUDA version that a torch may be built for.
    """

    capability: str
    cuda: str


class BitsandbytesLimits(_Sourced):
    """Figures about bitsandbytes.

    Attributes:
        windows: The first version that works on Windows as it comes.
        capability: Below this compute capability kernels are often missing.
    """

    windows: str
    capability: str


class XformersLimits(_Sourced):
    """From which compute capability on its kernels fail."""

    capability: str


class PythonLimits(_Sourced):
    """The oldest and the newest Python that a trainer is known to work with."""

    oldest: str
    newest: str


class TorchLimits(_Sourced):
    """The oldest torch that trains at full speed."""

    oldest: str


class T5Limits(_Sourced):
    """The version of the trainer from which on a T5 in fp8 works without a cache."""

    mended: str


class WorkerLimits(_Sourced):
    """How many loader workers are too many, or too few.

    Attributes:
        windows: More than this are slow on Windows.
        most: So many, or more, are slow anywhere.
        least: Fewer are slow where images are read at each step.
        advised: What to take instead.
    """

    windows: int
    most: int
    least: int
    advised: int


class RamLimits(_Sourced):
    """How much RAM is needed.

    Attributes:
        gib: Family to GiB.
        tolerance: The share of it that is enough.
        hopeless: Below this share it hardly ever ends well.
        commit: What Windows gives out must be so many times the need.
        unusual_gib: From this need on it is said also where the RAM is not known.
    """

    gib: dict[str, float]
    tolerance: float
    hopeless: float
    commit: float
    unusual_gib: float


class PathLimits(_Sourced):
    """How many characters a path may have on Windows."""

    longest_windows: int


class MachineLimits(Document):
    """``resources/machine_limits.yaml``."""

    schema_: Literal[1] = Field(alias="schema")
    gpu: GpuLimits
    architectures: tuple[Architecture, ...]
    bitsandbytes: BitsandbytesLimits
    xformers: XformersLimits
    python: PythonLimits
    torch: TorchLimits
    t5_fp8: T5Limits
    workers: WorkerLimits
    ram: RamLimits
    paths: PathLimits


class Tokenizers(_Sourced):
    """Tokenizers that some scripts load from the hub.

    Attributes:
        scripts: How their names begin.
        when: Only with this flag.
        repositories: ``owner/name``.
        gated: Whether they are only given to who has agreed to their terms.
    """

    scripts: tuple[str, ...]
    when: str | None = None
    repositories: tuple[str, ...]
    gated: bool = False


class Hub(_Sourced):
    """``resources/hub.yaml``.

    Attributes:
        tokenizers: The first that fits counts.
        removed: Repositories that are gone to where the same model is.
    """

    schema_: Literal[1] = Field(alias="schema")
    tokenizers: tuple[Tokenizers, ...]
    removed: dict[str, str]


@lru_cache(maxsize=4)
def machine_limits(path: Path | None = None) -> MachineLimits:
    """Return the figures about machine and trainer.

    Args:
        path: The file; None takes the program's own.

    Raises:
        CannotRead: It is no such file.
    """
    return read_yaml(path or resource_path("machine_limits.yaml"), MachineLimits)


@lru_cache(maxsize=4)
def hub(path: Path | None = None) -> Hub:
    """Return what is known of the Hugging Face hub.

    Args:
        path: The file; None takes the program's own.

    Raises:
        CannotRead: It is no such file.
    """
    return read_yaml(path or resource_path("hub.yaml"), Hub)
