"""The sixth step: what is written, and which sample images are made."""

from __future__ import annotations

from gui.engine.findings import Finding
from gui.engine.texts import _
from gui.window.pages.plan.fields import Group
from gui.window.pages.plan.fields_of_files import sample_fields, saving_groups
from gui.window.pages.plan.parts import Parts
from gui.window.pages.plan.prompts import PromptsCard
from gui.window.pages.plan.rows import FieldCard
from gui.window.pages.plan.step import Step

PROMPTS = "sample_prompts"


class SavingStep(Step):
    """Files, samples and the log."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts, "saving")
        files, log = saving_groups()
        self.prompts = PromptsCard(parts)
        self.prompts.refused.connect(self.refused)
        samples = FieldCard(parts, Group(_("When samples are made"), sample_fields()))
        self.cards = [FieldCard(parts, files), samples, FieldCard(parts, log)]
        for card in (self.cards[0], self.prompts, samples, self.cards[2]):
            self.content.addWidget(card)
        self.content.addStretch(1)

    def update_now(self) -> None:
        """Show what the plan has now."""
        super().update_now()
        self.prompts.refresh()

    def show_findings(self) -> None:
        """Show what preflight says now."""
        super().show_findings()
        self.prompts.show_findings()

    def has_place(self, finding: Finding) -> bool:
        """Whether a finding is shown beside its field."""
        return PROMPTS in finding.arguments or super().has_place(finding)

    def focus_field(self, target: str) -> bool:
        """Give a field the keyboard; whether this step has it."""
        if target != PROMPTS:
            return super().focus_field(target)
        self.scroller.ensureWidgetVisible(self.prompts)
        self.prompts.focus()
        return True
