"""Tells when a plan is put into the queue what would refuse it at its turn, hours later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gui.engine.findings import Finding, blocks

PASSING = frozenset({"proc-tree", "out-run", "oom-free", "vram", "vram-preflight", "sample-vram"})
"""Findings about what happens just now: another run, who uses the GPU's memory."""


class Foresight(NamedTuple):
    """What stands against a plan.

    Attributes:
        lasting: Would refuse it whenever its turn comes.
        passing: Would refuse it now, and may be over by then.
    """

    lasting: tuple[Finding, ...]
    passing: tuple[Finding, ...]


def foresee(findings: Iterable[Finding], accepted: Sequence[str]) -> Foresight:
    """Sort what preflight found just now.

    Args:
        findings: Of the plan.
        accepted: Ids of the dangers that the user says yes to.
    """
    against = [finding for finding in findings if blocks(finding, accepted)]
    return Foresight(
        tuple(finding for finding in against if finding.id not in PASSING),
        tuple(finding for finding in against if finding.id in PASSING),
    )
