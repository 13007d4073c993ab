"""Quotes an argument list for a shell, so that the shell gives the same words to the program.

This is for previews and for copying only: the program itself never uses a shell.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Literal, get_args

from gui.engine.errors import WrongUsage
from gui.engine.texts import _

Shell = Literal["posix", "cmd", "powershell"]
SHELLS: tuple[Shell, ...] = get_args(Shell)

_CMD_PLAIN = re.compile(r"[A-Za-z0-9_\-+./:\\]+", re.ASCII)
_CMD_SIGNS = re.compile(r'[()%!^"<>&|]')
_POWERSHELL_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_/.\\:\-]*|--?[A-Za-z_][A-Za-z0-9_\-]*", re.ASCII)
_POWERSHELL_QUOTES = re.compile("['\u2018\u2019\u201a\u201b]")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_LEGACY = "$PSNativeCommandArgumentPassing = 'Legacy'; "


def quote(argv: Sequence[str], shell: Shell) -> str:
    """Return a command that makes the shell start the program with exactly these words.

    Args:
        argv: The words; the first is the program.
        shell: ``posix`` (bash and its like), ``cmd``, or ``powershell`` (Windows PowerShell 5.1
            as well as PowerShell 7).

    Raises:
        WrongUsage: A word cannot be typed in that shell, such as one with a line break in cmd.
    """
    if shell == "posix":
        return " ".join(posix_words(argv))
    return " ".join(cmd_words(argv)) if shell == "cmd" else powershell_command(powershell_words(argv))


def posix_words(argv: Sequence[str]) -> list[str]:
    """Quote each word for bash and other POSIX shells.

    Raises:
        WrongUsage: A word holds a NUL, which no program can be given.
    """
    _refuse("bash", argv, re.compile("\0"))
    return [shlex.quote(word) for word in argv]


def cmd_words(argv: Sequence[str]) -> list[str]:
    """Quote each word for a line typed into cmd.exe.

    cmd looks for its own signs first. A double quote switches its attention off and on, without
    regard to backslashes, and ``%NAME%`` is replaced even between quotes. So the C runtime's
    quoting is made first, and then every sign that means something to cmd, the quotes among them,
    gets a caret: cmd is never "in quotes". A caret cannot stop the replacement of ``%NAME%``, but
    makes it look for ``NAME^``, which does not exist. ``!`` is plain unless ``cmd /v`` was used.

    The program itself must stand in real quotes, since cmd cuts its name at the first space.

    Raises:
        WrongUsage: A word holds a line break or another control character, or the program's
            path holds ``%`` or a double quote.

    Source: ``cmd /?``; Microsoft, "Everyone quotes command line arguments the wrong way".
    """
    _refuse("cmd", argv, _CONTROL)
    _refuse("cmd", argv[:1], re.compile('["%]'))
    program = [word if _CMD_PLAIN.fullmatch(word) else f'"{word}"' for word in argv[:1]]
    return program + [
        word if _CMD_PLAIN.fullmatch(word) else cmd_escaped(msvcrt_quoted(word)) for word in argv[1:]
    ]


def cmd_escaped(text: str) -> str:
    """Put a caret before every sign that means something to cmd.exe."""
    return _CMD_SIGNS.sub(r"^\g<0>", text)


def msvcrt_quoted(word: str) -> str:
    r"""Quote one word for the C runtime, which splits a Windows command line into ``argv``.

    Backslashes are plain unless they stand before a double quote; there each is doubled, and the
    quote itself gets one more.

    Source: Microsoft, "Parsing C command-line arguments".
    """
    body = re.sub(r'(\\*)"', r'\1\1\\"', word)
    return '"' + re.sub(r"(\\+)\Z", r"\1\1", body) + '"'


def powershell_words(argv: Sequence[str]) -> list[str]:
    """Quote each word for PowerShell; to be put together by ``powershell_command``.

    In single quotes only the single quote itself means something (the typographic ones count
    too) and is doubled. What follows differs: 5.1 and 7.2 glue the words to a command line, put
    quotes around those with a space, and leave double quotes and backslashes as they are; 7.3
    escapes them. Words that this would change are quoted for the C runtime by themselves, and the
    command asks for the old way, which newer versions still know.

    Raises:
        WrongUsage: A word holds a NUL, or a backslash before a double quote and then a space,
            which the versions treat differently.

    Source: Microsoft, about_Quoting_Rules, about_Parsing, about_Preference_Variables.
    """
    _refuse("PowerShell", argv, re.compile("\0"))
    careful = any(map(_is_delicate, argv))
    words = []
    for word in argv:
        if _POWERSHELL_PLAIN.fullmatch(word):
            words.append(word)
        else:
            given = _legacy_quoted(word) if careful and _is_delicate(word) else word
            if given != word and _gets_quotes(given):
                raise _cannot_be_typed("PowerShell", word)
            words.append("'" + _POWERSHELL_QUOTES.sub(r"\g<0>\g<0>", given) + "'")
    return words


def powershell_command(words: Sequence[str], separator: str = " ") -> str:
    """Return the command of words from ``powershell_words``."""
    command = "& " + separator.join(words)
    delicate = any('"' in word for word in words)
    return f"& {{ {_LEGACY}{command} }}" if delicate else command


def _is_delicate(word: str) -> bool:
    """Whether the old way of PowerShell would not pass the word on unchanged."""
    return not word or '"' in word or (word.endswith("\\") and any(sign.isspace() for sign in word))


def _legacy_quoted(word: str) -> str:
    r"""Quote for the C runtime with doubled double quotes, which PowerShell counts in pairs.

    With ``\"`` the count of quotes would be odd where it means even, and PowerShell would put
    another pair around the word.
    """
    body = re.sub(r'(\\*)"', r'\1\1""', word)
    return '"' + re.sub(r"(\\+)\Z", r"\1\1", body) + '"'


def _gets_quotes(text: str) -> bool:
    """Whether a version of PowerShell finds a space outside of quotes, and so adds some.

    5.1 counts every double quote, 7 only those that do not follow a backslash.
    """
    every, unescaped, before = 0, 0, ""
    for sign in text:
        if sign == '"':
            every += 1
            unescaped += before != "\\"
        elif sign.isspace() and not (every % 2 and unescaped % 2):
            return True
        before = sign
    return False


def _refuse(shell: str, argv: Sequence[str], pattern: re.Pattern[str]) -> None:
    for word in argv:
        if pattern.search(word):
            raise _cannot_be_typed(shell, word)


def _cannot_be_typed(shell: str, word: str) -> WrongUsage:
    shown = repr(word if len(word) <= 60 else word[:59] + "…")
    return WrongUsage(_("{word} cannot be typed in {shell}.").format(word=shown, shell=shell))
