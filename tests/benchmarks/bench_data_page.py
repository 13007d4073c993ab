"""What the Data page costs with very many images; prints one JSON document.

Resident memory of the window with a large dataset open, and the longest time in which it did not answer:
while the images are looked at, while the grid is scrolled (a wheel's steps, pages, a drag of the scroll
bar from end to end), when chips are pressed, and while all of it is looked at again. Beside it, in the
same run, a look at fewer but larger images: in the page, and by the doctor alone.

    python tests/benchmarks/bench_data_page.py [--images 100000] [--large 2000]
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE), str(HERE.parent / "run_helpers")]

from bench_window import Gaps, real_program, rss_mb, tell, when  # noqa: E402

GOALS = {"window_mb": 400, "longest_stall_ms": 50}
SMALL_SIDE = 48
LARGE_SIZE = (1216, 832)
SCROLL_SECONDS = 12.0
PATIENCE_SECONDS = 3600


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--large", type=int, default=2000)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--home", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        CHILDREN[options.child](options)
        return
    with tempfile.TemporaryDirectory() as name:
        print(json.dumps(measure(Path(name), options), indent=2))


def measure(place: Path, options: argparse.Namespace) -> dict[str, Any]:
    many, large = place / "many", place / "large"
    write_small(many, options.images)
    write_large(large, options.large)
    page_first = run_child("large", place / "home 1", large)
    doctor = run_child("doctor", place / "home 2", large)
    return {
        "machine": {
            "processors": os.cpu_count(),
            "load_average": os.getloadavg() if hasattr(os, "getloadavg") else None,
            "python": platform.python_version(),
        },
        "goals": GOALS,
        "many": {"images": options.images, **run_child("many", place / "home 3", many)},
        "large": {
            "images": options.large,
            "size": LARGE_SIZE,
            "page_s": page_first["scan_s"],
            "page_stall_ms": page_first["scan_stall_ms"],
            "page_stall_own_work_ms": page_first["scan_stall_own_work_ms"],
            "doctor_alone_s": doctor["scan_s"],
        },
    }


def run_child(kind: str, home: Path, folder: Path) -> dict[str, Any]:
    home.mkdir(exist_ok=True)
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "BENCH_STARTED": repr(time.perf_counter())}
    words = ["--child", kind, "--home", str(home), "--folder", str(folder)]
    done = subprocess.run(
        [sys.executable, str(HERE / "bench_data_page.py"), *words],
        env=environment,
        cwd=HERE.parents[1],
        stdout=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def write_small(folder: Path, count: int) -> None:
    """Write small images, each with a caption, of which no two look alike."""
    from PIL import Image

    folder.mkdir()
    draw = random.Random(1)
    for number in range(count):
        ground = Image.frombytes("RGB", (9, 9), draw.randbytes(243))
        image = ground.resize((SMALL_SIDE, SMALL_SIDE), Image.Resampling.NEAREST)
        image.save(folder / f"image {number:06}.png", compress_level=1)
        (folder / f"image {number:06}.txt").write_text(f"mira_x, thing {number}, place {number % 97}")


def write_large(folder: Path, count: int) -> None:
    """Write images as people train on: forty pictures, each many times with other bytes."""
    from dataset_maker import picture

    folder.mkdir()
    for number in range(count):
        if number % 50 == 0:
            data = io.BytesIO()
            picture(number, LARGE_SIZE).save(data, "JPEG", quality=90)
        comment = f"{number:08}".encode()
        whole = data.getvalue()
        # A comment after the first marker makes it another file.
        unique = whole[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + whole[2:]
        (folder / f"photo {number:05}.jpg").write_bytes(unique)


# ---------------------------------------------------------------- the children


class Stalls(Gaps):
    """Also tells how much of the longest gap this program itself was at work, in any of its threads.

    On a machine that is busy with other things the gap alone tells nothing.
    """

    def __init__(self, parent: Any) -> None:
        super().__init__(parent)
        self._worst_work, self._worked = 0.0, time.process_time()

    def _tick(self) -> None:
        worked = time.process_time()
        self._worst_work = max(self._worst_work, worked - self._worked)
        self._worked = worked
        super()._tick()

    def figures(self, name: str) -> dict[str, float]:
        """Return the longest of both since the last call, in milliseconds."""
        work, self._worst_work = self._worst_work, 0.0
        return {f"{name}_stall_ms": self.take(), f"{name}_stall_own_work_ms": round(work * 1000, 2)}


def opened(bench: Any, options: argparse.Namespace) -> Any:
    from gui.window.bridges.dataset_source import DatasetSource

    page = bench.window.show_page("data")
    page.look_at(DatasetSource(options.folder))
    return page


def scrolled(page: Any, seconds: float) -> Iterator[None]:
    """Scroll as people do, a little at each step."""
    grid = page.images.grid
    bar = grid.verticalScrollBar()
    until = time.perf_counter() + seconds
    ways: list[Callable[[int], int]] = [
        lambda step: bar.value() + 120,
        lambda step: bar.value() + bar.pageStep(),
        lambda step: bar.maximum() * (step % 60) // 60,
        lambda step: bar.maximum() - bar.value() // 2,
    ]
    step = 0
    while time.perf_counter() < until:
        value = ways[step // 60 % len(ways)](step)
        bar.setValue(0 if value > bar.maximum() else value)
        step += 1
        yield


def stepping(parent: Any, steps: Iterator[None], then: Callable[[], None], milliseconds: int = 16) -> None:
    from PySide6.QtCore import QTimer

    timer = QTimer(parent, interval=milliseconds)

    def step() -> None:
        try:
            next(steps)
        except StopIteration:
            timer.stop()
            then()

    timer.timeout.connect(step)
    timer.start()


def many(options: argparse.Namespace) -> None:
    """Look at very many images, scroll meanwhile and afterwards, filter, and look again."""

    def measure_it(bench: Any) -> None:
        figures: dict[str, Any] = {"first_page_mb": bench.figures["rss_mb"]}
        peak = [0.0]
        began = [time.perf_counter()]
        page = opened(bench, options)
        stalls = Stalls(page)
        peaks(page, peak)

        def looked() -> None:
            figures["scan_s"] = round(time.perf_counter() - began[0], 1)
            figures.update(stalls.figures("scan"))
            stepping(page, scrolled(page, SCROLL_SECONDS), scrolled_through)

        def scrolled_through() -> None:
            figures.update(stalls.figures("scroll"))
            figures["open_mb"] = rss_mb()
            stepping(page, pressed(page), filtered, 400)

        def filtered() -> None:
            figures.update(stalls.figures("filter"))
            began[0] = time.perf_counter()
            page.look()
            stepping(page, scrolled(page, 4.0), lambda: when(page, lambda: is_done(page), again))

        def again() -> None:
            figures["second_look_s"] = round(time.perf_counter() - began[0], 1)
            figures.update(stalls.figures("second_look"))
            figures["peak_mb"] = peak[0]
            tell(figures)

        when(page, lambda: is_done(page), looked)
        stepping(page, scrolled(page, 30.0), lambda: None, 33)

    real_program(options, measure_it)


def is_done(page: Any) -> bool:
    return page._scan.state == "done"


def pressed(page: Any) -> Iterator[None]:
    from PySide6.QtTest import QTest

    for name in ("data-filter-look", "data-filter-look", "data-filter-fine", "data-filter-fine"):
        chip = next((each for each in page.findChildren(object, name) if each.isVisible()), None)
        if chip is not None:
            chip.click()
        yield
    for letter in "0987":
        QTest.keyClicks(page.filters.search, letter)
        yield
    page.filters.show_all()
    yield


def peaks(parent: Any, peak: list[float]) -> None:
    from PySide6.QtCore import QTimer

    def look() -> None:
        peak[0] = max(peak[0], rss_mb())

    timer = QTimer(parent, interval=100)
    timer.timeout.connect(look)
    timer.start()


def large(options: argparse.Namespace) -> None:
    """Look at images of the usual size in the page."""

    def measure_it(bench: Any) -> None:
        began = time.perf_counter()
        page = opened(bench, options)
        stalls = Stalls(page)

        def looked() -> None:
            seconds = round(time.perf_counter() - began, 1)
            tell({"scan_s": seconds, "rss_mb": rss_mb(), **stalls.figures("scan")})

        when(page, lambda: is_done(page), looked)

    real_program(options, measure_it)


def doctor(options: argparse.Namespace) -> None:
    """Look at the same images without a window."""
    from gui.engine.dataset.doctor import CACHE_FOLDER, Doctor
    from gui.engine.dataset.spec import DatasetSpec, SubsetSpec
    from gui.engine.paths import Home

    began = time.perf_counter()
    subset = SubsetSpec("dataset.subsets.0", "dataset", options.folder, caption_extension=".txt")
    looking = Doctor(DatasetSpec((subset,)), Home(Path(options.home)).cache / CACHE_FOLDER)
    for _batch in looking.batches():
        pass
    looking.report()
    tell({"scan_s": round(time.perf_counter() - began, 1)})


CHILDREN = {"many": many, "large": large, "doctor": doctor}

if __name__ == "__main__":
    main()
