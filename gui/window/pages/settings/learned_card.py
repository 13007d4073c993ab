"""What runs have taught about the memory of this machine's GPUs, and a way to forget it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.texts import _, ngettext
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import clear, column, line, row

if TYPE_CHECKING:
    from collections.abc import Callable

    from gui.engine.hardware.memory.learning import MemoryLearning

KEY = "settings-learned"


class _Learned(NamedTuple):
    """What each GPU has taught, and which files count for nothing, and why."""

    gpus: tuple[MemoryLearning, ...]
    damaged: tuple[str, ...]


class LearnedCard(Card):
    """A part for each GPU: how many runs, which numbers, and a button that forgets them.

    Args:
        home: Where it is kept.
        tasks: Where it is read.
        trouble: Says why something was not done.
    """

    def __init__(self, home: Home, tasks: Tasks, trouble: Callable[[PreflightError], None]) -> None:
        super().__init__(_("What runs have taught about GPU memory"), name="settings-learned")
        self._home = home
        self._tasks = tasks
        self._trouble = trouble
        self._shown: _Learned | None = None
        words = _("Each training that is measured makes the next forecast on its GPU better.")
        self.body.addWidget(Label(words, "small"))
        self._none = Label(_("Nothing was learned yet: forecasts rest on what is usual."), "muted")
        self._none.setObjectName("learned-nothing")
        self._none.hide()
        self._damaged = Label("", "small")
        self._damaged.setObjectName("learned-damaged")
        self._damaged.hide()
        self._gpus = QVBoxLayout()
        self._gpus.setSpacing(Space.M)
        self.body.addWidget(self._none)
        self.body.addWidget(self._damaged)
        self.body.addLayout(self._gpus)

    def look(self) -> None:
        """Read it again: a run may have ended since."""
        self._tasks.run(partial(_read, self._home), self._show, self._trouble, key=KEY)

    def _show(self, learned: _Learned) -> None:
        if learned == self._shown:
            return
        self._shown = learned
        gpus, damaged = learned
        clear(self._gpus)
        self._none.setVisible(not gpus)
        self._damaged.setText("\n".join(damaged))
        self._damaged.setVisible(bool(damaged))
        for one in gpus:
            self._gpus.addWidget(line())
            self._gpus.addWidget(self._part(one))

    def _part(self, one: MemoryLearning) -> QWidget:
        from gui.engine.hardware.memory.words import learned_words

        part, name = QWidget(), one.name or one.gpu
        part.setObjectName(f"learned-{one.gpu}")
        layout = QVBoxLayout(part)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        count = len(one.observations)
        runs = ngettext("from {count} run", "from {count} runs", count).format(count=f"{count:,}")
        forget = Button(_("Forget it"), compact=True, name=f"forget-{one.gpu}")
        forget.setAccessibleName(_("Forget what was learned of {gpu}").format(gpu=name))
        head = row(column(Label(name), Label(runs, "small"), spacing=2), None, spacing=Space.M)
        head.addWidget(forget, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addLayout(head)
        for words in learned_words(one):
            layout.addWidget(Label(f"• {words}", "small"))
        ask = self._ask(one.gpu, name)
        layout.addWidget(ask)
        forget.clicked.connect(lambda _on=False: ask.ask())
        return part

    def _ask(self, gpu: str, name: str) -> Ask:
        ask = Ask(
            _("Forget what was learned of {gpu}?").format(gpu=name),
            _("Forecasts begin again with what is usual. Runs themselves are kept."),
            _("Forget it"),
            _("Keep it"),
            tone="bad",
            name=f"ask-forget-{gpu}",
        )
        ask.hide()
        ask.yes.connect(lambda: self._forget(gpu))
        return ask

    def _forget(self, gpu: str) -> None:
        self._tasks.run(partial(_forget, self._home, gpu), self._show, self._trouble, key=KEY)


def _read(home: Home, _handle: TaskHandle) -> _Learned:
    # heavy, and only for this card
    from gui.engine.hardware.memory.learning import all_learned, unreadable

    return _Learned(all_learned(home), tuple(map(str, unreadable(home))))


def _forget(home: Home, gpu: str, handle: TaskHandle) -> _Learned:
    from gui.engine.hardware.memory.learning import forget  # heavy, and only for this card

    forget(home, gpu)
    return _read(home, handle)
