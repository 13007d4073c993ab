"""Run folders with what a training has saved, states and all, without a training."""

from __future__ import annotations

import json
import pickle
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.records import CommandRecord, Manifest
from gui.engine.runs.status import FileNow, RunStatus
from gui.engine.trainer.events import Setting, Step
from gui.engine.trainer.saved_state import StateNumbers

NAMES = ("lora_unet_down_blocks_0_a", "lora_unet_up_blocks_1_b")


def write_weights(
    path: Path, value: float = 0.01, metadata: Mapping[str, str] | None = None, modules: Sequence[str] = NAMES
) -> Path:
    """Write a whole little LoRA file whose numbers all are ``value``."""
    header: dict[str, Any] = {"__metadata__": dict(metadata or {})}
    data, place = b"", 0
    for module in modules:
        for part, shape in (("lora_down.weight", [4, 8]), ("lora_up.weight", [8, 4])):
            piece = struct.pack("<32f", *[value] * 32)
            header[f"{module}.{part}"] = {
                "dtype": "F32",
                "shape": shape,
                "data_offsets": [place, place + len(piece)],
            }
            data, place = data + piece, place + len(piece)
    words = json.dumps(header).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(words)) + words + data)
    return path


def write_state(
    folder: Path,
    *,
    counted: Any = None,
    table: Any = None,
    processes: int = 1,
    value: float | None = 0.01,
    optimizer: bool = True,
) -> Path:
    """Write a state as accelerate does.

    Args:
        folder: Where.
        counted: The step in ``train_state.json``; None leaves the file out.
        table: What ``scheduler.bin`` holds; None leaves it out.
        processes: How many saved their random numbers.
        value: Of all its weights; None leaves them out.
        optimizer: Whether the optimizer's state is there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if counted is not None:
        (folder / "train_state.json").write_text(json.dumps({"current_epoch": 1, "current_step": counted}))
    if table is not None:
        with zipfile.ZipFile(folder / "scheduler.bin", "w") as archive:
            archive.writestr("scheduler/data.pkl", pickle.dumps(table, protocol=2))
    if value is not None:
        write_weights(folder / "model.safetensors", value)
    if optimizer:
        with zipfile.ZipFile(folder / "optimizer.bin", "w") as archive:
            archive.writestr("optimizer/data.pkl", b"never unpickled")
    for number in range(processes):
        (folder / f"random_states_{number}.pkl").write_bytes(b"")
    return folder


def saved_run(
    home: Home,
    arguments: Mapping[str, Any],
    *,
    batches: int | None = 10,
    whole: int | None = 100,
    script: str = "train_network.py",
    files: Sequence[FileNow] = (),
    resumed_from: StateNumbers | None = None,
    **status: Any,
) -> RunFolder:
    """Write a run whose trainer has said how much it trains.

    Args:
        home: Where.
        arguments: Of the trainer's command line; True for a flag. ``output_dir`` must be there.
        batches: Of one epoch, as printed; None: it never came so far.
        whole: Optimizer steps, as printed.
        script: The trainer's script.
        files: What it has saved.
        resumed_from: What the state told that it goes on from.
        status: More of its status.
    """
    run = RunFolder(home.runs / "20261130-010203-mira")
    run.path.mkdir(parents=True, exist_ok=True)
    words = [word for name, value in arguments.items() for word in _words(name, value)]
    CommandRecord(
        argv=("python", f"/trainer/{script}", *words),
        cwd=home.runs,
        python="python",
        script=script,
        output_dir=Path(arguments["output_dir"]),
        output_name=arguments.get("output_name"),
        resumed="resume" in arguments,
    ).write(run.command)
    plan = {name: value for name, value in arguments.items() if value is not None}
    lines = [f"{name} = {json.dumps(value)}" for name, value in plan.items()]
    run.plan.write_text("\n".join(["schema = 1", 'name = "mira"', "[arguments]", *lines]) + "\n")
    Manifest(program="1", plan_name="mira", resumed_from=resumed_from).write(run.manifest)
    told = {"num batches per epoch": batches, "total optimization steps": whole}
    events: list[Any] = [Setting(name=name, value=value) for name, value in told.items() if value is not None]
    events.append(Step(step=1, total=whole))
    run.events.write_text("".join(event.model_dump_json() + "\n" for event in events), "utf-8")
    RunStatus(name=run.name, plan_name="mira", files=tuple(files), **status).write(run.status)
    return run


def _words(name: str, value: Any) -> list[str]:
    if value is True:
        return [f"--{name}"]
    values = value if isinstance(value, (list, tuple)) else [value]
    return [f"--{name}", *map(str, values)]


def saved(path: Path, kind: str = "model", **more: Any) -> FileNow:
    """Return what a status says of a saved file, judged clean unless told otherwise."""
    judgement = "clean" if kind == "model" else None
    return FileNow(path=path, kind=kind, **{"complete": True, "size": 1, "judgement": judgement, **more})  # type: ignore[arg-type]
