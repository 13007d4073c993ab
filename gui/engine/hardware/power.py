"""How the machine is powered: mains or battery, which way its settings lean, when it falls asleep."""

from __future__ import annotations

import configparser
import contextlib
import re
import sys
from pathlib import Path
from typing import Literal

import psutil

from gui.engine.documents import Document

PowerPlan = Literal["saver", "balanced", "performance"]

PROFILE = Path("/sys/firmware/acpi/platform_profile")
LOGIND = (Path("/usr/lib/systemd/logind.conf"), Path("/etc/systemd/logind.conf"))

_PROFILES: dict[str, PowerPlan] = {
    "low-power": "saver",
    "quiet": "saver",
    "cool": "saver",
    "balanced": "balanced",
    "balanced-performance": "performance",
    "performance": "performance",
}
"""What Linux calls its profiles (kernel documentation, ABI sysfs-platform_profile)."""

_WINDOWS_PLANS: dict[str, PowerPlan] = {
    "a1841308-3541-4fab-bc81-f71556f20b4a": "saver",
    "381b4222-f694-41f0-9685-ff5bb260df2e": "balanced",
    "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c": "performance",
    "e9a42b02-d5df-448d-aa00-03f14749eb61": "performance",
}
"""The plans that every Windows has; others are of the maker or the user."""

_SLEEPS = frozenset({"suspend", "hibernate", "hybrid-sleep", "suspend-then-hibernate", "poweroff", "halt"})
_SPAN = re.compile(r"(\d+)\s*(s|sec|m|min|h|hr)?")
_MINUTES = {"": 1 / 60, "s": 1 / 60, "sec": 1 / 60, "m": 1.0, "min": 1.0, "h": 60.0, "hr": 60.0}
_IDLE_MINUTES = 30.0
"""What logind takes where ``IdleActionSec`` is not named."""


class PowerFacts(Document):
    """How the machine is powered.

    Attributes:
        on_battery: Whether it is without mains; None where there is no battery.
        plan: Which way its settings lean; None where they do not tell.
        sleep_minutes: After so long without use it falls asleep; 0 never, None where it does not tell.
    """

    on_battery: bool | None = None
    plan: PowerPlan | None = None
    sleep_minutes: float | None = None


def power_facts(profile: Path = PROFILE, logind: tuple[Path, ...] = LOGIND) -> PowerFacts:
    """Look how the machine is powered.

    Args:
        profile: Where Linux names the profile in force.
        logind: The files that tell logind what to do with an idle machine, the last one wins.
    """
    if sys.platform == "win32":
        return _of_windows()  # pragma: no cover - Windows only
    return PowerFacts(on_battery=_on_battery(), plan=_profile(profile), sleep_minutes=_sleep_minutes(logind))


def _on_battery() -> bool | None:
    try:
        battery = psutil.sensors_battery()
    except (AttributeError, OSError, RuntimeError, ValueError, psutil.Error):
        return None
    plugged = battery.power_plugged if battery else None
    return None if plugged is None else not plugged


def _profile(file: Path) -> PowerPlan | None:
    try:
        return _PROFILES.get(file.read_text("ascii").strip())
    except (OSError, ValueError):
        return None


def _sleep_minutes(files: tuple[Path, ...]) -> float | None:
    """Return what logind would do by itself; a desktop has settings of its own, which are not read."""
    settings: dict[str, str] = {}
    for file in files:
        for part in (file, *sorted(file.with_name(f"{file.name}.d").glob("*.conf"))):
            parser = configparser.ConfigParser(interpolation=None, strict=False)
            with contextlib.suppress(OSError, ValueError, configparser.Error):
                parser.read_string(part.read_text("utf-8"))
                settings |= dict(parser["Login"]) if "Login" in parser else {}
    if settings.get("idleaction") not in _SLEEPS:
        return None
    parts = _SPAN.findall(settings.get("idleactionsec", ""))
    return sum(int(number) * _MINUTES[unit] for number, unit in parts) or _IDLE_MINUTES


def _of_windows() -> PowerFacts:  # pragma: no cover - Windows only
    """Ask the power manager (powrprof.dll) for the plan in force and its sleep timer on mains."""
    import ctypes
    import uuid

    power = ctypes.windll.powrprof  # type: ignore[attr-defined]
    scheme = ctypes.c_void_p()
    if power.PowerGetActiveScheme(None, ctypes.byref(scheme)):
        return PowerFacts(on_battery=_on_battery())
    try:
        name = str(uuid.UUID(bytes_le=ctypes.string_at(scheme, 16)))
        sleep = uuid.UUID("238c9fa8-0aad-41ed-83f4-97be242c8f20").bytes_le
        idle = uuid.UUID("29f6c1db-86da-48c5-9fdb-f2b67b1f44da").bytes_le
        seconds = ctypes.c_uint32()
        told = power.PowerReadACValueIndex(None, scheme, sleep, idle, ctypes.byref(seconds)) == 0
        return PowerFacts(
            on_battery=_on_battery(),
            plan=_WINDOWS_PLANS.get(name),
            sleep_minutes=seconds.value / 60 if told else None,
        )
    finally:
        ctypes.windll.kernel32.LocalFree(scheme)  # type: ignore[attr-defined]
