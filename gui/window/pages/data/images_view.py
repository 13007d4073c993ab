"""The grid of images and, beside it, the one that is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QStackedLayout, QWidget

from gui.engine.dataset.spec import SubsetSpec
from gui.engine.findings import Finding
from gui.engine.plan.changes import ACTION
from gui.engine.texts import _
from gui.window.bridges.dataset_pictures import DatasetPictures
from gui.window.models.image_grid_model import ImageGridModel
from gui.window.models.image_rows import ImageFilter, ImageRows
from gui.window.models.looked_images import LookedAt
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.pages.data.image_grid import ImageGrid
from gui.window.pages.data.image_panel import ImagePanel, ShownImage
from gui.window.pages.data.setting_aside import AsideFolder
from gui.window.pages.data.tile_words import image_words
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.layouts import held, row
from gui.window.widgets.page import Empty

MOST_PANEL = 0.46
"""So much of the width the panel may take."""

MOST_KEPT = 500
"""So many selected images stay selected when others are shown."""

SELECTION_MS = 50
"""Who drags over many images has their number afterwards."""


class ImagesView(QWidget):
    """Images of a dataset that a filter lets through.

    Args:
        icons: With the theme.
        pictures: Makes the small pictures.
        large: Makes the large one.
    """

    aside_wanted = Signal(object)
    """List of `AsideFolder`."""
    edit_wanted = Signal(object)
    """`Path` of an image."""
    folder_wanted = Signal(object)
    """`Path` of an image."""
    fix_wanted = Signal(object)
    """`Fix`."""

    def __init__(self, *, icons: Icons, pictures: DatasetPictures, large: DatasetPictures) -> None:
        super().__init__()
        self.setObjectName("data-images")
        self._view: DatasetView | None = None
        self._model = ImageGridModel(image_words)
        self.grid = ImageGrid(icons, self._model, pictures)
        self.panel = ImagePanel(icons=icons, pictures=large)
        self._nothing = Empty("", "", name="data-nothing")
        self._stack = QStackedLayout()
        self._stack.addWidget(self.grid)
        self._stack.addWidget(self._nothing)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SELECTION_MS)
        self._timer.timeout.connect(self._show_current)
        layout = row(spacing=Space.L)
        layout.addWidget(held(self._stack), 1)
        layout.addWidget(self.panel)
        self.setLayout(layout)
        self.grid.moved.connect(self._show_current)
        self.grid.selectionModel().selectionChanged.connect(self._timer.start)
        self.grid.opened.connect(self._edit)
        self.grid.aside_wanted.connect(self._set_aside)
        self.panel.aside_wanted.connect(self._set_aside)
        self.panel.edit_wanted.connect(self._edit)
        self.panel.folder_wanted.connect(self._reveal)
        self.panel.fix_wanted.connect(self.fix_wanted)
        self._add_menu()

    def _add_menu(self) -> None:
        self.grid.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        for words, act in (
            (_("Edit captions"), self._edit),
            (_("Show folder"), self._reveal),
            (_("Set aside"), self._set_aside),
        ):
            action = QAction(words, self.grid)
            action.triggered.connect(lambda _checked=False, act=act: act())
            self.grid.addAction(action)

    @property
    def rows(self) -> ImageRows:
        """All images."""
        return self._model.rows

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Leave the grid at least as much room as the panel."""
        super().resizeEvent(event)
        self.panel.fit(round(self.width() * MOST_PANEL))

    def show_view(self, view: DatasetView | None) -> None:
        """Know another dataset, or more about it."""
        self._view = view
        self._show_current()

    def show_rows(self, rows: ImageRows) -> None:
        """Show other images; the current one stays so where it is still there, and what is in sight too."""
        current = self.grid.currentIndex()
        away = current.isValid() and not self.grid.is_in_sight(current)
        self._keeping(lambda: self._model.show_rows(rows), stays=away)

    def show_filter(self, wanted: ImageFilter) -> None:
        """Let others through."""
        self._keeping(lambda: self._model.show_filter(wanted), stays=False)

    def learn(self, images: Sequence[LookedAt]) -> None:
        """Take what was found out about images."""
        changed = self._model.learn(images)
        self.grid.redraw(changed)
        if self.grid.current_row in changed:
            self._show_current()

    def refresh(self) -> None:
        """Filter anew."""
        self.show_rows(self.rows)

    def _keeping(self, change: Callable[[], object], *, stays: bool) -> None:
        """Change what is shown; stay at the same image, and at the same height where that is elsewhere.

        Args:
            change: Does it.
            stays: Whether the current image need not be in sight.
        """
        current, number = self.grid.current_row, self.grid.currentIndex().row()
        path = self.rows.path(current) if current is not None else None
        is_few = 1 < self.grid.selected_count <= MOST_KEPT
        selected = [self.rows.path(row) for row in self.grid.selected_rows] if is_few else []
        height, has_focus = self.grid.verticalOffset(), self.grid.hasFocus()
        change()
        self._say_nothing()
        again = self._model.number_of(path) if path is not None else None
        wanted = max(number, 0) if again is None else again
        if not self._model.rowCount():
            self._show_current()
        elif stays:
            self.grid.stay_at(min(wanted, self._model.rowCount() - 1), height)
        else:
            self.grid.verticalScrollBar().setValue(height)
            self.grid.go_to(wanted)
        found = map(self._model.number_of, selected)
        self.grid.select_also([number for number in found if number is not None])
        if has_focus:
            self.grid.setFocus()

    def _say_nothing(self) -> None:
        """Where there is no image to show, say why."""
        self._stack.setCurrentIndex(0 if self._model.rowCount() else 1)
        report = self._view.report if self._view else None
        title, text = _("No image is like that"), _("Press the chip again, or clear the search.")
        if not len(self.rows):
            title = _("There are no images")
            told = [each for each in report.findings if each.severity != "hint"] if report else ()
            text = "\n\n".join(f"{each.title} {each.detail}" for each in told)
        self._nothing.title.setText(title)
        self._nothing.text.setText(text)

    def _show_current(self) -> None:
        view, current = self._view, self.grid.current_row
        if view is None or current is None:
            self.panel.show_image(None)
            return
        path = self.rows.path(current)
        subset = self._subset(path.parent)
        if subset is None:
            self.panel.show_image(None)
            return
        report = view.report
        shown = ShownImage(
            path=path,
            subset=subset,
            keys=self.rows.keys(current),
            trigger=self._trigger(subset),
            findings=_with_ways(view, report.findings) if report else (),
            memory=view.memory,
            selected=max(1, self.grid.selected_count),
        )
        self.panel.show_image(shown)

    def _subset(self, folder: Path) -> SubsetSpec | None:
        subsets = self._view.spec.subsets if self._view else ()
        return next((subset for subset in subsets if subset.image_dir == folder), None)

    def _trigger(self, subset: SubsetSpec) -> str:
        report = self._view.report if self._view else None
        captions = (
            [each.captions for each in report.subsets if each.target == subset.target] if report else []
        )
        return captions[0].trigger or "" if captions and captions[0] else ""

    def _set_aside(self) -> None:
        rows = self.grid.selected_rows
        current = self.grid.current_row
        if not rows and current is not None:
            rows = [current]
        by_place: dict[int, list[str]] = {}
        for each in rows:
            by_place.setdefault(self.rows.place(each), []).append(self.rows.name(each))
        found = []
        for place, names in by_place.items():
            folder = self.rows.folders[place]
            subset = self._subset(folder.folder)
            if subset is not None:
                found.append(AsideFolder(folder.folder, tuple(names), subset.caption_extension, folder.names))
        self.aside_wanted.emit(found)

    def _edit(self) -> None:
        if self.grid.current_row is not None:
            self.edit_wanted.emit(self.rows.path(self.grid.current_row))

    def _reveal(self) -> None:
        if self.grid.current_row is not None:
            self.folder_wanted.emit(self.rows.path(self.grid.current_row))


def _with_ways(view: DatasetView, findings: Sequence[Finding]) -> Sequence[Finding]:
    """Return findings with the ways out that there are: a mere folder has no plan to change."""
    if view.document is not None:
        return findings
    return [
        each.model_copy(update={"fixes": tuple(fix for fix in each.fixes if ACTION in fix.changes)})
        for each in findings
    ]
