"""Finds runs in the list: by words, by how they went, by family, tag, star and day."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from gui.engine.runs.run_entry import RunEntry

Kind = Literal["all", "running", "finished", "trouble", "practice"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class RunFilter:
    """Which runs are wanted; all that is given must hold.

    Attributes:
        kind: How they went.
        words: Each must occur in what ``search_text`` returns, upper and lower case alike.
        family: The plan's; empty for any.
        tag: One of its tags, upper and lower case alike; empty for any.
        favourite: Whether only those with a star are wanted.
        since: Launched at this moment or later, seconds since 1970; None for any.
        until: Launched before this moment.
    """

    kind: Kind = "all"
    words: tuple[str, ...] = ()
    family: str = ""
    tag: str = ""
    favourite: bool = False
    since: float | None = None
    until: float | None = None

    @property
    def is_any(self) -> bool:
        """Whether all runs are wanted."""
        return self == RunFilter()

    def takes(self, entry: RunEntry) -> bool:
        """Whether a run fits in all but the words."""
        if self.favourite and not entry.favourite:
            return False
        if self.family and entry.family != self.family:
            return False
        if self.tag and _alike(self.tag) not in map(_alike, entry.tags):
            return False
        return self._in_time(entry.started) and is_of_kind(entry, self.kind)

    def finds(self, text: str) -> bool:
        """Whether all words occur in a text of ``search_text``."""
        return all(word in text for word in self.words)

    def _in_time(self, started: float | None) -> bool:
        if self.since is None and self.until is None:
            return True
        if started is None:
            return False
        return (self.since is None or started >= self.since) and (self.until is None or started < self.until)


def words_of(text: str) -> tuple[str, ...]:
    """Return the words that were typed, as ``RunFilter`` wants them."""
    return tuple(_alike(text).split())


def search_text(entry: RunEntry, family_title: str = "") -> str:
    """Return all in which a search looks: names, family, outcome, tags, note and arguments."""
    parts = (
        entry.name,
        entry.plan_name,
        entry.family,
        family_title,
        entry.verdict or "",
        entry.sentence,
        entry.problem,
        *entry.tags,
        entry.note,
        entry.arguments,
    )
    return _alike("\n".join(parts))


def _alike(text: str) -> str:
    """Return a text in which upper and lower case are alike, and letters whole or apart as macOS has them."""
    return unicodedata.normalize("NFC", text).casefold()


def is_of_kind(entry: RunEntry, kind: Kind) -> bool:
    """Whether a run belongs to a kind; one can belong to several."""
    if kind == "practice":
        return entry.practice
    if kind == "running":
        return entry.condition == "fine" and entry.state not in (None, "ended")
    if kind == "finished":
        return entry.verdict == "finished"
    if kind == "trouble":
        bad_end = entry.verdict not in (None, "finished")
        asked_for = entry.verdict == "stopped" and entry.reason in ("user", "after-save")
        return (bad_end and not asked_for) or entry.condition in ("unattended", "broken", "newer")
    return True
