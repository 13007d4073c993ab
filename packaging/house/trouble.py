"""What can keep the set-up from going on, and the words for it."""

from __future__ import annotations

import re
from pathlib import Path

from gui.engine.texts import _
from gui.engine.trainer.pip_failures import error_lines, failure_of

_STAMPED = re.compile(r"^\S*\d\d:\d\d:\d\d\S* ")


class Trouble(Exception):
    """Stops the set-up; its text says what happened and what to do.

    Attributes:
        status: The exit status of the bootstrap.
    """

    def __init__(self, text: str, status: int = 1) -> None:
        super().__init__(text)
        self.status = status


def pip_trouble(log: Path, status: int) -> Trouble:
    """Turn pip's failure into words.

    Args:
        log: What pip wrote with ``--log``.
        status: Its exit status.

    Returns:
        The trouble: the cause where it is known, pip's last lines, and where the whole log is.
    """
    try:
        lines = log.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    told = [_STAMPED.sub("", line).rstrip() for line in lines]
    parts = [_cause(told).format(status=status)]
    parts += ["  " + line for line in error_lines(told)]
    parts.append(_("The whole log is in {log}").format(log=log))
    return Trouble("\n".join(parts))


def _cause(lines: list[str]) -> str:
    causes = {
        "no-disk": _("The disk is full. Make room (also where TMPDIR is) and start again:"),
        "no-network": _(
            "The packages could not be fetched: no network, or a proxy is in the way "
            "(pip listens to HTTPS_PROXY and PIP_INDEX_URL). Start again when it is there:"
        ),
        "no-release": _("A package has no release for this Python or system:"),
    }
    return causes.get(failure_of(lines), _("pip could not install the packages (status {status}):"))
