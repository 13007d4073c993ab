"""The right editor for each argument."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from gui.engine.redaction import SECRET_ARGUMENTS
from gui.engine.texts import _
from gui.window.bridges.tokens import Tokens
from gui.window.models.argument_rows import ArgumentRow
from gui.window.models.argument_values import read_text, shown_text
from gui.window.models.arguments_model import ArgumentsModel
from gui.window.widgets.inputs import Choice, PathField, TextField
from gui.window.widgets.labels import Label
from gui.window.widgets.switch import Switch
from gui.window.widgets.token_field import TokenField


class ArgumentEditor(QObject):
    """Edits one argument; what is typed is taken over at each key.

    Attributes:
        row: The argument.
        widget: What to show.
    """

    refused = Signal(str)
    """Why the plan cannot hold what was typed; empty when it can."""
    left = Signal()
    """Enter was pressed: back to the list."""

    def __init__(self, model: ArgumentsModel, row: ArgumentRow, tokens: Tokens) -> None:
        super().__init__()
        self.model = model
        self.row = row
        self._tokens = tokens
        self.widget: QWidget = self._made()

    @property
    def field(self) -> QWidget:
        """What takes the keyboard."""
        return self.widget.field if isinstance(self.widget, PathField | TokenField) else self.widget

    def focus(self) -> None:
        """Give it the keyboard, its text marked."""
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        if isinstance(self.field, QLineEdit):
            self.field.selectAll()

    def show_now(self) -> None:
        """Show what counts now; what means the same stays as it was typed."""
        widget, found = self.widget, self.model.effective(self.row)
        if isinstance(widget, Switch):
            widget.show_value(found.value)
            widget.setText(_("on") if found.value is True else _("off"))
        elif isinstance(widget, Choice):
            widget.setItemText(0, self._hint())
            widget.show_value(found.value if found.source == "user" else None)
        elif isinstance(widget, PathField):
            widget.show_value(self.model.editor_text(self.row))
            widget.field.setPlaceholderText(self._hint())
        elif isinstance(widget, TextField):
            self._show_text(widget)
        elif isinstance(widget, Label):
            widget.setText(shown_text(self.row, found.value))

    def _show_text(self, field: TextField) -> None:
        text = self.model.editor_text(self.row)
        field.setPlaceholderText(self._hint())
        own = self.model.effective(self.row)
        typed = read_text(self.row, field.text()) if field.text() else None
        same = own.source == "user" and type(typed) is type(own.value) and typed == own.value
        if not same and not (field.hasFocus() and self._was_refused):
            field.show_value(text)

    def _hint(self) -> str:
        """Say what counts while the plan says nothing."""
        found = self.model.effective(self.row)
        given = found.preset_value
        if given is not None and self.row.target not in self.model.document.plan.without:
            return _("preset: {value}").format(value=shown_text(self.row, given))
        default = shown_text(self.row, self.model.document.default(self.row.target))
        return _("default: {value}").format(value=default) if default else _("nothing")

    def _made(self) -> QWidget:
        self._was_refused = False
        name, words = f"argument-{self.row.target}", self.row.name
        if self.row.kind == "switch":
            switch = Switch(_("off"), name=name, words=words)
            switch.changed.connect(self._chosen)
            return switch
        if self.row.kind == "choice":
            options: list[tuple[object, str]] = [(None, "")]
            options += [(choice, str(choice)) for choice in self.row.choices]
            combo = Choice(options, name=name, words=words)
            combo.changed.connect(self._chosen)
            return combo
        if self.row.kind in ("path", "folder"):
            path = PathField("folder" if self.row.kind == "folder" else "any", name=name, words=words)
            path.changed.connect(self._typed)
            path.field.returnPressed.connect(self.left)
            return path
        if self.row.target in SECRET_ARGUMENTS:
            return TokenField(self.row.target, self._tokens, words=words)
        if self.row.kind in ("locked", "secret"):
            locked = Label("", "mono", selectable=True)
            locked.setObjectName(name)
            return locked
        return self._line(name, words)

    def _line(self, name: str, words: str) -> TextField:
        line = TextField(live=True, mono=True, name=name, words=words)
        line.changed.connect(self._typed)
        line.editingFinished.connect(self.model.document.end_merge)
        line.returnPressed.connect(self.left)
        return line

    def _typed(self, text: str) -> None:
        sentence = self.model.set_text(self.row, text)
        self._was_refused = bool(sentence)
        self.refused.emit(sentence)

    def _chosen(self, value: object) -> None:
        self.refused.emit(self.model.set_value(self.row, value))
        self.model.document.end_merge()
        self.show_now()
