"""How a run ended, calmly, with the file to use."""

from __future__ import annotations

from PySide6.QtGui import QClipboard
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy

from gui.engine.runs.status import Verdict
from gui.engine.runs.words import verdict_words
from gui.engine.texts import _
from gui.window.pages.run.recovery_card import RecoveryButtons
from gui.window.pages.run.words import TONES
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button
from gui.window.widgets.labels import ElidedLabel


class VerdictCard(Banner):
    """The verdict's sentence, the file, and a button that copies its path.

    Args:
        icons: Draws its picture.
        clipboard: Takes the path.
    """

    def __init__(self, icons: Icons, clipboard: QClipboard) -> None:
        super().__init__(icons, "good", name="run-verdict")
        self.title.setObjectName("run-verdict-sentence")
        self._clipboard = clipboard
        self._path = ""
        self._ways: RecoveryButtons | None = None
        self.file = ElidedLabel("", "mono", middle=True)
        self.file.setObjectName("run-final-file")
        self.copy = Button(_("Copy path"), "link", name="run-copy-path")
        self.copy.clicked.connect(lambda: self._clipboard.setText(self._path))
        self._place = QHBoxLayout()
        self._place.setSpacing(Space.S)
        self.file.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._place.addWidget(self.file)
        self._place.addWidget(self.copy)
        self._place.addStretch(1)
        self.body.addLayout(self._place)
        self.hide()

    def show_verdict(
        self, verdict: Verdict | None, *, told: bool, ways: RecoveryButtons | None = None
    ) -> None:
        """Show how it ended.

        Args:
            verdict: None while it has not.
            told: Whether a banner tells it already.
            ways: Buttons that lead on; None where there are none.
        """
        self.setVisible(verdict is not None and not told)
        if ways is not self._ways:
            self._ways = ways
            self.set_buttons(*(ways.make() if ways is not None else ()))
        if verdict is None:
            return
        words = verdict_words(verdict.verdict, verdict.reason)
        self.show_words(verdict.sentence or words.text, "", TONES[words.tone])
        use = verdict.final if verdict.verdict == "finished" else None
        path = use or (verdict.clean[-1] if verdict.clean else None)
        self._path = str(path) if path is not None else ""
        self.file.setText(self._path)
        self.file.setVisible(bool(self._path))
        self.copy.setVisible(bool(self._path))
