"""Puts what goes wrong with the memory of a GPU into words: what it is, why, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from gui.engine.quantities import gib
from gui.engine.runs.events import TroubleKind
from gui.engine.runs.memory_trouble import MemoryChange, MemoryLook
from gui.engine.texts import _


def memory_sentence(change: MemoryChange, look: MemoryLook, gpu: str, holders: Sequence[str]) -> str:
    """Return the sentence for a change.

    Args:
        change: What has changed.
        look: The look that showed it.
        gpu: What the GPU is called.
        holders: Other programs and what they hold, the largest first.
    """
    values = {
        "gpu": gpu,
        "used": gib(look.used),
        "total": gib(look.total),
        "amount": gib(change.count),
        "slower": f"{look.slower:.1f}",
        "programs": ", ".join(holders) or _("not told which"),
    }
    return _template(change).format(**values)


def _template(change: MemoryChange) -> str:
    begun = {
        "memory-full": _(
            "The memory of {gpu} is nearly full: {used} of {total}, {amount} left for this run."
        ),
        "gpu-others": _("Other programs hold {amount} of the memory of {gpu}: {programs}."),
        "memory-spill": _(
            "The memory of {gpu} is full ({used} of {total}) and {amount} have spilled over into the RAM of "
            "the machine, which is many times slower."
        ),
    }
    ended = {
        "memory-full": _("{gpu} has room again: {amount} are free."),
        "gpu-others": _("Other programs hold little of the memory of {gpu} again ({amount})."),
        "memory-spill": _("The memory of {gpu} spills over no longer."),
    }
    if change.kind == "memory-spill" and not change.over and not change.count:
        return _(
            "The memory of {gpu} is full ({used} of {total}) and a step takes {slower} times as long as "
            "usual: it spills over into the RAM of the machine."
        )
    return (ended if change.over else begun)[change.kind]


def memory_title(kind: TroubleKind) -> str | None:
    """Return the title of the alarm; None for what is no trouble with memory."""
    return {
        "memory-full": _("The GPU’s memory is nearly full."),
        "memory-spill": _("The GPU’s memory spills over into RAM."),
        "gpu-others": _("Other programs hold memory of the GPU."),
    }.get(kind)


def memory_causes(kind: TroubleKind) -> tuple[str, ...]:
    """Return the likely causes of the alarm."""
    if kind == "memory-spill":
        return (
            _("The training needs more than the GPU has, and Windows gives it RAM instead of an error."),
            _("Another program took memory of the GPU after the start."),
        )
    if kind == "memory-full":
        return (
            _("Batch, resolution, rank or optimizer need nearly all that the GPU has."),
            _("Other programs hold a part of it."),
        )
    return (_("A browser, a game or another program that computes on the GPU is open."),)


def memory_steps(kind: TroubleKind) -> tuple[str, ...]:
    """Return what to do about the alarm, in order."""
    close = _("Close other programs that use the GPU.")
    if kind == "memory-spill":
        return (
            close,
            _("If it stays slow, stop after the next save: the night is longer than it looks."),
            _("Next time use a smaller batch with accumulation, or gradient_checkpointing."),
            _(
                "In NVIDIA’s control panel, set “CUDA – Sysmem Fallback Policy” to “Prefer No Sysmem "
                "Fallback” for the trainer’s Python, to get an error instead."
            ),
        )
    if kind == "memory-full":
        return (
            _("Start nothing else on this GPU."),
            close,
            _("Next time use a smaller batch with accumulation, or gradient_checkpointing."),
        )
    return (close, _("Before the next launch less than 2 GiB should be in use."))
