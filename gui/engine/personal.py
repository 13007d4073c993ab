r"""Takes out of texts who somebody is, before they are shown to others: user names, host, home folders.

Tokens are ``redaction``'s. Here it is about names: those of this machine, and, since logs come from other
machines too, those that stand where systems put them (``/home/NAME``, ``C:\Users\NAME``).
"""

from __future__ import annotations

import getpass
import json
import os
import platform
import re
import socket
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import quote, unquote

from gui.engine.redaction import AFTER_ESCAPE, HIDDEN, redact_text

USER, HOST, HOME, MAIL = "<user>", "<host>", "~", "<mail>"

_ESCAPE = r"\\u[0-9a-fA-F]{4}"
"""A letter as JSON writes it where it only uses ASCII."""

_BLANK = r"(?:[ \u00a0+_.-]|%20)?"
_SEPARATOR = rf"(?:(?!{_ESCAPE})[\\/]|%5[cC]|%2[fF]){{1,8}}"
_WORD = rf"(?:{_ESCAPE}|[^\s\\/:*?\"'<>|,;)\]}}%]){{1,64}}"
_SPACED = rf"(?:{_ESCAPE}|[^\\/:*?\"<>|\r\n\t]){{1,64}}?"

_WINDOWS_PLACE = rf"(?:{_SEPARATOR})(?:Users|Documents and Settings|DOCUME~\d)(?:{_SEPARATOR})"
_POSIX_PLACE = r"(?:/home/|/media/(?!cdrom)|/Users/)"

_IN_PATH = re.compile(
    # Windows allows blanks in names: what ends with a separator, a quote or the line is one.
    rf"(?P<place>{_WINDOWS_PLACE})(?P<name>{_SPACED}(?={_SEPARATOR}|[\"'\r\n]|$)|(?:{_WORD}|%20)+)"
    rf"|(?P<posix>{_POSIX_PLACE})(?P<posix_name>{_WORD})",
    re.IGNORECASE,
)
_AT_A_START = re.compile(
    # Where a path begins, so that the folder below really is a user's; elsewhere "home" may be any folder.
    r"(?:[A-Za-z](?::|%3[aA])|[\\/]{2,4}[\w.-]{1,60}|/mnt/[a-z]|/(?:export|usr|var|run)|(?:^|[^\w.~\\/-]))\Z"
)
_VARIABLE = re.compile(
    r"(?P<name>\b(?:USER|USERNAME|LOGNAME|HOSTNAME|COMPUTERNAME|USERDOMAIN)['\"]?\s{0,4}[=:]\s{0,4}['\"]?)"
    r"(?P<value>[^\s'\",;]{2,64})"
)
_EVENT_FILE = re.compile(
    r"(?P<before>tfevents\.\d{1,20}\.)(?P<host>[^\s/\\\"']{1,200}?)(?P<after>\.\d+\.\d+)"
)
_ACCOUNT = re.compile(r"(?:Currently logged in as: |://(?:[\w.]{1,60}\.)?wandb\.ai/)(?P<name>[\w.-]{3,64})")
_LAUNCHER_HOST = re.compile(r"(?m)^(?P<before>\s{0,8}host\s{1,12}: )(?P<host>\S{1,200})")
_WINDOWS_HOST = re.compile(r"(?<![\w-])(?:DESKTOP|LAPTOP)-[A-Z0-9]{7}(?![\w-])")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_HEX_KEY = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-f]{40}|[0-9a-f]{32})(?![0-9A-Za-z])")

_NO_NAMES = frozenset(
    {"public", "default", "all users", "default user", "shared", "user", "users", "root", "admin"}
    | {"administrator", "ubuntu", "runner", "guest", "home", "train", "model", "lora", "kohya", "test"}
    | {"localhost", "local", "none", "unknown", "self", "host", "name", "data", "python"}
)
"""Words that tell nobody's name, and stand for other things in texts."""

MOST_NAMES = 50
"""A log that names more people is made up."""

FEWEST_LETTERS = 3
"""A shorter name is taken out of paths only: in a text it could be anything."""

DISTINCT_LETTERS = 5
"""A name of so many letters is found within words as well: ``janedoe_lora_v2``."""

_BEFORE_WORD = rf"(?:(?<![\w-])|{AFTER_ESCAPE})"
_BEFORE_PART = rf"(?:(?<![^\W_])|{AFTER_ESCAPE})"
_AFTER_PART = r"(?:(?![^\W\d_])|(?-i:(?=[A-Z])))"
"""Words may go on with signs, figures and a capital letter."""


@dataclass(frozen=True)
class Identity:
    """What tells who uses a machine.

    Attributes:
        users: Names of the user.
        hosts: Names of the machine.
        homes: Home folders.
    """

    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()


def this_identity() -> Identity:
    """Return what tells who uses this machine."""
    hosts = (socket.gethostname(), platform.node(), os.environ.get("COMPUTERNAME", ""))
    homes = [str(home) for home in _homes()]
    users = [_user(), *(Path(home).name for home in homes)]
    return Identity(
        tuple(dict.fromkeys(filter(None, users))),
        tuple(dict.fromkeys(name for host in hosts for name in (host, host.partition(".")[0]) if name)),
        tuple(dict.fromkeys(homes)),
    )


def _homes() -> Iterator[Path]:
    try:
        home = Path.home()
    except RuntimeError:  # nobody knows where it is
        return
    yield home
    if home.resolve() != home:
        yield home.resolve()


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a user without a name, as in containers
        return ""


class Anonymiser:
    """Takes names and tokens out of texts.

    Args:
        identity: Of this machine.
        harmless: Hexadecimal words that look like keys and are none, such as the trainer's commit.
    """

    def __init__(self, identity: Identity, harmless: Iterable[str] = ()) -> None:
        self._harmless = frozenset(harmless)
        self._users = {name for name in identity.users if name.casefold() not in _NO_NAMES}
        self._hosts = {name for name in identity.hosts if len(name) >= FEWEST_LETTERS and not _is_plain(name)}
        homes = {home for home in identity.homes if len(home) > 3}
        homes |= {unicodedata.normalize(form, home) for home in homes for form in ("NFC", "NFD")}
        spellings = {form for home in homes for form in _spellings(home)}
        self._homes = _any_of(spellings, after=r"(?![\w.-])")
        self._known = self._known_names()

    def learn(self, text: str) -> None:
        """Take up the names that stand in paths of a text, so that they are known in all others."""
        before = len(self._users), len(self._hosts)
        for found in _IN_PATH.finditer(text):
            if _AT_A_START.search(text[max(0, found.start() - 70) : found.start()]) is None:
                continue
            name = _plain_name(found["name"] or found["posix_name"])
            known = name.casefold() in _NO_NAMES or "~" in name or len(self._users) >= MOST_NAMES
            if name and not known:
                self._users.add(name)
        for account in islice(_ACCOUNT.finditer(text), MOST_NAMES):
            if account["name"].casefold() not in _NO_NAMES and len(self._users) < MOST_NAMES:
                self._users.add(account["name"])
        for pattern in (_LAUNCHER_HOST, _EVENT_FILE):
            hosts = {found["host"] for found in islice(pattern.finditer(text), MOST_NAMES)}
            self._hosts |= {host for host in hosts if not _is_plain(host)}
        if before != (len(self._users), len(self._hosts)):
            self._known = self._known_names()

    def text(self, text: str) -> str:
        """Return a text without names and tokens."""
        text = redact_text(text)
        text = _HEX_KEY.sub(lambda found: found[0] if found[0] in self._harmless else HIDDEN, text)
        if self._homes is not None:
            text = self._homes.sub(HOME, text)
        text = _IN_PATH.sub(_without_name, text)
        text = _EVENT_FILE.sub(rf"\g<before>{HOST}\g<after>", text)
        text = _LAUNCHER_HOST.sub(rf"\g<before>{HOST}", text)
        text = _VARIABLE.sub(lambda found: found["name"] + HIDDEN, text)
        text = _MAIL.sub(MAIL, text)
        for pattern, mark in self._known:
            text = pattern.sub(mark, text)
        return _WINDOWS_HOST.sub(HOST, text)

    def _known_names(self) -> list[tuple[re.Pattern[str], str]]:
        """Return what finds the known names: as folders, in their short form, as words and within words."""
        forms = {user: _forms(user) for user in self._users}
        users = set().union(*forms.values())
        short = {form for user in self._users if (form := _short_form(user))}
        words = set().union(*(forms[user] for user in self._users if len(user) >= FEWEST_LETTERS))
        parts = set().union(*(forms[user] for user in self._users if len(user) >= DISTINCT_LETTERS))
        foreign = set().union(*(forms[user] for user in self._users if _stands_out(user)))
        hosts = {form for host in self._hosts for form in _forms(host)}
        found = (
            (_any_of(users, before=r"(?<=[\\/])|(?<=%5[cC])|(?<=%2[fF])", after=rf"(?={_SEPARATOR})"), USER),
            (_any_of(short, after=r"~\d{1,3}"), USER),
            (_any_of(hosts, before=_BEFORE_WORD, after=r"(?![\w-])"), HOST),
            (_any_of(words, before=_BEFORE_WORD, after=r"(?![\w-])"), USER),
            (_any_of(parts, before=_BEFORE_PART, after=_AFTER_PART), USER),
            (_any_of(foreign), USER),
        )
        return [(pattern, mark) for pattern, mark in found if pattern is not None]


def for_others(text: str) -> str:
    """Return a text as it can be pasted where strangers read it."""
    clean = Anonymiser(this_identity())
    clean.learn(text)
    return clean.text(text)


def _without_name(found: re.Match[str]) -> str:
    name = found["name"] or found["posix_name"]
    kept = _plain_name(name).casefold() in _NO_NAMES - {"user", "admin", "administrator"}
    return found[0] if kept else (found["place"] or found["posix"]) + USER


def _plain_name(name: str) -> str:
    """Return a name as its folder is called, without the escapes that a text may have for it."""
    plain = re.sub(_ESCAPE, lambda found: chr(int(found[0][2:], 16)), name)
    return unquote(plain).strip(" .")


def _is_plain(host: str) -> bool:
    return host.casefold() in _NO_NAMES or host.replace(".", "").isdigit()


def _spellings(path: str) -> set[str]:
    """Return the ways in which a path is written: plain, with slashes, escaped, in an address."""
    slashes = path.replace("\\", "/")
    once = path.replace("\\", "\\\\")
    return {
        path,
        slashes,
        once,
        once.replace("\\", "\\\\"),
        _escaped(path),
        _quoted(slashes),
        _quoted(path, ""),
    }


def _forms(name: str) -> set[str]:
    """Return the ways in which a name is written: letters whole or apart, plain, quoted, escaped."""
    letters = {name, *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))}
    escaped = {repr(each.encode("utf-8", "replace"))[2:-1] for each in letters if not each.isascii()}
    return escaped.union(*({each, _quoted(each), _escaped(each)} for each in letters))


def _stands_out(name: str) -> bool:
    """Whether a name is of letters that no other word has by chance: Hangul joins words to names."""
    return len(name) >= FEWEST_LETTERS and all(ord(letter) >= 0x1100 for letter in name)


def _quoted(text: str, kept: str = "/") -> str:
    """Return a text as addresses have it."""
    return quote(text, kept, errors="replace")


def _escaped(text: str) -> str:
    """Return a text as JSON and Python write it where they only use ASCII."""
    return json.dumps(text)[1:-1]


def _short_form(user: str) -> str:
    """Return the beginning of the name that Windows makes for old programs: ``JOHNSM`` of ``John Smith``."""
    kept = re.sub(r"[+,;=\[\]]", "_", re.sub(r"[ .]", "", user))
    return kept[:6].upper() if kept and (len(kept) > 8 or kept != user) else ""


def _any_of(words: Iterable[str], before: str = "", after: str = "") -> re.Pattern[str] | None:
    """Return what finds any of some words, the longest first; None without any.

    A blank stands for what replaces it in names of files and accounts, and for nothing: ``JohnSmith``.
    """
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    if not ordered:
        return None
    between = "|".join(re.escape(word).replace("\\ ", _BLANK) for word in ordered)
    first = re.escape("".join(sorted({word[0] for word in ordered})))  # most letters begin none of them
    return re.compile(f"(?=[{first}])(?:{before})(?:{between}){after}", re.IGNORECASE)
