"""Takes pictures of every page: ``python tests/screenshots/take.py [FOLDER] [--only WORD…]``.

Light and dark, small and large, at plain and large text, empty and full, in English and in the
pseudo-language. The runs that are shown are real ones of the practice trainer, made here. The pictures go
to ``.screenshots`` at the top of the project, which is never committed.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
HELPERS = ("packaging", "tests/fake_nvml", "tests/run_helpers")
sys.path[:0] = [str(PROJECT), *(str(PROJECT / folder) for folder in HELPERS)]
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Nobody's own keyring is for pictures.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

import fake_nvml  # noqa: E402
import pynvml  # noqa: E402
from memory_scene import sdxl_plan, trainer_in, write_run  # noqa: E402
from PySide6.QtCore import QEvent, QSize, QTimer  # noqa: E402
from PySide6.QtWidgets import QApplication, QPushButton, QScrollArea, QWidget  # noqa: E402
from written_queue import write_queue  # noqa: E402

from gui.engine.hardware.gpu import GpuMonitor  # noqa: E402
from gui.engine.paths import Home  # noqa: E402
from gui.engine.plan.changes import apply_changes  # noqa: E402
from gui.engine.plan.model import TrainingPlan  # noqa: E402
from gui.engine.plan.plan_file import PlanFile, load_plan, moved_plan  # noqa: E402
from gui.engine.plan.sample import copy_sample_project  # noqa: E402
from gui.engine.preferences import Preferences  # noqa: E402
from gui.engine.redaction import Secret  # noqa: E402
from gui.engine.runs.folder import RunFolder  # noqa: E402
from gui.engine.runs.prepare import Preparation  # noqa: E402
from gui.engine.runs.process_tree import RUN_MARKER  # noqa: E402
from gui.engine.runs.start import read_status, start_supervisor  # noqa: E402
from gui.engine.texts import use_language  # noqa: E402
from gui.engine.trainer.choosing import Trainer, open_trainer  # noqa: E402
from gui.engine.trainer.installs import practice_install  # noqa: E402
from gui.window.app import make_application  # noqa: E402
from gui.window.main_window import MainWindow  # noqa: E402
from gui.window.theme.icons import Icons  # noqa: E402
from gui.window.theme.theme import Theme  # noqa: E402
from gui.window.workbench import Workbench  # noqa: E402
from translations import PSEUDO_LANGUAGE, make_pseudo_language  # noqa: E402

SIZES = {"small": QSize(1100, 700), "large": QSize(1920, 1080)}
STEPS = ("what", "data", "careful", "memory", "training", "saving", "review", "arguments")
PATIENCE_SECONDS = 30.0


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=PROJECT / ".screenshots")
    parser.add_argument("--only", nargs="*", default=[], help="words that a picture's name must have")
    options = parser.parse_args()
    application = make_application(["screenshots"], Preferences())
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory())
        full = _full_home(Path(place))
        stack.enter_context(_left_over(full))
        translations = Path(place) / "translations"
        make_pseudo_language(translations)
        for language in ("en", PSEUDO_LANGUAGE):
            use_language(language, translations if language == PSEUDO_LANGUAGE else None)
            for state, home in (("empty", Home(Path(place) / f"empty {language}")), ("full", full)):
                camera = _Camera(application, home, options.folder, f"{language}-{state}", options.only)
                camera.take_all()
    print(f"{len(list(options.folder.glob('*.png')))} pictures in {options.folder}")


def _full_home(place: Path) -> Home:
    """Return a home with a run that finished, one that the guard stopped, and one that cannot be read."""
    home = Home(place / "home")
    plan = copy_sample_project(place / "projects")
    _train(home, load_plan(plan).plan, plan.parent)
    too_fast = {
        "plan.name": "pimolo, far too fast",
        "output_name": "too-fast",
        "unet_lr": 0.01,
        "text_encoder_lr": 0.01,
        "save_every_n_epochs": 1,
        "sample_every_n_epochs": 1,
    }
    _train(home, apply_changes(load_plan(plan).plan, too_fast), plan.parent)
    write_queue(home)
    (home.runs / "20200101-000000-broken").mkdir()
    (home.runs / "20200101-000000-broken" / "status.json").write_text("{", "utf-8")
    return home


def _show_gpu(place: Path, **state: object) -> None:
    """Let this program see a GPU of the stand-in for NVIDIA's library."""
    place.mkdir(exist_ok=True)
    library = place / fake_nvml.LIBRARY
    if not library.exists():
        fake_nvml.build(place)
        os.environ["FAKE_NVML"] = str(place / "state")
        pynvml.nvmlLib = ctypes.CDLL(str(library))
        pynvml._nvmlGetFunctionPointer_cache = {}
    fake_nvml.FakeNvml(library, place / "state").set(count=1, **state)


@contextlib.contextmanager
def _left_over(home: Home) -> Iterator[None]:
    """Have a process live on that belongs to a run whose trainer is gone."""
    folder = home.runs / "20200102-000000-left over"
    folder.mkdir()
    (folder / "exit.json").write_text("{}", "utf-8")
    words = [sys.executable, "-c", "import time; time.sleep(3600)"]
    process = subprocess.Popen(words, env={**os.environ, RUN_MARKER: str(folder)})
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _train(home: Home, plan: TrainingPlan, base: Path) -> None:
    """Train a plan to its end, whatever preflight would say of it."""
    trainer = open_trainer(home, practice_install())
    preparation = Preparation(
        home, trainer.install, trainer.facts, trainer.catalogue, gpus=GpuMonitor(), judge=lambda _file: []
    )
    prepared = preparation.prepare(PlanFile(moved_plan(plan, base, Path.cwd())))
    start_supervisor(prepared.run, prepared.order)
    while (status := read_status(prepared.run)) is None or status.state != "ended":
        time.sleep(0.2)


class _Camera:
    """Opens a window on a home and takes a picture of each page in each look."""

    def __init__(
        self, application: QApplication, home: Home, folder: Path, prefix: str, only: list[str]
    ) -> None:
        self._application = application
        self._folder = folder
        self._prefix = prefix
        self._only = only
        folder.mkdir(parents=True, exist_ok=True)
        self._theme = Theme(application, "light")
        self._window = MainWindow(Icons(self._theme))
        self._bench = Workbench(application, self._window, Icons(self._theme), home, trainer="practice")
        self._home = home
        self._trainer: Trainer | None = None
        self._in_sight = ""

    def take_all(self) -> None:
        """Take every picture, and close the window."""
        self._window.show()
        self._bench.begin()
        self._wait(lambda: self._bench.trainers.looked and self._bench.runs.known)
        for name, show in self._scenes():
            if self._only and not any(word in f"{self._prefix}-{name}" for word in self._only):
                continue
            self._in_sight = ""
            show()
            self._settle()
            for look in self._looks():
                self._shoot(f"{self._prefix}-{name}-{look}")
        self._bench.close()
        self._window.may_close = lambda: True
        self._window.close()
        self._window.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def _scenes(self) -> Iterator[tuple[str, object]]:
        bench = self._bench
        yield "start", lambda: self._window.show_page("start")
        plans = sorted(self._home.root.parent.glob("projects/**/*.toml"))
        if "full" in self._prefix and plans:
            yield "plan-loaded", lambda: bench.document.load(load_plan(plans[-1]))
        for step in STEPS:
            yield f"plan-{step}", lambda step=step: bench.ways.show_plan(step)
        yield from self._scenes_of_data(plans)
        runs = {entry.name: entry.folder for entry in bench.runs.entries}
        if "full" in self._prefix:
            for name, folder in runs.items():
                yield (
                    f"run-{name[16:].replace(chr(32), chr(45))}",
                    lambda folder=folder: bench.ways.open_run(folder),
                )
            broke = next(folder for name, folder in runs.items() if "too_fast" in name)
            yield "run-recovery", lambda: self._open_ways_on(broke)
            yield "run-file", lambda: self._open_file_of(broke)
        else:
            yield "run", lambda: self._window.show_page("run")
        yield from self._scenes_of_runs()
        yield "queue", lambda: self._window.show_page("queue")
        yield "settings", lambda: self._window.show_page("settings")
        yield from self._scenes_of_tokens()
        if "full" in self._prefix and plans:
            yield from self._scenes_of_files(plans[-1])
        if "full" in self._prefix and fake_nvml.why_not() is None:
            yield from self._scenes_of_memory(self._home.root.parent / "memory")

    def _open_ways_on(self, folder: Path) -> None:
        """Show all that could be tried after a run has ended."""
        self._bench.ways.open_run(folder)
        others = "run-other-ways"
        self._wait(lambda: any(part.isVisible() for part in self._window.findChildren(QPushButton, others)))
        for button in self._window.findChildren(QPushButton, others):
            button.setChecked(True)
        self._reveal("run-recovery-point")

    def _open_file_of(self, folder: Path) -> None:
        """Show all of the newest file that a run has saved."""
        self._bench.ways.open_run(folder)
        page = self._window.page("run")
        files = page.body.files
        self._wait(lambda: files.model.rowCount() > 0)
        files.list.picked.emit(files.model.line(0))
        self._wait(page.file_viewer.on.isVisible)

    def _scenes_of_data(self, plans: list[Path]) -> Iterator[tuple[str, object]]:
        if "full" not in self._prefix or not plans:
            yield "data", lambda: self._window.show_page("data")
            return

        def show(view: str = "", image: int = 0, key: str = "") -> None:
            if self._bench.document.path != plans[-1]:
                self._bench.document.load(load_plan(plans[-1]))
            page = self._window.show_page("data")
            self._wait(lambda: page._report is not None)
            self._press(f"data-view-{view or 'images'}")
            page.images.grid.go_to(image)
            if key:
                page.images.grid.aside_wanted.emit()

        yield "data", show
        yield "data-ask", lambda: show(image=1, key="delete")
        for name in ("captions", "captioning", "buckets", "words", "repairs"):
            yield f"data-{name}", lambda name=name: show(name)

    def _press(self, name: str) -> None:
        for button in self._window.findChildren(QPushButton, name):
            if button.isVisible():
                button.click()

    def _scenes_of_runs(self) -> Iterator[tuple[str, object]]:
        yield "runs", lambda: self._window.show_page("runs")
        if "full" not in self._prefix:
            return
        runs = [RunFolder(entry.folder) for entry in self._bench.runs.entries if entry.verdict]
        page = self._window.page("runs")

        def show(act: object, name: str) -> None:
            self._window.show_page("runs")
            page.compare.close_it()
            page.report.close_it()
            act()
            self._wait(lambda: any(part.isVisible() for part in page.findChildren(QWidget, name)))

        yield "runs-compared", lambda: show(lambda: page.compare.compare(runs[:2]), "compare-results")
        yield (
            "runs-losses",
            lambda: (
                show(lambda: page.compare.compare(runs[:2]), "compare-losses"),
                self._reveal("overlay-chart"),
            ),
        )
        yield "runs-report", lambda: show(lambda: page.report.show_run(runs[0]), "report-parts")
        yield "runs-again", page.report.close_it

    def _scenes_of_tokens(self) -> Iterator[tuple[str, object]]:
        bench, token = self._bench, "hf_" + "x" * 30

        def in_plan() -> None:
            bench.document.change({"huggingface_token": token}, "a token")
            bench.ways.show_plan("review")

        def argument() -> None:
            bench.ways.show_plan("arguments")
            self._window.page("plan").show_field("huggingface_token")

        def kept() -> None:
            bench.tokens.keep({"huggingface_token": Secret(token)})
            self._window.show_page("settings")

        yield "token-in-plan", lambda: (in_plan(), self._reveal("fix-keep"))
        yield "token-argument", argument
        yield "settings-tokens", lambda: (kept(), self._reveal("settings-tokens"))

    def _scenes_of_files(self, plan: Path) -> Iterator[tuple[str, object]]:
        bench = self._bench

        def base_model() -> None:
            bench.notes.take_away("token")
            bench.document.load(load_plan(plan))
            bench.ways.show_plan("what")
            self._reveal("row-pretrained_model_name_or_path")

        def left_over() -> None:
            bench.ways.show_plan("review")
            self._reveal("fix-end-run")

        yield "model-facts", base_model
        yield "left-over", left_over

    def _scenes_of_memory(self, place: Path) -> Iterator[tuple[str, object]]:
        bench, gib = self._bench, 1 << 30
        if self._trainer is None:
            self._trainer = trainer_in(place / self._prefix, self._home)
        small = {"optimizer_type": "AdamW8bit", "network_train_unet_only": True, "network_dim": 16}

        def review(reveal: str, **arguments: object) -> None:
            _show_gpu(place, name="NVIDIA GeForce RTX 3060", total=12 * gib, used=gib)
            bench.trainers._current = self._trainer  # the practice trainer uses no GPU
            bench.trainers.changed.emit()
            bench.document.new(sdxl_plan(place, **arguments))
            bench.ways.show_plan("review")
            self._wait(lambda: bool(bench.hardware.gpus))
            self._reveal(reveal)

        def phases() -> None:
            review("memory-phases", **small)
            for button in self._window.findChildren(QPushButton, "show-phases"):
                button.setChecked(True)

        def run(total_gib: float) -> None:
            folder = RunFolder(self._home.runs / f"20200103-000000-{self._prefix}-{total_gib:.0f}")
            if not folder.exists():
                write_run(folder, sdxl_plan(place), process_gib=9.95, total_gib=total_gib)
            bench.ways.open_run(folder)
            self._reveal("run-memory-tips")

        yield "memory-fits", lambda: review("gpu-memory", **small)
        yield "memory-phases", phases
        yield "memory-short", lambda: review("memory-advice", batch=4, gradient_checkpointing=None)
        yield "memory-unknown", lambda: review("gpu-memory", torch_compile=True)
        yield "run-memory-room", lambda: run(24.0)
        yield "run-memory-tight", lambda: run(10.0)

    def _reveal(self, name: str) -> None:
        """Have something in sight on each picture of the scene."""
        self._in_sight = name

    def _scroll_to(self, name: str) -> None:
        if not name:
            return
        self._settle(0.05)
        for part in self._window.findChildren(QWidget, name):
            above = part.parentWidget() if part.isVisible() else None
            while above is not None:
                if isinstance(above, QScrollArea):
                    above.ensureWidgetVisible(part, 0, 40)
                above = above.parentWidget()

    def _looks(self) -> Iterator[str]:
        for size_name, size in SIZES.items():
            self._window.resize(size)
            for appearance in ("light", "dark"):
                self._theme.set_appearance(appearance)
                yield f"{size_name}-{appearance}"
        self._theme.set_appearance("light")
        self._window.resize(SIZES["small"])
        self._theme.set_text_percent(150)
        yield "small-light-150"
        self._theme.set_text_percent(100)

    def _shoot(self, name: str) -> None:
        self._settle(0.05)
        self._scroll_to(self._in_sight)
        self._window.grab().save(str(self._folder / f"{name}.png"))

    def _settle(self, seconds: float = 0.6) -> None:
        until = time.monotonic() + seconds
        self._wait(lambda: time.monotonic() >= until)

    def _wait(self, ready: object) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        alarm = QTimer()
        alarm.start(20)
        while not ready() and time.monotonic() < until:
            self._application.processEvents()


if __name__ == "__main__":
    main()
