"""The views of a dataset, one in front: its images, and the panels beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from gui.window.pages.data.dataset_view import DatasetView
from gui.window.pages.data.filter_bar import IMAGES


class Panel(Protocol):
    """What a panel beside the images has."""

    files_changed: Any
    """Signal: files of the dataset are other ones now."""
    plan_wished: Any
    """Signal of changes of the plan, and what they do in words."""

    def show_view(self, view: DatasetView) -> None:
        """Show another dataset, or more about it."""


class NamedPanel(NamedTuple):
    """A panel, and how it is called.

    Attributes:
        name: In the program.
        words: For the user.
        widget: A `Panel`.
    """

    name: str
    words: str
    widget: QWidget


class DataViews(QStackedWidget):
    """Tells panels about the dataset when they are seen, not before.

    Args:
        images: The images.
        panels: The views beside them.
    """

    files_changed = Signal()
    plan_wished = Signal(object, str)

    def __init__(self, images: QWidget, panels: Sequence[NamedPanel]) -> None:
        super().__init__()
        self._view: DatasetView | None = None
        self._images = images
        self._panels = {panel.name: panel.widget for panel in panels}
        self._told: dict[str, DatasetView | None] = dict.fromkeys(self._panels)
        self.addWidget(images)
        for widget in self._panels.values():
            panel = cast(Panel, widget)
            panel.files_changed.connect(self.files_changed)
            panel.plan_wished.connect(self.plan_wished)
            self.addWidget(widget)

    @property
    def current(self) -> str:
        """The name of the view in front."""
        found = (name for name, widget in self._panels.items() if widget is self.currentWidget())
        return next(found, IMAGES)

    def panel(self, name: str) -> QWidget | None:
        """Return a panel; None where there is none of that name."""
        return self._panels.get(name)

    def show_dataset(self, view: DatasetView | None) -> None:
        """Show another dataset, or more about it."""
        self._view = view
        self._tell()

    def bring(self, name: str) -> None:
        """Bring a view to the front."""
        self.setCurrentWidget(self._panels.get(name, self._images))
        self._tell()

    def _tell(self) -> None:
        name = self.current
        if name in self._panels and self._view is not None and self._told[name] is not self._view:
            self._told[name] = self._view
            cast(Panel, self._panels[name]).show_view(self._view)
