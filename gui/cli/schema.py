"""``schema NAME``: the JSON schema of a document that this program reads or writes."""

from __future__ import annotations

import argparse
import importlib
import json
from typing import Any, Literal, NamedTuple

from pydantic import TypeAdapter

from gui.engine.errors import WrongUsage
from gui.engine.texts import _


class _Known(NamedTuple):
    """Where a document is declared, and whether people write it or only read it."""

    module: str
    name: str
    mode: Literal["validation", "serialization"] = "serialization"


def documents() -> dict[str, _Known]:
    """Return all documents by the name that ``schema`` takes."""
    return {
        "plan": _Known("plan.model", "TrainingPlan", "validation"),
        "family": _Known("plan.families", "Family", "validation"),
        "preset": _Known("plan.preset_layer", "Layer", "validation"),
        "composition": _Known("plan.presets", "Composition"),
        "import": _Known("importers.imported", "ImportReport"),
        "finding": _Known("findings", "Finding"),
        "estimate": _Known("preflight.estimate", "PlanEstimate"),
        "command": _Known("trainer.preview", "ShownCommand"),
        "event": _Known("runs.events", "RunEvent"),
        "trainer-event": _Known("trainer.events", "TrainerEvent"),
        "diagnosis": _Known("runs.diagnosis", "Diagnosis"),
        "trainer-facts": _Known("trainer.facts", "TrainerFacts"),
        "trainer-install": _Known("trainer.installs", "TrainerInstall"),
        "run-command": _Known("runs.records", "CommandRecord"),
        "manifest": _Known("runs.records", "Manifest"),
        "status": _Known("runs.status", "RunStatus"),
        "request": _Known("runs.requests", "Request", "validation"),
        "exit": _Known("runs.launching", "ExitRecord"),
        "launcher": _Known("runs.launching", "Launched"),
        "metrics-step": _Known("runs.metrics", "StepRow"),
        "metrics-validation": _Known("runs.metrics", "ValidationRow"),
        "metrics-gpu": _Known("runs.metrics", "GpuRow"),
        "metrics-host": _Known("runs.metrics", "HostRow"),
        "runs": _Known("runs.listing", "RunList"),
        "rehearsal": _Known("runs.rehearsal_result", "RehearsalResult"),
        "recovery": _Known("runs.recovery_models", "Recovery"),
        "retry": _Known("runs.retry_record", "Retry"),
        "dataset": _Known("dataset.report", "DatasetReport"),
        "checkpoints": _Known("runs.examination", "Examination"),
        "preferences": _Known("preferences", "Preferences", "validation"),
    }


def schema_of(name: str) -> dict[str, Any]:
    """Return a document's JSON schema.

    Raises:
        WrongUsage: There is no such document.
    """
    known = documents().get(name)
    if known is None:
        names = ", ".join(documents())
        raise WrongUsage(
            _("there is no document “{name}”; known are: {names}").format(name=name, names=names)
        )
    declared = getattr(importlib.import_module(f"gui.engine.{known.module}"), known.name)
    schema = TypeAdapter(declared).json_schema(by_alias=True, mode=known.mode)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help=_("the document; without it, all names are listed")
    )


def run(options: argparse.Namespace) -> int:
    """Print the schema, or the names of all documents."""
    if options.name is None:
        print("\n".join(documents()))
    else:
        print(json.dumps(schema_of(options.name), indent=2, ensure_ascii=False))
    return 0
