"""What can be done with a saved file beside checking it: card, blocks, comparison, hash, copy, samples."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from model_headers import shapes_of
from saved_runs import saved, saved_run, write_state, write_weights

from gui.engine.errors import Cancelled, CannotRead, CannotWrite
from gui.engine.paths import Home
from gui.engine.runs import sending
from gui.engine.runs.block_growth import block_growth
from gui.engine.runs.checksum import checksum_file, known_checksum, write_checksum
from gui.engine.runs.file_comparison import compare_files
from gui.engine.runs.file_look import comparable, look_at_file, place_of
from gui.engine.runs.file_origin import run_of_file, samples_of_file
from gui.engine.runs.model_card import model_card
from gui.engine.runs.sending import send_copy
from gui.engine.trainer.model_metadata import trigger_words
from gui.engine.trainer.tensor_blocks import block_order, tensor_block
from gui.engine.trainer.tensors import check_tensors

TOLD = {
    "ss_output_name": "mira",
    "ss_sd_model_name": "sd15.safetensors",
    "ss_new_sd_model_hash": "0123456789abcdef",
    "ss_vae_name": "vae-ft.safetensors",
    "ss_network_module": "networks.lora",
    "ss_network_dim": "16",
    "ss_network_alpha": "8.0",
    "ss_unet_lr": "0.0002",
    "ss_text_encoder_lr": "2e-05",
    "ss_steps": "40",
    "ss_max_train_steps": "100",
    "ss_epoch": "4",
    "ss_training_finished_at": "1764500000",
    "ss_dataset_dirs": json.dumps({"2_mira": {"n_repeats": 2, "img_count": 3}, "1_x": {"img_count": 1}}),
    "ss_tag_frequency": json.dumps(
        {"2_mira": {"mira ": 3, "girl": 3, "a" * 60: 3, "sea": 1}, "1_x": {"y": 1}}
    ),
}


@pytest.mark.parametrize(
    ("name", "block"),
    [
        ("lora_unet_down_blocks_0_attentions_1_proj_in.lora_up.weight", "unet down_blocks_0"),
        ("lora_unet_mid_block_attentions_0_proj_in.lora_up.weight", "unet mid_block"),
        ("lora_unet_middle_block_1_transformer_blocks_3_ff.alpha", "unet middle_block"),
        (
            "lora_unet_input_blocks_4_1_transformer_blocks_0_attn1_to_q.lora_down.weight",
            "unet input_blocks_4",
        ),
        ("lora_te1_text_model_encoder_layers_5_mlp_fc1.alpha", "te1 encoder_layers_5"),
        ("lora_unet_double_blocks_7_img_attn_proj.lora_up.weight", "unet double_blocks_7"),
        ("model.diffusion_model.output_blocks.3.0.weight", "output_blocks_3"),
        ("cond_stage_model.transformer.text_model.encoder.layers.2.mlp.fc1.bias", "te layers_2"),
        ("emb_params", "other"),
    ],
)
def test_that_a_tensor_is_of_its_block(name: str, block: str) -> None:
    assert tensor_block(name) == block


def test_that_blocks_come_in_the_order_of_the_model() -> None:
    blocks = sorted({tensor_block(name) for name in shapes_of("lora-sd15")}, key=block_order)
    unet = [block for block in blocks if block.startswith("unet")]
    assert unet[:3] == ["unet down_blocks_0", "unet down_blocks_1", "unet down_blocks_2"]
    assert unet[3] == "unet mid_block"
    assert unet[-1] == "unet up_blocks_3"


def test_that_growth_is_that_of_the_half_that_starts_at_zero(tmp_path: Path) -> None:
    first = check_tensors(write_weights(tmp_path / "a.safetensors", 0.01))
    second = check_tensors(write_weights(tmp_path / "b.safetensors", 0.03))
    found = block_growth(first, second)
    assert [each.block for each in found] == ["unet down_blocks_0", "unet up_blocks_1"]
    assert all(each.factor == pytest.approx(3.0) for each in found)
    assert first.blocks["unet down_blocks_0"].tensors == 1
    alone = block_growth(None, second)
    assert [(each.before, each.factor) for each in alone] == [(None, None)] * 2
    other = check_tensors(
        write_weights(tmp_path / "c.safetensors", modules=["lora_te_text_model_encoder_layers_0"])
    )
    gone = {each.block: each for each in block_growth(first, other)}
    assert gone["unet up_blocks_1"].after is None and gone["unet up_blocks_1"].factor is None


def test_that_blocks_of_a_folder_are_named_by_their_file(tmp_path: Path) -> None:
    state = write_state(tmp_path / "m-state", optimizer=False)
    assert "model.safetensors: unet down_blocks_0" in check_tensors(state).blocks


def test_that_a_card_says_what_others_must_know(tmp_path: Path) -> None:
    path = write_weights(tmp_path / "m.safetensors", metadata=TOLD)
    card = model_card(path, sha256="ab" * 32)
    rows = dict(card.rows)
    assert card.title == "mira"
    assert rows["Calls it up"] == "mira, girl"
    assert rows["Trained on"] == "sd15.safetensors (0123456789)"
    assert rows["VAE"] == "vae-ft.safetensors"
    assert rows["Rank"] == "16, alpha 8.0"
    assert rows["Steps"] == "40 of 100, epoch 4"
    assert rows["Learning rate"] == "model 0.0002, text encoder 2e-05"
    assert rows["Saved"].endswith(" UTC")
    assert rows["SHA-256"] == "ab" * 32
    text = card.text()
    assert text.startswith("# mira\n\n- ")
    assert "- Trained on: sd15.safetensors (0123456789)\n" in text


def test_that_a_card_of_a_silent_file_says_the_little_that_is_there(tmp_path: Path) -> None:
    card = model_card(write_weights(tmp_path / "m.safetensors"))
    assert card.title == "m"
    assert {"Steps", "Rank", "Learning rate"}.isdisjoint(dict(card.rows))
    told = {"ss_steps": "7", "ss_learning_rate": "0.1", "ss_network_dim": "4"}
    rows = dict(model_card(write_weights(tmp_path / "n.safetensors", metadata=told)).rows)
    assert (rows["Steps"], rows["Learning rate"], rows["Rank"]) == ("7", "0.1", "4")
    with pytest.raises(CannotRead):
        model_card(tmp_path / "gone.safetensors")


def test_that_trigger_words_are_told_or_those_of_all_images() -> None:
    assert trigger_words({**TOLD, "modelspec.trigger_phrase": "mira the cat"}) == ("mira the cat",)
    assert trigger_words(TOLD) == ("mira", "girl")
    assert trigger_words({"ss_tag_frequency": '{"a": {"b": 1}}', "ss_dataset_dirs": '{"a": 3}'}) == ()


def test_that_two_files_are_compared_by_card_and_by_block(tmp_path: Path) -> None:
    first = write_weights(tmp_path / "a.safetensors", 0.01, metadata=TOLD)
    second = write_weights(
        tmp_path / "b.safetensors", 0.02, metadata={**TOLD, "ss_steps": "80", "ss_seed": "1"}
    )
    told: list[tuple[int, int]] = []
    found = compare_files(first, second, lambda done, total: told.append((done, total)))
    differences = {each.what: (each.first, each.second) for each in found.differences}
    assert differences["Steps"] == ("40 of 100, epoch 4", "80 of 100, epoch 4")
    assert differences["Seed"] == ("", "1")
    assert "Rank" not in differences
    assert [each.factor for each in found.blocks] == pytest.approx([2.0, 2.0])
    assert found.first.finite and found.second.finite
    pickle = tmp_path / "c.ckpt"
    pickle.write_bytes(b"PK")
    assert any(
        each.what == "Steps" and each.second == "" for each in compare_files(first, pickle).differences
    )


def test_that_a_hash_stands_beside_its_file_and_a_changed_file_is_told(tmp_path: Path) -> None:
    path = write_weights(tmp_path / "m.safetensors")
    assert known_checksum(path) is None
    found = write_checksum(path)
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert checksum_file(path).read_text() == f"{found.sha256}  m.safetensors\n"
    before = checksum_file(path).stat().st_mtime_ns
    write_checksum(path)
    assert checksum_file(path).stat().st_mtime_ns == before
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(CannotWrite, match="has changed"):
        write_checksum(path)
    checksum_file(path).write_text("nothing like it")
    assert known_checksum(path) is None


def test_that_a_copy_is_read_back_and_overwrites_nothing(tmp_path: Path) -> None:
    path, folder = write_weights(tmp_path / "m.safetensors", 0.01), tmp_path / "loras"
    folder.mkdir()
    told: list[tuple[int, int]] = []
    copy = send_copy(path, folder, lambda done, total: told.append((done, total)))
    assert copy == folder / "m.safetensors"
    assert copy.read_bytes() == path.read_bytes()
    assert told[-1][0] == told[-1][1] == 2 * path.stat().st_size
    assert send_copy(path, folder) == copy, "it is there already"
    write_weights(path, 0.02)
    other = send_copy(path, folder)
    assert other.name == "m (2).safetensors"
    assert copy.read_bytes() != other.read_bytes()
    assert sorted(each.name for each in folder.iterdir()) == ["m (2).safetensors", "m.safetensors"]


def test_that_a_copy_works_where_there_are_no_hard_links(tmp_path: Path, monkeypatch) -> None:
    def no_links(_source: object, _target: object) -> None:
        raise OSError("not here")

    monkeypatch.setattr(sending.os, "link", no_links)
    path = write_weights(tmp_path / "m.safetensors", 0.01)
    (tmp_path / "l").mkdir()
    (tmp_path / "l" / "m.safetensors").write_bytes(b"another's")
    assert send_copy(path, tmp_path / "l").name == "m (2).safetensors"
    assert (tmp_path / "l" / "m.safetensors").read_bytes() == b"another's"


def test_that_a_copy_that_cannot_be_leaves_nothing_behind(tmp_path: Path, monkeypatch) -> None:
    path, folder = write_weights(tmp_path / "m.safetensors"), tmp_path / "l"
    with pytest.raises(CannotWrite, match="no such folder"):
        send_copy(path, folder)
    folder.mkdir()
    with pytest.raises(Cancelled):
        send_copy(path, folder, None, lambda: True)
    (folder / "gone.safetensors").write_bytes(b"sent before")
    with pytest.raises(CannotRead, match="no longer there"):
        send_copy(tmp_path / "gone.safetensors", folder)
    (folder / "gone.safetensors").unlink()
    usage = sending.shutil.disk_usage(folder)
    monkeypatch.setattr(sending.shutil, "disk_usage", lambda _folder: usage._replace(free=10))
    with pytest.raises(CannotWrite, match="space"):
        send_copy(path, folder)
    monkeypatch.setattr(sending.shutil, "disk_usage", lambda _folder: usage)
    real = sending.hash_file
    monkeypatch.setattr(
        sending, "hash_file", lambda *words: real(*words).model_copy(update={"sha256": "0" * 64})
    )
    with pytest.raises(CannotWrite, match="not what was read"):
        send_copy(path, folder)
    assert not list(folder.iterdir())


def samples(out: Path, *names: str) -> None:
    (out / "sample").mkdir(parents=True, exist_ok=True)
    for name in names:
        (out / "sample" / name).write_bytes(b"")


def test_that_a_file_leads_to_its_run_and_to_the_samples_of_its_step(tmp_path: Path) -> None:
    home, out = Home(tmp_path / "home"), tmp_path / "out"
    step = write_weights(out / "mira-step00000020.safetensors")
    epoch = write_weights(out / "mira-000004.safetensors", metadata={"ss_steps": "40", "ss_epoch": "4"})
    early = write_weights(out / "mira-step00000005.safetensors")
    kept = out / "kept" / "mira-step00000010.safetensors"
    files = [
        saved(step),
        saved(epoch),
        saved(early),
        saved(out / "x.safetensors", removed=True, kept_as=kept),
    ]
    run = saved_run(home, {"output_dir": str(out), "output_name": "mira"}, files=files)
    assert run_of_file(home, step) == run_of_file(home, kept) == run
    assert run_of_file(home, tmp_path / "else.safetensors") is None
    assert samples_of_file(run, step) == ((), False)
    samples(
        out,
        *("mira_000010_00_20260101000000_1.png", "mira_000020_01_20260101000001.png"),
        *("mira_000020_00_20260101000000_1.png", "mira_000020_00_20260101000009_1.png"),
        *("mira_e000003_00_20260101000000.png", "other_000020_00_20260101000000.png"),
    )
    at = samples_of_file(run, step)
    assert at.exact
    assert [path.name for path in at.paths] == [
        "mira_000020_00_20260101000009_1.png",
        "mira_000020_01_20260101000001.png",
    ]
    before = samples_of_file(run, epoch)
    assert not before.exact
    assert before.paths
    assert samples_of_file(run, early) == ((), False)
    run.command.unlink()
    assert samples_of_file(run, step) == ((), False)


def test_that_a_damaged_run_and_one_without_a_folder_hinder_nothing(tmp_path: Path) -> None:
    home, out = Home(tmp_path / "home"), tmp_path / "out"
    path = write_weights(out / "mira-step00000020.safetensors")
    run = saved_run(home, {"output_dir": str(out)}, files=[saved(path)])
    broken = home.runs / "20270101-000000-broken"
    broken.mkdir()
    (broken / "status.json").write_text('{"schema": 99}')
    assert run_of_file(home, path) == run
    samples(out, "000020_00_20260101000000.png")
    assert samples_of_file(run, path).exact


def test_that_all_of_a_file_is_looked_at_once(tmp_path: Path) -> None:
    home, out = Home(tmp_path / "home"), tmp_path / "out"
    arguments = {"output_dir": str(out), "output_name": "mira", "network_module": "networks.lora"}
    first = saved(write_weights(out / "mira-step00000020.safetensors", 0.01, metadata={"ss_steps": "20"}))
    second = saved(write_weights(out / "mira-step00000040.safetensors", 0.02, metadata={"ss_steps": "40"}))
    state = saved(write_state(out / "mira-step00000040-state", counted=40), "state")
    gone = saved(out / "mira-step00000010.safetensors", removed=True)
    kept = saved(out / "x.safetensors", removed=True, kept_as=first.path)
    files = [gone, first, second, state]
    run = saved_run(home, arguments, files=files)
    assert place_of(kept) == first.path
    assert comparable(files, second) == [first.path]
    assert comparable(files, first) == [second.path]
    assert comparable(files, state) == []
    look = look_at_file(run, second, first.path)
    assert look.against == first.path
    assert [each.what for each in look.differences] == ["Steps"]
    assert [each.factor for each in look.growth] == pytest.approx([2.0, 2.0])
    assert look.on is not None
    assert {change.target for change in look.changes} == {"network_weights", "max_train_steps", "output_name"}
    alone = look_at_file(run, second, out / "gone.safetensors")
    assert alone.against is None and all(each.before is None for each in alone.growth)
    assert look_at_file(run, state, None).growth == ()
    nothing = look_at_file(run, gone, None)
    assert nothing.card is None and nothing.growth == () and "no saved model" in nothing.why_not
