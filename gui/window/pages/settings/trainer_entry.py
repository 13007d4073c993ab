"""One trainer: what it is, whether it can train, and what can be done with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout

from gui.engine.texts import _
from gui.engine.trainer.choosing import PRACTICE, KnownTrainer
from gui.engine.trainer.facts import TrainerFacts
from gui.window.bridges.trainers import Trainers
from gui.window.pages.settings.parts import flow
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.chip import Chip, Tone
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import column, row
from gui.window.widgets.styled import style


class TrainerEntry(QFrame):
    """A trainer in the list.

    Args:
        trainers: Knows it.
        known: The trainer.
    """

    python_wanted = Signal(str)
    """The user wants to name the interpreter of the trainer in this folder."""

    def __init__(self, trainers: Trainers, known: KnownTrainer) -> None:
        super().__init__()
        self._trainers = trainers
        self._known = known
        self.setObjectName(f"trainer-{known.checkout.root.name}")
        style(self, role="well")
        self._title = ElidedLabel("", "strong", middle=True)
        self._used = Chip(_("in use"), "accent", mark="●", name="trainer-used")
        self._default = Chip(_("default"), name="trainer-default")
        self._health = Chip(name="trainer-health")
        self._facts = Label("", "small", selectable=True)
        self._python = ElidedLabel("", "mono", middle=True)
        self._troubles = Label("", "small", selectable=True)
        self._troubles.setObjectName("trainer-troubles")
        self._make_buttons()
        top = row(spacing=Space.S)
        top.addWidget(self._title, 1)
        for chip in (self._health, self._used, self._default):
            top.addWidget(chip)
        buttons = flow(self._use, self._choose, self._again, self._name_python, self._remove)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(Space.L, Space.M, Space.L, Space.M)
        layout.setSpacing(Space.S)
        layout.addLayout(column(top, self._facts, self._python, spacing=2))
        layout.addWidget(self._troubles)
        layout.addWidget(buttons)
        self.show_state(known)

    def _make_buttons(self) -> None:
        self._use = Button(
            _("Use in this window"), compact=True, name="trainer-use", tip=_("Until the window is closed.")
        )
        self._choose = Button(
            _("Make default"),
            compact=True,
            name="trainer-make-default",
            tip=_("Here and on the command line, from now on."),
        )
        self._again = Button(
            _("Look at it again"),
            compact=True,
            name="trainer-again",
            tip=_("Asks it for its arguments, its torch and its GPUs, even where nothing seems changed."),
        )
        self._name_python = Button(_("Name its Python…"), compact=True, name="trainer-python")
        self._remove = Button(
            _("Remove from this list"),
            compact=True,
            name="trainer-remove",
            tip=_("Only forgets it. Nothing on the disk is touched."),
        )
        self._use.clicked.connect(self._use_it)
        self._choose.clicked.connect(self._make_default)
        self._again.clicked.connect(self._examine)
        self._name_python.clicked.connect(lambda: self.python_wanted.emit(str(self._known.checkout.root)))
        self._remove.clicked.connect(lambda: self._trainers.remove(self._own_path()))

    def show_state(self, known: KnownTrainer) -> None:
        """Show what is known about it now."""
        self._known = known
        trainers, checkout = self._trainers, known.checkout
        current = trainers.current
        used = current is not None and current.install.root == checkout.root
        facts, trouble = trainers.facts_of(known), trainers.trouble_of(known)
        self._title.setText(checkout.label)
        self.setAccessibleName(checkout.label)
        self._used.setVisible(used)
        self._default.setVisible(known.default)
        self._health.show_state(*self._health_words(facts, trouble))
        self._facts.setText(" · ".join(_parts(facts)) if facts else "")
        self._facts.setVisible(facts is not None)
        self._python.setText(str(known.install.python) if known.install else str(checkout.root))
        lines = [trouble] if trouble else list(facts.problems if facts else ())
        self._troubles.setText("\n".join(lines))
        self._troubles.setVisible(bool(lines))
        style(self._troubles, tone="bad" if trouble else "warn")
        able = known.install is not None
        self._use.setVisible(able and not used)
        self._choose.setVisible(able and not known.default)
        self._again.setVisible(able)
        self._name_python.setVisible(not able)
        self._remove.setVisible(trainers.may_remove(self._own_path()))

    def _health_words(self, facts: TrainerFacts | None, trouble: str) -> tuple[str, Tone]:
        if self._trainers.asking == self._known.checkout.root:
            return _("being looked at …"), "neutral"
        if trouble:
            return _("cannot train"), "bad"
        if facts is None:
            return _("not looked at yet"), "neutral"
        return (_("has problems"), "warn") if facts.problems else (_("can train"), "good")

    def _own_path(self) -> Path | str:
        """Return the place by which the preferences know it."""
        checkout = self._known.checkout
        return PRACTICE if checkout.origin == PRACTICE else checkout.root

    def _use_it(self) -> None:
        if self._known.install is not None:
            self._trainers.use(self._known.install)

    def _make_default(self) -> None:
        if self._known.install is not None:
            self._trainers.make_default(self._known.install)

    def _examine(self) -> None:
        if self._known.install is not None:
            self._trainers.examine(self._known.install)


def _parts(facts: TrainerFacts) -> Iterator[str]:
    yield " ".join(filter(None, (facts.name, facts.version)))
    if facts.torch:
        built = f"CUDA {facts.cuda}" if facts.cuda else f"ROCm {facts.hip}" if facts.hip else "CPU"
        yield _("torch {version}, built for {platform}").format(version=facts.torch, platform=built)
    else:
        yield _("no torch")
    if facts.python_version:
        yield f"Python {facts.python_version}"
    yield ", ".join(gpu.name for gpu in facts.gpus) or _("it sees no GPU")
