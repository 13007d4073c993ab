"""Rules about the files beside the base model, and about weights in eight bits.

Source: MODEL-09 to MODEL-12, MODEL-16, NAN-05, trainer-facts 1.2, 1.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gui.engine.findings import Finding, Fix
from gui.engine.plan.families import lineage
from gui.engine.preflight.facts import ModelFact
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.rules.model_files import NETWORKS
from gui.engine.preflight.rules.models import MODEL, base_model, file_name, place, ways_out
from gui.engine.preflight.view import View
from gui.engine.texts import _

TEXT_ENCODERS: Mapping[str, str] = {
    "clip_l": "clip-l",
    "clip_g": "clip-g",
    "t5xxl": "t5xxl",
    "gemma2": "gemma2",
    "text_encoder": "qwen2.5-vl",
    "byt5": "byt5",
    "qwen3": "qwen3",
}
"""Argument to the kind of file that it names."""

VAES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "sd3_": ("flux", ("original",)),
    "hunyuan_": ("hunyuan", ("original",)),
    "anima_": ("qwen-image", ("original", "diffusers")),
    "": ("sd", ("original",)),
}
"""How a script's name begins to the VAE that it loads and the names its tensors may have."""

FP8 = "F8_"
FP8_LOADED = "F8_E4M3"
FP8_TORCH = (2, 4)
FP8_CHECKED = ("flux_train_network.py", "sd3_train_network.py", "lumina_train_network.py")
"""Scripts that refuse other kinds of fp8 with fp8_base (flux_train_network.py:113-155)."""


def _practises(view: View) -> bool:
    return view.facts.trainer is not None and view.facts.trainer.practice


def _wrong(view: View, fact: ModelFact) -> bool:
    """Return whether a text encoder's file is known to be something else."""
    wanted = TEXT_ENCODERS[fact.argument]
    if fact.kind is None or fact.pickle:
        return False
    if view.script.startswith("lumina_") and wanted in fact.parts:
        return False  # taken out of a whole checkpoint (lumina_util.py:104)
    return fact.kind != wanted or fact.layout == "openclip"


def check_te_files(view: View) -> Iterator[Finding]:
    """Text encoders must be in the arguments that they belong to (MODEL-10)."""
    for fact in view.facts.model:
        if fact.argument not in TEXT_ENCODERS or _practises(view) or not _wrong(view, fact):
            continue
        yield Finding(
            id="te-files",
            severity="stop",
            title=_("{name} names another kind of file: {what}.").format(name=fact.argument, what=fact.title),
            detail=_("Nothing of it fits, and the trainer fails when it first uses the text encoder."),
            arguments=(fact.argument,),
            where=place(fact),
            fixes=(*_moved(view, fact), *ways_out(view, fact.argument)),
            sources=("MODEL-10", "trainer: flux_utils.py:247-410, sd3_utils.py:100-236"),
        )


def _moved(view: View, fact: ModelFact) -> tuple[Fix, ...]:
    """Return the fix that puts a file where it belongs, and the one there in its place."""
    right = next(
        (name for name, kind in TEXT_ENCODERS.items() if kind == fact.kind and view.knows(name)), None
    )
    if right is None or right == fact.argument or fact.layout == "openclip":
        return ()
    own = (view.own or view.plan).arguments
    other = view.model(right)
    if other is not None and other.kind == TEXT_ENCODERS[fact.argument]:
        label = _("swap {one} and {other}").format(one=fact.argument, other=right)
        changes = {right: own.get(fact.argument), fact.argument: own.get(right)}
        return (write(changes, label, identity="swap", safe=True),) if all(changes.values()) else ()
    return ()


def check_flux_ae(view: View) -> Iterator[Finding]:
    """The autoencoder must be FLUX.1's own, with its own names (MODEL-09)."""
    fact = view.model("ae")
    if fact is None or fact.kind is None or fact.pickle or _practises(view):
        return
    right = fact.kind == "vae" and fact.variant == "flux" and fact.layout == "original"
    if right or (view.script.startswith("lumina_") and "vae" in fact.parts):
        return
    yield Finding(
        id="flux-ae",
        severity="stop",
        title=_("ae is not the autoencoder of FLUX.1 in its own layout: {what}.").format(
            what=_("the same in Diffusers’ layout") if fact.variant == "flux" else fact.title
        ),
        detail=_(
            "Nothing of it fits, and the trainer fails with “Cannot copy out of meta tensor”. Take "
            "ae.safetensors from the model’s original release."
        ),
        arguments=("ae",),
        where=place(fact),
        sources=("MODEL-09", "trainer: flux_utils.py:176, lumina_util.py:67"),
    )


def check_vae_file(view: View) -> Iterator[Finding]:
    """The VAE must be of the family (MODEL-10, MODEL-16)."""
    fact = view.model("vae")
    if fact is None or fact.kind is None or fact.pickle or _practises(view):
        return
    variant, layouts = next(known for start, known in VAES.items() if view.script.startswith(start))
    at = view.path(fact.path)
    folder = at is not None and at.kind == "folder"
    right = fact.kind == "vae" and fact.variant == variant and (folder or fact.layout in layouts)
    within = variant == "sd" and fact.kind == "checkpoint" and ("vae" in fact.parts or folder)
    if right or within:
        return
    yield Finding(
        id="vae-file",
        severity="stop",
        title=_("vae names a file that this family’s scripts cannot load: {what}.").format(what=fact.title),
        detail=_("Its weights have other names or sizes, and loading fails."),
        arguments=("vae",),
        where=place(fact),
        fixes=ways_out(view, "vae"),
        sources=("MODEL-10", "MODEL-16", "trainer: model_util.py:1269, sd3_utils.py:239"),
    )


def check_network_file(view: View) -> Iterator[Finding]:
    """Weights to begin with must be a network's, for the same family."""
    kin = view.kin
    for fact in view.facts.model:
        if fact.argument not in NETWORKS or fact.kind is None or _practises(view):
            continue
        if fact.kind != "network":
            title = _("{name}: {file} is no network: {what}.")
        elif kin and fact.family and not lineage(kin.name) & lineage(fact.family):
            title = _("{name}: {file} is for another model family: {what}.")
        else:
            continue
        yield Finding(
            id="network-file",
            severity="stop",
            title=title.format(name=fact.argument, file=file_name(fact), what=fact.title),
            detail=_(
                "Its weights fit nothing: loading fails, or is passed over in silence and training begins "
                "from nothing."
            ),
            arguments=(fact.argument,),
            where=place(fact),
            fixes=(leave_out(fact.argument),),
            sources=("trainer: train_network.py:646-662, 710, lora.py:1071",),
        )


def check_flux_fp8file(view: View) -> Iterator[Finding]:
    """Weights with scales beside them are loaded without the scales (MODEL-11).

    The reported case ended in a message about keys; a file that surely has scales ends in weights that
    are wrong by orders of magnitude, without any message, so that this stops.
    """
    for fact in view.facts.model:
        if not fact.quantised or fact.argument in NETWORKS or _practises(view):
            continue
        yield Finding(
            id="flux-fp8file",
            severity="stop",
            title=_("{name}: {file} is compressed for making images.").format(
                name=fact.argument, file=file_name(fact)
            ),
            detail=_(
                "Its weights come with scales that the trainer does not read: they are missing or wrong "
                "after loading. Take the original file, with fp8_base where memory is short."
            ),
            arguments=(fact.argument,),
            where=place(fact),
            fixes=ways_out(view, fact.argument),
            sources=("MODEL-11", "trainer: flux_utils.py:138, 400"),
        )


def check_fp8_kind(view: View) -> Iterator[Finding]:
    """With fp8_base only one kind of fp8 file is taken (flux_train_network.py:113-155)."""
    if view.script not in FP8_CHECKED or not (view.flag("fp8_base") or view.flag("fp8_base_unet")):
        return
    names = (MODEL,) if view.flag("fp8_base_unet") else (MODEL, "t5xxl")
    for fact in (view.model(name) for name in names):
        dtype = (fact.dtype if fact else None) or ""
        if fact is None or not dtype.startswith(FP8) or dtype == FP8_LOADED:
            continue
        yield Finding(
            id="fp8-kind",
            severity="stop",
            title=_("{name}: fp8_base does not take files in {dtype}.").format(
                name=fact.argument, dtype=dtype.removeprefix("F8_").lower()
            ),
            detail=_("With fp8_base a file must be in 16 bits or in fp8 e4m3fn; the trainer stops."),
            arguments=(fact.argument, "fp8_base"),
            where=place(fact),
            fixes=(leave_out("fp8_base", "fp8_base_unet"),),
            sources=("trainer: flux_train_network.py:113-155, sd3_train_network.py:95-138",),
        )


def _fp8_base(view: View) -> ModelFact | None:
    """Return the base model when its file is in plain fp8."""
    fact = base_model(view)
    return fact if fact and (fact.dtype or "").startswith(FP8) and not fact.quantised else None


def check_fp8_torch(view: View) -> Iterator[Finding]:
    """Files in fp8 need a newer torch (NAN-05)."""
    torch = (view.facts.trainer.torch if view.facts.trainer else None) or ""
    found = re.match(r"(\d+)\.(\d+)", torch)
    if _fp8_base(view) is None or found is None or (int(found[1]), int(found[2])) >= FP8_TORCH:
        return
    yield Finding(
        id="fp8-torch",
        severity="warning",
        title=_("The base model’s file is in fp8, and torch {version} is old for that.").format(
            version=torch
        ),
        detail=_("Losses of NaN were seen. Take the original in 16 bits, or torch 2.4 and newer."),
        arguments=(MODEL,),
        sources=("NAN-05",),
    )


def check_fp8_file(view: View) -> Iterator[Finding]:
    """A base model in fp8 has lost digits; without fp8_base nothing is gained by that."""
    if _fp8_base(view) is None or (
        view.trains_network and (view.flag("fp8_base") or view.flag("fp8_base_unet"))
    ):
        return
    yield Finding(
        id="fp8-file",
        severity="hint" if view.trains_network else "warning",
        title=_("The base model’s file is in fp8: most of its digits are gone."),
        detail=_("It is cast to more bits when it is loaded, and takes as much memory. Take the original."),
        arguments=(MODEL,),
        sources=("NAN-05", "trainer: flux_train_network.py:102-124"),
    )


RULES: tuple[Rule, ...] = (
    Rule("te-files", check_te_files, ("MODEL-10",), lambda: _("Text encoders in the right arguments")),
    Rule("flux-ae", check_flux_ae, ("MODEL-09",), lambda: _("The autoencoder of FLUX.1")),
    Rule("vae-file", check_vae_file, ("MODEL-16",), lambda: _("The VAE is of the family")),
    Rule(
        "network-file",
        check_network_file,
        ("trainer: lora.py:1071",),
        lambda: _("Weights to begin with are of the family"),
    ),
    Rule("flux-fp8file", check_flux_fp8file, ("MODEL-11",), lambda: _("Files compressed for making images")),
    Rule(
        "fp8-kind",
        check_fp8_kind,
        ("trainer: flux_train_network.py:113",),
        lambda: _("Kinds of fp8 that fp8_base takes"),
    ),
    Rule("fp8-torch", check_fp8_torch, ("NAN-05",), lambda: _("Base models in fp8 with an old torch")),
    Rule("fp8-file", check_fp8_file, ("NAN-05",), lambda: _("Base models in fp8")),
)
