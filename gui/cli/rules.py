"""``rules``: what preflight checks."""

from __future__ import annotations

import argparse

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.preflight.rules import ALL_RULES
from gui.engine.texts import _


class RuleRow(Document):
    """One rule, for the list."""

    id: str
    summary: str
    sources: tuple[str, ...]


class RuleList(Document):
    """What ``rules --json`` prints."""

    schema_: int = Field(default=1, alias="schema")
    rules: tuple[RuleRow, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def run(options: argparse.Namespace) -> int:
    """Print the rules.

    Returns:
        0.
    """
    rows = tuple(RuleRow(id=rule.id, summary=rule.summary(), sources=rule.sources) for rule in ALL_RULES)
    if options.json:
        print(RuleList(rules=rows).model_dump_json(by_alias=True, indent=2))
    else:
        width = max(len(row.id) for row in rows)
        print("\n".join(f"{row.id:<{width}}  {row.summary}" for row in rows))
    return 0
