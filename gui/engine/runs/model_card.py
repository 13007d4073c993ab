"""What a model file's metadata says, as a page that people can read (knowledge S6).

A file shared without it leaves others guessing: which base, which settings, which word calls it up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from gui.engine.documents import Document
from gui.engine.plan.families import families
from gui.engine.quantities import gib
from gui.engine.texts import _
from gui.engine.trainer.model_kind import ModelKind
from gui.engine.trainer.model_look import model_kind
from gui.engine.trainer.model_metadata import ModelFacts, model_facts, trigger_words
from gui.engine.trainer.safetensors_file import read_header

MOST_TRIGGERS = 5


class CardRow(NamedTuple):
    """One line.

    Attributes:
        what: Its name.
        value: What the file says.
    """

    what: str
    value: str


class ModelCard(Document):
    """A model file in words.

    Attributes:
        title: Its name.
        rows: What it says of itself, the most important first.
    """

    title: str
    rows: tuple[CardRow, ...]

    def text(self) -> str:
        """Return the card as Markdown, to be put beside the file or into a description."""
        lines = [f"# {self.title}", "", *(f"- {row.what}: {row.value}" for row in self.rows)]
        return "\n".join(lines) + "\n"


def model_card(path: Path, sha256: str | None = None) -> ModelCard:
    """Read a model's card off its header.

    Args:
        path: A ``.safetensors`` file.
        sha256: Its hash, where it is known.

    Raises:
        CannotRead: It is none.
    """
    header = read_header(path)
    facts = model_facts(header.metadata)
    kind = model_kind(path)
    rows = [
        *_what(kind, facts, header.metadata),
        *_training(facts),
        CardRow(_("Size"), gib(header.actual_bytes)),
        *([CardRow("SHA-256", sha256)] if sha256 else []),
    ]
    return ModelCard(title=facts.title or path.stem, rows=tuple(rows))


def _what(kind: ModelKind, facts: ModelFacts, metadata: Mapping[str, str]) -> Iterator[CardRow]:
    yield from _given(
        (_("What it is"), kind.sentence if kind.kind != "unknown" else None),
        (_("Calls it up"), ", ".join(trigger_words(metadata)[:MOST_TRIGGERS])),
        (_("Trained on"), _named(facts.base_model, facts.base_sha256)),
        (_("Meant for"), _recommended(kind)),
        (_("VAE"), facts.vae),
    )


def _training(facts: ModelFacts) -> Iterator[CardRow]:
    rank = _("{rank}, alpha {alpha}").format(rank=facts.network_dim, alpha=facts.network_alpha)
    yield from _given(
        (_("Rank"), rank if facts.network_dim and facts.network_alpha else facts.network_dim),
        (_("Network"), facts.network_module),
        (_("Steps"), _progress(facts)),
        (_("Images"), f"{facts.images:,}" if facts.images else None),
        (_("Resolution"), facts.resolution),
        (_("Buckets"), facts.buckets),
        (_("Batch size"), facts.batch_size),
        (_("Learning rate"), _rates(facts)),
        (_("Schedule"), facts.lr_scheduler),
        (_("Optimizer"), facts.optimizer),
        (_("Precision"), facts.precision),
        (_("Seed"), facts.seed),
        (_("Saved"), (facts.finished or "").replace("T", " ").replace("+00:00", " UTC")),
        (_("Remark"), facts.comment),
    )


def _given(*rows: tuple[str, str | None]) -> Iterator[CardRow]:
    yield from (CardRow(what, value) for what, value in rows if value)


def _named(model: str | None, sha256: str | None) -> str | None:
    return f"{model} ({sha256[:10]})" if model and sha256 else model


def _recommended(kind: ModelKind) -> str | None:
    """Return which base models it is for, by the family that its tensors belong to."""
    family = families().get(kind.family or "")
    return family.title if family is not None else None


def _progress(facts: ModelFacts) -> str | None:
    if facts.steps is None:
        return None
    said = f"{facts.steps:,}"
    if facts.max_steps:
        said = _("{steps} of {whole}").format(steps=said, whole=f"{facts.max_steps:,}")
    if facts.epoch is None:
        return said
    return _("{steps}, epoch {epoch}").format(steps=said, epoch=facts.epoch)


def _rates(facts: ModelFacts) -> str | None:
    told = [facts.learning_rate] if facts.learning_rate and not facts.unet_lr else []
    told += [_("model {rate}").format(rate=facts.unet_lr)] if facts.unet_lr else []
    if facts.text_encoder_lr:
        told.append(_("text encoder {rate}").format(rate=facts.text_encoder_lr))
    return ", ".join(told) or None
