"""Keeps tokens in the system's keyring; without one, in memory as long as this program runs."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import Field, ValidationError

from gui.engine.documents import Document, read_json, write_atomically
from gui.engine.errors import CannotRead, CannotWrite, KeyringRefused, NotAToken
from gui.engine.paths import Home
from gui.engine.patience import within
from gui.engine.redaction import ARGUMENT_OF_VARIABLE, HIDDEN, SECRET_ARGUMENTS, redact_text
from gui.engine.texts import _

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

Place = Literal["keyring", "memory"]

SERVICE = "kohya-preflight"
"""Under this name the keyring shows the entries; the user's name there is the trainer's argument."""

PATIENCE_SECONDS = 30.0
"""A locked keyring asks for its password, and somebody has to type that."""

_LIKE_A_TOKEN = re.compile(r"[\x21-\x7e]{8,1000}")
"""A word of a length that cannot stand in a log by chance, where it is replaced."""

T = TypeVar("T")

_NAMES = {
    "keyring.backends.Windows": "Windows Credential Manager",
    "keyring.backends.macOS": "macOS Keychain",
    "keyring.backends.SecretService": "Secret Service",
    "keyring.backends.libsecret": "Secret Service",
    "keyring.backends.kwallet": "KWallet",
}
"""What people call the keyrings that the library finds."""


class _Kept(Document):
    """Which tokens lie in the keyring, so that nobody is asked to unlock it for nothing: ``tokens.json``.

    Attributes:
        names: The trainer's arguments. The tokens themselves are in no file.
    """

    schema_: int = Field(default=1, alias="schema")
    names: tuple[str, ...] = ()


class TokenStore:
    """The tokens of one person, by the trainer's argument: ``huggingface_token``, ``wandb_api_key``.

    The keyring is asked in a thread and never waited for longer than the patience; one that hung or
    refused to work is left alone from then on. Not for the GUI thread, but for ``known``.

    Args:
        home: Holds the list of what is kept.
        patience_seconds: How long a question to the keyring may take.
    """

    def __init__(self, home: Home, *, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._index = home.tokens
        self._patience = patience_seconds
        self._memory: dict[str, str] = {}
        self._backend: KeyringBackend | None = None
        self._problem: str | None = None
        self._one_at_a_time = threading.Lock()

    def known(self) -> dict[str, Place]:
        """Return which tokens there are and where; asks no keyring."""
        kept: dict[str, Place] = dict.fromkeys(self._kept(), "keyring")
        return {**kept, **dict.fromkeys(self._memory, "memory")}

    def look(self) -> str:
        """Look for a keyring that can be used.

        Returns:
            Its name; empty when there is none. See ``problem``.
        """
        with self._one_at_a_time:
            backend = self._usable()
            return "" if backend is None else _NAMES.get(type(backend).__module__, str(backend.name))

    @property
    def problem(self) -> str:
        """Why no keyring is used, in a few words; empty when one is, or none was looked for."""
        return self._problem or ""

    def get(self, name: str) -> str | None:
        """Return a token; None where none is kept.

        Raises:
            KeyringRefused: It lies in the keyring, which does not hand it out.
        """
        if name in self._memory:
            return self._memory[name]
        if name not in self._kept():
            return None
        with self._one_at_a_time:
            token = self._ask(name, lambda backend: backend.get_password(SERVICE, name))
        if token is None:  # taken out of the keyring by other means
            self._note(name, kept=False)
        return token

    def keep(self, name: str, token: str) -> Place:
        """Keep a token in place of an older one.

        Returns:
            Where: in memory when no keyring can be used; ``problem`` says why.

        Raises:
            NotAToken: It cannot be one.
        """
        if not _LIKE_A_TOKEN.fullmatch(token):
            raise NotAToken(name)
        with self._one_at_a_time:
            try:
                self._ask(name, lambda backend: _put(backend, name, token))
            except KeyringRefused as refusal:  # some say what they were given
                self._problem = redact_text(refusal.reason, (token,))
                self._memory[name] = token
                return "memory"
            self._problem = None
        self._memory.pop(name, None)
        self._note(name, kept=True)
        return "keyring"

    def forget(self, name: str) -> None:
        """Remove a token wherever it is kept.

        Raises:
            KeyringRefused: The keyring does not give it away.
        """
        self._memory.pop(name, None)
        if name in self._kept():
            with self._one_at_a_time:
                self._ask(name, lambda backend: _take_out(backend, name))
            self._note(name, kept=False)

    def for_run(self, said: Mapping[str, str]) -> dict[str, str]:
        """Return the tokens for a trainer's environment: variable to token.

        Args:
            said: The variables of the environment and of the plan; a token that stands there wins.

        Raises:
            KeyringRefused: A token lies in the keyring, which does not hand it out.
        """
        wanted = {SECRET_ARGUMENTS[name]: name for name in self._wanted(said)}
        tokens = {variable: self.get(name) for variable, name in wanted.items()}
        return {variable: token for variable, token in tokens.items() if token}

    def for_preview(self, said: Mapping[str, str]) -> dict[str, str]:
        """Return what stands for the tokens where a command is only shown; asks no keyring."""
        return {SECRET_ARGUMENTS[name]: HIDDEN for name in self._wanted(said)}

    def _wanted(self, said: Mapping[str, str]) -> list[str]:
        stands = {ARGUMENT_OF_VARIABLE.get(variable) for variable, value in said.items() if value}
        return [name for name in self.known() if name not in stands]

    def _kept(self) -> tuple[str, ...]:
        with contextlib.suppress(CannotRead, ValidationError):
            return tuple(
                name
                for name in _Kept.model_validate(read_json(self._index)).names
                if name in SECRET_ARGUMENTS
            )
        return ()

    def _note(self, name: str, *, kept: bool) -> None:
        names = [other for other in self._kept() if other != name]
        # What cannot be noted is asked for again at the next start.
        with contextlib.suppress(CannotWrite):
            entry = _Kept(names=(*names, name) if kept else tuple(names))
            write_atomically(self._index, entry.model_dump_json(by_alias=True))

    def _ask(self, name: str, ask: Callable[[KeyringBackend], T]) -> T:
        """Ask the keyring something about a token; the lock is held.

        Raises:
            KeyringRefused: There is none, or it does not do it.
        """
        backend = self._usable()
        if backend is None:
            raise KeyringRefused(name, self.problem)
        try:
            return within(self._patience, lambda: ask(backend))
        except TimeoutError as error:
            self._backend, self._problem = None, _("it does not answer")
            raise KeyringRefused(name, self._problem) from error
        except Exception as error:  # whatever a backend of somebody else raises
            raise KeyringRefused(name, _words_of(error)) from error

    def _usable(self) -> KeyringBackend | None:
        if self._backend is None and self._problem is None:
            try:
                self._backend = within(self._patience, _found_backend)
            except TimeoutError:
                self._problem = _("it does not answer")
            except Exception as error:  # noqa: BLE001 - whatever a backend of somebody else raises
                self._problem = _words_of(error)
            else:
                self._problem = None if self._backend else _("none was found")
        return self._backend


def kept_words(name: str, place: Place, problem: str) -> str:
    """Return what became of a token, in a sentence.

    Args:
        name: The trainer's argument.
        place: Where it is kept now.
        problem: Why no keyring is used.
    """
    if place == "keyring":
        text = _("The token of {name} is in the system's keyring now; runs get it by their environment.")
        return text.format(name=name)
    text = _(
        "The token of {name} is kept in memory until this program ends, for the system's keyring cannot be "
        "used: {problem}."
    )
    return text.format(name=name, problem=problem)


def _found_backend() -> KeyringBackend | None:
    """Return the keyring of this system; None when there is none that keeps anything."""
    import keyring
    from keyring.backends import fail, null

    backend = keyring.get_keyring()
    return None if isinstance(backend, (fail.Keyring, null.Keyring)) else backend


def _put(backend: KeyringBackend, name: str, token: str) -> None:
    backend.set_password(SERVICE, name, token)
    if backend.get_password(SERVICE, name) != token:
        raise OSError(_("it does not give back what was put into it"))


def _take_out(backend: KeyringBackend, name: str) -> None:
    if backend.get_password(SERVICE, name) is not None:
        backend.delete_password(SERVICE, name)


def _words_of(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
