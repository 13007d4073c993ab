"""The rule about room on the disk: a full disk kills the trainer, or cuts its last file.

Source: S7, STEP-13, DATA-13; the forecast is ``gui/engine/preflight/disk.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gui.engine.findings import Finding, Fix, Severity
from gui.engine.plan.changes import apply_changes
from gui.engine.preflight.disk import DiskForecast, forecast_disk
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.view import View
from gui.engine.quantities import GIB
from gui.engine.texts import _, ngettext

RESERVE_GIB = 1.0
"""What must be left: other programs and the system write too."""

KEPT = 3
"""How many saves are kept where all do not fit."""


def check_disk(view: View) -> Iterator[Finding]:
    """Saves, states, samples and log must fit (S7, STEP-13); caches lie beside the images."""
    forecast = forecast_disk(view)
    free = view.facts.disk_free_gib
    if forecast is None or free is None:
        return
    severity = _severity(forecast, free)
    if severity is None:
        return
    yield Finding(
        id="disk",
        severity=severity,
        title=_("The run would write {need:.1f} GiB, and {free:.1f} GiB are free.").format(
            need=forecast.total_gib, free=free
        ),
        detail=_parts(forecast),
        arguments=("output_dir", "save_every_n_epochs", "save_every_n_steps", "save_state"),
        fixes=tuple(_fitting(view, free)),
        sources=("S7", "STEP-13", "DATA-13"),
    )


def _severity(forecast: DiskForecast, free: float) -> Severity | None:
    output = forecast.output_bytes / GIB
    if output > free:
        return "stop"
    return "warning" if forecast.total_gib + RESERVE_GIB > free else None


def _parts(forecast: DiskForecast) -> str:
    parts = [
        ngettext(
            "{count} model of {size:.2f} GiB", "{count} models of {size:.2f} GiB", forecast.saves
        ).format(count=forecast.saves, size=(forecast.save_bytes or 0) / GIB)
    ]
    if forecast.states:
        parts.append(
            ngettext(
                "{count} state of {size:.2f} GiB", "{count} states of {size:.2f} GiB", forecast.states
            ).format(count=forecast.states, size=forecast.state_bytes / GIB)
        )
    rest = (forecast.samples_bytes + forecast.log_bytes) / GIB
    parts.append(_("{size:.2f} GiB of samples and log").format(size=rest))
    if forecast.caches_bytes:
        parts.append(_("{size:.2f} GiB of caches beside the images").format(size=forecast.caches_bytes / GIB))
    return "; ".join(parts) + "."


def _fitting(view: View, free: float) -> Iterator[Fix]:
    """Offer what would really make it fit."""
    every = view.number("save_every_n_steps")
    offers: list[tuple[str, str, Mapping[str, Any]]] = []
    if view.given("save_every_n_epochs") or view.given("save_n_epoch_ratio"):
        offers.append(
            ("keep-epochs", _("keep the last {count} saves").format(count=KEPT), {"save_last_n_epochs": KEPT})
        )
    if every:
        offers.append(
            (
                "keep-steps",
                _("keep the last {count} saves").format(count=KEPT),
                {"save_last_n_steps": int(every) * (KEPT - 1)},
            )
        )
    if view.flag("save_state"):
        only_last = {"save_state": None, "save_state_on_train_end": True}
        offers.append(("last-state", _("save a state at the end only"), only_last))
    for identity, label, changes in offers:
        changed = forecast_disk(replace(view, plan=apply_changes(view.plan, changes)))
        if changed is not None and _severity(changed, free) is None:
            yield write(changes, label, identity=identity)


RULES: tuple[Rule, ...] = (Rule("disk", check_disk, ("S7", "STEP-13"), lambda: _("Room on the disk")),)
