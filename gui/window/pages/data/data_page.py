"""The Data page: what the trainer will really see of the images, and ways to mend it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QFileDialog, QStackedWidget

from gui.engine.dataset.report import DatasetReport
from gui.engine.errors import PreflightError
from gui.engine.findings import Fix
from gui.engine.plan.changes import ACTION, apply_changes
from gui.engine.plan.model import TrainingPlan
from gui.engine.texts import _, ngettext
from gui.window.bridges.checks import Checks
from gui.window.bridges.dataset_bridges import DatasetBridges
from gui.window.bridges.dataset_scan import Begun, Finished, Found
from gui.window.bridges.dataset_source import DatasetSource, names_images
from gui.window.bridges.dataset_watch import DatasetWatch
from gui.window.bridges.tasks import Tasks
from gui.window.models.image_rows import ImageRows, Level
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.data.choosing import ChoosingFolder
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.pages.data.filter_bar import IMAGES, Counts, FilterBar
from gui.window.pages.data.head import DataHead
from gui.window.pages.data.images_view import ImagesView
from gui.window.pages.data.page_notes import PageNotes
from gui.window.pages.data.scan_bar import ScanBar
from gui.window.pages.data.setting_aside import AsideFolder, SettingAside
from gui.window.pages.data.use_in_plan import use_data
from gui.window.pages.data.views import DataViews, NamedPanel
from gui.window.pages.data.words import counts_sentence
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.dropping import Drops
from gui.window.widgets.layouts import column, held
from gui.window.widgets.page import Page

REPAIRS = "repairs"
COUNT_MS = 300
"""Counts and filters follow what is found so often."""

AGAIN_MS = 400
"""Several changes of a plan are one reason to look again."""

OF_DATA = ("dataset", "plan.family", "train_data_dir", "reg_data_dir", "in_json")
"""What in a plan makes it another dataset, or the same one judged otherwise."""


class DataPage(Page):
    """Images, captions, buckets, words and repairs of one dataset.

    Args:
        document: The open plan.
        checks: Checks it; whoever shows its findings hears of a look.
        bridges: Look at images and make pictures; they end with the page.
        tasks: For reading and moving files.
        icons: With the theme.
        views: The views beside the images.
    """

    plan_wanted = Signal()
    """The plan got other data: show it."""

    def __init__(
        self,
        *,
        document: PlanDocument,
        checks: Checks,
        bridges: DatasetBridges,
        tasks: Tasks,
        icons: Icons,
        views: Sequence[NamedPanel] = (),
    ) -> None:
        super().__init__(_("Data"), scrolls=False, name="data-page")
        self.subtitle.setObjectName("data-sentence")
        self._document = document
        self._checks = checks
        self._bridges = bridges
        self._scan = bridges.scan
        self._source: DatasetSource | None = None
        self._begun: Begun | None = None
        self._report: DatasetReport | None = None
        self._done = (0, 0)
        self._due = False
        self._changed_meanwhile = False
        self._watch = DatasetWatch()
        self.images = ImagesView(icons=icons, pictures=bridges.pictures, large=bridges.large)
        self.views = DataViews(self.images, views)
        self.filters = FilterBar([(panel.name, panel.words) for panel in views])
        self.scan_bar = ScanBar()
        self.page_notes = PageNotes(icons)
        self.aside = SettingAside(tasks=tasks, icons=icons)
        self.choosing = ChoosingFolder(icons)
        self._counts = self._timer(COUNT_MS, self._show_counts)
        self._again = self._timer(AGAIN_MS, self._look_if_seen)
        self.head_parts = DataHead(self, icons, copies=self.views.panel(REPAIRS) is not None)
        self._arrange()
        self._connect()
        Drops(self, self.take)
        self._show_state()

    def take(self, paths: list[str]) -> None:
        """Look at what was dropped: a folder, or the one in which an image lies."""
        place = Path(paths[0])
        self.look_at(DatasetSource(place if place.is_dir() else place.parent))

    def look_at(self, source: DatasetSource) -> None:
        """Look at other images."""
        if source != self._source:
            self._source = source
            self._forget()
        self.look()

    def look(self) -> None:
        """Look at the images again."""
        if self._source is None:
            return
        self._due = False
        self.page_notes.hide()
        for pictures in (self._bridges.pictures, self._bridges.large):
            pictures.look_again()
        before = self.images.rows
        self._scan.start(self._source, self._checks.snapshot(), before if len(before) else None)
        self._show_state()

    def _forget(self) -> None:
        """Show nothing of what was looked at before."""
        self._begun, self._report, self._due = None, None, False
        self._watch.stop()
        self.page_notes.hide()
        self._changed_meanwhile = False
        self.aside.forget()
        self.views.show_dataset(None)
        self.images.show_view(None)
        self.images.show_rows(ImageRows(()))
        self.filters.show_all()
        self._show(IMAGES)
        self._show_state()

    def show_images(self, folder: Path, names: Sequence[str]) -> None:
        """Show some images of a folder, and no others."""
        places = {each.folder: place for place, each in enumerate(self.images.rows.folders)}
        if folder in places:
            self.filters.show_names(places[folder], names)

    def close_page(self) -> None:
        """Write what was typed, and end all processes."""
        captions: Any = self.views.panel("captions")
        if captions is not None:
            captions.write_now()
        self._watch.stop()
        self._bridges.close()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Look at the plan's images, where nothing else was chosen; notice what changed meanwhile."""
        super().showEvent(event)
        self.choosing.show_plan(names_images(self._document.plan))
        if self._source is None and names_images(self._document.plan):
            self.look_at(DatasetSource())
        elif self._due:
            self.look()
        else:
            self._watch.look()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Look what other programs did while the user was there."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow() and self.isVisible():
            self._watch.look()

    def _arrange(self) -> None:
        self._seen = held(column(self.filters, self.views, spacing=Space.M))
        self._body = QStackedWidget()
        self._body.addWidget(self.choosing)
        self._body.addWidget(self._seen)
        self.content.setSpacing(Space.M)
        for part in (self.page_notes, self.aside, self.scan_bar):
            self.content.addWidget(part)
        self.content.addWidget(self._body, 1)

    def _connect(self) -> None:
        self._scan.begun.connect(self._begin)
        self._scan.found.connect(self._find)
        self._scan.finished.connect(self._finish)
        self._scan.failed.connect(self._fail)
        self._scan.changed.connect(self._show_state)
        self.scan_bar.paused.connect(self._scan.pause)
        self.scan_bar.resumed.connect(self._scan.resume)
        self.scan_bar.cancelled.connect(self._stop)
        self._watch.changed.connect(self._changed)
        self.page_notes.again_wanted.connect(self.look)
        self.head_parts.again.clicked.connect(self.look)
        for chooser in (self.choosing, self.head_parts.source):
            chooser.folder_wanted.connect(self._choose)
            chooser.plan_wanted.connect(lambda: self.look_at(DatasetSource()))
        self.choosing.dropped.connect(self.take)
        self.filters.changed.connect(self.images.show_filter)
        self.filters.view_wanted.connect(self._show)
        self.views.files_changed.connect(self.look)
        self.views.plan_wished.connect(self._change_plan)
        self.images.aside_wanted.connect(self._ask_aside)
        self.images.edit_wanted.connect(self._edit)
        self.images.folder_wanted.connect(self._reveal)
        self.images.fix_wanted.connect(self._fix)
        self.aside.changed.connect(self.look)
        self.head_parts.copy.clicked.connect(lambda: self._show(REPAIRS))
        self.head_parts.use.clicked.connect(self._use_in_plan)
        self._document.changed.connect(self._plan_changed)
        self._document.opened.connect(self._plan_opened)
        search = QShortcut(QKeySequence(Qt.Key.Key_Slash), self)
        search.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        search.activated.connect(self.filters.look_for)

    def _timer(self, milliseconds: int, then: Any) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(then)
        return timer

    def _begin(self, begun: Begun) -> None:
        self._begun, self._done = begun, (0, len(begun.rows))
        self._changed_meanwhile = False
        self.images.show_view(self._view())
        self.images.show_rows(begun.rows)
        names = [f"{each.folder.name} · {len(each.names):,}" for each in begun.folders]
        self.filters.show_folders(names)
        self._watch.watch([each.folder for each in begun.folders])
        if self._report is None:
            self.views.show_dataset(self._view())
        self._show_counts()
        self._show_state()

    def _find(self, found: Found) -> None:
        self._done = (found.progress.done, found.progress.total)
        self.images.learn(found.images)
        self.scan_bar.show_progress(found.progress)
        if not self._counts.isActive():
            self._counts.start()

    def _finish(self, finished: Finished) -> None:
        self._report = finished.report
        self.images.show_view(self._view())
        self.images.show_rows(finished.rows)
        self._counts.stop()
        self._show_counts()
        self.views.show_dataset(self._view())
        self._show_state()
        self._checks.check_again()
        if self._changed_meanwhile:
            self.page_notes.changed()

    def _fail(self, error: PreflightError) -> None:
        self.page_notes.failed(str(error))
        self._show_state()

    def _stop(self) -> None:
        self._scan.cancel()
        self.page_notes.stopped(*self._done)
        self._watch.stop()

    def _changed(self) -> None:
        self._changed_meanwhile = True
        if not self._scan.busy:
            self.page_notes.changed()

    def _view(self) -> DatasetView | None:
        begun, report = self._begun, self._report
        if begun is None:
            return None
        captions = [each.captions for each in report.subsets if each.captions] if report else []
        return DatasetView(
            spec=begun.dataset.spec,
            report=report,
            memory=self._scan.memory,
            document=self._document if begun.dataset.source.is_plan else None,
            family=begun.dataset.plan.family,
            trigger=next((each.trigger for each in captions if each.trigger), ""),
        )

    def _show_counts(self) -> None:
        rows, place = self.images.rows, self.filters.filter.place
        levels = {level: rows.count(level, place) for level in Level}
        self.filters.show_counts(Counts(levels, rows.kinds(place)))
        if self.filters.filter.level is not None or self.filters.filter.key or not self._scan.busy:
            self.images.refresh()

    def _show_state(self) -> None:
        source, report = self._source, self._report
        self.scan_bar.show_state(self._scan.state if source is not None else "idle")
        self._body.setCurrentWidget(self._seen if self._begun is not None else self.choosing)
        sentence = counts_sentence(report) if report is not None else self._no_report()
        folder = source.folder if source is not None else None
        self.subtitle.setText(f"{folder.name} · {sentence}" if folder is not None else sentence)
        plan_has = names_images(self._document.plan)
        self.head_parts.show_source(source, is_there=self._begun is not None, plan_has=plan_has)

    def _no_report(self) -> str:
        rows = self.images.rows
        if not len(rows):
            return _("What the trainer will really see, and what would stop it")
        return ngettext("{count} image", "{count} images", len(rows)).format(count=f"{len(rows):,}")

    def _show(self, view: str) -> None:
        self.filters.show_view(view)
        self.views.bring(view)
        self.aside.setVisible(view == IMAGES)

    def _choose(self) -> None:
        found = QFileDialog.getExistingDirectory(self, _("Folder of images"))
        if found:
            self.look_at(DatasetSource(Path(found)))

    def _edit(self, path: Path) -> None:
        panel: Any = self.views.panel("captions")
        if panel is not None:
            self._show("captions")
            panel.show_image(path.parent, path.name)

    def _reveal(self, path: Path) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent))):
            self.page_notes.said(_("The desktop has no program that shows folders."))

    def _ask_aside(self, folders: list[AsideFolder]) -> None:
        self.aside.ask(folders)

    def _fix(self, fix: Fix) -> None:
        if ACTION in fix.changes:
            self._show(REPAIRS)
        else:
            self._change_plan(fix.changes, fix.label)

    def _change_plan(self, changes: Mapping[str, Any], text: str) -> None:
        begun = self._begun
        if begun is None:
            return
        if not begun.dataset.source.is_plan:
            self._use(apply_changes(begun.dataset.plan, changes))
            return
        problem = self._document.change(changes, text)
        if problem:
            self.page_notes.said(problem, "bad")

    def _use_in_plan(self) -> None:
        if self._begun is not None:
            self._use(self._begun.dataset.plan)

    def _use(self, folder: TrainingPlan) -> None:
        problem = use_data(self._document, folder)
        if problem:
            self.page_notes.said(problem, "bad")
            return
        self.look_at(DatasetSource())
        self.plan_wanted.emit()

    def _plan_changed(self, targets: frozenset[str]) -> None:
        if any(target.startswith(OF_DATA) for target in targets):
            self.choosing.show_plan(names_images(self._document.plan))
            self._due = self._source is not None and self._source.is_plan
            self._again.start()

    def _plan_opened(self) -> None:
        """Forget the images of the plan that was open before."""
        self.choosing.show_plan(names_images(self._document.plan))
        if self._source is None or not self._source.is_plan:
            self._show_state()
            return
        self._scan.cancel()
        self._source = None
        self._forget()
        self._again.start()

    def _look_if_seen(self) -> None:
        if not self.isVisible():
            return
        if self._source is None and names_images(self._document.plan):
            self.look_at(DatasetSource())
        elif self._due:
            self.look()
