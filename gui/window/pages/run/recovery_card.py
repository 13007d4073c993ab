"""How to go on after a run has ended: the tries in order, what each changes, and what cannot help."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gui.engine.findings import Finding
from gui.engine.plan.changes import difference_in_words, without_folder
from gui.engine.runs.recovery_models import Recovery, RecoveryTry
from gui.engine.texts import _
from gui.window.models.danger_words import danger_lines, launch_question
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, clear, column, held, line
from gui.window.widgets.way_button import WayButton


class RecoveryCard(Card):
    """A card that is hidden until somebody wants to see more than the first way.

    Attributes:
        opened: Emitted with whether it is seen.
    """

    plan_wanted = Signal(object)
    """`RecoveryTry` whose plan is to be opened."""
    launch_wanted = Signal(object, object)
    """`RecoveryTry` that is to be launched at once, and a tuple of ids of dangers that have a yes."""

    def __init__(self) -> None:
        super().__init__(_("How to go on"), name="run-recovery")
        self._recovery: Recovery | None = None
        self._buttons: list[Button] = []
        self.point = Label("", "muted")
        self.point.setObjectName("run-recovery-point")
        self.parts = column(spacing=Space.L)
        self.trouble = Label("", "strong")
        self.trouble.setObjectName("run-recovery-refused")
        self.trouble.hide()
        self._doubted: tuple[RecoveryTry, tuple[str, ...]] | None = None
        self.ask = Ask("", "", _("Launch all the same"), _("Not now"), name="run-recovery-dangers")
        self.ask.hide()
        self.ask.yes.connect(self._say_yes)
        self.body.addWidget(self.point)
        self.body.addWidget(self.trouble)
        self.body.addWidget(self.ask)
        self.body.addLayout(self.parts)
        self.hide()

    def show_recovery(self, recovery: Recovery | None) -> None:
        """Take another recovery; None takes it away."""
        if recovery == self._recovery:
            return
        self._recovery = recovery
        clear(self.parts)
        self._buttons = []
        self.trouble.hide()
        self.ask.hide()
        if recovery is None:
            self.hide()
            return
        self.point.setText(recovery.point_words)
        for number, each in enumerate(recovery.tries):
            if number:
                self.parts.addWidget(line())
            self.parts.addWidget(self._row(each))
        for name, title, lines in (
            ("by-hand", _("Outside of the plan"), recovery.by_hand),
            ("hopeless", _("What cannot help"), recovery.hopeless),
            ("left-out", _("Left out"), recovery.left_out),
        ):
            if lines:
                words = [Label(f"• {words}", "muted") for words in lines]
                part = column(Label(title, "strong"), *words, spacing=Space.XS)
                self.parts.addWidget(held(part, f"run-recovery-{name}"))

    def set_busy(self, busy: bool) -> None:
        """Take no clicks while one is being done; what came of the one before is said no more."""
        if busy:
            self.trouble.hide()
            self.ask.hide()
        for button in self._buttons:
            button.setEnabled(not busy)

    def say_refused(self, sentence: str) -> None:
        """Say why nothing was started."""
        self.trouble.setText(sentence)
        self.show()
        if self.trouble.isHidden():
            self.trouble.show()
            self.trouble.setFocus()  # so that it is scrolled to: the button may be far below

    def ask_about(self, chosen: RecoveryTry, dangers: Sequence[Finding], accepted: tuple[str, ...]) -> None:
        """Ask for a yes to what was found right before the launch; nothing was started.

        Args:
            chosen: What was to be launched.
            dangers: What needs a yes.
            accepted: Ids of what has one already.
        """
        self._doubted = chosen, tuple(dict.fromkeys((*accepted, *(finding.id for finding in dangers))))
        self.show()
        self.ask.ask(f"{chosen.title}: {launch_question(dangers)}", danger_lines(dangers))

    def _say_yes(self) -> None:
        if self._doubted is not None:
            self.launch_wanted.emit(*self._doubted)

    def _row(self, each: RecoveryTry) -> QWidget:
        name = f"run-try-{each.id}"
        words = [Label(text, "muted") for text in (each.effect, each.continues) if text]
        if each.rows:
            diff = Label(_diff(each), "code", selectable=True)
            diff.setObjectName(f"{name}-diff")
            diff.setAccessibleName(_("What changes in the plan"))
            words.append(diff)
        cautions = [Label(f"! {text}", "body") for text in each.cautions]
        plan = Button(_("Open as plan"), compact=True, name=f"{name}-plan")
        plan.set_tip(_("Opens a new plan with this change; nothing starts yet."))
        plan.clicked.connect(lambda: self.plan_wanted.emit(each))
        launch = Button(_("Launch now"), compact=True, name=f"{name}-launch")
        launch.set_tip(_("Checks the plan and starts it at once, with the trainer of this run."))
        launch.clicked.connect(lambda: self.launch_wanted.emit(each, ()))
        self._buttons += [plan, launch]
        title = Label(each.title, "strong")
        buttons = held(FlowLayout(launch, plan))
        return held(column(title, *words, *cautions, buttons, spacing=Space.XS), name)


class RecoveryButtons:
    """The first way on, and a button for all of them: for the banner or card that tells how a run ended.

    Args:
        recovery: What was worked out.
        card: Shows the rest.
    """

    def __init__(self, recovery: Recovery, card: RecoveryCard) -> None:
        self.recovery = recovery
        self._card = card

    def point_words(self, told: Path | None) -> str:
        """Return where the ways begin, where that is not the clean file that is told already."""
        point = self.recovery.point
        return "" if point is None or point.path == told else self.recovery.point_words

    def clean_file(self, told: Path | None) -> Path | None:
        """Return the file to use: the one where the ways begin, else the one that is told already."""
        point = self.recovery.point
        return point.path if point is not None and point.kind == "weights" else told

    def make(self) -> list[Button]:
        """Return new buttons."""
        made: list[Button] = []
        tries = self.recovery.tries
        if tries and not self.recovery.tried_by:
            first = WayButton(tries[0].title, "primary", name="run-first-try")
            tip = (
                tries[0].title,
                _diff(tries[0]),
                _("Opens a new plan with this change; nothing starts yet."),
            )
            first.set_tip("\n".join(filter(None, tip)))
            first.clicked.connect(lambda: self._card.plan_wanted.emit(tries[0]))
            made.append(first)
        words = _("Other ways") if len(tries) > 1 else _("What to do")
        others = Button(words, compact=True, name="run-other-ways")
        others.setCheckable(True)
        others.setChecked(not self._card.isHidden())
        others.toggled.connect(self._card.setVisible)
        made.append(others)
        return made


def has_ways(recovery: Recovery | None) -> bool:
    """Whether there is anything to show."""
    return recovery is not None and bool(recovery.tries or recovery.by_hand or recovery.hopeless)


def _diff(each: RecoveryTry) -> str:
    return "\n".join(
        difference_in_words(row.target, without_folder(row.before), without_folder(row.after))
        for row in each.rows
    )
