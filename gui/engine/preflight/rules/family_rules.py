"""Rules about the family: what it cannot do, and whether the base model is of it.

What a family cannot is data (``resources/families``). Source: trainer-facts 2.7, 2.9, section 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gui.engine.findings import Finding, Fix, Severity
from gui.engine.plan.families import CannotDo, Family
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.caching import caches_text
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.rules.models import MODEL, model_family, predicts_v
from gui.engine.preflight.rules.precision import computes_in
from gui.engine.preflight.view import View
from gui.engine.texts import _

GTX16 = re.compile(r"GTX\s*16[356]0", re.IGNORECASE)
"""Cards with the TU116 and TU117 chips."""

CONDITIONAL = frozenset({"cpu_offload_checkpointing", "stop_text_encoder_training"})
"""Arguments that crash only with certain values or others beside them: rules of their own judge them."""


def set_in(view: View, name: str) -> bool:
    """Return whether the plan switches an argument on, or gives it a value that does something."""
    value = view.plan.arguments.get(name)
    return value is not None and value is not False and value != 0


def _entries(view: View, *effects: str) -> Iterator[tuple[Family, CannotDo, list[str]]]:
    """Return what the family cannot do and the plan wants, with the arguments concerned."""
    kin = view.kin
    if kin is None:
        return
    kinds = {name for name, kind in kin.kinds.items() if kind.script == view.script}
    if not kinds:
        return  # the script is for another family
    for entry in kin.cannot:
        if entry.effect not in effects or (entry.kinds and not kinds & set(entry.kinds)):
            continue
        names = [name for name in entry.arguments if set_in(view, name)]
        if entry.effect == "crash":
            names = [name for name in names if name not in CONDITIONAL and not _unused(view, name)]
        if names:
            yield kin, entry, names


def _unused(view: View, name: str) -> bool:
    """Return whether it is not looked at: cached captions are not weighted (train_network.py:421)."""
    return name == "weighted_captions" and caches_text(view) and view.flag("network_train_unet_only")


def check_family_cannot(view: View) -> Iterator[Finding]:
    """What the family's scripts refuse, or crash on (families' data)."""
    for family, entry, names in _entries(view, "refused", "crash"):
        joined = ", ".join(names)
        yield Finding(
            id="family-cannot",
            severity="stop",
            title=_("{family} cannot be trained with {names}.").format(family=family.title, names=joined),
            detail=_(entry.reason),
            arguments=tuple(names),
            where=names[0],
            fixes=(leave_out(*names, safe=True),),
            sources=entry.sources or family.sources,
        )


def check_no_effect(view: View) -> Iterator[Finding]:
    """What the family's scripts take and do nothing with (families' data)."""
    for family, entry, names in _entries(view, "ignored"):
        joined = ", ".join(names)
        yield Finding(
            id="no-effect",
            severity="hint",
            title=_("{names} has no effect on {family}.").format(family=family.title, names=joined),
            detail=_(entry.reason),
            arguments=tuple(names),
            where=names[0],
            fixes=(leave_out(*names, safe=not family.arguments.keys() & set(names)),),
            sources=entry.sources or family.sources,
        )


def _trains(family: Family, script: str) -> bool:
    return any(kind.script == script for kind in family.kinds.values())


def _differing(view: View, family: Family) -> dict[str, Any]:
    """Return the arguments that tell the family, where the plan says something else."""
    return {name: value for name, value in family.arguments.items() if view.value(name) != value}


def check_family(view: View) -> Iterator[Finding]:
    """The base model must be of a family that the script trains (MODEL-01, MODEL-02, MODEL-06)."""
    found = model_family(view)
    if found is None:
        return
    wrong_script = not _trains(found, view.script)
    wrong_type = {"model_type"} & (_differing(view, found).keys() | _surplus(view, found).keys())
    if not wrong_script and not wrong_type:
        return
    changes: dict[str, Any] = {"plan.family": found.name}
    changes |= dict.fromkeys(name for name in wrong_type if name in view.plan.arguments)
    if view.plan.script is not None:
        changes["plan.script"] = None
    yield Finding(
        id="family",
        severity="stop",
        title=_("The base model is {found}, which {script} does not train this way.").format(
            found=found.title, script=view.script
        ),
        detail=_("Loading it fails with mismatched or missing weights, or trains something useless."),
        arguments=(MODEL, "plan.family"),
        fixes=(write(changes, _("train it as {family}").format(family=found.title), identity="use-family"),)
        if view.plan.kind in found.kinds
        else (),
        sources=("MODEL-01", "MODEL-02", "MODEL-06", "trainer: train_util.py:5527"),
    )


def _surplus(view: View, found: Family) -> dict[str, Any]:
    """Return arguments that tell another family and that the found one does not have."""
    told = {name for family in view.families.values() for name in family.arguments}
    return {name: None for name in told - found.arguments.keys() if set_in(view, name)}


def check_v2(view: View) -> Iterator[Finding]:
    """``v2`` must be set for SD 2 models, and for no others (MODEL-03, MODEL-04)."""
    found = model_family(view)
    if found is None or not _trains(found, view.script) or not view.knows("v2"):
        return
    wanted = found.arguments.get("v2") is True
    if view.flag("v2") == wanted or view.is_transformer or view.script.startswith("sdxl_"):
        return
    label = _("train it as Stable Diffusion 2") if wanted else _("train it as Stable Diffusion 1.5")
    yield Finding(
        id="v2",
        severity="stop",
        title=(
            _("The base model is Stable Diffusion 2: v2 must be on.")
            if wanted
            else _("The base model is not Stable Diffusion 2: v2 must be off.")
        ),
        detail=_("The text encoders have different widths, and loading fails with a size mismatch."),
        arguments=("v2", MODEL),
        fixes=(
            write(
                {"v2": True if wanted else None, "plan.family": found.name},
                label,
                identity="v2",
                safe=not view.plan.presets,
            ),
        ),
        sources=("MODEL-03", "MODEL-04"),
    )


def check_vpred(view: View) -> Iterator[Finding]:
    """A v-prediction model trained without it, or the other way round, learns nothing useful (MODEL-15)."""
    if view.is_transformer or not view.knows("v_parameterization"):
        return
    on, wanted = view.flag("v_parameterization"), predicts_v(view)
    found, fact = model_family(view), view.model(MODEL)
    said = fact.prediction if fact else None
    if wanted and not on:
        sure = said == "v" or (found is not None and found.arguments.get("v_parameterization") is True)
        noise = {"zero_terminal_snr": True} if fact and fact.zero_terminal_snr else {}
        yield _vpred(
            "warning",
            _("The base model predicts velocity, and v_parameterization is off."),
            _("Training runs without an error, and the result is useless or washed out.")
            if sure
            else _("Its name says so. Training runs without an error, and the result is washed out."),
            write({"v_parameterization": True, **noise}, _("train with v-prediction"), safe=sure),
        )
    elif on and not wanted and found is not None:
        sure = said == "epsilon"
        yield _vpred(
            "warning" if sure else "hint",
            _("v_parameterization is on, and the base model predicts noise.")
            if sure
            else _("v_parameterization is on, and nothing says that the base model predicts velocity."),
            _("With a model that predicts noise the result is useless."),
            write({"v_parameterization": None, "zero_terminal_snr": None}, _("train without v-prediction")),
        )


def _vpred(severity: Severity, title: str, detail: str, fix: Fix) -> Finding:
    return Finding(
        id="vpred",
        severity=severity,
        title=title,
        detail=detail,
        arguments=("v_parameterization", MODEL),
        fixes=(fix,),
        sources=("MODEL-15",),
    )


def check_gtx16(view: View) -> Iterator[Finding]:
    """GTX 16 cards compute wrong values in fp16 convolutions (NAN-23, NLAT-03)."""
    name = view.gpu.name if view.gpu else ""
    if computes_in(view) != "fp16" or not GTX16.search(name):
        return
    vae = {"no_half_vae": True} if view.knows("no_half_vae") else {}
    yield Finding(
        id="gtx16",
        severity="warning",
        title=_("{gpu} computes wrong values in fp16.").format(gpu=name),
        detail=_(
            "Convolutions in fp16 give NaN on this series. Full precision is sound; it needs more memory, "
            "so take a small rank and 512 pixels."
        ),
        arguments=("mixed_precision", "no_half_vae"),
        fixes=(
            write(
                {"mixed_precision": "no", "full_fp16": None, **vae},
                _("compute in full precision"),
                identity="use-fp32",
            ),
        ),
        sources=("NAN-23", "NLAT-03"),
    )


def check_t5_dtype(view: View) -> Iterator[Finding]:
    """T5 overflows in fp16 (NAN-18); newer trainers read the argument and do nothing with it."""
    if view.text("t5xxl_dtype") != "fp16":
        return
    yield Finding(
        id="t5-dtype",
        severity="warning",
        title=_("The T5 text encoder overflows in fp16."),
        detail=_("Its outputs become NaN, and so does the loss. Newer trainers ignore t5xxl_dtype."),
        arguments=("t5xxl_dtype",),
        fixes=(leave_out("t5xxl_dtype", safe=True),),
        sources=("NAN-18", "trainer: sd3_train_utils.py:163-185"),
    )


RULES: tuple[Rule, ...] = (
    Rule("family-cannot", check_family_cannot, ("CLI-04",), lambda: _("What the family’s scripts refuse")),
    Rule("no-effect", check_no_effect, ("T20",), lambda: _("What has no effect on the family")),
    Rule("family", check_family, ("MODEL-01", "MODEL-06"), lambda: _("The base model is of the family")),
    Rule("v2", check_v2, ("MODEL-03", "MODEL-04"), lambda: _("v2 and the base model")),
    Rule("vpred", check_vpred, ("MODEL-15",), lambda: _("v-prediction and the base model")),
    Rule("gtx16", check_gtx16, ("NAN-23", "NLAT-03"), lambda: _("fp16 on GTX 16 cards")),
    Rule("t5-dtype", check_t5_dtype, ("NAN-18",), lambda: _("The number format of T5")),
)
