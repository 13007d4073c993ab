"""Rules about HunyuanImage: how its text encoders’ outputs reach the first step.

Source: train_util.py:1763, strategy_hunyuan_image.py:129-162, hunyuan_image_train_network.py:356-372,
hunyuan_image_modules.py:141; each was seen in the trainer.
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.caching import caches_text
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.precision import computes_in, use_bf16
from gui.engine.preflight.view import View
from gui.engine.texts import _

SCRIPT = "hunyuan_image_train_network.py"

TO_DISK = "cache_text_encoder_outputs_to_disk"


def check_cached_in_memory(view: View) -> Iterator[Finding]:
    """Outputs that are kept in memory cannot be put together for a step (train_util.py:1763).

    One of them is a single truth value, of which the trainer makes no tensor; read from disk it can.
    """
    if view.script != SCRIPT or not caches_text(view) or view.flag(TO_DISK):
        return
    yield Finding(
        id="hunyuan-te-memory",
        severity="stop",
        title=_("HunyuanImage’s text encoder outputs must be cached on disk."),
        detail=_(
            "Those that are kept in memory the trainer cannot read back: it stops at the first step with "
            "“new(): data must be a sequence”, after all caching."
        ),
        arguments=(TO_DISK, "cache_text_encoder_outputs"),
        fixes=(write({TO_DISK: True}, _("cache them on disk"), identity="to-disk", safe=True),),
        sources=("trainer: train_util.py:1763, strategy_hunyuan_image.py:162",),
    )


def check_full_precision(view: View) -> Iterator[Finding]:
    """The text encoder computes in bf16, which a model in full precision does not take."""
    if view.script != SCRIPT or caches_text(view) or computes_in(view) != "no":
        return
    cached: dict[str, object] = {"cache_text_encoder_outputs": True, TO_DISK: True}
    yield Finding(
        id="hunyuan-precision",
        severity="stop",
        title=_("HunyuanImage in full precision needs cached text encoder outputs."),
        detail=_(
            "Its text encoder always computes in bf16, and the model in full precision does not take that: "
            "the trainer stops at the first step with “mat1 and mat2 must have the same dtype”."
        ),
        arguments=("mixed_precision", "cache_text_encoder_outputs"),
        fixes=(
            *use_bf16(view),
            write(
                {**cached, "network_train_unet_only": True},
                _("cache text encoder outputs on disk"),
                identity="cache",
            ),
        ),
        sources=("trainer: hunyuan_image_train_network.py:360, hunyuan_image_modules.py:141",),
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "hunyuan-te-memory",
        check_cached_in_memory,
        ("trainer: train_util.py:1763",),
        lambda: _("HunyuanImage’s text encoder outputs on disk"),
    ),
    Rule(
        "hunyuan-precision",
        check_full_precision,
        ("trainer: hunyuan_image_train_network.py:360",),
        lambda: _("HunyuanImage in full precision"),
    ),
)
