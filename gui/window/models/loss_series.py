"""The figures of a run for its chart: flat arrays that grow, in the standard library's own form.

numpy looks at them without a copy when they are drawn, so that nothing heavy is imported before.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable

from gui.engine.runs.metrics import StepRow

NAN = math.nan
DEFAULT_WINDOW = 50
_COLUMNS_BEFORE_RATES = ("step", "loss", "smoothed", "avr_loss", "validation_loss")


class LossSeries:
    """Figures by step, in rising order of steps; what is missing or not finite is NaN.

    Args:
        window: The smoothing: an exponential mean whose weights have this many steps' span (α = 2/(n+1)),
            corrected for its start, so that the first values are not drawn towards zero.

    Attributes:
        steps: Step numbers.
        loss: Losses of single steps, from the tracker.
        mean: The bar's own moving mean.
        smoothed: Of ``loss``; of ``mean`` where no single losses are known.
        rates: Learning rates by name.
        validation_steps: Where validation took place.
        validation: Its losses.
    """

    def __init__(self, window: int = DEFAULT_WINDOW) -> None:
        self.window = window
        self.steps = array("d")
        self.loss = array("d")
        self.mean = array("d")
        self.smoothed = array("d")
        self.rates: dict[str, array[float]] = {}
        self.validation_steps = array("d")
        self.validation = array("d")
        self.has_losses = False
        self._sum = 0.0
        self._weight = 0.0
        self._stale = False

    def __len__(self) -> int:
        return len(self.steps)

    def add(self, rows: Iterable[StepRow]) -> None:
        """Take rows; a later row of the same step replaces what it knows better."""
        for row in rows:
            if self.steps and row.step <= self.steps[-1]:
                self._mend(row)
            else:
                self._append(row)
        if self._stale:
            self._smooth_anew()

    def add_validation(self, step: int, loss: float) -> None:
        """Take a validation loss."""
        place = bisect_left(self.validation_steps, step)
        if place < len(self.validation_steps) and self.validation_steps[place] == step:
            self.validation[place] = _finite(loss)
        else:
            self.validation_steps.insert(place, step)
            self.validation.insert(place, _finite(loss))

    def _smooth_anew(self) -> None:
        self._stale = False
        self._sum = self._weight = 0.0
        self.smoothed = array("d", map(self._smooth, self.loss if self.has_losses else self.mean))

    def index_at(self, step: float) -> int:
        """Return the index of the row nearest to a step; -1 without rows."""
        place = bisect_left(self.steps, step)
        if place == len(self.steps):
            return place - 1
        if place and step - self.steps[place - 1] < self.steps[place] - step:
            return place - 1
        return place

    def csv(self) -> str:
        """Return everything as CSV with a head line; an empty field is a value that is not known."""
        names = sorted(self.rates)
        validation = dict(zip(self.validation_steps, self.validation, strict=True))
        steps = sorted({*self.steps, *validation})
        place = {step: index for index, step in enumerate(self.steps)}
        columns = [self.loss, self.smoothed, self.mean]
        lines = [",".join((*_COLUMNS_BEFORE_RATES, *(_field(f"lr {name}") for name in names)))]
        for step in steps:
            index = place.get(step)
            values = [column[index] if index is not None else NAN for column in columns]
            values.append(validation.get(step, NAN))
            values.extend(self.rates[name][index] if index is not None else NAN for name in names)
            fields = ("" if math.isnan(value) else repr(value) for value in values)
            lines.append(f"{step:.0f}," + ",".join(fields))
        return "\n".join(lines) + "\n"

    def _append(self, row: StepRow) -> None:
        known = len(self.steps)
        loss, mean = _finite(row.loss), _finite(row.avr_loss)
        self.steps.append(row.step)
        self.loss.append(loss)
        self.mean.append(mean)
        if not self.has_losses and not math.isnan(loss):
            self.has_losses = True
            self._stale = known > 0
        self.smoothed.append(self._smooth(loss if self.has_losses else mean))
        for name in row.lr:
            if name not in self.rates:
                self.rates[name] = array("d", [NAN]) * known
        for name, values in self.rates.items():
            values.append(_finite(row.lr.get(name)))

    def _mend(self, row: StepRow) -> None:
        place = bisect_left(self.steps, row.step)
        columns = [self.loss, self.mean, self.smoothed, *self.rates.values()]
        if place == len(self.steps) or self.steps[place] != row.step:
            self.steps.insert(place, row.step)
            for column in columns:
                column.insert(place, NAN)
        for column, value in ((self.loss, row.loss), (self.mean, row.avr_loss)):
            if value is not None:
                column[place] = _finite(value)
        self.has_losses = self.has_losses or not math.isnan(self.loss[place])
        for name, rate in row.lr.items():
            if name not in self.rates:
                self.rates[name] = array("d", [NAN]) * len(self.steps)
            self.rates[name][place] = _finite(rate)
        self._stale = True

    def _smooth(self, value: float) -> float:
        if math.isnan(value):
            return NAN
        share = 2 / (self.window + 1)
        self._sum += share * (value - self._sum)
        self._weight += share * (1 - self._weight)
        return self._sum / self._weight


def _finite(value: float | None) -> float:
    return value if value is not None and math.isfinite(value) else NAN


def _field(name: str) -> str:
    """Return a name as CSV has it: quoted where it must be."""
    quoted = name.replace('"', '""')
    return f'"{quoted}"' if any(char in name for char in ',"\n\r') else name
