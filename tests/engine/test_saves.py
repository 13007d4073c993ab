"""What the trainer saves is found by its name, told from what was there before, and known when whole."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save, save_file

from gui.engine.runs import saves as saves_module
from gui.engine.runs.save_names import SaveNames
from gui.engine.runs.saves import NewFile, SaveWatcher, collisions
from gui.engine.runs.wholeness import PNG_END, has_writer, is_whole

MODEL = save({"a": np.ones(1000, np.float32)})
SAMPLE = "demo_000003_00_20261130003837_1.png"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def watch(out: Path, clock: Clock, name: str | None = "demo") -> SaveWatcher:
    return SaveWatcher(out, name, since=collisions(out, name), clock=clock)


def told(news: list[NewFile]) -> list[tuple[str, bool]]:
    return [(file.path.name, file.complete) for file in news]


def torch_zip(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"x" * 500)


def test_that_a_new_model_is_told_when_it_appears_and_when_it_is_whole(out: Path, clock: Clock) -> None:
    watcher = watch(out, clock)
    assert watcher.poll() == []
    path = out / "demo-step00000010.safetensors"
    path.write_bytes(MODEL[:40])
    [news] = watcher.poll()
    assert (news.path, news.kind, news.complete, news.size, news.name.step) == (path, "model", False, 40, 10)
    path.write_bytes(MODEL[:-1])
    assert watcher.poll() == []
    path.write_bytes(MODEL)
    assert told(watcher.poll()) == [(path.name, True)]
    assert watcher.poll() == []
    assert [file.size for file in watcher.files] == [len(MODEL)]


def test_that_files_from_before_the_launch_are_passed_over_until_they_change(out: Path, clock: Clock) -> None:
    old, state = out / "demo.safetensors", out / "demo-state"
    old.write_bytes(MODEL)
    torch_zip(state / "random_states_0.pkl")
    (out / "demo-000001-state").mkdir()
    watcher = watch(out, clock)
    assert watcher.poll() == []
    old.write_bytes(MODEL)
    os.utime(old, ns=(5, 5))
    torch_zip(state / "random_states_0.pkl")
    os.utime(state / "random_states_0.pkl", ns=(5, 5))
    assert {file.path for file in watcher.poll()} == {old, state}


def test_that_a_file_put_in_the_place_of_an_old_one_is_new(out: Path, clock: Clock) -> None:
    old = out / "demo.safetensors"
    old.write_bytes(MODEL)
    facts = old.stat()
    watcher = watch(out, clock)
    new = out / "elsewhere"
    new.write_bytes(MODEL)
    os.utime(new, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    new.replace(old)
    assert told(watcher.poll()) == [("demo.safetensors", True)]


def test_that_a_file_written_again_is_told_again(out: Path, clock: Clock) -> None:
    watcher = watch(out, clock)
    path = out / "demo.safetensors"
    path.write_bytes(MODEL)
    assert told(watcher.poll()) == [(path.name, True)]
    path.write_bytes(MODEL[:100])
    assert told(watcher.poll()) == [(path.name, False)]
    path.write_bytes(MODEL)
    assert told(watcher.poll()) == [(path.name, True)]


def test_that_a_removed_file_is_no_longer_listed(out: Path, clock: Clock) -> None:
    watcher = watch(out, clock)
    path = out / "demo.safetensors"
    path.write_bytes(MODEL)
    watcher.poll()
    path.unlink()
    assert watcher.poll() == []
    assert watcher.files == ()


def test_that_a_whole_file_that_is_still_open_is_not_complete(
    out: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saves_module, "has_writer", lambda _path: True)
    watcher = watch(out, clock)
    (out / "demo.safetensors").write_bytes(MODEL)
    assert told(watcher.poll()) == [("demo.safetensors", False)]
    clock.now = 100.0
    assert watcher.poll() == []


def test_that_a_file_must_lie_still_where_its_writer_cannot_be_seen(
    out: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saves_module, "has_writer", lambda _path: None)
    watcher = watch(out, clock)
    (out / "demo.safetensors").write_bytes(MODEL)
    assert told(watcher.poll()) == [("demo.safetensors", False)]
    clock.now = 0.4
    assert watcher.poll() == []
    clock.now = 0.6
    assert told(watcher.poll()) == [("demo.safetensors", True)]


def test_that_a_state_is_complete_when_its_last_file_is_there_and_all_lies_still(
    out: Path, clock: Clock
) -> None:
    watcher = watch(out, clock)
    state = out / "demo-step00000010-state"
    state.mkdir()
    (state / "train_state.json").write_text("{}")
    (state / "model.safetensors").write_bytes(MODEL[:-5])
    [news] = watcher.poll()
    assert (news.kind, news.complete, news.name.step) == ("state", False, 10)
    torch_zip(state / "random_states_0.pkl")
    clock.now = 5.0
    assert watcher.poll() == []  # the model in it is cut
    (state / "model.safetensors").write_bytes(MODEL)
    assert watcher.poll() == []
    clock.now = 7.0
    [news] = watcher.poll()
    assert news.complete
    assert news.size == sum(path.stat().st_size for path in state.iterdir())


def test_that_a_diffusers_model_is_complete_with_its_index(out: Path, clock: Clock) -> None:
    watcher = watch(out, clock)
    folder = out / "demo-000001"
    (folder / "unet").mkdir(parents=True)
    (folder / "unet" / "model.safetensors").write_bytes(MODEL)
    assert told(watcher.poll()) == [("demo-000001", False)]
    (folder / "model_index.json").write_text("{}")
    watcher.poll()
    clock.now = 2.0
    [news] = watcher.poll()
    assert (news.kind, news.complete, news.name.epoch) == ("model", True, 1)


def test_that_samples_are_found_when_their_folder_comes_and_are_whole_with_their_end(
    out: Path, clock: Clock
) -> None:
    watcher = watch(out, clock)
    watcher.poll()
    (out / "sample").mkdir()
    path = out / "sample" / SAMPLE
    path.write_bytes(b"\x89PNG")
    (out / "sample" / "other_000003_00_20261130003837_1.png").write_bytes(PNG_END)
    assert told(watcher.poll()) == [(SAMPLE, False)]
    path.write_bytes(b"\x89PNG" + bytes(9) + PNG_END)
    [news] = watcher.poll()
    assert (news.kind, news.complete, news.name.step, news.name.prompt) == ("sample", True, 3, 0)


def test_that_a_missing_output_folder_is_no_error(tmp_path: Path, clock: Clock) -> None:
    assert watch(tmp_path / "none", clock).poll() == []
    assert collisions(tmp_path / "none", "demo") == ()


def test_that_an_output_name_may_hold_a_folder(out: Path, clock: Clock) -> None:
    watcher = watch(out, clock, "mira/v2")
    (out / "mira").mkdir()
    (out / "mira" / "v2.safetensors").write_bytes(MODEL)
    (out / "v2.safetensors").write_bytes(MODEL)
    assert [file.path for file in watcher.poll()] == [out / "mira" / "v2.safetensors"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_that_a_name_that_leads_nowhere_is_no_error(out: Path, clock: Clock) -> None:
    watcher = watch(out, clock)
    (out / "demo.safetensors").symlink_to(out / "gone")
    assert watcher.poll() == []
    assert collisions(out, "demo") == ()


def test_that_collisions_are_the_files_of_that_name_only(out: Path) -> None:
    for name in (
        "demo.safetensors",
        "demo-000001.ckpt",
        "demo2.safetensors",
        "demo.txt",
        "xdemo.safetensors",
    ):
        (out / name).write_bytes(b"x")
    torch_zip(out / "demo-state" / "random_states_0.pkl")
    (out / "sample").mkdir()
    (out / "sample" / SAMPLE).write_bytes(b"x")
    assert {mark.path.relative_to(out).as_posix() for mark in collisions(out, "demo")} == {
        "demo.safetensors",
        "demo-000001.ckpt",
        "demo-state",
        "demo-state/random_states_0.pkl",
        f"sample/{SAMPLE}",
    }


output_names = st.text(st.characters(exclude_characters="/\\\0", exclude_categories=["Cs"]), min_size=1)


@given(output_names, st.integers(0, 10**9), st.sampled_from([".safetensors", ".ckpt", ".pt"]))
def test_that_the_trainer_s_names_are_understood_for_any_output_name(
    name: str, number: int, suffix: str
) -> None:
    names = SaveNames(name)
    step = names.save(f"{name}-step{number:08d}{suffix}", folder=False)
    epoch = names.save(f"{name}-{number:06d}{suffix}", folder=False)
    state = names.save(f"{name}-{number:06d}-state", folder=True)
    final = names.save(f"{name}{suffix}", folder=False)
    sample = names.sample(f"{name}_e{number:06d}_03_20261130003837_-5.png")
    assert step is not None
    assert epoch is not None
    assert state is not None
    assert final is not None
    assert sample is not None
    assert (step.kind, step.step, step.epoch, step.final) == ("model", number, None, False)
    assert (epoch.kind, epoch.step, epoch.epoch, epoch.final) == ("model", None, number, False)
    assert (state.kind, state.epoch) == ("state", number)
    assert (final.kind, final.final) == ("model", True)
    assert (sample.kind, sample.epoch, sample.prompt, sample.final) == ("sample", number, 3, False)
    assert names.save(f"{name}{suffix}", folder=True) is None
    assert names.save(f"{name}-state", folder=False) is None
    assert names.save(f"{name}-step5{suffix}", folder=False) is None
    assert names.sample(f"{name}_000001_00.png") is None
    assert SaveNames(name + "x").sample(f"{name}_000001_00_20261130003837.png") is None


def test_that_the_default_names_are_known() -> None:
    names = SaveNames(None)
    for name in ("epoch-000001.safetensors", "at-step00000010.pt", "last.ckpt"):
        assert names.save(name, folder=False) is not None, name
    for name in ("epoch-000001-state", "at-step00000010-state", "last-state", "last"):
        assert names.save(name, folder=True) is not None, name
    for name in ("epoch.safetensors", "at.pt", "at-000001.pt", "last-000001.safetensors", "lasting.ckpt"):
        assert names.save(name, folder=False) is None, name
    assert names.sample("000003_00_20261130003837.png") is not None


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot tell")
def test_that_a_writer_is_seen_without_harm_to_it(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(MODEL)
    assert has_writer(path) is False
    program = "import sys\nf = open(sys.argv[1], 'ab')\nprint(flush=True)\nsys.stdin.readline()\n"
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None
        child.stdout.readline()
        assert has_writer(path) is True
        assert is_whole(path, "model")
    assert child.returncode == 0
    assert has_writer(path) is False


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot tell")
def test_that_a_reader_is_no_writer(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(MODEL)
    with path.open("rb"):
        assert has_writer(path) is False
    assert has_writer(tmp_path / "gone") is None
    assert has_writer(tmp_path) is None


def test_that_other_systems_cannot_tell_of_writers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(MODEL)
    monkeypatch.setattr(sys, "platform", "win32")
    assert has_writer(path) is None


def test_that_each_kind_is_whole_by_its_own_end(tmp_path: Path) -> None:
    save_file({"a": np.ones(3)}, tmp_path / "a.safetensors")
    torch_zip(tmp_path / "a.ckpt")
    (tmp_path / "a.png").write_bytes(b"x" + PNG_END)
    (tmp_path / "short.png").write_bytes(b"x")
    (tmp_path / "junk.safetensors").write_bytes(b"<html>" * 9)
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "model_index.json").write_text("{")
    (tmp_path / "s-state").mkdir()
    assert is_whole(tmp_path / "a.safetensors", "model")
    assert is_whole(tmp_path / "a.ckpt", "model")
    assert is_whole(tmp_path / "a.png", "sample")
    for name, kind in (
        ("short.png", "sample"),
        ("gone.png", "sample"),
        ("junk.safetensors", "model"),
        ("gone.safetensors", "model"),
        ("index", "model"),
        ("s-state", "state"),
    ):
        assert not is_whole(tmp_path / name, kind), name  # type: ignore[arg-type]
