"""The prompts of a file of sample prompts, as the trainer reads and numbers them.

Source: trainer: train_util.py:6254-6357 (line_to_prompt_dict, load_prompts).
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any, NamedTuple

_SIDE = re.compile(r"(w|h) (\d{1,6})", re.IGNORECASE)


class SamplePrompt(NamedTuple):
    """One prompt.

    Attributes:
        text: As the file has it, its options included where it is a line.
        width_px: Width of the sample; None takes the trainer's own.
        height_px: Height of the sample; None takes the trainer's own.
    """

    text: str
    width_px: int | None = None
    height_px: int | None = None


def read_prompts(text: str, suffix: str) -> tuple[SamplePrompt, ...]:
    """Return the prompts of a file in the trainer's order; a file that holds something else has none.

    Args:
        text: What is in it.
        suffix: The ending of its name, such as ``.toml``; all but TOML and JSON are lines.

    Raises:
        ValueError: It is no TOML or JSON.
        RecursionError: It is JSON in JSON without an end.
    """
    if suffix.lower() == ".toml":
        found = _of_toml(tomllib.loads(text))
    elif suffix.lower() == ".json":
        found = json.loads(text)
    else:
        found = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return tuple(_prompt(each) for each in found) if isinstance(found, list) else ()


def _of_toml(data: dict[str, Any]) -> list[Any]:
    prompt = data.get("prompt")
    if not isinstance(prompt, dict) or not isinstance(prompt.get("subset"), list):
        return []
    return [{**prompt, **subset} for subset in prompt["subset"] if isinstance(subset, dict)]


def _prompt(found: Any) -> SamplePrompt:
    if isinstance(found, str):
        sides = {side[1].lower(): int(side[2]) for side in map(_SIDE.match, found.split(" --")) if side}
        return SamplePrompt(found, sides.get("w"), sides.get("h"))
    if not isinstance(found, dict):
        return SamplePrompt("")
    text = found.get("prompt", "")
    return SamplePrompt(
        text if isinstance(text, str) else "", _side(found.get("width")), _side(found.get("height"))
    )


def _side(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**6 else None
