"""The caption that is being typed: read, kept safe while it is typed, and written when it is left."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.dataset.caption_drafts import CaptionDraft, CaptionDrafts
from gui.engine.dataset.caption_edits import CaptionEdit, EditPreview, hash_of, opened
from gui.engine.dataset.caption_originals import ORIGINALS, restore_originals, write_edits
from gui.engine.errors import CannotWrite, PreflightError
from gui.engine.texts import _
from gui.window.bridges.caption_work import CaptionOutcome, CaptionWork
from gui.window.bridges.tasks import TaskHandle, Tasks

DRAFT_DELAY_MS = 300
_OPEN, _RESTORE = "caption-open", "caption-restore"


@dataclass(frozen=True)
class OpenCaption:
    """One caption that is being looked at.

    Attributes:
        where: The captions of its folder.
        edit: As it stands on the disk.
        has_original: Whether its original is kept.
    """

    where: CaptionFolder
    edit: CaptionEdit
    has_original: bool

    @property
    def place(self) -> tuple[Path, str]:
        """Its folder and its image."""
        return self.where.folder, self.edit.image

    @property
    def text(self) -> str:
        """What is on the disk, lines ending in a line feed."""
        return _plain(self.edit.before or "")


class CaptionDesk(QObject):
    """Holds one caption at a time.

    Attributes:
        caption: The one; None while none is open.
        text: As it was typed, lines ending in a line feed.
        conflict: Whether somebody else changed the file since it was typed.

    Args:
        tasks: Where files are read.
        work: What writes captions.
        drafts: What was typed and is not written yet.
    """

    opened = Signal()
    """`caption`, `text` and `conflict` are other ones."""
    unreadable = Signal(object)
    """`PreflightError`."""
    trouble = Signal(str, str)
    """What was not done, and why."""

    def __init__(self, tasks: Tasks, work: CaptionWork, drafts: CaptionDrafts) -> None:
        super().__init__()
        self._tasks = tasks
        self._work = work
        self.drafts = drafts
        self.caption: OpenCaption | None = None
        self.text = ""
        self.conflict = False
        self._handed_over = ""
        self._wanted: tuple[CaptionFolder, str] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DRAFT_DELAY_MS)
        self._timer.timeout.connect(self._keep)
        work.finished.connect(self._written)

    @property
    def dirty(self) -> bool:
        """Whether there is something to write."""
        return self.caption is not None and self.text != self.caption.text

    def open(self, where: CaptionFolder, image: str) -> None:
        """Read a caption; the one before it is left."""
        self.leave()
        self.caption = None
        self._wanted = (where, image)
        self._read()

    def typed(self, text: str) -> None:
        """Take what the user typed."""
        if self.caption is not None:
            self.text = text
            self._timer.start()

    def leave(self) -> None:
        """Write what was typed; where somebody else changed the file it stays a draft."""
        edit = self._due()
        if edit is not None:
            self._write(edit)

    def write_now(self) -> None:
        """Write what was typed before the window closes; what cannot be written stays a draft."""
        edit = self._due()
        if edit is not None and self.caption is not None:
            with contextlib.suppress(PreflightError):
                write_edits(EditPreview(folder=str(self.caption.where.folder), edits=(edit,)))

    def _due(self) -> CaptionEdit | None:
        """Keep what was typed as a draft, and return it as an edit where it is to be written."""
        self._keep()
        if self.caption is None or not self.dirty or self.conflict or self.text == self._handed_over:
            return None
        if self.caption.edit.before is None and not self.text.strip():
            return None
        self._handed_over = self.text
        after = _with_ends_of(self.text, self.caption.edit.before or "")
        return replace(self.caption.edit, after=after)

    def convert(self) -> None:
        """Write it in UTF-8, whether or not something was typed."""
        if self.dirty:
            self.leave()
        elif self.caption is not None:
            self._write(self.caption.edit)

    def keep_mine(self) -> None:
        """Write what was typed over what somebody else wrote."""
        self.conflict = False
        self._handed_over = ""
        self.leave()
        self.opened.emit()

    def take_theirs(self) -> None:
        """Let what was typed go."""
        if self.caption is not None:
            self.text, self.conflict = self.caption.text, False
            self._keep()
            self.opened.emit()

    def restore(self) -> None:
        """Bring the original back."""
        if self.caption is None:
            return
        folder, name = self.caption.where.folder, self.caption.edit.name
        self.take_theirs()
        self._tasks.run(
            lambda _handle: restore_originals(folder, [name], force=True),
            lambda _written: self.look_again(),
            lambda error: self.trouble.emit(_("The original was not brought back."), str(error)),
            key=_RESTORE,
        )

    def look_again(self) -> None:
        """Read the file again: it may be another one by now."""
        self._keep()
        self._read()

    def _read(self) -> None:
        if self._wanted is not None:
            where, image = self._wanted
            self._tasks.run(
                lambda handle: _opened(where, image, handle), self._show, self.unreadable.emit, key=_OPEN
            )

    def _show(self, caption: OpenCaption) -> None:
        # What was typed while the file was read is newer than the draft on the disk.
        self._keep()
        draft = self.drafts.find(*caption.place)
        self.caption, self.text, self.conflict = caption, caption.text, False
        self._handed_over = ""
        if draft is not None and draft.text != caption.text:
            self.text = draft.text
            self.conflict = draft.content != caption.edit.content
        self._keep()
        self.opened.emit()

    def _keep(self) -> None:
        """Keep what was typed as a draft, or let the draft go where there is nothing to write."""
        self._timer.stop()
        if self.caption is None:
            return
        folder, image = self.caption.place
        try:
            if not self.dirty:
                self.drafts.forget(folder, image)
                return
            known = self.drafts.find(folder, image) if self.conflict else None
            content = known.content if known else self.caption.edit.content
            self.drafts.keep(CaptionDraft(folder=str(folder), image=image, text=self.text, content=content))
        except CannotWrite as error:
            self.trouble.emit(_("What you type cannot be kept safe from a crash."), str(error))

    def _write(self, edit: CaptionEdit) -> None:
        assert self.caption is not None  # noqa: S101 - told by both callers
        text = _("the caption of {name}").format(name=edit.image)
        preview = EditPreview(folder=str(self.caption.where.folder), edits=(edit,))
        self._work.write(text, [preview])

    def _written(self, outcome: CaptionOutcome) -> None:
        done = {name for written in outcome.written for name in written.done}
        touched = False
        for preview in outcome.step.previews:
            for edit in preview.edits:
                place = (Path(preview.folder), edit.image)
                here = self.caption is not None and self.caption.place == place
                if outcome.deed != "undo" and edit.name in done:
                    self._let_go(place, edit)
                    if here:
                        self._stands(edit)
                touched = touched or here
        if outcome.step.size == 1 and not done and outcome.deed == "write":
            self._tell(outcome)
        if touched:
            self.look_again()

    def _stands(self, edit: CaptionEdit) -> None:
        """Know what was written as what is on the disk: whatever was typed since is another version of it."""
        if self.caption is not None:
            content = hash_of(edit.after.encode("utf-8"))
            stands = replace(edit, before=edit.after, content=content, encoding="utf-8")
            self.caption = replace(self.caption, edit=stands)

    def _let_go(self, place: tuple[Path, str], edit: CaptionEdit) -> None:
        draft = self.drafts.find(*place)
        if draft is not None and draft.text == _plain(edit.after):
            try:
                self.drafts.forget(*place)
            except CannotWrite as error:
                self.trouble.emit(_("A draft that is written is still kept."), str(error))

    def _tell(self, outcome: CaptionOutcome) -> None:
        title = _("Not written: {what}. What you typed is kept.").format(what=outcome.step.text)
        reason = str(outcome.error) if outcome.error else _("Another program changed it meanwhile.")
        self.trouble.emit(title, reason)


def _opened(where: CaptionFolder, image: str, _handle: TaskHandle) -> OpenCaption:
    edit = opened(where, image)
    return OpenCaption(where, edit, (where.folder / ORIGINALS / edit.name).is_file())


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2029", "\n")


def _with_ends_of(text: str, like: str) -> str:
    return text.replace("\n", "\r\n") if "\r\n" in like else text
