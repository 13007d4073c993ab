"""The loss on images that are not trained on, from the run's figures to the chart."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from gui.engine.runs.metrics import StepRow, ValidationRow, parse_row
from gui.window.pages.run.curves_card import CurvesCard


def test_that_validations_are_drawn_once_there_are_some(qtbot, icons, show):
    card = show(CurvesCard(icons), 900, 500)
    card.add_rows([StepRow(step=n, loss=0.1, avr_loss=0.1) for n in range(1, 30)])
    chip = card.findChild(QWidget, "loss-show-validation")
    qtbot.waitUntil(lambda: not chip.isVisible())
    card.add_validations([ValidationRow(step=10, loss=0.2), ValidationRow(step=20)])
    qtbot.waitUntil(chip.isVisible)


def test_that_a_row_of_a_validation_is_read_as_it_is_written():
    row = ValidationRow(t=1.5, step=10, loss=0.2)
    assert parse_row(row.model_dump_json().encode()) == row
