"""Reads batch files and lines typed into cmd.exe, without running anything."""

from __future__ import annotations

import re

from gui.engine.importers.shell_text import (
    Script,
    TooLong,
    UnclosedQuote,
    most_signs,
    require_few,
    split_for_program,
)

_SET = re.compile(r"@?[ \t]*set\s+(?!/)(?P<rest>.*)\Z", re.IGNORECASE | re.DOTALL)
_VARIABLE = re.compile(r"%(~?[A-Za-z_]*0|[A-Za-z_][^%\n:=]*)%|%(~[a-z]*0)|!([A-Za-z_]\w*)!", re.IGNORECASE)
_REMARK = re.compile(r"\s*@?(?:rem(?:\s|\Z)|::|:\w)", re.IGNORECASE)
_BEFORE = re.compile(
    r"\s*(?:[@(][@(\s]*|call\s+(?=\S)|start\s+(?:/\w+\s+)*(?=[^\s/\"])|echo\.?\s*\Z)", re.IGNORECASE
)
_DECIDES = re.compile(r"\s*(?:if|for|goto|else)\b", re.IGNORECASE)


def read_cmd(text: str) -> Script:
    """Return what a batch file says.

    Carets at a line's end go on in the next; ``%NAME%`` is filled in where the file sets it, as cmd
    does before it looks at anything else. What remains is split as the C runtime does.

    Raises:
        UnclosedQuote: A quote is not closed.
        TooLong: Variables multiply beyond any use.
    """
    return _CmdReader().read(text)


class _CmdReader:
    def __init__(self) -> None:
        self._script = Script()
        self._variables: dict[str, str] = {}
        self._made = self._most = 0

    def read(self, text: str) -> Script:
        self._most = most_signs(text)
        lines = text.split("\n")
        number = 0
        while number < len(lines):
            first, line = number + 1, lines[number]
            number += 1
            if _REMARK.match(line):
                continue
            pieces = [line]
            while _goes_on(pieces[-1]) and number < len(lines):
                pieces[-1] = pieces[-1][:-1]
                pieces.append(lines[number])
                number += 1
            line = "".join(pieces)
            for part in self._parts(self._filled(line), first):
                self._command(part, first)
        return self._script

    def _filled(self, line: str) -> str:
        def value(found: re.Match[str]) -> str:
            name = (found[1] or found[2] or found[3] or "").upper()
            if name.startswith("~") or name == "0":
                return ".\\"  # the folder of the batch file
            if name in self._variables:
                return self._variables[name]
            if not name.endswith("^"):
                self._script.miss(name)
            return found[0]

        line = _VARIABLE.sub(value, line)
        self._made += len(line)
        if self._made > self._most:
            raise TooLong
        return line.replace("%%", "%")

    def _parts(self, line: str, number: int) -> list[str]:
        """Split at ``&`` and ``|`` and take the carets out, as cmd does outside of quotes."""
        parts: list[list[str]] = [[]]
        quoted, place = False, 0
        while place < len(line):
            sign = line[place]
            if sign == "^" and not quoted:
                parts[-1].append(sign if _is_meant(line, place) else line[place + 1 : place + 2])
                place += 2
                continue
            if sign == '"':
                quoted = not quoted
            if sign in "&|" and not quoted:
                parts.append([])
            elif sign in "<>" and not quoted:
                place = _after_redirection(line, place, parts[-1])
                continue
            else:
                parts[-1].append(sign)
            place += 1
        if quoted:
            raise UnclosedQuote(number)
        return ["".join(part) for part in parts]

    def _command(self, part: str, number: int) -> None:
        part = part.lstrip()
        if found := _SET.match(part):
            self._set(found["rest"])
            return
        if _DECIDES.match(part):
            self._script.dynamic = True
        while found := _BEFORE.match(part):
            part = part[found.end() :]
            if not part:
                return
        self._script.add(split_for_program(part), number, self._variables)

    def _set(self, rest: str) -> None:
        rest = rest.rstrip("\r")
        if rest.startswith('"'):
            rest = rest[1:].rpartition('"')[0] or rest[1:]
        name, equals, value = rest.partition("=")
        if equals and name.strip():
            self._variables[name.strip().upper()] = value
            require_few(self._variables)


def _goes_on(line: str) -> bool:
    """Whether a line ends with a caret that is not itself escaped."""
    return (len(line) - len(line.rstrip("^"))) % 2 == 1


def _is_meant(line: str, place: int) -> bool:
    """Whether a caret was to let the line go on, and blanks are behind it: it is left for all to see."""
    rest = line[place + 1 :]
    return bool(rest) and not rest.strip() and not _SET.match(line)


def _after_redirection(line: str, place: int, part: list[str]) -> int:
    if part and part[-1].isdigit() and (len(part) < 2 or part[-2].isspace()):
        part.pop()
    rest = re.compile(r"[<>]+(?:&\d)?[ \t]*(?:\"[^\"]*\"|[^\s&|<>\"])*").match(line, place)
    return rest.end() if rest else place + 1
