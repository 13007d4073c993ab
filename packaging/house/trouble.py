"""What can keep the set-up from going on, and the words for it."""

from __future__ import annotations

import re
from pathlib import Path

from gui.engine.texts import _

_STAMPED = re.compile(r"^\S*\d\d:\d\d:\d\d\S* ")
_NO_DISK = ("No space left on device", "[Errno 28]", "[WinError 112]", "Disk quota exceeded")
_NO_NETWORK = (
    "NewConnectionError",
    "NameResolutionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ProxyError",
    "Max retries exceeded",
    "Temporary failure in name resolution",
)


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
    parts += ["  " + line for line in _last_words(told)]
    parts.append(_("The whole log is in {log}").format(log=log))
    return Trouble("\n".join(parts))


def _cause(lines: list[str]) -> str:
    text = "\n".join(lines)
    if any(sign in text for sign in _NO_DISK):
        return _("The disk is full. Make room (also where TMPDIR is) and start again:")
    if any(sign in text for sign in _NO_NETWORK):
        return _(
            "The packages could not be fetched: no network, or a proxy is in the way "
            "(pip listens to HTTPS_PROXY and PIP_INDEX_URL). Start again when it is there:"
        )
    if "No matching distribution found" in text:
        return _("A package has no release for this Python or system:")
    return _("pip could not install the packages (status {status}):")


def _last_words(lines: list[str], most: int = 12) -> list[str]:
    errors = [line for line in lines if line.lstrip().startswith("ERROR:")]
    return (errors or [line for line in lines if line.strip()])[-most:]
