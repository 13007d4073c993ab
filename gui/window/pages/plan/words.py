"""Words about plans that more than one step says."""

from __future__ import annotations

import re

from gui.engine.plan.families import ModelFile
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_choice import layer_on
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.preflight.report import Steps
from gui.engine.texts import _, ngettext

LONG_WORD = 24


def kind_words(kind: str) -> tuple[str, str]:
    """Return the name of a kind of training, and what comes of it."""
    known = {
        "lora": (_("LoRA"), _("A small file beside the model. What most people want.")),
        "full": (_("Full training"), _("All weights of the model; needs much memory and disk.")),
        "dreambooth": (_("DreamBooth"), _("All weights, from folders with a word each.")),
        "textual_inversion": (
            _("New word"),
            _("A word that stands for something; the model stays as it is."),
        ),
        "controlnet": (_("ControlNet"), _("Guides images by other images.")),
        "controlnet-lllite": (_("ControlNet-LLLite"), _("A small ControlNet.")),
    }
    return known.get(kind, (kind, ""))


def forms_words(file: ModelFile) -> str:
    """Return as what a model file may be given."""
    words = {
        "file": _("a file"),
        "folder": _("a folder in Diffusers' form"),
        "hub": _("a name on the Hugging Face hub"),
    }
    return _(" or ").join(words[form] for form in file.forms)


def about_plan(plan: TrainingPlan, library: PresetLibrary, family: str) -> str:
    """Return a plan in a few words: ``SDXL · LoRA · Character · Safe``.

    Args:
        plan: The plan.
        library: Its presets.
        family: The family's title.
    """
    layers = (layer_on(plan, axis, library) for axis in ("purpose", "caution", "memory"))
    titles = [_(library.layers[name].title) for name in layers if name]
    return " · ".join(part for part in (family, kind_words(plan.kind)[0], *titles) if part)


def breakable(text: str) -> str:
    """Return a text whose long words, such as paths, may be broken where their parts meet."""
    return " ".join(
        re.sub(r"([/\\_.=,-])", "\\1\u200b", word) if len(word) > LONG_WORD else word
        for word in text.split(" ")
    )


def count_words(images: int) -> str:
    """Return a number of images in words."""
    return ngettext("{count} image", "{count} images", images).format(count=f"{images:,}")


def steps_sentence(steps: Steps | None, batch: object, gathered: object) -> str:
    """Return how many steps come of the images, in a sentence; what is missing for it otherwise.

    Args:
        steps: As preflight counts them; None when the images are not known.
        batch: Images at a time.
        gathered: Batches that make a step.
    """
    if steps is None or not steps.images or not steps.batches_per_epoch or not steps.epochs:
        return _("Once there are images, it is counted here how long it trains.")
    images = count_words(steps.images)
    if steps.repeats is not None:
        images = ngettext(
            "{images} × {repeats} repeat", "{images} × {repeats} repeats", steps.repeats
        ).format(images=images, repeats=steps.repeats)
    if isinstance(batch, int) and batch > 1:
        images = _("{images} ÷ batch {batch}").format(images=images, batch=batch)
    if isinstance(gathered, int) and gathered > 1:
        images = _("{images} ÷ {gathered} gathered").format(images=images, gathered=gathered)
    total = steps.total_steps or 0
    epochs = ngettext("{count} epoch", "{count} epochs", steps.epochs).format(count=f"{steps.epochs:,}")
    return _("{images} = {each} an epoch, {epochs}: {total}").format(
        images=images, each=_steps(-(-total // steps.epochs)), epochs=epochs, total=_steps(total)
    )


def _steps(count: int) -> str:
    return ngettext("{count} step", "{count} steps", count).format(count=f"{count:,}")
