"""Sets images aside when the user says so, and brings them back with one click."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.dataset.quarantine import QUARANTINE, bring_back, set_aside, with_captions
from gui.engine.errors import PreflightError
from gui.engine.texts import _, ngettext
from gui.window.bridges.tasks import Tasks
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button


@dataclass(frozen=True)
class AsideFolder:
    """Images of one folder that shall be set aside.

    Attributes:
        folder: Where they are.
        names: Which.
        extension: Of captions, with its dot.
        others: Names of all images of the folder.
    """

    folder: Path
    names: tuple[str, ...]
    extension: str
    others: Sequence[str]


@dataclass(frozen=True)
class Moved:
    """Files that are in quarantine now.

    Attributes:
        folder: Where they were.
        names: Which, captions included.
    """

    folder: Path
    names: tuple[str, ...]


class SettingAside(QWidget):
    """Asks, moves, says what was done, and undoes it.

    Args:
        tasks: Where files are moved.
        icons: For what it says.
    """

    changed = Signal()
    """Files were moved."""

    def __init__(self, *, tasks: Tasks, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("data-aside")
        self._tasks = tasks
        self._due: tuple[AsideFolder, ...] = ()
        self._moved: tuple[Moved, ...] = ()
        self._ask = Ask("", "", _("Set aside"), _("Leave it"), name="data-aside-ask")
        self._ask.yes.connect(self._set_aside)
        self._banner = Banner(icons, "neutral", name="data-aside-done")
        self._banner.make_closable(self._banner.hide, "data-aside-close")
        self._back = Button(_("Bring back"), compact=True, name="data-aside-back")
        self._back.clicked.connect(self._bring_back)
        self._banner.set_buttons(self._back)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        layout.addWidget(self._ask)
        layout.addWidget(self._banner)
        self._ask.hide()
        self._banner.hide()

    def ask(self, folders: Sequence[AsideFolder]) -> None:
        """Ask whether images shall be set aside."""
        self._due = tuple(folders)
        names = [name for folder in folders for name in folder.names]
        if not names:
            return
        question = ngettext("Set “{name}” aside?", "Set {count} images aside?", len(names))
        detail = _(
            "It is moved, with its caption, into “{folder}” beside the others, where the trainer does not "
            "look. One click brings it back."
        )
        self._ask.ask(
            question.format(name=names[0], count=f"{len(names):,}"), detail.format(folder=QUARANTINE)
        )

    def forget(self) -> None:
        """Say and ask nothing: other images are looked at now."""
        self._ask.hide()
        self._banner.hide()

    def _set_aside(self) -> None:
        due = self._due

        def work(_handle: object) -> tuple[Moved, ...]:
            return tuple(
                Moved(each.folder, set_aside(each.folder, with_captions(*_what(each)))) for each in due
            )

        self._tasks.run(work, self._done, self._failed)

    def _done(self, moved: tuple[Moved, ...]) -> None:
        self._moved = moved
        names = [name for each in moved for name in each.names]
        words = ngettext("“{name}” is set aside.", "{count} files are set aside.", len(names))
        self._back.show()
        self._banner.show_words(
            words.format(name=names[0] if names else "", count=f"{len(names):,}"), "", "neutral"
        )
        self._banner.show()
        self.changed.emit()

    def _bring_back(self) -> None:
        moved = self._moved

        def work(_handle: object) -> list[str]:
            results = [bring_back(each.folder, each.names) for each in moved]
            return [name for result in results for name in result.in_the_way]

        self._tasks.run(work, self._brought_back, self._failed)

    def _brought_back(self, in_the_way: list[str]) -> None:
        self._moved = ()
        self._banner.setVisible(bool(in_the_way))
        if in_the_way:
            words = _("These stay set aside, since other files have their names by now: {names}")
            self._back.hide()
            self._banner.show_words(words.format(names=", ".join(in_the_way)), "", "warn")
        self.changed.emit()

    def _failed(self, error: PreflightError) -> None:
        self._back.setVisible(bool(self._moved))
        self._banner.show_words(_("The files were not moved."), str(error), "bad")
        self._banner.show()
        self.changed.emit()  # some may have been


def _what(each: AsideFolder) -> tuple[Path, Sequence[str], str, Sequence[str]]:
    return each.folder, each.names, each.extension, each.others
