"""All arguments: every setting of the trainer, found by typing, each with the right editor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QIcon, QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QButtonGroup, QSplitter, QVBoxLayout, QWidget

from gui.engine.texts import _
from gui.window.models.argument_rows import ArgumentRow
from gui.window.models.arguments_filter import ArgumentsFilter
from gui.window.models.arguments_model import ArgumentsModel, Only
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.arguments.copying import command_line_text
from gui.window.pages.arguments.panel import ArgumentPanel
from gui.window.pages.arguments.rows import ArgumentList
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.inputs import TextField
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import FlowLayout, held, row

if TYPE_CHECKING:
    from gui.window.bridges.checks import Checks
    from gui.window.bridges.tokens import Tokens
    from gui.window.bridges.trainers import Trainers

NARROW_PX = 700
"""Below this width the panel stands under the list."""
TIGHT_PX = 420
"""Below this height what can be missed makes room for the list."""
COUNT_MS = 150


class ArgumentsStep(QWidget):
    """The list, the search, and the panel of one argument.

    Args:
        icons: Draws pictures; has the theme.
        document: The open plan.
        trainers: Whose arguments.
        tokens: Keeps what plans should not hold.
        checks: What preflight says about the plan; None where nobody checks.
        titles: Everyday names of arguments by target, as other steps have them.
    """

    def __init__(
        self,
        *,
        icons: Icons,
        document: PlanDocument,
        trainers: Trainers,
        tokens: Tokens,
        checks: Checks | None = None,
        titles: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.setObjectName("arguments-step")
        self._theme = icons.theme
        self._document = document
        self._trainers = trainers
        self.model = ArgumentsModel(document, checks, titles, self, tokens=tokens)
        self._left = ArgumentsFilter(self.model, self)
        self.list = ArgumentList(self._theme, self.model, self._left)
        self.panel = ArgumentPanel(self.model, tokens)
        self._chosen_target = ""
        self._tight = False
        self._moved = False
        self._make_head(icons)
        self._make_body()
        self._connect()
        self._trainer_changed()
        self._choose_first()

    def show_argument(self, name: str) -> bool:
        """Choose an argument, scroll to it, and give its editor the keyboard.

        Args:
            name: The trainer's name or a target in the words of fixes.

        Returns:
            Whether there is such an argument.
        """
        found = self.model.row(name)
        if found is None:
            return False
        if not self._index_of(found).isValid():
            self.search.setText("")
            self._chips["all"].setChecked(True)
            self._look()
        self.list.choose(self._index_of(found))
        if self.panel.editor is not None:
            self.panel.editor.focus()
        return True

    # Making it

    def _make_head(self, icons: Icons) -> None:
        self.search = TextField(
            placeholder=_("Search names, help and values"),
            live=True,
            name="arguments-search",
            words=_("Search arguments"),
        )
        self.search.setClearButtonEnabled(True)
        self._glass = self.search.addAction(QIcon(), TextField.ActionPosition.LeadingPosition)
        self.search.setToolTip(_("Key: {keys}").format(keys="Ctrl+F"))
        self._icons = icons
        self.count = Label("", "muted", wrap=False)
        self.count.setObjectName("arguments-count")
        self._group = QButtonGroup(self)
        self._chips: dict[Only, Button] = {}
        for only in ("all", "own", "preset", "findings"):
            chip = Button("", "segment", name=f"arguments-only-{only}")
            self._chips[only] = chip
            self._group.addButton(chip)
        self._chips["all"].setChecked(True)
        self.catalogue_words = ElidedLabel("", "small")
        self.catalogue_words.setObjectName("arguments-catalogue")

    def _make_body(self) -> None:
        left, right = Card(margins=1), Card(margins=1)
        left.body.addWidget(self.list, 1)
        self.nothing = Label(_("No argument fits. Try fewer letters, or another filter."), "muted")
        self.nothing.setObjectName("arguments-nothing")
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        left.body.addWidget(self.nothing, 1)
        right.body.addWidget(self.panel, 1)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(Space.L)
        self.splitter.addWidget(left)
        self.splitter.addWidget(right)
        self.splitter.splitterMoved.connect(self._keep_split)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.M)
        layout.addLayout(row(self.search, self.count))
        layout.addWidget(held(FlowLayout(*self._chips.values())))
        layout.addWidget(self.splitter, 1)
        layout.addWidget(self.catalogue_words)

    def _connect(self) -> None:
        self.search.changed.connect(self._look)
        self._group.buttonClicked.connect(self._look)
        self.list.row_changed.connect(self._row_changed)
        self.list.edit_wanted.connect(self._edit)
        self.list.toggle_wanted.connect(self._toggle)
        self.list.reset_wanted.connect(self._reset)
        self.list.copy_wanted.connect(self._copy)
        self.panel.left.connect(self._back_to_list)
        self.model.modelReset.connect(self._restore)
        self._counting = QTimer(self)
        self._counting.setSingleShot(True)
        self._counting.setInterval(COUNT_MS)
        self._counting.timeout.connect(self._count)
        self.model.values_changed.connect(self._counting.start)
        self._trainers.changed.connect(self._trainer_changed)
        self._document.opened.connect(self._choose_first)
        self._theme.changed.connect(self._draw)
        self._theme.changed.connect(self._draw_glass)
        self._draw_glass()
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self._find)

    # Qt's events

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the panel under the list where there is no room beside it."""
        super().resizeEvent(event)
        self._draw()
        QTimer.singleShot(0, self.list, self.list.keep_in_sight)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """From the search, Down goes to the list; Escape ends the search."""
        if event.key() == Qt.Key.Key_Down and self.search.hasFocus():
            self._back_to_list()
        elif event.key() == Qt.Key.Key_Escape and self.search.text():
            self.search.setText("")
            self._look()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Count what was not counted while hidden."""
        super().showEvent(event)  # type: ignore[arg-type]
        self._count()

    # What happens

    def _look(self, _what: object = None) -> None:
        only = next(name for name, chip in self._chips.items() if chip.isChecked())
        target = self._chosen_target
        self._left.look_for(self.search.text(), only)
        found = self.model.row(target) if target else None
        index = self._index_of(found) if found else QModelIndex()
        if index.isValid():
            self.list.choose(index)
        else:
            self._choose_first()
        self._count()

    def _row_changed(self, chosen: ArgumentRow | None) -> None:
        if chosen is not None:
            self._chosen_target = chosen.target
        if chosen != self.panel.row:
            self.panel.show_row(chosen)

    def _edit(self) -> None:
        if self.panel.editor is not None:
            self.panel.editor.focus()

    def _toggle(self, chosen: ArgumentRow) -> None:
        if not self._document.read_only:
            self._document.end_merge()
            self.model.set_value(chosen, self.model.effective(chosen).value is not True)

    def _reset(self) -> None:
        chosen = [each for each in self.list.chosen_rows() if self.model.effective(each).source == "user"]
        if not chosen or self._document.read_only:
            return
        stack = self._document.undo_stack
        if len(chosen) == 1:
            self.model.reset(chosen[0])
            return
        stack.beginMacro(_("Take back {count} arguments").format(count=len(chosen)))
        for each in chosen:
            self.model.reset(each)
        stack.endMacro()

    def _copy(self) -> None:
        text = command_line_text(self.model, self.list.chosen_rows())
        if text:
            QGuiApplication.clipboard().setText(text)

    def _back_to_list(self) -> None:
        self._document.end_merge()
        if not self.list.currentIndex().isValid():
            self._choose_first()
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _find(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _trainer_changed(self) -> None:
        self._document.use_catalogue(self._trainers.catalogue)
        if self._document.script_arguments is not self.model.script:
            self.model.refresh()
        self._say_catalogue()
        self._count()

    def _restore(self) -> None:
        found = self.model.row(self._chosen_target)
        if found is not None and self._index_of(found).isValid():
            self.list.choose(self._index_of(found))
            self.panel.show_row(found)
        else:
            self._choose_first()
        self._say_catalogue()

    def _choose_first(self) -> None:
        for place in range(self._left.rowCount()):
            index = self._left.index(place, 0)
            if index.flags() & Qt.ItemFlag.ItemIsSelectable:
                self.list.choose(index)
                self.list.scrollToTop()
                return
        self.panel.show_row(None)

    def _index_of(self, found: ArgumentRow) -> QModelIndex:
        return self._left.mapFromSource(self.model.index_of(found))

    def _say_catalogue(self) -> None:
        catalogue = self._trainers.catalogue
        name = " ".join(filter(None, (catalogue.name, catalogue.version)))
        if self.model.script is None:
            words = _("No script is known for this family and kind, so only what the plan has is listed.")
        elif catalogue.live:
            words = _("The arguments of {script}, as your trainer ({name}) declares them.")
        else:
            words = _(
                "No trainer is connected: these are the arguments of {script} in {name}, without help texts."
            )
        script = self.model.script.name if self.model.script else ""
        self.catalogue_words.setText(words.format(script=script, name=name))

    def _count(self) -> None:
        if not self.isVisible():
            return
        words = {
            "all": _("All"),
            "own": _("Set by you"),
            "preset": _("From presets"),
            "findings": _("With findings"),
        }
        for only, chip in self._chips.items():
            chip.setText(words[only] if self._tight else f"{words[only]} · {self.model.count(only)}")
        rows = (self._left.index(place, 0) for place in range(self._left.rowCount()))
        shown = sum(bool(index.flags() & Qt.ItemFlag.ItemIsSelectable) for index in rows)
        self.count.setText(_("{count} found").format(count=shown))
        self.count.setVisible(bool(self.search.text()))
        self.list.setVisible(shown > 0)
        self.nothing.setVisible(shown == 0)

    def _keep_split(self, _place: int, _number: int) -> None:
        self._moved = True

    def _draw_glass(self) -> None:
        self._glass.setIcon(self._icons.icon("search", "faint"))

    def _draw(self) -> None:
        tight = self.height() < self._theme.px(TIGHT_PX)
        if tight != self._tight:
            self._tight = tight
            self.catalogue_words.setVisible(not tight)
            self._count()
        narrow = self.width() < self._theme.px(NARROW_PX)
        wanted = Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal
        if self.splitter.orientation() != wanted:
            self.splitter.setOrientation(wanted)
            self._moved = False
        if not self._moved:
            whole = self.splitter.height() if narrow else self.splitter.width()
            parts = (1, 1) if narrow else (3, 2)
            self.splitter.setSizes([whole * part // sum(parts) for part in parts])
