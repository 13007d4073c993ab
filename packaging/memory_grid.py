"""Which settings the memory tables hold: enough to go between, the dearest questions first.

What is needed grows evenly with the batch and almost evenly with pixels or tokens, so that few sizes do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Setting = dict[str, Any]
"""One setting of the tracer, see ``resources/memory_tracer/setting.py``; what is absent is usual."""

BOTH = (True, False)

DEAR = 6
"""How many trainings of a family come before its passes."""


def grid(family: str) -> list[Setting]:
    """Return the settings of a family, the dearest first; passes without gradients are among them."""
    trainings = {
        "sd15": _sd15,
        "sd2": _sd2,
        "sdxl": _sdxl,
        "flux1": _flux1,
        "chroma": _chroma,
        "sd3": _sd3,
        "sd35-medium": _sd35_medium,
        "sd35-large": _sd35_large,
        "lumina2": _lumina2,
        "anima": _anima,
        "hunyuan-image": _hunyuan_image,
    }[family]
    dear, rest = list(trainings())[:DEAR], list(trainings())[DEAR:]
    return [{"family": family} | setting for setting in (*dear, *_passes(family), *rest)]


FAMILIES = (
    *("sdxl", "sd15", "flux1", "chroma", "sd3", "sd35-medium", "sd35-large", "lumina2", "anima"),
    *("sd2", "hunyuan-image"),
)
"""The families of the tables, those that most people train first."""


def _at(size_px: int, **rest: Any) -> Setting:
    return {"width_px": size_px, "height_px": size_px} | rest


def _full_trainings(setting: Setting) -> Iterator[Setting]:
    """Full training in 16 bits and, where it is usual, in 32 bits with mixed precision."""
    full = setting | {"kind": "full"}
    yield full | {"weights": "bf16", "optimizer": "Adafactor", "fused_backward": True}
    yield full | {"weights": "bf16", "optimizer": "Adafactor"}
    yield full | {"weights": "bf16", "optimizer": "AdamW"}
    yield full | {"weights": "bf16", "optimizer": "AdamW8bit"}


def _full_in_fp32(setting: Setting) -> Iterator[Setting]:
    full = setting | {"kind": "full", "weights": "fp32"}
    yield full | {"optimizer": "Adafactor", "fused_backward": True}
    yield full | {"optimizer": "Adafactor"}
    yield full | {"optimizer": "AdamW8bit"}
    yield full | {"optimizer": "Adafactor", "fused_backward": True, "autocast": False}


def _sdxl() -> Iterator[Setting]:
    for on in BOTH:
        yield _at(1024, checkpointing=on)
        yield _at(768, checkpointing=on)
        yield _at(1024, checkpointing=on, batch=2)
    yield from _full_in_fp32(_at(1024))
    for on in BOTH:
        yield _at(1024, checkpointing=on, attention="none")
    yield from _full_trainings(_at(1024))
    texts = _at(1024, optimizer="AdamW", text_encoders=True)
    yield texts | {"rank": 32}
    yield _at(1024, weights="fp8")
    yield _at(1024, batch=4)
    for on in BOTH:
        yield _at(512, checkpointing=on)
    yield texts | {"rank": 32, "weights": "fp8"}
    yield texts | {"rank": 128, "adapter": "bf16"}
    yield _at(1024, rank=128)
    yield _at(512, attention="none")
    yield _at(1024, weights="fp32", autocast=False)
    yield _at(1024, text_tokens=227)
    yield {"width_px": 832, "height_px": 1216}
    yield _at(1024, weights="fp8", checkpointing=False)
    yield texts | {"rank": 128}
    yield texts | {"rank": 32, "checkpointing": False}
    yield texts | {"rank": 32, "batch": 2}
    yield _at(1024, optimizer="AdamW")


def _sd15() -> Iterator[Setting]:
    for on in BOTH:
        yield _at(512, checkpointing=on)
        yield _at(768, checkpointing=on)
        yield _at(512, checkpointing=on, optimizer="AdamW")
        yield _at(512, checkpointing=on, optimizer="AdamW", text_encoders=True, rank=32)
        yield _at(512, checkpointing=on, batch=4)
        yield _at(512, checkpointing=on, attention="none")
        yield _at(512, checkpointing=on, weights="fp8")
    yield _at(512, rank=128)
    yield _at(1024)
    yield _at(512, weights="fp32", autocast=False)
    yield _at(512, text_tokens=227)
    yield from _full_trainings(_at(512))
    yield from _full_in_fp32(_at(512))


def _sd2() -> Iterator[Setting]:
    for on in BOTH:
        yield _at(768, checkpointing=on)
        yield _at(512, checkpointing=on)
        yield _at(768, checkpointing=on, batch=4)
    yield _at(768, attention="none")
    yield _at(768, optimizer="AdamW", text_encoders=True, rank=32)
    yield _at(768, kind="full", weights="fp32", optimizer="AdamW8bit")


def _flux1() -> Iterator[Setting]:
    texts: Setting = {"text_tokens": 512}
    yield from (setting | texts for setting in _transformer(larger_px=1024, smaller_px=512))
    yield _at(1024, rank=4, optimizer="AdamW") | texts
    yield _at(1024, weights="fp8", optimizer="AdamW") | texts
    yield _at(768) | texts
    yield _at(1024, batch=4) | texts
    yield _at(1024, rank=64) | texts
    yield _at(1024, text_tokens=256)
    yield _at(1024, text_encoders=True, optimizer="AdamW") | texts
    yield from (setting | texts for setting in _full_trainings(_at(1024)))


def _chroma() -> Iterator[Setting]:
    texts: Setting = {"text_tokens": 512}
    yield from (setting | texts for setting in _transformer(larger_px=1024, smaller_px=512))
    yield _at(1024, text_tokens=128)


def _sd3() -> Iterator[Setting]:
    texts: Setting = {"text_tokens": 333}
    yield from (setting | texts for setting in _transformer(larger_px=1024, smaller_px=512))
    yield _at(1024, batch=3, rank=128, optimizer="AdamW", text_tokens=154)
    yield _at(1024, text_encoders=True, optimizer="AdamW") | texts
    yield from (setting | texts for setting in _full_trainings(_at(1024)))


def _sd35_medium() -> Iterator[Setting]:
    yield from (setting | {"text_tokens": 333} for setting in _transformer(larger_px=1024, smaller_px=512))


def _sd35_large() -> Iterator[Setting]:
    yield from (setting | {"text_tokens": 333} for setting in _transformer(larger_px=1024, smaller_px=512))


def _lumina2() -> Iterator[Setting]:
    texts: Setting = {"text_tokens": 256}
    yield from (setting | texts for setting in _transformer(larger_px=1024, smaller_px=512))
    yield _at(1024, kind="full", weights="bf16", optimizer="AdamW8bit") | texts


def _anima() -> Iterator[Setting]:
    texts: Setting = {"text_tokens": 512}
    yield from (setting | texts for setting in _transformer(larger_px=1024, smaller_px=512, fp8=False))
    yield _at(1024, kind="full", weights="bf16", optimizer="AdamW8bit") | texts


def _hunyuan_image() -> Iterator[Setting]:
    texts: Setting = {"text_tokens": 256}
    yield from (setting | texts for setting in _transformer(larger_px=2048, smaller_px=1024))


def _transformer(*, larger_px: int, smaller_px: int, fp8: bool = True) -> Iterator[Setting]:
    """What is traced of every transformer, but for the length of its texts."""
    yield _at(larger_px)
    yield _at(smaller_px)
    yield _at(smaller_px, checkpointing=False)
    yield _at(larger_px, batch=2)
    yield _at(larger_px, optimizer="AdamW", rank=32)
    if fp8:
        yield _at(larger_px, weights="fp8")
    yield _at(larger_px, checkpointing=False)
    yield _at(smaller_px, batch=2, checkpointing=False)
    if fp8:
        yield _at(smaller_px, weights="fp8", checkpointing=False)


def _passes(family: str) -> Iterator[Setting]:
    larger, smaller = {"sd15": (768, 512), "sd2": (768, 512), "hunyuan-image": (2048, 1024)}.get(
        family, (1024, 512)
    )
    tokens = {"flux1": 512, "chroma": 512, "sd3": 333, "sd35-medium": 333, "sd35-large": 333}.get(
        family, {"lumina2": 256, "anima": 512, "hunyuan-image": 256}.get(family, 77)
    )
    for size in (larger, smaller):
        for weights in ("bf16", "fp32"):
            for part in ("vae_encode", "vae_decode"):
                yield _at(size, part=part, weights=weights)
        yield _at(size, part="sample", batch=2, text_tokens=tokens)
    yield _at(smaller, part="vae_encode", batch=4)
    yield _at(larger, part="sample", text_tokens=tokens)
    if family != "hunyuan-image":  # its text encoders cannot be built without a download
        for batch in (1, 4):
            yield {"part": "text_encode", "batch": batch, "text_tokens": tokens}
