"""What a quick look at folders of images, captions, caches and saved states tells."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path

import pytest
from model_headers import write_model
from PIL import Image
from preflight_plans import CATALOGUE, plan_of

from gui.engine.preflight.caption_look import MOST_BYTES, fault_of, look_at_captions
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector
from gui.engine.preflight.facts import Facts, SubsetFact
from gui.engine.preflight.image_look import look_at_images
from gui.engine.preflight.state_look import look_at_state


def facts_of(base: Path, arguments: dict | None = None, dataset: dict | None = None) -> Facts:
    view, _findings = Checker(base, CATALOGUE, Facts(), collector=Collector()).view(
        plan_of(arguments, dataset)
    )
    assert view is not None
    return view.facts


def subset_of(base: Path, arguments: dict | None = None, dataset: dict | None = None) -> SubsetFact:
    known = facts_of(base, arguments, dataset).dataset
    assert known is not None
    return known.subsets[0]


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    return folder


def picture(path: Path, size: tuple[int, int] = (64, 48)) -> Path:
    noise = Image.effect_noise(size, 90).convert("RGB")
    noise.save(path)
    return path


def test_that_images_which_cannot_be_read_are_named_with_what_they_are(images: Path) -> None:
    picture(images / "a.png")
    cut = picture(images / "cut.jpg", (400, 400))
    cut.write_bytes(cut.read_bytes()[:-9000])
    (images / "page.jpg").write_bytes(b"<!DOCTYPE html><html>")
    (images / "phone.jpg").write_bytes(b"\0\0\0\x18ftypheic" + bytes(60))
    (images / "none.png").write_bytes(b"")
    found = {fault.name: (fault.kind, fault.what) for fault in subset_of(images.parent).image_faults}
    assert found == {
        "cut.jpg": ("unreadable", ""),
        "page.jpg": ("format", "HTML"),
        "phone.jpg": ("format", "HEIC"),
        "none.png": ("unreadable", ""),
    }


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes in folders")
def test_that_a_pipe_among_the_images_is_no_image_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "1.png")
    os.mkfifo(tmp_path / "1.txt")
    assert [fault.kind for fault in look_at_images(tmp_path, ["1.png"]).faults] == ["unreadable"]
    assert look_at_captions(tmp_path, ["1.png"], ".txt") == ()


def test_that_a_picture_with_something_behind_its_end_is_whole(images: Path) -> None:
    camera = picture(images / "a.jpg")
    camera.write_bytes(camera.read_bytes() + bytes(9000))
    assert look_at_images(images, ["a.jpg", "gone.jpg"]).sizes == {"a.jpg": (64, 48)}


def test_that_huge_images_are_told_from_their_headers(images: Path) -> None:
    for name, side in (("large", 9000), ("bomb", 14000)):
        header = io.BytesIO()
        Image.new("1", (side, side)).save(header, "PNG")
        (images / f"{name}.png").write_bytes(header.getvalue())
    faults = look_at_images(images, ["large.png", "bomb.png"]).faults
    assert [(fault.kind, fault.what) for fault in faults] == [("large", "9000×9000"), ("bomb", "PNG")]


def test_that_names_tell_notes_of_macos_twins_and_what_is_not_read(images: Path) -> None:
    for name in ("a.png", "a.jpg", "b.png"):
        picture(images / name)
    for name in ("._b.png", "c.gif", "d.heic", "notes.md"):
        (images / name).write_bytes(b"x")
    found = subset_of(images.parent)
    assert (found.mac_files, found.same_stem) == (("._b.png",), ("a",))
    assert found.unread == {".gif": 1, ".heic": 1}
    assert not found.image_faults


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "empty"),
        (b"\n\nmira", "blank"),
        (b"  \nmira", "blank"),
        (b"caf\xe9", "encoding"),
        (b"\xef\xbb\xbfmira", "mark"),
        ("mira, smiling – café".encode(), None),
        (b"x" * (MOST_BYTES - 1) + "é".encode()[:1], None),
    ],
)
def test_that_captions_are_read_as_the_trainer_reads_them(data: bytes, kind: str | None) -> None:
    assert fault_of(data) == kind


def test_that_captions_are_looked_at_with_the_plans_extension(images: Path) -> None:
    picture(images / "a.png")
    picture(images / "b.png")
    (images / "a.cap").write_bytes(b"caf\xe9")
    (images / "b.txt").write_bytes(b"")
    found = subset_of(images.parent, {}, {"caption_extension": "cap"}).caption_faults
    assert [(fault.name, fault.kind) for fault in found] == [("a.cap", "encoding")]


LATENTS = {"cache_latents_to_disk": True, "cache_text_encoder_outputs_to_disk": True}


def cache(path: Path, shape: tuple[int, ...] = (4, 128, 128), name: str = "latents") -> Path:
    """Write a cache with an array of this shape; its content is not looked at."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(118).encode()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00\x76\x00" + header)
    return path


def test_that_caches_are_compared_with_images_captions_and_buckets(images: Path) -> None:
    for name in ("a", "b", "c", "d", "e"):
        Image.new("RGB", (1024, 1024)).save(images / f"{name}.png")
        (images / f"{name}.txt").write_text(name)
        os.utime(images / f"{name}.png", (1000, 1000))
        os.utime(images / f"{name}.txt", (1000, 1000))
    cache(images / "a_1024x1024_sdxl.npz")
    cache(images / "b_1024x1024_sdxl.npz", (4, 64, 64))
    cache(images / "c_1024x1024_sdxl.npz").write_bytes(b"PK cut off")
    cache(images / "d.npz")
    cache(images / "e_1024x1024_sd.npz")
    for name in ("a", "b"):
        os.utime(cache(images / f"{name}_te_outputs.npz"), (2000, 2000))
    os.utime(images / "b.txt", (3000, 3000))
    os.utime(images / "a.png", (4e9, 4e9))
    found = subset_of(images.parent, LATENTS, {"caption_extension": ".txt"}).caches
    assert found is not None
    assert (found.looked, found.latents, found.text) == (5, 3, 2)
    assert (found.stale_latents, found.stale_text, found.other_size) == (1, 1, 1)
    assert (found.damaged, found.old_style) == (("c_1024x1024_sdxl.npz",), ("d.npz",))
    bucketed = subset_of(images.parent, LATENTS, {"enable_bucket": True, "resolution": [512, 512]}).caches
    assert bucketed is not None and bucketed.other_size == 1


def test_that_a_list_of_images_that_is_older_than_a_caption_is_stale(images: Path) -> None:
    picture(images / "a.png")
    (images / "metadata_cache.json").write_text("{}")
    os.utime(images / "metadata_cache.json", (1000, 1000))
    found = subset_of(images.parent, {}, {"cache_info": True}).caches
    assert found is not None and found.stale_list
    assert subset_of(images.parent).caches is None


def test_that_pairs_are_compared_by_name_and_size(images: Path) -> None:
    masks = images.parent / "masks"
    masks.mkdir()
    for name in ("a", "b", "c"):
        picture(images / f"{name}.png")
    picture(masks / "a.jpg")
    picture(masks / "b.png", (32, 32))
    picture(masks / "z.png")
    subsets = [{"image_dir": "images", "conditioning_data_dir": "masks"}]
    found = subset_of(images.parent, {"masked_loss": True}, {"subsets": subsets}).pairs
    assert found is not None
    assert (found.without, found.surplus, found.other_size) == (("c.png",), ("z.png",), ("b.png",))
    gone = [{"image_dir": "images", "conditioning_data_dir": "gone"}]
    assert subset_of(images.parent, {"masked_loss": True}, {"subsets": gone}).pairs is None


def test_that_folders_whose_names_tell_no_repeats_are_named(tmp_path: Path) -> None:
    for name in ("10_mira", "extra", "0_none"):
        (tmp_path / "img" / name).mkdir(parents=True)
        picture(tmp_path / "img" / name / "a.png")
    named = plan_of({"train_data_dir": "img"})
    plan = named.model_copy(update={"dataset": {"resolution": [1024, 1024]}})
    view, _findings = Checker(tmp_path, CATALOGUE, Facts(), collector=Collector()).view(plan)
    assert view is not None and view.facts.dataset is not None
    found = view.facts.dataset
    assert (found.layout, found.passed_over) == ("parent", ("0_none", "extra"))


def test_that_a_state_tells_its_step_its_rank_and_how_it_was_trained(tmp_path: Path) -> None:
    state = tmp_path / "mira-000003-state"
    state.mkdir()
    (state / "optimizer.bin").write_bytes(b"never unpickled")
    (state / "train_state.json").write_text(json.dumps({"current_epoch": 3, "current_step": 300}))
    shapes = {
        "lora_unet_a.lora_down.weight": (16, 320),
        "lora_unet_a.lora_up.weight": (320, 16),
        "lora_te1_b.lora_down.weight": (16, 768),
    }
    write_model(state / "model.safetensors", shapes)
    told = {"ss_optimizer": "torch.optim.adamw.AdamW", "ss_network_module": "networks.lora"}
    write_model(tmp_path / "mira-000003.safetensors", shapes, metadata=told)
    found = facts_of(tmp_path, {"resume": state.name}).state
    assert found is not None
    assert (found.has_optimizer, found.step, found.step_in_name, found.counts) == (True, 300, 3, "epochs")
    assert (found.rank, found.trains_text) == (16, True)
    assert (found.optimizer, found.module) == ("torch.optim.adamw.AdamW", "networks.lora")
    assert found.network == str(tmp_path / "mira-000003.safetensors")


@pytest.mark.parametrize("told", ["", "[", "[1]", '{"current_step": true}', '{"current_step": -1}'])
def test_that_a_state_that_tells_nothing_is_known_for_that(tmp_path: Path, told: str) -> None:
    state = tmp_path / "mira-step00000200-state"
    state.mkdir()
    (state / "train_state.json").write_text(told)
    (state / "model.safetensors").write_bytes(b"no header")
    found = look_at_state(str(state))
    assert found is not None
    assert (found.step, found.step_in_name, found.counts, found.rank) == (None, 200, "steps", None)
    assert not found.has_optimizer
    assert look_at_state(str(tmp_path / "gone")) is None
    assert look_at_state("owner/name") is None


def test_that_the_root_of_a_disk_can_be_looked_at_for_a_state() -> None:
    root = str(Path.cwd().anchor)
    found = look_at_state(root)
    assert found is None or (found.path, found.network) == (root, None)


def test_that_caches_which_cannot_be_compared_are_left_alone(images: Path, monkeypatch) -> None:
    for name, size in (("a", (64, 48)), ("thin", (4000, 2))):
        Image.new("RGB", size).save(images / f"{name}.png")
    cache(images / "a_0064x0048_sdxl.npz", name="other")
    cache(images / "thin_4000x0002_sdxl.npz")
    (images / "thin_te_outputs.npz").mkdir()
    thin = {"enable_bucket": True, "bucket_no_upscale": True}
    found = subset_of(images.parent, LATENTS, thin).caches
    assert found is not None
    assert (found.latents, found.text, found.other_size, found.damaged) == (2, 1, 0, ())
    unsized = subset_of(images.parent, LATENTS, {"resolution": "?"}).caches
    assert unsized is not None and unsized.other_size == 0
    monkeypatch.setattr("gui.engine.preflight.cache_look.TESTED_BYTES", 0)
    assert subset_of(images.parent, {"cache_latents_to_disk": True}, thin).caches is not None


def test_that_packed_caches_may_be_damaged_at_any_byte(images: Path) -> None:
    Image.new("RGB", (64, 48)).save(images / "a.png")
    file = images / "a_0064x0048_sdxl.npz"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("latents.npy", bytes(range(256)) * 4)
    whole, told = file.read_bytes(), 0
    for at in range(0, len(whole), 9):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        found = subset_of(images.parent, LATENTS).caches
        told += found is not None and found.damaged == (file.name,)
    assert told > 30


def test_that_caches_of_other_families_are_only_tested(images: Path) -> None:
    Image.new("RGB", (64, 48)).save(images / "a.png")
    cache(images / "a_0064x0048_flux.npz", name="latents_8x8")
    plan = plan_of(LATENTS, family="flux1")
    view, _findings = Checker(images.parent, CATALOGUE, Facts(), collector=Collector()).view(plan)
    assert view is not None and view.facts.dataset is not None
    found = view.facts.dataset.subsets[0].caches
    assert found is not None and (found.latents, found.other_size) == (1, 0)


def test_that_only_so_many_captions_are_read(images: Path, monkeypatch) -> None:
    for name in ("a", "b"):
        picture(images / f"{name}.png")
        (images / f"{name}.txt").write_bytes(b"")
    monkeypatch.setattr("gui.engine.preflight.caption_look.LOOKED_AT", 1)
    found = subset_of(images.parent, {}, {"caption_extension": ".txt"}).caption_faults
    assert [fault.name for fault in found] == ["a.txt"]
