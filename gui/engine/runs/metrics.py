"""Figures over time: the rows of ``metrics.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from gui.engine.documents import Document, iterate_json_lines
from gui.engine.trainer.events import Figure


class StepRow(Document):
    """One optimizer step.

    Attributes:
        t: Seconds since the trainer started, None for steps that no supervisor saw.
        step: Its number.
        loss: Its own loss, from the tracker.
        avr_loss: The bar's moving mean.
        lr: Learning rates by the tracker's names.
        rate: Steps a second at that time.
    """

    t: float | None = None
    metric: Literal["step"] = "step"
    step: int
    loss: Figure = None
    avr_loss: Figure = None
    lr: dict[str, Figure] = Field(default_factory=dict)
    rate: float | None = None


class ValidationRow(Document):
    """One look at images that are not trained on (train_network.py, ``--validation_split``).

    Attributes:
        t: Seconds since the trainer started, None where no supervisor saw it.
        step: The optimizer step after which it was made.
        loss: Its mean loss, from the tracker.
    """

    t: float | None = None
    metric: Literal["validation"] = "validation"
    step: int
    loss: Figure = None


class GpuRow(Document):
    """One look at one GPU; bytes, percent, degrees Celsius and watts, None where not told.

    Memory is looked at up to ten times between two rows: ``peak_…`` is the most since the row before.
    ``shared_bytes`` is RAM that the GPU uses for the run, ``others_bytes`` what other programs hold,
    ``torch_…`` what the hook in the trainer said last.
    """

    t: float | None = None
    metric: Literal["gpu"] = "gpu"
    index: int
    uuid: str
    used_bytes: int | None = None
    total_bytes: int | None = None
    process_bytes: int | None = None
    peak_used_bytes: int | None = None
    peak_process_bytes: int | None = None
    shared_bytes: int | None = None
    others_bytes: int | None = None
    torch_allocated_bytes: int | None = None
    torch_reserved_bytes: int | None = None
    utilisation_percent: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None


class HostRow(Document):
    """One look at the machine: the trainer's processes, free RAM, free room by folder.

    ``tree_pss_bytes`` is what the processes really hold; in ``tree_rss_bytes`` what they share counts
    once for each.
    """

    t: float | None = None
    metric: Literal["host"] = "host"
    tree_rss_bytes: int
    tree_pss_bytes: int | None = None
    tree_processes: int
    ram_available_bytes: int | None = None
    disk_free_bytes: dict[str, int] = Field(default_factory=dict)


AnyRow = StepRow | ValidationRow | GpuRow | HostRow
MetricRow = Annotated[AnyRow, Field(discriminator="metric")]
METRIC_ROW: TypeAdapter[MetricRow] = TypeAdapter(MetricRow)


def parse_row(line: bytes) -> AnyRow | None:
    """Return the row in a line; None for junk, and for one that only a newer version knows.

    A hundred thousand lines take half a second (bench_run_index).
    """
    try:
        return METRIC_ROW.validate_json(line)
    except ValidationError:
        return None


def read_metrics(path: Path) -> Iterator[AnyRow]:
    """Read ``metrics.jsonl`` from its beginning; a last line that is still being written is left out."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        for line in file:
            row = parse_row(line) if line.endswith(b"\n") else None
            if row is not None:
                yield row


def last_step_in(path: Path) -> int:
    """Return the last step that has a row, 0 without any."""
    if not path.is_file():
        return 0
    steps = (row.get("step") for row in iterate_json_lines(path) if row.get("metric") == "step")
    return max((step for step in steps if isinstance(step, int)), default=0)
