"""What phases and parts of a memory forecast are called, everywhere alike."""

from __future__ import annotations

from gui.engine.hardware.memory.forecasts import MemoryParts, PhaseName
from gui.engine.texts import _


def phase_words() -> dict[PhaseName, str]:
    """Return what phases are called."""
    return {
        "latents": _("caching latents"),
        "text": _("encoding captions"),
        "load": _("loading"),
        "step": _("training step"),
        "samples": _("sample image"),
        "saving": _("saving"),
    }


def part_words() -> dict[str, str]:
    """Return what the parts of a phase are called."""
    return {
        "weights": _("weights"),
        "adapter": _("network"),
        "gradients": _("gradients"),
        "optimizer": _("optimizer"),
        "activations": _("activations"),
        "context": _("driver"),
        "fragmentation": _("fragmentation"),
    }


def parts_in_words(parts: MemoryParts) -> str:
    """Return the parts that can be seen, in GiB: ``weights 6.3, network 0.4``."""
    words = part_words()
    return ", ".join(
        f"{words[name]} {gib:.1f}" for name, gib in parts.model_dump().items() if round(gib, 1) > 0
    )
