"""The report of a run: all that helps, nothing that tells who somebody is, whatever lies in the folder."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from written_runs import write_run

from gui.cli.main import run as cli
from gui.engine.errors import CannotRead
from gui.engine.paths import Home
from gui.engine.personal import Identity
from gui.engine.redaction import HIDDEN
from gui.engine.runs import report_making
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.metrics import GpuRow, HostRow, StepRow, ValidationRow
from gui.engine.runs.records import CommandRecord, FileMark, Manifest
from gui.engine.runs.report import Report
from gui.engine.runs.report_making import report_of_log, report_of_run
from gui.engine.runs.report_picture import figures_of, metrics_picture
from gui.engine.runs.report_pieces import log_text, read_piece

USER, BOX = "zqwann", "vx-box"
ME = Identity((USER, "Zqw Ann"), (BOX,), (f"/home/{USER}", "C:\\Users\\Zqw Ann"))
TOKEN = "hf_" + "aB1x" * 9
COMMIT = "0a1b" * 10

OOM = f"""\
12:00:01 INFO loading /home/{USER}/models/base.safetensors on {BOX}
steps:   0%|          | 0/10 [00:00<?]\rsteps:  10%|█         | 1/10 [00:01<00:09,  1.00s/it, avr_loss=0.1]
\x1b[31mTraceback (most recent call last):\x1b[0m
  File "/home/{USER}/sd-scripts/train_network.py", line 1, in <module>
    loss.backward()
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
token {TOKEN} key {"c0ffee11" * 5}
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def run(home: Home) -> RunFolder:
    """A run that failed, with someone's names and tokens all over it."""
    run = write_run(home, "mira", verdict="failed", sentence=f"Failed on {BOX}, see /home/{USER}/x.")
    CommandRecord(
        argv=("python", "train.py", "--output_dir", f"/home/{USER}/out", "--unet_lr", "1e-4", "--fp8_base"),
        cwd=Path(f"/home/{USER}/sd-scripts"),
        environment={"A": "b c"},
        unset=("PYTHONPATH",),
        python="python",
        note="No tokens.",
    ).write(run.command)
    left = FileMark(path=Path("/private/holiday.safetensors"), size=1, inode=1, mtime_ns=1)
    manifest = Manifest(
        program="1", trainer_commit=COMMIT, torch="2.6.0", cuda="12.4", driver="560", gpus=("RTX 3060",)
    )
    manifest.model_copy(update={"existing": (left,), "python_version": "3.11"}).write(run.manifest)
    run.output_log.write_text(OOM, "utf-8")
    run.dataset.write_text(f'[[datasets]]\nimage_dir = "/home/{USER}/images"\n')
    run.events.write_text('{"event": "phase", "phase": "loading", "t": 1}\n')
    run.metrics.write_text("\n".join(StepRow(step=n, loss=0.1).model_dump_json() for n in range(1, 9)) + "\n")
    return run


def made(run: RunFolder, home: Home) -> Report:
    return report_of_run(run, home, ME)


def texts(report: Report) -> dict[str, str]:
    return {part.name: part.data.decode("utf-8") for part in report.parts if not part.is_picture}


# --- what is in it ---------------------------------------------------------------------------------


def test_that_a_report_holds_all_that_helps(run: RunFolder, home: Home):
    report = made(run, home)
    assert [part.name for part in report.parts] == [
        *("report.txt", "plan.toml", "dataset.toml", "command.txt", "findings.txt", "log.txt"),
        *("events.jsonl", "status.json", "manifest.json", "metrics.png"),
    ]
    found = texts(report)
    assert "[cuda-oom]" in found["report.txt"]
    assert "torch 2.6.0, CUDA 12.4, Python 3.11" in found["report.txt"]
    assert "RTX 3060, driver 560" in found["report.txt"]
    assert "--unet_lr 1e-4 \\\n  --fp8_base" in found["command.txt"]
    assert "export A='b c'" in found["command.txt"] and "unset PYTHONPATH" in found["command.txt"]
    assert "CUDA out of memory" in found["log.txt"]
    assert "stop:" in found["findings.txt"]
    assert COMMIT in found["manifest.json"]
    assert report.text.startswith("Failed on <host>") and "[cuda-oom]" in report.text


def test_that_no_name_and_no_token_is_in_it(run: RunFolder, home: Home):
    report = made(run, home)
    everything = "\n".join([*texts(report).values(), report.text, report.name, *report.contents()])
    for word in (USER, BOX, TOKEN, "c0ffee11", "holiday"):
        assert word not in everything, word
    assert "~/out" in everything and HIDDEN in everything
    json.loads(texts(report)["status.json"])
    json.loads(texts(report)["manifest.json"])


@settings(max_examples=20)
@given(name=st.text("qzxjwv", min_size=4, max_size=9), where=st.sampled_from(["log", "plan", "events"]))
def test_that_a_name_of_another_machine_is_found_in_all_parts(
    tmp_path_factory: pytest.TempPathFactory, name: str, where: str
):
    home = Home(tmp_path_factory.mktemp("home"))
    run = write_run(home, "mira", practice=True)
    text = f'# "C:\\\\Users\\\\{name}\\\\x"\n'
    {"log": run.output_log, "plan": run.plan, "events": run.events}[where].write_text(text)
    run.supervisor_log.write_text(f"opened D:\\{name}\\y\n")
    assert not any(name in text for text in texts(made(run, home)).values())


def test_that_a_zip_is_called_by_no_name_and_by_one_that_every_system_saves(home: Home):
    report = made(write_run(home, f"{USER}_mira"), home)
    assert report.file_name.endswith("_user_mira-report.zip") and USER not in report.file_name


def test_that_a_run_of_practice_is_told_no_findings_of_others(home: Home):
    run = write_run(home, "mira", practice=True)
    assert "findings.txt" not in texts(made(run, home))
    assert "practice trainer" in texts(made(run, home))["report.txt"]


def test_that_control_characters_cannot_reach_a_terminal(run: RunFolder, home: Home):
    run.plan.write_text('name = "a"\n# \x1b[2J \x00 \x7f\n')
    for text in texts(made(run, home)).values():
        assert all(letter.isprintable() or letter in "\n\t" for letter in text)


# --- the zip ---------------------------------------------------------------------------------------


def test_that_the_same_run_gives_the_same_zip(run: RunFolder, home: Home, tmp_path: Path):
    first, second = made(run, home).zipped(), made(run, home).zipped()
    assert first == second
    made(run, home).write(tmp_path / "deep" / "report.zip")
    with zipfile.ZipFile(tmp_path / "deep" / "report.zip") as archive:
        assert archive.testzip() is None
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.namelist()[0] == "report.txt"
        Image.open(io.BytesIO(archive.read("metrics.png"))).verify()


def test_that_parts_can_be_left_out(run: RunFolder, home: Home):
    report = made(run, home).without(["log.txt", "metrics.png"])
    with zipfile.ZipFile(io.BytesIO(report.zipped())) as archive:
        assert not {"log.txt", "metrics.png"} & set(archive.namelist())


# --- odd folders -----------------------------------------------------------------------------------


def test_that_an_empty_folder_gives_a_report_too(home: Home, tmp_path: Path):
    report = made(RunFolder(tmp_path), home)
    assert [part.name for part in report.parts] == ["report.txt"]
    assert "Kohya Preflight" in report.text


def test_that_broken_documents_are_given_as_they_are(run: RunFolder, home: Home):
    for path in (run.status, run.manifest, run.command, run.plan):
        path.write_bytes(b"\xff{\n")
    run.metrics.write_bytes(b"{}\n\xff\n")
    found = texts(made(run, home))
    assert found["status.json"].startswith("\ufffd{")
    assert "[cuda-oom]" in found["report.txt"]


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_that_links_pipes_and_folders_are_left_out_and_named(run: RunFolder, home: Home, tmp_path: Path):
    secret = tmp_path / "secret.txt"
    secret.write_text("private words")
    odd = (run.output_log, run.plan, run.status, run.metrics, run.events)
    for path in odd:
        path.unlink()
    run.output_log.symlink_to(secret)
    run.plan.symlink_to(secret)
    os.mkfifo(run.status)
    run.metrics.mkdir()
    run.events.symlink_to(run.path / "nowhere")
    found = texts(made(run, home))
    assert "private" not in "\n".join(found.values())
    assert not {"log.txt", "plan.toml", "status.json", "events.jsonl"} & found.keys()
    for path in odd:
        assert f"{path.name}: it is no plain file" in found["report.txt"]


def test_that_a_huge_folder_gives_a_small_report(run: RunFolder, home: Home, monkeypatch):
    monkeypatch.setattr(report_making, "WHOLE_LOG_BYTES", 3 << 20)
    monkeypatch.setattr(report_making, "DIAGNOSED_START_BYTES", 1 << 16)
    monkeypatch.setattr(report_making, "DIAGNOSED_END_BYTES", 1 << 16)
    row = b'{"event": "step", "step": 1, "total": 2}\n'
    run.events.write_bytes(row * 100_000)
    run.output_log.write_bytes(b"first line\n" + b"x" * (4 << 20) + b"\n" + OOM.encode())
    run.dataset.write_bytes(b"# " + b"y" * (3 << 20))
    report = made(run, home)
    assert sum(len(part.data) for part in report.parts) < 3 << 20
    notes = {part.name: part.note for part in report.parts if part.note}
    assert notes.keys() == {"events.jsonl", "log.txt"}
    found = texts(report)
    assert found["log.txt"].startswith("first line\n") and "are left out here" in found["log.txt"]
    assert "CUDA out of memory" in found["log.txt"]
    assert "dataset.toml: 3.0 MiB of 3.0 MiB are left out" in found["report.txt"]
    assert found["events.jsonl"].startswith('{"event"')
    assert "[cuda-oom]" in report.text and "Failed on" in report.text


def test_that_a_log_of_a_gigabyte_is_read_by_its_ends(tmp_path: Path):
    log = tmp_path / "big.log"
    with log.open("wb") as file:
        file.write(b"first line\n")
        file.seek(1 << 30)  # nothing between takes room on the disk
        file.write(b"\n" + OOM.encode())
    report = report_of_log(log, ME)
    assert "[cuda-oom]" in report.text
    (_summary, part) = report.parts
    assert part.data.startswith(b"first line\n") and len(part.data) < 1 << 20
    assert part.note.endswith("of 1.0 GiB are left out")


def test_that_what_vanishes_while_it_is_read_is_no_fault(run: RunFolder, home: Home, monkeypatch):
    def vanish(_run: RunFolder) -> None:
        run.output_log.unlink()
        raise CannotRead(run.output_log, "it is gone")

    monkeypatch.setattr(report_making, "diagnose_run", vanish)
    assert made(run, home).text.startswith("Failed on")


# --- pieces of logs --------------------------------------------------------------------------------


def test_that_a_bar_is_cut_down_to_a_few_states(tmp_path: Path):
    (tmp_path / "log").write_bytes(b"a\n" + b"\r".join(b"bar %d" % n for n in range(100)) + b"\nend\n")
    text = log_text(read_piece(tmp_path / "log", 1 << 20, 0), 10_000)
    assert text.splitlines()[:3] == ["a", "bar 0", "bar 1"]
    assert text.splitlines()[-2:] == ["bar 99", "end"] and len(text.splitlines()) == 15
    assert "88 states" in text


@given(
    st.binary(max_size=300),
    st.integers(0, 100),
    st.integers(0, 100),
    st.integers(min_value=20, max_value=400),
)
def test_that_any_bytes_can_be_read_in_pieces(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, first: int, last: int, letters: int
):
    path = tmp_path_factory.mktemp("log") / "log"
    path.write_bytes(data)
    piece = read_piece(path, first, last)
    assert len(piece.start) + piece.left_out + len(piece.end) == len(data) == piece.size
    assert data.startswith(piece.start) and data.endswith(piece.end)
    assert len(log_text(piece, letters)) <= 4 * letters + 200


def test_that_a_cut_never_leaves_half_a_token(tmp_path: Path):
    path = tmp_path / "log"
    path.write_bytes((f"line {TOKEN}\n" * 3).encode())
    size = path.stat().st_size
    for at in range(1, size - 1):
        text = log_text(read_piece(path, at, size - at - 1), 10_000)
        assert text.count(TOKEN[:8]) == text.count(TOKEN)


def test_that_a_long_text_is_cut_at_a_line(tmp_path: Path):
    path = tmp_path / "log"
    path.write_text("".join(f"line {n:06d}\n" for n in range(10_000)))
    text = log_text(read_piece(path, 1 << 20, 0), 1000)
    lines = text.splitlines()
    assert lines[0] == "line 000000" and lines[-1] == "line 009999"
    assert all(len(line) == 11 for line in lines if line and "left out" not in line)


# --- the picture -----------------------------------------------------------------------------------


def test_that_a_picture_shows_all_kinds_of_figures():
    rows = [
        *(StepRow(step=n, loss=0.1 + n % 7, lr={"unet": 1e-4}, avr_loss=0.1) for n in range(1, 4000)),
        StepRow(step=4000, loss=float("nan"), lr={"unet": float("inf")}),
        StepRow(step=4001, loss=1e30),
        ValidationRow(step=10, loss=0.2),
        *(GpuRow(t=n, index=0, uuid="", process_bytes=n << 28, total_bytes=12 << 30) for n in range(9)),
        GpuRow(t=9, index=0, uuid="", used_bytes=1 << 30),
        HostRow(tree_rss_bytes=1, tree_processes=1),
    ]
    figures = figures_of(rows, 4000)
    assert set(figures.loss) == {"loss", "smoothed", "validation loss"}
    assert set(figures.memory) == {"GPU 0", "GPU 0 total"}
    picture = metrics_picture(figures)
    assert picture is not None and len(picture) < 300_000
    assert Image.open(io.BytesIO(picture)).size == (1200, 820)


def test_that_the_bars_mean_is_drawn_where_no_single_losses_are_known():
    assert set(figures_of([StepRow(step=1, avr_loss=0.1)]).loss) == {"avr_loss"}


@pytest.mark.parametrize("losses", [[], [0.5], [float("nan")] * 3])
def test_that_there_is_no_picture_of_nothing(losses: list[float]):
    assert metrics_picture(figures_of(StepRow(step=n, loss=loss) for n, loss in enumerate(losses))) is None


@settings(max_examples=15)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=2, max_size=20))
def test_that_any_figures_can_be_drawn(values: list[float]):
    figures = figures_of([StepRow(step=n, loss=value) for n, value in enumerate(values)], 3)
    drawn = metrics_picture(figures)
    assert drawn is None or drawn.startswith(b"\x89PNG")


# --- a log alone, and the command ------------------------------------------------------------------


def test_that_a_log_alone_gives_a_report(tmp_path: Path):
    log = tmp_path / f"{USER}.log"
    log.write_text(OOM, "utf-8")
    report = report_of_log(log, ME)
    assert [part.name for part in report.parts] == ["report.txt", "log.txt"]
    assert "[cuda-oom]" in report.text
    assert USER not in report.text + report.name + "".join(texts(report).values())
    assert report.file_name.endswith("-report.zip")
    with pytest.raises(CannotRead):
        report_of_log(tmp_path, ME)


def test_that_the_command_shows_first_and_writes_on_demand(
    run: RunFolder, home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    place, out = ["--home", str(home.root)], tmp_path / "r.zip"
    assert cli(["report", "mira", *place]) == 0
    shown = capsys.readouterr().out
    assert "metrics.png" in shown and "Not written yet" in shown and not out.exists()
    assert cli(["report", "mira", "-o", str(out), "--without", "log.txt", *place]) == 0
    assert f"Written: {out}" in capsys.readouterr().out
    assert "log.txt" not in zipfile.ZipFile(out).namelist()
    assert cli(["report", "mira", "-o", str(out), *place]) == 2
    assert "already exists" in capsys.readouterr().err
    assert cli(["report", "mira", "-o", str(out), "--overwrite", "--json", *place]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["schema"] == 1 and facts["path"] == str(out)
    assert {part["name"] for part in facts["parts"]} >= {"report.txt", "log.txt"}
    assert cli(["report", "mira", "--without", "holiday", *place]) == 2
    assert "There is no part holiday" in capsys.readouterr().err


def test_that_the_diagnosis_is_printed_to_be_pasted(
    run: RunFolder, home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert cli(["report", str(run.output_log), "--text"]) == 0
    assert "[cuda-oom]" in capsys.readouterr().out
    out = tmp_path / "r.zip"
    assert cli(["report", "mira", "--text", "-o", str(out), "--home", str(home.root)]) == 0
    told = capsys.readouterr()
    assert "[cuda-oom]" in told.out and "log.txt" not in told.out and "log.txt" in told.err
    assert out.exists()
