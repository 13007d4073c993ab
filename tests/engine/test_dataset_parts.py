"""The parts that the dataset doctor is put together of, one by one."""

from __future__ import annotations

import io
import json
import os
import random
import time
from pathlib import Path

import numpy as np
import pytest
from bucket_questions import ours, same
from dataset_maker import grey_profile, huge_png, picture, saved, wide_profile
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from gui.engine.dataset import image_look
from gui.engine.dataset.bucket_use import bucket_use, suggestions
from gui.engine.dataset.buckets import BucketSettings, BucketsImpossible, ImageTooThin
from gui.engine.dataset.cache_files import Surroundings, check_caches, list_caches
from gui.engine.dataset.cache_kinds import cache_kinds, kinds_of_family
from gui.engine.dataset.cache_removal import remove_caches
from gui.engine.dataset.colours import profile_of
from gui.engine.dataset.crops import crop_of
from gui.engine.dataset.endings import format_of, is_whole
from gui.engine.dataset.folders import look_at_folder
from gui.engine.dataset.image_facts import ImageFacts
from gui.engine.dataset.image_look import facts_of, look_at
from gui.engine.dataset.image_problems import problems_of
from gui.engine.dataset.likeness import alike
from gui.engine.dataset.pairing import examples, pair_masks, same_stems
from gui.engine.dataset.pixels import measure, transparency
from gui.engine.dataset.size_problems import size_problems
from gui.engine.dataset.thresholds import thresholds
from gui.engine.errors import CannotRead

VECTORS = Path(__file__).parents[1] / "data" / "dataset" / "bucket_vectors.json"
LIMITS = thresholds()


def test_that_the_buckets_are_those_that_the_trainer_gave() -> None:
    rows = json.loads(VECTORS.read_text("utf-8"))
    answers = [pair for question, theirs in rows for pair in zip(ours(question), theirs, strict=True)]
    assert len(answers) == 480
    assert all(same(mine, their) for mine, their in answers)


@given(
    width=st.integers(8, 5000),
    height=st.integers(8, 5000),
    no_upscale=st.booleans(),
    steps=st.sampled_from([16, 32, 64]),
)
def test_that_what_is_kept_of_a_picture_lies_in_it_and_has_the_buckets_shape(
    width: int, height: int, no_upscale: bool, steps: int
) -> None:
    settings = BucketSettings((768, 768), bucket_no_upscale=no_upscale, bucket_reso_steps=steps)
    try:
        placement = settings.place((width, height))
    except ImageTooThin:
        return
    crop = crop_of((width, height), placement)
    left, top, right, bottom = crop.kept
    assert 0 <= left < right <= width + 1e-9
    assert 0 <= top < bottom <= height + 1e-9
    assert 0 <= crop.lost < 1
    if no_upscale:
        assert crop.scale <= 1.0 + 1 / min(width, height)


def test_that_a_known_crop_is_the_trainers() -> None:
    placement = BucketSettings((1024, 1024), max_bucket_reso=2048).place((1000, 1500))
    crop = crop_of((1000, 1500), placement)  # 832×1248, cropped to 832×1216: 16 px of each end
    assert crop.kept == pytest.approx((0, 16 * 1500 / 1248, 1000, 1232 * 1500 / 1248))
    assert crop.lost == pytest.approx(32 / 1248)
    assert crop.scale == pytest.approx(0.832)


def test_that_the_use_of_buckets_counts_batches_as_the_trainer_does() -> None:
    settings = BucketSettings((1024, 1024), max_bucket_reso=2048)
    use = bucket_use(settings, {(1024, 1024): 5, (1000, 1500): 4, (1500, 1000): 1}, 4)
    assert [(each.size, each.images, each.batches, each.last_batch) for each in use.buckets] == [
        ((832, 1216), 4, 1, 4),
        ((1024, 1024), 5, 2, 1),
        ((1216, 832), 1, 1, 1),
    ]
    assert (use.batches, use.full_batches, use.short_batches, use.images) == (4, 3, 2, 10)
    assert use.wasted == pytest.approx(6 / 16)
    assert bucket_use(BucketSettings((2048, 2048)), {(10, 10): 1}, 1) is None
    empty = bucket_use(settings, {}, 1)
    assert (empty.wasted, empty.batches, empty.lost) == (0.0, 0, 0.0)


def test_that_images_that_are_too_thin_are_named_by_size() -> None:
    settings = BucketSettings((1024, 1024), bucket_no_upscale=True)
    assert bucket_use(settings, {(1000, 60): 1, (800, 800): 1}, 1).too_thin == ((1000, 60),)


@pytest.mark.parametrize(
    ("settings", "sizes", "batch", "option"),
    [
        (
            BucketSettings((1024, 1024), max_bucket_reso=2048),
            {(1024, 1024): 5, (768, 1344): 5},
            4,
            "batch_size",
        ),
        (BucketSettings((1024, 1024), max_bucket_reso=2048), {(600, 600): 9}, 1, "bucket_no_upscale"),
        (BucketSettings((1024, 1024), max_bucket_reso=2048), {(540, 540): 9}, 1, "resolution"),
        (BucketSettings((1024, 1024)), {(3000, 1000): 9}, 1, "max_bucket_reso"),
        (
            BucketSettings((512, 512), bucket_reso_steps=16),
            {(505, 525): 2, (512, 512): 2},
            4,
            "bucket_reso_steps",
        ),
    ],
)
def test_that_better_settings_are_suggested_with_their_effect(settings, sizes, batch, option) -> None:
    use = bucket_use(settings, sizes, batch)
    found = {each.option: each for each in suggestions(settings, sizes, batch, use)}
    assert option in found
    assert found[option].use.buckets


def test_that_good_settings_are_left_alone() -> None:
    settings = BucketSettings((1024, 1024), max_bucket_reso=2048)
    sizes = {(1024, 1024): 8, (1216, 832): 4}
    assert suggestions(settings, sizes, 4, bucket_use(settings, sizes, 4)) == []
    off = BucketSettings((1024, 1024), enable_bucket=False)
    assert suggestions(off, sizes, 1, bucket_use(off, sizes, 1)) == []


def test_that_what_a_plan_does_with_a_size_is_told() -> None:
    wide = BucketSettings((1024, 1024), bucket_no_upscale=True)
    assert size_problems(ImageFacts(width=1000, height=60), wide, LIMITS) == ("bucket-thin",)
    webp = ImageFacts(width=1024, height=1024, extended=True)
    assert size_problems(webp, wide, LIMITS) == ("img-webp-size",)  # 1023 px: the bucket is 960
    assert webp.seen_size == (1023, 1023)
    thin = ImageFacts(width=64, height=64, extended=True)
    assert size_problems(thin, wide, LIMITS) == ("bucket-thin",)
    small = BucketSettings((1024, 1024))
    assert size_problems(ImageFacts(width=500, height=500), small, LIMITS) == ("img-enlarged",)
    assert "img-cut" in size_problems(ImageFacts(width=6000, height=900), small, LIMITS)
    assert size_problems(ImageFacts(width=64, height=64), BucketSettings((4096, 4096)), LIMITS) == ()
    assert size_problems(ImageFacts(width=64, height=64), None, LIMITS) == ()
    assert size_problems(ImageFacts(fault="empty"), small, LIMITS) == ()


def nearby(looks: bytes, bits: list[int]) -> bytes:
    changed = bytearray(looks)
    for bit in bits:
        changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@given(st.lists(st.integers(0, 127), unique=True, max_size=7), st.integers(0, 2**32))
def test_that_looks_that_differ_by_few_bits_are_always_grouped(bits: list[int], seed: int) -> None:
    draw = random.Random(seed)
    first = draw.randbytes(16)
    looks = [draw.randbytes(16), first, b"", nearby(first, bits), draw.randbytes(16)]
    assert alike(looks, 10) == [[1, 3]]


def test_that_looks_that_differ_by_more_are_not_grouped() -> None:
    first = random.Random(2).randbytes(16)
    assert alike([first, nearby(first, list(range(0, 128, 11)))], 10) == []
    assert alike([b"", first], 10) == []


def test_that_chains_of_likeness_make_one_group() -> None:
    first = random.Random(3).randbytes(16)
    chain = [nearby(first, list(range(6 * steps))) for steps in range(4)]
    assert alike(chain, 10) == [[0, 1, 2, 3]]


def test_that_a_hundred_thousand_pictures_are_grouped_quickly() -> None:
    draw = random.Random(4)
    looks = [draw.randbytes(16) for _number in range(100_000)]
    looks[7] = looks[99_999]
    began = time.process_time()
    assert alike(looks, 10) == [[7, 99_999]]
    assert time.process_time() - began < 30  # all with all would take hours


@pytest.mark.parametrize(
    "change",
    [
        lambda image: image.resize((400, 400)),
        lambda image: image.point(lambda level: min(255, level + 12)),
        lambda image: Image.open(io.BytesIO(saved(image, ".jpg", quality=35))).convert("RGB"),
    ],
)
def test_that_the_same_picture_in_another_form_looks_alike(change) -> None:
    image = picture(12)
    looks = [bytes.fromhex(measure(each).looks) for each in (image, change(image), picture(13))]
    assert alike(looks, LIMITS.near_bits) == [[0, 1]]


def test_that_measures_of_pictures_that_are_too_small_or_plain_are_none() -> None:
    tiny = measure(Image.new("RGB", (9, 9), "red"))
    assert (tiny.blockiness, tiny.sharpness) == (None, None)
    plain = measure(Image.new("RGB", (300, 300), "red"))
    assert plain.sharpness is None
    assert plain.looks == "00" * 16


def test_that_large_pictures_are_judged_at_training_size() -> None:
    fine = picture(5, (700, 700)).resize((2800, 2800), Image.Resampling.BICUBIC)
    assert measure(fine).sharpness > 2 * LIMITS.sharpness * 0.9


@given(
    facts=st.builds(
        ImageFacts,
        content=st.text(),
        fault=st.sampled_from([None, "gone", "huge"]),
        reason=st.text(),
        width=st.integers(0, 10**6),
        whole=st.booleans(),
        colour_shift=st.floats(allow_nan=False, allow_infinity=False),
        jpeg_quality=st.none() | st.integers(1, 100),
        sharpness=st.none() | st.floats(0, 1),
    )
)
def test_that_facts_come_back_from_their_text_whatever_they_are(facts: ImageFacts) -> None:
    assert ImageFacts.from_json(facts.to_json()) == facts


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{", '{"no_such": 1}', '{"width": "640"}', '{"width": true}', '{"fault": "nice"}'),
        *('{"sharpness": "much"}', '{"whole": 1}', '{"jpeg_quality": true}', '{"content": null}'),
    ],
)
def test_that_texts_that_are_no_facts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"facts of an image|line 1 column"):
        ImageFacts.from_json(text)


def test_that_transparency_counts_half_transparent_pixels_half() -> None:
    alpha = Image.new("L", (10, 10), 255)
    alpha.paste(0, (0, 0, 5, 10))
    assert transparency(alpha) == 0.5
    assert facts_of(saved(picture(1).quantize(30), transparency=0)).has_alpha


def test_that_profiles_are_judged_by_what_they_change() -> None:
    from PIL import ImageCms

    def of(space: str) -> bytes:
        return ImageCms.ImageCmsProfile(ImageCms.createProfile(space)).tobytes()

    assert profile_of(of("sRGB"))[1] <= 3
    assert profile_of(wide_profile())[1] > 50
    assert profile_of(grey_profile())[1] > 10
    assert profile_of(of("LAB"))[1] == 0.0
    assert profile_of(b"no profile") == ("", 0.0)


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"\0\0\0\x1cftypavif", "AVIF"),
        (b"\0\0\0\x18ftypheic", "HEIC"),
        (b"\xff\x0a\0\0", "JXL"),
        (b"\0\x05\x16\x07\0\0", "AppleDouble"),
        (b"  <HTML>", "HTML"),
        (b"GIF89a", "GIF"),
        (b"RIFF\0\0\0\0WEBP", "WEBP"),
        (b"hello", ""),
        (b"", ""),
    ],
)
def test_that_a_file_is_known_by_its_first_bytes(start: bytes, kind: str) -> None:
    assert format_of(start) == kind


@given(st.binary(max_size=80), st.sampled_from(["JPEG", "PNG", "WEBP", "BMP", ""]))
def test_that_any_bytes_can_be_asked_for_their_end(data: bytes, kind: str) -> None:
    start = {"WEBP": b"RIFF\0\0\0\0WEBP", "PNG": b"\x89PNG\r\n\x1a\n"}.get(kind, b"")
    assert is_whole(start + data, kind) in (True, False)


@given(st.binary(max_size=400))
def test_that_any_bytes_can_be_looked_at(data: bytes) -> None:
    for start in (b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"BM", b"RIFF\0\0\0\0WEBPVP8 "):
        facts = facts_of(start + data)
        assert facts.fault in ("empty", "unknown", "truncated", "broken", "huge", None)


def test_that_an_image_that_must_not_be_read_is_told(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a.png").write_bytes(b"x")

    def refuse(_path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert look_at(tmp_path / "a.png") == ImageFacts(fault="denied", reason="Permission denied")


def test_that_what_cannot_be_or_need_not_be_decoded_is_told(tmp_path: Path) -> None:
    assert look_at(tmp_path / "gone.png").fault == "gone"
    assert look_at(tmp_path).fault == "unknown"
    (tmp_path / "a.png").write_bytes(saved(picture(1, (64, 64))))
    facts = look_at(tmp_path / "a.png")
    assert look_at(tmp_path / "a.png", (facts.content,)) == facts.content
    (tmp_path / "bomb.png").write_bytes(huge_png(20_000, 20_000)[:100])
    assert look_at(tmp_path / "bomb.png").fault in ("huge", "truncated")


def test_that_a_file_without_end_is_not_read(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(image_look, "MOST_BYTES", 10)
    (tmp_path / "a.png").write_bytes(bytes(11))
    assert look_at(tmp_path / "a.png") == ImageFacts(fault="huge")


def test_that_a_lack_of_memory_is_no_end_of_the_process(monkeypatch) -> None:
    def fail(_image: Image.Image) -> None:
        raise MemoryError

    monkeypatch.setattr(image_look, "_pixels", fail)
    assert facts_of(saved(picture(1, (64, 64)))).fault == "huge"


@pytest.mark.parametrize(
    ("name", "facts", "keys"),
    [
        ("a.jxl", ImageFacts(fault="unknown", format="JXL"), ("img-unchecked",)),
        ("a.jpg", ImageFacts(fault="slow"), ("img-crash",)),
        ("a.png", ImageFacts(fault="gone"), ("img-gone",)),
        ("a.jpg", ImageFacts(format="AVIF", width=600, height=600), ("img-avif",)),
        (
            "A.JPG",
            ImageFacts(format="JPEG", width=600, height=600, mode="I;16", bits=16),
            ("img-16bit-clipped",),
        ),
    ],
)
def test_that_trouble_has_its_key(name: str, facts: ImageFacts, keys: tuple[str, ...]) -> None:
    assert problems_of(name, facts, LIMITS) == keys


def test_that_photographs_with_previews_are_jpegs_and_no_animations() -> None:
    file = io.BytesIO()
    picture(1).save(file, "MPO", save_all=True, append_images=[picture(2, (160, 160))])
    facts = facts_of(file.getvalue())
    assert (facts.format, facts.frames, facts.fault) == ("JPEG", 1, None)


def test_that_broken_exif_is_no_fault() -> None:
    facts = facts_of(saved(picture(1, (64, 64)), ".jpg", exif=b"Exif\0\0rubbish"))
    assert (facts.fault, facts.orientation) == (None, 1)


def test_that_names_that_differ_in_the_ending_alone_are_found() -> None:
    assert same_stems(["a.png", "b.png", "a.JPG", "a.b.png"]) == ["a.JPG", "a.png"]


def test_that_the_first_mask_by_name_counts() -> None:
    pairs = pair_masks(
        {"a.png": (9, 9), "b.png": (0, 0)}, {"a.jpg": (9, 9), "a.png": (3, 3), "b.bmp": (1, 1)}
    )
    assert pairs == pair_masks({"a.png": (9, 9), "b.png": (5, 5)}, {"a.jpg": (9, 9), "b.bmp": (0, 0)})
    assert (pairs.without, pairs.left_over, pairs.other_size) == ((), (), ())


def test_that_sentences_name_a_few_files() -> None:
    assert examples(["b", "a"]) == "a, b"
    assert examples(list("edcba")) == "a, b, c …"


@pytest.mark.parametrize(
    ("files", "layout"),
    [
        (["10_mira/a.png", "x.png"], "parent"),
        (["a.png"], "flat"),
        (["photos/a.png"], "nested"),
        (["notes.txt"], "empty"),
        (["0_mira/a.png"], "nested"),
    ],
)
def test_that_the_layout_of_a_folder_is_told(tmp_path: Path, files: list[str], layout: str) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    assert look_at_folder(tmp_path).layout == layout


def test_that_a_folder_named_for_repeats_is_a_leaf_and_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "10_mira_x"
    folder.mkdir()
    (folder / "a.png").write_bytes(b"")
    look = look_at_folder(folder)
    assert (look.layout, look.own.repeats, look.own.class_tokens) == ("leaf", 10, "mira_x")
    assert look_at_folder(tmp_path).inside[0].images == 1
    (tmp_path / "loose.png").write_bytes(b"")
    assert [each.path for each in look_at_folder(tmp_path).passed_over] == [tmp_path]


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX systems")
def test_that_links_in_circles_hold_no_images(tmp_path: Path) -> None:
    (tmp_path / "10_loop").symlink_to(tmp_path / "10_loop")
    (tmp_path / "10_up").symlink_to(tmp_path)
    assert look_at_folder(tmp_path).inside == ()
    with pytest.raises(CannotRead):
        look_at_folder(tmp_path / "10_loop")


SDXL = Surroundings({"a.png": (1024, 1024)}, ".txt", kinds_of_family("sdxl"), BucketSettings((1024, 1024)))
LATENTS = "a_1024x1024_sdxl.npz"


def latents(*shape: int, **more: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "latents": np.zeros(shape, np.float32),
        "original_size": np.zeros(2),
        "crop_ltrb": np.zeros(4),
        **more,
    }


def troubles(folder: Path, around: Surroundings = SDXL) -> dict[str, tuple[str, ...]]:
    return {cache.name: cache.troubles for cache in check_caches(folder, around)}


def test_that_a_good_cache_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"")
    np.savez(tmp_path / LATENTS, **latents(4, 128, 128))
    text = {"hidden_state1": np.zeros(3), "hidden_state2": np.zeros(3), "pool2": np.zeros(3)}
    np.savez(tmp_path / "a_te_outputs.npz", **text)
    assert troubles(tmp_path) == {LATENTS: (), "a_te_outputs.npz": ()}


@pytest.mark.parametrize(
    ("content", "trouble"),
    [
        (latents(4, 96, 128), ("size",)),
        (latents(16, 128, 128), ("size",)),
        (latents(4, 128, 128, latents_flipped=np.full(3, np.inf)), ("nan",)),
        ({"other": np.zeros(3)}, ("broken",)),
    ],
)
def test_that_a_bad_cache_is_named_for_what_it_is(tmp_path: Path, content: dict, trouble: tuple) -> None:
    np.savez(tmp_path / LATENTS, **content)
    assert troubles(tmp_path) == {LATENTS: trouble}


def test_that_damage_anywhere_in_a_cache_is_found(tmp_path: Path) -> None:
    np.savez(tmp_path / LATENTS, **latents(4, 128, 128))
    whole = (tmp_path / LATENTS).read_bytes()
    for tenth in range(1, 10):
        (tmp_path / LATENTS).write_bytes(whole[: len(whole) * tenth // 10])
        assert troubles(tmp_path) == {LATENTS: ("broken",)}
    middle = len(whole) // 2
    (tmp_path / LATENTS).write_bytes(whole[:middle] + b"\xff" + whole[middle + 1 :])
    assert troubles(tmp_path) == {LATENTS: ("broken",)}


def test_that_a_cache_that_is_older_than_what_it_was_made_of_is_stale(tmp_path: Path) -> None:
    np.savez(tmp_path / LATENTS, **latents(4, 128, 128))
    text = {"hidden_state1": np.zeros(3), "hidden_state2": np.zeros(3), "pool2": np.zeros(3)}
    np.savez(tmp_path / "a_te_outputs.npz", **text)
    for name in (LATENTS, "a_te_outputs.npz"):
        os.utime(tmp_path / name, (1000, 1000))
    (tmp_path / "a.png").write_bytes(b"")
    assert troubles(tmp_path) == {LATENTS: ("stale",), "a_te_outputs.npz": ()}
    (tmp_path / "a.txt").write_text("mira")
    assert troubles(tmp_path)["a_te_outputs.npz"] == ("stale",)


@pytest.mark.filterwarnings("ignore:Reading `.npy`")
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_that_a_cache_may_be_damaged_at_any_byte(tmp_path: Path, save) -> None:
    save(tmp_path / LATENTS, **latents(4, 8, 8))
    whole = (tmp_path / LATENTS).read_bytes()
    for at in range(0, len(whole), 7):
        (tmp_path / LATENTS).write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        assert set(troubles(tmp_path)[LATENTS]) <= {"broken", "nan", "size"}


def test_that_caches_without_image_or_of_another_family_are_left_over(tmp_path: Path) -> None:
    for name in ("b_te_outputs.npz", "a_0512x0512_sdxl.npz", "a_flux_te.npz", "a.npz", "notes.txt"):
        (tmp_path / name).write_bytes(b"")
    assert troubles(tmp_path) == {
        "b_te_outputs.npz": ("leftover",),
        "a_0512x0512_sdxl.npz": ("leftover",),
        "a_flux_te.npz": ("family",),
    }
    assert list(check_caches(tmp_path, SDXL, cancelled=lambda: True)) == []
    assert list_caches(tmp_path / "nowhere") == []


def test_that_caches_that_name_their_size_may_hold_others(tmp_path: Path) -> None:
    around = Surroundings(
        {"a.png": (1024, 1024)}, ".txt", kinds_of_family("flux1"), BucketSettings((512, 512))
    )
    np.savez(tmp_path / "a_1024x1024_flux.npz", latents_128x128=np.zeros((16, 128, 128)))
    assert troubles(tmp_path, around) == {"a_1024x1024_flux.npz": ()}


def test_that_a_cache_under_unknown_or_impossible_settings_is_not_judged_by_size(tmp_path: Path) -> None:
    np.savez(tmp_path / LATENTS, **latents(4, 9, 9))
    for settings in (None, BucketSettings((4096, 4096))):
        around = Surroundings({"a.png": (1024, 1024)}, ".txt", (), settings)
        assert troubles(tmp_path, around) == {LATENTS: ()}
    with pytest.raises(BucketsImpossible):
        BucketSettings((4096, 4096)).place((1024, 1024))


def test_that_only_cache_files_are_removed(tmp_path: Path) -> None:
    for name in (LATENTS, "a.png", "a.npz", "mira.txt"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "linked_te_outputs.npz").symlink_to(tmp_path / "a.png")
    wanted = [LATENTS, "a.png", "a.npz", "../" + LATENTS, "gone_te_outputs.npz", "linked_te_outputs.npz"]
    assert remove_caches(tmp_path, wanted) == [LATENTS]
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "a.npz",
        "a.png",
        "linked_te_outputs.npz",
        "mira.txt",
    ]


def test_that_every_family_has_its_caches_and_no_name_is_taken_for_another() -> None:
    assert kinds_of_family("noobai-vpred") == kinds_of_family("sdxl") != ()
    assert kinds_of_family("no family") == ()
    suffixes = [kind.suffix for kind in cache_kinds()]
    assert suffixes == sorted(suffixes, key=lambda suffix: -len(suffix))


@pytest.mark.parametrize("load", [thresholds, cache_kinds])
@pytest.mark.parametrize("text", ["schema: 1", "a: [", "schema: 1\nunknown: 2"])
def test_that_a_data_file_that_is_none_is_refused(tmp_path: Path, load, text: str) -> None:
    file = tmp_path / "data.yaml"
    file.write_text(text)
    with pytest.raises(CannotRead):
        load(file)
