"""``kohya-preflight diagnose`` says what went wrong, of a log or of a run."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from written_runs import write_run

from gui.cli.main import run
from gui.engine.paths import Home
from gui.engine.runs.records import CommandRecord

DATA = Path(__file__).parents[1] / "data"
RECORDINGS = DATA / "recordings"
EXPECTED = json.loads((RECORDINGS / "expected.json").read_text("utf-8"))


def log_of(name: str) -> Path:
    return RECORDINGS / name / "combined.bin"


def report(capsys, *words: str) -> dict:
    run(["diagnose", *words, "--json"])
    return json.loads(capsys.readouterr().out)


def test_that_the_document_is_as_the_interface_says(capsys):
    found = report(capsys, str(DATA / "cases" / "OOM-02.txt"))
    assert list(found) == ["schema", "verdict", "exit_status", "progress", "diagnoses"]
    assert list(found["progress"]) == ["step", "total", "loss", "first_nonfinite_step", "saved"]
    first = found["diagnoses"][0]
    assert list(first) == ["id", "variant", "title", "evidence", "explanation", "fixes"]
    assert (first["id"], found["verdict"], found["exit_status"]) == ("cuda-oom", "unknown", None)
    assert list(first["evidence"][0]) == ["line", "text"]


def test_that_a_log_alone_says_how_far_it_came(capsys):
    progress = report(capsys, str(log_of("b_nan_lr1e3")))["progress"]
    assert (progress["step"], progress["total"], progress["first_nonfinite_step"]) == (14, 14, 3)
    assert progress["loss"] == "nan"
    assert len(progress["saved"]) == EXPECTED["b_nan_lr1e3"]["saving_lines"]


def test_that_people_read_the_cause_its_lines_and_the_ways_out(capsys):
    assert run(["diagnose", str(DATA / "cases" / "DATA-01.txt")]) == 1
    words = capsys.readouterr().out
    assert words.startswith("The trainer found no images.  [no-data]")
    assert "      24  No data found." in words
    assert "  - Describe the folder as a subset" in words


def test_that_a_healthy_log_has_no_cause(capsys):
    assert run(["diagnose", str(log_of("a_normal"))]) == 0
    assert "Nothing that is known to go wrong was found." in capsys.readouterr().out


def test_that_an_unknown_failure_shows_what_it_said_last(capsys, tmp_path):
    log = tmp_path / "strange.log"
    frames = "".join(f'  File "part{n}.py", line {n}, in work\n    work()\n' for n in range(30))
    before = "caching latents.\n" * 40
    trace = f"Traceback (most recent call last):\n{frames}ZeroError: the moon is full\n"
    log.write_text(f"{before}{trace}Something of no use afterwards\n", "utf-8")
    assert run(["diagnose", str(log)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "This failure is not known to the program. It ended with:"
    assert lines[-1].split(maxsplit=1) == ["102", "ZeroError: the moon is full"]
    assert len(lines) == 1 + 20


def test_that_an_unknown_refusal_shows_the_last_lines(capsys, tmp_path):
    log = tmp_path / "refused.log"
    log.write_text("load tokenizer\nFatal Python error: none_dealloc: deallocating None\n", "utf-8")
    assert run(["diagnose", str(log)]) == 1
    assert capsys.readouterr().out.rstrip().endswith("none_dealloc: deallocating None")


def test_that_standard_input_is_diagnosed(capsys, monkeypatch):
    pipe = io.TextIOWrapper(io.BytesIO((DATA / "cases" / "NAN-06.txt").read_bytes()))
    monkeypatch.setattr("sys.stdin", pipe)
    assert report(capsys, "-")["diagnoses"][0]["id"] == "loss-nonfinite"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-16-be"])
def test_that_logs_as_windows_writes_them_are_read(capsys, tmp_path, encoding):
    words = (DATA / "cases" / "DATA-01.txt").read_text("utf-8").replace("\n", "\r\n")
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    log = tmp_path / "out.log"
    log.write_bytes((mark + words).encode(encoding))
    assert report(capsys, str(log))["diagnoses"][0]["id"] == "no-data"


def written(home: Home, **values):
    made = write_run(home, "mira", **values)
    made.output_log.write_bytes(log_of("b_nan_lr1e3").read_bytes())
    return made


def test_that_a_run_brings_its_verdict_and_what_is_known_of_it(capsys, home):
    status = {"step": 14, "total": 14, "first_nonfinite_step": 3, "finite_loss": 1.349}
    made = written(home, verdict="suspect", status=status)
    found = report(capsys, made.name, "--home", str(home.root))
    assert found["verdict"] == "suspect"
    assert found["progress"]["loss"] == 1.349
    assert [each["id"] for each in found["diagnoses"]] == ["loss-nonfinite"]


def test_that_the_ways_out_of_a_broken_loss_say_what_they_change(capsys, home):
    status = {"step": 14, "total": 14, "first_nonfinite_step": 8, "finite_loss": 1.349}
    made = written(home, verdict="suspect", status=status)
    words = ("python", "train_network.py", "--learning_rate", "2e-4")
    CommandRecord(argv=words, cwd=made.path, python="python").write(made.command)
    fixes = report(capsys, made.name, "--home", str(home.root))["diagnoses"][0]["fixes"]
    halved = next(fix for fix in fixes if fix["label"].startswith("Halve the learning rate"))
    assert halved["changes"] == {"learning_rate": 0.0001}
    assert fixes[0]["label"].startswith("Start again from the beginning")


def test_that_a_finished_run_is_fine(capsys, home):
    made = write_run(home, "mira")
    made.output_log.write_bytes(log_of("a_normal").read_bytes())
    assert run(["diagnose", str(made.path)]) == 0
    assert capsys.readouterr().out.startswith("Finished: as the test wants it.")


def test_that_a_run_without_output_is_told_by_its_verdict(capsys, home):
    made = write_run(home, "mira", verdict="failed", reason="not-started", sentence="It never began.")
    assert run(["diagnose", str(made.path)]) == 1
    assert capsys.readouterr().out == "It never began.\n"


def test_that_what_is_neither_file_nor_run_is_refused(capsys, home):
    assert run(["diagnose", "nowhere", "--home", str(home.root)]) == 2
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize(("status", "words"), [(1, "the cause stands above"), (2, "refused its arguments")])
def test_that_a_launchers_report_alone_sends_one_up(capsys, tmp_path, status, words):
    log = tmp_path / "end.log"
    log.write_text(
        f"subprocess.CalledProcessError: Command '[x]' returned non-zero exit status {status}.\n", "utf-8"
    )
    assert run(["diagnose", str(log)]) == 1
    printed = capsys.readouterr().out
    assert words in printed and "exit status" in printed
    assert report(capsys, str(log))["diagnoses"] == []
