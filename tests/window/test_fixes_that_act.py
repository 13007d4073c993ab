"""Ways out that are no values of a plan: the program asks first, does it, and looks again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sight
from plan_window import OneTrainer, open_document
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from run_helper import make_run, status, wait_until

from gui.engine.dataset.report_findings import caption_finding
from gui.engine.errors import CannotEnd
from gui.engine.findings import Finding, Fix
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.actions import END_RUN
from gui.engine.preflight.tokens import check_tokens
from gui.engine.runs import end_run as end_run_module
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.lock import is_held
from gui.engine.runs.processes import tree_of
from gui.engine.runs.start import start_supervisor
from gui.window.bridges.checks import Checks
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.pages.review.findings_panel import FindingsPanel
from gui.window.pages.review.fixing_row import FixingRow
from gui.window.theme.icons import Icons

pytestmark = pytest.mark.usefixtures("no_leftovers")

TOKEN = "hf_" + "m4N8" * 8
FIX = Fix(id="end-run", label="end the run", changes={"action": END_RUN}, safe=False)


class Column:
    """Findings and what fixes have done, as they stand in the Review."""

    def __init__(self, qtbot: QtBot, fixing: FixingRow, panel: FindingsPanel, whole: QWidget) -> None:
        self.qtbot, self.fixing, self.panel, self.whole = qtbot, fixing, panel, whole
        self.looked: list[str] = []
        fixing.check_wanted.connect(lambda: self.looked.append("again"))

    def click(self, name: str) -> None:
        self.qtbot.waitUntil(lambda: sight.sees(self.whole, name))
        sight.click(self.qtbot, self.whole, name)

    def reads(self) -> str:
        return sight.says(self.whole)


@pytest.fixture
def column(
    qtbot: QtBot, show: Callable[..., QWidget], icons: Icons, home: Home, tasks: Tasks, tokens: Tokens
) -> Iterator[Column]:
    plan = TrainingPlan(name="x", family="sdxl", arguments={"huggingface_token": TOKEN})
    document = open_document(home, plan)
    checks = Checks(document, OneTrainer(None), tasks, home)  # type: ignore[arg-type]
    fixing, panel = FixingRow(document, checks, tokens, tasks, icons), FindingsPanel(document)
    panel.fix_wanted.connect(fixing.apply_one)
    whole = QWidget()
    layout = QVBoxLayout(whole)
    layout.addWidget(fixing)
    layout.addWidget(panel)
    show(whole, 700, 500)
    yield Column(qtbot, fixing, panel, whole)
    checks.close()
    document.close()


def left_over(folder: Path | str, title: str = "It lives on.") -> Finding:
    return Finding(
        id="proc-tree",
        severity="danger",
        title=title,
        detail="They hold 9.8 GiB.",
        where=str(folder),
        fixes=(FIX,),
    )


@pytest.fixture
def orphan(tmp_path: Path) -> RunFolder:
    """Return a run whose trainer is gone, of which a worker lives on."""
    run, order = make_run(tmp_path, "header(1); step(1, 1, .5); worker(own_session=True)")
    start_supervisor(run, order)
    wait_until(lambda: run.exit.exists() and tree_of(run.path).alive())
    pid = status(run).supervisor_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_held(run.lock))
    return run


def test_that_what_is_left_over_is_ended_after_a_yes_and_all_is_looked_at_again(
    column: Column, orphan: RunFolder, qtbot: QtBot
) -> None:
    column.panel.show_findings([left_over(orphan.path)])
    column.click("fix-end-run")
    assert "They hold 9.8 GiB." in column.reads()
    column.click("ask-end-run-no")
    assert tree_of(orphan.path).alive()
    column.click("fix-end-run")
    column.click("ask-end-run-yes")
    assert "Ending the run" in column.reads()
    qtbot.waitUntil(lambda: bool(column.looked), timeout=30_000)
    assert not tree_of(orphan.path).alive()
    assert "ended" in column.reads()


def test_that_a_run_that_is_gone_already_is_no_fault(column: Column, home: Home, qtbot: QtBot) -> None:
    column.panel.show_findings([left_over("20200101-000000-gone")])
    column.click("fix-end-run")
    column.click("ask-end-run-yes")
    qtbot.waitUntil(lambda: bool(column.looked), timeout=30_000)
    assert "Nothing of it was alive" in column.reads()


def test_that_what_does_not_end_is_said(
    column: Column, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(folder: Path, _by: str) -> int:
        raise CannotEnd(folder.name, (42,))

    monkeypatch.setattr(end_run_module, "end_run", refuses)
    column.panel.show_findings([left_over("stubborn")])
    column.click("fix-end-run")
    column.click("ask-end-run-yes")
    qtbot.waitUntil(lambda: "42" in column.reads(), timeout=30_000)
    assert "could not be ended" in column.reads()
    assert column.looked


def test_that_a_token_is_moved_without_a_question(
    column: Column, keyring_file: Path, qtbot: QtBot, tokens: Tokens
) -> None:
    document = column.fixing._document
    column.panel.show_findings(list(check_tokens(document.plan)))
    assert TOKEN not in column.reads()
    column.click("fix-keep")
    qtbot.waitUntil(lambda: "huggingface_token" not in document.plan.arguments)
    assert TOKEN in keyring_file.read_text("utf-8")


def test_that_captions_are_converted_after_a_yes_beside_their_originals(
    column: Column, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "a.png").write_bytes(b"")
    caption = tmp_path / "a.txt"
    caption.write_bytes("mira, 비".encode("cp949"))
    document = column.fixing._document
    dataset = {"resolution": 512, "subsets": [{"image_dir": str(tmp_path), "caption_extension": ".txt"}]}
    document.replace(document.plan.model_copy(update={"dataset": dataset}), "test")
    finding = caption_finding("cap-encoding", ("a.png",), "dataset.subsets.0")
    column.panel.show_findings([finding])
    column.click("fix-convert-captions")
    column.click("ask-convert-captions-no")
    assert caption.read_bytes() == "mira, 비".encode("cp949")
    column.click("fix-convert-captions")
    column.click("ask-convert-captions-yes")
    qtbot.waitUntil(lambda: "1 caption was converted." in column.reads(), timeout=30_000)
    assert caption.read_text("utf-8") == "mira, 비"
    assert (tmp_path / "_preflight_originals" / "a.txt").read_bytes() == "mira, 비".encode("cp949")
    assert column.looked
