"""The door to training: the trainer that was found, what it is, what is wrong with it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal

from gui.engine.errors import PreflightError, TrainerNotFound
from gui.engine.texts import _
from gui.engine.trainer.choosing import Trainer
from gui.engine.trainer.installs import TrainerInstall
from gui.window.bridges.trainers import Trainers
from gui.window.models.trainer_words import problems_of, sentence
from gui.window.pages.start.door import Door
from gui.window.widgets.buttons import Button
from gui.window.widgets.dropping import Drops
from gui.window.widgets.inputs import Choice
from gui.window.widgets.labels import ElidedLabel
from gui.window.widgets.styled import style

MOST_PROBLEMS = 3


class TrainerDoor(Door):
    """Use a trainer of this machine.

    Args:
        trainers: Those of this machine.
    """

    new_plan = Signal()
    guide_wanted = Signal()
    """How sd-scripts is installed."""

    def __init__(self, trainers: Trainers) -> None:
        super().__init__("door-trainer", _("Use your sd-scripts"))
        self._trainers = trainers
        self._where = ElidedLabel("", "small", middle=True)
        self._where.setObjectName("door-trainer-where")
        self._others = Choice(name="door-trainer-others", words=_("Use another trainer"))
        self.more.addWidget(self._where)
        self.more.addWidget(self._others)
        self._new = Button(_("New plan"), "primary", shortcut="Ctrl+N", name="door-trainer-new")
        self._again = Button(_("Look again"), name="door-trainer-again", tip=_("Find and ask trainers again"))
        self._guide = Button(_("How to install it"), name="door-trainer-guide")
        for button in (self._new, self._guide, self._again):
            self.buttons.addWidget(button)
        Drops(self, self._add, wants=lambda paths: len(paths) == 1 and Path(paths[0]).is_dir())
        self._connect()
        self._draw()

    def _connect(self) -> None:
        self._new.clicked.connect(self.new_plan)
        self._guide.clicked.connect(self.guide_wanted)
        self._again.clicked.connect(self._trainers.start)
        self._others.changed.connect(self._use)
        self.busy.cancelled.connect(self._trainers.cancel)
        self._trainers.changed.connect(self._draw)
        self._trainers.progress.connect(self._draw_progress)
        self._trainers.refused.connect(self._refused)

    def _add(self, paths: list[str]) -> None:
        self.show_trouble("")
        self._trainers.add(paths[0])

    def _use(self, install: object) -> None:
        if isinstance(install, TrainerInstall):
            self._trainers.use(install)

    def _refused(self, error: PreflightError) -> None:
        self._draw()
        self.show_trouble(str(error))

    def _draw_progress(self, what: str, done: int, total: int) -> None:
        self.busy.show_progress(_("Asking it: {what}").format(what=what), done, total)

    def _draw(self) -> None:
        trainer = self._trainers.current
        looking = not self._trainers.looked
        self.busy.setVisible(looking)
        if trainer is not None:
            self._draw_found(trainer)
        elif looking:
            self._draw_looking()
        else:
            self._draw_missing(self._trainers.problem)
        # Plans can be made and checked with the bundled arguments too; only training needs a trainer.
        style(self._new, kind="primary" if trainer is not None else "quiet")
        self._new.setVisible(trainer is not None or not looking)
        self._guide.setVisible(trainer is None and not looking)
        self._again.setVisible(trainer is None and not looking)
        style(self, chosen=trainer is not None)
        self._draw_others()

    def _draw_looking(self) -> None:
        self.chip.show_state(_("looking"), "neutral", "…")
        self.text.setText(_("Finding trainers and GPUs …"))
        self.busy.words.setText(_("Looking …"))
        self.show_trouble("")

    def _draw_found(self, trainer: Trainer) -> None:
        problems = problems_of(trainer.facts)
        if problems:
            self.chip.show_state(_("found, with problems"), "warn")
        else:
            self.chip.show_state(_("found"), "good")
        self.text.setText(sentence(trainer))
        self._where.setText(str(trainer.install.root))
        shown = problems[:MOST_PROBLEMS]
        if len(problems) > len(shown):
            shown.append(_("and {count} more, in Settings").format(count=len(problems) - len(shown)))
        self.show_trouble("\n".join(shown))

    def _draw_missing(self, problem: PreflightError | None) -> None:
        none_there = problem is None or (isinstance(problem, TrainerNotFound) and problem.path is None)
        if none_there:
            self.chip.show_state(_("not found"), "neutral")
            self.text.setText(
                _(
                    "No sd-scripts was found on this machine. Plans can be made and checked all the same; "
                    "to train, install it or show where it is."
                )
            )
            self.show_trouble("")
            return
        self.chip.show_state(_("cannot be used"), "bad")
        self.text.setText(_("The trainer that is set does not answer as it should."))
        self.show_trouble(str(problem))

    def _draw_others(self) -> None:
        installs = [each for each in self._trainers.installs if not each.practice]
        current = self._trainers.current
        others = [each for each in installs if current is None or each.root != current.install.root]
        shown = [*([current.install] if current is not None else []), *others]
        self._others.setVisible(bool(others))
        self._where.setVisible(current is not None and not others)
        self._others.set_options([(each, each.label) for each in shown])
        self._others.show_value(current.install if current is not None else None)
        self._others.setEnabled(not self._trainers.busy)
