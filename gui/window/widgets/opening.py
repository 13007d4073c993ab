"""What is seen in the first moments, before trainers and GPUs are found."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QVBoxLayout, QWidget

from gui.engine.texts import _
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.labels import Label


class Opening(QWidget):
    """The program's name, what it is for, and that it is at work."""

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("opening")
        picture = QLabel()
        picture.setPixmap(icons.pixmap("logo", 56, "accent"))
        title = Label(_("Train without losing a night"), "hero")
        words = Label(_("Finding trainers and GPUs …"), "muted")
        bar = QProgressBar()
        bar.setRange(0, 0)
        bar.setTextVisible(False)
        bar.setFixedWidth(icons.theme.px(220))
        bar.setAccessibleName(words.text())
        layout = QVBoxLayout(self)
        layout.setSpacing(Space.M)
        layout.addStretch(2)
        for part in (picture, title, words, bar):
            layout.addWidget(part, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(3)
