"""What shall be changed in many captions at once, as it stands in the fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gui.engine.dataset.caption_edits import (
    Change,
    renamed_tag,
    replaced,
    to_utf8,
    with_tag,
    without_control,
    without_tag,
)
from gui.engine.dataset.caption_settings import CaptionSettings
from gui.engine.texts import _

Mode = Literal["replace", "add", "remove", "rename", "utf8", "control"]


def mode_words() -> Mapping[Mode, str]:
    """Return what can be done, in words."""
    return {
        "replace": _("Search and replace"),
        "add": _("Add a tag"),
        "remove": _("Remove a tag"),
        "rename": _("Rename a tag"),
        "utf8": _("Convert to UTF-8"),
        "control": _("Take out what cannot be seen"),
    }


@dataclass(frozen=True)
class CaptionWish:
    """A change of many captions.

    Attributes:
        mode: What is done.
        find: The text or tag.
        by: What stands there instead.
        whole_words: Only whole words are replaced.
        match_case: Capitals matter.
        pattern: ``find`` is a regular expression.
        at_end: A tag is added at the end, not in front.
        create: A tag is added to images without a caption as well.
    """

    mode: Mode = "replace"
    find: str = ""
    by: str = ""
    whole_words: bool = False
    match_case: bool = False
    pattern: bool = False
    at_end: bool = False
    create: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether enough is given to try it."""
        if self.mode in ("utf8", "control"):
            return True
        return bool(self.find if self.mode == "replace" else self.find.strip()) and (
            self.mode != "rename" or bool(self.by.strip())
        )

    def words(self) -> str:
        """Return in words what is done, for undo."""
        texts = {
            "replace": _("replace “{find}” by “{by}”"),
            "add": _("add the tag “{find}”"),
            "remove": _("remove the tag “{find}”"),
            "rename": _("rename the tag “{find}” to “{by}”"),
            "utf8": _("convert captions to UTF-8"),
            "control": _("take out what cannot be seen"),
        }
        return texts[self.mode].format(find=self.find, by=self.by)

    def change(self, settings: CaptionSettings) -> Change:
        """Return what makes the new text of the old one.

        Args:
            settings: How the captions of a folder are taken.

        Raises:
            PatternRefused: ``find`` is no regular expression.
        """
        separator, wildcard = settings.separator, settings.wildcard
        match self.mode:
            case "add":
                return with_tag(self.find, first=not self.at_end, separator=separator, wildcard=wildcard)
            case "remove":
                return without_tag(self.find, separator=separator, wildcard=wildcard)
            case "rename":
                return renamed_tag(self.find, self.by, separator=separator, wildcard=wildcard)
            case "utf8":
                return to_utf8
            case "control":
                return without_control
        return replaced(
            self.find,
            self.by,
            whole_words=self.whole_words,
            match_case=self.match_case,
            pattern=self.pattern,
        )
