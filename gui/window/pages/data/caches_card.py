"""Cache files with something wrong, and a way to remove just these."""

from __future__ import annotations

from gui.engine.dataset.cache_removal import BadCache, bad_caches, remove_bad
from gui.engine.dataset.cache_trouble_kinds import short_words
from gui.engine.errors import PreflightError
from gui.engine.quantities import gib
from gui.engine.texts import _, ngettext
from gui.window.bridges.tasks import Tasks
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.pages.data.repair_card import RepairCard
from gui.window.pages.data.repairs_files import FileList, FileRow
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.buttons import Button
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import row

_LOOK, _REMOVE = "caches-look", "caches-remove"


class CachesCard(RepairCard):
    """Lists first, removes on request.

    Args:
        tasks: Where files are looked at and removed.
        icons: With the theme.
    """

    def __init__(self, tasks: Tasks, icons: Icons) -> None:
        super().__init__(_("Caches of the trainer"), tasks, icons, kind="caches")
        self._caches: list[BadCache] = []
        self._asked: list[BadCache] = []
        self.words = Label("", "muted")
        self.words.setObjectName("caches-words")
        self.files = FileList(icons.theme, _("Cache files with something wrong"), "caches-list")
        self.remove = Button("", "danger", name="caches-remove")
        self.ask = Ask("", "", _("Remove them"), _("Keep them"), tone="bad", name="ask-caches")
        for part in (self.words, self.files, self.ask):
            self.body.addWidget(part)
        self.body.addLayout(row(self.remove, None, spacing=Space.S))
        self.ask.hide()
        self.remove.hide()
        self.remove.clicked.connect(self._ask)
        self.ask.yes.connect(self._remove)

    def show_view(self, view: DatasetView) -> None:
        """List the bad caches of a dataset."""
        super().show_view(view)
        report = view.report
        if report is None:
            self._show([])
        else:
            self._tasks.run(lambda _handle: bad_caches(report), self._show, self._unread, key=_LOOK)

    def _show(self, caches: list[BadCache]) -> None:
        self._caches = caches
        count = len(caches)
        words = ngettext(
            "{count} cache file beside the images has something wrong, {size}.",
            "{count} cache files beside the images have something wrong, {size} together.",
            count,
        )
        nothing = _("Nothing is wrong with the cache files beside the images.")
        self.words.setText(words.format(count=f"{count:,}", size=_size(caches)) if count else nothing)
        self.files.show_files([_row(cache) for cache in caches])
        button = ngettext("Remove {count} cache file…", "Remove {count} cache files…", count)
        self.remove.setText(button.format(count=f"{count:,}"))
        self.remove.setVisible(count > 0)
        self.remove.setEnabled(True)

    def _ask(self) -> None:
        self._asked = self._caches  # another look may find others while the question stands
        count = len(self._asked)
        question = ngettext(
            "Remove {count} cache file, {size}?", "Remove {count} cache files, {size}?", count
        )
        self.ask.ask(
            question.format(count=f"{count:,}", size=_size(self._asked)),
            _("Only the listed cache files are removed. The trainer makes those that it needs anew."),
        )

    def _remove(self) -> None:
        caches = self._asked
        self.remove.setEnabled(False)
        self._tasks.run(lambda _handle: remove_bad(caches), self._removed, self._failed, key=_REMOVE)

    def _removed(self, result: tuple[list[BadCache], list[BadCache]]) -> None:
        removed, left = result
        words = ngettext(
            "{count} cache file is removed, {size}.", "{count} cache files are removed, {size}.", len(removed)
        )
        more = ""
        if left:
            more = _("Left alone, changed meanwhile or not to be removed: {names}").format(
                names=", ".join(cache.name for cache in left)
            )
        title = words.format(count=f"{len(removed):,}", size=_size(removed))
        self.say_changed(title, more, "warn" if more else "good")

    def _unread(self, error: PreflightError) -> None:
        self.say(_("It cannot be told what is wrong with cache files."), str(error), "bad")

    def _failed(self, error: PreflightError) -> None:
        self.say(_("The cache files were not removed."), str(error), "bad")
        self.remove.setEnabled(True)


def _row(cache: BadCache) -> FileRow:
    texts = short_words()
    troubles = ", ".join(texts[each] for each in cache.troubles)
    return FileRow(cache.name, f"{troubles} · {gib(cache.state.size_bytes)}")


def _size(caches: list[BadCache]) -> str:
    return gib(sum(cache.state.size_bytes for cache in caches))
