"""Makes fixes whole: for a dataset in a file of the user's own, which is never changed."""

from __future__ import annotations

from typing import Any

from gui.engine.findings import Finding, Fix
from gui.engine.plan.changes import UnknownTarget, apply_changes
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.fitting_fixes import fitted
from gui.engine.preflight.view import View
from gui.engine.texts import _

DATASET = "dataset."


def taken_over(finding: Finding, plan: TrainingPlan, view: View) -> Finding:
    """Return a finding whose fixes take the file's dataset over into the plan, changed as they say.

    A fix that would change what a file says that could not be read is left out.

    Args:
        finding: Of a rule that knows nothing of the file.
        plan: As the user wrote it.
        view: The plan with the file's dataset.
    """
    fixes = tuple(fix for each in finding.fixes if (fix := fix_taken_over(each, plan, view)) is not None)
    return finding if fixes == finding.fixes else finding.model_copy(update={"fixes": fixes})


def fix_taken_over(fix: Fix, plan: TrainingPlan, view: View) -> Fix | None:
    """Return one fix as ``taken_over`` makes it; None where it cannot be made."""
    fix = fitted(fix, view)
    changes = {target: value for target, value in fix.changes.items() if target.startswith(DATASET)}
    if not changes or _is_outside(fix, view):
        return fix
    if view.dataset_file is None:
        return None
    try:
        dataset = apply_changes(view.plan, changes).dataset
    except UnknownTarget:
        return None
    others = {target: value for target, value in fix.changes.items() if target not in changes}
    whole: dict[str, Any] = {f"{DATASET}{key}": None for key in plan.dataset if key not in dataset}
    whole |= {f"{DATASET}{key}": value for key, value in dataset.items()}
    return fix.model_copy(
        update={
            "label": _("{label}; the plan takes over what {file} says").format(
                label=fix.label, file=view.dataset_file.name
            ),
            "changes": {**others, "dataset_config": None, **whole},
            "safe": False,
        }
    )


def _is_outside(fix: Fix, view: View) -> bool:
    """Whether what a fix changes is no file's: the plan names none, or the fix takes its name out."""
    named = [name for name in ("dataset_config", "dataset_class") if view.given(name)]
    return all(fix.changes.get(name, name) is None for name in named)
