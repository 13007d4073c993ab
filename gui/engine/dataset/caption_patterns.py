"""Replaces by regular expressions that somebody typed: none of them may hold the program up."""

from __future__ import annotations

from collections.abc import Callable

import regex

from gui.engine.errors import PatternRefused
from gui.engine.texts import _

MOST_SECONDS = 0.5
"""No pattern in good faith needs as long for one caption; some would need longer than the sun shines."""


def replaced_pattern(pattern: str, by: str, *, match_case: bool) -> Callable[[str], str]:
    """Return the change that replaces what a regular expression fits.

    Args:
        pattern: The regular expression.
        by: What stands there instead; may name the groups of the pattern.
        match_case: Whether capitals matter.

    Raises:
        PatternRefused: It is no regular expression. The change raises it as well, where ``by`` names groups
            that there are not, or where a text takes longer than ``MOST_SECONDS``.
    """
    try:
        looked_for = regex.compile(pattern, 0 if match_case else regex.IGNORECASE)
    except (regex.error, RecursionError, OverflowError) as error:
        raise _refused(error) from error

    def change(text: str) -> str:
        try:
            # Other threads run meanwhile: the window's is one of them.
            return str(looked_for.sub(by, text, timeout=MOST_SECONDS, concurrent=True))
        except TimeoutError as error:
            raise PatternRefused(_("This pattern takes too long on a caption; make it simpler.")) from error
        except (regex.error, IndexError) as error:
            raise _refused(error) from error

    return change


def _refused(error: Exception) -> PatternRefused:
    return PatternRefused(_("This is no pattern that can be used: {reason}").format(reason=error))
