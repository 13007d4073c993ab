"""Rules about the base model's file and about broken files: what its loader would find, found before.

Source: MODEL-05, MODEL-07, MODEL-08, MODEL-11, knowledge S7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath

from gui.engine.findings import Finding
from gui.engine.plan.families import lineage
from gui.engine.preflight.facts import ModelFact
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.models import (
    MODEL,
    TRAINABLE,
    base_model,
    file_name,
    model_family,
    place,
    ways_out,
)
from gui.engine.preflight.rules.paths import UNREADABLE
from gui.engine.preflight.view import View
from gui.engine.texts import _

NETWORKS = ("network_weights", "base_weights")
BY_ENDING = (MODEL, "vae", *NETWORKS)
"""Arguments whose files the scripts of Stable Diffusion open as their ending says (model_util.py:964)."""

NEEDED: Mapping[str, tuple[str, ...]] = {
    "sd15": ("vae", "clip-l"),
    "sd2": ("vae", "clip-h"),
    "sdxl": ("vae", "clip-l", "clip-g"),
}
"""What a checkpoint must hold beside its U-Net (model_util.py:1002, sdxl_model_util.py:169)."""


def check_st_header(view: View) -> Iterator[Finding]:
    """A file that is cut, or is none, fails to load (MODEL-07, MODEL-08)."""
    for fact in view.facts.model:
        broken = fact.loads is False or fact.complete is False
        if not broken and fact.problem is None:
            continue
        if PurePath(fact.path).suffix.lower() in UNREADABLE:
            continue  # said as what it is
        yield Finding(
            id="st-header",
            severity="stop" if broken else "warning",
            title=_("{name}: {file} cannot be loaded.").format(name=fact.argument, file=file_name(fact))
            if broken
            else _("{name}: {file} does not look right.").format(name=fact.argument, file=file_name(fact)),
            detail=fact.problem or _("The file is shorter than its header says: download or copy it again."),
            arguments=(fact.argument,),
            where=place(fact),
            fixes=ways_out(view, fact.argument),
            sources=("MODEL-07", "MODEL-08", "S7"),
        )


def check_pickle(view: View) -> Iterator[Finding]:
    """PyTorch files can hold any program; the newer families cannot load them at all."""
    for fact in view.facts.model:
        if not fact.pickle or fact.loads is False:
            continue
        refused = view.is_transformer and fact.argument not in (*NETWORKS, "qwen3")
        yield Finding(
            id="pickle",
            severity="stop" if refused else "warning",
            title=_("{name}: {file} is a PyTorch file.").format(name=fact.argument, file=file_name(fact)),
            detail=_("This family’s scripts load safetensors files only, and stop at this one.")
            if refused
            else _(
                "Such a file can hold a program that runs when the trainer opens it, and nothing here can "
                "look into it. Take the .safetensors file where there is one, or be sure whose it is."
            ),
            arguments=(fact.argument,),
            where=place(fact),
            fixes=ways_out(view, fact.argument),
            sources=("trainer: model_util.py:968-984, safetensors_utils.py:292", "MODEL-07"),
        )


def check_model_ending(view: View) -> Iterator[Finding]:
    """A safetensors file under another ending is opened as a PyTorch file, and fails."""
    for fact in view.facts.model:
        at = view.path(fact.path)
        if not fact.loads or fact.pickle or at is None or at.kind != "file":
            continue
        by_ending = NETWORKS if view.is_transformer else BY_ENDING
        if fact.argument not in by_ending or PurePath(fact.path).suffix.lower() == ".safetensors":
            continue
        yield Finding(
            id="model-ending",
            severity="stop",
            title=_("{name}: {file} must end in .safetensors.").format(
                name=fact.argument, file=file_name(fact)
            ),
            detail=_(
                "It is a safetensors file, and by its ending the trainer takes it for a PyTorch file: "
                "rename it."
            ),
            arguments=(fact.argument,),
            where=place(fact),
            fixes=ways_out(view, fact.argument),
            sources=("trainer: model_util.py:964, lora.py:1072",),
        )


def check_model_kind(view: View) -> Iterator[Finding]:
    """The base model must be one, and whole: no LoRA, no VAE, no refiner (MODEL-10)."""
    fact = base_model(view)
    if fact is None or fact.kind is None:
        return
    if fact.kind not in TRAINABLE:
        title = _("The base model’s file is no base model: {what}.").format(what=fact.title)
        detail = _("Name the model that shall be trained; this file belongs elsewhere.")
    elif fact.variant in ("refiner", "other"):
        title = _("The trainer has no script for this model: {what}.").format(what=fact.title)
        detail = _("Loading it fails with mismatched or missing weights.")
    elif missing := _missing(view, fact):
        title = _("The base model’s file holds no {parts}.").format(parts=", ".join(missing))
        detail = _("This family’s scripts take U-Net, VAE and text encoders from one checkpoint.")
    else:
        return
    yield Finding(
        id="model-kind",
        severity="stop",
        title=title,
        detail=detail,
        arguments=(MODEL,),
        sources=("MODEL-10", "trainer: model_util.py:1002, sdxl_model_util.py:169"),
    )


def _missing(view: View, fact: ModelFact) -> list[str]:
    """Return in words what a checkpoint of Stable Diffusion lacks."""
    family = model_family(view)
    root = next((name for name in NEEDED if family and name in lineage(family.name)), "")
    if view.is_transformer or fact.pickle or not fact.parts:
        return []
    if fact.layout == "diffusers" and fact.kind == "checkpoint":
        return []
    words = {"vae": _("VAE"), "clip-l": "CLIP-L", "clip-g": "CLIP-G", "clip-h": "OpenCLIP-H"}
    return [words[part] for part in NEEDED.get(root, ()) if part not in fact.parts]


def check_inpaint(view: View) -> Iterator[Finding]:
    """A model for inpainting has nine input channels where the trainer has four (MODEL-05)."""
    fact = base_model(view)
    if fact is not None and fact.variant == "inpainting":
        yield Finding(
            id="inpaint",
            severity="stop",
            title=_("The base model is for inpainting."),
            detail=_(
                "It takes nine channels, the trainer has four: loading fails. Train the normal checkpoint; "
                "the result works with the inpainting one too."
            ),
            arguments=(MODEL,),
            sources=("MODEL-05",),
        )


RULES: tuple[Rule, ...] = (
    Rule(
        "st-header",
        check_st_header,
        ("MODEL-07", "MODEL-08"),
        lambda: _("Model files are whole and readable"),
    ),
    Rule("pickle", check_pickle, ("MODEL-07",), lambda: _("PyTorch files instead of safetensors")),
    Rule(
        "model-ending",
        check_model_ending,
        ("trainer: model_util.py:964",),
        lambda: _("The ending fits the content"),
    ),
    Rule("model-kind", check_model_kind, ("MODEL-10",), lambda: _("The base model is a base model")),
    Rule("inpaint", check_inpaint, ("MODEL-05",), lambda: _("Models for inpainting")),
)
