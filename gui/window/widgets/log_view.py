"""The log of a run: filter, search, follow, copy."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QBoxLayout, QButtonGroup, QSizePolicy, QStackedWidget, QWidget

from gui.engine.texts import _
from gui.window.models.log_model import LogModel, Shown
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button, IconButton
from gui.window.widgets.inputs import TextField
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import column, held, row
from gui.window.widgets.log_area import LogArea
from gui.window.widgets.page import Empty

_SEARCH_PAUSE_MS = 120


class LogView(QWidget):
    """A log with all that one does with it.

    Args:
        icons: For its buttons.
        model: The log; None shows that there will be one.
    """

    def __init__(self, icons: Icons, model: LogModel | None = None) -> None:
        super().__init__()
        self.setObjectName("log-view")
        self._icons = icons
        self._model: LogModel | None = None
        self._make_parts()
        self._pause = QTimer(self, singleShot=True, interval=_SEARCH_PAUSE_MS)
        self._pause.timeout.connect(self._search)
        self._first_match_wanted = False
        self._connect()
        self.setLayout(column(self._bar(), self._note, self._stack, spacing=Space.S))
        icons.theme.changed.connect(self._restyle)
        self.set_model(model)

    def set_model(self, model: LogModel | None) -> None:
        """Show another log; the caller closes the former one."""
        if self._model is not None:
            self._model.changed.disconnect(self._changed)
            self._model.copied.disconnect(self._to_clipboard)
        self._model = model
        self.area.set_model(model)
        if model is not None:
            model.changed.connect(self._changed)
            model.copied.connect(self._to_clipboard)
            self._search()
        self._changed(True)

    def set_needle(self, text: str) -> None:
        """Search for a text."""
        self.search.show_value(text)
        self._search()

    def show_line(self, number: int) -> None:
        """Bring a line into sight.

        Args:
            number: From 1.
        """
        if self._model is not None and self._model.rows:
            self._filters["all"].click()
            self.area.go_to(self._model.row_of(number - 1))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Enter in the search field goes to the next match, Escape back to the lines."""
        if watched is self.search and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._step(forward=not event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.search.show_value("")
                self._search()
                self.area.setFocus()
                return True
        if watched is self.area.viewport() and event.type() == QEvent.Type.Resize:
            self._place_jump()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the button over the last lines."""
        super().resizeEvent(event)
        self._place_jump()

    def _make_parts(self) -> None:
        self.area = LogArea(self._icons.theme)
        self._empty = Empty(
            _("The log appears here with the first line"),
            _("Everything that the trainer writes, warnings and errors marked."),
            name="log-empty",
        )
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.area)
        self._filters: dict[Shown, Button] = {
            "all": Button(_("All"), "segment", name="log-all"),
            "warnings": Button("", "segment", name="log-warnings"),
            "errors": Button("", "segment", name="log-errors"),
        }
        self.search = TextField(placeholder=_("Search the log"), live=True, name="log-search")
        self.search.setToolTip(_("Key: {keys}").format(keys=_native("Ctrl+F")))
        self.search.setMinimumWidth(self._icons.theme.px(160))
        self.search.setMaximumWidth(self._icons.theme.px(280))
        self._found = Label("", "small", wrap=False)
        self._found.setObjectName("log-found")
        icon = self._icons.icon
        self._previous = IconButton(
            icon("chevron-up"), _("Previous match"), shortcut="Shift+F3", name="log-previous"
        )
        self._next = IconButton(icon("chevron-down"), _("Next match"), shortcut="F3", name="log-next")
        self._copy_all = IconButton(icon("copy"), _("Copy all lines shown"), name="log-copy-all")
        self._note = Label("", "small")
        self._note.setObjectName("log-note")
        self._jump = Button("", icon=icon("chevron-down"), compact=True, name="log-jump", parent=self)
        self._jump.hide()

    def _bar(self) -> QWidget:
        filters = held(row(*self._filters.values(), None, spacing=Space.XS))
        search = held(
            row(self._found, self.search, self._previous, self._next, self._copy_all, spacing=Space.S)
        )
        return _Bar(filters, search)

    def _connect(self) -> None:
        group = QButtonGroup(self)
        for shown, button in self._filters.items():
            group.addButton(button)
            button.clicked.connect(lambda _checked, shown=shown: self._show(shown))
        self._filters["all"].setChecked(True)
        self.search.changed.connect(self._pause.start)
        self.search.installEventFilter(self)
        self.area.viewport().installEventFilter(self)
        self.area.followed.connect(self._show_jump)
        self.area.moved.connect(self._show_found)
        self.area.copy_wanted.connect(self._copy_selected)
        self._previous.clicked.connect(lambda: self._step(forward=False))
        self._next.clicked.connect(lambda: self._step(forward=True))
        self._copy_all.clicked.connect(self._copy_shown)
        self._jump.clicked.connect(self.area.follow)
        find = QShortcut(QKeySequence("Ctrl+F"), self)
        find.setContext(Qt.ShortcutContext.WindowShortcut)
        find.activated.connect(self._to_search)

    def _changed(self, anew: bool) -> None:
        model = self._model
        warnings, errors = model.counts() if model is not None else (0, 0)
        self._filters["warnings"].setText(_("Warnings {count}").format(count=f"{warnings:,}"))
        self._filters["errors"].setText(_("Errors {count}").format(count=f"{errors:,}"))
        self._note.setText(model.problem() if model is not None else "")
        self._note.setVisible(bool(self._note.text()))
        has_rows = model is not None and model.rows > 0
        self._stack.setCurrentWidget(self.area if has_rows else self._empty)
        self._say_empty()
        self._copy_all.setEnabled(has_rows)
        if anew:
            self.area.refresh()
            self.area.viewport().update()
        else:
            self.area.refresh()
        self._show_jump()
        self._show_found()
        if self._first_match_wanted:
            self._go_to_first_match()

    def _say_empty(self) -> None:
        model = self._model
        if model is None or model.shown == "all":
            self._empty.title.setText(_("The log appears here with the first line"))
            self._empty.text.setText(_("Everything that the trainer writes, warnings and errors marked."))
        elif model.shown == "errors":
            self._empty.title.setText(_("No errors"))
            self._empty.text.setText(_("No line of the log tells an error."))
        else:
            self._empty.title.setText(_("No warnings"))
            self._empty.text.setText(_("No line of the log warns or tells an error."))

    def _show(self, shown: Shown) -> None:
        model, area = self._model, self.area
        if model is None or model.shown == shown:
            return
        row_kept = area.current if area.current >= 0 else area.top_row()
        number = model.number_of(row_kept) if model.rows else 0
        follows = area.following
        model.show(shown)
        if follows:
            area.follow()
        elif model.rows:
            area.go_to(model.row_of(number))

    def _to_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _search(self) -> None:
        text = self.search.text()
        self.area.set_needle(text)
        self._first_match_wanted = bool(text)
        if self._model is not None:
            self._model.search(text)
        self._show_found()

    def _go_to_first_match(self) -> None:
        model = self._model
        if model is None or model.state.needle != self.search.text():
            return
        if model.state.found or model.state.searched:
            self._first_match_wanted = False
            current = self.area.current
            if current < 0 or not model.place_of_match(current):
                self._step(forward=True)

    def _step(self, *, forward: bool) -> None:
        if self._model is None:
            return
        match = self._model.next_match(self.area.current, forward=forward)
        if match is not None:
            self.area.go_to(match)

    def _show_found(self) -> None:
        model, text = self._model, self.search.text()
        shown = bool(text) and model is not None and model.state.needle == text
        found = model.state.found if model is not None else 0
        self._previous.setEnabled(shown and found > 0)
        self._next.setEnabled(shown and found > 0)
        if not shown or model is None:
            self._found.setText("")
            return
        place = model.place_of_match(self.area.current) if self.area.current >= 0 and model.rows else 0
        if not found:
            words = _("not found") if model.state.searched else _("searching…")
        elif place:
            words = _("{place} of {count}").format(place=f"{place:,}", count=f"{found:,}")
        else:
            words = _("{count} lines").format(count=f"{found:,}")
        self._found.setText(words)

    def _copy_selected(self) -> None:
        chosen = self.area.selection
        if self._model is not None and chosen is not None:
            self._model.copy(*chosen)

    def _copy_shown(self) -> None:
        if self._model is not None and self._model.rows:
            self._model.copy(0, self._model.rows - 1)

    def _to_clipboard(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)

    def _show_jump(self) -> None:
        area = self.area
        seen = not area.following and self._stack.currentWidget() is area
        new = area.new_rows
        words = _("{count} new lines").format(count=f"{new:,}") if new else _("To the end")
        if seen:
            self._jump.setText(words)
            self._jump.set_tip(_("Go to the end and follow it"))
            self._place_jump()
        self._jump.setVisible(seen)

    def _place_jump(self) -> None:
        self._jump.adjustSize()
        corner = self.area.viewport().mapTo(self, self.area.viewport().rect().bottomRight())
        gap = self._icons.theme.px(Space.M)
        self._jump.move(corner.x() - self._jump.width() - gap, corner.y() - self._jump.height() - gap)
        self._jump.raise_()

    def _restyle(self) -> None:
        icon = self._icons.icon
        self._previous.setIcon(icon("chevron-up"))
        self._next.setIcon(icon("chevron-down"))
        self._copy_all.setIcon(icon("copy"))
        self._jump.setIcon(icon("chevron-down"))


class _Bar(QWidget):
    """Two groups at both ends of a line, or below each other where there is no room."""

    def __init__(self, left: QWidget, right: QWidget) -> None:
        super().__init__()
        self._parts = (left, right)
        self._box = row(left, None, right, spacing=Space.S)
        self.setLayout(self._box)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """The wider one must fit."""
        hints = [part.minimumSizeHint() for part in self._parts]
        return QSize(max(hint.width() for hint in hints), max(hint.height() for hint in hints))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Arrange them anew."""
        super().resizeEvent(event)
        needed = sum(part.sizeHint().width() for part in self._parts) + Space.L
        direction = QBoxLayout.Direction
        wanted = direction.LeftToRight if needed <= self.width() else direction.TopToBottom
        if self._box.direction() != wanted:
            self._box.setDirection(wanted)


def _native(keys: str) -> str:
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
