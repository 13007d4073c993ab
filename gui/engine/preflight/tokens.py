"""Tokens in plans: they belong into the system's keyring and the environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gui.engine.findings import Finding, Fix
from gui.engine.plan.changes import ACTION
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.tokens import TokenInPlan, secrets_in, tokens_in
from gui.engine.preflight.actions import KEEP_TOKEN
from gui.engine.redaction import SECRET_ARGUMENTS, redact_text
from gui.engine.texts import _


def check_tokens(plan: TrainingPlan) -> Iterator[Finding]:
    """Return a warning for each token that a plan holds.

    Args:
        plan: As the user wrote it.
    """
    yield from map(_finding, tokens_in(plan))


def without_tokens(findings: Sequence[Finding], plan: TrainingPlan) -> list[Finding]:
    """Return findings that say no token of the plan, wherever in the plan it stands.

    The changes of fixes are values for the plan and stay as they are.

    Args:
        findings: What was found.
        plan: As the user wrote it.
    """
    secrets = secrets_in(plan)
    return [_silenced(finding, secrets) for finding in findings]


def _silenced(finding: Finding, secrets: list[str]) -> Finding:
    labels = "\n".join(fix.label for fix in finding.fixes)
    said = f"{finding.title}\n{finding.detail}\n{finding.where}\n{labels}"
    if redact_text(said, secrets) == said:
        return finding
    fixes = [fix.model_copy(update={"label": redact_text(fix.label, secrets)}) for fix in finding.fixes]
    return finding.model_copy(
        update={
            "title": redact_text(finding.title, secrets),
            "detail": redact_text(finding.detail, secrets),
            "where": finding.where and redact_text(finding.where, secrets),
            "fixes": tuple(fixes),
        }
    )


def _finding(found: TokenInPlan) -> Finding:
    keep = {found.target: None, ACTION: KEEP_TOKEN}
    return Finding(
        id="secret-in-plan",
        severity="warning",
        title=_("{target} in the plan holds a token.").format(target=found.target),
        detail=_(
            "Plan files are shared and kept. In the system's keyring the token is safe, and every run gets "
            "it from there, by the environment variable {variable}."
        ).format(variable=SECRET_ARGUMENTS[found.name]),
        arguments=(found.target,),
        where=found.target,
        fixes=(
            Fix(id="keep", label=_("move it into the system's keyring"), changes=keep, safe=False),
            Fix(id="remove", label=_("take it out of the plan"), changes={found.target: None}, safe=False),
        ),
        sources=("trainer: train_util.py:3819, 4060",),
    )
