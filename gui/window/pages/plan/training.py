"""The fifth step: the values that matter for how it learns."""

from __future__ import annotations

from PySide6.QtWidgets import QSizePolicy

from gui.engine.texts import _
from gui.window.pages.plan.fields import training_groups
from gui.window.pages.plan.parts import Parts
from gui.window.pages.plan.rows import FieldCard
from gui.window.pages.plan.step import Step
from gui.window.pages.plan.words import about_plan, steps_sentence
from gui.window.widgets.labels import ElidedLabel, Label


class TrainingStep(Step):
    """The dozen values that matter, each with the reason for it."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts, "training")
        self._presets = ElidedLabel("", "small")
        self._presets.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._length = Label("", "small")
        self._length.setObjectName("steps-sentence")
        for place, group in enumerate(training_groups()):
            card = FieldCard(parts, group, self._presets if place == 1 else None)
            if place == 1:
                card.title.setWordWrap(False)
                card.body.addWidget(self._length)
            self.cards.append(card)
            self.content.addWidget(card)
        self.content.addStretch(1)

    def update_now(self) -> None:
        """Show what the plan has now."""
        super().update_now()
        document = self.parts.document
        family = self.parts.family
        about = about_plan(document.plan, document.library, _(family.title) if family else "")
        self._presets.setText(_("values of {presets}").format(presets=about))

    def show_findings(self) -> None:
        """Show what preflight says now."""
        super().show_findings()
        report = self.parts.checks.report
        batch = self.parts.document.effective("dataset.batch_size").value
        gathered = self.parts.document.effective("gradient_accumulation_steps").value
        self._length.setText(steps_sentence(report.steps if report else None, batch, gathered))
