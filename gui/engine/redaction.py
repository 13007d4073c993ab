"""Keeps tokens out of everything that is written or shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

SECRET_ARGUMENTS: dict[str, str] = {"huggingface_token": "HF_TOKEN", "wandb_api_key": "WANDB_API_KEY"}
"""The trainer's only token arguments and the environment variable that its libraries read instead.

Source: trainer-facts section 8 (train_util.py:3819, 4060)."""

ARGUMENT_OF_VARIABLE: dict[str, str] = {
    **{variable: argument for argument, variable in SECRET_ARGUMENTS.items()},
    "HUGGING_FACE_HUB_TOKEN": "huggingface_token",
}
"""All variables of the environment that hold tokens, and the argument that each replaces."""

HIDDEN = "•••"

_FLAG = re.compile(r"^--(huggingface_token|wandb_api_key)(?:=|$)")
_ARGUMENT = "huggingface_token|wandb_api_key"
_VARIABLE = "HF_TOKEN|HUGGING_FACE_HUB_TOKEN|WANDB_API_KEY"
AFTER_ESCAPE = (
    # As JSON and Python write line ends and signs, as addresses do, and as terminals change colours.
    r"(?<=\\[abfnrtv])|(?<=\\u[0-9A-Fa-f]{4})|(?<=\\x[0-9A-Fa-f]{2})|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=\[\dm)|(?<=\[\d\dm)|(?<=\[\d;\d\dm)"
)
"""Where a word may begin although a letter stands before it: that letter is the end of an escape."""

_QUOTE = r"\\{0,7}['\"]"
_IN_TEXT = re.compile(
    # A flag and its value, as words of a command line or of a printed list; a key or variable and its value.
    # Quotes may be escaped: what was printed stands in JSON, too.
    rf"(?P<name>--(?:{_ARGUMENT})(?:\s*=\s*|(?:\s|\\\s|\\[nrt])+|{_QUOTE}\s*,\s*)"
    rf"|(?=[hwHW])(?:\b|{AFTER_ESCAPE})(?:{_ARGUMENT}|{_VARIABLE})(?:{_QUOTE})?\s*[=:]\s*)"
    rf"(?!None\b)(?P<quote>[fr]?(?:'{{3}}|\"{{3}}|{_QUOTE})?)"
    r"(?P<value>(?<=\\')[^'\\]+|(?<=\\\")[^\"\\]+|(?<=')[^']+|(?<=\")[^\"]+|(?:[^\s'\",\])}\\]|\\(?!['\"]))+)"
)

_SHAPES = re.compile(
    # What they begin with is looked at first: most letters of a log begin nothing.
    r"(?=hf_|ap|wa|g[hil]|[sr]k|A[KSI]|xo|eyJ|r[p8]|do|np|py)"
    rf"(?:(?<![A-Za-z0-9_-])|{AFTER_ESCAPE})(?:"
    # Hugging Face, Weights & Biases, GitHub, GitLab, OpenAI and its like, Amazon, Google, Slack, JWT.
    r"hf_[A-Za-z0-9]{16,}|api_org_[A-Za-z0-9]{16,}|wandb_v\d_[A-Za-z0-9_]{20,}"
    r"|gh[opusr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{16,}"
    r"|sk-[A-Za-z0-9_-]{20,}|A[KS]IA[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{35}|xox[abeoprs]-[A-Za-z0-9-]{10,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+"
    # RunPod, Replicate, Stripe, DigitalOcean, npm, PyPI.
    r"|rpa_[A-Z0-9]{30,}|r8_[A-Za-z0-9]{30,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|do[opr]_v1_[0-9a-f]{40,}"
    r"|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,})(?![A-Za-z0-9])"
    # What stands in an address, a header of a request, or behind a word that says what it holds.
    r"|(?<=://)[^/\s:@'\"]{1,200}:[^/\s@'\"]{1,200}(?=@)"
    r"|(?<=/api/webhooks/)\d{1,30}/[A-Za-z0-9_-]+|(?<=hooks\.slack\.com/services/)[A-Za-z0-9_/-]+"
    r"|(?P<before>[?&](?i:[a-z-]{1,30}[_-])?(?i:token|key|secret|sig|signature|password)=)[^&\s'\"<>]+"
    r"|(?P<header>\bBearer\s+|(?=[aA])(?i:authorization['\"]?\s{0,8}[:=]\s{0,8}['\"]?(?:bearer|basic|token)\s+))[A-Za-z0-9._~+/=-]{12,}"
    r"|(?P<variable>(?:\b[A-Z][A-Z0-9_]{0,60}(?:_TOKEN|API_KEY|_SECRET|PASSWORD|_ACCESS_KEY)"
    r"|(?=[aAcCpPsS])(?i:(?:api|access|account|secret)[_-]?key|(?:access|auth|api)[_-]token|client_secret|passw(?:or)?d))"
    rf"(?:{_QUOTE})?\s{{0,8}}[=:]\s{{0,8}}(?:{_QUOTE})?)(?!None\b|null\b)[^\s'\",;)\]}}\\]{{6,}}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]+(?:-----END [A-Z ]{0,30}-----)?"
)
"""Tokens of known shapes, whatever stands before them."""


class Secret:
    """A token on its way to where it belongs: it never prints, and no document can hold it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the token, for a keyring or a trainer's environment."""
        return self._value

    def __repr__(self) -> str:
        return HIDDEN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)


def redact_text(text: str, secrets: Iterable[str] = ()) -> str:
    """Return the text with tokens replaced: the known ones, and what looks like one."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN)
    text = _IN_TEXT.sub(lambda found: found["name"] + (found["quote"] or "") + HIDDEN, text)
    return _SHAPES.sub(lambda found: _kept(found) + HIDDEN, text)


def _kept(found: re.Match[str]) -> str:
    """Return what stands before a token and says what it is."""
    return found["before"] or found["header"] or found["variable"] or ""


def redact_data(value: Any, secrets: Iterable[str] = ()) -> Any:
    """Return what JSON can hold with tokens replaced in all its texts, and as values of token arguments."""
    known = tuple(secrets)
    if isinstance(value, dict):
        return {
            key: HIDDEN if inner and _is_token_place(key) else redact_data(inner, known)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [redact_data(inner, known) for inner in value]
    return redact_text(value, known) if isinstance(value, str) else value


def _is_token_place(target: str) -> bool:
    name = target.removeprefix("env.")
    return name in SECRET_ARGUMENTS or name.upper() in ARGUMENT_OF_VARIABLE


def redact_argv(argv: Sequence[str], secrets: Iterable[str] = ()) -> list[str]:
    """Return an argument list with the values of token arguments replaced."""
    hidden: list[str] = []
    after_flag = False
    known = tuple(secrets)
    for word in argv:
        flag = _FLAG.match(word)
        if after_flag and not word.startswith("--"):
            hidden.append(HIDDEN)
        elif flag and "=" in word:
            hidden.append(word.split("=", 1)[0] + "=" + HIDDEN)
        else:
            hidden.append(redact_text(word, known))
        after_flag = bool(flag) and "=" not in word
    return hidden
