"""Traces how much memory trainings need; runs in a trainer's own Python, needs its torch and no GPU.

Called as ``python trace.py TASKS.json RESULTS.jsonl`` with the trainer's folder as working directory.
``TASKS.json`` is ``{"stages": ["about", ...], "settings": {stage: setting, ...}}``; a setting is that
of ``setting.py``. Every stage writes a line when it begins and a line when it ends, and lines of
progress between them:

    {"stage": "0", "state": "begin"}
    {"stage": "0", "state": "progress", "operations": 2000}
    {"stage": "0", "state": "end", "result": {...}}
    {"stage": "0", "state": "failed", "error": {"exception": ..., "message": ...}}

The stage ``about`` gives the versions, the stage ``parameters:<family>`` counts a family's parts.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).resolve().parent

Write = Callable[[dict[str, Any]], None]


def main(tasks: str, results: str) -> None:
    """Do all stages of a task file."""
    # Found by its name behind everything else, so that it hides no module of the trainer's.
    sys.path[0] = str(Path.cwd())
    sys.path.append(str(PROGRAM.parent))
    task = json.loads(Path(tasks).read_text(encoding="utf-8"))
    _silence()
    with Path(results).open("a", encoding="utf-8") as file:

        def write(line: dict[str, Any]) -> None:
            file.write(json.dumps(line) + "\n")
            file.flush()

        for stage in task["stages"]:
            write({"stage": stage, "state": "begin"})
            try:
                result = _run(stage, task.get("settings", {}), write)
                write({"stage": stage, "state": "end", "result": result})
            except BaseException as error:  # noqa: BLE001 - whatever the trainer's code does is a fact
                write({"stage": stage, "state": "failed", "error": _failure(error)})


def _run(stage: str, settings: dict[str, Any], write: Write) -> dict[str, Any]:
    if stage == "about":
        return about()
    kind, _colon, family = stage.partition(":")
    if kind == "parameters":
        return parameters(family)
    return trace(
        settings[stage],
        lambda operations: write({"stage": stage, "state": "progress", "operations": operations}),
    )


def about() -> dict[str, Any]:
    """Return the versions that a trace depends on."""
    import torch
    import transformers

    return {"torch": str(torch.__version__), "transformers": str(transformers.__version__)}


def parameters(family: str) -> dict[str, Any]:
    """Count the numbers of a family's parts."""
    from memory_tracer.counting import count_parts
    from memory_tracer.families import FAMILIES

    return count_parts(FAMILIES[family](), family)


def trace(task: dict[str, Any], progress: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Trace one setting.

    Args:
        task: The setting; see ``setting.py``.
        progress: Told now and then how many operations were replayed.

    Returns:
        What it needs, as the memory tables have it.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode

    from memory_tracer.cuda_autocast import cuda_autocast_rules
    from memory_tracer.families import FAMILIES
    from memory_tracer.passes import trace_pass
    from memory_tracer.setting import Setting
    from memory_tracer.steps import trace_steps
    from memory_tracer.tracker import StorageTracker

    setting = Setting.of(task)
    family = FAMILIES[setting.family]()
    tracker = StorageTracker(progress=progress)
    replay = trace_steps if setting.part == "step" else trace_pass
    with cuda_autocast_rules(), FakeTensorMode(allow_non_fake_inputs=True):
        return replay(family, setting, tracker)


def _failure(error: BaseException) -> dict[str, Any]:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    missing = (error.name or "").split(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if Path(missing).exists():
        missing = ""  # an older trainer lacks a module of its own, not a package
    return {
        "exception": type(error).__name__,
        "message": lines[0][:500] if lines else "",
        "missing": missing or None,
        "where": None,
    }


def _silence() -> None:
    """Keep what the trainer's modules print out of the way."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
    os._exit(0)  # threads and exit handlers of the imported libraries have nothing to add
