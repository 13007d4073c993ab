"""One argument of a training script, as the script's own parser declares it."""

from __future__ import annotations

from typing import Any

from gui.engine.documents import Document

FLAG_ACTIONS = frozenset(
    {"_StoreTrueAction", "_StoreFalseAction", "_StoreConstAction", "_AppendConstAction", "_CountAction"}
)
"""Actions of argparse that take no value."""

NO_SETTINGS = frozenset({"_HelpAction", "_VersionAction", "_SubParsersAction"})
"""Actions that print and leave, or that are no options: nothing that a plan could set."""


class Argument(Document):
    """A row of an argparse parser.

    Attributes:
        flags: How it is spelled on the command line (``("--network_dim",)``).
        dest: The name under which plans know it.
        nargs: None for one value, 0 for a flag, a number, or ``"*"``, ``"+"``, ``"?"``.
        type: The name of the function that reads the value; None keeps the text.
        default: What the trainer takes when the argument is absent.
        choices: The allowed values after reading; None allows all. May contain None.
        const: What a flag stores.
        action: The name of argparse's action class.
        required: Whether the parser itself insists on it.
        metavar: The value's name in the trainer's usage text.
        group: The heading in the trainer's usage text.
        help: The trainer's own words; empty in the bundled catalogue.
    """

    flags: tuple[str, ...]
    dest: str
    nargs: int | str | None = None
    type: str | None = None
    default: Any = None
    choices: tuple[Any, ...] | None = None
    const: Any = None
    action: str = "_StoreAction"
    required: bool = False
    metavar: Any = None
    group: str | None = None
    help: str = ""

    @property
    def flag(self) -> str:
        """The long spelling, which is never ambiguous."""
        return next((flag for flag in self.flags if flag.startswith("--")), self.flags[0])

    @property
    def is_flag(self) -> bool:
        """Whether it takes no value."""
        return self.action in FLAG_ACTIONS

    @property
    def is_list(self) -> bool:
        """Whether it takes any number of values."""
        return self.nargs in ("*", "+") or (isinstance(self.nargs, int) and self.nargs > 0)

    @property
    def is_setting(self) -> bool:
        """Whether a plan can set it."""
        return bool(self.flags) and self.action not in NO_SETTINGS
