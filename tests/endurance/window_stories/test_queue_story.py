"""Plans are put into the queue by clicks and drops; one fails, the scheduler is killed, and all end."""

from __future__ import annotations

import os
import signal

import pytest
from queue_helper import launches, scheduler_of, states

from gui.engine.runs.lock import is_held
from gui.engine.runs.queue_store import QueueStore

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers")]


def test_that_a_queue_of_three_goes_on_over_a_failing_middle(sit_down, known_home, write_plan):
    store = QueueStore(known_home)
    # It blows up late enough to have begun, and the guard stops it.
    slowly = {"lr_scheduler": "constant_with_warmup", "lr_warmup_steps": 3}
    mad = write_plan("mad", unet_lr=1e4, output_name="mad", max_train_steps=400, **slowly)
    person = sit_down(known_home)
    person.open_plan(write_plan("first", output_name="first", max_train_steps=4))
    person.click("add-to-queue")
    person.reads_until("“first” is number 1 in the queue", "launch-banner")
    person.open_plan(mad)
    person.reads_until("is likely to go wrong", "review-headline")
    person.click("add-to-queue")
    person.click("ask-dangers-yes")
    person.reads_until("“mad” is number 2 in the queue", "launch-banner")
    person.click("launch-show-queue")
    person.drop(write_plan("last", output_name="last", max_train_steps=4), on="queue-page")
    person.until(lambda: len(store.read().items) == 3, "the third plan")

    pid = scheduler_of(store)
    assert os.getsid(pid) == pid != os.getsid(0)
    os.kill(pid, signal.SIGKILL)
    person.until(lambda: states(store) == ["done", "failed", "done"], "the end of all", 180_000)
    assert launches(known_home) == [1, 2, 3]
    assert store.log.read_text("utf-8") == ""
    person.until(lambda: not is_held(store.lock), "the scheduler to leave")

    person.choose_row("queue-table", 1)
    person.reads_until("2. mad", "queue-details")
    person.click("queue-open")
    person.reads_until("stopped by the guard", "run-state")
