"""Every page in the pseudo-language at 150 %: nothing cut, nothing overlapping, all named, all in reach."""

from __future__ import annotations

import contextlib

import pytest
from layout_faults import cut_texts, nameless, out_of_reach, overlaps
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QGridLayout, QLabel, QPushButton, QWidget
from written_queue import write_queue
from written_runs import write_run

STEPS = ("what", "data", "careful", "memory", "training", "saving", "review", "arguments")
SCENES = (
    "start",
    *(f"plan {step}" for step in STEPS),
    "run",
    "runs",
    "compare",
    "report",
    "queue",
    "settings",
)

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers")]


@pytest.fixture
def person(sit_down, known_home, write_plan, pseudo_language):
    known_home.preferences.write_text("text_percent = 150\n", "utf-8")
    write_run(known_home, "good one", sentence="Finished: 1,000 of 1,000 steps.")
    write_run(known_home, "other", verdict="stopped", reason="guard", age_days=3)
    write_queue(known_home)
    person = sit_down(known_home, plan=write_plan(network_dmi=3, persistent_data_loader_workers=True))
    person.until(lambda: person.bench.trainers.looked and person.bench.runs.known, "all to be known")
    person.until(lambda: person.is_seen("launch-safely"), "the review")
    person.until(lambda: person.is_seen("finding-arg-unknown"), "the findings")
    yield person
    person.theme.set_text_percent(100)


def go(person, scene: str) -> None:
    page, _, step = scene.partition(" ")
    if page == "run":
        person.go("runs")
        person.click("runs-open")
        person.until(lambda: person.is_seen("run-title"), "the run")
    elif page in ("compare", "report"):
        person.go("runs")
        for back in ("compare-back", "report-back"):
            if person.is_seen(back):
                person.click(back)
        table = person.find("runs-table")
        for key in (Qt.Key.Key_Down, Qt.Key.Key_Up):  # one is selected then
            person.qtbot.keyClick(table, key)
        if page == "compare":
            person.qtbot.keyClick(table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        person.click(f"runs-{page}")
        shown = {"compare": "compare-results", "report": "report-parts"}[page]
        person.until(lambda: person.is_seen(shown), f"the {page}")
    else:
        person.go(page)
    if step:
        person.click(f"go-{step}")
    person.qtbot.wait(300)
    QApplication.processEvents()


def test_that_the_looks_find_what_they_look_for(qtbot):
    page = QWidget()
    qtbot.addWidget(page)
    page.resize(200, 100)
    long = QLabel("much too long for so little room", page)
    long.setGeometry(0, 0, 40, 20)
    icon = QPushButton(page)
    icon.setGeometry(0, 40, 20, 20)
    icon.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    grid = QGridLayout(page)
    one, other = QPushButton("one"), QPushButton("other")
    grid.addWidget(one, 0, 0)
    grid.addWidget(other, 0, 0)
    page.show()
    assert len(cut_texts(page)) == 1 and "much too long" in cut_texts(page)[0]
    assert len(overlaps(page)) == 1
    assert len(nameless(page)) == 1
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    assert len(out_of_reach(page, qtbot)) == 1


def test_that_there_is_room_for_everything_and_a_way_to_it(person):
    assert person.theme.px(100) == 150 and "·" in person.reads(), "large, and in the pseudo-language"
    assert (person.window.width(), person.window.height()) == (1100, 700)
    faults, page = {}, person.window
    for scene in SCENES:
        go(person, scene)
        with contextlib.suppress(person.qtbot.TimeoutError):  # a layout may take a few turns
            person.qtbot.waitUntil(lambda: not cut_texts(page) and not overlaps(page))
        found = {
            "cut": cut_texts(page),
            "overlap": overlaps(page),
            "no name": nameless(page),
            "out of reach": out_of_reach(page, person.qtbot),
        }
        faults |= {f"{scene}, {kind}": told for kind, told in found.items() if told}
    assert not faults, "\n".join(f"{where}: {each}" for where, told in faults.items() for each in told)
