"""Makes the parts of the window and connects them: bridges, pages, and the ways between pages."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from gui.engine.paths import Home
from gui.engine.plan.drafts import Drafts
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_choice import fresh_plan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.recents import Recents
from gui.engine.texts import _
from gui.engine.token_store import TokenStore
from gui.engine.window_state import WindowState, load_window_state, save_window_state
from gui.window.bridges.alerts import Alerts
from gui.window.bridges.checks import Checks
from gui.window.bridges.elsewhere import Elsewhere
from gui.window.bridges.hardware import Hardware
from gui.window.bridges.launcher import Launcher
from gui.window.bridges.queue_adder import QueueAdder
from gui.window.bridges.queue_list import QueueList
from gui.window.bridges.run_list import RunList
from gui.window.bridges.settings import Settings
from gui.window.bridges.tasks import Tasks, UnexpectedFault
from gui.window.bridges.tokens import Tokens
from gui.window.bridges.trainers import Trainers
from gui.window.closing import Closing
from gui.window.main_window import MainWindow
from gui.window.models.plan_document import FRESH_NAME, PlanDocument
from gui.window.notes import Notes
from gui.window.sight import Sight
from gui.window.theme.icons import Icons
from gui.window.ways import Ways
from gui.window.widgets.buttons import Button
from gui.window.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from gui.engine.runs.alarm import Alarm
    from gui.engine.runs.run_entry import RunEntry


class Workbench(QObject):
    """Everything behind one main window.

    Args:
        application: For what the desktop can do.
        window: The frame.
        icons: With the theme.
        home: Where runs, caches and preferences are.
        trainer: Use this one instead of the default.
        python: Its interpreter.
    """

    _fault = Signal(object)

    def __init__(
        self,
        application: QApplication,
        window: MainWindow,
        icons: Icons,
        home: Home,
        *,
        trainer: str | None = None,
        python: str | None = None,
    ) -> None:
        super().__init__()
        self.window = window
        self.icons = icons
        self.theme = icons.theme
        self.home = home
        self.tasks = Tasks()
        self.settings = Settings(home)
        self.trainers = Trainers(home, self.settings, self.tasks, trainer=trainer, python=python)
        self.hardware = Hardware()
        self.runs = RunList(home)
        self.library = PresetLibrary(home.presets)
        self.recents = Recents(home)
        self.document = PlanDocument(
            drafts=Drafts(home), recents=self.recents, library=self.library, fresh=self._fresh_plan
        )
        self.checks = Checks(self.document, self.trainers, self.tasks, home)
        self.tokens = Tokens(TokenStore(home), self.tasks)
        self.launcher = Launcher(self.trainers, self.tasks, home, self.tokens.store)
        self.queue = QueueList(home, self.tasks)
        self.adder = QueueAdder(self.trainers, self.tasks, home)
        self.alerts = Alerts(application, window, icons, self.settings)
        self.elsewhere = Elsewhere(
            self.runs, self.alerts, self.tasks, is_open=self._is_open, in_sight=self._in_sight
        )
        self.notes = Notes(window, icons)
        self.ways = Ways(
            window=window,
            document=self.document,
            trainers=self.trainers,
            runs=self.runs,
            tokens=self.tokens,
            tasks=self.tasks,
            notes=self.notes,
        )
        self.closing = Closing(window, self.runs, self.launcher)
        self.sight = Sight(application, window)
        self._fault.connect(self._show_fault)
        self._add_pages()
        self._connect()

    def begin(self, plan: Path | None = None) -> None:
        """Show the first page, and let everything start to look.

        What was left comes back: unsaved work, and the runs that go on.

        Args:
            plan: To open at once.
        """
        state = load_window_state(self.home)
        if state.geometry:
            self.window.restore_geometry_text(state.geometry)
        self.trainers.start()
        self.hardware.start()
        self.runs.start()
        self.queue.start()
        self.window.show_page("start")
        if plan is not None:
            self.ways.open_setup(str(plan))
        elif not self.ways.reopen_left(state):
            self.ways.attach_when_known()

    def close(self) -> None:
        """Let go of everything; runs go on."""
        self._keep_state()
        run_page: Any = self.window.made("run")
        if run_page is not None:
            run_page.close_run()
        data_page: Any = self.window.made("data")
        if data_page is not None:
            data_page.close_page()
        runs_page: Any = self.window.made("runs")
        if runs_page is not None:
            runs_page.close_page()
        self.document.close()
        for part in (self.checks, self.trainers, self.hardware, self.runs, self.queue, self.alerts):
            part.close()
        self.tasks.close()

    def report_fault(self, error: Exception) -> None:
        """Show a fault of the program; may be called in any thread."""
        with contextlib.suppress(RuntimeError):  # the window is gone
            self._fault.emit(error)

    def _is_open(self, folder: Path) -> bool:
        page: Any = self.window.made("run")
        return page is not None and page.run_folder is not None and page.run_folder.path == folder

    def _in_sight(self, folder: Path) -> bool:
        return self.window.current == "run" and self._is_open(folder)

    def _fresh_plan(self) -> TrainingPlan:
        chosen = self.settings.values
        gpu_ids = [device.index for device in self.hardware.devices if device.uuid == chosen.gpu]
        return fresh_plan(FRESH_NAME, self.library, guard=chosen.guard, gpu_ids=gpu_ids)

    def _add_pages(self) -> None:
        add = self.window.add_page
        add("start", _("Start"), "home", self._make_start, "Alt+1")
        add("plan", _("Plan"), "plan", self._make_plan, "Alt+2")
        add("data", _("Data"), "data", self._make_data, "Alt+3")
        add("run", _("Run"), "run", self._make_run, "Alt+4")
        add("runs", _("Runs"), "runs", self._make_runs, "Alt+5")
        add("queue", _("Queue"), "queue", self._make_queue, "Alt+6")
        add("settings", _("Settings"), "settings", self._make_settings, "Alt+7")
        self.status_line = StatusLine(
            hardware=self.hardware, trainers=self.trainers, runs=self.runs, theme=self.theme
        )
        self.status_line.open_run.connect(self.ways.open_run)
        self.window.set_status_line(self.status_line)

    def _connect(self) -> None:
        self.window.may_close = self.closing.may_close
        self.window.files_dropped.connect(self.ways.take_files)
        self.document.state_changed.connect(self._show_title)
        self.document.opened.connect(self._show_title)
        self.launcher.notes.connect(self._show_launch_notes)
        self.tokens.said.connect(lambda words: self.notes.tell(_("About your tokens"), words, "token"))
        self.tokens.failed.connect(lambda error: self.notes.error(_("This was not done."), error, "token"))
        self.launcher.launched.connect(lambda _run: self.runs.refresh())
        self.adder.added.connect(lambda _added: self.queue.refresh())
        self.elsewhere.alarmed.connect(self._show_alarm)
        self.window.shown.connect(self._alarms_seen)

    def _make_start(self) -> QWidget:
        from gui.window.pages.start.start_page import StartPage

        page = StartPage(
            trainers=self.trainers,
            hardware=self.hardware,
            runs=self.runs,
            recents=self.recents,
            tasks=self.tasks,
            icons=self.icons,
            home=self.home,
        )
        page.new_plan.connect(self.ways.new_plan)
        page.practise.connect(self.ways.open_setup)
        page.open_setup.connect(self.ways.open_setup)
        page.setup_read.connect(self.ways.use_setup)
        page.open_run.connect(self.ways.open_run)
        return page

    def _make_plan(self) -> QWidget:
        from gui.window.pages.arguments.step import ArgumentsStep
        from gui.window.pages.plan.plan_page import PlanPage
        from gui.window.pages.review.step import ReviewStep

        review = ReviewStep(
            document=self.document,
            checks=self.checks,
            launcher=self.launcher,
            adder=self.adder,
            trainers=self.trainers,
            hardware=self.hardware,
            tokens=self.tokens,
            tasks=self.tasks,
            theme=self.theme,
            icons=self.icons,
        )
        arguments = ArgumentsStep(
            icons=self.icons,
            document=self.document,
            trainers=self.trainers,
            tokens=self.tokens,
            checks=self.checks,
        )
        page = PlanPage(
            document=self.document,
            trainers=self.trainers,
            hardware=self.hardware,
            checks=self.checks,
            tokens=self.tokens,
            tasks=self.tasks,
            theme=self.theme,
            icons=self.icons,
            home=self.home,
            review=review,
            arguments=arguments,
        )
        review.show_field.connect(page.show_field)
        review.launched.connect(self.ways.open_run)
        review.queue_wanted.connect(lambda: self.window.show_page("queue"))
        review.settings_wanted.connect(lambda: self.window.show_page("settings"))
        return page

    def _make_data(self) -> QWidget:
        from gui.window.pages.data.making import make_data_page

        page = make_data_page(
            document=self.document,
            checks=self.checks,
            trainers=self.trainers,
            tasks=self.tasks,
            icons=self.icons,
            home=self.home,
        )
        page.plan_wanted.connect(lambda: self.ways.show_plan("data"))
        return page

    def _make_run(self) -> QWidget:
        from gui.window.pages.run.run_page import RunPage

        page = RunPage(tasks=self.tasks, theme=self.theme, icons=self.icons, alerts=self.alerts)
        page.open_as_plan.connect(self.ways.open_run_as_plan)
        page.launched.connect(lambda _run: self.runs.refresh())
        page.settings_wanted.connect(lambda: self.window.show_page("settings"))
        page.plan_wanted.connect(lambda: self.window.show_page("plan"))
        return page

    def _make_runs(self) -> QWidget:
        from gui.window.pages.runs.runs_page import RunsPage

        page = RunsPage(runs=self.runs, tasks=self.tasks, theme=self.theme, icons=self.icons)
        page.open_run.connect(self.ways.open_run)
        page.reuse.connect(self.ways.open_run_as_plan)
        return page

    def _make_queue(self) -> QWidget:
        from gui.window.pages.queue.queue_page import QueuePage

        page = QueuePage(
            queue=self.queue,
            adder=self.adder,
            hardware=self.hardware,
            home=self.home,
            theme=self.theme,
            icons=self.icons,
        )
        page.open_run.connect(self.ways.open_run)
        page.open_plan.connect(self.ways.open_setup)
        return page

    def _make_settings(self) -> QWidget:
        from gui.window.pages.settings.settings_page import SettingsPage

        return SettingsPage(
            settings=self.settings,
            trainers=self.trainers,
            hardware=self.hardware,
            tokens=self.tokens,
            tasks=self.tasks,
            theme=self.theme,
            icons=self.icons,
            home=self.home,
        )

    def _show_title(self) -> None:
        mark = "*" if self.document.dirty else ""
        self.window.setWindowTitle(f"{self.document.plan.name}{mark} — " + _("Kohya Preflight"))

    def _show_launch_notes(self, notes: tuple[str, ...]) -> None:
        if notes:
            self.notes.tell(_("Worth knowing about this run:"), "\n".join(notes), "launch-notes", "warn")

    def _show_alarm(self, entry: RunEntry, alarm: Alarm) -> None:
        """Say what goes wrong with a run that is out of sight, until it is looked at."""
        name = f"alarm-{entry.name}"
        show = Button(_("Show the run"), compact=True, name=f"note-{name}-show")
        show.clicked.connect(lambda: self.ways.open_run(entry.folder))
        title = f"{entry.plan_name or entry.name}: {alarm.title}"
        self.notes.tell(title, alarm.done or alarm.text, name, alarm.tone, show)

    def _alarms_seen(self, page: str) -> None:
        run_page: Any = self.window.made(page)
        if page == "run" and run_page is not None and run_page.run_folder is not None:
            self.notes.take_away(f"alarm-{run_page.run_folder.name}")

    def _show_fault(self, error: Exception) -> None:
        fault = UnexpectedFault(error)
        copy = Button(_("Copy the details"), compact=True, name="note-fault-copy")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(fault.details))
        self.notes.tell(_("Something went wrong inside the program."), str(fault), "fault", "bad", copy)

    def _keep_state(self) -> None:
        path = self.document.path
        plan_page: Any = self.window.made("plan")
        state = WindowState(
            geometry=self.window.geometry_text(),
            page=self.window.current,
            step=plan_page.current if plan_page is not None else "",
            plan=str(path) if path else "",
        )
        save_window_state(self.home, state)
