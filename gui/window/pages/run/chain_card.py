"""The tries of one training as a tree: which run followed which, with what change, and how each ended."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gui.engine.runs.recovery_chain import ChainRun
from gui.engine.runs.words import verdict_words
from gui.engine.texts import _
from gui.window.pages.run.words import TONES
from gui.window.theme.space import Space
from gui.window.widgets.card import Card
from gui.window.widgets.chip import Chip
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import clear, column, held, row
from gui.window.widgets.way_button import WayButton

MOST_DEEP = 6
"""What lies deeper is not indented any more."""


class ChainCard(Card):
    """A card that is hidden while a run neither follows another nor is followed."""

    open_wanted = Signal(str)
    """The name of the run to open."""

    def __init__(self) -> None:
        super().__init__(_("Tries"), name="run-chain")
        self.parts = column(spacing=Space.XS)
        self.body.addLayout(self.parts)
        self.hide()

    def show_chain(self, chain: ChainRun | None, current: str) -> None:
        """Show the tree.

        Args:
            chain: Its first run.
            current: The run that the page shows.
        """
        clear(self.parts)
        self.setVisible(chain is not None and bool(chain.tries))
        if chain is None:
            return
        for depth, each in _with_depth(chain, 0):
            self.parts.addWidget(self._line(each, depth, here=each.run == current))

    def _line(self, each: ChainRun, depth: int, *, here: bool) -> QWidget:
        name = f"run-chain-{each.run}"
        words = each.words or (_("the first try") if not depth else _("no change"))
        if each.by_itself:
            words = _("{words} (by itself)").format(words=words)
        part: QWidget = Label(words, "strong") if here else WayButton(words, "link", name=f"{name}-open")
        if isinstance(part, WayButton):
            part.clicked.connect(lambda: self.open_wanted.emit(each.run))
        mark = Label("└" if depth else "●", "muted", wrap=False)
        indent = min(depth, MOST_DEEP) * Space.XL
        parts = row(indent, mark, _chip(each), Label(_progress(each), "muted", wrap=False), part, None)
        line = held(parts, name)
        line.setToolTip(each.run)
        return line


def _with_depth(chain: ChainRun, depth: int) -> Iterator[tuple[int, ChainRun]]:
    yield depth, chain
    for each in chain.tries:
        yield from _with_depth(each, depth + 1)


def _chip(each: ChainRun) -> Chip:
    if each.verdict is None:
        return Chip(_("not over"), "accent", mark="●")
    words = verdict_words(each.verdict, each.reason)
    tone = TONES[words.tone]
    return Chip(words.text, tone, mark={"good": "✓", "bad": "×"}.get(tone, "!"))


def _progress(each: ChainRun) -> str:
    if not each.step:
        return ""
    text = _("step {step} of {total}")
    return text.format(step=f"{each.step:,}", total=f"{each.total:,}" if each.total else "?")
