"""Trouble with captions: files that cannot be read, words that are not learnt, or learnt by mistake."""

from __future__ import annotations

from gui.engine.dataset.problem_kind import ProblemKind
from gui.engine.texts import _, ngettext

READER = "trainer: train_util.py:1946-1972"
"""How the trainer reads a caption."""


CAPTION_FILE_KINDS: tuple[ProblemKind, ...] = (
    ProblemKind(
        "cap-denied",
        "cap-denied",
        "stop",
        lambda n: ngettext(
            "{count} caption must not be read: {names}", "{count} captions must not be read: {names}", n
        ),
        lambda: _("The trainer finds the file and stops when it opens it."),
        (READER,),
    ),
    ProblemKind(
        "cap-encoding",
        "cap-utf8",
        "stop",
        lambda n: ngettext(
            "{count} caption is no UTF-8: {names}", "{count} captions are no UTF-8: {names}", n
        ),
        lambda: _("The trainer reads nothing but UTF-8 and stops. Convert it; the original is kept."),
        ("DATA-09", READER),
    ),
    ProblemKind(
        "cap-mark",
        "cap-utf8",
        "warning",
        lambda n: ngettext(
            "{count} caption begins with a byte order mark: {names}",
            "{count} captions begin with a byte order mark: {names}",
            n,
        ),
        lambda: _("The mark is read as a letter and learnt. Convert it; the original is kept."),
        ("DATA-09", READER),
    ),
    ProblemKind(
        "cap-empty",
        "cap-empty",
        "stop",
        lambda n: ngettext(
            "{count} caption file is empty: {names}", "{count} caption files are empty: {names}", n
        ),
        lambda: _("The trainer stops at it. Write a caption, or remove the file."),
        ("DATA-10", READER),
    ),
    ProblemKind(
        "cap-blank",
        "cap-empty",
        "warning",
        lambda n: ngettext(
            "{count} caption begins with a blank line: {names}",
            "{count} captions begin with a blank line: {names}",
            n,
        ),
        lambda: _("The trainer takes the first line alone: the image is trained without a word."),
        ("DATA-10", READER),
    ),
    ProblemKind(
        "cap-missing",
        "cap-missing",
        "warning",
        lambda n: ngettext(
            "{count} image has no caption: {names}", "{count} images have no caption: {names}", n
        ),
        lambda: _("It is trained without a word: nothing will call up what it teaches."),
        ("T11", "trainer: train_util.py:2070-2090"),
    ),
    ProblemKind(
        "cap-missing-class",
        "cap-missing",
        "hint",
        lambda n: ngettext(
            "{count} image has no caption: {names}", "{count} images have no caption: {names}", n
        ),
        lambda: _("It is trained with the class tokens alone."),
        ("T11", "trainer: train_util.py:2070-2090"),
    ),
)
"""Caption files that are not there, or not readable."""


CAPTION_TEXT_KINDS: tuple[ProblemKind, ...] = (
    ProblemKind(
        "cap-control",
        "cap-control",
        "warning",
        lambda n: ngettext(
            "{count} caption holds control characters: {names}",
            "{count} captions hold control characters: {names}",
            n,
        ),
        lambda: _("They cannot be seen, are learnt like words, and have begun a NaN before."),
        ("N4", "N6"),
    ),
    ProblemKind(
        "cap-long",
        "cap-long",
        "warning",
        lambda n: ngettext(
            "{count} caption is longer than what is read: {names}",
            "{count} captions are longer than what is read: {names}",
            n,
        ),
        lambda: _("Whatever comes after the last token that is read is cut off in silence."),
        ("N4", "N6", "trainer: strategy_base.py:234"),
    ),
    ProblemKind(
        "cap-repeat",
        "cap-repeat",
        "hint",
        lambda n: ngettext(
            "{count} caption says a tag more than once: {names}",
            "{count} captions say tags more than once: {names}",
            n,
        ),
        lambda: _("It takes up tokens and teaches nothing."),
        ("N6",),
    ),
    ProblemKind(
        "cap-name",
        "cap-name",
        "warning",
        lambda n: ngettext(
            "{count} caption is only the name of its file or folder: {names}",
            "{count} captions are only the names of their files or folder: {names}",
            n,
        ),
        lambda: _("It says nothing about the picture. Describe what shall be changeable later."),
        ("S1",),
    ),
)
"""What stands in a caption."""


CAPTION_WORD_KINDS: tuple[ProblemKind, ...] = (
    ProblemKind(
        "cap-trigger",
        "cap-trigger",
        "warning",
        lambda n: ngettext(
            "{count} caption lacks the trigger word: {names}",
            "{count} captions lack the trigger word: {names}",
            n,
        ),
        lambda: _("The word is learnt only with images whose captions hold it, spelled one way."),
        ("T11",),
    ),
    ProblemKind(
        "cap-trigger-spelled",
        "cap-trigger",
        "warning",
        lambda n: ngettext(
            "{count} caption spells the trigger word differently: {names}",
            "{count} captions spell the trigger word differently: {names}",
            n,
        ),
        lambda: _("To the model these are other words. Replace them all at once."),
        ("T11",),
    ),
    ProblemKind(
        "cap-trigger-late",
        "cap-trigger",
        "hint",
        lambda n: ngettext(
            "{count} caption does not begin with the trigger word: {names}",
            "{count} captions do not begin with the trigger word: {names}",
            n,
        ),
        lambda: _("Among tags it comes first: what is shuffled or cut off then never is the trigger."),
        ("T11",),
    ),
    ProblemKind(
        "cap-style",
        "cap-style",
        "hint",
        lambda n: ngettext(
            "{count} caption is written otherwise than suits the model: {names}",
            "{count} captions are written otherwise than suits the model: {names}",
            n,
        ),
        lambda: _("FLUX and SDXL read sentences best, SD 1.5 and Pony read tags. A mixture works too."),
        ("T12",),
    ),
    ProblemKind(
        "cap-template",
        "cap-template",
        "hint",
        lambda n: ngettext(
            "{count} caption fills in the same form as most: {names}",
            "{count} captions fill in one and the same form: {names}",
            n,
        ),
        lambda: _("One template everywhere harms what can be said later. Say it in different ways."),
        ("T13",),
    ),
    ProblemKind(
        "cap-common",
        "cap-common",
        "hint",
        lambda n: ngettext(
            "{count} word stands in every caption: {names}",
            "{count} words stand in every caption: {names}",
            n,
        ),
        lambda: _(
            "Words that always come with the trigger are learnt as part of it. Take out what belongs to "
            "it, and leave in what shall be changeable."
        ),
        ("S1",),
    ),
)
"""Words that are missing, or everywhere."""
