"""Captions in other encodings become UTF-8, and all originals that are kept come back."""

from __future__ import annotations

from gui.engine.dataset.caption_edits import EditPreview, preview, to_utf8
from gui.engine.dataset.caption_folders import editable_captions
from gui.engine.dataset.caption_originals import Written, kept_originals, restore_originals
from gui.engine.dataset.spec import DatasetSpec
from gui.engine.errors import PreflightError
from gui.engine.texts import _, ngettext
from gui.window.bridges.caption_work import CaptionOutcome, CaptionStep, CaptionWork, outcome_words
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.pages.data.repair_card import RepairCard
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.buttons import Button
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import row

_LOOK, _RESTORE = "repairs-captions-look", "repairs-captions-restore"
SHOWN_NAMES = 5
NOT_UTF8 = ("cap-encoding", "cap-mark")
"""Kinds of trouble that a conversion mends; see ``problem_kinds``."""


class CaptionsCard(RepairCard):
    """What is in another encoding, and how many originals are kept.

    Args:
        tasks: Where captions are read.
        icons: With the theme.
        work: What writes captions.
    """

    def __init__(self, tasks: Tasks, icons: Icons, work: CaptionWork) -> None:
        super().__init__(_("Captions"), tasks, icons, kind="captions")
        self._work = work
        self._previews: tuple[EditPreview, ...] = ()
        self._step: CaptionStep | None = None
        self.encodings = Label("", "muted")
        self.encodings.setObjectName("captions-encodings")
        self.convert = Button("", name="captions-convert")
        self.originals = Label("", "muted")
        self.originals.setObjectName("captions-originals")
        self.restore = Button(_("Bring all originals back…"), name="captions-restore")
        self.ask = Ask(
            _("Bring all original captions back?"),
            _("What was written since is gone then; captions that other programs changed stay as they are."),
            _("Bring them back"),
            _("Keep them as they are"),
            name="ask-captions-restore",
        )
        self.body.addWidget(self.encodings)
        self.body.addLayout(row(self.convert, None, spacing=Space.S))
        self.body.addWidget(self.originals)
        self.body.addWidget(self.ask)
        self.body.addLayout(row(self.restore, None, spacing=Space.S))
        for hidden in (self.convert, self.originals, self.ask, self.restore):
            hidden.hide()
        self.convert.clicked.connect(self._convert)
        self.restore.clicked.connect(lambda _on=False: self.ask.ask())
        self.ask.yes.connect(self._restore)
        work.finished.connect(self._worked)

    def show_view(self, view: DatasetView) -> None:
        """Look how the captions of a dataset are written."""
        super().show_view(view)
        self._tasks.run(lambda handle: _look(view, handle), self._show, self._failed, key=_LOOK)

    def _show(self, found: tuple[tuple[EditPreview, ...], int]) -> None:
        self._previews, kept = found
        count = sum(len(each.edits) for each in self._previews)
        self.encodings.setText(_encoding_words(self._previews, count))
        button = ngettext("Convert {count} caption", "Convert {count} captions", count)
        self.convert.setText(button.format(count=f"{count:,}"))
        self.convert.setVisible(count > 0)
        self.convert.setEnabled(True)
        words = ngettext(
            "The original of {count} changed caption is kept beside it.",
            "The originals of {count} changed captions are kept beside them.",
            kept,
        )
        self.originals.setText(words.format(count=f"{kept:,}"))
        self.originals.setVisible(kept > 0)
        self.restore.setVisible(kept > 0)

    def _convert(self) -> None:
        self.convert.setEnabled(False)
        self._step = self._work.write(_("convert captions to UTF-8"), self._previews)

    def _worked(self, outcome: CaptionOutcome) -> None:
        if outcome.step is self._step:
            title, more, whole = outcome_words(outcome)
            self.say_changed(title, more, "good" if whole else "warn")

    def _restore(self) -> None:
        if self._view is not None:
            spec = self._view.spec
            self._tasks.run(lambda _handle: _restore(spec), self._restored, self._failed, key=_RESTORE)

    def _restored(self, written: Written) -> None:
        self._work.forget()
        count = len(written.done)
        words = ngettext("{count} original is back.", "{count} originals are back.", count)
        more = ""
        if written.left:
            more = _("Changed by somebody else since, and left alone: {names}").format(
                names=", ".join(written.left)
            )
        self.say_changed(words.format(count=f"{count:,}"), more, "warn" if more else "good")

    def _failed(self, error: PreflightError) -> None:
        self.say(_("Not all of it was done."), str(error), "bad")


def _encoding_words(previews: tuple[EditPreview, ...], count: int) -> str:
    words = ngettext(
        "{count} caption is in another encoding than UTF-8, or begins with a mark.",
        "{count} captions are in another encoding than UTF-8, or begin with a mark.",
        count,
    )
    text = words.format(count=f"{count:,}") if count else _("All captions that can be read are UTF-8.")
    unreadable = [name for each in previews for name in each.unreadable]
    if unreadable:
        names = ", ".join(unreadable[:SHOWN_NAMES]) + (" …" if len(unreadable) > SHOWN_NAMES else "")
        text += " " + _("In which encoding these are cannot be told: {names}").format(names=names)
    return text


def _look(view: DatasetView, handle: TaskHandle) -> tuple[tuple[EditPreview, ...], int]:
    """Return what would be converted of what the last look found, and how many originals are kept."""
    wrong: dict[str, dict[str, None]] = {}
    for subset in view.report.subsets if view.report else ():
        for problem in subset.captions.problems if subset.captions else ():
            if problem.key in NOT_UTF8:
                wrong.setdefault(subset.image_dir, {}).update(dict.fromkeys(problem.names))
    previews = tuple(
        preview(where, to_utf8, wrong.get(str(where.folder), {}), cancelled=handle.is_cancelled)
        for where in editable_captions(view.spec)
    )
    return previews, sum(len(kept_originals(folder)) for folder in view.spec.folders)


def _restore(spec: DatasetSpec) -> Written:
    results = [restore_originals(folder) for folder in spec.folders]
    return Written(
        tuple(name for result in results for name in result.done),
        tuple(name for result in results for name in result.left),
    )
