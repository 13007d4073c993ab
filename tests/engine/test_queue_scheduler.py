"""One look at the queue at a time: whose turn it is, what became of runs, and what goes wrong in between."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

import pytest
from fake_nvml import FakeNvml
from quick_trainer import ACCEPTED, AskedTrainer, quick_plan
from run_helper import FINISHES, GOES_ON, ended, launched_before_a_restart, make_run, wait_until
from written_runs import write_run

from gui.engine.errors import CannotRead, CannotWrite, RunRefused
from gui.engine.hardware.gpu import GpuMonitor
from gui.engine.paths import Home
from gui.engine.plan.changes import apply_changes
from gui.engine.plan.plan_file import PlanFile, parse_plan
from gui.engine.runs import queue_start
from gui.engine.runs.abandoned import clear_abandoned
from gui.engine.runs.events import Launching
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.journal import Lines
from gui.engine.runs.lock import SupervisorLock, is_held
from gui.engine.runs.processes import tree_of
from gui.engine.runs.queue_follow import Became, what_became
from gui.engine.runs.queue_items import QueueItem
from gui.engine.runs.queue_look import look_again, look_ahead
from gui.engine.runs.queue_memory import what_is_missing
from gui.engine.runs.queue_scheduler import Scheduler
from gui.engine.runs.queue_start import ItemStarter
from gui.engine.runs.queue_store import QueueStore, Wish
from gui.engine.runs.records import Manifest
from gui.engine.runs.requests import ask
from gui.engine.runs.retry_record import Retry
from gui.engine.runs.session import look_after
from gui.engine.runs.start import start_supervisor
from gui.engine.runs.status import RunStatus
from gui.engine.token_store import TokenStore
from gui.engine.trainer.choosing import open_trainer
from gui.engine.trainer.installs import TrainerInstall

GIB = 1 << 30
REAL = TrainerInstall(root=Path("/sd"), python=Path("/sd/python"), origin="sd-scripts", label="sd")


class Starter:
    """Starts nothing, but notes whose turn it was."""

    def __init__(self, store: QueueStore) -> None:
        self.store = store
        self.started: list[int] = []
        self.fault: Exception | None = None

    def start(self, item: QueueItem) -> None:
        self.started.append(item.number)
        if self.fault is not None:
            raise self.fault
        self.store.change(
            item.number, lambda now: now.model_copy(update={"state": "running", "run": f"r{now.number}"})
        )


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store(home: Home) -> QueueStore:
    return QueueStore(home)


def put(store: QueueStore, *gpus: int) -> int:
    return store.add(parse_plan('name = "p"'), Wish(REAL, gpus=gpus)).number


def scheduler(
    store: QueueStore, became: dict[str, Became], **how: object
) -> tuple[Scheduler, Starter, Clock, Clock]:
    starter, clock, wall = Starter(store), Clock(), Clock()
    made = Scheduler(
        store,
        starter,  # type: ignore[arg-type]
        follow=lambda run: became.get(run.name, Became("goes-on")),
        wall=wall,
        clock=clock,
        **how,  # type: ignore[arg-type]
    )
    return made, starter, clock, wall


def test_that_one_follows_the_other_on_each_gpu(store: QueueStore) -> None:
    became: dict[str, Became] = {}
    for gpus in ((0,), (0,), (1,)):
        put(store, *gpus)
    looking, starter, _clock, _wall = scheduler(store, became)
    assert looking.look() and looking.look()
    assert starter.started == [1, 3]
    became["r1"] = Became("over", state="done", sentence="Finished.")
    assert looking.look()
    assert starter.started == [1, 3, 2]
    became |= {name: Became("over", state="stopped") for name in ("r2", "r3")}
    assert not looking.look(), "nothing is left to wait for"
    assert [item.state for item in store.read().items] == ["done", "stopped", "stopped"]


def test_that_an_hour_is_waited_for_whatever_the_clock_does(store: QueueStore) -> None:
    number = put(store)
    store.change(number, lambda item: item.model_copy(update={"not_before": datetime.fromtimestamp(5000)}))
    looking, starter, _clock, wall = scheduler(store, {})
    assert looking.look() and not starter.started
    wall.now = 4999.0
    assert looking.look() and not starter.started
    wall.now = 9_000_000.0  # the machine slept, or its clock was set
    assert looking.look() and starter.started == [number]


def test_that_a_run_launched_by_hand_is_waited_for(
    store: QueueStore, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, 0)
    put(store, 1)
    run = write_run(home, "by-hand", verdict=None, status={"state": "running"})
    run.plan.write_text('name = "x"\n[launch]\ngpu_ids = [1]\n', "utf-8")
    broken = write_run(home, "broken", verdict=None, practice=True, status={"state": "running"})
    broken.plan.write_text("[", "utf-8")
    locks = [SupervisorLock(each.lock) for each in (run, broken)]
    for lock in locks:
        lock.take()
    (home.runs / "no run").mkdir()
    looking, starter, clock, _wall = scheduler(store, {})
    assert looking.look() and starter.started == [1]
    sentence = store.read().items[1].sentence
    assert run.name in sentence and "GPU 1" in sentence
    for lock in locks:
        lock.release()
    monkeypatch.setattr("gui.engine.runs.queue_scheduler.is_alive", lambda each: each.path == run.path)
    clock.now += 10.0
    assert looking.look() and starter.started == [1], "its trainer lives though nobody looks after it"
    monkeypatch.setattr("gui.engine.runs.queue_scheduler.is_alive", lambda _each: False)
    clock.now += 1.0
    assert looking.look() and starter.started == [1]
    clock.now += 10.0
    assert looking.look() and starter.started == [1, 2]


def test_that_a_run_that_is_tried_again_keeps_its_place(store: QueueStore) -> None:
    put(store)
    became = {"r1": Became("tried-again", next="r1b")}
    looking, _starter, _clock, _wall = scheduler(store, became)
    assert looking.look() and looking.look()
    (item,) = store.read().items
    assert (item.state, item.run, item.before) == ("running", "r1b", ("r1",))


def test_that_what_was_never_launched_waits_again_but_not_for_ever(store: QueueStore) -> None:
    put(store)
    became = {"r1": Became("never-launched")}
    looking, starter, clock, _wall = scheduler(store, became)
    assert looking.look() and looking.look()
    assert store.read().items[0].state == "waiting" and starter.started == [1]
    clock.now += 60.0
    assert looking.look() and starter.started == [1, 1]
    store.change(1, lambda item: item.model_copy(update={"attempts": 3, "sentence": "It did not start."}))
    assert not looking.look()
    assert (store.read().items[0].state, store.read().items[0].sentence) == ("failed", "It did not start.")


def test_that_a_fault_of_ours_and_a_full_disk_hold_up_nothing_else(
    store: QueueStore, capsys: pytest.CaptureFixture[str]
) -> None:
    put(store)
    put(store, 1)
    rests: list[float] = []
    looking, starter, clock, _wall = scheduler(store, {}, rest=rests.append)
    starter.fault = CannotWrite(store.home.queue, "no space left")
    assert looking.look() and rests and starter.started == [1]
    starter.fault = RuntimeError("a fault")
    clock.now += 60.0
    assert not looking.look()
    assert [item.state for item in store.read().items] == ["failed", "failed"]
    assert "scheduler.log" in store.read().items[0].sentence
    assert "RuntimeError: a fault" in capsys.readouterr().err


def test_that_an_item_that_somebody_takes_away_by_hand_does_no_harm(store: QueueStore) -> None:
    put(store)

    def gone(_run: RunFolder) -> Became:
        (store.home.queue / "1.json").unlink(missing_ok=True)
        return Became("never-launched")

    looking, _starter, _clock, _wall = scheduler(store, {})
    looking._what_became = gone
    assert looking.look() and not looking.look()


def run_of(tmp_path: Path, source: str) -> RunFolder:
    return make_run(tmp_path, source)[0]


def test_that_a_run_that_was_only_prepared_leaves_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path, FINISHES)
    assert what_became(run) == Became("never-launched")
    assert not run.path.exists()
    told = what_became(run)
    assert (told.kind, told.state) == ("over", "failed") and "is gone" in told.sentence


def test_that_a_late_supervisor_does_not_launch_what_was_put_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, order = make_run(tmp_path, FINISHES)

    def busy(_folder: Path, _target: Path) -> None:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", busy)
        assert what_became(run).kind == "never-launched"
    assert look_after(run, order) is None, "it finds a run that is over"

    def gone(_lock: SupervisorLock, _patience: float) -> None:
        shutil.rmtree(run.path)

    monkeypatch.setattr(SupervisorLock, "take", gone)
    with pytest.raises(CannotRead, match="taken away"):
        look_after(run, order)
    assert not (tmp_path / "out" / "lora.safetensors").exists()


def test_that_a_run_is_followed_from_its_launch_to_its_verdict(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, GOES_ON)
    start_supervisor(run, order)
    assert what_became(run).kind == "goes-on"
    ask(run, "stop", "test")
    wait_until(lambda: ended(run) and not is_held(run.lock))
    assert what_became(run).state == "stopped"
    Retry(next="another").write(run.retry)
    assert what_became(run) == Became("tried-again", next="another")


def test_that_after_a_restart_of_the_machine_the_truth_is_found(tmp_path: Path) -> None:
    run = run_of(tmp_path, FINISHES)
    launched_before_a_restart(run)
    assert what_became(run).kind == "goes-on", "somebody looks after it now"
    wait_until(lambda: ended(run) and not is_held(run.lock))
    told = what_became(run)
    assert (told.kind, told.state) == ("over", "failed") and "restarted" in told.sentence


def test_that_runs_that_cannot_be_understood_are_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(tmp_path, FINISHES)
    lines = Lines(run.events)
    lines.add(Launching(boot_id="x", boot_seconds=5.0))
    lines.close()
    run.command.unlink()
    told = what_became(run)
    assert told.kind == "over" and "command.json" in told.sentence
    alive = type("Alive", (), {"alive": lambda _self: True})
    monkeypatch.setattr("gui.engine.runs.queue_follow.tree_of", lambda _folder: alive())
    assert what_became(run).kind == "goes-on", "its GPU is taken"
    assert what_became(RunFolder(tmp_path / "nothing")).kind == "goes-on"
    run.status.write_text('{"schema": 99}', "utf-8")
    assert "newer version" in what_became(run).sentence
    RunStatus(name=run.name).write(run.status)
    monkeypatch.setattr("gui.engine.runs.queue_follow.read_history", _unreadable)
    assert what_became(run).kind == "goes-on"
    run.lock.unlink()
    run.lock.mkdir()
    assert what_became(run).kind == "goes-on"


def _unreadable(_path: Path) -> None:
    raise PermissionError


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> AskedTrainer:
    """Return a trainer that only acts."""
    return AskedTrainer(tmp_path_factory.mktemp("trainer"))


@pytest.fixture
def starter(store: QueueStore, asked: AskedTrainer, tmp_path: Path) -> ItemStarter:
    """Return what starts items, one of which waits."""
    install = asked.known_in(store.home)
    store.add(quick_plan(tmp_path, "p", steps=2), Wish(install, gpus=(1,), accepted=ACCEPTED))
    return ItemStarter(store, TokenStore(store.home), GpuMonitor())


def test_that_memory_is_waited_for_and_the_run_noted_before_it_is_launched(
    store: QueueStore, starter: ItemStarter, fake_gpus: FakeNvml, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[QueueItem] = []

    def refuses(run: RunFolder, _order: object) -> None:
        seen.extend(store.read().items)
        assert seen[0].run == run.name
        raise RunRefused("the supervisor did not start")

    monkeypatch.setattr(queue_start, "start_supervisor", refuses)
    fake_gpus.inside(monkeypatch).set(count=2, total=12 * GIB, used=11 * GIB)
    store.change(1, lambda now: now.model_copy(update={"when_free": True}))
    starter.start(store.read().items[0])
    (item,) = store.read().items
    assert item.state == "waiting" and "GPU 1" in item.sentence and not seen
    fake_gpus.set(used=GIB // 2)
    starter.start(item)
    assert seen[0].state == "running"
    (item,) = store.read().items
    assert (item.state, item.attempts, item.sentence) == ("running", 1, "the supervisor did not start")
    run = RunFolder(store.home.runs / (item.run or ""))
    assert Manifest.read(run.manifest).queue_item == 1
    assert Manifest.read(run.manifest).plan_file == item.plan_file
    assert "gpu_ids = [1]" in run.plan.read_text("utf-8")
    assert what_became(run).kind == "never-launched"


def test_that_an_item_that_was_changed_meanwhile_is_not_started(
    store: QueueStore, starter: ItemStarter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_start, "start_supervisor", lambda *_words: pytest.fail("it was started"))
    (item,) = store.read().items
    store.change(1, lambda now: now.model_copy(update={"when_free": True}))
    starter.start(item)
    assert store.read().items[0].state == "waiting" and not run_names(store.home)
    store.remove(1)
    starter.start(item)
    store.note(1, sentence="nobody reads it")
    assert store.read().items == ()


def test_that_what_is_missing_at_the_start_refuses_the_item(
    store: QueueStore, starter: ItemStarter, tmp_path: Path
) -> None:
    store.change(1, lambda now: now.model_copy(update={"python": str(tmp_path / "no-python")}))
    starter.start(store.read().items[0])
    assert store.read().items[0].state == "refused"
    store.retry(1)
    store.change(1, lambda now: now.model_copy(update={"trainer": "practice"}))
    starter.start(store.read().items[0])
    assert "no-python" in store.read().items[0].sentence
    store.retry(1)
    (store.home.queue / "1.toml").unlink()
    starter.start(store.read().items[0])
    assert "1.toml cannot be read" in store.read().items[0].sentence


@pytest.mark.usefixtures("starter")
def test_that_files_of_the_same_names_are_foreseen_and_what_goes_on_in_them_is_not(
    store: QueueStore, asked: AskedTrainer, tmp_path: Path
) -> None:
    trainer = open_trainer(store.home, asked.install)
    again = quick_plan(tmp_path, "p")
    found = look_ahead(store, again, trainer, ACCEPTED)
    assert [finding.id for finding in found.lasting] == ["output-exists"]
    assert "Number 1" in found.lasting[0].title
    assert not look_ahead(store, again, trainer, (*ACCEPTED, "output-exists")).lasting
    going_on = apply_changes(again.plan, {"resume": str(tmp_path / "state")})
    ahead = look_ahead(store, PlanFile(going_on, path=again.path), trainer, ACCEPTED)
    assert "output-exists" not in [finding.id for finding in ahead.lasting]
    (store.home.queue / "1.toml").write_text("[", "utf-8")
    assert not look_ahead(store, again, trainer, ACCEPTED).lasting


@pytest.mark.usefixtures("starter")
def test_that_a_failed_item_is_checked_before_it_waits_again(store: QueueStore, tmp_path: Path) -> None:
    (item,) = store.read().items
    assert look_again(store, item, ()) == ((), ())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "p.safetensors").write_bytes(b"the first half of a night")
    assert [finding.id for finding in look_again(store, item, ()).lasting] == ["output-exists"]
    assert look_again(store, item, ["output-exists"]) == ((), ())


def test_that_a_queue_that_cannot_be_written_starts_nothing(
    store: QueueStore, starter: ItemStarter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_self: object, path: Path, **_how: object) -> None:
        raise CannotWrite(path, "no space left")

    (item,) = store.read().items
    monkeypatch.setattr(QueueItem, "write", full)
    with pytest.raises(CannotWrite):
        starter.start(item)
    assert not run_names(store.home)
    assert not tree_of(store.home.runs).alive()


@pytest.mark.parametrize(
    ("needed", "used", "missing"),
    [
        (8.0, 5.0, "8.5 GiB"),
        (8.0, 3.6, "8.5 GiB"),
        (8.0, 2.0, ""),
        (100.0, 0.5, ""),
        (None, 3.0, "nobody else"),
        (None, 0.5, ""),
    ],
)
def test_that_enough_memory_is_what_is_needed_or_all_that_an_idle_gpu_has(
    fake_gpus: FakeNvml, monkeypatch: pytest.MonkeyPatch, needed: float | None, used: float, missing: str
) -> None:
    fake_gpus.inside(monkeypatch).set(count=1, total=12 * GIB, used=int(used * GIB))
    words = what_is_missing(GpuMonitor(), (), needed)
    assert (missing in words) if missing else words == ""


def test_that_a_gpu_that_tells_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert what_is_missing(GpuMonitor(), (0,), 8.0) == ""
    monkeypatch.setattr("gui.engine.runs.queue_memory.within", _hangs)
    assert what_is_missing(GpuMonitor(), (0,), 8.0) == ""


def _hangs(*_words: object) -> None:
    raise TimeoutError


def test_that_only_preparations_that_were_cut_short_are_cleared_away(home: Home, tmp_path: Path) -> None:
    run, _order = make_run(tmp_path, FINISHES, home=home.root)
    cut = home.runs / "20261130-010203-cut short"
    cut.mkdir()
    for name in ("plan.toml", "dataset.toml", "command.json", ".manifest.json.abc.tmp"):
        (cut / name).touch()
    strange = home.runs / "20261130-010203-strange"
    strange.mkdir()
    (strange / "mine.txt").touch()
    (home.runs / "no run").mkdir()
    (home.runs / "20261130-010203-a file").touch()
    assert clear_abandoned(home) == [], "it may be on its way"
    assert clear_abandoned(home, age_seconds=0.0) == [cut]
    assert sorted(path.name for path in home.runs.iterdir()) == sorted(
        [run.name, strange.name, "no run", "20261130-010203-a file"]
    )
