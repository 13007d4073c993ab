"""The practice trainer's torch: how much it is, and fetching it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.quantities import download
from gui.engine.texts import _
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button

_LOOK = "settings-torch-look"
_FETCH = "settings-torch-fetch"


class _Need(NamedTuple):
    amount: str
    """How much is to be fetched, in words; empty where torch is there."""
    lender: str
    """Whose torch is used meanwhile; empty where nobody has one."""


class TorchPanel(QWidget):
    """Says that the practice trainer has no torch, and fetches it. Nothing is fetched before the click.

    Args:
        home: Whose practice trainer.
        tasks: Where torch is looked for and fetched.
        icons: Draw pictures.
        fetched: Called when there is a new torch.
    """

    def __init__(self, home: Home, tasks: Tasks, icons: Icons, fetched: Callable[[], None]) -> None:
        super().__init__()
        self.setObjectName("practice-torch")
        self._home = home
        self._tasks = tasks
        self._fetched = fetched
        self._need = _Need("", "")
        self._fetching = False
        self._banner = Banner(icons, "warn", name="torch-missing")
        self._fetch_button = Button(_("Fetch torch"), compact=True, name="fetch-torch")
        self._fetch_button.clicked.connect(self._fetch)
        self._banner.set_buttons(self._fetch_button)
        self._busy = Busy(name="torch-busy")
        self._busy.cancelled.connect(self._cancel)
        self._busy.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        layout.addWidget(self._banner)
        layout.addWidget(self._busy)
        self.hide()

    def look(self) -> None:
        """See again whether torch is there; while it is fetched there is nothing to see."""
        if not self._fetching:
            self._tasks.run(self._look, self._show_need, self._failed, key=_LOOK)

    def _look(self, handle: TaskHandle) -> _Need:
        from gui.engine.trainer.practice import practice_trainer, torch_needed

        needed = torch_needed()
        if needed is None:
            return _Need("", "")
        lender = practice_trainer(self._home, cancelled=handle.is_cancelled)
        return _Need(needed.words(), str(lender.install.python) if lender else "")

    def _show_need(self, need: _Need) -> None:
        self._need = need
        self.setVisible(bool(need.amount))
        self._fetch_button.setText(_("Fetch torch"))
        if need.lender:
            text = _("Practice runs borrow the torch of {python}. You need fetch none.")
            text = text.format(python=need.lender) + " " + need.amount
            title = _("This program's own Python has no torch, and needs none now.")
            self._banner.show_words(title, text, "accent")
        else:
            title = _("The practice trainer needs torch, and none was found.")
            self._banner.show_words(title, need.amount, "warn")

    def _fetch(self) -> None:
        from gui.engine.trainer.torch_fetch import fetch_torch

        self._set_fetching(fetching=True)
        self._busy.show_progress(_("looking for torch"))
        self._tasks.run(
            lambda handle: fetch_torch(self._home, handle.progress, handle.is_cancelled),
            lambda _nothing: self._done(),
            self._failed,
            key=_FETCH,
            progress=self._show_progress,
        )

    def _show_progress(self, text: str, done_kb: int, total_kb: int) -> None:
        if total_kb:
            words = _("{what}: {done} of {total}")
            text = words.format(what=text, done=download(done_kb / 1000), total=download(total_kb / 1000))
        self._busy.show_progress(text, done_kb, total_kb)

    def _cancel(self) -> None:
        self._tasks.cancel(_FETCH)
        self._set_fetching(fetching=False)
        self._show_need(self._need)

    def _done(self) -> None:
        self._set_fetching(fetching=False)
        self._fetched()
        self.look()

    def _failed(self, error: PreflightError) -> None:
        self._set_fetching(fetching=False)
        self.show()
        self._fetch_button.setText(_("Try again"))
        log = getattr(error, "log", None)
        where = _("What pip said is in {path}.").format(path=log) if log else ""
        self._banner.show_words(str(error), where, "bad")

    def _set_fetching(self, *, fetching: bool) -> None:
        self._fetching = fetching
        self._busy.setVisible(fetching)
        self._fetch_button.setVisible(not fetching)
