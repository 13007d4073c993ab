"""Ways out of a run's diagnosis are buttons where they lead somewhere, and words where they do not."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from gui.engine.runs.diagnosing import DiagnosisReport, HowFar
from gui.engine.runs.diagnosis_models import Diagnosis, DiagnosisFix
from gui.window.pages.run.run_diagnosis import RunDiagnosis

WAYS = (
    DiagnosisFix(label="Sort the images into buckets.", changes={"dataset.enable_bucket": True}),
    DiagnosisFix(label="Check the plan.", changes={"action": "check-plan"}),
    DiagnosisFix(label="Look at every image.", changes={"action": "open-dataset"}),
    DiagnosisFix(label="Choose another Python.", changes={"action": "choose-python"}),
    DiagnosisFix(label="Install the package.", changes={"action": "install-package"}),
    DiagnosisFix(label="Close other programs."),
)
REPORT = DiagnosisReport(
    verdict="failed",
    exit_status=1,
    progress=HowFar(),
    diagnoses=(Diagnosis(id="it", title="It.", evidence=(), explanation="So.", fixes=WAYS),),
    failed=True,
)


@pytest.fixture
def card(tasks, qapp, show) -> RunDiagnosis:
    made = show(RunDiagnosis(tasks, qapp.clipboard()), 700, 400)
    made.show_report(REPORT)
    return made


def buttons(card: RunDiagnosis) -> list[QPushButton]:
    found = card.findChildren(QPushButton)
    return [each for each in found if each.objectName().startswith("run-diagnosis-it-fix-")]


def test_that_only_ways_that_lead_somewhere_are_buttons(card) -> None:
    assert [each.objectName()[-1] for each in buttons(card)] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("number", "changes"), [(0, {"dataset.enable_bucket": True}), (1, None), (2, {"action": "open-dataset"})]
)
def test_that_a_change_a_check_and_a_look_at_images_open_the_plan(card, qtbot, number, changes) -> None:
    qtbot.waitUntil(buttons(card)[number].isVisible, timeout=5000)
    with qtbot.waitSignal(card.plan_wanted, timeout=2000) as told:
        qtbot.mouseClick(buttons(card)[number], Qt.MouseButton.LeftButton)
    assert told.args == [changes]


def test_that_what_is_chosen_in_the_settings_opens_them(card, qtbot) -> None:
    qtbot.waitUntil(buttons(card)[3].isVisible, timeout=5000)
    with qtbot.waitSignal(card.settings_wanted, timeout=2000):
        qtbot.mouseClick(buttons(card)[3], Qt.MouseButton.LeftButton)
