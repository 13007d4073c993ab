"""The words of one run in lists: its chip, its facts, when it was."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from gui.engine.quantities import exact
from gui.engine.texts import _

if TYPE_CHECKING:
    from gui.engine.runs.run_entry import RunEntry

_TONES = {"plain": "neutral", "good": "good", "warn": "warn", "bad": "bad"}
_DAY = 86400


class ChipWords(NamedTuple):
    """What a chip shows.

    Attributes:
        text: A word or two.
        tone: neutral, good, warn, bad, accent.
        mark: In front; None takes the tone's own.
    """

    text: str
    tone: str
    mark: str | None = None


def chip_words(entry: RunEntry) -> ChipWords:
    """Return what a run is doing, how it ended, or why it cannot be told."""
    from gui.engine.runs.words import verdict_words  # heavy, and not for the first paint

    special = {
        "foreign": ChipWords(_("no run"), "neutral"),
        "newer": ChipWords(_("newer"), "warn"),
        "broken": ChipWords(_("cannot be read"), "bad"),
        "unattended": ChipWords(_("left alone"), "warn"),
    }.get(entry.condition)
    if special is not None:
        return special
    if entry.verdict is not None:
        words = verdict_words(entry.verdict, entry.reason)
        stopped = entry.verdict == "stopped"
        return ChipWords(words.text, _TONES.get(words.tone, "neutral"), "■" if stopped else None)
    return {
        "starting": ChipWords(_("starting"), "accent", "▸"),
        "running": ChipWords(_("running"), "accent", "▸"),
        "paused": ChipWords(_("paused"), "warn", "‖"),
        "stopping": ChipWords(_("stopping"), "warn", "■"),
        "checking": ChipWords(_("looking at the files"), "accent", "▸"),
    }.get(entry.state or "", ChipWords(_("over"), "neutral"))


def name_of(entry: RunEntry) -> str:
    """Return the plan's name, or the folder's where that cannot be read."""
    return entry.plan_name or entry.name


def sentence_of(entry: RunEntry) -> str:
    """Return how it ended, or what is wrong, in a sentence; empty while all is well."""
    if entry.condition == "unattended":
        return _("Nobody looks after it. Open it to find out what became of it.")
    return entry.sentence or entry.problem


def marked_name(entry: RunEntry) -> str:
    """Return the name with a star where the run bears one."""
    return f"★ {name_of(entry)}" if entry.favourite else name_of(entry)


def noted_sentence(entry: RunEntry) -> str:
    """Return the tags, then the note or how it ended, in one line."""
    tags = " ".join(f"#{tag}" for tag in entry.tags)
    return " · ".join(filter(None, (tags, sentence_of(entry), entry.note.partition("\n")[0])))


def steps_words(entry: RunEntry) -> str:
    """Return how far it came."""
    if entry.step is None:
        return ""
    step = f"{entry.step:,}"
    if entry.verdict == "finished" and entry.step == entry.total:
        return _("{count} steps").format(count=step)
    if entry.total is None:
        return _("step {step}").format(step=step)
    return _("step {step} of {total}").format(step=step, total=f"{entry.total:,}")


def loss_words(entry: RunEntry) -> str:
    """Return the last finite loss."""
    return "" if entry.loss is None else f"{entry.loss:.3g}"


def family_words(entry: RunEntry, titles: Mapping[str, str]) -> str:
    """Return what was trained."""
    family = titles.get(entry.family, entry.family)
    return " · ".join(filter(None, (_("practice") if entry.practice else "", family)))


def facts_line(entry: RunEntry, titles: Mapping[str, str]) -> str:
    """Return family, steps and loss; what is wrong where that cannot be told."""
    if entry.state is None:
        return entry.problem
    loss = loss_words(entry)
    if entry.verdict is not None and entry.reason in ("guard", "loss-nonfinite"):
        loss = _("loss not finite")
    elif loss:
        loss = _("loss {loss}").format(loss=loss)
    return " · ".join(filter(None, (family_words(entry, titles), steps_words(entry), loss)))


def duration_words(entry: RunEntry) -> str:
    """Return how long it trained."""
    return "" if entry.duration_seconds is None else exact(entry.duration_seconds)


def day_words(seconds: float | None, now: float | None = None) -> str:
    """Return the day of a moment as people say it.

    Args:
        seconds: Since 1970; None where it is not known.
        now: The present, since 1970.
    """
    if seconds is None:
        return ""
    now = time.time() if now is None else now
    then, today = time.localtime(seconds), time.localtime(now)
    noon = time.mktime((today.tm_year, today.tm_mon, today.tm_mday, 12, 0, 0, 0, 0, -1))
    noon_then = time.mktime((then.tm_year, then.tm_mon, then.tm_mday, 12, 0, 0, 0, 0, -1))
    days = round((noon - noon_then) / _DAY)
    if days == 0:
        return _("today")
    if days == 1:
        return _("yesterday")
    if 1 < days < 7:
        return _week_days()[then.tm_wday]
    return time.strftime("%Y-%m-%d", then)


def moment_words(seconds: float | None, now: float | None = None) -> str:
    """Return the day and the time of day."""
    if seconds is None:
        return ""
    return f"{day_words(seconds, now)} {time.strftime('%H:%M', time.localtime(seconds))}"


def when_words(entry: RunEntry, now: float | None = None) -> str:
    """Return the day and how long it took: ``yesterday, 2 h 10 min``."""
    return ", ".join(filter(None, (day_words(entry.started, now), duration_words(entry))))


def _week_days() -> tuple[str, ...]:
    return (
        _("Monday"), _("Tuesday"), _("Wednesday"), _("Thursday"), _("Friday"), _("Saturday"), _("Sunday"),
    )  # fmt: skip
