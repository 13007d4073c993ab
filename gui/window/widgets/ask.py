"""A question in the page, where other programs put a box in the way."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout

from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.chip import Tone
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout
from gui.window.widgets.styled import style


class Ask(QFrame):
    """Asks something; hidden again once it is answered. Escape means no.

    Args:
        question: In one line.
        detail: What is lost or won.
        yes_text: On the button that does it.
        no_text: On the other.
        tone: ``bad`` where something is lost.
    """

    yes = Signal()
    no = Signal()

    def __init__(
        self,
        question: str,
        detail: str,
        yes_text: str,
        no_text: str,
        *,
        tone: Tone = "warn",
        name: str = "ask",
    ) -> None:
        super().__init__()
        self.setObjectName(name)
        style(self, role="banner", tone=tone)
        self.question = Label(question, "strong")
        self.detail = Label(detail, "muted")
        self.detail.setVisible(bool(detail))
        self.accept = Button(yes_text, "danger" if tone == "bad" else "primary", name=f"{name}-yes")
        self.refuse = Button(no_text, name=f"{name}-no")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(Space.L, Space.M, Space.L, Space.M)
        layout.setSpacing(Space.S)
        layout.addWidget(self.question)
        layout.addWidget(self.detail)
        self.body = QVBoxLayout()
        layout.addLayout(self.body)
        layout.addLayout(FlowLayout(self.accept, self.refuse))
        self.accept.clicked.connect(self._yes)
        self.refuse.clicked.connect(self._no)
        self.setAccessibleName(question)

    def ask(self, question: str | None = None, detail: str | None = None) -> None:
        """Show the question and give it the keyboard; the careful answer has it."""
        if question is not None:
            self.question.setText(question)
            self.setAccessibleName(question)
        if detail is not None:
            self.detail.setText(detail)
            self.detail.setVisible(bool(detail))
        self.show()
        self.refuse.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Escape says no, Enter presses the button that has the keyboard."""
        if event.key() == Qt.Key.Key_Escape:
            self._no()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            (self._yes if self.accept.hasFocus() else self._no)()
        else:
            super().keyPressEvent(event)

    def _yes(self) -> None:
        self._answer(self.yes)

    def _no(self) -> None:
        self._answer(self.no)

    def _answer(self, answer: SignalInstance) -> None:
        """Tell an answer, once: the second click of a double click is none."""
        if not self.isHidden():
            self.hide()
            answer.emit()
