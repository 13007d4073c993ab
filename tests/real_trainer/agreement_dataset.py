"""Ways to twist a plan's dataset section: sizes, ranges, buckets, options, its form, caches."""

from __future__ import annotations

import random
from typing import Any

from agreement_draft import Draft

from gui.engine.plan.dataset_options import KEY_OF_ARGUMENT, OPTIONS

SIZES: tuple[Any, ...] = (
    *(512, [768, 512], "768", "768,512", "768, 512", " 640 ", "512,512,512", [512], [512, 512, 512]),
    *(768.0, "768.0", "768x512", "", [512, "512"], "1_024", [768.0, 768.0], "huge"),
    *((640, 448), ["512", "512"], "512,"),
)
RANGES: tuple[Any, ...] = (
    *([1.0, 2.0], [2, 4], "2.0,4.0", "4,2", [4.0, 2.0], "1", [1.0], "a,b", "", "1,2,3", ["1", "2"], "nan,1"),
)


def _is_single(value: Any) -> bool:
    """Whether a list has one entry: by hand it looks as if it were none."""
    return isinstance(value, (list, tuple)) and len(value) == 1


def twist_size(draw: random.Random, draft: Draft) -> None:
    if draw.random() < 0.1:
        draft.dataset.pop("resolution", None)
        return
    if draw.random() < 0.5:
        draft.dataset["resolution"] = draw.choice(SIZES)
    else:
        draft.dataset.pop("resolution", None)
        draft.arguments["resolution"] = draw.choice([size for size in SIZES if not _is_single(size)])


def twist_crop(draw: random.Random, draft: Draft) -> None:
    place = draw.choice((draft.arguments, draft.dataset, draft.subsets[0]))
    place["face_crop_aug_range"] = draw.choice([value for value in RANGES if not _is_single(value)])


def twist_buckets(draw: random.Random, draft: Draft) -> None:
    draft.dataset["enable_bucket"] = draw.random() < 0.85
    limits = {
        "min_bucket_reso": (64, 256, 320, 512, 1024, 300),
        "max_bucket_reso": (512, 640, 1000, 1024, 1536, 2048, 4096),
        "bucket_reso_steps": (8, 16, 32, 64, 64, 128, 48),
    }
    for name, values in limits.items():
        if draw.random() < 0.6:
            place = draft.arguments if draw.random() < 0.3 else draft.dataset
            place[name] = draw.choice(values)
    if draw.random() < 0.4:
        draft.dataset["bucket_no_upscale"] = True


VALUES: dict[str, tuple[Any, ...]] = {
    "bool": (True, False, 1, "true", 0),
    "int": (1, 2, 4.0, "4", 1.5, True, None),
    "float": (0.0, 0.5, 1, 0, "1.0", True),
    "number": (0, 1, 0.1, "0.1", False),
    "text": (".txt", "", "a 'b' \"c\"", 3, True, "한글", ["a"]),
    "size": SIZES,
    "range": RANGES,
    "table": ({}, {"x": 1}, "x", {"x": {"y": True}}),
}


def twist_option(draw: random.Random, draft: Draft) -> None:
    """Set an option of the dataset file, at one of its levels."""
    for option in draw.sample(list(OPTIONS.values()), draw.randint(1, 3)):
        if option.key in ("image_dir", "metadata_file", "resolution"):
            continue
        values = VALUES[option.type]
        wanted = draw.choice(values[:2] if draw.random() < 0.6 else values)
        if option.key == "conditioning_data_dir":
            wanted = draft.places.masks
        if option.key == "resize_interpolation":
            wanted = draw.choice(("lanczos", "box", "sharp", "", "AREA"))
        general = draft.dataset.setdefault("general", {}) if draw.random() < 0.2 else draft.dataset
        draw.choice((general, draft.subsets[0]))[option.key] = wanted


def twist_structure(draw: random.Random, draft: Draft) -> None:
    """Change the dataset section's own form."""
    subsets = draft.subsets
    which = draw.randrange(8)
    if which == 0:
        draft.dataset["batchsize"] = 2
    elif which == 1:
        subsets[0]["caption_extention"] = ".txt"
    elif which == 2:
        subsets[0].pop("image_dir")
    elif which == 3:
        subsets.append({**subsets[0], "num_repeats": 3})
    elif which == 4:
        subsets.append({"image_dir": draft.places.images, "metadata_file": draft.places.file("other.json")})
    elif which == 5:
        draft.dataset = {"datasets": [draft.dataset, {"subsets": subsets, "resolution": 640}]}
    elif which == 6:
        draft.arguments["masked_loss"] = True
        for subset in subsets[: draw.randint(0, 1)]:
            subset["conditioning_data_dir"] = draft.places.masks
    else:
        draft.arguments["train_batch_size"] = draw.choice((1, 4, "2", "two", 2.0))


def twist_own_file(draw: random.Random, draft: Draft) -> None:
    """Bring a dataset file of one's own; what it leaves out comes from the command line."""
    draft.arguments = {key: value for key, value in draft.arguments.items() if key not in KEY_OF_ARGUMENT}
    draft.dataset = {}
    draft.arguments["dataset_config"] = draft.places.dataset_file
    draft.arguments["resolution"] = draw.choice([size for size in SIZES if isinstance(size, str)])
    if draw.random() < 0.4:
        draft.arguments["face_crop_aug_range"] = draw.choice([r for r in RANGES if isinstance(r, str)])


CACHING = (
    *("cache_latents", "cache_latents", "cache_latents_to_disk", "cache_text_encoder_outputs"),
    *("cache_text_encoder_outputs_to_disk", "network_train_unet_only", "network_train_unet_only"),
    *("blocks_to_swap", "cpu_offload_checkpointing", "unsloth_offload_checkpointing", "v2"),
    *("apply_t5_attn_mask", "gradient_checkpointing", "weighted_captions"),
)
CHANGING: dict[str, tuple[Any, ...]] = {
    "color_aug": (True, False),
    "flip_aug": (True,),
    "random_crop": (True, False),
    "shuffle_caption": (True, False),
    "caption_dropout_rate": (0.1, 0),
    "caption_tag_dropout_rate": (0.1,),
    "token_warmup_step": (100, 0.1, 0),
    "caption_dropout_every_n_epochs": (2,),
}


def twist_caching(draw: random.Random, draft: Draft) -> None:
    for name in draw.sample(CACHING, 4):
        argument = draft.script.arguments.get(name)
        if argument is not None:
            draft.arguments[name] = True if argument.is_flag else 4
    for name in draw.sample(sorted(CHANGING), draw.randint(0, 4)):
        value = draw.choice(CHANGING[name])
        draw.choice((draft.dataset, draft.subsets[0]))[name] = value
