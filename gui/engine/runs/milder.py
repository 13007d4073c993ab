"""The one change that most often saves a training whose loss broke down: a lower learning rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gui.engine.runs.folder import RunFolder
from gui.engine.runs.launched import launched_settings
from gui.engine.runs.rates import SAFE_RATE, is_mad, lower_rates
from gui.engine.runs.triage import FIRST_STEP
from gui.engine.texts import _


class Offer(NamedTuple):
    """A way on.

    Attributes:
        words: On the button.
        changes: Target in the plan to its new value.
    """

    words: str
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class MilderPlan:
    """What a run's plan would be with lower learning rates.

    Attributes:
        rates: Each of the run's own to its new value.
        mad: Whether they were so high that half of them is no better.
        network: Whether a network is trained, which can begin with a saved one.
    """

    rates: Mapping[str, Any]
    mad: bool = False
    network: bool = False

    def offer(self, step: int | None, clean: Path | None, clean_step: int | None) -> Offer | None:
        """Return the way on, None where the learning rate is hardly the cause.

        Args:
            step: Where the loss broke down.
            clean: The last clean file.
            clean_step: Steps behind it.
        """
        if not self.mad and (step is None or step <= FIRST_STEP):
            return None
        if self.mad:
            text = _("Learning rate {rate:g} instead").format(rate=SAFE_RATE)
            return Offer(text, dict(self.rates))
        if not self.network or clean is None or clean.suffix.lower() != ".safetensors":
            return Offer(_("Half the learning rate"), dict(self.rates))
        changes = {**self.rates, "network_weights": str(clean)}
        if clean_step is None:
            return Offer(_("Half the learning rate, from the last clean file"), changes)
        words = _("Half the learning rate, from step {step}").format(step=f"{clean_step:,}")
        return Offer(words, changes)


def milder_plan(run: RunFolder) -> MilderPlan | None:
    """Read a run's learning rates; None where there are none, or the optimizer finds its own."""
    settings = launched_settings(run)
    rates = lower_rates(settings)
    if not rates:
        return None
    return MilderPlan(rates, is_mad(settings), bool(settings.text("network_module")))
