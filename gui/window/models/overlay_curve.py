"""The losses of one run among several, over steps or over images."""

from __future__ import annotations

from dataclasses import dataclass

from gui.window.models.loss_series import LossSeries


@dataclass(frozen=True)
class OverlayCurve:
    """One run.

    Attributes:
        label: Its letter.
        name: What it is called.
        series: Its figures.
        images_per_step: How many images a step sees; None where that is not known.
    """

    label: str
    name: str
    series: LossSeries
    images_per_step: int | None = None

    def factor(self, *, by_images: bool) -> int:
        """Return how far a step goes on the axis."""
        return (self.images_per_step or 1) if by_images else 1

    def last(self, *, by_images: bool) -> float:
        """Return where the curve ends."""
        steps = self.series.steps
        return steps[-1] * self.factor(by_images=by_images) if steps else 0.0

    def value_at(self, place: float, *, by_images: bool) -> float | None:
        """Return the smoothed loss at a place of the axis; None beyond the curve's end."""
        step = place / self.factor(by_images=by_images)
        index = self.series.index_at(step)
        if index < 0 or step > self.series.steps[-1] + 0.5:
            return None
        value = self.series.smoothed[index]
        return None if value != value else value  # noqa: PLR0124 - what is not a number is not itself


def overlay_csv(curves: list[OverlayCurve]) -> str:
    """Return the smoothed and single losses of all runs as CSV, a row a step; gaps are empty."""
    head = ["step"]
    for curve in curves:
        head += [f"{curve.label} images", f"{curve.label} loss", f"{curve.label} smoothed"]
    rows: dict[float, list[str]] = {}
    for number, curve in enumerate(curves):
        series = curve.series
        for step, loss, smooth in zip(series.steps, series.loss, series.smoothed, strict=True):
            row = rows.setdefault(step, [""] * (3 * len(curves)))
            images = "" if curve.images_per_step is None else f"{step * curve.images_per_step:.0f}"
            row[3 * number : 3 * number + 3] = [images, _field(loss), _field(smooth)]
    lines = (f"{step:.0f}," + ",".join(row) for step, row in sorted(rows.items()))
    return "\n".join([",".join(head), *lines]) + "\n"


def _field(value: float) -> str:
    return "" if value != value else repr(value)  # noqa: PLR0124 - as above
