"""The card of ways on and the tree of tries: what they show, and what a click asks for."""

from __future__ import annotations

from pathlib import Path

import pytest
from ended_runs import ended
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from gui.engine.errors import PlanNotRunnable
from gui.engine.findings import Finding
from gui.engine.runs.clean_points import CleanPoint
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.recovery_chain import ChainRun
from gui.engine.runs.recovery_models import ChangeRow, Recovery, RecoveryTry
from gui.engine.runs.status import RunStatus, Verdict
from gui.window.bridges import recoverer
from gui.window.bridges.recoverer import Recoverer
from gui.window.pages.run.chain_card import ChainCard
from gui.window.pages.run.recovery_card import RecoveryButtons, RecoveryCard, has_ways
from gui.window.pages.run.recovery_desk import RecoveryDesk
from gui.window.pages.run.verdict_card import VerdictCard

POINT = CleanPoint(path=Path("/out/m-state"), step=400, kind="state", sentence="State of step 400.")
GO_ON = RecoveryTry(
    id="go-on",
    title="Go on, from step 400",
    effect="Nothing else is changed.",
    changes={"resume": "/out/m-state"},
    rows=(ChangeRow(target="resume", after=str(Path("/out/m-state").absolute())),),
    point=POINT,
)
SLOWER = GO_ON.model_copy(update={"id": "half-rate", "title": "Half the rate", "cautions": ("It is hot.",)})
STOPPED = Recovery(
    run="r",
    kind="stopped",
    happened="Stopped.",
    point=POINT,
    point_words="State of step 400.",
    tries=(GO_ON, SLOWER),
    by_hand=("Make room.",),
    left_out=("This would be refused.",),
)


def words(part: QWidget) -> str:
    return "\n".join(label.text() for label in part.findChildren(QLabel) if label.isVisible())


def button(part: QWidget, name: str) -> QPushButton:
    return next(each for each in part.findChildren(QPushButton, name) if each.isVisible())


def test_that_a_stopped_run_leads_on_from_its_verdict(show, icons, qapp, qtbot) -> None:
    card, verdict = RecoveryCard(), VerdictCard(icons, qapp.clipboard())
    card.show_recovery(STOPPED)
    ways = RecoveryButtons(STOPPED, card)
    show(verdict, 700, 200)
    verdict.show_verdict(
        Verdict(verdict="stopped", reason="user", sentence="Stopped."), told=False, ways=ways
    )
    show(card, 700, 700)
    card.hide()
    assert button(verdict, "run-first-try").text() == "Go on, from step 400"
    with qtbot.waitSignal(card.plan_wanted, timeout=2000) as told:
        qtbot.mouseClick(button(verdict, "run-first-try"), Qt.MouseButton.LeftButton)
    assert told.args == [GO_ON]
    qtbot.mouseClick(button(verdict, "run-other-ways"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(card.isVisible, timeout=2000)
    said = words(card)
    for text in ("State of step 400.", "resume: – → m-state", "! It is hot.", "Make room.", "be refused."):
        assert text in said
    with qtbot.waitSignal(card.launch_wanted, timeout=2000) as told:
        qtbot.mouseClick(button(card, "run-try-half-rate-launch"), Qt.MouseButton.LeftButton)
    assert told.args == [SLOWER, ()]
    card.set_busy(True)
    assert not button(card, "run-try-half-rate-launch").isEnabled()
    card.say_refused("Nothing was started. The disk is full.")
    qtbot.waitUntil(lambda: "The disk is full." in words(card), timeout=2000)
    card.show_recovery(None)
    qtbot.waitUntil(card.isHidden, timeout=2000)
    verdict.show_verdict(None, told=False)
    assert not verdict.findChildren(QPushButton, "run-first-try") or not verdict.isVisible()


def test_that_a_danger_right_before_a_try_is_asked_about(show, qtbot, tasks, monkeypatch) -> None:
    needed, launched = ["vram", "output-exists"], []

    def launch(_run: RunFolder, shown: RecoveryTry, accepted: tuple[str, ...]) -> RunFolder:
        missing = [name for name in needed if name not in accepted][:1]
        if missing:
            raise PlanNotRunnable([Finding(id=missing[0], severity="danger", title=f"{missing[0]}!")])
        launched.append((shown, accepted))
        return RunFolder(Path("/runs/next"))

    monkeypatch.setattr(recoverer, "_launch", launch)
    desk = RecoveryDesk(tasks)
    desk.begin(RunFolder(Path("/runs/r")))
    card = desk.card
    card.show_recovery(STOPPED)
    show(card, 700, 700)
    qtbot.mouseClick(button(card, "run-try-half-rate-launch"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "• vram!" in words(card))
    assert "Half the rate: One thing is likely to go wrong." in words(card)
    qtbot.mouseClick(button(card, "run-recovery-dangers-yes"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "• output-exists!" in words(card))
    with qtbot.waitSignal(desk.launched):
        qtbot.mouseClick(button(card, "run-recovery-dangers-yes"), Qt.MouseButton.LeftButton)
    assert launched == [(SLOWER, ("vram", "output-exists"))]
    qtbot.waitUntil(card.ask.isHidden)


@pytest.mark.parametrize(
    ("recovery", "has"),
    [(None, False), (STOPPED, True), (Recovery(run="r", kind="fine", happened=""), False)],
)
def test_that_there_is_a_card_only_where_there_is_something_to_say(
    recovery: Recovery | None, has: bool
) -> None:
    assert has_ways(recovery) is has


def test_that_the_chain_shows_what_each_try_changed_and_opens_it(show, qtbot) -> None:
    card = show(ChainCard(), 800, 300)
    second = ChainRun(run="b", words="unet_lr 0.0001", by_itself=True, state="running")
    first = ChainRun(
        run="a", state="ended", verdict="stopped", reason="guard", step=51, total=60, tries=(second,)
    )
    card.show_chain(first, "a")
    qtbot.waitUntil(lambda: "● not over" in words(card), timeout=5000)
    said = words(card)
    for text in ("× stopped by the guard", "step 51 of 60", "the first try"):
        assert text in said
    assert button(card, "run-chain-b-open").text() == "unet_lr 0.0001 (by itself)"
    with qtbot.waitSignal(card.open_wanted, timeout=2000) as told:
        qtbot.mouseClick(button(card, "run-chain-b-open"), Qt.MouseButton.LeftButton)
    assert told.args == ["b"]
    card.show_chain(ChainRun(run="a"), "a")
    qtbot.waitUntil(card.isHidden, timeout=2000)


def test_that_a_choice_is_done_once_and_only_as_long_as_it_is_what_was_shown(tmp_path, tasks, qtbot) -> None:
    run = ended(tmp_path)
    recoverer = Recoverer(tasks)
    said: dict[str, list[object]] = {"found": [], "ready": [], "refused": []}
    recoverer.found.connect(said["found"].append)
    recoverer.plan_ready.connect(lambda _run, chosen: said["ready"].append(chosen))
    recoverer.refused.connect(said["refused"].append)
    recoverer.begin(run)
    recoverer.look(RunStatus.read(run.status))
    qtbot.waitUntil(lambda: len(said["found"]) == 2, timeout=20_000)
    shown = said["found"][1].tries[0]
    for _click in range(2):
        recoverer.open_plan(shown)
    qtbot.waitUntil(lambda: tasks.busy == 0, timeout=20_000)
    assert said["ready"] == [shown]

    shown.point.path.unlink()
    recoverer.open_plan(shown)
    qtbot.waitUntil(lambda: len(said["refused"]) == 2, timeout=20_000)
    assert said["ready"] == [shown]
    assert said["found"][2].tries[0].point is None, "what can be tried now is shown"

    recoverer.open_plan(said["found"][2].tries[0])
    recoverer.begin(RunFolder(tmp_path / "another"))
    qtbot.waitUntil(lambda: tasks.busy == 0, timeout=20_000)
    assert said["ready"] == [shown], "nothing is opened over another run"
