"""Rules about caches: what must not be cached while it is still changed or trained."""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.view import SubsetView, View
from gui.engine.texts import _

LATENT_CACHES = ("cache_latents", "cache_latents_to_disk")
TEXT_CACHES = ("cache_text_encoder_outputs", "cache_text_encoder_outputs_to_disk")

IMAGE_CHANGES = ("color_aug", "random_crop")
"""What changes the image at each look; ``flip_aug`` is allowed with cached latents."""

CAPTION_CHANGES = ("shuffle_caption", "caption_dropout_rate", "caption_tag_dropout_rate", "token_warmup_step")
"""What changes the caption at each look (train_util.py:1102)."""

NEEDS_UNET_ONLY = frozenset(
    {"sdxl_train_network.py", "anima_train_network.py", "hunyuan_image_train_network.py"}
)
"""LoRA scripts that refuse, or die at step 1, when cached text encoders are trained as well.
FLUX and SD3 then train CLIP and cache only T5, except Chroma, which has no CLIP."""


def caches_latents(view: View) -> bool:
    """Return whether latents are cached; the disk form switches the other on (train_util.py:4424)."""
    return any(map(view.flag, LATENT_CACHES))


def caches_text(view: View) -> bool:
    """Return whether text encoder outputs are cached, where the script can."""
    return any(view.flag(name) and view.knows(name) for name in TEXT_CACHES)


def caches_to_disk(view: View) -> bool:
    """Return whether anything is cached beside the images."""
    return view.flag("cache_latents_to_disk") or view.flag("cache_text_encoder_outputs_to_disk")


def _without_latent_cache(view: View) -> Fix:
    names = [name for name in LATENT_CACHES if view.given(name)]
    label = _("do not cache latents (slower, more memory)")
    return write(dict.fromkeys(names), label, identity="no-cache")


def without_text_cache(view: View, *, safe: bool = False) -> Fix:
    """Return the fix that caches no text encoder outputs.

    Args:
        view: The plan.
        safe: Whether it asks for no more than there is.
    """
    names = [name for name in TEXT_CACHES if view.given(name)]
    label = _("do not cache text encoder outputs (more memory)")
    return write(dict.fromkeys(names), label, identity="no-cache", safe=safe)


def _refusal(view: View, subset: SubsetView) -> str:
    """Say what the trainer does about it; of pairs of images it does not look (train_util.py:2374)."""
    if view.is_paired(subset):
        return _("With conditioning images the trainer does not refuse it: it changes nothing.")
    if view.script.startswith("lumina_train_network"):
        return _("This script does not refuse it: it changes nothing.")
    return _("The trainer refuses this after reading the dataset.")


def _switched_on(subset: SubsetView, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if subset.flag(name) or (subset.number(name) or 0) > 0]


def _switch_off(view: View, subset: SubsetView, names: list[str], label: str) -> Fix:
    changes: dict[str, object] = {}
    for name in names:
        off: object = False if isinstance(subset.value(name), bool) else 0
        changes[subset.target_of(name)] = off
        if view.plan.arguments.get(name) is not None:
            changes[name] = None
    return Fix(id="switch-off", label=label, changes=changes, safe=True)


def check_cache_aug(view: View) -> Iterator[Finding]:
    """Cached latents cannot be colour-shifted or cropped anew (train_util.py:1099)."""
    if not caches_latents(view):
        return
    for subset in view.subsets:
        names = _switched_on(subset, IMAGE_CHANGES)
        if names:
            joined = ", ".join(names)
            yield Finding(
                id="cache-aug",
                severity="warning" if view.is_paired(subset) else "stop",
                title=_("Cached latents and {names} exclude each other.").format(names=joined),
                detail=_(
                    "A cached image is always the same, {names} would have to change it every time."
                ).format(names=joined)
                + " "
                + _refusal(view, subset),
                arguments=(*map(subset.target_of, names), "cache_latents"),
                where=subset.target,
                fixes=(
                    _switch_off(view, subset, names, _("switch {names} off").format(names=joined)),
                    _without_latent_cache(view),
                ),
                sources=("CONF-04", "trainer: train_util.py:1099"),
            )


def check_cache_te_aug(view: View) -> Iterator[Finding]:
    """Cached text encoder outputs cannot be shuffled or dropped (train_util.py:1102)."""
    if not caches_text(view):
        return
    unchecked = view.script.startswith("lumina_train_network")
    allowed = {"caption_dropout_rate"} if view.script.startswith("anima_train") else set()
    for subset in view.subsets:
        names = [name for name in _switched_on(subset, CAPTION_CHANGES) if name not in allowed]
        if names:
            joined = ", ".join(names)
            yield Finding(
                id="cache-te-aug",
                severity="warning" if unchecked or view.is_paired(subset) else "stop",
                title=_("Cached text encoder outputs and {names} exclude each other.").format(names=joined),
                detail=_(
                    "A cached caption is always the same, {names} would have to change it every time. Cached "
                    "captions save memory; changing captions teach the words more broadly: choose one."
                ).format(names=joined)
                + " "
                + _refusal(view, subset),
                arguments=(*map(subset.target_of, names), "cache_text_encoder_outputs"),
                where=subset.target,
                fixes=(
                    _switch_off(view, subset, names, _("switch {names} off").format(names=joined)),
                    without_text_cache(view),
                ),
                sources=("CONF-02", "trainer: train_util.py:1102"),
            )


def check_lumina_cache(view: View) -> Iterator[Finding]:
    """Lumina's LoRA script makes anew what it has cached while it trains the text encoder (TN:421-450)."""
    if (
        view.script != "lumina_train_network.py"
        or not caches_text(view)
        or view.flag("network_train_unet_only")
    ):
        return
    yield Finding(
        id="lumina-cache",
        severity="warning",
        title=_("The cached text encoder outputs are never used while the text encoder is trained."),
        detail=_("Gemma2 stays on the GPU and is run at every step; the cache costs time and saves nothing."),
        arguments=("cache_text_encoder_outputs", "network_train_unet_only"),
        fixes=(
            Fix(
                id="unet-only",
                label=_("train only the transformer"),
                changes={"network_train_unet_only": True, "network_train_text_encoder_only": None},
                safe=False,
            ),
            without_text_cache(view),
        ),
        sources=("trainer: train_network.py:421-450, lumina_train_network.py:187",),
    )


def check_cache_te(view: View) -> Iterator[Finding]:
    """Text encoders whose outputs are cached cannot be trained."""
    chroma = view.script == "flux_train_network.py" and view.text("model_type") == "chroma"
    if not (caches_text(view) and (view.script in NEEDS_UNET_ONLY or chroma)):
        return
    if view.flag("network_train_unet_only"):
        return
    text_only = view.flag("network_train_text_encoder_only")
    yield Finding(
        id="cache-te",
        severity="stop",
        title=_("The text encoder cannot be trained while its outputs are cached."),
        detail=_(
            "With cached outputs the text encoder leaves the GPU. The trainer refuses this, or stops at "
            "the first step, after minutes of caching."
        ),
        arguments=("cache_text_encoder_outputs", "network_train_unet_only", "text_encoder_lr"),
        fixes=(
            Fix(
                id="unet-only",
                label=_("train only the U-Net or transformer"),
                changes={"network_train_unet_only": True}
                | ({"network_train_text_encoder_only": None} if text_only else {}),
                safe=view.number("unet_lr" if view.given("unet_lr") else "learning_rate") != 0,
            ),
            without_text_cache(view),
        ),
        sources=("CONF-01", "trainer: sdxl_train_network.py:39, anima_train_network.py:59"),
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "cache-aug",
        check_cache_aug,
        ("CONF-04", "trainer: train_util.py:1099"),
        lambda: _("Cached latents against colour augmentation and random crops"),
    ),
    Rule(
        "cache-te-aug",
        check_cache_te_aug,
        ("CONF-02", "trainer: train_util.py:1102"),
        lambda: _("Cached text encoder outputs against shuffled or dropped captions"),
    ),
    Rule(
        "lumina-cache",
        check_lumina_cache,
        ("trainer: train_network.py:421",),
        lambda: _("Cached text encoder outputs of Lumina that are not used"),
    ),
    Rule(
        "cache-te",
        check_cache_te,
        ("CONF-01", "trainer: sdxl_train_network.py:39"),
        lambda: _("Cached text encoder outputs against training the text encoder"),
    ),
)
