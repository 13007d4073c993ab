"""Goes through the captions of a folder: what is wrong with each, and with all of them together."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gui.engine.dataset.caption_files import CaptionFileFault, ReadCaption, longest_forms, read_caption
from gui.engine.dataset.caption_report import CaptionReport, WordShare
from gui.engine.dataset.caption_settings import CaptionSettings
from gui.engine.dataset.caption_style import (
    FEW,
    Template,
    form_of,
    guessed_trigger,
    has_word,
    is_misspelled,
    letters_of,
    tags_of,
)
from gui.engine.dataset.caption_words import WordCounts, parts_of
from gui.engine.dataset.pairing import stem_of
from gui.engine.dataset.report_parts import found_problems
from gui.engine.errors import Cancelled

SAMPLE = 2_000
"""A template and a trigger word are looked for in so many captions."""

SHOWN_WORDS = 200

_OF_FAULT: dict[CaptionFileFault, str] = {
    "denied": "cap-denied",
    "encoding": "cap-encoding",
    "mark": "cap-mark",
    "empty": "cap-empty",
    "blank": "cap-blank",
}
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co"})
_HARMLESS = frozenset("\t\n\u200d")
"""Of what cannot be seen, a tab, a line end, and what joins parts of an emoji."""


@dataclass(frozen=True)
class CaptionFolder:
    """Captions to look at.

    Attributes:
        folder: Where they are.
        images: Names of the images.
        extension: With its dot.
        class_tokens: What stands in for a missing caption; None for none.
        is_reg: Whether they are of regularisation images, which have no trigger word.
        settings: What the plan does with captions.
    """

    folder: Path
    images: Sequence[str]
    extension: str
    class_tokens: str | None = None
    is_reg: bool = False
    settings: CaptionSettings = field(default_factory=CaptionSettings)

    def read(self, image: str) -> ReadCaption:
        """Return the caption of an image."""
        return read_caption(self.folder, image, self.extension, wildcard=self.settings.wildcard)


def check_captions(where: CaptionFolder, cancelled: Callable[[], bool] = lambda: False) -> CaptionReport:
    """Read all captions of a folder and return what they are like.

    Args:
        where: Which.
        cancelled: Asked at each one; True ends it.

    Raises:
        Cancelled: The caller asked for it.
    """
    step = max(1, -(-len(where.images) // SAMPLE))
    sample = [caption.text for image in where.images[::step] if (caption := where.read(image)).text]
    check = _Check(where, sample)
    for image in where.images:
        if cancelled():
            raise Cancelled
        check.add(where.read(image))
    return check.report()


def has_control(text: str) -> bool:
    """Return whether a text holds characters that cannot be seen."""
    if text.isascii() and text.isprintable():
        return False
    return any(
        letter not in _HARMLESS and (letter == "\ufffd" or unicodedata.category(letter) in _UNSEEN)
        for letter in text
    )


class _Check:
    """What is known so far of one folder."""

    def __init__(self, where: CaptionFolder, sample: Sequence[str]) -> None:
        self._where = where
        self._settings = where.settings
        self._named = None if where.is_reg else _first_word(where.class_tokens)
        self._trigger = self._named
        if self._trigger is None and not where.is_reg:
            self._trigger = guessed_trigger(sample, self._settings.tokens_alone)
        self._template = Template(sample, self._trigger)
        self._problems: dict[str, list[str]] = {}
        self._forms: Counter[str] = Counter()
        self._by_form: dict[str, list[str]] = {"tags": [], "sentences": []}
        self._words = WordCounts()
        self._captions = self._with_words = self._longest = 0

    def add(self, caption: ReadCaption) -> None:
        """Take one caption."""
        if caption.fault == "missing":
            self._say("cap-missing-class" if self._where.class_tokens else "cap-missing", caption)
            return
        self._captions += 1
        if caption.fault is not None:
            self._say(_OF_FAULT[caption.fault], caption)
        if caption.text:
            self._with_words += 1
            for key in self._of_text(caption):
                self._say(key, caption)

    def report(self) -> CaptionReport:
        """Return what was found."""
        self._of_all()
        return CaptionReport(
            captions=self._captions,
            trigger=self._trigger,
            trigger_guessed=self._trigger is not None and self._named is None,
            with_trigger=self._words.with_trigger,
            tags=self._forms["tags"],
            sentences=self._forms["sentences"],
            longest=self._longest,
            limit=self._settings.limit,
            exact=self._settings.exact,
            words=tuple(self._shares()),
            problems=found_problems(self._problems),
        )

    def _say(self, key: str, caption: ReadCaption) -> None:
        self._problems.setdefault(key, []).append(caption.image)

    def _of_text(self, caption: ReadCaption) -> Iterator[str]:
        text = caption.text
        if has_control(text):
            yield "cap-control"
        tokens = max(map(self._settings.tokens, self._forms_of(text)))
        self._longest = max(self._longest, tokens)
        if self._settings.limit is not None and tokens > self._settings.limit:
            yield "cap-long"
        if letters_of(text) and letters_of(text) in self._names(caption.image):
            yield "cap-name"
        form = form_of(text, self._settings.separator)
        self._forms[form] += 1
        if form in self._by_form:
            self._by_form[form].append(caption.image)
        tags = tags_of(text, self._settings.separator)
        if form == "tags" and len(set(tags)) < len(tags):
            yield "cap-repeat"
        if self._template.fits(text):
            yield "cap-template"
        here = self._has_trigger(text)
        self._words.add(parts_of(text, self._settings.separator), with_trigger=here)
        if self._trigger is not None:
            yield from self._of_trigger(text, tags, here=here, listed=form == "tags")

    def _forms_of(self, text: str) -> Iterator[str]:
        return longest_forms(text) if self._settings.wildcard else iter((text,))

    def _names(self, image: str) -> tuple[str, str]:
        return letters_of(stem_of(image)), letters_of(self._where.folder.name)

    def _has_trigger(self, text: str) -> bool:
        return self._trigger is not None and has_word(f"{self._settings.prefix} {text}", self._trigger)

    def _of_trigger(self, text: str, tags: Sequence[str], *, here: bool, listed: bool) -> Iterator[str]:
        trigger = self._trigger or ""
        if not here:
            yield "cap-trigger-spelled" if is_misspelled(text, trigger) else "cap-trigger"
            return
        in_front = has_word(self._settings.prefix, trigger) or has_word(tags[0], trigger)
        if listed and not in_front:
            yield "cap-trigger-late"

    def _of_all(self) -> None:
        other = {"natural": "tags", "tags": "sentences"}.get(self._settings.style or "")
        decided = self._forms["tags"] + self._forms["sentences"]
        if other and decided >= FEW and 2 * self._forms[other] > decided:
            self._problems["cap-style"] = self._by_form[other]
        common = [share.word for share in self._shares() if share.bound]
        if common and self._with_words >= FEW:
            self._problems["cap-common"] = common
        if "cap-missing-class" in self._problems and not self._captions:
            del self._problems["cap-missing-class"]  # a dataset that is meant to have none

    def _shares(self) -> Iterator[WordShare]:
        return self._words.shares(self._trigger, SHOWN_WORDS)


def _first_word(class_tokens: str | None) -> str | None:
    words = (class_tokens or "").replace(",", " ").split()
    return words[0] if words else None
