"""The line of chips: which images are shown, which view, which folder, and a search by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from gui.engine.texts import _, ngettext
from gui.window.models.image_rows import ImageFilter, Level, worst_first
from gui.window.pages.data.tile_words import short_words
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.inputs import Choice, TextField
from gui.window.widgets.layouts import FlowLayout
from gui.window.widgets.styled import style

IMAGES = "images"
_TONES = {Level.STOP: "bad", Level.LOOK: "warn", Level.FINE: ""}


@dataclass(frozen=True)
class Counts:
    """How many images there are of what.

    Attributes:
        levels: Level to number.
        kinds: Kind of trouble to number.
    """

    levels: Mapping[Level, int]
    kinds: Counter[str]


class FilterBar(QWidget):
    """Chips with counts; one that is pressed again lets all images through.

    Args:
        views: Name and words of the views beside the images.
    """

    changed = Signal(object)
    """`ImageFilter`."""
    view_wanted = Signal(str)

    def __init__(self, views: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.setObjectName("data-filters")
        self._filter = ImageFilter()
        self._view = IMAGES
        self._back = self._chip(_("‹ Images"), "data-view-images", partial(self._show, IMAGES))
        self._back.setCheckable(False)
        self._levels = {
            level: self._chip("", f"data-filter-{level.name.lower()}", partial(self._press, level))
            for level in _TONES
        }
        for level, chip in self._levels.items():
            style(chip, tone=_TONES[level])
        self._menu = QMenu(self)
        self._kinds = self._chip(_("By finding"), "data-filter-kinds", self._open_menu)
        self._named = self._chip("", "data-filter-named", self._forget_names)
        self._views = {
            name: self._chip(words, f"data-view-{name}", partial(self._show, name)) for name, words in views
        }
        self.folder = Choice(name="data-folder", words=_("Folder"))
        self.folder.changed.connect(
            lambda place: self._use(replace(self._filter, place=place, names=frozenset()))
        )
        self.search = TextField(
            placeholder=_("Search by name  /"), live=True, name="data-search", words=_("Search by name")
        )
        self.search.setClearButtonEnabled(True)
        self.search.changed.connect(lambda text: self._use(replace(self._filter, text=text.strip())))
        filters = (*self._levels.values(), self._kinds, self._named)
        chips = (self._back, *filters, *self._views.values())
        self.setLayout(FlowLayout(*chips, self.folder, self.search, spacing=Space.M))
        for part in (self._back, self._named, self.folder):
            part.hide()
        self.show_counts(Counts({}, Counter()))

    @property
    def filter(self) -> ImageFilter:
        """Which images are wanted."""
        return self._filter

    def show_counts(self, counts: Counts) -> None:
        """Show how many there are of what; what there is none of is left out."""
        words = {
            Level.STOP: ngettext(
                "{count} stops the run", "{count} stop the run", counts.levels.get(Level.STOP, 0)
            ),
            Level.LOOK: _("{count} worth a look"),
            Level.FINE: _("{count} fine"),
        }
        for level, chip in self._levels.items():
            count = counts.levels.get(level, 0)
            chip.setText(words[level].format(count=f"{count:,}"))
            chip.setVisible(count > 0 or self._filter.level is level)
        self._fill_menu(counts.kinds)

    def show_folders(self, folders: Sequence[str]) -> None:
        """Offer one folder at a time, where there are several."""
        options = [(None, _("All folders")), *enumerate(folders)]
        self.folder.set_options(options)
        self.folder.setVisible(self._view == IMAGES and len(folders) > 1)
        if self._filter.place is not None and self._filter.place >= len(folders):
            self._use(replace(self._filter, place=None))

    def show_view(self, view: str) -> None:
        """Show which view is in front."""
        self._view = view
        self.setMinimumHeight(self.search.sizeHint().height())  # the same line without it
        self._back.setVisible(view != IMAGES)
        for name, chip in self._views.items():
            chip.setChecked(name == view)
        self.search.setVisible(view == IMAGES)
        self.folder.setVisible(view == IMAGES and self.folder.count() > 2)

    def look_for(self) -> None:
        """Give the search the keyboard."""
        self._show(IMAGES)
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def show_names(self, place: int, names: Sequence[str]) -> None:
        """Let through images of one folder that somebody has named."""
        self.folder.show_value(place)
        self.search.clear()
        self._use(ImageFilter(place=place, names=frozenset(names)))
        if self._view != IMAGES:
            self._show(IMAGES)

    def show_all(self) -> None:
        """Let all images through."""
        self.search.clear()
        self._use(ImageFilter(place=self._filter.place))

    def _chip(self, words: str, name: str, act: Callable[[], object]) -> Button:
        chip = Button(words, "segment", name=name)
        chip.clicked.connect(lambda _checked: act())
        return chip

    def _forget_names(self) -> None:
        self.folder.show_value(None)
        self._use(replace(self._filter, place=None, names=frozenset()))

    def _press(self, level: Level) -> None:
        again = self._filter.level is level and self._view == IMAGES
        self._use(replace(self._filter, level=None if again else level, key=""))
        self._show(IMAGES)

    def _use(self, wanted: ImageFilter) -> None:
        self._filter = wanted
        for level, chip in self._levels.items():
            chip.setChecked(wanted.level is level)
        self._kinds.setChecked(bool(wanted.key))
        named = ngettext("only {count} image  ×", "only {count} images  ×", len(wanted.names))
        self._named.setText(named.format(count=f"{len(wanted.names):,}"))
        self._named.setVisible(bool(wanted.names))
        self._named.setChecked(True)
        self._kinds.setText(short_words(wanted.key) if wanted.key else _("By finding"))
        self.changed.emit(wanted)

    def _show(self, view: str) -> None:
        wanted = IMAGES if view == self._view else view
        self.show_view(wanted)
        self.view_wanted.emit(wanted)

    def _open_menu(self) -> None:
        self._kinds.setChecked(bool(self._filter.key))
        self._menu.popup(self._kinds.mapToGlobal(self._kinds.rect().bottomLeft()))

    def _fill_menu(self, kinds: Counter[str]) -> None:
        self._kinds.setVisible(bool(kinds) or bool(self._filter.key))
        self._menu.clear()
        every = QAction(_("All images"), self._menu)
        every.triggered.connect(lambda: self._choose(""))
        self._menu.addAction(every)
        self._menu.addSeparator()
        for key in worst_first(kinds):
            action = QAction(f"{short_words(key)}  ·  {kinds[key]:,}", self._menu)
            action.setObjectName(f"data-kind-{key}")
            action.triggered.connect(lambda _checked=False, key=key: self._choose(key))
            self._menu.addAction(action)

    def _choose(self, key: str) -> None:
        self._use(replace(self._filter, key=key, level=None))
        self._show_images()

    def _show_images(self) -> None:
        if self._view != IMAGES:
            self._show(IMAGES)
