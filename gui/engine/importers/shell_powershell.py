"""Reads PowerShell scripts, without running anything."""

from __future__ import annotations

import re

from gui.engine.importers.shell_text import (
    Script,
    UnclosedQuote,
    WordReader,
    require_few,
    split_for_program,
)

_SINGLE = "'\u2018\u2019\u201a\u201b"
_DOUBLE = '"\u201c\u201d\u201e'
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "f": "\f",
    "v": "\v",
}
_VARIABLE = re.compile(
    r"[$@](?:\{(?P<braced>[^}\n]{1,200})\}|(?P<plain>(?:env:|script:|global:)?\w+))", re.IGNORECASE
)
_ASSIGNMENT = re.compile(
    r"(?:\[[\w.\[\]]{1,100}\][ \t]*)?\$"
    r"(?:\{(?P<braced>[^}\n]{1,200})\}|(?P<plain>(?:env:|script:|global:)?\w+))"
    r"[ \t]*(?P<plus>\+?)=(?!=)[ \t]*",
    re.IGNORECASE,
)
_NEW_LIST = re.compile(
    r"(?:\[[\w.\[\]]{0,100}List[\w.\[\]]{0,100}\]::new\(\)"
    r"|New-Object[ \t]+[\w.\[\]]{0,100}List[\w.\[\]]{0,100})[ \t]*",
    re.IGNORECASE,
)
"""An empty list, to which a script adds arguments one by one."""

_ADDITION = re.compile(
    r"(?:\[void\][ \t]*|\$null[ \t]*=[ \t]*)?\$(?P<plain>\w+)\.Add(?:Range)?\([ \t]*@?\(?", re.IGNORECASE
)
_LEGACY = "psnativecommandargumentpassing"
_DECIDES = frozenset({"if", "elseif", "foreach", "for", "while", "switch", "function"})
_CONSTANTS = {"true": "True", "false": "False", "null": ""}


class PowershellReader(WordReader):
    """Splits a script into commands, with the variables that it sets filled in."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._environment: dict[str, str] = {}
        self._depth = 0

    def read(self) -> Script:
        """Return what the script says.

        Raises:
            UnclosedQuote: A quote or a comment is not closed.
            TooLong: Variables multiply beyond any use.
        """
        start = 0
        while self._place < len(self._text):
            if not self._words and self._word is None:
                start = self._place
                if self._addition() or self._assignment():
                    continue
            if self._step():
                self._finish(start)
        self._end_word()
        self._finish(start)
        return self._script

    def _step(self) -> bool:
        """Read on; return whether a command ended."""
        sign = self._text[self._place]
        self._place += 1
        if sign == "`":
            self._backtick()
        elif sign in _SINGLE:
            self._single()
        elif sign in _DOUBLE:
            self._double()
        elif sign == "#" and self._word is None:
            self._skip_to("\n")
        elif sign == "<" and self._text.startswith("#", self._place):
            self._skip_to("#>")
            self._place += 2
        elif sign in "\n;|&{}" or (sign in "()" and self._word is None):
            self._depth += (sign == "{") - (sign == "}")
            self._end_word()
            return True
        elif sign in " \t\r":
            self._end_word()
        elif sign in "$@" and _VARIABLE.match(self._text, self._place - 1):
            self._expand(quoted=False)
        else:
            self._script.dynamic |= sign == "$" and self._text.startswith("(", self._place)
            self._add(sign)
        return False

    def _skip_to(self, mark: str) -> None:
        end = self._text.find(mark, self._place)
        if end < 0 and mark != "\n":
            raise UnclosedQuote(self._line(self._place))
        self._place = len(self._text) if end < 0 else end

    def _backtick(self) -> None:
        following = self._text[self._place : self._place + 1]
        self._place += 1
        if following == "\n":
            self._end_word()
        elif following:
            self._add(_ESCAPES.get(following, following))

    def _single(self) -> None:
        begin = self._place
        self._add("")
        while self._place < len(self._text):
            sign = self._text[self._place]
            self._place += 1
            if sign not in _SINGLE:
                self._add(sign)
            elif self._text[self._place : self._place + 1] in tuple(_SINGLE):
                self._add(self._text[self._place])
                self._place += 1
            else:
                return
        raise UnclosedQuote(self._line(begin))

    def _double(self) -> None:
        begin = self._place
        self._add("")
        while self._place < len(self._text):
            sign = self._text[self._place]
            self._place += 1
            following = self._text[self._place : self._place + 1]
            if sign in _DOUBLE and following and following in _DOUBLE:
                self._add(following)
                self._place += 1
            elif sign in _DOUBLE:
                return
            elif sign == "`" and following:
                self._add(_ESCAPES.get(following, following))
                self._place += 1
            elif sign == "$" and _VARIABLE.match(self._text, self._place - 1):
                self._expand(quoted=True)
            else:
                self._add(sign)
        raise UnclosedQuote(self._line(begin))

    def _expand(self, *, quoted: bool) -> None:
        """Put in a variable: in quotes as one text, else a list as its words."""
        found = _VARIABLE.match(self._text, self._place - 1)
        if not found:  # pragma: no cover – the callers have looked
            return
        self._place = found.end()
        name = _name(found["braced"] or found["plain"])
        values = self._variables.get(name)
        if values is None and name in _CONSTANTS:
            values = [_CONSTANTS[name]]
        if values is None:
            self._script.miss(name)
            self._add(found[0])
        elif quoted:
            self._add(" ".join(values))
        else:
            for number, value in enumerate(values):
                if number:
                    self._end_word()
                self._add(value)

    def _assignment(self) -> bool:
        """Read ``$NAME = value``, where the value is a text, a number, or a list of them."""
        found = _ASSIGNMENT.match(self._text, self._place)
        if not found:
            return False
        require_few(self._variables)
        self._place = found.end()
        if empty := _NEW_LIST.match(self._text, self._place):
            self._place = empty.end()
            self._variables[_name(found["braced"] or found["plain"])] = []
            return True
        depth = 0
        while self._place < len(self._text):
            sign = self._text[self._place]
            if sign == "@" and self._text.startswith("(", self._place + 1):
                depth += 1
                self._place += 2
            elif depth and sign in ",\n)":
                self._end_word()
                depth -= sign == ")"
                self._place += 1
            elif sign == "," and (self._text[self._place - 1] in _SINGLE + _DOUBLE):
                self._end_word()
                self._place += 1
            elif self._step():
                break
        self._end_word()
        words, self._words = self._words, []
        name = _name(found["braced"] or found["plain"])
        before = self._variables.get(name, []) if found["plus"] else []
        self._variables[name] = [*before, *words] if words or before else [""]
        if name.startswith("env:"):
            self._environment[name.removeprefix("env:").upper()] = " ".join(words)
        return True

    def _addition(self) -> bool:
        """Read ``[void]$NAME.Add(value)``, to a list that the script has made."""
        found = _ADDITION.match(self._text, self._place)
        values = self._variables.get(_name(found["plain"])) if found else None
        if found is None or values is None:
            return False
        self._place = found.end()
        while self._place < len(self._text) and self._text[self._place] not in ")\n":
            if self._text[self._place] == ",":
                self._end_word()
                self._place += 1
            else:
                self._step()
        self._end_word()
        while self._text[self._place : self._place + 1] in (")", " ", "\t"):
            self._place += 1
        if self._depth > 0:
            self._script.dynamic = True  # only where a condition holds
        else:
            values += self._words
        self._words = []
        return True

    def _finish(self, start: int) -> None:
        words, self._words = self._words, []
        if words and words[0].lower() in _DECIDES:
            self._script.dynamic = True
            return
        if words and words[0] in (".", "!", "PS"):
            words = words[1:]
        if words and words[0].startswith("!"):  # a cell of a notebook
            words[0] = words[0][1:]
        if words and [word.lower() for word in self._variables.get(_LEGACY, [])] == ["legacy"]:
            words = [part for word in words for part in (split_for_program(word) if '"' in word else [word])]
        self._script.add(words, self._line(start), self._environment)


def _name(name: str) -> str:
    return name.lower().removeprefix("script:").removeprefix("global:")
