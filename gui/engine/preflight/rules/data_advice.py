"""Advice on what a dataset's size and its purpose ask for: more images, fewer alike, rank and rate to match.

All of it is hints about LoRAs where images are known; the figures are in ``resources/amounts.yaml``.
Source: T2, T4, T5, T6, S4.
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding
from gui.engine.plan.families import lineage
from gui.engine.preflight.amounts import RateBand, amounts
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.amounts import lower_rank, trained_images
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.learning_rates import alpha_by_rank, is_usual_optimizer, model_rate
from gui.engine.preflight.rules.networks import module_name
from gui.engine.preflight.view import View, as_number
from gui.engine.texts import _, ngettext

ALIKE = ("img-dup", "img-near")
"""Under these a scan lists images of which there are others, the same or nearly so."""


def check_data_purpose(view: View) -> Iterator[Finding]:
    """Some purposes want more images than a simple character (T2)."""
    images, limits = trained_images(view), amounts().images
    wanted = max((limits.purposes.get(layer, 0) for layer in view.plan.presets), default=0)
    if images is None or not limits.few <= images < wanted:
        return
    yield Finding(
        id="data-purpose",
        severity="hint",
        title=_("A style that fits many motifs wants {wanted} images and more; here are {count}.").format(
            wanted=wanted, count=images
        ),
        detail=_("With fewer, the LoRA learns along what is in them. It will do for motifs like these."),
        arguments=("dataset.subsets",),
        sources=("T2",),
    )


def check_data_alike(view: View) -> Iterator[Finding]:
    """Images that are nearly the same count as one: a few different ones are learnt by heart (T2)."""
    images, few = trained_images(view), amounts().images.few
    if images is None or images < few:
        return  # few images are told anyway
    alike = 0
    for subset, fact in view.subset_facts:
        if not subset.is_reg and fact is not None and fact.scanned:
            alike += len({name for key in ALIKE for name in fact.scanned.get(key, ())})
    different = images - alike // 2  # of each group, at least one more is like another one
    if different >= few:
        return
    yield Finding(
        id="data-alike",
        severity="hint",
        title=_("Of {count} images at most {different} are different.").format(
            count=images, different=different
        ),
        detail=_("Nearly identical pictures teach the picture, not the subject. More varied ones help most."),
        arguments=("dataset.subsets",),
        sources=("T2",),
    )


def check_rank_purpose(view: View) -> Iterator[Finding]:
    """Faces, things and simple concepts need no high rank, and most styles do not (T4)."""
    rank, limits = view.number("network_dim"), amounts().rank.purposes
    if rank is None or not view.trains_network or not module_name(view) or view.flag("dim_from_weights"):
        return
    for purpose in view.plan.presets:
        limit = limits.get(purpose)
        if limit is None or rank <= limit.most:
            continue
        yield Finding(
            id="rank-purpose",
            severity="hint",
            title=_("Rank {rank:g} is more than this purpose needs.").format(rank=rank),
            detail=_(
                "A face takes 32 to 64, a style 16 and a complex one up to 128, a simple concept little. "
                "What is left over learns the images by heart."
            ),
            arguments=("network_dim", "network_alpha"),
            where=purpose,
            fixes=(lower_rank(view, rank, limit.meant),),
            sources=("T4",),
        )


def check_rate_data(view: View) -> Iterator[Finding]:
    """Small datasets want a lower rate than usual, and larger ones bear a higher one (T6)."""
    band, (name, rate), usual = _band(view), model_rate(view), _usual_rate(view)
    images = trained_images(view)
    if band is None or rate is None or usual is None or images is None or not view.given(name):
        return
    small = band.times < 1
    share = rate / usual
    if share <= band.most if small else not amounts().rates.careful <= share < band.least:
        return
    meant = float(f"{band.times * usual:.3g}")
    yield Finding(
        id="rate-data",
        severity="hint",
        title=_rate_title(images, rate, small=small),
        detail=(
            _("For 15 to 25 images 30 to 50 % less than the usual {usual:g} is advised; they overfit sooner.")
            if small
            else _("For 80 to 150 images 20 to 30 % more than the usual {usual:g} is advised.")
        ).format(usual=usual),
        arguments=(name,),
        fixes=(
            write(
                {name: meant, **_text_rate(view, meant / rate)},
                _("set {name} to {rate:g}, and the text encoder’s along with it").format(
                    name=name, rate=meant
                ),
                identity="scaled",
            ),
        ),
        sources=("T5", "T6"),
    )


def _rate_title(images: int, rate: float, *, small: bool) -> str:
    words = (
        ngettext(
            "{count} image wants a lower rate than {rate:g}.",
            "{count} images want a lower rate than {rate:g}.",
            images,
        )
        if small
        else ngettext(
            "{count} image bears a higher rate than {rate:g}.",
            "{count} images bear a higher rate than {rate:g}.",
            images,
        )
    )
    return words.format(count=images, rate=rate)


def _band(view: View) -> RateBand | None:
    """Return what is advised for so many images; None where usual rates say nothing."""
    images, limits = trained_images(view), amounts().rates
    judgeable = "adam" in view.optimizer and is_usual_optimizer(view) and alpha_by_rank(view) >= limits.alpha
    if images is None or not judgeable or not module_name(view).startswith("networks.lora"):
        return None
    return next((band for band in limits.bands if band.images[0] <= images <= band.images[1]), None)


def _usual_rate(view: View) -> float | None:
    names = lineage(view.kin.name) if view.kin else ()
    return next((rate for family, rate in amounts().rates.families.items() if family in names), None)


def _text_rate(view: View, factor: float) -> dict[str, object]:
    """Return the change of the text encoder's rates, where the plan gives them."""
    if not view.given("text_encoder_lr"):
        return {}
    rates = [as_number(word) for word in view.words("text_encoder_lr")]
    scaled = [float(f"{rate * factor:.3g}") for rate in rates if rate is not None]
    return {"text_encoder_lr": scaled if len(scaled) > 1 else scaled[0]} if scaled else {}


RULES: tuple[Rule, ...] = (
    Rule("data-purpose", check_data_purpose, ("T2",), lambda: _("Images and what they are for")),
    Rule("data-alike", check_data_alike, ("T2",), lambda: _("How many images are different")),
    Rule("rank-purpose", check_rank_purpose, ("T4",), lambda: _("Rank and what it is for")),
    Rule("rate-data", check_rate_data, ("T5", "T6"), lambda: _("Rate and number of images")),
)
