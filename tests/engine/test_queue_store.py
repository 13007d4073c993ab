"""The queue on the disk: put in, order, changes, damage, and what is said about it."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.errors import CannotRead, CannotWrite, NewerDocument, QueueRefused, WrongUsage
from gui.engine.findings import Finding
from gui.engine.paths import Home
from gui.engine.plan.plan_file import parse_plan
from gui.engine.runs.queue_changes import started_at, started_on, started_when_free
from gui.engine.runs.queue_foresight import foresee
from gui.engine.runs.queue_hours import has_come, hour_words, next_moment
from gui.engine.runs.queue_items import Queue, QueueBoard, QueueItem
from gui.engine.runs.queue_lanes import lane_words, startable
from gui.engine.runs.queue_store import QueueStore, Wish
from gui.engine.runs.queue_words import policy_words, queue_sentence, sentence_of, state_words
from gui.engine.trainer.installs import TrainerInstall, practice_install

PLAN = """
name = "{name}"
family = "sd15"
# a remark
[arguments]
output_dir = "out"
huggingface_token = "hf_x"
"""
REAL = TrainerInstall(root=Path("/sd"), python=Path("/sd/python"), origin="sd-scripts", label="sd")


@pytest.fixture
def store(home: Home) -> QueueStore:
    return QueueStore(home)


def put(store: QueueStore, name: str, **wish: object) -> QueueItem:
    return store.add(parse_plan(PLAN.format(name=name), Path("/plans/x.toml")), Wish(REAL, **wish))


def names(store: QueueStore) -> list[str]:
    return [item.name for item in store.read().items]


def test_that_a_plan_is_copied_with_whole_paths_and_without_tokens(store: QueueStore) -> None:
    assert store.read() == Queue(QueueBoard())
    item = put(store, "a", accepted=("lr-te",), when_free=True)
    assert (item.number, item.trainer, item.plan_file, item.practice) == (1, "/sd", "/plans/x.toml", False)
    text = (store.home.queue / "1.toml").read_text("utf-8")
    assert "# a remark" in text and "hf_x" not in text
    assert store.plan(1).plan.arguments["output_dir"] == "/plans/out"
    assert store.read().item(1) == item
    assert store.add(parse_plan(PLAN.format(name="b")), Wish(practice_install(), gpus=(1,))).practice


def test_that_numbers_are_never_given_twice(store: QueueStore) -> None:
    put(store, "a")
    store.remove(1)
    assert put(store, "b").number == 2
    (store.home.queue / "queue.json").unlink()
    assert put(store, "c").number == 3


def test_that_the_order_is_kept_and_what_it_does_not_name_comes_behind(store: QueueStore) -> None:
    for name in "abcd":
        put(store, name)
    store.move(4, 0)
    store.move(1, 99)
    assert names(store) == ["d", "b", "c", "a"]
    store.move(2, -5)
    assert names(store) == ["b", "d", "c", "a"]
    (store.home.queue / "queue.json").write_text('{"schema": 1, "order": [3, 3, 77]}', "utf-8")
    assert names(store) == ["c", "a", "b", "d"]
    with pytest.raises(QueueRefused):
        store.move(9, 0)
    (store.home.queue / "queue.json").unlink()
    assert names(store) == ["a", "b", "c", "d"], "whoever deletes it loses the order, and no plan"


def test_that_who_moves_an_item_by_some_places_need_not_know_the_newest_order(store: QueueStore) -> None:
    for name in "abcd":
        put(store, name)
    store.remove(1)
    for _press in range(2):
        store.shift(4, -1)
    assert names(store) == ["d", "b", "c"]
    store.shift(4, -1)
    store.shift(2, 7)
    assert names(store) == ["d", "c", "b"]


def test_that_what_is_taken_out_can_be_put_back_where_it_was(store: QueueStore) -> None:
    for name in "abc":
        put(store, name)
    removed = store.remove(2)
    assert names(store) == ["a", "c"] and not (store.home.queue / "2.toml").exists()
    store.put_back(removed)
    assert names(store) == ["a", "b", "c"] and store.plan(2).plan.name == "b"
    (store.home.queue / "2.toml").unlink()
    without = store.remove(2)
    store.put_back(without)
    assert without.plan is None and names(store) == ["a", "b", "c"]


def test_that_what_runs_is_not_taken_out_and_what_is_over_is(store: QueueStore) -> None:
    for name in "ab":
        put(store, name)
    store.change(1, lambda item: item.model_copy(update={"state": "running", "run": "r"}))
    with pytest.raises(QueueRefused, match="stop its run first: r"):
        store.remove(1)
    assert store.clear() == 0
    store.conclude(1, "done", "Finished.")
    assert store.clear() == 1 and names(store) == ["b"]
    with pytest.raises(QueueRefused):
        store.remove(1)


def test_that_a_folder_that_cannot_be_written_or_read_is_said(
    store: QueueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "a")
    (store.home.queue / "1.toml").unlink()
    (store.home.queue / "1.toml").mkdir()
    with pytest.raises(CannotWrite):
        store.remove(1)

    def hidden(_folder: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", hidden)
    with pytest.raises(CannotRead, match="Permission denied"):
        store.read()


def test_that_damage_hides_nothing_else_and_newer_items_are_told(store: QueueStore) -> None:
    for name in "ab":
        put(store, name)
    (store.home.queue / "1.json").write_text("{", "utf-8")
    (store.home.queue / "5.json").write_text('{"schema": 9}', "utf-8")
    (store.home.queue / "queue.json").write_text("[]", "utf-8")
    queue = store.read()
    assert [item.name for item in queue.items] == ["b"] and len(queue.problems) == 3
    assert queue.board.paused, "nobody knows any more what was to be started"
    with pytest.raises(QueueRefused, match="cannot be read"):
        store.remove(1)
    assert put(store, "c").number == 6
    (store.home.queue / "queue.json").write_text('{"schema": 9}', "utf-8")
    with pytest.raises(NewerDocument):
        store.read()


def test_that_a_failure_holds_its_lanes_only_where_that_was_chosen(store: QueueStore) -> None:
    for name in "abc":
        put(store, name, gpus=(0, 1) if name == "b" else ())
    store.conclude(1, "failed", "It broke.")
    assert not store.read().board.held
    store.set_policy("stop")
    assert policy_words(store.read()).startswith("After a failure nothing more")
    store.conclude(2, "refused", "No.", (Finding(id="x", severity="stop", title="No."),))
    assert store.read().board.held == dict.fromkeys(("0", "1"), "stopped at number 2, b")
    assert queue_sentence(store.read()).startswith("Nothing is started on GPU 0: stopped at number 2")
    store.conclude(2, "done", "a second word changes nothing")
    assert store.read().item(2).state == "refused"
    store.go_on(["0"])
    assert list(store.read().board.held) == ["1"]
    again = store.retry(2, ["lr-te", "cuda"])
    assert (again.findings, again.accepted) == ((), ("lr-te", "cuda"))
    assert not store.read().board.held
    with pytest.raises(QueueRefused):
        store.retry(2)
    store.conclude(9, "done", "nobody")


def test_that_a_retry_remembers_the_earlier_run(store: QueueStore) -> None:
    put(store, "a")
    store.change(1, lambda item: item.model_copy(update={"state": "failed", "run": "r1", "attempts": 2}))
    again = store.retry(1)
    assert (again.state, again.run, again.before, again.attempts) == ("waiting", None, ("r1",), 0)
    store.change(1, lambda item: item.model_copy(update={"state": "running", "run": "r2"}))
    store.conclude(1, "refused", "The disk is full.")
    assert store.retry(1).before == ("r1",), "what was refused has no run"


def test_that_hour_gpus_and_memory_change_only_while_it_waits(store: QueueStore) -> None:
    put(store, "a")
    moment = datetime(2026, 11, 30, 2, 0)
    for change in (started_at(moment), started_on((1,)), started_when_free(True)):
        store.change(1, change)
    item = store.read().items[0]
    assert (item.not_before, item.gpus, item.when_free) == (moment, (1,), True)
    store.conclude(1, "done", "")
    with pytest.raises(QueueRefused):
        store.change(1, started_at(None))


def test_that_each_state_says_what_it_waits_for(store: QueueStore) -> None:
    now = datetime.now().replace(microsecond=0)
    for name in "abcd":
        put(store, name)
    store.change(1, lambda item: item.model_copy(update={"state": "running", "run": "r"}))
    store.change(3, started_at(now + timedelta(days=3)))
    store.change(4, lambda item: item.model_copy(update={"gpus": (1,), "sentence": "It waits for memory."}))
    queue = store.read()
    told = [sentence_of(item, queue, now) for item in queue.items]
    assert told[:2] == ["", "It starts after number 1, a."]
    assert told[2].startswith("It starts not before 20") and told[3] == "It waits for memory."
    put(store, "behind one that lets it pass")
    store.change(5, lambda item: item.model_copy(update={"sentence": "It waited for memory, once."}))
    queue = store.read()
    assert sentence_of(queue.items[4], queue, now) == "It starts after number 2, b."
    store.remove(5)
    store.pause(["0"])
    queue = store.read()
    assert sentence_of(queue.items[1], queue, now) == "GPU 0 is held: paused."
    store.pause()
    queue = store.read()
    assert (
        sentence_of(queue.items[1], queue, now) == "The queue is paused." == queue_sentence(queue)[:19] + "."
    )
    store.go_on()
    put(store, "e", gpus=(2,))
    queue = store.read()
    assert sentence_of(queue.items[-1], queue, now) == "It is next on GPU 2." and not queue_sentence(queue)
    assert policy_words(queue).startswith("After a failure the next")
    assert [state_words(item).text for item in queue.items[:2]] == ["running", "waiting"]


def item(number: int, *gpus: int, **more: object) -> QueueItem:
    return QueueItem(number=number, name=str(number), trainer="/sd", gpus=gpus, **more)


def turns(items: list[QueueItem], busy: str = "", late: tuple[int, ...] = (), **board: object) -> list[int]:
    tomorrow = datetime.fromtimestamp(86_400.0)
    row = [
        each.model_copy(update={"not_before": tomorrow if each.number in late else None}) for each in items
    ]
    return [each.number for each in startable(Queue(QueueBoard(**board), tuple(row)), set(busy), 0.0)]


def test_that_each_gpu_has_its_own_row() -> None:
    row = [
        item(1),
        item(2, 0),
        item(3, 1),
        item(4, 1),
        item(5).model_copy(update={"trainer": "practice"}),
    ]
    assert turns(row) == [1, 3, 5]
    assert turns(row, busy="0") == [3, 5]
    assert turns(row, held={"1": "x"}) == [1, 5]
    assert turns(row, paused=True) == []
    assert turns(row, late=(1, 3)) == [2, 4, 5]


def test_that_one_that_needs_two_gpus_is_not_passed_for_ever() -> None:
    row = [item(1, 0, 1), item(2, 1), item(3, 2)]
    assert turns(row, busy="0") == [3]
    assert turns(row) == [1, 3]
    assert turns(row, held={"0": "x"}) == [2, 3]


@given(
    st.lists(st.frozensets(st.integers(0, 3), max_size=3), max_size=12),
    st.frozensets(st.sampled_from("0123")),
)
def test_that_no_gpu_is_ever_given_to_two(wanted: list[frozenset[int]], busy: frozenset[str]) -> None:
    items = [item(number, *sorted(gpus)) for number, gpus in enumerate(wanted, start=1)]
    found = startable(Queue(QueueBoard(), tuple(items)), busy, 0.0)
    taken = [str(gpu) for each in found for gpu in (each.gpus or (0,))]
    assert len(taken) == len(set(taken)) and not set(taken) & busy


def test_that_lanes_have_names() -> None:
    assert [lane_words({"cpu"}), lane_words({"10", "2"}), lane_words({"x", "1"})] == [
        "CPU",
        "GPU 2 + 10",
        "GPU 1 + x",
    ]


def test_that_an_hour_is_the_next_one() -> None:
    now = datetime(2026, 11, 30, 22, 30)
    assert next_moment("23:00", now) == datetime(2026, 11, 30, 23, 0)
    assert next_moment(" 2:00", now) == datetime(2026, 12, 1, 2, 0)
    assert next_moment("22:30", now) == datetime(2026, 12, 1, 22, 30)
    for wrong in ("24:00", "2", "2:60", "now", ""):
        with pytest.raises(WrongUsage):
            next_moment(wrong, now)
    words = [hour_words(next_moment(hour, now), now) for hour in ("23:00", "02:00")]
    assert [*words, hour_words(datetime(2027, 1, 1, 2), now)] == [
        "23:00",
        "tomorrow 02:00",
        "2027-01-01 02:00",
    ]


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(time, "tzset"):
        pytest.skip("this system's zone cannot be set for a test")
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("hour", "before", "from_then"),
    [
        # In the night to 29 March 2026 the clock goes from 02:00 to 03:00, at 01:00 UTC.
        (datetime(2026, 3, 29, 1, 30), 1774744199, 1774744200),
        (datetime(2026, 3, 29, 2, 30), 1774747799, 1774747800),
        (datetime(2026, 3, 29, 3, 30), 1774747799, 1774747800),
        # In the night to 25 October it goes from 03:00 back to 02:00, at 01:00 UTC.
        (datetime(2026, 10, 25, 2, 30), 1792888199, 1792888200),
        (datetime(2026, 10, 25, 3, 30), 1792895399, 1792895400),
    ],
)
@pytest.mark.usefixtures("berlin")
def test_that_hours_are_right_when_clocks_are_changed(hour: datetime, before: int, from_then: int) -> None:
    assert not has_come(hour, before)
    assert has_come(hour, from_then)
    assert has_come(hour, from_then + 3600)


def test_that_no_hour_and_one_that_no_clock_knows_have_come() -> None:
    assert has_come(None, 0.0) and has_come(datetime(1, 1, 1), 0.0)


def test_that_what_may_be_over_by_then_is_told_apart() -> None:
    found = [
        Finding(id="vram", severity="stop", title="full now"),
        Finding(id="data-none", severity="stop", title="no images"),
        Finding(id="lr-te", severity="danger", title="fast"),
        Finding(id="data-few", severity="warning", title="few"),
    ]
    foresight = foresee(found, ["lr-te"])
    assert [each.id for each in foresight.lasting] == ["data-none"]
    assert [each.id for each in foresight.passing] == ["vram"]
    assert [each.id for each in foresee(found, []).lasting] == ["data-none", "lr-te"]
