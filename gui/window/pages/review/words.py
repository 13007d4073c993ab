"""The words of the Review page: findings in short, values, and what a fix changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gui.engine.findings import Finding, Fix, Severity
from gui.engine.plan.changes import ACTION
from gui.engine.redaction import HIDDEN, SECRET_ARGUMENTS, redact_text
from gui.engine.texts import _, ngettext
from gui.engine.trainer.launch_environment import TOKEN_VARIABLES
from gui.window.widgets.chip import Tone
from gui.window.widgets.inputs import number_text

LONGEST_VALUE = 34


class Mark(NamedTuple):
    """How a severity looks: a word, a colour, a sign."""

    word: str
    tone: Tone
    sign: str


def mark_of(severity: Severity) -> Mark:
    """Return how a severity looks."""
    return {
        "stop": Mark(_("stops"), "bad", "×"),
        "danger": Mark(_("danger"), "bad", "!"),
        "warning": Mark(_("worth a look"), "warn", "!"),
        "hint": Mark(_("hint"), "accent", "i"),
    }[severity]


def headline(findings: Sequence[Finding]) -> str:
    """Return in one line whether the run can start."""
    count = Counter(finding.severity for finding in findings)
    stops, dangers, others = count["stop"], count["danger"], count["warning"]
    if stops:
        text = ngettext("{count} thing stops this run", "{count} things stop this run", stops)
        return text.format(count=f"{stops:,}")
    if dangers:
        text = ngettext(
            "Nothing stops this run, but {count} thing is likely to go wrong",
            "Nothing stops this run, but {count} things are likely to go wrong",
            dangers,
        )
        return text.format(count=f"{dangers:,}")
    if others:
        text = ngettext(
            "Nothing stops this run; look at {count} thing first",
            "Nothing stops this run; look at {count} things first",
            others,
        )
        return text.format(count=f"{others:,}")
    return _("Nothing stops this run")


def sentence_case(text: str) -> str:
    """Return the words of a fix as a button has them; names of arguments stay as they are."""
    first = text.split(" ", 1)[0]
    return text if "_" in first or "." in first else text[:1].upper() + text[1:]


def value_text(target: str, value: Any) -> str:
    """Return a value as it is shown, whole; tokens are never shown."""
    if target.removeprefix("env.") in (*SECRET_ARGUMENTS, *TOKEN_VARIABLES):
        return HIDDEN
    if isinstance(value, (list, tuple)):
        plain = not any(isinstance(item, (list, tuple, Mapping)) for item in value)
        text = ", ".join(number_text(item) for item in value) if plain else _("{count} entries")
        return redact_text(text.format(count=len(value)) if not plain else text)
    if isinstance(value, Mapping):
        return _("{count} entries").format(count=len(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return redact_text(number_text(value))


def short(text: str, longest: int = LONGEST_VALUE) -> str:
    """Return a text that fits into a chip; of a path its end is what matters."""
    if len(text) <= longest:
        return text
    return f"…{text[-longest + 1 :]}" if "/" in text or "\\" in text else f"{text[: longest - 1]}…"


class Difference(NamedTuple):
    """What a fix does to one value.

    Attributes:
        target: The value's place.
        before: What counts now; empty where nothing does.
        after: What will count; empty where it is taken away.
    """

    target: str
    before: str
    after: str

    def words(self) -> str:
        """Return it for a screen reader and the tooltip."""
        if not self.after:
            return _("{name} is taken away").format(name=self.target)
        if not self.before:
            return _("{name} becomes {after}").format(name=self.target, after=self.after)
        text = _("{name}: {before} becomes {after}")
        return text.format(name=self.target, before=self.before, after=self.after)


def differences_of(fix: Fix, now: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Return what a fix changes.

    Args:
        fix: The fix.
        now: Target to what counts there now.
    """
    return differences({target: value for target, value in fix.changes.items() if target != ACTION}, now)


def differences(changes: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Return what changes do; ``now`` as for ``differences_of``."""
    return tuple(
        Difference(target, _before(target, now.get(target)), _after(target, value))
        for target, value in changes.items()
    )


def _before(target: str, value: Any) -> str:
    return "" if value is None or value is False else value_text(target, value)


def _after(target: str, value: Any) -> str:
    return "" if value is None else value_text(target, value)
