"""Why pip failed, told by what it printed; imports nothing, so that the set-up can use it as well."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

PipFailure = Literal["no-pip", "no-disk", "no-network", "no-release", "managed", "not-allowed", "other"]

_SIGNS: tuple[tuple[PipFailure, tuple[str, ...]], ...] = (
    ("no-pip", ("No module named pip", "No module named 'pip")),
    (
        "no-disk",
        ("No space left on device", "[Errno 28]", "[WinError 112]", "Disk quota exceeded", "[Errno 122]"),
    ),
    (
        "no-network",
        (
            "NewConnectionError",
            "NameResolutionError",
            "ConnectTimeoutError",
            "ReadTimeoutError",
            "ProxyError",
            "Max retries exceeded",
            "Temporary failure in name resolution",
            "Network is unreachable",
        ),
    ),
    ("managed", ("externally-managed-environment",)),
    ("not-allowed", ("[Errno 13]", "[WinError 5]", "Permission denied")),
    ("no-release", ("No matching distribution found", "ResolutionImpossible")),
)


def failure_of(lines: Iterable[str]) -> PipFailure:
    """Return the cause that pip's lines tell; what stands behind other failures comes first."""
    text = "\n".join(lines)
    return next((cause for cause, signs in _SIGNS if any(sign in text for sign in signs)), "other")


def error_lines(lines: Iterable[str], most: int = 12) -> list[str]:
    """Return pip's own words for its failure: its errors, or the last that it said."""
    told = [line.rstrip() for line in lines if line.strip()]
    errors = [line for line in told if line.lstrip().lower().startswith("error:")]
    return (errors or told)[-most:]
