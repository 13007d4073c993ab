"""The first page, by clicking: a trainer, practice, a setup that is brought, what was done lately."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import sight
from fake_trainers import SCRIPT, hide_other_trainers, make_checkout
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot
from window_parts import Parts, fake_machine, one_gpu
from written_runs import write_run

from gui.engine.errors import TorchNotFetched
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.plan_file import load_plan
from gui.engine.trainer.practice import TorchFetch
from gui.window.bridges.tasks import Tasks
from gui.window.pages.start.install_guide import install_steps
from gui.window.pages.start.start_page import StartPage
from gui.window.theme.icons import Icons

SLOW = "import time\ntime.sleep(60)\n" + SCRIPT
NEEDED = TorchFetch(requirement="torch==2.13.0", megabytes=203, least_megabytes=203, free_bytes=None)

Drop = Callable[[QWidget, Sequence[Path]], None]


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    place = fake_machine(tmp_path)
    hide_other_trainers(monkeypatch, place)
    return place


@pytest.fixture
def parts(qtbot: QtBot, tasks: Tasks, home: Home) -> Iterator[Parts]:
    made = Parts(home, tasks)
    yield made
    made.close()


@pytest.fixture
def page(parts: Parts, icons: Icons, show: Callable[..., QWidget]) -> StartPage:
    """Return the page of a machine on which nothing was looked for yet."""
    return show(
        StartPage(
            trainers=parts.trainers,
            hardware=parts.hardware,
            runs=parts.runs,
            recents=parts.recents,
            tasks=parts.tasks,
            icons=icons,
            home=parts.home,
        )
    )


def seen(page: QWidget, name: str) -> str:
    """Return the visible text of something, empty where it is not visible."""
    return sight.says(page, name)


def words_in(page: QWidget, name: str) -> str:
    return sight.says(page, name)


def click(page: QWidget, name: str, qtbot: QtBot) -> None:
    sight.click(qtbot, page, name)


def test_that_the_search_is_seen_and_then_what_was_found(page, parts, qtbot, machine):
    make_checkout(machine / "kohya_ss" / "sd-scripts")
    (machine / "kohya_ss" / "kohya_gui.py").touch()
    assert seen(page, "door-trainer-text") == "Finding trainers and GPUs …"
    assert sight.sees(page, "door-trainer-busy")
    parts.gpus.samples = one_gpu().samples
    parts.start(qtbot)
    assert seen(page, "door-trainer-chip") == "✓ found"
    told = "0.10.1 in kohya_ss, torch 2.8 with CUDA 12.8, RTX 3060 12 GB, bf16 works."
    assert seen(page, "door-trainer-text") == told
    assert not sight.sees(page, "door-trainer-busy")
    with qtbot.waitSignal(page.new_plan):
        click(page, "door-trainer-new", qtbot)


def test_that_the_search_can_be_called_off_and_done_again(page, parts, qtbot, machine):
    script = make_checkout(machine / "sd-scripts", script=SLOW) / "train_network.py"
    with qtbot.waitSignal(parts.trainers.progress, timeout=20_000):
        parts.trainers.start()
    click(page, "door-trainer-cancel", qtbot)
    qtbot.waitUntil(lambda: seen(page, "door-trainer-again") == "Look again")
    script.write_text(SCRIPT)
    click(page, "door-trainer-again", qtbot)
    qtbot.waitUntil(lambda: seen(page, "door-trainer-chip") == "✓ found", timeout=20_000)


def test_that_problems_of_a_trainer_are_named(page, parts, qtbot, machine):
    root = make_checkout(machine / "sd-scripts")
    (root / "sdxl_train_network.py").write_text("import nothing_like_it\n" + SCRIPT)
    parts.start(qtbot)
    assert seen(page, "door-trainer-chip") == "! found, with problems"
    assert "sdxl_train_network.py cannot be used" in seen(page, "door-trainer-trouble")
    assert "nothing_like_it" in seen(page, "door-trainer-trouble")


def test_that_a_trainer_that_cannot_run_says_why(page, parts, qtbot, machine):
    make_checkout(machine / "sd-scripts", script="import nothing_like_it\n" + SCRIPT)
    parts.start(qtbot)
    assert seen(page, "door-trainer-chip") == "× cannot be used"
    assert "nothing_like_it" in seen(page, "door-trainer-trouble")


def test_that_another_trainer_can_be_chosen(page, parts, qtbot, machine):
    make_checkout(machine / "sd-scripts")
    other = make_checkout(machine / "sd-scripts-2")
    (other / "README.md").write_text("- **Version 0.9.1 (2025-01-01):**\n")
    parts.start(qtbot)
    choice = page.findChild(QComboBox, "door-trainer-others")
    assert choice.isVisible()
    choice.setFocus()
    qtbot.keyClick(choice, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: seen(page, "door-trainer-text").startswith("0.9.1"), timeout=20_000)


def test_that_none_found_shows_how_to_install_and_takes_a_folder(page, parts, qtbot, machine, tmp_path):
    parts.start(qtbot)
    assert seen(page, "door-trainer-chip") == "not found"
    click(page, "door-trainer-guide", qtbot)
    assert "git clone" in seen(page, "guide-command-1")
    click(page, "guide-copy-1", qtbot)
    assert QGuiApplication.clipboard().text() == seen(page, "guide-command-1")
    field = page.findChild(QLineEdit, "guide-folder")
    qtbot.keyClicks(field, str(tmp_path / "nothing"))
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "does not exist" in seen(page, "guide-trouble"))
    place = make_checkout(tmp_path / "far away" / "sd-scripts")
    field.clear()
    qtbot.keyClicks(field, str(place))
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: seen(page, "door-trainer-chip") == "✓ found", timeout=20_000)
    assert not sight.sees(page, "install-guide")


def test_that_the_guide_looks_again_and_closes(page, parts, qtbot, machine):
    parts.start(qtbot)
    click(page, "door-trainer-guide", qtbot)
    click(page, "guide-close", qtbot)
    assert not sight.sees(page, "install-guide")
    click(page, "door-trainer-guide", qtbot)
    make_checkout(machine / "sd-scripts")
    click(page, "guide-again", qtbot)
    qtbot.waitUntil(lambda: seen(page, "door-trainer-chip") == "✓ found", timeout=20_000)


@pytest.mark.parametrize(("windows", "words"), [(True, r".\venv\Scripts\activate"), (False, "source venv")])
def test_that_the_steps_are_those_of_the_system(windows, words):
    assert any(words in command for _text, command in install_steps(windows))


def test_that_a_folder_can_be_dropped_on_the_door(page, parts, qtbot, drop: Drop, tmp_path):
    parts.start(qtbot)
    place = make_checkout(tmp_path / "elsewhere" / "sd-scripts")
    door = page.findChild(QWidget, "door-trainer")
    drop(door, [tmp_path])
    qtbot.waitUntil(lambda: "train_network.py" in seen(page, "door-trainer-trouble"))
    drop(door, [place])
    qtbot.waitUntil(lambda: seen(page, "door-trainer-chip") == "✓ found", timeout=20_000)


def test_that_practice_is_the_calm_way_where_no_gpu_is(page, parts, qtbot):
    parts.start(qtbot)
    qtbot.waitUntil(lambda: "No GPU is seen here" in seen(page, "door-practice-text"))
    assert page.findChild(QWidget, "door-practice-start").property("kind") == "primary"


@pytest.mark.torch
def test_that_practice_gets_a_plan_ready(page, parts, qtbot, home):
    pytest.importorskip("torch")
    parts.start(qtbot)
    with qtbot.waitSignal(page.practise, timeout=60_000) as told:
        click(page, "door-practice-start", qtbot)
        assert sight.sees(page, "door-practice-busy")
    plan = load_plan(told.args[0])
    assert plan.path.is_relative_to(home.root)
    assert plan.plan.trainer == "practice"
    assert seen(page, "door-practice-start")


def test_that_torch_is_fetched_only_after_a_yes_that_knows_how_much(page, parts, qtbot, monkeypatch):
    parts.start(qtbot)
    fetched = []

    def fetch(_home: Home, *, progress: Callable[..., None], cancelled: Callable[[], bool]) -> None:
        progress("fetching torch", 101_000, 203_000)
        while not cancelled() and not fetched:
            pass
        raise TorchNotFetched("no-network")

    monkeypatch.setattr("gui.window.bridges.practice.practice_trainer", lambda *_words, **_more: None)
    monkeypatch.setattr("gui.window.bridges.practice.torch_needed", lambda: NEEDED)
    monkeypatch.setattr("gui.window.bridges.practice.fetch_torch", fetch)
    click(page, "door-practice-start", qtbot)
    qtbot.waitUntil(lambda: "203 MB" in words_in(page, "door-practice-ask"))
    click(page, "door-practice-ask-no", qtbot)
    assert seen(page, "door-practice-start")
    click(page, "door-practice-start", qtbot)
    qtbot.waitUntil(lambda: sight.sees(page, "door-practice-ask-yes"))
    click(page, "door-practice-ask-yes", qtbot)
    qtbot.waitUntil(lambda: "101 of 203 MB, fetching torch" in words_in(page, "door-practice-busy"))
    click(page, "door-practice-cancel", qtbot)
    qtbot.waitUntil(lambda: seen(page, "door-practice-start") == "Start practice")
    assert seen(page, "door-practice-trouble") == ""
    click(page, "door-practice-start", qtbot)
    qtbot.waitUntil(lambda: sight.sees(page, "door-practice-ask-yes"))
    fetched.append(True)
    click(page, "door-practice-ask-yes", qtbot)
    qtbot.waitUntil(lambda: "no network" in seen(page, "door-practice-trouble"))


def test_that_a_borrowed_python_is_remembered(page, parts, qtbot, home, monkeypatch):
    from gui.engine.trainer.choosing import choose_install
    from gui.engine.trainer.installs import practice_install

    parts.start(qtbot)
    borrowed = practice_install(Path(sys.executable).parent / Path(sys.executable).name)
    borrowed = borrowed.model_copy(update={"python": Path(sys.executable).resolve()})
    trainer = type("Borrowed", (), {"install": borrowed})
    monkeypatch.setattr("gui.window.bridges.practice.practice_trainer", lambda *_words, **_more: trainer)
    with qtbot.waitSignal(page.practise):
        click(page, "door-practice-start", qtbot)
    assert choose_install(home, trainer="practice").python == borrowed.python


def test_that_a_plan_is_opened_by_drop_and_by_paste(page, parts, qtbot, drop: Drop, tmp_path, home):
    parts.start(qtbot)
    plan = tmp_path / "plan.toml"
    plan.write_text('schema = 1\nname = "ink"\nfamily = "sd15"\n')
    with qtbot.waitSignal(page.setup_read) as told:
        drop(page.findChild(QWidget, "door-setup"), [plan])
    assert told.args[0].file.path == plan
    QGuiApplication.clipboard().setText('schema = 1\nname = "ink"\nfamily = "sd15"\n[arguments]\nseed = 1\n')
    with qtbot.waitSignal(page.setup_read) as told:
        click(page, "door-setup-paste", qtbot)
    assert told.args[0].file.plan.arguments == {"seed": 1}
    QGuiApplication.clipboard().setText(f'"{plan}"')
    with qtbot.waitSignal(page.setup_read) as told:
        qtbot.keyClick(page, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert told.args[0].file.path == plan


def test_that_a_pasted_command_becomes_a_plan_and_its_token_is_kept_nowhere(page, parts, qtbot, home):
    parts.start(qtbot)
    command = "accelerate launch train_network.py --network_dim=8 --huggingface_token=hf_abcdefghijklmnop"
    QGuiApplication.clipboard().setText(command)
    with qtbot.waitSignal(page.setup_read) as told:
        click(page, "door-setup-paste", qtbot)
    assert told.args[0].file.plan.arguments == {"network_dim": 8}
    kept = [path for path in home.root.rglob("*") if path.is_file() and b"hf_abcdef" in path.read_bytes()]
    assert kept == []


def test_that_a_list_of_arguments_asks_for_its_script(page, parts, qtbot, tmp_path):
    parts.start(qtbot)
    QGuiApplication.clipboard().setText("--network_module=networks.lora\n--max_train_steps=100\n")
    click(page, "door-setup-paste", qtbot)
    qtbot.waitUntil(lambda: sight.sees(page, "door-setup-script"))
    with qtbot.waitSignal(page.setup_read) as told:
        click(page, "door-setup-go-on", qtbot)
    assert told.args[0].file.plan.arguments["max_train_steps"] == 100


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("kohya.json", '{"a": 1}', "JSON"),
        ("train.bat", "accelerate launch x", "script"),
        ("x.txt", "?", "no list"),
    ],
)
def test_that_what_cannot_be_read_is_told(page, parts, qtbot, drop: Drop, tmp_path, name, content, words):
    parts.start(qtbot)
    (tmp_path / name).write_text(content)
    drop(page.findChild(QWidget, "door-setup"), [tmp_path / name])
    qtbot.waitUntil(lambda: words in seen(page, "door-setup-trouble"))


def test_that_an_empty_clipboard_is_told(page, parts, qtbot):
    QGuiApplication.clipboard().clear()
    click(page, "door-setup-paste", qtbot)
    assert "no text" in seen(page, "door-setup-trouble")


def test_that_runs_and_plans_of_late_are_opened_by_click_and_key(page, parts, qtbot, home, tmp_path):
    run = write_run(home, "ink_style")
    write_run(home, "mira", verdict="stopped", reason="guard", age_days=3)
    plan = tmp_path / "ink.toml"
    plan.write_text("")
    parts.recents.add(plan, TrainingPlan.model_validate({"name": "ink plan", "family": "sd15"}))
    parts.recents.add(tmp_path / "gone.toml", TrainingPlan.model_validate({"name": "gone", "family": "sd15"}))
    parts.start(qtbot)
    told = words_in(page, "lately-runs")
    assert "✓ finished\nink_style\nStable Diffusion XL · 1,000 steps · loss 0.112" in told
    assert "yesterday, 2 h 10 min" in told
    assert "■ stopped by the guard\nmira" in told
    with qtbot.waitSignal(page.open_run) as opened:
        click(page, f"lately-run-{run.name}", qtbot)
    assert opened.args == [run.path]
    page.hide()
    page.show()
    qtbot.waitUntil(lambda: "ink plan" in words_in(page, "lately-plans"))
    assert "gone" not in words_in(page, "lately-plans")
    with qtbot.waitSignal(page.open_setup) as opened:
        qtbot.keyClick(page.findChild(QWidget, "lately-plan-0"), Qt.Key.Key_Return)
    assert opened.args == [str(plan), None]


def test_that_nothing_of_late_shows_no_empty_cards(page, parts, qtbot):
    parts.start(qtbot)
    assert not sight.sees(page, "lately-runs")
    assert not sight.sees(page, "lately-plans")


@pytest.mark.parametrize("windows", [True, False])
def test_that_the_guide_names_no_package_index(windows):
    commands = [command for _words, command in install_steps(windows)]
    assert not any("index-url" in command or "whl" in command for command in commands)
    assert any("torch" in command for command in commands)
