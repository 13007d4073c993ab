"""Model files are hashed and examined as a whole folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from model_headers import write_model
from safetensors.numpy import save_file

from gui.engine.errors import Cancelled, CannotRead
from gui.engine.runs import hashes
from gui.engine.runs.examination import Examination, examine
from gui.engine.runs.hashes import cached_hash, hash_file

DOWN = "lora_unet_a.lora_down.weight"


def save(path: Path, step: int, down: float = 0.1) -> Path:
    metadata = {"ss_steps": str(step), "ss_sd_model_name": "base.safetensors"}
    save_file({DOWN: np.full((4, 64), down, np.float32)}, path, metadata)
    return path


def test_that_a_hash_is_that_of_all_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashes, "CHUNK_BYTES", 1000)
    path = tmp_path / "m.safetensors"
    path.write_bytes(bytes(range(256)) * 20)
    told: list[tuple[int, int]] = []
    found = hash_file(path, lambda done, total: told.append((done, total)))
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.autov2 == found.sha256[:10].upper()
    assert found.size_bytes == 5120
    assert told[0] == (1000, 5120)
    assert told[-1] == (5120, 5120)


def test_that_hashing_can_be_called_off_and_needs_a_file(tmp_path: Path) -> None:
    path = save(tmp_path / "m.safetensors", 1)
    with pytest.raises(Cancelled):
        hash_file(path, cancelled=lambda: True)
    with pytest.raises(CannotRead):
        hash_file(tmp_path / "gone")
    with pytest.raises(CannotRead):
        hash_file(tmp_path)


def test_that_a_hash_is_made_again_only_when_the_file_has_changed(tmp_path: Path) -> None:
    path, cache = save(tmp_path / "m.safetensors", 1), tmp_path / "cache"
    told: list[int] = []
    first = cached_hash(path, cache, lambda done, _total: told.append(done))
    assert (first, bool(told)) == (hash_file(path), True)
    told.clear()
    assert cached_hash(path, cache, lambda done, _total: told.append(done)) == first
    assert not told
    path.write_bytes(b"another")
    assert cached_hash(path, cache).sha256 == hashlib.sha256(b"another").hexdigest()
    for entry in cache.iterdir():
        entry.write_text("{}")
    assert cached_hash(path, cache).size_bytes == 7


def test_that_a_cache_that_cannot_be_written_is_no_hindrance(tmp_path: Path) -> None:
    path = save(tmp_path / "m.safetensors", 1)
    (tmp_path / "cache").write_text("a file")
    assert cached_hash(path, tmp_path / "cache") == hash_file(path)
    with pytest.raises(CannotRead):
        cached_hash(tmp_path / "gone", tmp_path / "cache")
    with pytest.raises(CannotRead):
        cached_hash(Path("a\0b"), tmp_path / "cache")
    with pytest.raises(Cancelled):
        cached_hash(path, tmp_path / "other", cancelled=lambda: True)
    assert not (tmp_path / "other").exists()


def test_that_a_file_which_changes_while_it_is_hashed_is_not_remembered(tmp_path: Path) -> None:
    path = save(tmp_path / "m.safetensors", 1)

    def grow(_done: int, _total: int) -> None:
        if not (tmp_path / "grown").exists():
            (tmp_path / "grown").touch()
            with path.open("ab") as file:
                file.write(b"more")

    cached_hash(path, tmp_path / "cache", grow)
    assert not (tmp_path / "cache").exists()


def test_that_an_examined_file_says_what_it_is(tmp_path: Path) -> None:
    path = write_model(tmp_path / "m.safetensors", {"emb_params": (2, 768)}, dtype="F32")
    kind = examine(path).files[0].kind
    assert kind is not None
    assert (kind.kind, kind.family) == ("embedding", "sd15")


def test_that_a_folder_is_examined_series_by_series(tmp_path: Path) -> None:
    save(tmp_path / "mira-step00000010.safetensors", 10)
    save(tmp_path / "mira-step00000020.safetensors", 20, down=5.0)
    save(tmp_path / "mira.safetensors", 30, down=np.nan)
    save(tmp_path / "other.safetensors", 5)
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "mira-state").mkdir()
    save(tmp_path / "mira-state" / "model.safetensors", 30)
    told: list[tuple[int, int]] = []
    found = examine(tmp_path, lambda done, total: told.append((done, total)))
    assert [(file.path.name, file.verdict.judgement) for file in found.files] == [
        ("mira-step00000010.safetensors", "clean"),
        ("mira-step00000020.safetensors", "grown"),
        ("mira.safetensors", "nonfinite"),
        ("other.safetensors", "clean"),
    ]
    assert found.trouble
    assert [path.name for path in found.first_bad] == ["mira-step00000020.safetensors"]
    assert [path.name for path in found.last_clean] == ["mira-step00000010.safetensors", "other.safetensors"]
    assert told[-1][0] == told[-1][1] == 2 * sum(file.size_bytes for file in found.files)
    assert [done for done, _total in told] == sorted(done for done, _total in told)
    first = found.files[0]
    assert first.header is not None
    assert (first.header.tensors, first.header.parameters, first.header.dtypes) == (1, 256, {"F32": 1})
    assert first.facts is not None
    assert first.facts.base_model == "base.safetensors"
    assert Examination.model_validate_json(found.model_dump_json(by_alias=True)) == found


def test_that_a_diffusers_model_is_examined_as_one(tmp_path: Path) -> None:
    folder = tmp_path / "mira-000001"
    (folder / "unet").mkdir(parents=True)
    save(folder / "unet" / "model.safetensors", 1)
    (folder / "model_index.json").write_text("{}")
    for path in (folder, tmp_path):
        [file] = examine(path).files
        assert (file.path, file.sha256, file.header, file.verdict.judgement) == (folder, None, None, "clean")
        assert file.size_bytes == (folder / "unet" / "model.safetensors").stat().st_size


def test_that_a_cut_file_is_trouble_and_a_foreign_one_is_unreadable(tmp_path: Path) -> None:
    path = save(tmp_path / "m.safetensors", 1)
    raw = path.read_bytes()
    path.write_bytes(raw[:-1])
    found = examine(path)
    assert (found.trouble, found.files[0].verdict.judgement) == (True, "incomplete")
    path.write_bytes(raw[:30])
    assert examine(path).files[0].header is None
    path.write_text("<html>not a model</html>")
    with pytest.raises(CannotRead, match=r"m\.safetensors"):
        examine(path)
    assert examine(tmp_path).trouble  # among others it is one more file with trouble


def test_that_there_must_be_something_to_examine(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone"):
        with pytest.raises(CannotRead):
            examine(path)


def test_that_an_examination_can_be_called_off(tmp_path: Path) -> None:
    save(tmp_path / "m.safetensors", 1)
    with pytest.raises(Cancelled):
        examine(tmp_path, cancelled=lambda: True)
