"""The verdict: by recorded output and exit status, by the last file, and in words."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gui.engine.errors import CannotRead
from gui.engine.runs.ending import Ending
from gui.engine.runs.final_file import FinalFile, judge_final
from gui.engine.runs.last_words import last_words
from gui.engine.runs.records import FileMark, mark_of
from gui.engine.runs.status import Cause, FileNow, Weights
from gui.engine.runs.verdict import judge_run, verdict_from_output
from gui.engine.trainer.events import Error, LossNonfinite, Phase, Setting, Step
from gui.engine.trainer.output import OutputParser, Tally
from gui.engine.trainer.tensors import TensorReport

RECORDINGS = Path(__file__).parents[1] / "data" / "recordings"
EXPECTED: dict[str, dict[str, Any]] = json.loads((RECORDINGS / "expected.json").read_text("utf-8"))
JUDGED = [name for name, expected in EXPECTED.items() if expected["verdict_from_output"] is not None]


@pytest.mark.parametrize("name", JUDGED)
def test_that_recorded_runs_get_the_expected_verdict(name: str) -> None:
    parser, tally = OutputParser(), Tally()
    for event in [*parser.feed((RECORDINGS / name / "combined.bin").read_bytes()), *parser.finish()]:
        tally.add(event)
    assert verdict_from_output(tally, EXPECTED[name]["exit"]) == EXPECTED[name]["verdict_from_output"]


def tally_of(step: int = 10, total: int = 10, *, saved: bool = True, bad: int | None = None) -> Tally:
    tally = Tally()
    if step:
        tally.add(Step(step=step, total=total, avr_loss=0.1))
    if bad is not None:
        tally.add(LossNonfinite(step=bad, value=float("nan")))
    if saved:
        tally.add(Phase(phase="done"))
    return tally


def final(weights: Weights = "finite", **more: Any) -> FinalFile:
    return FinalFile(Path("/out/lora.safetensors"), weights, **more)


def test_that_a_piece_of_log_has_no_verdict() -> None:
    assert verdict_from_output(tally_of(), None) == "unknown"


@pytest.mark.parametrize("status", [-2, -15, 130, 143, 0xC000013A, 0xC000013A - (1 << 32)])
def test_that_every_way_of_being_told_to_stop_is_a_stop(status: int) -> None:
    assert verdict_from_output(tally_of(3, saved=False), status) == "stopped"


@pytest.mark.parametrize(
    ("ending", "word", "reason"),
    [
        (Ending(tally_of(), 0, final()), "finished", "done"),
        (Ending(tally_of(), 0, final("not checked", reason="a pickle")), "finished", "done"),
        (Ending(tally_of(saved=False), 0, final()), "finished", "done"),
        (Ending(tally_of(), None, final()), "finished", "done"),
        (Ending(tally_of(), -15, final(), stop="user"), "finished", "done"),
        (Ending(tally_of(7), 0, final(), resumed=True), "finished", "done"),
        (Ending(tally_of(7), 0, final(), resumed=True, begun_at=3, whole=10), "finished", "done"),
        (Ending(tally_of(7, saved=False), 0, final(), begun_at=3, whole=10), "finished", "done"),
        (Ending(tally_of(bad=4), 0, final(), recovered=True), "finished", "done"),
        (Ending(tally_of(bad=4), 0, final()), "suspect", "loss-nonfinite"),
        (Ending(tally_of(bad=4), 0, final("not checked"), recovered=True), "suspect", "loss-nonfinite"),
        (Ending(tally_of(), 0, final("nonfinite", reason="NaN")), "suspect", "weights-nonfinite"),
        (Ending(tally_of(7), 0, final()), "suspect", "fewer-steps"),
        (Ending(tally_of(), 0, None), "suspect", "final-unknown"),
        (Ending(tally_of(), 0, final("missing")), "failed", "final-missing"),
        (Ending(tally_of(), 0, final("incomplete")), "failed", "final-incomplete"),
        (Ending(tally_of(), 0, final("incomplete"), disk_full="/out"), "failed", "disk-full"),
        (Ending(tally_of(), 0, final("old")), "failed", "final-old"),
        (Ending(tally_of(), None, final("missing")), "failed", "vanished"),
        (Ending(tally_of(3, saved=False), None), "failed", "vanished"),
        (Ending(tally_of(3, saved=False), None, rebooted=True), "failed", "rebooted"),
        (Ending(tally_of(), None, final(), rebooted=True), "finished", "done"),
        (Ending(tally_of(3, saved=False), 1, disk_full="/log"), "failed", "disk-full"),
        (Ending(tally_of(3, saved=False), 1), "failed", "error"),
        (Ending(tally_of(3, saved=False), -15), "stopped", "outside"),
        (Ending(tally_of(3, saved=False), -15, stop="guard"), "stopped", "guard"),
        (Ending(tally_of(3, saved=False), 1, stop="user"), "stopped", "user"),
        (Ending(tally_of(0, saved=False), 0), "nothing-trained", "nothing-to-train"),
        (Ending(tally_of(0, saved=False), None, not_started="no Python"), "failed", "not-started"),
    ],
)  # fmt: skip
def test_that_every_ending_has_its_word_and_sentence(ending: Ending, word: str, reason: str) -> None:
    verdict = judge_run(ending)
    assert (verdict.verdict, verdict.reason) == (word, reason)
    assert verdict.sentence
    assert "{" not in verdict.sentence and "None" not in verdict.sentence


def test_that_the_cause_is_named_where_there_is_one() -> None:
    tally = tally_of(0, saved=False)
    tally.add(Error(type="ValueError", message="no such file"))
    assert "ValueError: no such file" in judge_run(Ending(tally, 1)).sentence
    cause = Cause(id="model-missing", title="The base model is not there.")
    assert cause.title in judge_run(Ending(tally, 1, causes=(cause,))).sentence


@pytest.mark.parametrize(
    ("status", "how"),
    [
        (3, "(exit status 3)"),
        (-11, "(ended by signal SIGSEGV)"),
        (-1000, "(ended by signal 1000)"),
        (0xC0000005, "(exit status 0xC0000005)"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="it has no signals to name")
def test_that_the_last_words_stand_where_no_cause_is_known(status: int, how: str) -> None:
    """And nothing where the trainer said nothing, nor two spaces."""
    silent = judge_run(Ending(tally_of(0, saved=False), status)).sentence
    assert silent == f"The training failed before the first step {how}. Nothing was saved."
    said = judge_run(
        Ending(tally_of(0, saved=False), status, last_words="my  gizmo\nis " + "x" * 400)
    ).sentence
    assert f"{how}. The last words of the trainer: “my gizmo is …”. Nothing was saved." in said


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (
            b"loading\n\n  FATAL:  my gizmo is not plugged in \n\n  ----\n\n",
            "FATAL: my gizmo is not plugged in",
        ),
        (b"broken\n\rsteps:  50%|#####     | 5/10 [00:05<00:05,  1.00it/s, avr_loss=0.1]", "broken"),
        (b"x" * 200_000 + b"\nthe end", "the end"),
        (
            b"the key 0123abcd was refused, and hf_abcdefghijklmnopqrst too",
            "the key ••• was refused, and ••• too",
        ),
        (b"", ""),
    ],
)
def test_that_the_last_words_are_the_last_sentence(tmp_path: Path, log: bytes, words: str) -> None:
    (tmp_path / "output.log").write_bytes(log)
    assert last_words(tmp_path / "output.log", ["0123abcd"]) == words
    assert last_words(tmp_path / "none") == ""


def test_that_clean_files_are_told_from_the_rest() -> None:
    def file(name: str, judgement: str | None, **more: Any) -> FileNow:
        return FileNow(
            path=Path("/out", name), kind="model", complete=True, size=1, judgement=judgement, **more
        )

    ending = Ending(
        tally_of(9, saved=False, bad=8),
        -15,
        stop="guard",
        files=(
            file("a", "clean", removed=True, kept_as=Path("/out/kept/a")),
            file("b", "clean", removed=True),
            file("c", "clean"),
            file("d", "grown", sentence="finite, but grown 9×"),
            file("e", "nonfinite"),
        ),
    )
    verdict = judge_run(ending)
    assert [path.as_posix() for path in verdict.clean] == ["/out/kept/a", "/out/c"]
    assert [path.name for path in verdict.doubtful] == ["d", "e"]
    assert "The last clean file is c." in verdict.sentence


def test_that_without_a_clean_file_it_is_said_what_there_is() -> None:
    grown = FileNow(
        path=Path("/out/d"),
        kind="model",
        complete=True,
        size=1,
        judgement="grown",
        sentence="finite, but grown 9×",
    )
    verdict = judge_run(Ending(tally_of(9, saved=False), -15, stop="guard", files=(grown,)))
    assert "No clean file was saved; d: finite, but grown 9×" in verdict.sentence


def test_that_writing_the_configuration_is_no_training() -> None:
    tally = Tally()
    tally.add(Setting(name="saved config file", value="new.toml"))
    assert verdict_from_output(tally, 0) == "nothing-trained"


# --- the last file -------------------------------------------------------------------------------


def good(path: Path) -> TensorReport:
    return TensorReport(path=str(path), kind="safetensors", size_bytes=1, checked=True, finite=True)


def unreadable(path: Path) -> TensorReport:
    raise CannotRead(path, "no rights")


def test_that_a_run_without_a_name_for_its_file_has_none() -> None:
    assert judge_final([], {}, {}, good) is None


def test_that_the_announced_name_comes_before_the_expected_one(tmp_path: Path) -> None:
    announced, expected = tmp_path / "announced", tmp_path / "expected"
    expected.write_bytes(b"x")
    found = judge_final([announced, expected], {}, {}, good)
    assert found is not None and found.path == expected
    announced.write_bytes(b"x")
    found = judge_final([announced, expected], {}, {}, good)
    assert found is not None and found.path == announced


def test_that_a_file_is_new_by_its_mark_and_not_by_its_time(tmp_path: Path) -> None:
    path = tmp_path / "lora.safetensors"
    path.write_bytes(b"x")
    mark = mark_of(path)
    assert mark is not None
    old = judge_final([path], {path: mark}, {}, good)
    assert old is not None and old.weights == "old"
    earlier = mark.model_copy(update={"mtime_ns": mark.mtime_ns + 10**12})
    new = judge_final([path], {path: earlier}, {}, good)
    assert new is not None and new.weights == "finite"


def test_that_a_renamed_file_is_found_by_what_it_is(tmp_path: Path) -> None:
    path, renamed = tmp_path / "lora.safetensors", tmp_path / "best.safetensors"
    path.write_bytes(b"x")
    mark = mark_of(path)
    assert mark is not None
    path.rename(renamed)
    found = judge_final([path], {}, {path: mark}, good)
    assert found is not None and (found.path, found.renamed_from) == (renamed, path)


def test_that_a_missing_file_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "lora.safetensors"
    mark = FileMark(path=path, size=1, inode=7, mtime_ns=1)
    for seen in ({}, {path: mark}):
        found = judge_final([path], {}, seen, good)
        assert found is not None and found.weights == "missing"


def test_that_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    path = tmp_path / "lora.safetensors"
    path.write_bytes(b"x")
    found = judge_final([path], {}, {}, unreadable)
    assert found is not None and found.weights == "incomplete" and "no rights" in found.reason
