"""Model files are looked into: NaN and Inf are counted, norms are measured, pickles stay shut."""

from __future__ import annotations

import json
import math
import struct
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import save_file

from gui.engine.errors import Cancelled, CannotRead
from gui.engine.trainer import tensor_scan, tensors
from gui.engine.trainer.safetensors_file import read_header
from gui.engine.trainer.tensor_groups import grows_from_little, is_constant, start_rms, tensor_group
from gui.engine.trainer.tensors import check_tensors, model_files

DOWN = "lora_unet_mid_block_proj_in.lora_down.weight"
UP = "lora_unet_mid_block_proj_in.lora_up.weight"
ALPHA = "lora_unet_mid_block_proj_in.alpha"


def lora(down: float = 0.1, up: float = 0.01) -> dict[str, Any]:
    return {
        DOWN: np.full((4, 32), down, np.float32),
        UP: np.full((32, 4), up, np.float32),
        ALPHA: np.array(4, np.float32),
    }


def saved(path: Path, tensors: dict[str, Any], metadata: dict[str, str] | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path, metadata)
    return path


def torch_zip(path: Path, *, cut: int = 0) -> Path:
    """Write what torch.save writes: a zip with a pickle in it, here one that must never be opened."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"cos\nsystem\n(S'touch pwned'\ntR.")
        archive.writestr("archive/data/0", bytes(4000))
    if cut:
        path.write_bytes(path.read_bytes()[:-cut])
    return path


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small files be cut and shared out as large ones are."""
    monkeypatch.setattr(tensor_scan, "CHUNK_BYTES", 64)
    monkeypatch.setattr(tensor_scan, "PIECE_BYTES", 128)


float_arrays = st.sampled_from(["f8", "f4", "f2"]).flatmap(
    lambda kind: hnp.arrays(kind, hnp.array_shapes(max_dims=2, max_side=40))
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.dictionaries(st.sampled_from(["a.b", "c", "x.y.z.weight", DOWN, UP]), float_arrays, min_size=1))
def test_that_a_file_is_judged_as_numpy_judges_it(
    small_pieces: None, tmp_path: Path, arrays: dict[str, Any]
) -> None:
    report = check_tensors(saved(tmp_path / "m.safetensors", arrays))
    values = [array.astype(np.float64).ravel() for array in arrays.values()]
    assert report.checked
    assert report.complete
    assert report.nan_count == sum(int(np.isnan(v).sum()) for v in values)
    assert report.inf_count == sum(int(np.isinf(v).sum()) for v in values)
    assert report.finite == all(np.isfinite(v).all() for v in values)
    assert {bad.name for bad in report.bad} == {n for n, a in arrays.items() if not np.isfinite(a).all()}
    assert report.bad_tensors == len(report.bad)
    assert report.overall is not None
    finite = np.concatenate([v[np.isfinite(v)] for v in values])
    assert report.overall.elements == finite.size
    assert report.overall.peak == np.abs(finite).max(initial=0.0)
    peak = report.overall.peak or 1.0
    if 1e-150 < peak < 1e150:  # beyond that the squares of doubles are cut off
        assert report.overall.l2 / peak == pytest.approx(math.sqrt(((finite / peak) ** 2).sum()), rel=1e-4)


def test_that_integers_are_passed_over(tmp_path: Path) -> None:
    report = check_tensors(
        saved(tmp_path / "m.safetensors", {"ids": np.full(9, -1), "flag": np.array([True]), "w": np.ones(3)})
    )
    assert report.finite
    assert report.tensors == 3
    assert report.overall is not None
    assert report.overall.elements == 3


def test_that_a_file_of_integers_only_is_checked_and_has_no_norm(tmp_path: Path) -> None:
    report = check_tensors(saved(tmp_path / "m.safetensors", {"ids": np.arange(9)}))
    assert report.checked
    assert report.finite
    assert report.overall is None


def test_that_a_file_without_a_single_tensor_is_no_usable_file(tmp_path: Path) -> None:
    report = check_tensors(saved(tmp_path / "nothing.safetensors", {}))
    assert (report.readable, report.tensors) == (False, 0)
    assert "no tensor" in report.reason


def test_that_only_the_first_bad_tensors_are_named_and_all_are_counted(tmp_path: Path) -> None:
    arrays = {f"t{i:02}": np.array([np.nan, np.inf, 1.0]) for i in range(15)}
    report = check_tensors(saved(tmp_path / "m.safetensors", arrays))
    assert (report.finite, report.bad_tensors, report.nan_count, report.inf_count) == (False, 15, 15, 15)
    assert [bad.name for bad in report.bad] == [f"t{i:02}" for i in range(10)]


def test_that_the_steps_and_epochs_behind_a_file_are_read(tmp_path: Path) -> None:
    report = check_tensors(saved(tmp_path / "m.safetensors", lora(), {"ss_steps": "30", "ss_epoch": "two"}))
    assert (report.steps, report.epoch) == (30, None)


def test_that_scale_constants_have_a_norm_of_their_own(tmp_path: Path) -> None:
    report = check_tensors(saved(tmp_path / "m.safetensors", lora(down=0.5, up=0.5)))
    assert report.groups["lora_unet.alpha"].rms == 4.0
    assert report.overall is not None
    assert report.overall.rms == pytest.approx(0.5)


def test_that_a_file_with_countless_parts_has_a_bounded_number_of_groups(tmp_path: Path) -> None:
    arrays = {f"part{i}.weight": np.ones(1, np.float32) for i in range(tensors.MAX_GROUPS + 50)}
    report = check_tensors(saved(tmp_path / "m.safetensors", arrays))
    assert len(report.groups) == tensors.MAX_GROUPS + 1
    assert report.groups[tensors.OTHER].tensors == 50


@pytest.mark.parametrize("cut", [1, 200, 2000])
def test_that_a_cut_file_is_incomplete_and_says_so(tmp_path: Path, cut: int) -> None:
    path = saved(tmp_path / "m.safetensors", lora())
    path.write_bytes(path.read_bytes()[: -min(cut, path.stat().st_size - 3)])
    report = check_tensors(path)
    assert (report.complete, report.checked, report.finite) == (False, False, None)
    assert report.readable
    assert report.reason


def test_that_a_file_that_is_too_long_is_no_usable_file(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.safetensors", lora())
    path.write_bytes(path.read_bytes() + b"xx")
    report = check_tensors(path)
    assert (report.readable, report.complete) == (False, False)
    assert "2 bytes longer" in report.reason


def test_that_a_file_that_is_something_else_is_no_usable_file(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_text("<!DOCTYPE html><html>not found</html>")
    report = check_tensors(path)
    assert (report.readable, report.complete) == (False, False)


def test_that_a_file_that_shrinks_while_it_is_read_is_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path / "m.safetensors", lora())
    whole = read_header(path)
    path.write_bytes(path.read_bytes()[:-100])
    monkeypatch.setattr(tensors, "read_header", lambda _path: whole)
    report = check_tensors(path)
    assert (report.complete, report.checked) == (False, False)
    assert "changed" in report.reason


def test_that_progress_ends_at_the_whole_and_is_told_by_the_caller_s_thread(
    tmp_path: Path, small_pieces: None
) -> None:
    told: list[tuple[int, int, int]] = []
    path = saved(tmp_path / "m.safetensors", {"w": np.ones(5000, np.float32)})
    check_tensors(path, lambda done, total: told.append((done, total, threading.get_ident())))
    assert told[-1][:2] == (20_000, 20_000)
    assert {entry[2] for entry in told} == {threading.get_ident()}


def test_that_reading_can_be_called_off(tmp_path: Path, small_pieces: None) -> None:
    path = saved(tmp_path / "m.safetensors", {"w": np.ones(5000, np.float32)})
    with pytest.raises(Cancelled):
        check_tensors(path, cancelled=lambda: True)


def test_that_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(CannotRead, match=r"gone\.safetensors"):
        check_tensors(tmp_path / "gone.safetensors")


@pytest.mark.parametrize("suffix", [".ckpt", ".pt", ".bin"])
def test_that_a_pickle_is_judged_by_its_container_and_never_opened(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = check_tensors(torch_zip(tmp_path / f"m{suffix}"))
    assert (report.complete, report.readable, report.checked, report.finite) == (True, True, False, None)
    assert "never opened" in report.reason
    assert [path.name for path in tmp_path.iterdir()] == [f"m{suffix}"]


@pytest.mark.parametrize("cut", [1, 30, 2000])
def test_that_a_cut_pickle_is_incomplete(tmp_path: Path, cut: int) -> None:
    report = check_tensors(torch_zip(tmp_path / "m.ckpt", cut=cut))
    assert (report.complete, report.readable) == (False, True)


@pytest.mark.torch
def test_that_what_pytorch_writes_is_whole_and_its_old_form_cannot_be_told(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    new, old = tmp_path / "new.ckpt", tmp_path / "old.pt"
    torch.save({"a": torch.ones(1000)}, new)
    torch.save({"a": torch.ones(1000)}, old, _use_new_zipfile_serialization=False)
    assert check_tensors(new).complete is True
    assert check_tensors(old).complete is None
    new.write_bytes(new.read_bytes()[:-40])
    assert check_tensors(new).complete is False


def test_that_an_empty_and_a_foreign_file_are_no_pickle(tmp_path: Path) -> None:
    empty, foreign = tmp_path / "a.ckpt", tmp_path / "b.ckpt"
    empty.touch()
    foreign.write_bytes(b"hello")
    assert (check_tensors(empty).complete, check_tensors(empty).readable) == (False, True)
    assert check_tensors(foreign).readable is False


def test_that_a_zip_whose_table_lies_is_not_whole(tmp_path: Path) -> None:
    raw = bytearray(torch_zip(tmp_path / "m.ckpt").read_bytes())
    at = raw.rindex(b"PK\x01\x02")
    raw[at + 42 : at + 46] = struct.pack("<I", len(raw) + 5)  # where the last entry begins
    (tmp_path / "m.ckpt").write_bytes(raw)
    assert check_tensors(tmp_path / "m.ckpt").complete is False


def test_that_all_model_files_of_a_folder_are_looked_into(tmp_path: Path) -> None:
    saved(tmp_path / "unet" / "model.safetensors", {"w": np.full(4, 3.0)})
    saved(tmp_path / "vae" / "model.safetensors", {"w": np.array([np.nan, 4.0, 4.0, 4.0])})
    (tmp_path / "model_index.json").write_text("{}")
    told: list[tuple[int, int]] = []
    report = check_tensors(tmp_path, lambda done, total: told.append((done, total)))
    assert report.kind == "folder"
    assert (report.checked, report.complete, report.finite) == (True, True, False)
    assert [bad.name for bad in report.bad] == ["vae/model.safetensors: w"]
    assert set(report.groups) == {"unet/model.safetensors: w", "vae/model.safetensors: w"}
    assert report.overall is not None
    assert (report.overall.elements, report.overall.peak) == (7, 4.0)
    assert report.overall.l2 == pytest.approx(math.sqrt(4 * 9 + 3 * 16))
    size = sum(path.stat().st_size for path in model_files(tmp_path))
    assert report.size_bytes == size
    assert all(total == size for _done, total in told)


def test_that_a_folder_with_a_cut_file_or_with_pickles_is_said_to_be_so(tmp_path: Path) -> None:
    path = saved(tmp_path / "model.safetensors", lora())
    torch_zip(tmp_path / "optimizer.bin")
    report = check_tensors(tmp_path)
    assert (report.complete, report.checked, report.finite) == (True, False, True)
    assert "optimizer.bin" in report.reason
    path.write_bytes(path.read_bytes()[:-4])
    assert check_tensors(tmp_path).complete is False
    (tmp_path / "random.pkl").write_bytes(b"\x80\x02")
    path.unlink()
    report = check_tensors(tmp_path)
    assert (report.complete, report.finite, report.overall) == (None, None, None)


def test_that_a_folder_without_a_model_is_not_complete(tmp_path: Path) -> None:
    report = check_tensors(tmp_path)
    assert (report.complete, report.finite) == (False, None)
    assert report.reason


def test_that_a_report_survives_json(tmp_path: Path) -> None:
    report = check_tensors(saved(tmp_path / "m.safetensors", lora() | {"x": np.array([np.nan])}))
    text = report.model_dump_json()
    assert tensors.TensorReport.model_validate_json(text) == report
    assert "NaN" not in json.dumps(json.loads(text), allow_nan=False)


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("lora_unet_down_blocks_0_attentions_0_proj_in.lora_down.weight", "lora_unet.lora_down"),
        ("lora_te1_text_model_encoder_layers_0_mlp_fc1.alpha", "lora_te1.alpha"),
        ("lora_te_text_model.lora_up.weight", "lora_te.lora_up"),
        ("lora_unet_x.hada_w1_a", "lora_unet.hada_w1_a"),
        ("unet.down_blocks.0.attn.to_q.lora_A.default.weight", "unet.lora_A"),
        ("model.diffusion_model.input_blocks.0.0.weight", "model.diffusion_model.weight"),
        ("first_stage_model.encoder.bias", "first_stage_model.bias"),
        ("emb_params", "emb_params"),
        ("", ""),
    ],
)
def test_that_tensors_are_grouped_by_part_and_kind(name: str, group: str) -> None:
    assert tensor_group(name) == group


@pytest.mark.torch
def test_that_the_size_with_which_a_down_half_starts_is_that_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    layers = [torch.nn.Linear(320, 64, bias=False), torch.nn.Conv2d(128, 64, 3, bias=False)]
    for layer in layers:
        torch.nn.init.kaiming_uniform_(layer.weight, a=math.sqrt(5))  # as lora.py does
    values = torch.cat([layer.weight.detach().flatten() for layer in layers])
    expected = start_rms("lora_unet.lora_down", [tuple(layer.weight.shape) for layer in layers])
    assert float(values.square().mean().sqrt()) == pytest.approx(expected, rel=0.02)


def test_that_only_what_is_known_has_a_size_to_start_with() -> None:
    assert start_rms("lora_unet.lora_up", [(32, 4)]) == 0.0
    assert start_rms("model.diffusion_model.weight", [(32, 4)]) is None
    assert start_rms("lora_unet.lora_down", [(), (0, 4)]) is None


def test_that_parts_that_may_start_at_zero_are_known() -> None:
    growing = ["lora_unet.lora_up", "lora_unet.hada_w2_a", "emb_params"]
    assert all(map(grows_from_little, growing))
    assert not any(map(grows_from_little, ["lora_unet.lora_down", "model.diffusion_model.weight"]))
    assert is_constant("lora_te.alpha")
    assert not is_constant("lora_te.lora_up")
