"""What rules about the trainer share: the practice trainer is none, and has no such troubles."""

from __future__ import annotations

from gui.engine.findings import Fix
from gui.engine.preflight.facts import TrainerFact
from gui.engine.preflight.limits import Version, version_of
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.optimizer_names import BY_MODULE, PACKAGES
from gui.engine.preflight.view import View
from gui.engine.texts import _

BITSANDBYTES = "bitsandbytes"


def real_trainer(view: View) -> TrainerFact | None:
    """Return the trainer; None when it is not known, or is the practice trainer."""
    trainer = view.facts.trainer
    return None if trainer is None or trainer.practice else trainer


def practises(view: View) -> bool:
    """Whether the practice trainer would run."""
    return view.facts.trainer is not None and view.facts.trainer.practice


def package_version(view: View, name: str) -> Version | None:
    """Return the version of one of the trainer's packages; None where it is missing or does not tell."""
    trainer = real_trainer(view)
    return version_of((trainer.packages or {}).get(name)) if trainer else None


def package_of_optimizer(view: View) -> str | None:
    """Return the package that the optimizer comes from; None for those of PyTorch and the trainer."""
    name = view.text("optimizer_type") or ""
    return PACKAGES.get(view.optimizer) or BY_MODULE.get(name.partition(".")[0] if "." in name else "")


def uses_bitsandbytes(view: View) -> bool:
    """Whether the optimizer is one of bitsandbytes."""
    return package_of_optimizer(view) == BITSANDBYTES


def plain_optimizers(view: View) -> tuple[Fix, ...]:
    """Return the ways out of an optimizer in eight bits; arguments for it would not fit another."""
    kept = not view.words("optimizer_args")
    off = {"optimizer_args": None, "use_8bit_adam": None, "use_lion_optimizer": None}
    factored = {
        **off,
        "optimizer_type": "Adafactor",
        "optimizer_args": ["scale_parameter=False", "relative_step=False", "warmup_init=False"],
    }
    return (
        write(
            {**off, "optimizer_type": "AdamW"},
            _("use AdamW (more memory)"),
            identity="use-adamw",
            safe=kept,
        ),
        write(factored, _("use Adafactor (as little memory)"), identity="use-adafactor"),
    )
