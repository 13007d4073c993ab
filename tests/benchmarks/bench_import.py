"""Measures how long other programs' files take to read: ``python tests/benchmarks/bench_import.py [FOLDER]``.

Prints one JSON document. FOLDER, or ``KOHYA_PREFLIGHT_PEER_PRESETS``, holds settings of the kohya_ss GUI; the
goal is below one second for 37 of them. Without a folder, 37 settings of a like size are made. The same plans
go out as a command line, TOML and GUI settings, and a script of ten thousand lines stands beside them.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gui.engine.importers.exports import export_command, export_toml, exportable
from gui.engine.importers.kohya_export import export_kohya
from gui.engine.importers.reading import read_setup, read_setup_text
from gui.engine.trainer.catalogue import Catalogue

GOAL_S = 1.0
COUNT = 37


def made_settings(folder: Path) -> None:
    flags = {f"key_{number}": number % 2 == 0 for number in range(150)}
    for number in range(COUNT):
        settings = {"LoRA_type": "Standard", "sdxl": True, "network_dim": number + 1, "epoch": 3, **flags}
        (folder / f"{number}.json").write_text(json.dumps(settings))


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return round(time.perf_counter() - start, 4)


def measured(folder: Path, named: bool) -> dict[str, Any]:
    files = sorted(folder.rglob("*.json"))
    catalogue_s = seconds(Catalogue.bundled)
    catalogue = Catalogue.bundled()
    cold = seconds(lambda: read_setup(files[0], None, catalogue))
    warm = seconds(lambda: [read_setup(file, None, catalogue) for file in files])
    plans = [read_setup(file, None, catalogue).file for file in files]
    ready = [exportable(each.plan, each.base, folder / "plan", catalogue) for each in plans]
    script = "".join(f"echo {number}\n" for number in range(10_000)) + "python train_network.py --seed 1\n"
    return {
        "python": platform.python_version(),
        "presets": len(files),
        "real_presets": named,
        "catalogue_s": catalogue_s,
        "first_import_s": cold,
        "all_imports_s": warm,
        "goal_s": GOAL_S,
        "reached": catalogue_s + cold + warm < GOAL_S,
        "all_exports_s": {
            "command": seconds(lambda: [export_command(each, "posix") for each in ready]),
            "toml": seconds(lambda: [export_toml(each) for each in ready]),
            "kohya": seconds(lambda: [export_kohya(each, catalogue) for each in ready]),
        },
        "script_of_10000_lines_s": seconds(lambda: read_setup_text(script, None, catalogue)),
    }


def main() -> None:
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("KOHYA_PREFLIGHT_PEER_PRESETS")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(given) if given else Path(made)
        if not given:
            made_settings(folder)
        print(json.dumps(measured(folder, bool(given)), indent=2))


if __name__ == "__main__":
    main()
