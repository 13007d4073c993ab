"""Unsaved work survives: one draft an instance, taken over once, damaged ones put aside."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.errors import CannotWrite
from gui.engine.paths import Home
from gui.engine.plan.changes import same_value
from gui.engine.plan.drafts import Draft, Drafts, fingerprint
from gui.engine.plan.model import LaunchSettings, TrainingPlan

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=True)
    | st.text()
    | st.datetimes(allow_imaginary=False).map(lambda moment: moment.replace(fold=0))
    | st.dates()
    | st.times().map(lambda moment: moment.replace(fold=0)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def _draft(name: str = "mira", **arguments: Any) -> Draft:
    return Draft.of(TrainingPlan(name=name, arguments=arguments), None, Path("/somewhere"), "")


@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=4))
def test_that_a_draft_gives_back_every_value_that_a_plan_can_hold(arguments: dict[str, Any]) -> None:
    plan = TrainingPlan(name="x", arguments=arguments, dataset={"!": arguments})
    draft = Draft.of(plan, Path("/a/plan.toml"), Path("/a"), "f")
    again = Draft.model_validate_json(json.dumps(draft.model_dump(by_alias=True)))
    kept = {
        name: value for name, value in arguments.items() if name not in ("huggingface_token", "wandb_api_key")
    }
    assert same_value(again.plan.arguments, kept)
    assert same_value(again.plan.dataset, {"!": arguments})
    assert (again.path, again.base, again.fingerprint) == (str(Path("/a/plan.toml")), str(Path("/a")), "f")


def test_that_tokens_are_in_no_draft(tmp_path: Path) -> None:
    plan = TrainingPlan(
        arguments={"huggingface_token": "hf_secret"}, launch=LaunchSettings(env={"WANDB_API_KEY": "w_secret"})
    )
    drafts = Drafts(Home(tmp_path))
    drafts.write(Draft.of(plan, None, tmp_path, ""))
    assert "secret" not in "".join(path.read_text() for path in drafts.folder.iterdir())


def test_that_a_living_instance_keeps_its_draft_to_itself(tmp_path: Path) -> None:
    first, second = Drafts(Home(tmp_path)), Drafts(Home(tmp_path))
    first.write(_draft("one"))
    second.write(_draft("two"))
    assert second.left_behind() == []
    assert len(list(first.folder.glob("*.json"))) == 2


def test_that_the_work_of_a_killed_program_is_offered_and_taken_over_once(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from gui.engine.paths import Home\n"
        "from gui.engine.plan.drafts import Draft, Drafts\n"
        "from gui.engine.plan.model import TrainingPlan\n"
        "d = Drafts(Home(Path(sys.argv[1])))\n"
        "d.write(Draft.of(TrainingPlan(name='unsaved', arguments={'unet_lr': 3e-5}), None, Path('/b'), ''))\n"
        "os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False, timeout=60)
    first, second = Drafts(Home(tmp_path)), Drafts(Home(tmp_path))
    (left,) = first.left_behind()
    assert left.name == "unsaved"
    (again,) = second.left_behind()
    taken = first.take_over(left)
    assert taken is not None
    assert taken.plan.arguments == {"unet_lr": 3e-5}
    assert second.take_over(again) is None
    assert second.left_behind() == []
    first.close()
    assert [found.name for found in second.left_behind()] == ["unsaved"]


def test_that_two_who_take_over_at_once_do_not_both_get_it(tmp_path: Path) -> None:
    dead = Drafts(Home(tmp_path))
    dead.write(_draft())
    dead.close()
    first, second = Drafts(Home(tmp_path)), Drafts(Home(tmp_path))
    (left,) = first.left_behind()
    with second._lock_file(left.instance).open("a+b") as file:  # the other one is in the middle of it
        from gui.engine.file_lock import try_lock

        assert try_lock(file)
        assert first.take_over(left) is None
    assert first.take_over(left) is not None


def test_that_what_was_set_aside_is_offered_newest_first_and_can_be_thrown_away(tmp_path: Path) -> None:
    drafts = Drafts(Home(tmp_path))
    drafts.set_aside(_draft("older"))
    newer = drafts.set_aside(_draft("newer"))
    assert [left.name for left in drafts.left_behind()] == ["newer", "older"]
    drafts.discard(newer)
    assert [left.name for left in drafts.left_behind()] == ["older"]


def test_that_saved_work_leaves_nothing(tmp_path: Path) -> None:
    drafts = Drafts(Home(tmp_path))
    drafts.write(_draft())
    drafts.clear()
    drafts.close()
    assert list(drafts.folder.iterdir()) == []
    assert Drafts(Home(tmp_path)).left_behind() == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{",
        b'{"schema": 1}',
        b'{"schema":1,"base":"/","data":{"name":5},"written":0}',
        b'{"schema":1,"base":"/","data":{"arguments":{"a":{"!":["date","never"]}}},"written":0}',
        b'{"schema":1,"base":"/","data":{"arguments":{"a":{"!":3}}},"written":0}',
        b"[" * 100_000,
    ],
)
def test_that_a_damaged_draft_is_put_aside_and_said(tmp_path: Path, content: bytes) -> None:
    drafts = Drafts(Home(tmp_path))
    drafts.set_aside(_draft("fine"))
    damaged = drafts.folder / f"{'ab' * 8}.json"
    damaged.write_bytes(content)
    assert [left.name for left in drafts.left_behind()] == ["fine"]
    assert len(drafts.notes) == 1
    assert "damaged" in drafts.notes[0]
    assert damaged.with_name(damaged.name + ".damaged").read_bytes() == content
    drafts.left_behind()
    assert len(drafts.notes) == 1


def test_that_a_newer_versions_draft_and_foreign_files_stay_untouched(tmp_path: Path) -> None:
    drafts = Drafts(Home(tmp_path))
    drafts.folder.mkdir(parents=True)
    newer = drafts.folder / f"{'cd' * 8}.json"
    newer.write_text('{"schema": 99}')
    foreign = drafts.folder / "notes of mine.json"
    foreign.write_text("{")
    assert drafts.left_behind() == []
    assert newer.exists()
    assert foreign.exists()
    assert drafts.notes == []


def test_that_a_home_that_is_a_file_is_said_and_nothing_else(tmp_path: Path) -> None:
    root = tmp_path / "home"
    root.write_text("")
    drafts = Drafts(Home(root))
    assert drafts.left_behind() == []
    with pytest.raises(CannotWrite):
        drafts.write(_draft())
    with pytest.raises(CannotWrite):
        drafts.set_aside(_draft())
    drafts.clear()
    drafts.close()


def test_that_what_cannot_be_written_at_all_is_said(tmp_path: Path) -> None:
    deep: Any = []
    for _level in range(400):
        deep = [deep]
    ring: list[Any] = []
    ring.append(ring)
    drafts = Drafts(Home(tmp_path))
    draft = _draft().model_copy(update={"data": {"arguments": {"a": ring}}})
    with pytest.raises(CannotWrite):
        drafts.write(draft)
    drafts.write(_draft(a=deep, at=datetime.date(2026, 1, 2)))


def test_that_texts_are_told_apart() -> None:
    assert fingerprint("") == ""
    assert fingerprint("a = 1\n") == fingerprint("a = 1\n") != fingerprint("a = 2\n")
