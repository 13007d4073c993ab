"""Rules about number formats: what overflows, what the GPU cannot do, what the trainer refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gui.engine.findings import Finding, Fix, Severity
from gui.engine.preflight.limits import version_of
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.view import View
from gui.engine.texts import _

OVERFLOWS_IN_FP16 = ("flux_", "sd3_", "lumina_", "hunyuan_", "anima_")
"""Scripts of transformer models; fp16 activations overflow in FLUX and SD3 by many reports, the
others were trained in bf16 and say so in their documentation."""

FULL = ("full_fp16", "full_bf16")
"""Weights in a half format; of both the first wins (train_network.py:814)."""

UNHEEDED_BF16 = frozenset(
    {"train_db.py", "fine_tune.py", "train_control_net.py", "train_textual_inversion.py"}
)
"""Scripts that do not check ``full_bf16`` (train_textual_inversion.py:472-477)."""

FP16_REPORTED = ("flux_", "sd3_")

FP16_SAFE_OPTIMIZERS = frozenset(
    {"adamw8bit", "pagedadamw8bit", "lion8bit", "pagedlion8bit", "sgdnesterov8bit"}
)
"""Optimizers that survive fp16 weights: they keep their own state (NAN-13, NAN-14)."""

EMULATING_TORCH = (2, 3)
"""From here on torch computes bf16 on GPUs that cannot (NAN-04)."""

FP16_VAE = re.compile(r"fp16[-_ .]?fix", re.IGNORECASE)
"""The name under which the repaired SDXL VAE is passed on."""


def computes_in(view: View) -> str:
    """Return ``mixed_precision`` as the trainer takes it: ``no`` when it is absent or no text."""
    return view.text("mixed_precision") or "no"


def bf16_is_native(view: View) -> bool | None:
    """Return whether the GPU computes bf16 itself (Ampere, compute capability 8.0); None if unknown."""
    capability = view.gpu.capability if view.gpu else None
    return None if capability is None else capability >= (8, 0)


def use_bf16(view: View, *, safe: bool = True) -> tuple[Fix, ...]:
    """Return the fix that computes in bf16, or none.

    A GPU that would have to emulate it gets it for the families that nothing else is left to (NAN-04).

    Args:
        view: The plan.
        safe: Whether it only mends, on a GPU that does bf16 itself.
    """
    emulated = bf16_is_native(view) is False
    if emulated and not view.script.startswith(OVERFLOWS_IN_FP16):
        return ()
    changes: dict[str, object] = {"mixed_precision": "bf16"}
    if view.flag("full_fp16"):
        changes |= {"full_fp16": None, "full_bf16": True} if view.knows("full_bf16") else {"full_fp16": None}
    label = _("compute in bf16, emulated (several times slower)") if emulated else _("compute in bf16")
    return (Fix(id="use-bf16", label=label, changes=changes, safe=safe and not emulated),)


def _use_fp32(view: View, *, safe: bool = False) -> Fix:
    """Full precision leaves no room for weights in fp8 (trainer-facts 2.2)."""
    fp8 = [name for name in ("fp8_base", "fp8_base_unet", "fp8_scaled") if view.flag(name)]
    return Fix(
        id="use-fp32",
        label=_("compute in full precision (slower, more memory)"),
        changes={"mixed_precision": "no", "full_fp16": None, "full_bf16": None, **dict.fromkeys(fp8)},
        safe=safe,
    )


def check_nan_flux_fp16(view: View) -> Iterator[Finding]:
    """The transformer models overflow in fp16 (NAN-01, NAN-02, NAN-03, NAN-07, NAN-18)."""
    if computes_in(view) != "fp16" or not view.script.startswith(OVERFLOWS_IN_FP16):
        return
    reported = view.script.startswith(FP16_REPORTED)
    hopeless = bf16_is_native(view) is False
    detail = _("Its activations are larger than fp16 can hold: the loss becomes NaN within a few steps.")
    if hopeless:
        detail += " " + _(
            "This GPU does not compute bf16 itself. Emulated bf16 and, where memory allows, full precision "
            "work, several times slower; otherwise this card is not suited to the family."
        )
    yield Finding(
        id="nan-flux-fp16",
        severity="stop" if reported else "danger",
        title=_("This model family cannot be trained in fp16."),
        detail=detail,
        arguments=("mixed_precision",),
        fixes=(*use_bf16(view), _use_fp32(view)),
        sources=("N7", "NAN-01", "NAN-02", "NAN-03", "NAN-07", "NAN-18", f"trainer: {view.script}"),
    )


def check_nan_sdxl_fp16(view: View) -> Iterator[Finding]:
    """SDXL in fp16 on a GPU that could do bf16 is an unnecessary risk (NAN-09)."""
    if computes_in(view) == "fp16" and view.script.startswith("sdxl_") and bf16_is_native(view):
        yield Finding(
            id="nan-sdxl-fp16",
            severity="warning",
            title=_("This GPU can compute in bf16, which does not overflow."),
            detail=_("SDXL in fp16 has ended in NaN after thousands of steps; bf16 costs nothing here."),
            arguments=("mixed_precision",),
            fixes=use_bf16(view),
            sources=("N7", "S5", "NAN-09"),
        )


def check_sd2_fp16(view: View) -> Iterator[Finding]:
    """SD 2 overflows in fp16 attention (NAN-21)."""
    if computes_in(view) == "fp16" and view.flag("v2"):
        yield Finding(
            id="sd2-fp16",
            severity="warning",
            title=_("SD 2 models overflow in fp16."),
            detail=_("The attention of SD 2.1 exceeds what fp16 can hold, and the loss becomes NaN."),
            arguments=("mixed_precision", "v2"),
            fixes=(*use_bf16(view), _use_fp32(view)),
            sources=("N7", "NAN-21"),
        )


def _without_bf16(view: View) -> bool:
    """Return whether the plan computes in bf16 on a GPU that is known not to."""
    return computes_in(view) == "bf16" and bf16_is_native(view) is False


def _emulates(view: View) -> bool:
    """Return whether bf16 runs all the same: new torch emulates it, transformer models need it anyway."""
    torch = version_of(view.facts.trainer.torch if view.facts.trainer else None)
    return view.script.startswith(OVERFLOWS_IN_FP16) or (torch is not None and torch >= EMULATING_TORCH)


def check_bf16_gpu(view: View) -> Iterator[Finding]:
    """Older GPUs do not compute bf16, and older torch refuses it there (ENV-04)."""
    if _without_bf16(view) and not _emulates(view):
        detail = _("The trainer stops with “bf16 mixed precision requires … a supported device”.")
        yield _no_bf16(view, "bf16-gpu", "stop", detail, ("ENV-04",))


def check_bf16_emulated(view: View) -> Iterator[Finding]:
    """Newer torch computes bf16 by way of fp32 where the GPU does not (NAN-04, SLOW-10)."""
    if _without_bf16(view) and _emulates(view):
        detail = _("It is emulated: it works, but expect several times the time a step.")
        yield _no_bf16(view, "bf16-emulated", "warning", detail, ("NAN-04", "SLOW-10"))


def _no_bf16(view: View, identity: str, severity: Severity, detail: str, sources: tuple[str, ...]) -> Finding:
    keep_vae = {"no_half_vae": True} if view.script.startswith("sdxl_") and view.knows("no_half_vae") else {}
    fp16 = Fix(
        id="use-fp16",
        label=_("compute in fp16"),
        changes={"mixed_precision": "fp16", "full_bf16": None, **keep_vae},
        safe=severity == "stop",
    )
    return Finding(
        id=identity,
        severity=severity,
        title=_("{gpu} does not compute bf16 itself.").format(
            gpu=(view.gpu.name if view.gpu else "") or _("This GPU")
        ),
        detail=detail,
        arguments=("mixed_precision",),
        fixes=() if view.script.startswith(OVERFLOWS_IN_FP16) else (fp16,),
        sources=sources,
    )


def check_sdxl_vae(view: View) -> Iterator[Finding]:
    """The SDXL VAE overflows in fp16 and gives NaN latents (NLAT-01)."""
    fixed_vae = FP16_VAE.search(view.text("vae") or "")
    if computes_in(view) != "fp16" or not view.script.startswith("sdxl_") or fixed_vae:
        return
    if view.flag("no_half_vae") or not view.knows("no_half_vae"):
        return
    yield Finding(
        id="sdxl-vae",
        severity="stop",
        title=_("The SDXL VAE gives NaN in fp16."),
        detail=_(
            "Images become NaN latents: older trainers stop, newer ones cache them without a word "
            "and train on nothing. Keep the VAE in full precision; it costs memory only while caching."
        ),
        arguments=("no_half_vae", "mixed_precision", "vae"),
        fixes=(
            Fix(
                id="no-half-vae",
                label=_("keep the VAE in full precision"),
                changes={"no_half_vae": True},
                safe=True,
            ),
            *use_bf16(view, safe=False),
        ),
        sources=("NLAT-01", "OOM-02", "trainer: train_util.py:3096, strategy_base.py:475"),
    )


def check_full_fp16(view: View) -> Iterator[Finding]:
    """Weights in fp16 survive only 8-bit optimizers (NAN-13 to NAN-17)."""
    if not view.flag("full_fp16") or view.optimizer in FP16_SAFE_OPTIMIZERS:
        return
    yield Finding(
        id="full-fp16",
        severity="stop",
        title=_("Weights in fp16 become NaN with this optimizer."),
        detail=_(
            "full_fp16 keeps weights and gradients in fp16, without the scaler that mixed precision has. "
            "Only 8-bit optimizers were seen to survive it."
        ),
        arguments=("full_fp16", "optimizer_type"),
        fixes=(
            Fix(
                id="mixed",
                label=_("keep the weights in full precision"),
                changes={name: None for name in FULL if view.flag(name)},
                safe=True,
            ),
            *use_bf16(view, safe=False),
        ),
        sources=("NAN-13", "NAN-14", "NAN-15", "NAN-16", "NAN-17"),
    )


def check_full_needs_mixed(view: View) -> Iterator[Finding]:
    """``full_fp16`` and ``full_bf16`` need the same mixed precision (train_network.py:814-823)."""
    wanted = "fp16" if view.flag("full_fp16") else "bf16" if view.flag("full_bf16") else None
    if wanted is None or computes_in(view) == wanted:
        return
    name = f"full_{wanted}"
    if wanted == "bf16" and view.script in UNHEEDED_BF16:
        return
    yield Finding(
        id="full-precision-mixed",
        severity="stop",
        title=_("{name} needs mixed_precision {wanted}.").format(name=name, wanted=wanted),
        detail=_("The trainer checks it only after everything is loaded and cached, and stops."),
        arguments=(name, "mixed_precision"),
        fixes=(
            Fix(
                id="drop-full",
                label=_("leave {name} out").format(name=name),
                changes={
                    flag: None for flag in FULL if view.flag(flag) and flag != f"full_{computes_in(view)}"
                },
                safe=True,
            ),
            Fix(
                id="set-mixed",
                label=_("set mixed_precision to {wanted}").format(wanted=wanted),
                changes={"mixed_precision": wanted},
                safe=False,
            ),
        ),
        sources=("trainer: train_network.py:814-823, sdxl_train.py:458",),
    )


def check_fp8_needs_mixed(view: View) -> Iterator[Finding]:
    """``fp8_base`` in the LoRA scripts needs a mixed precision and torch 2.1 (train_network.py:829)."""
    if not view.script.endswith("train_network.py"):
        return
    names = [name for name in ("fp8_base", "fp8_base_unet") if view.flag(name) and view.knows(name)]
    if not names or view.script == "anima_train_network.py":
        return
    torch = version_of(view.facts.trainer.torch if view.facts.trainer else None)
    drop = Fix(
        id="drop-fp8",
        label=_("leave {names} out (more memory)").format(names=", ".join(names)),
        changes=dict.fromkeys(names),
        safe=False,
    )
    if torch is not None and torch < (2, 1):
        title = _("fp8_base needs PyTorch 2.1 or newer.")
        fixes: tuple[Fix, ...] = (drop,)
    elif computes_in(view) == "no":
        title = _("fp8_base needs mixed_precision bf16 or fp16.")
        must = view.script.startswith(OVERFLOWS_IN_FP16)
        wanted = "fp16" if bf16_is_native(view) is False and not must else "bf16"
        label = _("set mixed_precision to {wanted}").format(wanted=wanted)
        fixes = (Fix(id="set-mixed", label=label, changes={"mixed_precision": wanted}, safe=True), drop)
    else:
        return
    yield Finding(
        id="fp8-mixed",
        severity="stop",
        title=title,
        detail=_("The trainer checks it only after loading and caching, and stops."),
        arguments=("fp8_base", "mixed_precision"),
        fixes=fixes,
        sources=("trainer: train_network.py:829-833",),
    )


def check_save_precision(view: View) -> Iterator[Finding]:
    """Another number format in the file than in training loses range or digits (NAN-10)."""
    computed, saved = computes_in(view), view.text("save_precision")
    if {computed, saved} == {"bf16", "fp16"}:
        yield Finding(
            id="precision",
            severity="hint",
            title=_("The file is saved in {saved}, training computes in {computed}.").format(
                saved=saved, computed=computed
            ),
            detail=_("Values that fit the one may not fit the other. Save in the same format, or as float."),
            arguments=("save_precision", "mixed_precision"),
            fixes=(
                Fix(
                    id="same",
                    label=_("save in {computed}").format(computed=computed),
                    changes={"save_precision": computed},
                    safe=True,
                ),
            ),
            sources=("NAN-10",),
        )


RULES: tuple[Rule, ...] = (
    Rule("nan-flux-fp16", check_nan_flux_fp16, ("NAN-01",), lambda: _("Transformer families in fp16")),
    Rule("nan-sdxl-fp16", check_nan_sdxl_fp16, ("NAN-09",), lambda: _("SDXL in fp16 where bf16 works")),
    Rule("sd2-fp16", check_sd2_fp16, ("NAN-21",), lambda: _("SD 2 in fp16")),
    Rule("bf16-gpu", check_bf16_gpu, ("ENV-04",), lambda: _("bf16 on a GPU that does not compute it")),
    Rule("bf16-emulated", check_bf16_emulated, ("NAN-04", "SLOW-10"), lambda: _("bf16 that is emulated")),
    Rule("sdxl-vae", check_sdxl_vae, ("NLAT-01",), lambda: _("The SDXL VAE in fp16")),
    Rule("full-fp16", check_full_fp16, ("NAN-13",), lambda: _("Weights in fp16 with a normal optimizer")),
    Rule(
        "full-precision-mixed",
        check_full_needs_mixed,
        ("trainer: train_network.py:814-823",),
        lambda: _("full_fp16 or full_bf16 without the same mixed precision"),
    ),
    Rule(
        "fp8-mixed",
        check_fp8_needs_mixed,
        ("trainer: train_network.py:829-833",),
        lambda: _("fp8_base without mixed precision"),
    ),
    Rule("precision", check_save_precision, ("NAN-10",), lambda: _("Saving in another half precision")),
)
