"""Reads scripts of bash and its like, without running anything."""

from __future__ import annotations

import re

from gui.engine.importers.shell_text import (
    Script,
    UnclosedQuote,
    WordReader,
    require_few,
)

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=(.*)\Z", re.DOTALL | re.ASCII)
_VARIABLE = re.compile(
    r"\$(?:(?P<plain>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)(?P<all>\[[@*]\])?(?::?-(?P<default>[^}\n]{0,500}))?\})",
    re.ASCII,
)
_ANSI = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}
_ENDS = ";&|\n"
_DECIDES = frozenset({"if", "for", "while", "case", "until", "function"})
_GRAMMAR = frozenset({"then", "do", "else", "{", "}", "!", "time", "exec", "nohup", "sudo", "env"})


class PosixReader(WordReader):
    """Splits a script into commands, with the variables that it sets filled in."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._exported: dict[str, str] = {}
        self._ended = self._in_array = False

    def read(self) -> Script:
        """Return what the script says.

        Raises:
            UnclosedQuote: A quote is not closed.
            TooLong: Variables multiply beyond any use.
        """
        start = 0
        while self._place < len(self._text):
            if not self._words and self._word is None:
                start = self._place
            self._step()
            if self._ended:
                self._finish(start)
        self._end_word()
        self._finish(start)
        return self._script

    def _step(self) -> None:
        text, place = self._text, self._place
        sign = text[place]
        self._place += 1
        self._ended = False
        if sign == "\\":
            self._backslash()
        elif sign == "'":
            self._single()
        elif sign == '"':
            self._double()
        elif sign == "#" and self._word is None:
            end = text.find("\n", place)
            self._place = len(text) if end < 0 else end
        elif sign in _ENDS:
            self._end_word()
            self._ended = True
        elif sign in "<>":
            self._redirection()
        elif sign == "(" and self._word and self._word[-1] == "=" and not self._in_array:
            self._array()
        elif sign in " \t\r()":
            self._end_word()
        elif sign == "$" and text.startswith("'", self._place):
            self._ansi()
        elif sign == "$":
            self._expand(quoted=False)
        elif sign == "`":
            self._script.dynamic = True
            self._add(sign)
        else:
            self._add(sign)

    def _backslash(self) -> None:
        following = self._text[self._place : self._place + 1]
        self._place += 1
        if following == "\n":
            return
        if following:
            self._add(following)

    def _single(self) -> None:
        end = self._text.find("'", self._place)
        if end < 0:
            raise UnclosedQuote(self._line(self._place))
        self._add(self._text[self._place : end])
        self._place = end + 1

    def _ansi(self) -> None:
        """Read ``$'…'``, in which a backslash begins a sign (bash, "ANSI-C Quoting")."""
        found = _ANSI.match(self._text, self._place)
        if not found:
            raise UnclosedQuote(self._line(self._place))
        self._place = found.end()
        self._add(_ESCAPE.sub(_sign_of, found[1]))

    def _double(self) -> None:
        begin = self._place
        self._add("")
        while True:
            sign = self._text[self._place : self._place + 1]
            self._place += 1
            if not sign:
                raise UnclosedQuote(self._line(begin))
            if sign == '"':
                return
            following = self._text[self._place : self._place + 1]
            if sign == "\\" and following and following in '$`"\\\n':
                self._place += 1
                self._add("" if following == "\n" else following)
            elif sign == "$":
                self._expand(quoted=True)
            else:
                self._add(sign)

    def _expand(self, *, quoted: bool) -> None:
        """Put in a variable: split at blanks unless it is quoted, an array as its words."""
        found = _VARIABLE.match(self._text, self._place - 1)
        if not found:
            self._script.dynamic |= self._text[self._place : self._place + 1] == "("
            self._add("$")
            return
        self._place = found.end()
        name = found["plain"] or found["braced"]
        if name in self._variables:
            values = self._variables[name]
        elif found["default"] is not None:
            values = [found["default"].strip("\"'")]
        else:
            self._script.miss(name)
            self._add(found[0])
            return
        if not found["all"]:
            values = values[:1] if quoted else " ".join(values[:1]).split()
        for number, value in enumerate(values):
            if number:
                self._end_word()
            self._add(value)

    def _array(self) -> None:
        """Read ``NAME=(…)`` as words of their own."""
        name, self._word, outer = "".join(self._word or [])[:-1], None, self._words
        self._words, self._in_array = [], True
        begin = self._place
        while self._text[self._place : self._place + 1] not in ("", ")"):
            self._step()
        if self._place >= len(self._text):
            raise UnclosedQuote(self._line(begin))
        self._place += 1
        self._end_word()
        plus = name.endswith("+")
        name = name.rstrip("+")
        self._variables[name] = [*(self._variables.get(name, []) if plus else []), *self._words]
        self._words = outer
        self._ended = self._in_array = False

    def _redirection(self) -> None:
        """Pass over ``> file`` and ``2>&1``."""
        if self._word is not None and "".join(self._word).isdigit():
            self._word = None
        self._end_word()
        rest = re.compile(r"[<>&]*[ \t]*(?:'[^'\n]*'|\"[^\"\n]*\"|[^\s;&|<>])*").match(
            self._text, self._place
        )
        self._place = rest.end() if rest else self._place

    def _finish(self, start: int) -> None:
        given, self._words = self._words, []
        environment = dict(self._exported)
        place = 0
        while place < len(given):
            first = given[place]
            found = _ASSIGNMENT.match(first)
            if found:
                self._assign(found[1], found[3], append=bool(found[2]))
                environment[found[1]] = self._variables[found[1]][0]
            elif first in _DECIDES:
                self._script.dynamic = True
            elif first not in _GRAMMAR and first not in ("$", "%"):
                break
            place += 1
        words = given[place:]
        if words and words[0].startswith("!") and len(words[0]) > 1:  # a cell of a notebook
            words[0] = words[0][1:]
        if words and words[0] == "export":
            for word in words[1:]:
                if found := _ASSIGNMENT.match(word):
                    self._assign(found[1], found[3], append=bool(found[2]))
                    self._exported[found[1]] = self._variables[found[1]][0]
        else:
            self._script.add(words, self._line(start), environment)

    def _assign(self, name: str, value: str, *, append: bool) -> None:
        before = self._variables.get(name, [""])[0] if append else ""
        self._variables[name] = [before + value]
        require_few(self._variables)


def _sign_of(found: re.Match[str]) -> str:
    if found[1] or found[2]:
        return chr(int(found[1] or found[2], 16))
    return chr(int(found[3], 8)) if found[3] else _SIGNS.get(found[4], found[4])
