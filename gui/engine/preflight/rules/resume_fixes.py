"""What the rules about resuming share: their findings, and the ways out that most of them offer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from gui.engine.findings import Finding, Fix, Severity
from gui.engine.preflight.file_facts import StateFact
from gui.engine.preflight.resume_outlook import resume_outlook
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.view import View
from gui.engine.texts import _
from gui.engine.trainer.resume_ways import OWN_COUNT


def resume_finding(
    identity: str, severity: Severity, title: str, detail: str, fixes: tuple[Fix, ...], *sources: str
) -> Finding:
    """Return a finding whose place is what is resumed."""
    return Finding(
        id=identity,
        severity=severity,
        title=title,
        detail=detail,
        arguments=("resume",),
        fixes=fixes,
        sources=sources,
    )


def only_needed(view: View, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out removals of what the plan does not say."""
    return {name: value for name, value in changes.items() if value is not None or view.given(name)}


def from_weights(view: View, state: StateFact) -> tuple[Fix, ...]:
    """Return the fix that begins anew with the saved weights and the steps that remain, where it is known."""
    if state.network is None or (view.trains_network and not view.knows("network_weights")):
        return ()
    outlook = resume_outlook(view)
    length: dict[str, Any] = {}
    if outlook is not None and outlook.remaining > 0 and not outlook.asks_rest:
        length = {"max_train_steps": outlook.remaining, "max_train_epochs": None}
    weights = (
        {"network_weights": state.network, "dim_from_weights": True}
        if view.trains_network
        else {"pretrained_model_name_or_path": state.network}
    )
    changes = {"resume": None, **dict.fromkeys(OWN_COUNT), **length}
    name = PurePath(state.network).name
    return (
        write(
            {**only_needed(view, changes), **weights},
            _("begin anew with the weights of {file}").format(file=name),
            identity="weights",
        ),
    )
