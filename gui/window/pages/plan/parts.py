"""What every step of the wizard stands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gui.engine.paths import Home
from gui.engine.plan.families import Family, families, lineage
from gui.engine.plan.preset_layer import Situation
from gui.engine.preflight.facts import Facts
from gui.window.bridges.checks import Checks
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.models.plan_document import PlanDocument
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme

if TYPE_CHECKING:
    from gui.window.bridges.hardware import Hardware
    from gui.window.bridges.trainers import Trainers


@dataclass(frozen=True)
class Parts:
    """The parts of the window that the wizard works with.

    Attributes:
        document: The open plan.
        trainers: Tell which arguments there are.
        hardware: Tells which GPUs there are.
        checks: What preflight says about the plan.
        tokens: Keeps what plans should not hold.
        tasks: For work that may take long.
        theme: Colours and sizes.
        icons: Pictures.
        home: Where files of unsaved plans go.
    """

    document: PlanDocument
    trainers: Trainers
    hardware: Hardware
    checks: Checks
    tokens: Tokens
    tasks: Tasks
    theme: Theme
    icons: Icons
    home: Home

    @property
    def family(self) -> Family | None:
        """The plan's model family; None when it names none that is known."""
        return families().get(self.document.plan.family)

    @property
    def facts(self) -> Facts | None:
        """What was seen of the plan's files; None before the first look."""
        checked = self.checks.checked
        return checked.view.facts if checked is not None and checked.view is not None else None

    @property
    def situation(self) -> Situation:
        """What is trained, as conditions in data ask for it."""
        plan = self.document.plan
        return Situation(lineage(plan.family), plan.kind, frozenset(plan.presets))

    def knows(self, target: str) -> bool:
        """Whether the plan's script can be told this; True as long as its arguments are not known."""
        script = self.document.script_arguments
        return script is None or "." in target or target in script.arguments
