"""What the window costs and how quick it is, beside a bare window in the same run; prints one JSON document.

From the start of the process to the first paint, resident memory on the first page and with a long run
open, the longest time in which the window did not answer while a million lines flood in, and a refresh
of the chart. Every figure is taken in fresh processes of the real program, offscreen.

    python tests/benchmarks/bench_window.py [--turns 5] [--steps 100000] [--lines 1000000]
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SETTLE_SECONDS = 4.0
GOALS = {
    "first_paint_ratio": 2.0,
    "first_page_memory_ratio": 1.6,
    "long_run_mb": 200,
    "longest_gap_ms": 50,
    "chart_refresh_ms": 10,
}
LINE = (
    "2025-11-30 06:40:00 INFO     epoch is incremented. current_epoch: {n}, epoch: {n}   train_util.py:779\n"
)
WARNING = (
    "2025-11-30 06:40:00 WARNING  something odd in batch {n}                           train_util.py:112\n"
)


# ---------------------------------------------------------------- the parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--home", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        CHILDREN[options.child](options)
        return
    with tempfile.TemporaryDirectory() as name:
        print(json.dumps(measure(Path(name), options), indent=2))


def measure(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    starts = {kind: [] for kind in ("bare", "program")}
    for turn in range(options.turns):
        for kind, figures in starts.items():
            figures.append(run_child(kind, folder / f"{kind}{turn}", options))
    long_home, flood_home = folder / "long", folder / "flood"
    write_long_run(long_home, options.steps, options.lines)
    write_long_run(flood_home, 200, 1)
    long = [run_child("long", long_home, options) for _turn in range(min(3, options.turns))]
    flood = []
    for turn in range(min(3, options.turns)):
        home = folder / f"flood{turn}"
        write_long_run(home, 200, 1)
        flood.append(run_child("flood", home, options))
    paint = {kind: median(figures, "first_paint_s") for kind, figures in starts.items()}
    memory = {kind: median(figures, "rss_mb") for kind, figures in starts.items()}
    return {
        "machine": {
            "processors": os.cpu_count(),
            "load_average": os.getloadavg() if hasattr(os, "getloadavg") else None,
            "python": platform.python_version(),
        },
        "turns": options.turns,
        "goals": GOALS,
        "first_paint_s": paint | {"ratio": round(paint["program"] / paint["bare"], 2)},
        "first_page_rss_mb": memory | {"ratio": round(memory["program"] / memory["bare"], 2)},
        "long_run": {
            "steps": options.steps,
            "lines": options.lines,
            **{
                key: median(long, key) for key in ("rss_mb", "chart_refresh_ms", "loaded_s", "longest_gap_ms")
            },
        },
        "flood": {
            "lines": options.lines,
            **{key: median(flood, key) for key in ("longest_gap_ms", "idle_gap_ms", "seconds", "rss_mb")},
        },
        "all": {"starts": starts, "long": long, "flood": flood},
    }


def median(figures: list[dict[str, float]], key: str) -> float:
    return round(statistics.median(figure[key] for figure in figures), 3)


def run_child(kind: str, home: Path, options: argparse.Namespace) -> dict[str, Any]:
    home.mkdir(exist_ok=True)
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "BENCH_STARTED": repr(time.perf_counter())}
    words = ["--child", kind, "--home", str(home), "--lines", str(options.lines)]
    words += ["--steps", str(options.steps)]
    done = subprocess.run(
        [sys.executable, str(HERE / "bench_window.py"), *words],
        env=environment,
        cwd=HERE.parents[1],
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def write_long_run(home_folder: Path, steps: int, lines: int) -> None:
    """Write a run as it would look after a night; written by a child, so that this process stays small."""
    sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "run_helpers")]
    from written_runs import write_run

    from gui.engine.paths import Home

    run = write_run(Home(home_folder), "long", status={"step": steps, "total": steps})
    with run.metrics.open("w", encoding="utf-8") as file:
        for n in range(1, steps + 1):
            loss = 0.12 + 0.1 * math.exp(-n / 5000) + 0.02 * math.sin(n * 1.7)
            row = {"t": n / 2, "metric": "step", "step": n, "loss": loss, "avr_loss": loss}
            row["lr"] = {"unet": 1e-4 * (1 - n / (steps + 1)), "textencoder": 5e-5}
            file.write(json.dumps(row) + "\n")
    write_lines(run.output_log, lines)


def write_lines(path: Path, lines: int) -> None:
    with path.open("ab") as file:
        for first in range(0, lines, 1000):
            count = min(1000, lines - first)
            text = [(WARNING if n % 500 == 0 else LINE).format(n=n) for n in range(first, first + count)]
            file.write("".join(text).encode())


# ---------------------------------------------------------------- the children


def started() -> float:
    return float(os.environ["BENCH_STARTED"])


def rss_mb() -> float:
    """Resident memory of this process."""
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)
    import psutil

    return round(psutil.Process().memory_info().rss / 1e6, 1)


def tell(figures: dict[str, Any]) -> None:
    print(json.dumps(figures), flush=True)
    os._exit(0)


def painting(base: type, then: Callable[[dict[str, Any]], None]) -> type:
    """Return a class of main windows that takes the time when it and all its parts were painted first."""
    from PySide6.QtCore import QEvent, QObject, Qt, Signal
    from PySide6.QtWidgets import QApplication

    class Paints(QObject):
        last = 0.0

        def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
            if event.type() == QEvent.Type.Paint and "gui.window.workbench" not in sys.modules:
                self.last = time.perf_counter()
            return False

    class Window(base):
        first_painted = Signal()

        def showEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
            self.paints = Paints()
            QApplication.instance().installEventFilter(self.paints)
            self.first_painted.connect(self.painted, Qt.ConnectionType.QueuedConnection)
            super().showEvent(event)

        def paintEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
            super().paintEvent(event)
            self.first_painted.emit()

        def painted(self) -> None:
            self.first_painted.disconnect()
            QApplication.instance().removeEventFilter(self.paints)
            then({"first_paint_s": self.paints.last - started()})

    return Window


def bare(_options: argparse.Namespace) -> None:
    """A window of forty rows, and nothing else."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication, QFormLayout, QLineEdit, QMainWindow, QScrollArea, QWidget

    def painted(figures: dict[str, Any]) -> None:
        QTimer.singleShot(round(SETTLE_SECONDS * 1000), lambda: tell(figures | {"rss_mb": rss_mb()}))

    application = QApplication([])
    window, inner, area = painting(QMainWindow, painted)(), QWidget(), QScrollArea()
    form = QFormLayout(inner)
    for number in range(40):
        form.addRow(f"Row {number}", QLineEdit("value"))
    area.setWidget(inner)
    window.setCentralWidget(area)
    window.resize(1280, 800)
    window.show()
    application.exec()


def real_program(options: argparse.Namespace, then: Callable[[Any], None]) -> None:
    """Start the program as its user does; ``then`` is called with the workbench when it is there.

    Only its main window is another class: one that tells when it was painted first.
    """
    sys.path.insert(0, str(HERE.parents[1]))
    # In the program's own order: the command line, then the window, then Qt.
    main_window = importlib.import_module("gui.window.main_window")
    run = importlib.import_module("gui.cli.main").run
    from PySide6.QtCore import QTimer

    def painted(figures: dict[str, Any]) -> None:
        QTimer.singleShot(round(SETTLE_SECONDS * 1000), lambda: settled(figures))

    def settled(figures: dict[str, Any]) -> None:
        import gc

        from gui.window.workbench import Workbench

        figures["rss_mb"] = rss_mb()
        gc.unfreeze()  # what is kept for good is not told of
        bench = next(part for part in gc.get_objects() if isinstance(part, Workbench))
        gc.freeze()
        bench.figures = figures
        then(bench)

    main_window.MainWindow = painting(main_window.MainWindow, painted)
    run(["--home", options.home])


def program(options: argparse.Namespace) -> None:
    real_program(options, lambda bench: tell(bench.figures))


def opened_run(bench: Any, options: argparse.Namespace) -> Any:
    from gui.engine.paths import Home

    folder = next(path for path in Home(Path(options.home)).runs.iterdir() if path.is_dir())
    bench.ways.open_run(folder)
    return bench.window.page("run")


class Gaps:
    """The times between the ticks of a timer of one millisecond."""

    def __init__(self, parent: Any) -> None:
        from PySide6.QtCore import Qt, QTimer

        self.longest = 0.0
        self._last = time.perf_counter()
        self._timer = QTimer(parent, interval=1, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now = time.perf_counter()
        self.longest = max(self.longest, now - self._last)
        self._last = now

    def take(self) -> float:
        """Return the longest since the last call, in milliseconds."""
        longest, self.longest = self.longest, 0.0
        return round(longest * 1000, 2)


def when(parent: Any, condition: Callable[[], bool], then: Callable[[], None]) -> None:
    from PySide6.QtCore import QTimer

    timer = QTimer(parent, interval=50)

    def look() -> None:
        if condition():
            timer.stop()
            then()

    timer.timeout.connect(look)
    timer.start()


def long_run(options: argparse.Namespace) -> None:
    """Open a long run; then its chart, then its log."""

    def measure_it(bench: Any) -> None:
        began = time.perf_counter()
        page = opened_run(bench, options)
        curves = page.findChild(object, "run-curves")
        gaps = Gaps(page)
        figures: dict[str, Any] = {"first_page_rss_mb": bench.figures["rss_mb"]}

        def charted() -> None:
            figures["loaded_s"] = round(time.perf_counter() - began, 2)
            figures["longest_gap_ms"] = gaps.take()
            figures["chart_refresh_ms"] = refresh_ms(curves.chart)
            curves.show_tab("log")
            when(page, lambda: curves._model.state.lines >= options.lines, logged)

        def logged() -> None:
            from PySide6.QtCore import QTimer

            curves.show_tab("loss")
            QTimer.singleShot(2000, lambda: tell(figures | {"rss_mb": rss_mb()}))

        when(page, lambda: len(curves.chart.series) >= options.steps, charted)

    real_program(options, measure_it)


def refresh_ms(chart: Any) -> float:
    """Return the median time of a refresh with its repaint, in milliseconds."""
    from PySide6.QtWidgets import QApplication

    plot = chart._show_plot()
    times = []
    for _turn in range(40):
        QApplication.processEvents()
        began = time.perf_counter()
        plot.refresh()
        plot.viewport().repaint()
        times.append(time.perf_counter() - began)
    return round(statistics.median(times) * 1000, 2)


def flood(options: argparse.Namespace) -> None:
    """Look at a log while another process writes into it as fast as it can."""

    def measure_it(bench: Any) -> None:
        page = opened_run(bench, options)
        curves = page.findChild(object, "run-curves")
        gaps = Gaps(page)

        def begin() -> None:
            curves.show_tab("log")
            gaps.take()
            when_idle()

        def when_idle() -> None:
            from PySide6.QtCore import QTimer

            QTimer.singleShot(1500, write)

        def write() -> None:
            figures["idle_gap_ms"] = gaps.take()
            code = (
                f"import sys; sys.path.insert(0, {str(HERE)!r}); from pathlib import Path;"
                f"from bench_window import write_lines; write_lines(Path({str(path)!r}), {options.lines})"
            )
            subprocess.Popen([sys.executable, "-c", code])
            figures["began"] = time.perf_counter()
            # Starting a process takes the one who starts it some time.
            gaps.take()
            when(page, lambda: curves._model.state.lines >= options.lines, done)

        def done() -> None:
            figures["seconds"] = round(time.perf_counter() - figures.pop("began"), 2)
            figures["longest_gap_ms"] = gaps.take()
            tell(figures | {"rss_mb": rss_mb()})

        figures: dict[str, Any] = {}
        from gui.engine.paths import Home

        path = next(Home(Path(options.home)).runs.glob("*/output.log"))
        when(page, lambda: len(curves.chart.series) >= 200, begin)

    real_program(options, measure_it)


CHILDREN: dict[str, Callable[[argparse.Namespace], None]] = {
    "bare": bare,
    "program": program,
    "long": long_run,
    "flood": flood,
}

if __name__ == "__main__":
    main()
