"""What the readers of the three shells have in common: commands, variables, and what cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MOST_COMMANDS = 20_000
"""More commands than any script has that trains something."""

MOST_VARIABLES = 1_000
"""More variables than any such script sets; each command gets a copy of them."""

MOST_SIGNS = 1_000_000
"""More signs than variables should make of a script, beside some times its own length."""


class UnclosedQuote(ValueError):
    """A quote is not closed.

    Attributes:
        line: Where it begins, from 1.
    """

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class TooLong(ValueError):
    """Variables grow beyond any use."""


@dataclass(frozen=True)
class Command:
    """One command of a script.

    Attributes:
        words: Program and arguments.
        line: Where it begins, from 1.
        environment: Variables that the script sets for it.
    """

    words: tuple[str, ...]
    line: int
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Script:
    """What a script says, as far as it can be told without running it.

    Attributes:
        commands: In their order.
        unknown: Variables that the script uses and does not set.
        dynamic: Whether it decides or computes something while it runs.
    """

    commands: list[Command] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    dynamic: bool = False

    def add(self, words: Sequence[str], line: int, environment: Mapping[str, str]) -> None:
        """Add a command, where it has words.

        Raises:
            TooLong: There are more than any script has.
        """
        if not words:
            return
        if len(self.commands) >= MOST_COMMANDS:
            raise TooLong
        self.commands.append(Command(tuple(words), line, dict(environment)))

    def miss(self, name: str) -> None:
        """Remember a variable that is not known."""
        if name not in self.unknown:
            self.unknown.append(name)


def require_few(variables: Mapping[str, object]) -> None:
    """Refuse more variables than any script has.

    Raises:
        TooLong: There are more.
    """
    if len(variables) > MOST_VARIABLES:
        raise TooLong


class LineCounter:
    """Tells the line of a place, quickly for places in rising order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place, self._line = 0, 1

    def at(self, place: int) -> int:
        """Return the line, from 1."""
        if place < self._place:
            self._place, self._line = 0, 1
        self._line += self._text.count("\n", self._place, place)
        self._place = place
        return self._line


class WordReader:
    """What readers share that go through a script sign by sign, and gather signs to words."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._script = Script()
        self._variables: dict[str, list[str]] = {}
        self._words: list[str] = []
        self._word: list[str] | None = None
        self._lines = LineCounter(text)
        self._made, self._most = 0, most_signs(text)

    def _add(self, text: str) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)
        self._made += len(text)
        if self._made > self._most:
            raise TooLong

    def _end_word(self) -> None:
        if self._word is not None:
            self._words.append("".join(self._word))
            self._word = None

    def _line(self, place: int) -> int:
        return self._lines.at(place)


def most_signs(text: str) -> int:
    """Return to how many signs the variables of a script may make it."""
    return MOST_SIGNS + 20 * len(text)


def split_for_program(line: str) -> list[str]:
    r"""Split a Windows command line as the C runtime does.

    A double quote begins or ends a quoted part; within one, two of them are one. Before a double
    quote, two backslashes are one, and an odd one makes the quote plain.

    Source: Microsoft, "Parsing C command-line arguments".
    """
    words: list[str] = []
    word: list[str] | None = None
    quoted, place = False, 0
    while place < len(line):
        sign = line[place]
        if sign == "\\":
            count = 1
            while line[place + count : place + count + 1] == "\\":
                count += 1
            before_quote = line[place + count : place + count + 1] == '"'
            word = word or []
            word += "\\" * (count // 2 if before_quote else count)
            place += count
            if before_quote and count % 2:
                word.append('"')
                place += 1
            continue
        if sign == '"':
            word = word or []
            if quoted and line[place + 1 : place + 2] == '"':
                word.append('"')
                place += 1
            else:
                quoted = not quoted
        elif sign in " \t\n" and not quoted:
            words += ["".join(word)] if word is not None else []
            word = None
        else:
            word = word or []
            word.append(sign)
        place += 1
    return words if word is None else [*words, "".join(word)]
