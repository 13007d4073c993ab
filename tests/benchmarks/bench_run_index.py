"""Measures the list of a thousand runs, searches in it, and the reading of a long run's figures.

Run it as ``python tests/benchmarks/bench_run_index.py [--runs 1000] [--rows 100000]``; it prints one JSON
document. Everything is made in a temporary folder and deleted again. Seconds are the best of three turns,
but those of a first look, which reads everything. ``…_reads`` are files that a look has opened.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from gui.engine.paths import Home  # noqa: E402 -- run from anywhere
from gui.engine.runs.folder import RunFolder  # noqa: E402
from gui.engine.runs.listing import RunIndex  # noqa: E402
from gui.engine.runs.metrics import GpuRow, HostRow, StepRow, read_metrics  # noqa: E402
from gui.engine.runs.records import CommandRecord, Manifest  # noqa: E402
from gui.engine.runs.run_notes import RunNotes, change_notes  # noqa: E402
from gui.engine.runs.run_search import RunFilter, search_text  # noqa: E402
from gui.engine.runs.status import FileNow, RunStatus, Verdict  # noqa: E402

TURNS = 3
ARGV = (
    "python",
    "train_network.py",
    *(word for n in range(60) for word in (f"--argument_{n}", f"value {n}")),
)
GIB = 1 << 30


def seconds(work: Callable[[], object]) -> float:
    best = float("inf")
    for _turn in range(TURNS):
        begun = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begun)
    return round(best, 4)


def make_runs(home: Home, count: int) -> None:
    files = tuple(
        FileNow(path=Path(f"/out/lora-step{n:08d}.safetensors"), kind="model", complete=True, size=1, step=n)
        for n in range(20)
    )
    for number in range(count):
        folder = home.runs / f"20261130-{number:06d}-a plan"
        folder.mkdir(parents=True)
        Manifest(program="1", plan_name="a plan", trainer="/trainers/sd-scripts", created_at=1.0).write(
            folder / "manifest.json", durable=False
        )
        (folder / "plan.toml").write_text('name = "a plan"\nfamily = "sdxl"\nkind = "lora"\n', "utf-8")
        verdict = Verdict(verdict="finished", reason="done", loss=0.1)
        RunStatus(name=folder.name, state="ended", verdict=verdict, files=files).write(
            folder / "status.json", durable=False
        )
        command = CommandRecord(argv=ARGV, cwd=Path("/trainers"), python="python", output_name=f"v{number}")
        command.write(folder / "command.json", durable=False)
        if number % 3 == 0:
            notes = RunNotes(tags=("portrait", f"try {number}"), note="The eyes are better than before.")
            notes.write(folder / "notes.json", durable=False)


def reads(work: Callable[[], object]) -> int:
    """Return how many files are opened by some work."""
    opened: list[str] = []
    watching = True

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event == "open":
            opened.append(str(arguments[0]))

    sys.addaudithook(hook)
    work()
    watching = False
    return len(opened)


def after_a_note(home: Home, index: RunIndex) -> Callable[[], object]:
    """Write a note about one run, and return what looks at all of them then."""
    name = index.entries()[0].name
    change_notes(RunFolder(home.runs / name), note=f"written at {time.time()}")
    return lambda: index.entries({name})


def search(index: RunIndex, *words: str) -> int:
    """Return how many runs are found."""
    wanted = RunFilter(words=words)
    return sum(wanted.takes(each) and wanted.finds(search_text(each)) for each in index.entries())


def make_rows(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for n in range(count):
            t = n * 0.5
            row: StepRow | GpuRow | HostRow = StepRow(t=t, step=n, loss=0.1, avr_loss=0.1, lr={"unet": 1e-4})
            if n % 3 == 1:
                row = GpuRow(t=t, index=0, uuid="GPU-1", used_bytes=9 * GIB, total_bytes=12 * GIB)
            elif n % 3 == 2:
                row = HostRow(t=t, tree_rss_bytes=5 * GIB, tree_processes=4, disk_free_bytes={"/a": GIB})
            file.write(row.model_dump_json() + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, metrics = Home(Path(folder)), Path(folder) / "metrics.jsonl"
        make_runs(home, options.runs)
        make_rows(metrics, options.rows)
        index = RunIndex(home)
        begun = time.perf_counter()
        index.entries()
        first = round(time.perf_counter() - begun, 4)
        result = {
            "runs": options.runs,
            "first_look_seconds": first,
            "second_look_seconds": seconds(index.entries),
            "look_after_a_note_seconds": seconds(after_a_note(home, index)),
            "look_after_a_note_reads": reads(after_a_note(home, index)),
            "search_seconds": seconds(lambda: search(index, "portrait", "value 59")),
            "found": search(index, "portrait", "value 59"),
            "names_only_seconds": seconds(lambda: sorted(home.runs.iterdir())),
            "rows": options.rows,
            "typed_rows_seconds": seconds(lambda: list(read_metrics(metrics))),
            "json_only_seconds": seconds(lambda: [json.loads(line) for line in metrics.open("rb")]),
        }
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
