"""What a captioner made: shown caption by caption, and written only then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.dataset.caption_edits import EditPreview, preview
from gui.engine.dataset.caption_files import read_caption
from gui.engine.dataset.caption_originals import write_edits
from gui.engine.dataset.caption_style import has_word
from gui.engine.documents import Document, read_bytes
from gui.engine.errors import CannotRead
from gui.engine.runs.captioning_job import MADE, Captioning, CaptionJob, JobImage
from gui.engine.texts import _
from gui.engine.trainer.output import OutputParser, Tally, read_log


class CaptionProposal(Document):
    """A caption that was made for an image.

    Attributes:
        folder: Where the image lies.
        name: Its file name.
        extension: Of its caption.
        text: What was made, with the trigger word.
        existing: What its caption says now; empty when it has none.
    """

    folder: str
    name: str
    extension: str
    text: str
    existing: str = ""


@dataclass(frozen=True)
class WrittenCaptions:
    """What came of writing.

    Attributes:
        done: Captions that were written, as paths.
        left: Those that were left as they are: somebody wrote a caption meanwhile, or they cannot be read.
    """

    done: tuple[Path, ...]
    left: tuple[Path, ...]


def proposals(made: Captioning) -> tuple[CaptionProposal, ...]:
    """Return the captions that were made, in the order of the images; nothing is written.

    Raises:
        CannotRead: The folder is damaged.
    """
    job = made.job()
    found = (_proposal(made, job, image) for image in job.images)
    return tuple(each for each in found if each is not None)


def _proposal(made: Captioning, job: CaptionJob, image: JobImage) -> CaptionProposal | None:
    try:
        text = read_bytes((made.images / image.link).with_suffix(MADE)).decode("utf-8", "replace").strip()
    except CannotRead:
        return None
    if not text:
        return None
    if job.trigger and not has_word(text, job.trigger):
        text = f"{job.trigger}, {text}"
    existing = read_caption(Path(image.folder), image.name, image.extension).text
    return CaptionProposal(
        folder=image.folder, name=image.name, extension=image.extension, text=text, existing=existing
    )


def previews_of(chosen: Sequence[CaptionProposal], *, over_existing: bool = False) -> tuple[EditPreview, ...]:
    """Return what writing captions would change, a preview a folder; nothing is written.

    Args:
        chosen: Which.
        over_existing: Whether captions that say something are written over; else they are left.
    """
    texts: dict[tuple[str, str], dict[str, str]] = {}
    for each in chosen:
        texts.setdefault((each.folder, each.extension), {})[each.name] = each.text
    return tuple(
        _preview(Path(folder), extension, of_folder, over_existing=over_existing)
        for (folder, extension), of_folder in texts.items()
    )


def _preview(folder: Path, extension: str, texts: dict[str, str], *, over_existing: bool) -> EditPreview:
    where = CaptionFolder(folder, tuple(texts), extension)
    shown = [
        preview(where, _change(text, over_existing=over_existing), [image], create=True)
        for image, text in texts.items()
    ]
    return EditPreview(folder=str(folder), edits=tuple(edit for each in shown for edit in each.edits))


def _change(text: str, *, over_existing: bool) -> Callable[[str], str]:
    return lambda before: text if over_existing or not before.strip() else before


def write_proposals(
    chosen: Sequence[CaptionProposal],
    *,
    over_existing: bool = False,
    told: Callable[[int, int], None] = lambda _done, _total: None,
) -> WrittenCaptions:
    """Write captions that were seen, each in one step; of those that there are the originals are kept.

    Args:
        chosen: Which.
        over_existing: Whether captions that say something are written over; else they are left.
        told: Gets how many are written, and how many there are.

    Raises:
        CannotWrite: One cannot be written, such as on a full disk; those before are.
        CannotRead: A folder's journal is damaged.
    """
    done: list[Path] = []
    for edits in previews_of(chosen, over_existing=over_existing):
        written = write_edits(edits, partial(_told_all, told, len(done), len(chosen)))
        done += [Path(edits.folder) / name for name in written.done]
    return WrittenCaptions(tuple(done), tuple(Path(each.folder) / each.name for each in _others(chosen)))


def _others(chosen: Sequence[CaptionProposal]) -> Iterator[CaptionProposal]:
    """Yield those whose captions say something else."""
    for each in chosen:
        if read_caption(Path(each.folder), each.name, each.extension).text != each.text:
            yield each


def _told_all(told: Callable[[int, int], None], before: int, every: int, done: int, _of_folder: int) -> None:
    told(before + done, every)


def reason_of_failure(made: Captioning) -> str:
    """Return in one sentence why a captioner ended without its work done; empty when it does not tell."""
    parser, tally = OutputParser(), Tally()
    try:
        for piece in read_log(made.log):
            for event in parser.feed(piece):
                tally.add(event)
    except CannotRead:
        return ""
    for event in parser.finish():
        tally.add(event)
    cause = tally.cause
    if cause is None:
        return ""
    return _("the script ended with {error}").format(
        error=": ".join(part for part in (cause.type, cause.message) if part)
    )
