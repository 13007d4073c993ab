"""The lines with which the trainer begins, as it will print them for a plan: how much it trains.

Source: trainer-facts 5.4 (train_network.py:1044-1060).
"""

from __future__ import annotations

from gui.engine.preflight.steps import StepsForecast, forecast_steps
from gui.engine.preflight.view import View, as_number


def header_lines(view: View) -> list[str]:
    """Return the lines in the trainer's own words; none where the images are not known.

    Args:
        view: The plan and the facts.
    """
    forecast = forecast_steps(view)
    if forecast is None:
        return []
    return [f"{words}: {figure}" for words, figure in _figures(view, forecast)]


def _figures(view: View, forecast: StepsForecast) -> list[tuple[str, str]]:
    sizes = [dataset.number("batch_size") for dataset in view.dataset_views]
    batch_size = ", ".join(str(max(1, int(size if size is not None else 1))) for size in sizes)
    accumulation = as_number(view.value("gradient_accumulation_steps"))
    return [
        ("num train images * repeats", str(forecast.images_repeated)),
        ("num reg images", str(forecast.reg_listed)),
        ("num batches per epoch", str(forecast.batches_per_epoch)),
        ("num epochs", str(forecast.epochs)),
        ("batch size per device", batch_size),
        ("gradient accumulation steps", str(max(1, int(accumulation or 1)))),
        ("total optimization steps", str(forecast.total_steps)),
    ]
