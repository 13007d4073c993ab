"""Rules about learning rates: far too high or low, and the text encoder's against the model's.

Source: N9, N15, S3, T3, T5, T16; trainer-facts 2.1, 2.10 (train_util.py:3701, 4990-4998).
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding, Severity
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.flux_options import is_chroma
from gui.engine.preflight.rules.schedules import relative_step
from gui.engine.preflight.view import View, as_number
from gui.engine.texts import _

HIGH, FAR_TOO_HIGH = 5e-4, 2e-3
"""From here a LoRA overfits quickly (T3); above, samples are noise (NAN-29)."""

MAD = 0.1
"""One step of AdamW moves each weight by about the rate: from here the first makes them larger than a
training ever does, however small alpha is, and the loss is soon no number (measured on the trainer)."""

LOW, FAR_TOO_LOW = 1e-5, 2e-6
"""Up to here a LoRA barely learns (T3); the trainer's default is the second (train_util.py:3701)."""

START = 1e-4
"""Where to start with a LoRA (N9)."""

FULL_HIGH, FULL_START = 1e-4, 1e-5
"""For full trainings: above the first nothing in the trainer's guides, which begin with the second."""

TEXT_SHARE = 0.1
"""What is advised for the text encoder, as a share of the model's rate (N15, S3)."""

TEXT_HINT, TEXT_DANGER, TEXT_STOP = 0.2, 0.5, 10.0
"""Shares of the model's rate above which the text encoder's is a hint, a danger, refused (T16, NAN-22)."""

TEXT_MOST = 1e-3
"""A rate of the text encoder above this breaks it (NAN-22)."""

RATE_GROUPS = ("loraplus_lr_ratio", "loraplus_unet_lr_ratio", "loraplus_text_encoder_lr_ratio")


def finds_own_rate(view: View) -> bool:
    """Return whether the optimizer finds its rate itself, so that usual figures say nothing."""
    name = view.optimizer.rsplit(".", 1)[-1]
    return "prodigy" in name or name.startswith("dadapt") or relative_step(view)


def is_usual_optimizer(view: View) -> bool:
    """Return whether usual rates say something: nothing is found or scheduled by the optimizer itself."""
    return not finds_own_rate(view) and not view.optimizer.endswith("schedulefree")


def model_rate(view: View) -> tuple[str, float | None]:
    """Return the argument that gives the model's rate, and the rate."""
    name = "unet_lr" if view.given("unet_lr") else "learning_rate"
    return name, view.number(name)


def _text_rate(view: View) -> tuple[str, float | None]:
    """Return the argument that gives the text encoder's highest rate, and the rate."""
    rates = [as_number(word) for word in view.words("text_encoder_lr")]
    known = [rate for rate in rates if rate is not None]
    if known:
        return "text_encoder_lr", max(known)
    return "learning_rate", view.number("learning_rate")


def alpha_by_rank(view: View) -> float:
    """Return alpha by rank, by which a LoRA's effect is multiplied (lora.py:71)."""
    rank = view.number("network_dim") or 4.0
    alpha = view.number("network_alpha")
    return (alpha if alpha else rank) / rank


def check_lr_range(view: View) -> Iterator[Finding]:
    """Rates far outside of what is usual (NAN-29, T3)."""
    if not is_usual_optimizer(view):
        return
    if view.trains_network and not view.flag("network_train_text_encoder_only"):
        yield from _network_range(view)
    elif view.trains_model:
        rate = view.number("learning_rate")
        if rate is not None and rate >= FULL_HIGH:
            yield _range(
                "warning",
                _("A learning rate of {rate:g} is high for training a whole model.").format(rate=rate),
                _("The trainer’s guides begin with 1e-5 and less; the model soon forgets what it knew."),
                "learning_rate",
                FULL_START,
            )


def _network_range(view: View) -> Iterator[Finding]:
    name, rate = model_rate(view)
    if rate is None or rate <= 0:
        return
    if rate >= HIGH:
        broken = (
            rate > FAR_TOO_HIGH
            and alpha_by_rank(view) > 0.25
            and not (view.text("network_module") or "").startswith("lycoris")
        )
        mad = rate >= MAD and "sgd" not in view.optimizer
        yield _range(
            "stop" if broken else "danger" if mad else "warning",
            _("A learning rate of {rate:g} is very high.").format(rate=rate),
            _("The LoRA learns noise.")
            if broken or mad
            else _("From 5e-4 on a LoRA overfits within few steps."),
            name,
            START,
        )
    elif not view.given(name):
        yield _range(
            "warning",
            _("The plan gives no learning rate."),
            _("The trainer takes {rate:g}, with which a LoRA learns almost nothing.").format(rate=rate),
            name,
            START,
            safe=True,
        )
    elif rate <= LOW:
        yield _range(
            "warning" if rate <= FAR_TOO_LOW else "hint",
            _("A learning rate of {rate:g} is very low.").format(rate=rate),
            _("Up to 1e-5 a LoRA barely learns."),
            name,
            START,
        )


def _range(
    severity: Severity, title: str, detail: str, name: str, meant: float, *, safe: bool = False
) -> Finding:
    return Finding(
        id="lr-range",
        severity=severity,
        title=title,
        detail=detail,
        arguments=(name,),
        fixes=(write({name: meant}, _("set {name} to {rate:g}").format(name=name, rate=meant), safe=safe),),
        sources=("N9", "T3", "NAN-29", "SLOW-03", "trainer: train_util.py:3701"),
    )


def trains_text(view: View) -> bool:
    """Return whether a LoRA script trains a text encoder: it does unless told otherwise (2.1)."""
    if not view.trains_network or view.flag("network_train_unet_only"):
        return False
    if view.script.startswith("hunyuan_") or is_chroma(view):
        return False
    return not view.flag("network_train_text_encoder_only")


def check_lr_te(view: View) -> Iterator[Finding]:
    """The text encoder breaks at rates that the model takes well (N15, S3, T16, NAN-22)."""
    if not trains_text(view) or not is_usual_optimizer(view):
        return
    (model_name, model), (name, text) = model_rate(view), _text_rate(view)
    if not view.given(model_name):
        # What a missing rate will be once it is mended, see ``lr-range``.
        model, text = START, START if name == model_name else text
    if model is None or text is None or model <= 0 or text <= 0:
        return
    share = text / model
    if share <= TEXT_HINT:
        return
    severity: Severity = "hint" if share <= TEXT_DANGER else "danger"
    if share > TEXT_STOP or text > TEXT_MOST:
        severity = "stop"
    meant = float(f"{model * TEXT_SHARE:.6g}")
    yield Finding(
        id="lr-te",
        severity=severity,
        title=_("The text encoder’s learning rate is {share:.3g} times the model’s.").format(share=share),
        detail=(
            _("text_encoder_lr is not set, so that it takes learning_rate. ")
            if name == "learning_rate"
            else ""
        )
        + _("A fifth to a tenth is stable; above a half the text encoder forgets words."),
        arguments=("text_encoder_lr", "unet_lr", "learning_rate"),
        fixes=(
            write(
                {"text_encoder_lr": [meant]},
                _("set text_encoder_lr to {rate:g}").format(rate=meant),
                safe=name == "learning_rate",
            ),
            write(
                {"network_train_unet_only": True}, _("do not train the text encoder"), identity="unet-only"
            ),
        ),
        sources=("N15", "S3", "T16", "NAN-22", "NAN-26"),
    )


def check_prodigy_groups(view: View) -> Iterator[Finding]:
    """Optimizers that find their rate find one only (CONF-18, train_util.py:4994)."""
    if not finds_own_rate(view) or relative_step(view) or not view.trains_network:
        return
    groups = [name for name in RATE_GROUPS if name in view.pairs("network_args")]
    if groups:
        kept = [word for word in view.words("network_args") if word.split("=", 1)[0] not in groups]
        yield Finding(
            id="prodigy-groups",
            severity="stop",
            title=_("LoRA+ does not go with an optimizer that finds one rate for all."),
            detail=_("{names} ask for several rates; the trainer stops in the first epoch.").format(
                names=", ".join(groups)
            ),
            arguments=("network_args", "optimizer_type"),
            fixes=(
                write(
                    {"network_args": kept or None},
                    _("leave {names} out").format(names=", ".join(groups)),
                    safe=True,
                ),
            ),
            sources=("CONF-18",),
        )
        return
    _model_name, model = model_rate(view)
    _text_name, text = _text_rate(view)
    if not trains_text(view) or not text or not model or text == model:
        return
    yield Finding(
        id="prodigy-groups",
        severity="warning",
        title=_("{optimizer} takes one learning rate, and the plan gives two.").format(
            optimizer=view.text("optimizer_type") or view.optimizer
        ),
        detail=_("Only the first, the text encoder’s, is used."),
        arguments=("text_encoder_lr", "unet_lr"),
        fixes=(
            write({"text_encoder_lr": [model]}, _("say the same rate for both"), identity="same", safe=True),
        ),
        sources=("CONF-18", "trainer: train_util.py:4990-4998"),
    )


RULES: tuple[Rule, ...] = (
    Rule("lr-range", check_lr_range, ("T3", "NAN-29"), lambda: _("Learning rates far from the usual")),
    Rule("lr-te", check_lr_te, ("N15", "NAN-22"), lambda: _("The text encoder’s learning rate")),
    Rule(
        "prodigy-groups",
        check_prodigy_groups,
        ("CONF-18",),
        lambda: _("Several rates with an optimizer that finds one"),
    ),
)
