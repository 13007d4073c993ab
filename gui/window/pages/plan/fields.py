"""The fields of the wizard as data: what each is called, what it holds, for what it counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gui.engine.plan.model import MOST_TRIES
from gui.engine.plan.preset_layer import When
from gui.engine.texts import _

EditorKind = Literal[
    "number", "rates", "choice", "text", "switch", "file", "folder", "size", "either", "pair"
]

DIFFUSION = ("sd15", "sd2", "sdxl")
"""Families, with their descendants, that have a U-Net whose text encoders are trained as well."""


@dataclass(frozen=True)
class Field:
    """One row of the wizard.

    Attributes:
        targets: The places in the plan that it edits, in the words of fixes; the first one names it.
        title: Its everyday name, translated.
        kind: With what it is edited; ``either`` holds one of two places, ``pair`` both.
        unit: Behind the value, translated; for ``either`` one for each place.
        low: The least usual value.
        high: The greatest usual value.
        whole: Whether it is a whole number.
        step: What the arrow keys add; None halves and doubles.
        options: Value and words of each; for names that are open, suggestions.
        open: Whether other values than the options can be typed.
        whens: For what it is shown; one of them is enough, none is for all.
        note: What is worth knowing where no preset gives a reason, translated.
    """

    targets: tuple[str, ...]
    title: str
    kind: EditorKind
    unit: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    whole: bool = False
    step: float | None = 1
    options: tuple[tuple[object, str], ...] = ()
    open: bool = False
    whens: tuple[When, ...] = ()
    note: str = ""

    @property
    def name(self) -> str:
        """The place that names it."""
        return self.targets[0]


@dataclass(frozen=True)
class Group:
    """Fields that stand together in a card.

    Attributes:
        title: Translated.
        fields: In the order of the page.
    """

    title: str
    fields: tuple[Field, ...]


def same_words(*names: str) -> tuple[tuple[object, str], ...]:
    """Return options that are called as they are written."""
    return tuple((name, name) for name in names)


def training_groups() -> tuple[Group, ...]:
    """Return the values that matter for how well it learns."""
    return (
        Group(_("New word"), _word_fields()),
        Group(_("How it learns"), (*_rate_fields(), *_length_fields())),
        Group(_("Network"), _network_fields()),
        Group(_("Precision and memory"), _memory_fields()),
    )


def again_groups() -> tuple[Group, ...]:
    """Return how often a run that failed is tried again without anybody there."""
    memory = _(
        "So many times, each with the cheapest changes with which it should fit, as a run of its own. "
        "0 is never, {most} is the most."
    )
    loss = _(
        "So many times, each with the first change that recovery offers, from the last good file where there "
        "is one. 0 is never, {most} is the most."
    )
    return (
        Group(
            _("Try again by itself"),
            (
                _tries_field("guard.memory_retries", _("When the GPU's memory runs out"), memory),
                _tries_field("guard.recoveries", _("When the loss is no number any more"), loss),
            ),
        ),
    )


def _tries_field(target: str, title: str, note: str) -> Field:
    return Field(
        (target,), title, "number", low=0, high=MOST_TRIES, whole=True, note=note.format(most=MOST_TRIES)
    )


def _word_fields() -> tuple[Field, ...]:
    only = (When(kinds=("textual_inversion",)),)
    return (
        Field(
            ("token_string",),
            _("The new word"),
            "text",
            whens=only,
            note=_("In prompts it stands for what is learned."),
        ),
        Field(
            ("init_word",),
            _("Starts from the word"),
            "text",
            whens=only,
            note=_("A word near to it, such as “girl”."),
        ),
        Field(
            ("num_vectors_per_token",),
            _("Vectors of the word"),
            "number",
            low=1,
            high=16,
            whole=True,
            whens=only,
            note=_("More hold more detail, and take up as many tokens of a prompt."),
        ),
    )


def _rate_fields() -> tuple[Field, ...]:
    network = When(kinds=("lora",), families=DIFFUSION)
    return (
        Field(
            ("unet_lr",), _("U-Net learning rate"), "number", whens=(network,), low=1e-6, high=1e-3, step=None
        ),
        Field(
            ("text_encoder_lr",),
            _("Text encoder learning rate"),
            "rates",
            whens=(network,),
            low=1e-7,
            high=1e-3,
            step=None,
        ),
        Field(
            ("learning_rate",),
            _("Learning rate"),
            "number",
            low=1e-7,
            high=1e-2,
            step=None,
            whens=(When(not_kinds=("lora",)), When(kinds=("lora",), not_families=DIFFUSION)),
        ),
        Field(
            ("learning_rate_te",), _("Text encoder learning rate"), "number", low=1e-7, high=1e-3, step=None
        ),
        Field(
            ("lr_scheduler",),
            _("Schedule"),
            "choice",
            open=True,
            options=same_words(
                "constant",
                "constant_with_warmup",
                "cosine",
                "cosine_with_restarts",
                "linear",
                "polynomial",
                "warmup_stable_decay",
                "adafactor",
            ),
            note=_("How the rate changes over the run."),
        ),
        Field(
            ("lr_warmup_steps",),
            _("Warm-up"),
            "number",
            unit=(_("steps"),),
            low=0,
            high=1000,
            step=10,
            note=_("The rate rises over so many steps; below 1 it is a share of the run."),
        ),
    )


def _length_fields() -> tuple[Field, ...]:
    return (
        Field(
            ("max_train_steps", "max_train_epochs"),
            _("Length"),
            "either",
            unit=(_("steps"), _("epochs")),
            low=1,
            whole=True,
            step=50,
        ),
        Field(
            ("dataset.batch_size",),
            _("Images at a time"),
            "number",
            unit=(_("images"),),
            low=1,
            high=16,
            whole=True,
            note=_("More are calmer and faster, and need more GPU memory."),
        ),
        Field(
            ("gradient_accumulation_steps",),
            _("Batches a step"),
            "number",
            unit=(_("times"),),
            low=1,
            high=32,
            whole=True,
            note=_("Calms small datasets without more GPU memory; each step takes longer."),
        ),
        Field(
            ("optimizer_type",),
            _("Optimizer"),
            "choice",
            open=True,
            options=same_words(
                "AdamW",
                "AdamW8bit",
                "PagedAdamW8bit",
                "Adafactor",
                "Prodigy",
                "DAdaptAdam",
                "Lion",
                "Lion8bit",
                "AdamWScheduleFree",
                "SGDNesterov",
            ),
            note=_("The trainer's own is AdamW."),
        ),
        Field(
            ("seed",),
            _("Seed"),
            "number",
            low=0,
            whole=True,
            note=_("The same seed draws the same noise; empty takes another one each time."),
        ),
    )


def _network_fields() -> tuple[Field, ...]:
    only = (When(kinds=("lora",)),)
    return (
        Field(
            ("network_dim", "network_alpha"),
            _("Rank and alpha"),
            "pair",
            low=1,
            high=256,
            step=None,
            whens=only,
            note=_("The rank is the size of the LoRA. Alpha divided by it scales the learning."),
        ),
        Field(
            ("network_train_unet_only",),
            _("Leave the text encoder alone"),
            "switch",
            whens=only,
            note=_("Only the image part is trained: calmer, and less tied to single words."),
        ),
    )


def _memory_fields() -> tuple[Field, ...]:
    return (
        Field(
            ("mixed_precision",),
            _("Precision"),
            "choice",
            options=(("no", _("no (full precision)")), ("fp16", "fp16"), ("bf16", "bf16")),
        ),
        Field(
            ("gradient_checkpointing",),
            _("Save memory by computing twice"),
            "switch",
            note=_("Needs much less GPU memory and about a third more time."),
        ),
        Field(
            ("cache_latents",),
            _("Encode images once"),
            "switch",
            note=_("Faster, and the VAE leaves the GPU; images cannot be changed at random then."),
        ),
        Field(
            ("cache_text_encoder_outputs",),
            _("Encode captions once"),
            "switch",
            note=_("The text encoders leave the GPU and are not trained."),
        ),
        Field(
            ("blocks_to_swap",),
            _("Blocks kept in RAM"),
            "number",
            unit=(_("blocks"),),
            low=0,
            whole=True,
            note=_("Each one frees GPU memory and costs time."),
        ),
    )
