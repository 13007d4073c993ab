"""Which versions of packages a trainer was made with: the ``==`` lines of its ``requirements.txt``."""

from __future__ import annotations

import re
from pathlib import Path

from gui.engine.documents import read_text
from gui.engine.errors import CannotRead

FILE = "requirements.txt"

_PIN = re.compile(
    r"^\s*(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*==\s*(?P<version>[\w.+!-]+)\s*(?:[;#].*)?$"
)


def pinned(root: Path) -> dict[str, str]:
    """Return distribution to version; none where there is no such file.

    Args:
        root: The folder with the training scripts.
    """
    try:
        lines = read_text(root / FILE).splitlines()
    except CannotRead:
        return {}
    pins = (_PIN.match(line) for line in lines)
    return {re.sub(r"[-_.]+", "-", pin["name"]).lower(): pin["version"] for pin in pins if pin}
