"""What stands above the findings when there is no trainer, or when the check itself failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.texts import _
from gui.window.bridges.checks import Checks
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button

if TYPE_CHECKING:
    from gui.window.bridges.trainers import Trainers


class TrainerNote(QWidget):
    """Says what is missing, and offers the ways on.

    Args:
        checks: May have failed.
        trainers: May know none.
        icons: Draw pictures.
    """

    settings_wanted = Signal()
    """The user wants to choose a trainer."""
    check_wanted = Signal()

    def __init__(self, checks: Checks, trainers: Trainers, icons: Icons) -> None:
        super().__init__()
        self._checks = checks
        self._trainers = trainers
        self.missing = Banner(icons, "warn", name="no-trainer")
        choose = Button(_("Choose a trainer"), name="choose-trainer", compact=True)
        choose.clicked.connect(self.settings_wanted)
        self.missing.set_buttons(choose)
        self.fault = Banner(icons, "bad", name="check-failed")
        again = Button(_("Check again"), name="check-failed-again", compact=True)
        again.clicked.connect(self.check_wanted)
        self.fault.set_buttons(again)
        self.practice = Banner(icons, "accent", name="practice-trainer")
        self.practice.show_words(
            _("This is the practice trainer"),
            _("It shows how everything works, on the CPU and within minutes; its LoRA is of no use."),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        layout.addWidget(self.missing)
        layout.addWidget(self.fault)
        layout.addWidget(self.practice)
        self.hide()  # until its state is shown, in its place

    def show_state(self) -> None:
        """Show what is so now."""
        trainers, problem = self._trainers, self._checks.problem
        checked = self._checks.checked
        missing = trainers.current is None and (checked is None or checked.trainer is None)
        self.missing.setVisible(missing)
        if missing and trainers.busy:
            self.missing.show_words(_("The trainer is being looked at …"), "", "accent")
        elif missing:
            reason = (
                str(trainers.problem) if trainers.problem else _("No sd-scripts was found on this machine.")
            )
            self.missing.show_words(
                _("There is no trainer yet"),
                _(
                    "{reason} Until then the plan is checked by the arguments that sd-scripts had when this "
                    "program was made."
                ).format(reason=reason),
                "warn",
            )
        self.fault.setVisible(problem is not None)
        if problem is not None:
            self.fault.show_words(_("The plan could not be checked."), str(problem), "bad")
        practice = checked is not None and checked.trainer is not None and checked.trainer.install.practice
        self.practice.setVisible(practice)
        self.setVisible(missing or practice or problem is not None)
