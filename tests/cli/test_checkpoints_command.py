"""``checkpoints``: what it prints, and how it leaves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from model_headers import write_model
from safetensors.numpy import save_file

from gui.cli import checkpoints, main, progress

DOWN = "lora_unet_a.lora_down.weight"


def save(path: Path, step: int, down: float = 0.1) -> Path:
    metadata = {"ss_steps": str(step), "ss_sd_model_name": "base.safetensors", "ss_network_dim": "4"}
    save_file({DOWN: np.full((4, 64), down, np.float32)}, path, metadata)
    return path


def test_that_clean_files_leave_with_0_and_are_described(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path / "mira.safetensors", 30)
    assert main.run(["checkpoints", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("mira.safetensors: clean\n")
    assert "SHA-256 " in out
    assert "step 30 · rank 4" in out
    assert "base model base.safetensors" in out
    assert err == ""


def test_that_a_file_is_said_to_be_what_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_model(tmp_path / "mira.safetensors", {"emb_params": (2, 768)}, dtype="F32")
    assert main.run(["checkpoints", str(path)]) == 0
    assert "  textual inversion for Stable Diffusion 1, F32 (sd15)\n" in capsys.readouterr().out
    assert main.run(["checkpoints", str(path), "--json"]) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert (file["kind"]["kind"], file["kind"]["family"]) == ("embedding", "sd15")


def test_that_trouble_leaves_with_1_and_names_the_last_clean_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path / "mira-step00000010.safetensors", 10)
    save(tmp_path / "mira-step00000020.safetensors", 20, down=np.nan)
    assert main.run(["checkpoints", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert f"{DOWN}: 256 × NaN, 0 × Inf" in out
    assert "2 files, 1 clean." in out
    assert "First with trouble: mira-step00000020.safetensors" in out
    assert "Last clean: mira-step00000010.safetensors" in out


def test_that_json_is_one_document_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save(tmp_path / "mira.safetensors", 30, down=np.inf)
    assert main.run(["checkpoints", str(path), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    assert document["trouble"] is True
    assert document["files"][0]["numbers"]["inf_count"] == 256
    assert document["files"][0]["verdict"]["judgement"] == "nonfinite"


def test_that_what_cannot_be_read_leaves_with_2_and_one_line(tmp_path: Path) -> None:
    path = tmp_path / "mira.safetensors"
    path.write_text("<html>no model</html>")
    for what in (path, tmp_path / "gone", tmp_path / "gone.safetensors"):
        done = subprocess.run(
            [sys.executable, "-m", "gui", "checkpoints", str(what)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1
        assert "Traceback" not in done.stderr


def test_that_names_in_a_file_cannot_move_the_cursor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mira.safetensors"
    save_file({"a\x1b[2Jb\rc\nd": np.array([np.nan])}, path, {"ss_sd_model_name": "\x1b]0;owned\x07"})
    main.run(["checkpoints", str(path)])
    out = capsys.readouterr().out
    assert all(line.isprintable() for line in out.splitlines())
    assert len(out.splitlines()) == 5


def test_that_progress_is_drawn_over_on_a_terminal_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path / "mira.safetensors", 30)
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 0.0)
    main.run(["checkpoints", str(tmp_path)])
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main.run(["checkpoints", str(tmp_path)])
    drawn = capsys.readouterr().err
    assert "reading: 100 %" in drawn
    assert drawn.endswith("\r")


def test_that_ctrl_c_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoints, "examine", interrupted)
    assert main.run(["checkpoints", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "kohya-preflight: Cancelled.\n"


def test_that_large_files_are_told_in_gib_and_long_lists_are_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arrays = {f"part{i}.sub.x.weight": np.full(1, np.nan if i < 5 else 1.0) for i in range(15)}
    save_file(arrays, tmp_path / "mira.safetensors")
    main.run(["checkpoints", str(tmp_path)])
    out = capsys.readouterr().out
    assert out.count("× NaN") == 3
    assert ", …" in out
    assert checkpoints._size(3 << 30) == "3.00 GiB"
