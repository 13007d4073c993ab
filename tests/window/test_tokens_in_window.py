"""Tokens in the window: kept in the keyring or said to be in memory only, moved out of plans, never shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from file_keyring import MOOD
from plan_window import OneTrainer, open_document
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.plan_file import load_plan
from gui.engine.preflight.tokens import check_tokens
from gui.engine.redaction import HIDDEN, Secret
from gui.engine.token_store import SERVICE, TokenStore
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.models.arguments_model import Column
from gui.window.pages.arguments.step import ArgumentsStep
from gui.window.pages.settings.tokens_card import TokensCard
from gui.window.theme.icons import Icons

TOKEN = "hf_" + "q7W2" * 8
NAME = "huggingface_token"


def kept(keyring_file: Path) -> dict[str, str]:
    return json.loads(keyring_file.read_text("utf-8")) if keyring_file.exists() else {}


class Card:
    """The card of the settings, and hands and eyes."""

    def __init__(self, qtbot: QtBot, widget: QWidget, tokens: Tokens) -> None:
        self.qtbot, self.widget, self.tokens = qtbot, widget, tokens

    def find(self, name: str, kind: type[Any] = QWidget) -> Any:
        (found,) = self.widget.findChildren(kind, name)
        return found

    def put_in(self, text: str, name: str = NAME) -> None:
        field = self.find(f"token-{name}-field")
        self.qtbot.mouseClick(field, Qt.MouseButton.LeftButton)
        self.qtbot.keyClicks(field, text)

    def click(self, name: str) -> None:
        assert self.find(name).isEnabled()
        self.qtbot.mouseClick(self.find(name), Qt.MouseButton.LeftButton)

    def settle(self) -> None:
        self.qtbot.waitUntil(lambda: not self.tokens.busy(NAME) and not self.tokens._tasks.busy)

    def state(self, name: str = NAME) -> str:
        return self.find(f"token-{name}-state").text()

    def reads(self) -> str:
        fields = [each.displayText() for each in self.widget.findChildren(QLineEdit)]
        return "\n".join([each.text() for each in self.widget.findChildren(QLabel)] + fields)


@pytest.fixture
def card(qtbot: QtBot, show: Callable[..., QWidget], tokens: Tokens, theme: object) -> Card:
    widget = show(TokensCard(tokens), 700, 500)
    tokens.look()
    made = Card(qtbot, widget, tokens)
    made.settle()
    return made


def test_that_a_token_is_kept_and_forgotten_and_never_shown(keyring_file: Path, card: Card) -> None:
    assert "none" in card.state()
    assert not card.find(f"token-{NAME}-forget").isVisible()
    assert "keyring of this system" in card.find("tokens-place").text()
    card.put_in(TOKEN)
    assert TOKEN not in card.reads()
    card.click(f"token-{NAME}-keep")
    card.settle()
    assert kept(keyring_file) == {f"{SERVICE}/{NAME}": TOKEN}
    assert "in the keyring" in card.state()
    assert card.find(f"token-{NAME}-field").text() == ""
    assert "none" in card.state("wandb_api_key")
    card.click(f"token-{NAME}-forget")
    card.settle()
    assert kept(keyring_file) == {}
    assert "none" in card.state()


def test_that_enter_keeps_it_and_an_empty_field_keeps_nothing(
    keyring_file: Path, card: Card, qtbot: QtBot
) -> None:
    assert not card.find(f"token-{NAME}-keep").isEnabled()
    card.put_in(f" {TOKEN} ")
    qtbot.keyClick(card.find(f"token-{NAME}-field"), Qt.Key.Key_Return)
    card.settle()
    assert kept(keyring_file) == {f"{SERVICE}/{NAME}": TOKEN}
    qtbot.keyClick(card.find(f"token-{NAME}-field"), Qt.Key.Key_Return)
    card.settle()
    assert kept(keyring_file) == {f"{SERVICE}/{NAME}": TOKEN}


def test_that_without_a_keyring_it_is_said_how_long_a_token_is_kept(card: Card, qtbot: QtBot) -> None:
    assert "in memory until this window is closed" in card.find("tokens-place").text()
    card.put_in(TOKEN)
    with qtbot.waitSignal(card.tokens.said) as said:
        card.click(f"token-{NAME}-keep")
    assert "until this program ends" in said.args[0]
    card.settle()
    assert "until this window is closed" in card.state()


def test_that_what_is_no_token_stays_in_the_field_with_the_reason(card: Card) -> None:
    card.put_in("too short"[:5])
    card.click(f"token-{NAME}-keep")
    card.settle()
    assert "no token" in card.find(f"token-{NAME}-trouble").text()
    assert card.find(f"token-{NAME}-field").text() == "too s"
    card.put_in("x")
    assert not card.find(f"token-{NAME}-trouble").isVisible()


def test_that_a_keyring_that_refuses_to_forget_says_so(
    keyring_file: Path, card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    card.put_in(TOKEN)
    card.click(f"token-{NAME}-keep")
    card.settle()
    monkeypatch.setenv(MOOD, "locked")
    card.click(f"token-{NAME}-forget")
    card.settle()
    assert "locked" in card.find(f"token-{NAME}-trouble").text()
    assert "in the keyring" in card.state()


def test_that_a_variable_of_the_environment_is_said_to_win(
    tokens: Tokens, show: Callable[..., QWidget], theme: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    widget = show(TokensCard(tokens), 700, 500)
    (state,) = widget.findChildren(QLabel, f"token-{NAME}-state")
    assert "HF_TOKEN is set, and wins" in state.text()


# Among all arguments.


@pytest.fixture
def step(
    qtbot: QtBot, show: Callable[..., Any], icons: Icons, home: Home, tokens: Tokens, tmp_path: Path
) -> ArgumentsStep:
    document = open_document(home, TrainingPlan(name="x", family="sdxl"))
    made = ArgumentsStep(
        icons=icons,
        document=document,
        trainers=OneTrainer(None),  # type: ignore[arg-type]
        tokens=tokens,
    )
    page: ArgumentsStep = show(made, 1000, 700)
    yield page
    document.close()


def test_that_a_token_typed_among_the_arguments_goes_to_the_keyring_and_not_into_the_plan(
    keyring_file: Path, step: ArgumentsStep, tokens: Tokens, qtbot: QtBot, home: Home
) -> None:
    step.show_argument(NAME)
    (field,) = step.findChildren(QLineEdit, f"token-{NAME}-field")
    assert field.hasFocus()
    qtbot.keyClicks(field, TOKEN)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: NAME in tokens.known)
    assert kept(keyring_file) == {f"{SERVICE}/{NAME}": TOKEN}
    model = step.model
    row = model.row(NAME)
    assert row is not None
    assert model.document.plan.arguments == {}
    assert model.text(row, Column.VALUE) == HIDDEN
    assert model.text(row, Column.SOURCE) == "kept outside of plans"
    qtbot.waitUntil(lambda: not tokens._tasks.busy)
    assert TOKEN not in "".join(each.read_text("utf-8") for each in home.root.rglob("*.json"))


def test_that_a_token_in_a_plan_is_moved_and_the_file_is_to_be_saved(
    keyring_file: Path, home: Home, tokens: Tokens, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(
        f'family = "sdxl"\n[arguments]\n{NAME} = "{TOKEN}"\n[launch.env]\nHF_HOME = "x"\n', "utf-8"
    )
    document = open_document(home, TrainingPlan(name="x"))
    document.load(load_plan(path))
    assert not document.dirty
    (finding,) = check_tokens(document.plan)
    tokens.move(document, NAME, finding.fixes[0])
    qtbot.waitUntil(lambda: NAME not in document.plan.arguments)
    assert kept(keyring_file) == {f"{SERVICE}/{NAME}": TOKEN}
    assert document.dirty, "the file still has it"
    document.save()
    assert not document.dirty
    assert TOKEN not in path.read_text("utf-8")
    document.close()


def test_that_nothing_is_taken_out_of_another_plan_that_was_opened_meanwhile(
    keyring_file: Path, home: Home, tasks: Tasks, tmp_path: Path, qtbot: QtBot
) -> None:
    tokens = Tokens(TokenStore(home), tasks)
    document = open_document(home, TrainingPlan(name="x", arguments={NAME: TOKEN}))
    (finding,) = check_tokens(document.plan)
    tokens.move(document, NAME, finding.fixes[0])
    other = TrainingPlan(name="y", arguments={NAME: TOKEN[::-1]})
    document.new(other)
    qtbot.waitUntil(lambda: NAME in tokens.known)
    assert document.plan.arguments == other.arguments
    tokens.move(document, "env.HF_TOKEN", finding.fixes[0])  # not there: nothing happens
    assert not tokens.busy(NAME)
    tokens.keep({NAME: Secret("short")})
    with qtbot.waitSignal(tokens.failed):
        pass
    document.close()
