"""Measures a scan beside a bare Pillow loop over the same files on as many processes, and a second scan.

Usage: python tests/benchmarks/bench_dataset_scan.py [IMAGES] [PROCESSES]

Both decode every pixel of every file. The images are drawn, in the formats and sizes of usual datasets;
the files are in the system's cache for both. Rounds alternate, the best of each counts.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "run_helpers")]

from dataset_maker import picture, saved  # noqa: E402
from PIL import Image  # noqa: E402

from gui.engine.dataset.image_cache import ImageCache  # noqa: E402
from gui.engine.dataset.scan import FolderToScan, Scan  # noqa: E402

ROUNDS = 3
SIZES = ((1024, 1024), (832, 1216), (1600, 1200), (1024, 1536))
SUFFIXES = (".jpg", ".jpg", ".png", ".webp")
SECOND_SCAN_FILES = 10_000


def decode(files: list[Path]) -> int:
    """Decode files as anybody would."""
    for file in files:
        with Image.open(file) as image:
            image.load()
    return len(files)


def draw(folder: Path, count: int) -> list[Path]:
    """Draw images with grain, so that they compress like photographs."""
    files = []
    for number in range(count):
        size, suffix = SIZES[number % len(SIZES)], SUFFIXES[number // len(SIZES) % len(SUFFIXES)]
        grain = Image.effect_noise(size, 24).convert("RGB")
        file = folder / f"{number:05}{suffix}"
        file.write_bytes(saved(Image.blend(picture(number, size), grain, 0.15), suffix))
        files.append(file)
    return files


class Rate(NamedTuple):
    """How fast images were looked at, and what it cost where other programs do not count."""

    per_second: float
    per_cpu_second: float


def rate(work: Callable[[], int]) -> Rate:
    """Measure work that starts processes, counts images, and ends the processes."""
    began, before = time.perf_counter(), _cpu_seconds()
    done = work()
    return Rate(done / (time.perf_counter() - began), done / (_cpu_seconds() - before))


def _cpu_seconds() -> float:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def bare(files: list[Path], processes: int) -> int:
    """Decode all in a pool of processes, a few files at a time."""
    with ProcessPoolExecutor(processes) as pool:
        return sum(pool.map(decode, [files[at : at + 4] for at in range(0, len(files), 4)]))


def scanned(folder: Path, files: list[Path], processes: int) -> int:
    """Scan all."""
    scan = Scan([FolderToScan(folder, [file.name for file in files])], ImageCache(None), processes)
    return sum(len(batch.images) for batch in scan.batches())


def second_scan(folder: Path, source: Path) -> dict[str, float]:
    """Return how long the second scan of many files takes; they are links to one, which costs the same."""
    names = [f"{number:05}.png" for number in range(SECOND_SCAN_FILES)]
    for name in names:
        os.link(source, folder / name)
    seconds = []
    for _time in range(2):
        cache = ImageCache(folder / "cache")
        began = time.perf_counter()
        scan = Scan([FolderToScan(folder, names)], cache, 2)
        assert sum(len(batch.images) for batch in scan.batches()) == len(names)
        seconds.append(time.perf_counter() - began)
        cache.close()
    return {
        "files": len(names),
        "first_seconds": round(seconds[0], 2),
        "second_seconds": round(seconds[1], 3),
    }


def main() -> None:
    """Print one JSON document."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 240
    processes = int(sys.argv[2]) if len(sys.argv) > 2 else min(2, os.cpu_count() or 1)
    with tempfile.TemporaryDirectory() as place:
        folder, many = Path(place) / "images", Path(place) / "many"
        folder.mkdir()
        many.mkdir()
        files = draw(folder, count)
        tiny = Path(place) / "tiny.png"
        tiny.write_bytes(saved(picture(1, (64, 64))))
        rounds = [
            (rate(lambda: bare(files, processes)), rate(lambda: scanned(folder, files, processes)))
            for _round in range(ROUNDS)
        ]
        loops, scans = zip(*rounds, strict=True)
        best_bare, best_scan = (max(each.per_second for each in column) for column in (loops, scans))
        cheap_bare, cheap_scan = (max(each.per_cpu_second for each in column) for column in (loops, scans))
        report = {
            "images": count,
            "megabytes": round(sum(file.stat().st_size for file in files) / 1e6, 1),
            "processes": processes,
            "bare_images_per_second": round(best_bare, 1),
            "scan_images_per_second": round(best_scan, 1),
            "scan_over_bare": round(best_scan / best_bare, 3),
            "scan_over_bare_by_cpu_time": round(cheap_scan / cheap_bare, 3),
            "each_round": [round(scan.per_second / loop.per_second, 3) for loop, scan in rounds],
            "second_scan": second_scan(many, tiny),
            "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
