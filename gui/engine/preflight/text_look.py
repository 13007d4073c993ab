"""Looks at text files that the trainer will read, as strictly as it will: an encoding can end a night.

Source: trainer-facts 1.2, 1.7, 1.8 (train_util.py:6329, config_util.py:675); STEP-06, ENC-02, ENC-05.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gui.engine.preflight.surroundings import PROMPTS, TextFact
from gui.engine.preflight.view import View
from gui.engine.trainer.prompt_file import read_prompts

TEXT_ARGUMENTS = (PROMPTS, "dataset_config", "in_json", "log_tracker_config")
"""Trainer arguments that name text files."""

LARGEST_BYTES = 16 << 20
"""Larger files are not looked at; only lists of metadata of whole collections are."""

KEPT = 64
"""So many files are remembered; a plan names a few."""

_ESCAPED = re.compile(r'"(?:[^"\\]|\\["\\bfnrtu])*\\[^"\\bfnrtu]')
"""A double-quoted text with a backslash that begins no escape, as a path of Windows has it."""

_MARK = b"\xef\xbb\xbf"
_AT_LINE = re.compile(r"line (\d+)")

_Key = tuple[str, int, int]


class TextLooker:
    """Remembers what files were like, so that a check at each keystroke reads none twice."""

    def __init__(self) -> None:
        self._known: dict[_Key, TextFact] = {}

    def facts(self, view: View) -> tuple[TextFact, ...]:
        """Return what is known about the text files of a plan whose paths are absolute."""
        return tuple(self._facts(view))

    def _facts(self, view: View) -> Iterator[TextFact]:
        for argument, path in named_texts(view):
            try:
                found = path.stat()
                key = (str(path), found.st_mtime_ns, found.st_size)
                if key not in self._known and path.is_file() and found.st_size <= LARGEST_BYTES:
                    if len(self._known) >= KEPT:
                        self._known.clear()
                    self._known[key] = look_at_text(argument, path, path.read_bytes())
            except (OSError, ValueError):
                continue  # other rules say that it is not there
            if key in self._known:
                yield self._known[key].model_copy(update={"argument": argument})


def named_texts(view: View) -> Iterator[tuple[str, Path]]:
    """Yield the targets that name text files, each with the file."""
    named: list[tuple[str, Any]] = [(name, view.text(name)) for name in TEXT_ARGUMENTS if view.given(name)]
    named += [(subset.target_of("metadata_file"), subset.own.get("metadata_file")) for subset in view.subsets]
    for argument, value in named:
        if isinstance(value, str) and Path(value).is_absolute():
            yield argument, Path(value)


def look_at_text(argument: str, path: Path, content: bytes) -> TextFact:
    """Return what the trainer would stumble over in a file.

    Args:
        argument: The target that names it.
        path: The file; its ending tells how it is read.
        content: What is in it.
    """

    def fact(**found: Any) -> TextFact:
        return TextFact(argument=argument, path=str(path), **found)

    if content.startswith(_MARK):
        return fact(problem="mark", line=1)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return fact(problem="encoding", line=content.count(b"\n", 0, error.start) + 1, words=str(error))
    if argument == PROMPTS:
        return fact(**_fault(path.suffix.lower(), text), sizes_px=_sizes(path.suffix, text))
    return fact(**_fault(path.suffix.lower(), text))


def _sizes(suffix: str, text: str) -> tuple[tuple[int | None, int | None], ...]:
    try:
        prompts = read_prompts(text, suffix)
    except (ValueError, RecursionError):
        return ()
    return tuple(dict.fromkeys((prompt.width_px, prompt.height_px) for prompt in prompts))


def _fault(suffix: str, text: str) -> Mapping[str, Any]:
    try:
        if suffix == ".toml":
            tomllib.loads(text)
        elif suffix == ".json":
            json.loads(text)
    except (ValueError, RecursionError) as error:
        words = str(error).splitlines()[0]
        at = _AT_LINE.search(words)
        line = int(at[1]) if at else None
        kind = "escape" if suffix == ".toml" and _is_escape(text, line) else "syntax"
        return {"problem": kind, "line": line, "words": words}
    return {}


def _is_escape(text: str, line: int | None) -> bool:
    lines = text.splitlines()
    return line is not None and line <= len(lines) and bool(_ESCAPED.search(lines[line - 1]))
