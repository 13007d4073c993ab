"""The image whose caption is being written, as large as there is room."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from gui.engine.dataset.small_picture import PictureWish
from gui.window.bridges.dataset_pictures import DatasetPictures, RoundWish
from gui.window.pages.data.crop_picture import CropPicture
from gui.window.theme.icons import Icons

LEAST_HEIGHT = 70
"""In pixels at a text size of 100 %."""

STEP_PX = 200
"""A picture is made anew when its room grew by so much, not at each pixel."""


class CaptionPicture(CropPicture):
    """One image, whole; it is made elsewhere and comes when it is there.

    Args:
        icons: With the theme.
        pictures: Makes large pictures.
    """

    def __init__(self, icons: Icons, pictures: DatasetPictures) -> None:
        super().__init__(icons)
        self.setObjectName("caption-picture")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._pictures = pictures
        self._path: Path | None = None
        self._wanted: PictureWish | None = None
        pictures.arrived.connect(self._look)

    def show_path(self, path: Path | None) -> None:
        """Show another image; None shows nothing."""
        if path != self._path:
            self._path, self._wanted = path, None
            self._look()
            self._want()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Ask for a picture that fills the room."""
        super().resizeEvent(event)
        self._want()

    def _want(self) -> None:
        if self._path is None or self.width() < STEP_PX // 2:
            return
        box = self.box()
        sides = (-(-box.width() // STEP_PX) * STEP_PX, -(-box.height() // STEP_PX) * STEP_PX)
        wish = PictureWish(self._path, sides, filling=False)
        if wish != self._wanted:
            self._wanted = wish
            self._pictures.want([RoundWish(wish)])

    def _look(self) -> None:
        image = self._pictures.find(self._path) if self._path else None
        known = self._path is not None and self._pictures.knows(self._path)
        self.show_image(image, broken=known and image is None)

    def _restyle(self) -> None:
        self.setMinimumHeight(self._icons.theme.px(LEAST_HEIGHT))
        self.update()
