"""What is known about a model file, in a line."""

from __future__ import annotations

from gui.engine.preflight.facts import ModelFact
from gui.engine.quantities import gib
from gui.engine.texts import _

KINDS_SHOWN = 3
"""So many kinds of number are named; files with scales beside their weights have more."""


def model_words(fact: ModelFact, size_bytes: int | None = None) -> str:
    """Return what a model file is: ``Checkpoint of Stable Diffusion XL · BF16 · 6.5 GiB · complete``.

    Args:
        fact: As its header tells.
        size_bytes: How large it is; None for a folder.
    """
    predicts = fact.prediction == "v" and fact.kind in ("checkpoint", "denoiser")
    parts = (
        fact.title[:1].upper() + fact.title[1:],
        _("predicts velocity") if predicts else "",
        ", ".join(list(fact.dtypes)[:KINDS_SHOWN]),
        _("quantised") if fact.quantised else "",
        gib(size_bytes) if size_bytes is not None else "",
        _complete_words(fact),
    )
    return " · ".join(part for part in parts if part)


def _complete_words(fact: ModelFact) -> str:
    if fact.complete is None:
        return ""
    return _("complete") if fact.complete else _("not complete")
