"""The words of a trainer: what it is, what it computes on, what is wrong with it."""

from __future__ import annotations

import re

from gui.engine.quantities import GIB
from gui.engine.texts import _
from gui.engine.trainer.choosing import Trainer
from gui.engine.trainer.facts import GpuSeen, TrainerFacts


def short_gpu_name(name: str) -> str:
    """Return a GPU's name as people say it: ``RTX 3060``."""
    return re.sub(r"^(NVIDIA\s+)?(GeForce\s+)?", "", name).strip() or name


def short_version(version: str) -> str:
    """Return a version without its build and without a last ``.0``: ``2.8``."""
    plain = version.partition("+")[0]
    return plain.removesuffix(".0") if plain.count(".") > 1 else plain


def short_line(facts: TrainerFacts) -> str:
    """Return a trainer in a line: ``sd-scripts 0.10.1 · torch 2.8 · bf16 ok``."""
    parts = [f"{facts.name} {facts.version or ''}".strip()]
    parts.append(
        _("torch {version}").format(version=short_version(facts.torch)) if facts.torch else _("no torch")
    )
    bf16 = bf16_of(facts)
    if bf16 is not None:
        parts.append(_("bf16 ok") if bf16 else _("no bf16"))
    return " · ".join(parts)


def bf16_of(facts: TrainerFacts) -> bool | None:
    """Whether the GPUs compute bf16; None where there is none, or it cannot be told."""
    known = [gpu.bf16 for gpu in facts.gpus if gpu.bf16 is not None]
    return all(known) if known else None


def sentence(trainer: Trainer) -> str:
    """Return what a trainer is, in a sentence.

    ``0.10.1 in kohya_ss, torch 2.8 with CUDA 12.8, RTX 3060 12 GB, bf16 works.``
    """
    facts, install = trainer.facts, trainer.install
    what = facts.version or (facts.commit or "")[:8] or facts.name
    if install.practice:
        what = _("The practice trainer")
    elif install.origin != "sd-scripts":
        what = _("{version} in {program}").format(version=what, program=install.origin)
    parts = [what, torch_words(facts), *(_gpu_words(gpu) for gpu in facts.gpus)]
    if not facts.gpus:
        parts.append(_("no GPU that it could use") if facts.backend == "cpu" else facts.backend.upper())
    bf16 = bf16_of(facts)
    if bf16 is not None:
        parts.append(_("bf16 works") if bf16 else _("no bf16"))
    return ", ".join(parts) + "."


def torch_words(facts: TrainerFacts) -> str:
    """Return torch and what it was built for."""
    if not facts.torch:
        return _("no torch")
    version = short_version(facts.torch)
    if facts.cuda:
        return _("torch {version} with CUDA {cuda}").format(version=version, cuda=facts.cuda)
    if facts.hip:
        return _("torch {version} with ROCm {hip}").format(version=version, hip=short_version(facts.hip))
    return _("torch {version} for the processor").format(version=version)


def _gpu_words(gpu: GpuSeen) -> str:
    name = short_gpu_name(gpu.name)
    if gpu.total_bytes:
        name = f"{name} {gpu.total_bytes / GIB:.0f} GB"
    if gpu.usable is False:
        name = _("{gpu} (cannot be used: {reason})").format(gpu=name, reason=gpu.problem or "?")
    return name


def problems_of(facts: TrainerFacts) -> list[str]:
    """Return what is wrong with an install, a sentence each."""
    found = list(facts.problems)
    if facts.torch is None:
        found.insert(0, facts.torch_problem or _("torch is not installed: it cannot train"))
    return found
