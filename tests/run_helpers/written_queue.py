"""A queue with items of many kinds, in which nothing is started."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from gui.engine.findings import Finding
from gui.engine.paths import Home
from gui.engine.runs.queue_items import QueueBoard, QueueItem

REFUSED = (
    Finding(
        id="data-none",
        severity="stop",
        title="The folder of images /home/anna/images/mira does not exist.",
        detail="There would be nothing to train on.",
    ),
    Finding(id="lr-te", severity="danger", title="The text encoder’s learning rate is that of the model."),
)


def write_queue(home: Home) -> None:
    """Write it.

    Args:
        home: Where.
    """
    tomorrow = datetime.now().replace(hour=2, minute=0, second=0, microsecond=0) + timedelta(days=1)
    kinds: tuple[dict[str, Any], ...] = (
        {"name": "ink_style_v3", "state": "done", "run": "a", "sentence": "Finished: 3,000 of 3,000 steps."},
        {"name": "mira_character", "state": "refused", "findings": REFUSED, "sentence": REFUSED[0].title},
        {"name": "harbour at night, with a rather long name", "state": "stopped", "run": "b"},
        {"name": "mira_character_2", "gpus": (0,), "not_before": tomorrow, "when_free": True},
        {"name": "pimolo", "trainer": "practice"},
        {
            "name": "glass",
            "gpus": (1,),
            "state": "failed",
            "run": "c",
            "sentence": "Its GPU’s memory ran out.",
        },
        {"name": "glass 2", "gpus": (1,)},
    )
    for number, kind in enumerate(kinds, start=1):
        item = QueueItem(number=number, **{"trainer": "/sd-scripts", **kind})
        item.write(home.queue / f"{number}.json")
        (home.queue / f"{number}.toml").write_text(f"name = '{item.name}'\n", "utf-8")
    held = {"1": "stopped at number 6, glass"}
    QueueBoard(last=len(kinds), paused=True, on_failure="stop", held=held).write(home.queue / "queue.json")
