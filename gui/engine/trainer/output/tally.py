"""What the events of a run add up to: all that a verdict needs from the output."""

from __future__ import annotations

import math

from gui.engine.trainer.events import (
    Epoch,
    Error,
    LossNonfinite,
    Phase,
    Progress,
    Saved,
    Setting,
    Step,
    TrainerEvent,
)

_MOST_ERRORS = 20
_HARMLESS = "No module named 'triton'"
"""xformers prints this traceback once a process and works without (ENV-10)."""
_MOST_SAVES = 2000


class Tally:
    """Adds up the events of one run.

    Attributes:
        last_step: The last step seen, 0 when the bar came but no step, None without a bar.
        total: How many steps the bar expects.
        epoch: The epoch last announced.
        epochs: How many there are.
        avr_loss: The bar's moving mean at the last step.
        loss: The step's own loss at the last step that had one.
        first_nonfinite_step: The step of the first loss that was not finite.
        saves: The announced files, the newest 2000.
        saving_lines: How many model files were announced in all.
        phase: The phase last entered.
        model_saved: Whether the trainer said "model saved.", the mark of a run that ended well.
        nothing_to_train: Whether it said that there is nothing to train on, or only wrote its
            configuration to a file; both end with exit status 0.
        settings: What it printed about the run.
        errors: The first 20 errors, launchers' own included.
    """

    def __init__(self) -> None:
        self.last_step: int | None = None
        self.total: int | None = None
        self.epoch: int | None = None
        self.epochs: int | None = None
        self.avr_loss: float | None = None
        self.loss: float | None = None
        self.first_nonfinite_step: int | None = None
        self.saves: list[Saved] = []
        self.saving_lines = 0
        self.phase: str | None = None
        self.model_saved = False
        self.nothing_to_train = False
        self.settings: dict[str, int | float | str] = {}
        self.errors: list[Error] = []
        self._ranked: Error | None = None
        self._raised: Error | None = None
        self._logged: Error | None = None

    @property
    def cause(self) -> Error | None:
        """The error that ended the run, as far as the output tells; launchers' own never count.

        The last exception, but in a distributed run the first process's (the others only lose
        their peer); without an exception the last ERROR record or refusal (trainer-output 6).
        """
        return self._ranked or self._raised or self._logged

    def add(self, event: TrainerEvent) -> None:
        """Count one event in."""
        match event:
            case Step():
                self._step(event)
            case LossNonfinite():
                if self.first_nonfinite_step is None:
                    self.first_nonfinite_step = event.step
            case Phase():
                self.phase = event.phase
                self.model_saved = self.model_saved or event.phase == "done"
            case Epoch():
                self.epoch, self.epochs = event.epoch, event.total
            case Saved():
                self._saved(event)
            case Setting():
                self.settings[event.name] = event.value
                self.nothing_to_train = self.nothing_to_train or event.name == "saved config file"
            case Error():
                self._error(event)
            case Progress(name="steps"):
                self.last_step, self.total = event.done, event.total
            case _:
                pass

    def _step(self, event: Step) -> None:
        self.last_step, self.total = event.step, event.total or self.total
        self.avr_loss = event.avr_loss
        if event.loss is not None:
            self.loss = event.loss
            if not math.isfinite(event.loss) and self.first_nonfinite_step is None:
                self.first_nonfinite_step = event.step

    def _saved(self, event: Saved) -> None:
        self.saves.append(event)
        if len(self.saves) > _MOST_SAVES:
            del self.saves[0]
        if event.kind == "model":
            self.saving_lines += 1

    def _error(self, event: Error) -> None:
        if len(self.errors) < _MOST_ERRORS:
            self.errors.append(event)
        if event.wrapper or _HARMLESS in event.message:
            return
        if event.message.startswith("No data found"):
            self.nothing_to_train = True
        if event.type is None:
            self._logged = event
        elif event.rank is None:
            self._raised = event
        elif self._ranked is None:
            self._ranked = event
