"""Tokens lie in the system's keyring, else in memory and it is said; no file has them, nothing waits long."""

from __future__ import annotations

import json
from pathlib import Path

import keyring
import pytest
from file_keyring import MOOD
from hypothesis import given
from hypothesis import strategies as st
from keyring.backends import fail, null

from gui.engine.errors import CannotRead, KeyringRefused, NotAToken
from gui.engine.paths import Home
from gui.engine.patience import within
from gui.engine.redaction import HIDDEN, Secret
from gui.engine.token_store import SERVICE, TokenStore, kept_words

TOKEN = "hf_" + "a1B2" * 8
NAME = "huggingface_token"


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def no_keyring(request: pytest.FixtureRequest):
    """Have the library's own backend for systems without a keyring, or one that keeps nothing."""
    before = keyring.get_keyring()
    keyring.set_keyring(request.param())
    yield
    keyring.set_keyring(before)


def test_that_a_token_lies_in_the_keyring_and_in_no_file_of_ours(home: Home, keyring_file: Path) -> None:
    store = TokenStore(home)
    assert store.known() == {}
    assert store.get(NAME) is None
    assert store.keep(NAME, TOKEN) == "keyring"
    assert json.loads(keyring_file.read_text()) == {f"{SERVICE}/{NAME}": TOKEN}
    assert TOKEN.encode() not in everything(home.root)
    again = TokenStore(home)
    assert again.known() == {NAME: "keyring"}
    assert again.get(NAME) == TOKEN
    assert again.look()
    assert not again.problem
    assert TOKEN not in kept_words(NAME, "keyring", "")


def test_that_a_newer_token_replaces_the_older_one_and_forgetting_removes_it(
    home: Home, keyring_file: Path
) -> None:
    store = TokenStore(home)
    store.keep(NAME, TOKEN)
    store.keep(NAME, TOKEN[::-1])
    assert store.get(NAME) == TOKEN[::-1]
    store.forget(NAME)
    assert store.known() == {}
    assert json.loads(keyring_file.read_text()) == {}
    store.forget(NAME)  # once more is no fault


@pytest.mark.parametrize("no_keyring", [fail.Keyring, null.Keyring], indirect=True)
def test_that_without_a_keyring_a_token_lives_as_long_as_the_program(home: Home, no_keyring: None) -> None:
    store = TokenStore(home)
    assert store.keep(NAME, TOKEN) == "memory"
    assert store.problem in kept_words(NAME, "memory", store.problem)
    assert store.known() == {NAME: "memory"}
    assert store.for_run({}) == {"HF_TOKEN": TOKEN}
    assert not store.look()
    assert TOKEN.encode() not in everything(home.root)
    assert TokenStore(home).known() == {}
    store.forget(NAME)
    assert store.get(NAME) is None


@pytest.mark.parametrize("mood", ["locked", "forgetful"])
def test_that_a_keyring_that_does_not_keep_is_no_place(
    home: Home, keyring_file: Path, monkeypatch, mood: str
) -> None:
    monkeypatch.setenv(MOOD, mood)
    store = TokenStore(home)
    assert store.keep(NAME, TOKEN) == "memory"
    assert store.problem
    monkeypatch.delenv(MOOD)
    assert store.keep(NAME, TOKEN) == "keyring"  # it was unlocked since
    assert store.known() == {NAME: "keyring"}
    assert not store.problem


def test_that_a_keyring_that_never_answers_is_asked_once(home: Home, keyring_file: Path, monkeypatch) -> None:
    TokenStore(home).keep(NAME, TOKEN)
    monkeypatch.setenv(MOOD, "asleep")
    store = TokenStore(home, patience_seconds=0.1)
    with pytest.raises(KeyringRefused) as refused:
        store.get(NAME)
    monkeypatch.delenv(MOOD)
    assert NAME in str(refused.value)
    with pytest.raises(KeyringRefused):
        store.for_run({})
    assert store.keep(NAME, TOKEN) == "memory"
    assert store.get(NAME) == TOKEN


def test_that_what_a_keyring_says_of_a_token_is_not_repeated(
    home: Home, keyring_file: Path, monkeypatch
) -> None:
    def refuse(*given: str) -> None:
        raise RuntimeError(f"cannot keep {given[-1]}")

    monkeypatch.setattr(type(keyring.get_keyring()), "set_password", refuse)
    store = TokenStore(home)
    assert store.keep("wandb_api_key", TOKEN[3:]) == "memory"
    assert store.problem == f"cannot keep {HIDDEN}"


def test_that_a_locked_keyring_keeps_a_run_from_starting_without_its_token(
    home: Home, keyring_file: Path, monkeypatch
) -> None:
    store = TokenStore(home)
    store.keep(NAME, TOKEN)
    monkeypatch.setenv(MOOD, "locked")
    with pytest.raises(KeyringRefused, match="locked"):
        store.for_run({})
    with pytest.raises(KeyringRefused):
        store.forget(NAME)
    assert store.known() == {NAME: "keyring"}


@pytest.mark.parametrize("variable", ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"])
def test_that_a_token_of_the_environment_stands_and_the_keyring_is_not_asked(
    home: Home, keyring_file: Path, monkeypatch, variable: str
) -> None:
    store = TokenStore(home)
    store.keep(NAME, TOKEN)
    monkeypatch.setenv(MOOD, "locked")
    assert store.for_run({variable: "another"}) == {}
    assert store.for_preview({variable: "another"}) == {}
    assert store.for_preview({variable: ""}) == {"HF_TOKEN": HIDDEN}


def test_that_what_was_taken_out_of_the_keyring_elsewhere_is_known_no_more(
    home: Home, keyring_file: Path
) -> None:
    store = TokenStore(home)
    store.keep(NAME, TOKEN)
    keyring_file.unlink()
    assert store.for_run({}) == {}
    assert store.known() == {}


@pytest.mark.parametrize("text", ["", "short", "two words of it", "tab\there12", "x" * 2000, "umläute-here"])
def test_that_what_cannot_be_a_token_is_not_kept(home: Home, text: str) -> None:
    with pytest.raises(NotAToken) as refused:
        TokenStore(home).keep(NAME, text)
    assert not text or text not in str(refused.value)


@pytest.mark.parametrize("content", ["{", "[]", '{"schema": 1, "names": 3}', '{"names": ["something else"]}'])
def test_that_a_damaged_list_counts_as_empty(home: Home, content: str) -> None:
    home.root.mkdir(parents=True)
    home.tokens.write_text(content)
    assert TokenStore(home).known() == {}


def test_that_a_broken_library_is_no_reason_to_fail(home: Home, monkeypatch) -> None:
    def broken() -> None:
        raise RuntimeError("no bus\n could be found.")

    monkeypatch.setattr(keyring, "get_keyring", broken)
    store = TokenStore(home)
    assert store.look() == ""
    assert store.problem == "no bus could be found"


def test_that_a_library_that_hangs_is_not_waited_for(home: Home, monkeypatch, keyring_file: Path) -> None:
    monkeypatch.setattr(keyring, "get_keyring", lambda: within(0.3, lambda: __import__("time").sleep(0.2)))
    store = TokenStore(home, patience_seconds=0.01)
    assert store.look() == ""
    assert store.problem


def test_that_a_list_that_cannot_be_written_costs_nothing_now(home: Home, keyring_file: Path) -> None:
    home.root.parent.mkdir(exist_ok=True)
    home.root.write_text("no folder")
    assert TokenStore(home).keep(NAME, TOKEN) == "keyring"


def test_that_errors_of_what_is_waited_for_come_through() -> None:
    def fails() -> None:
        raise CannotRead(Path("x"), "y")

    assert within(5, lambda: 3) == 3
    with pytest.raises(CannotRead):
        within(5, fails)


@given(st.text())
def test_that_a_secret_never_prints(text: str) -> None:
    secret = Secret(text)
    assert repr(secret) == str(secret) == f"{secret}" == HIDDEN
    assert secret == Secret(text)
    assert len({secret, Secret(text)}) == 1
