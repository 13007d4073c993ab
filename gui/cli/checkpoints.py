"""``checkpoints DIR|FILE [--json]``: what saved model files hold, and whether they are clean."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from gui.cli.checkpoint_actions import action_of, add_actions, block_lines
from gui.cli.progress import ProgressLine, plain
from gui.engine.errors import Cancelled
from gui.engine.quantities import GIB, MIB
from gui.engine.runs.block_growth import block_growth
from gui.engine.runs.examination import Examination, ExaminedFile, examine
from gui.engine.runs.series import saved_model
from gui.engine.texts import _, ngettext
from gui.engine.trainer.model_kind import ModelKind
from gui.engine.trainer.tensor_groups import is_constant

SHOWN_GROUPS = 6
SHOWN_TENSORS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument("path", metavar="DIR|FILE", help=_("a model file, or a folder of them"))
    parser.add_argument(
        "--blocks", action="store_true", help=_("show how large each block is, and its growth")
    )
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))
    add_actions(parser)


def run(options: argparse.Namespace) -> int:
    """Examine and print, or do what was asked for; 1 when something is wrong with a file."""
    action = action_of(options)
    if action is not None:
        return action(options)
    line = ProgressLine()
    try:
        found = examine(Path(options.path).absolute(), lambda done, total: line.show(_reading(done, total)))
    except KeyboardInterrupt:
        raise Cancelled from None
    finally:
        line.clear()
    if options.json:
        print(found.model_dump_json(by_alias=True, indent=2))
    else:
        print("\n".join(map(plain, _report(found, blocks=options.blocks))))
    return 1 if found.trouble else 0


def _reading(done: int, total: int) -> str:
    return _("reading: {percent} % of {size} (Ctrl+C stops)").format(
        percent=100 * done // max(total, 1), size=_size(total)
    )


def _report(found: Examination, *, blocks: bool) -> Iterator[str]:
    before: ExaminedFile | None = None
    for file in found.files:
        yield f"{file.path.name}: {file.verdict.sentence}"
        yield from (f"  {line}" for line in _details(file))
        if blocks:
            same = before is not None and _series(before) == _series(file)
            yield from block_lines(block_growth(before.numbers if before and same else None, file.numbers))
        before = file
    if len(found.files) > 1:
        yield ""
        yield _count(found)
        yield from (_("First with trouble: {file}").format(file=path.name) for path in found.first_bad)
        yield from (_("Last clean: {file}").format(file=path.name) for path in found.last_clean)


def _series(file: ExaminedFile) -> tuple[Path, str]:
    return file.path.parent, saved_model(file.path).base


def _count(found: Examination) -> str:
    count = len(found.files)
    clean = sum(file.verdict.judgement == "clean" for file in found.files)
    sentence = ngettext("{count} file, {clean} clean.", "{count} files, {clean} clean.", count)
    return sentence.format(count=count, clean=clean)


def _details(file: ExaminedFile) -> Iterator[str]:
    yield " · ".join(_container(file))
    if file.kind is not None and file.kind.kind != "unknown":
        yield _what(file.kind)
    if file.sha256:
        yield f"SHA-256 {file.sha256} (AutoV2 {file.autov2})"
    norms = [
        f"{name} {norm.rms:.3g} (≤ {norm.peak:.3g})"
        for name, norm in file.numbers.groups.items()
        if norm.elements and not is_constant(name)
    ]
    if norms:
        more = ", …" if len(norms) > SHOWN_GROUPS else ""
        yield _("root mean square (and largest): {norms}").format(
            norms=", ".join(norms[:SHOWN_GROUPS]) + more
        )
    for bad in file.numbers.bad[:SHOWN_TENSORS]:
        yield _("{tensor}: {nan} × NaN, {inf} × Inf").format(
            tensor=bad.name, nan=bad.nan_count, inf=bad.inf_count
        )
    made = list(_made(file))
    if made:
        yield " · ".join(made)
    yield from _base(file)


def _what(kind: ModelKind) -> str:
    """Say what the file is, and which family plans name for it."""
    return f"{kind.sentence} ({kind.family})" if kind.family else kind.sentence


def _container(file: ExaminedFile) -> Iterator[str]:
    yield _size(file.size_bytes)
    if file.header:
        kinds = ", ".join(file.header.dtypes)
        yield _("{count} tensors ({kinds})").format(count=file.header.tensors, kinds=kinds)
    if file.facts and file.facts.caption_words:
        yield _("names {count} caption tags").format(count=file.facts.caption_words)


def _made(file: ExaminedFile) -> Iterator[str]:
    """Say how it was trained."""
    facts = file.facts
    if facts is None:
        return
    rows = (
        (_("step {value}"), facts.steps),
        (_("epoch {value}"), facts.epoch),
        (_("rank {value}"), facts.network_dim),
        (_("alpha {value}"), facts.network_alpha),
        (_("learning rate {value}"), facts.learning_rate),
        (_("U-Net {value}"), facts.unet_lr),
        (_("text encoder {value}"), facts.text_encoder_lr),
        (_("{value} px"), facts.resolution),
        (_("buckets {value}"), facts.buckets),
        (_("seed {value}"), facts.seed),
    )
    yield from (words.format(value=value) for words, value in rows if value is not None)


def _base(file: ExaminedFile) -> Iterator[str]:
    facts = file.facts
    if facts is None or not facts.base_model:
        return
    base = facts.base_model if not facts.base_sha256 else f"{facts.base_model} ({facts.base_sha256[:10]})"
    yield _("base model {model}").format(model=base) + (f" · VAE {facts.vae}" if facts.vae else "")


def _size(count: int) -> str:
    return f"{count / GIB:.2f} GiB" if count >= GIB else f"{count / MIB:.2f} MiB"
