"""Numbers of a saved state are read without torch, and nothing that a stranger put there is run."""

from __future__ import annotations

import os
import pickle
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from saved_runs import write_state

from gui.engine.trainer.saved_state import state_numbers, steps_behind
from gui.engine.trainer.torch_numbers import MOST_BYTES, read_plain_table

DATA = Path(__file__).parents[1] / "data"

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def saved(path: Path, data: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("scheduler/data.pkl", data)
    return path


@given(table=st.dictionaries(st.text(max_size=6), plain, max_size=5), protocol=st.sampled_from([2, 4]))
def test_that_any_table_of_plain_values_is_read(
    tmp_path_factory: Any, table: dict[str, Any], protocol: int
) -> None:
    path = saved(tmp_path_factory.mktemp("state") / "s.bin", pickle.dumps(table, protocol=protocol))
    assert read_plain_table(path) == table


class _Harmful:
    def __reduce__(self) -> tuple[Any, ...]:
        return (os.system, ("touch harmed",))


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps({"base_lrs": _Harmful()}, protocol=2),
        pickle.dumps({"x": {1, 2}}, protocol=4),
        pickle.dumps([1, 2], protocol=2),
        pickle.dumps({"a": 1}, protocol=2)[:-1],
        b"\x80\x02}(K\x01u.",
        b"\x80\x02K\x01K\x02a.",
        b"\x80\x02K\x01(K\x01K\x02u.",
        b"\x80\x02h\x05.",
        b"\x80\x02u.",
        b"",
        b"\xff",
        b"N" * (MOST_BYTES + 1),
    ],
)
def test_that_anything_else_is_no_table_and_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_plain_table(saved(tmp_path / "s.bin", data)) is None
    assert not (tmp_path / "harmed").exists()


def test_that_a_file_that_is_no_archive_or_has_no_table_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "s.bin").write_bytes(b"never")
    assert read_plain_table(tmp_path / "s.bin") is None
    assert read_plain_table(tmp_path / "gone.bin") is None
    with zipfile.ZipFile(tmp_path / "empty.bin", "w"):
        pass
    assert read_plain_table(tmp_path / "empty.bin") is None


def test_that_a_packed_table_may_be_damaged_at_any_byte(tmp_path: Path) -> None:
    file = tmp_path / "s.bin"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("s/data.pkl", pickle.dumps({"last_epoch": 5, "_last_lr": [0.1]}, 2))
    whole = file.read_bytes()
    for at in range(len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        read_plain_table(file)


def test_that_a_state_tells_both_counts_its_rates_and_who_saved_it(tmp_path: Path) -> None:
    table = {"base_lrs": [1e-5, 1e-4], "last_epoch": 108, "lr_lambdas": [None, None], "verbose": False}
    found = state_numbers(write_state(tmp_path / "s", counted=36, table=table, processes=2))
    assert (found.counted, found.scheduled, found.rates, found.has_random) == (36, 108, (1e-5, 1e-4), True)
    assert (found.behind(1), found.behind(2)) == (108, 54)


@pytest.mark.parametrize(
    "table", [{}, {"base_lrs": ["x"], "last_epoch": -1}, {"base_lrs": [float("nan")], "last_epoch": True}]
)
def test_that_numbers_that_are_none_are_left_out(tmp_path: Path, table: dict[str, Any]) -> None:
    found = state_numbers(write_state(tmp_path / "s", counted=-3, table=table, processes=0))
    assert (found.counted, found.scheduled, found.rates, found.has_random) == (None, None, (), False)
    assert found.behind(1) is None


def test_that_a_schedule_that_is_behind_by_dropped_steps_does_not_count() -> None:
    assert steps_behind(250, 248, 1) == 250
    assert steps_behind(50, 250, 0) == 250
    assert steps_behind(None, 250, 2) == 125


def test_that_what_the_trainer_saved_is_read(tmp_path: Path) -> None:
    state = write_state(tmp_path / "s")
    shutil.copy(DATA / "states" / "scheduler.bin", state)
    found = state_numbers(state)
    assert (found.scheduled, found.rates) == (12, (1e-4,))
