"""The fields in which stands what shall be changed in many captions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.texts import _
from gui.window.pages.data.caption_wish import CaptionWish, Mode, mode_words
from gui.window.theme.space import Space
from gui.window.widgets.inputs import Choice, TextField
from gui.window.widgets.layouts import FlowLayout, held, row
from gui.window.widgets.switch import Switch


class CaptionFields(QWidget):
    """What is done, with what, and in which folder."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._folders: Sequence[CaptionFolder] = ()
        self.mode = Choice(list(mode_words().items()), name="change-mode", words=_("What is done"))
        self.folder = Choice(name="change-folder", words=_("In which folder"))
        self.wanted = TextField(live=True, name="change-find")
        self.by = TextField(live=True, name="change-by", words=_("Replace by"))
        self.words = Switch(_("Whole words"), name="change-words")
        self.case = Switch(_("Capitals matter"), name="change-case")
        self.pattern = Switch(_("Regular expression"), name="change-pattern")
        self.at_end = Switch(_("At the end"), name="change-at-end")
        self.also_new = Switch(_("Also where there is no caption"), name="change-create")
        self._switches = (self.words, self.case, self.pattern, self.at_end, self.also_new)
        first = row(spacing=Space.S)
        first.addWidget(self.mode, 1)
        first.addWidget(self.folder, 1)
        self._texts = held(row(self.wanted, self.by, spacing=Space.S))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        layout.addLayout(first)
        layout.addWidget(self._texts)
        layout.addWidget(held(FlowLayout(*self._switches, spacing=Space.M)))
        self.mode.changed.connect(lambda _mode: self._mode_changed())
        self.folder.changed.connect(lambda _folder: self.changed.emit())
        for field in (self.wanted, self.by):
            field.changed.connect(lambda _text: self.changed.emit())
        for switch in self._switches:
            switch.changed.connect(lambda _on: self.changed.emit())
        self._show_mode()

    def show_folders(self, folders: Sequence[CaptionFolder]) -> None:
        """Offer other folders."""
        if [where.folder for where in folders] != [where.folder for where in self._folders]:
            options: list[tuple[object, str]] = [("", _("All folders but regularisation images"))]
            options += [(str(where.folder), where.folder.name) for where in folders]
            self.folder.set_options(options)
            self.folder.show_value("")
        self._folders = folders
        self.folder.setVisible(len(folders) > 1)

    def show_wish(self, wish: CaptionWish) -> None:
        """Fill the fields."""
        self.mode.show_value(wish.mode)
        self.wanted.show_value(wish.find)
        self.by.show_value(wish.by)
        self.words.show_value(wish.whole_words)
        self.pattern.show_value(wish.pattern)
        self._show_mode()
        self.changed.emit()

    def wish(self) -> CaptionWish:
        """Return what stands in the fields."""
        mode = self._mode()
        return CaptionWish(
            mode=mode,
            find=self.wanted.text(),
            by=self.by.text(),
            whole_words=self.words.isChecked(),
            match_case=self.case.isChecked(),
            pattern=self.pattern.isChecked(),
            at_end=self.at_end.isChecked(),
            create=mode == "add" and self.also_new.isChecked(),
        )

    def chosen(self) -> list[CaptionFolder]:
        """Return the folders whose captions are meant."""
        value = self.folder.value()
        if value:
            return [where for where in self._folders if where.folder == Path(str(value))]
        wanted = [where for where in self._folders if not where.is_reg]
        return wanted or list(self._folders)

    def _mode(self) -> Mode:
        value = self.mode.value()
        return next(mode for mode in mode_words() if mode == value)

    def _mode_changed(self) -> None:
        self._show_mode()
        self.changed.emit()

    def _show_mode(self) -> None:
        mode = self._mode()
        is_text = mode == "replace"
        self._texts.setVisible(mode not in ("utf8", "control"))
        self.by.setVisible(mode in ("replace", "rename"))
        words = _("Search for") if is_text else _("Tag")
        self.wanted.setPlaceholderText(words)
        self.wanted.setAccessibleName(words)
        self.by.setPlaceholderText(_("Replace by") if is_text else _("New name"))
        for switch in (self.words, self.case, self.pattern):
            switch.setVisible(is_text)
        for switch in (self.at_end, self.also_new):
            switch.setVisible(mode == "add")
