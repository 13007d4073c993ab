"""Images that stop the trainer are set aside when the user says so, and come back with one click."""

from __future__ import annotations

from gui.engine.dataset.bad_images import put_aside, stopping_images, stopping_reasons
from gui.engine.dataset.quarantine import QUARANTINE, Returned, bring_back, in_quarantine
from gui.engine.dataset.report import DatasetReport
from gui.engine.dataset.spec import DatasetSpec
from gui.engine.errors import PreflightError
from gui.engine.texts import _, ngettext
from gui.window.bridges.tasks import Tasks
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.pages.data.repair_card import RepairCard
from gui.window.pages.data.repairs_files import FileList, FileRow
from gui.window.pages.data.tile_words import short_words
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import row

_LOOK, _MOVE = "repairs-aside-look", "repairs-aside-move"


class AsideCard(RepairCard):
    """What is bad and still there, and what is set aside now, also by a crash in the middle.

    Args:
        tasks: Where files are moved.
        icons: With the theme.
    """

    def __init__(self, tasks: Tasks, icons: Icons) -> None:
        super().__init__(_("Images that stop the trainer"), tasks, icons, kind="aside")
        self.bad_words = Label("", "muted")
        self.bad_words.setObjectName("aside-bad")
        self.bad = FileList(icons.theme, _("Images that stop the trainer"), "aside-bad-list")
        self.set_aside = Button("", name="aside-move")
        self.aside_words = Label("", "muted")
        self.aside_words.setObjectName("aside-there")
        self.there = FileList(icons.theme, _("What is set aside"), "aside-there-list")
        self.back = Button(_("Bring all back"), name="aside-back")
        self.body.addWidget(self.bad_words)
        self.body.addWidget(self.bad)
        self.body.addLayout(row(self.set_aside, None, spacing=Space.S))
        self.body.addWidget(self.aside_words)
        self.body.addWidget(self.there)
        self.body.addLayout(row(self.back, None, spacing=Space.S))
        self.set_aside.clicked.connect(self._move)
        self.back.clicked.connect(self._bring_back)

    def show_view(self, view: DatasetView) -> None:
        """Show what is bad in a dataset, and what is set aside of it."""
        super().show_view(view)
        self._tasks.run(lambda _handle: _look(view.spec, view.report), self._show, self._unread, key=_LOOK)

    def _show(self, found: tuple[list[FileRow], list[FileRow]]) -> None:
        stopping, aside = found
        bad = len(stopping)
        words = ngettext("{count} image stops the trainer.", "{count} images stop the trainer.", bad)
        self.bad_words.setText(
            words.format(count=f"{bad:,}") if bad else _("No image stops the trainer, as far as is known.")
        )
        self.bad.show_files(stopping)
        text = ngettext("Set {count} image aside", "Set {count} images aside", bad)
        self.set_aside.setText(text.format(count=f"{bad:,}"))
        self.set_aside.setToolTip(
            _("Moves them with their captions into “{folder}”, where the trainer does not look").format(
                folder=QUARANTINE
            )
        )
        self.set_aside.setVisible(bad > 0)
        self.set_aside.setEnabled(True)
        count = len(aside)
        words = ngettext("{count} file is set aside.", "{count} files are set aside.", count)
        self.aside_words.setText(words.format(count=f"{count:,}"))
        self.aside_words.setVisible(count > 0)
        self.there.show_files(aside)
        self.back.setVisible(count > 0)
        self.back.setEnabled(True)

    def _move(self) -> None:
        view = self._view
        if view is not None and view.report is not None:
            spec, report = view.spec, view.report
            self.set_aside.setEnabled(False)
            self._tasks.run(lambda _handle: _put_aside(spec, report), self._moved, self._failed, key=_MOVE)

    def _moved(self, count: int) -> None:
        words = ngettext("{count} file was set aside.", "{count} files were set aside.", count)
        self.say_changed(
            words.format(count=f"{count:,}"), _("They are as they were, and can be brought back.")
        )

    def _bring_back(self) -> None:
        if self._view is not None:
            spec = self._view.spec
            self.back.setEnabled(False)
            self._tasks.run(lambda _handle: _bring_back(spec), self._brought, self._failed, key=_MOVE)

    def _brought(self, returned: Returned) -> None:
        count = len(returned.back)
        words = ngettext("{count} file is back.", "{count} files are back.", count)
        more = ""
        if returned.in_the_way:
            more = _("These stay set aside, since other files have their names by now: {names}").format(
                names=", ".join(returned.in_the_way)
            )
        self.say_changed(words.format(count=f"{count:,}"), more, "warn" if more else "good")

    def _unread(self, error: PreflightError) -> None:
        self.say(_("It cannot be told what is set aside."), str(error), "bad")

    def _failed(self, error: PreflightError) -> None:
        self.say_changed(_("Not all files were moved."), str(error), "bad")


def _look(spec: DatasetSpec, report: DatasetReport | None) -> tuple[list[FileRow], list[FileRow]]:
    """Return what is bad, and what is set aside; in a thread, since it reads journals."""
    bad: dict[tuple[str, str], FileRow] = {}
    for subset in report.subsets if report else ():
        for name, key in stopping_reasons(subset).items():
            bad.setdefault((subset.image_dir, name), FileRow(name, short_words(key)))
    aside = [FileRow(entry.name, folder.name) for folder in spec.folders for entry in in_quarantine(folder)]
    return list(bad.values()), aside


def _put_aside(spec: DatasetSpec, report: DatasetReport) -> int:
    return sum(put_aside(spec, subset, names) for subset, names in stopping_images(spec, report))


def _bring_back(spec: DatasetSpec) -> Returned:
    results = [bring_back(folder) for folder in spec.folders]
    return Returned(
        tuple(name for result in results for name in result.back),
        tuple(name for result in results for name in result.in_the_way),
    )
