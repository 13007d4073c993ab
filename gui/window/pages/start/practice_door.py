"""The door to practice: a tiny real training on the processor."""

from __future__ import annotations

from PySide6.QtCore import Signal

from gui.engine.texts import _
from gui.window.bridges.hardware import Hardware
from gui.window.bridges.practice import Practice
from gui.window.bridges.trainers import Trainers
from gui.window.pages.start.door import Door
from gui.window.widgets.ask import Ask
from gui.window.widgets.buttons import Button
from gui.window.widgets.styled import style


class PracticeDoor(Door):
    """Practise.

    Args:
        practice: Gets everything ready.
        trainers: Their torch may see GPUs of other makers.
        hardware: Where no GPU is, this is the way to begin.
    """

    ready = Signal(object)
    """`Path` of the sample project's plan."""

    def __init__(self, practice: Practice, trainers: Trainers, hardware: Hardware) -> None:
        super().__init__("door-practice", _("Practise"))
        self._practice = practice
        self._trainers = trainers
        self._hardware = hardware
        self._start = Button(_("Start practice"), name="door-practice-start")
        self.buttons.addWidget(self._start)
        self._ask = Ask(
            _("torch is missing"), "", _("Fetch it and practise"), _("Not now"), name="door-practice-ask"
        )
        self._ask.hide()
        self.more.addWidget(self._ask)
        self._start.clicked.connect(self._practice.begin)
        self._ask.yes.connect(self._practice.fetch)
        self._ask.no.connect(self._draw)
        self.busy.cancelled.connect(self._practice.cancel)
        practice.changed.connect(self._changed)
        practice.progress.connect(self._draw_progress)
        practice.ready.connect(self.ready)
        hardware.sampled.connect(self._draw)
        trainers.changed.connect(self._draw)
        self._draw()

    def _changed(self) -> None:
        needed = self._practice.needed
        if needed is not None:
            self._ask.ask(detail=needed.words())
        else:
            self._ask.hide()
        if self._practice.busy:
            self.busy.show_progress(_("Getting ready …"))
        self._draw()

    def _draw_progress(self, what: str, done: int, total: int) -> None:
        if total and what.startswith(_fetching()):
            words = _("{done} of {total} MB, {what}").format(
                what=what, done=round(done / 1000), total=round(total / 1000)
            )
        else:
            words = _("Getting ready: {what}").format(what=what)
        self.busy.show_progress(words, done, total)

    def _draw(self) -> None:
        trainer = self._trainers.current
        seen = bool(self._hardware.gpus) or (trainer is not None and bool(trainer.facts.gpus))
        lonely = self._hardware.known and self._trainers.looked and not seen
        self.chip.show_state(_("no GPU needed"), "accent" if lonely else "neutral")
        text = _(
            "A tiny real training on drawn pictures, less than a minute on the processor. "
            "See how a run looks, and what happens when one goes wrong."
        )
        self.text.setText(_("No GPU is seen here. {text}").format(text=text) if lonely else text)
        self.text.setToolTip(self._hardware.problem if lonely else "")
        self.busy.setVisible(self._practice.busy)
        self._start.setVisible(not self._practice.busy and self._ask.isHidden())
        style(self._start, kind="primary" if lonely and trainer is None else "quiet")
        self.show_trouble(str(self._practice.problem) if self._practice.problem else "")


def _fetching() -> str:
    """Return how the engine's words of a download begin."""
    return _("fetching {name}").partition("{")[0]
