"""Reads the published memory figures of ``tests/data/memory_points`` as questions to the forecast."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gui.engine.hardware.memory.advice import high_of
from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.forecast import forecast
from gui.engine.hardware.memory.forecasts import MemoryForecast
from gui.engine.hardware.memory.question import MemoryQuestion, NetworkQuestion, OptimizerQuestion
from gui.engine.hardware.memory.room import Room
from gui.engine.hardware.memory.tables import load_tables
from gui.engine.preflight.rules.memory_forecast import severity_of

FOLDER = Path(__file__).parents[1] / "data" / "memory_points"

FAMILIES = {
    "flux": "flux1",
    "sd3": "sd3",
    "sd3.5-medium": "sd35-medium",
    "sd3.5-large": "sd35-large",
    "anima (AnyFlow distillation)": "anima",
}
"""What the points call a family that the program knows by another name."""

MEASURED = ("first", "further", "simpletuner")
"""Groups whose rows state what was measured."""

TRAINERS = ("sd-scripts", "kohya_ss GUI/sd-scripts", "OneTrainer", "SimpleTuner")


@dataclass(frozen=True)
class Point:
    """A published figure read as a question.

    Attributes:
        line: In the file, 1 being its head.
        row: As the file has it.
        group: Which demand it belongs to.
        question: What is asked.
        assumed: What the row does not state, and why it is taken so.
        system: Operating system.
    """

    line: int
    row: dict[str, str]
    group: str
    question: MemoryQuestion
    assumed: str
    system: str = "linux"

    @property
    def stated(self) -> float:
        """The published figure, GB or GiB as the source says or does not say."""
        return float(self.row["peak_gib"])

    def forecast(self) -> MemoryForecast:
        """Forecast it before any run was measured."""
        return forecast(self.question, load_tables(), load_figures().prior(self.system))

    def reading(self) -> tuple[float, float, float]:
        """Return low, likely and high of what was measured: of SimpleTuner what the allocator gave out."""
        step = self.forecast().phase("step")
        assert step is not None, (self.line, self.forecast().unknown)
        beside = step.parts.context + step.parts.fragmentation if self.group == "simpletuner" else 0.0
        return step.low - beside, step.likely - beside, step.high - beside

    @property
    def error(self) -> float:
        """By how much the forecast is off, as part of the figure."""
        return self.reading()[1] / self.stated - 1

    @property
    def severity(self) -> str | None:
        """How bad the program would call it on a card of the stated size, nothing else on it."""
        step = self.forecast().phase("step")
        return severity_of(step, Room.of(self.stated, self.stated, self.system), None) if step else None

    @property
    def inside(self) -> bool:
        """Whether the figure lies between low and high."""
        low, _likely, high = self.reading()
        return low <= self.stated <= high

    @property
    def name(self) -> str:
        """The row in a few words."""
        of = self.row
        words = [
            of["trainer"].split()[0],
            of["family"].split()[0],
            of["kind"],
            of["precision"],
            of["optimizer"],
        ]
        words += [f"rank {of['rank']}" if of["rank"] else "", f"batch {of['batch']}" if of["batch"] else ""]
        words += ["checkpointing" if of["grad_checkpointing"] == "1" else "", of["gpu"]]
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class Failure:
    """A training that was reported to fail, and on which card."""

    what: str
    gib: float
    question: MemoryQuestion

    @property
    def safe(self) -> bool:
        """Whether the program would say nothing of it, on a card of which a desktop uses a twentieth."""
        needed = forecast(self.question, load_tables(), load_figures().prior("linux"))
        return (
            needed.unknown is None and high_of(needed) <= Room.of(self.gib, 0.95 * self.gib, "linux").usable
        )


@dataclass
class Points:
    """All of it.

    Attributes:
        used: Rows that were read.
        unused: Line to why a row was not.
        failures: Reported failures.
        explained: Line to why a forecast is far off.
    """

    used: list[Point] = field(default_factory=list)
    unused: dict[int, str] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    explained: dict[int, str] = field(default_factory=dict)

    @property
    def worst(self) -> list[Point]:
        """The ten rows that are furthest off, the worst first."""
        rows = [point for name in MEASURED for point in self.group(name)]
        return sorted(rows, key=lambda point: -abs(point.error))[:10]

    def group(self, name: str) -> list[Point]:
        """Return the rows of one demand."""
        return [point for point in self.used if point.group == name]


def load_points() -> Points:
    """Read the figures, and how they are to be read."""
    readings = tomllib.loads((FOLDER / "readings.toml").read_text("utf-8"))
    found = Points()
    for line, row in _rows():
        reading = next((each for each in readings["reading"] if _fits(each["match"], row)), None)
        if reading is None or (row["how_measured"] == "fits-in" and reading["group"] != "fits-in"):
            found.unused[line] = _why_not(row)
            continue
        settings = {**_stated(row), **reading["set"]}
        system = settings.pop("system", "linux")
        found.used.append(
            Point(line, row, reading["group"], _question(settings, row), reading["reason"], system)
        )
    for each in readings["explanation"]:
        found.explained |= dict.fromkeys(each["lines"], each["why"])
    for each in readings["failure"]:
        found.failures.append(Failure(each["what"], each["gib"], _question(each["set"], {})))
    return found


def _rows() -> Iterator[tuple[int, dict[str, str]]]:
    with (FOLDER / "points.csv").open(encoding="utf-8", newline="") as file:
        yield from enumerate(csv.DictReader(file), 2)


def _fits(match: dict[str, str | list[str]], row: dict[str, str]) -> bool:
    for key, wanted in match.items():
        beginnings = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        if not row[key].startswith(beginnings) or (key == "optimizer" and row[key] != wanted):
            return False
    return True


def _why_not(row: dict[str, str]) -> str:
    if not row["trainer"].startswith(TRAINERS):
        return f"another trainer: {row['trainer']}"
    if row["how_measured"] == "lower-bound":
        return "a lower bound"
    if row["family"] not in {*FAMILIES, "sdxl", "sd15", "chroma", "lumina2", "kolors (SDXL-size UNet)"}:
        return f"the family was not traced: {row['family']}"
    if row["kind"].startswith("controlnet"):
        return "ControlNets were not traced"
    if row["precision"] not in (
        "",
        "fp32",
        "bf16",
        "mixed fp16",
        "mixed bf16",
        "full bf16",
        "full fp16",
        "fp8",
    ):
        return f"a precision that the trainer has not: {row['precision']}"
    missing = [name for name in ("optimizer", "rank", "batch", "grad_checkpointing") if not row[name]]
    if "average" in row["note"] or "spilling" in row["note"] or "ROCm" in row["gpu"]:
        return f"no healthy peak: {row['note']}"
    return f"not stated: {', '.join(missing) or 'optimizer or precision'}; {row['note']}"


def _stated(row: dict[str, str]) -> dict[str, Any]:
    """Return what a row states, in the question's words."""
    precision, full = row["precision"], row["kind"] in ("full", "dreambooth")
    stated: dict[str, Any] = {
        "family": FAMILIES.get(row["family"], row["family"]),
        "kind": "full" if full else "lora",
        "fp8": precision == "fp8",
        "fp8_text": precision == "fp8",
        "full_half": precision.startswith("full"),
    }
    if row["resolution"].isdecimal():
        stated |= {"width_px": int(row["resolution"]), "height_px": int(row["resolution"])}
    if row["batch"]:
        stated["batch"] = int(row["batch"])
    if precision:
        stated["mixed_precision"] = "fp16" if "fp16" in precision else "bf16"
    for name, of in (("grad_checkpointing", "checkpointing"), ("cached_latents", "latents_cached")):
        if row[name] in ("0", "1"):
            stated[of] = row[name] == "1"
    if row["cached_te"] in ("0", "1"):
        stated["text_cached"] = row["cached_te"] == "1"
    if row["blocks_to_swap"].isdecimal():
        stated["blocks_to_swap"] = int(row["blocks_to_swap"])
    return stated


def _question(settings: dict[str, Any], row: dict[str, str]) -> MemoryQuestion:
    own = dict(settings)
    optimizer = {
        "name": _optimizer(row),
        "fused": row.get("fused_backward") == "1",
        **own.pop("optimizer", {}),
    }
    network = None
    if own.get("kind", "lora") == "lora":
        asked = own.pop("network", {})
        network = NetworkQuestion(**{**_network(own["family"], row), **asked})
    return MemoryQuestion(**own, optimizer=OptimizerQuestion(**optimizer), network=network)


def _optimizer(row: dict[str, str]) -> str:
    name = row.get("optimizer") or "adamw"
    return {"8bit or Adafactor": "adamw8bit", "Adafactor or Lion8bit": "adafactor"}.get(name, name).lower()


def _network(family: str, row: dict[str, str]) -> dict[str, Any]:
    rank = row.get("rank") or "16"
    if rank == "LoKr":
        return {"module": "lycoris.kohya", "rank": 10000, "arguments": {"algo": "lokr", "factor": "16"}}
    module = "networks.lora_flux" if family in ("flux1", "chroma") else "networks.lora"
    return {"module": module, "rank": int(rank.split("-")[0]) if rank[0].isdigit() else 16}
