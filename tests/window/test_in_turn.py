"""Work that is done piece by piece, in the order of the clicks."""

from __future__ import annotations

import threading

from pytestqt.qtbot import QtBot

from gui.engine.errors import PreflightError, QueueRefused
from gui.window.bridges.in_turn import InTurn
from gui.window.bridges.tasks import Tasks


def test_that_each_piece_waits_for_the_one_before_and_what_has_not_begun_can_be_dropped(
    qtbot: QtBot, tasks: Tasks
) -> None:
    in_turn, told, go_on = InTurn(tasks), list[object](), threading.Event()

    def slow() -> str:
        go_on.wait()
        return "slow"

    def refused() -> None:
        raise QueueRefused("no")

    def failed(error: PreflightError) -> None:
        told.append(str(error))

    for work in (slow, refused, lambda: "quick"):
        in_turn.run(work, told.append, failed)
    assert in_turn.left == 3
    go_on.set()
    qtbot.waitUntil(lambda: in_turn.left == 0)
    assert told == ["slow", "no", "quick"]
    go_on.clear()
    for work in (slow, lambda: "never"):
        in_turn.run(work, told.append, failed)
    in_turn.drop()
    assert in_turn.left == 1
    go_on.set()
    qtbot.waitUntil(lambda: in_turn.left == 0)
    assert told[3:] == ["slow"]
