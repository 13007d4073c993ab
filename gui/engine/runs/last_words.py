"""Finds the last that a trainer said: where nothing better is known, it is what tells a user most."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gui.engine.redaction import redact_text
from gui.engine.trainer.output import OutputParser, Said

_TAIL_BYTES = 64 << 10


def last_words(log: Path, secrets: Sequence[str] = ()) -> str:
    """Return the last sentence in a log: no bar, no launcher's complaint, no tokens; empty without one.

    Args:
        log: What the trainer printed.
        secrets: Tokens to keep out, beside what looks like one.
    """
    words = ""

    def hear(said: Said) -> None:
        nonlocal words
        text = " ".join(said.text.split())
        if said.kind in ("line", "record", "exception") and any(sign.isalpha() for sign in text):
            words = text

    parser = OutputParser(secrets, listener=hear)
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            for _event in parser.feed(file.read(_TAIL_BYTES)):
                pass
    except OSError:
        return ""
    parser.finish()
    return redact_text(words, secrets)
