"""All trainers of this machine, and adding one."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.texts import _
from gui.engine.trainer.choosing import KnownTrainer
from gui.engine.trainer.installs import Checkout
from gui.window.bridges.settings import Settings
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.trainers import Trainers
from gui.window.pages.settings.adding import AddTrainer
from gui.window.pages.settings.torch_panel import TorchPanel
from gui.window.pages.settings.trainer_entry import TrainerEntry
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.dropping import Drops
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import line


class TrainersCard(Card):
    """The list; takes a trainer's folder by drop.

    Args:
        trainers: Knows them.
        settings: Keeps those that were added.
        tasks: Where torch is fetched.
        icons: Draw pictures.
        home: Whose practice trainer.
    """

    def __init__(
        self, *, trainers: Trainers, settings: Settings, tasks: Tasks, icons: Icons, home: Home
    ) -> None:
        self._again = Button(_("Search again"), compact=True, name="trainers-search")
        self._again.setToolTip(_("Looks for trainers in the usual places of this machine."))
        super().__init__(_("Trainers"), self._again, name="settings-trainers")
        self._trainers = trainers
        self._entries: dict[Path, TrainerEntry] = {}
        self._missing = Banner(icons, "warn", name="trainers-problem")
        self._busy = Busy(name="trainers-busy")
        self._busy.cancelled.connect(trainers.cancel)
        self._searching = Label(_("Looking for trainers …"), "muted")
        self._list = QVBoxLayout()
        self._list.setSpacing(Space.S)
        self._torch = TorchPanel(home, tasks, icons, self._torch_came)
        self._adding = AddTrainer(trainers, settings)
        above: tuple[QWidget, ...] = (self._missing, self._busy, self._searching)
        below: tuple[QWidget, ...] = (self._torch, line(), self._adding)
        for part in above:
            self.body.addWidget(part)
        self.body.addLayout(self._list)
        for part in below:
            self.body.addWidget(part)
        # It is added when its Python is told, too.
        Drops(self, lambda paths: self._adding.take(paths[0]), wants=lambda paths: len(paths) == 1)
        self._again.clicked.connect(trainers.look_again)
        trainers.changed.connect(self._show_trainers)
        trainers.progress.connect(self._busy.show_progress)
        self._show_trainers()

    def look_again(self) -> None:
        """See whether the practice trainer has a torch."""
        self._torch.look()

    def _show_trainers(self) -> None:
        trainers = self._trainers
        known = self._known()
        roots = [each.checkout.root for each in known]
        if roots != list(self._entries):
            self._arrange(known)
        for each in known:
            self._entries[each.checkout.root].show_state(each)
        self._busy.setVisible(trainers.busy)
        if not trainers.busy:
            self._busy.show_progress(_("Looking at the trainer …"))
        self._searching.setVisible(not known and not trainers.looked)
        problem = trainers.problem
        self._missing.setVisible(problem is not None and not trainers.busy)
        if problem is not None:
            self._missing.show_words(_("No trainer is in use."), str(problem))

    def _known(self) -> list[KnownTrainer]:
        """Return all; the one in use too where it was named only for this window."""
        known, current = self._trainers.known, self._trainers.current
        if current is None or any(each.checkout.root == current.install.root for each in known):
            return known
        install = current.install
        own = KnownTrainer(Checkout(root=install.root, origin=install.origin), install, default=False)
        return [own, *known]

    def _arrange(self, known: list[KnownTrainer]) -> None:
        """Have an entry for each, in their order; those that stay keep the keyboard."""
        before, self._entries = self._entries, {}
        for place, each in enumerate(known):
            root = each.checkout.root
            self._entries[root] = before.pop(root) if root in before else self._make_entry(each)
            self._list.insertWidget(place, self._entries[root])
            self._entries[root].show()
        for entry in before.values():
            self._list.removeWidget(entry)
            entry.hide()
            entry.deleteLater()

    def _make_entry(self, known: KnownTrainer) -> TrainerEntry:
        entry = TrainerEntry(self._trainers, known)
        entry.python_wanted.connect(self._adding.name_python)
        return entry

    def tells(self, error: PreflightError) -> bool:
        """Whether the list itself says what an error says."""
        trainers = self._trainers
        return any(trainers.trouble_of(known) == str(error) for known in trainers.known)

    def _torch_came(self) -> None:
        """Ask the practice trainer again, and whichever was waiting for torch."""
        self._trainers.look_again()
        for known in self._trainers.known:
            if known.install is not None and known.install.practice:
                self._trainers.examine(known.install)
