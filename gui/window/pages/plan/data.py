"""The second step: the images."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QFrame, QLabel, QVBoxLayout

from gui.engine.errors import UnknownFamily
from gui.engine.findings import Finding
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_choice import with_layer
from gui.engine.plan.presets import compose
from gui.engine.texts import _
from gui.window.pages.plan.fields_of_files import data_groups
from gui.window.pages.plan.parts import Parts
from gui.window.pages.plan.rows import FieldCard
from gui.window.pages.plan.step import Step
from gui.window.pages.plan.subset_card import SubsetCard
from gui.window.pages.plan.subsets import SubsetPlace, added_folders, subset_places
from gui.window.pages.plan.words import count_words, steps_sentence
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.dropping import Drops
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import column, held, row
from gui.window.widgets.styled import style


class DropPlace(QFrame):
    """Takes folders by drop, or by a button.

    Args:
        icons: Draws its picture.
    """

    dropped = Signal(list)
    """Paths, as text."""
    wanted = Signal()
    """The button was pressed."""

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("drop-folder")
        style(self, role="drop", dropping=False)
        Drops(self, self.dropped.emit)
        self._icons = icons
        self._picture = QLabel()
        self._title = Label(_("Drop a folder of images here"), "strong")
        self._text = Label(_("Captions are text files of the same names beside them."), "small")
        self.button = Button(_("Choose folder…"), compact=True, name="choose-folder")
        self.button.clicked.connect(self.wanted)
        words = held(column(self._title, self._text, spacing=2))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(Space.XL, Space.L, Space.XL, Space.L)
        line = row(self._picture, words, self.button, spacing=Space.L)
        line.setStretchFactor(words, 1)
        layout.addLayout(line)
        icons.theme.changed.connect(self._draw)
        self._draw()

    def show_more(self, more: bool) -> None:
        """Say that this would be another folder, or the first."""
        self._title.setText(_("Add another folder") if more else _("Drop a folder of images here"))
        self._text.setVisible(not more)

    def _draw(self) -> None:
        self._picture.setPixmap(self._icons.pixmap("folder", 28, "accent"))


class DataStep(Step):
    """Folders of images, and what counts for all of them."""

    folders_dropped = Signal(list)
    """Something was dropped on the place for folders; the page knows what it is."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts, "data")
        self.subsets: list[SubsetCard] = []
        self._places = QVBoxLayout()
        self._places.setSpacing(Space.L)
        self._drop = DropPlace(parts.icons)
        self._drop.dropped.connect(self.folders_dropped)
        self._drop.wanted.connect(self._browse)
        self._sentence = Label("", "strong")
        self._sentence.setObjectName("steps-sentence")
        self._advice = Label("", "small")
        self._adapt = Button("", compact=True, name="adapt-to-size")
        self._adapt.clicked.connect(self._adapt_to_size)
        self._sums = Card(_("How long it trains"))
        self._sums.body.addWidget(self._sentence)
        advice = row(self._advice, self._adapt)
        advice.setStretchFactor(self._advice, 1)
        self._sums.body.addLayout(advice)
        self.content.addLayout(self._places)
        self.content.addWidget(self._drop)
        self.content.addWidget(self._sums)
        for group in data_groups():
            card = FieldCard(parts, group)
            self.cards.append(card)
            self.content.addWidget(card)
        self.content.addStretch(1)

    def come(self) -> None:
        """Become the step that is seen."""
        super().come()
        for card in self.subsets:
            card.look_again()

    def update_now(self) -> None:
        """Show what the plan has now."""
        super().update_now()
        places = subset_places(self.parts.document.plan)
        known = [(card.place.target, card.place.folder) for card in self.subsets]
        if [(place.target, place.folder) for place in places] != known:
            self._rebuild(places)
        for card, place in zip(self.subsets, places, strict=True):
            extension = card.extension
            card.refresh(place)
            if card.extension != extension:
                card.look_again()
        self._drop.show_more(bool(places))
        self._drop.setVisible(not self.parts.document.read_only)
        self._show_advice()

    def show_findings(self) -> None:
        """Show what preflight says now."""
        super().show_findings()
        for card in self.subsets:
            card.show_findings()
        report = self.parts.checks.report
        batch = self.parts.document.effective("dataset.batch_size").value
        gathered = self.parts.document.effective("gradient_accumulation_steps").value
        self._sentence.setText(steps_sentence(report.steps if report else None, batch, gathered))

    def has_place(self, finding: Finding) -> bool:
        """Whether a finding is shown beside its field."""
        return any(card.holds(finding) for card in self.subsets) or super().has_place(finding)

    def focus_field(self, target: str) -> bool:
        """Give a field the keyboard; whether this step has it."""
        for card in self.subsets:
            if card.has(target):
                self.scroller.ensureWidgetVisible(card)
                found = next((each for each in card.rows if target in each.field.targets), card.rows[0])
                found.flash(target)
                return True
        if target in ("dataset.subsets", "dataset.datasets", "train_data_dir"):
            self._drop.button.setFocus(Qt.FocusReason.OtherFocusReason)
            return True
        return super().focus_field(target)

    def add_folders(self, folders: list[Path]) -> None:
        """Add folders to the plan, in one undo step."""
        changes = added_folders(self.parts.document.plan, folders)
        if not changes:
            return
        names = ", ".join(folder.name for folder in folders[:3])
        refusal = self.parts.document.change(changes, _("Add {what}").format(what=names))
        if refusal:
            self.refused.emit(refusal)

    def _rebuild(self, places: list[SubsetPlace]) -> None:
        kept = {
            card.place.folder: card
            for card in self.subsets
            if card.place.target in {p.target for p in places}
        }
        wanted = []
        for place in places:
            card = kept.pop(place.folder, None)
            if card is None or card.place.target != place.target:
                card = self._made(place)
            wanted.append(card)
        for card in self.subsets:
            if card not in wanted:
                self._places.removeWidget(card)
                card.retire()
        self.subsets = wanted
        for number, card in enumerate(wanted):
            self._places.insertWidget(number, card)
            card.show()

    def _made(self, place: SubsetPlace) -> SubsetCard:
        card = SubsetCard(self.parts, place)
        card.removed.connect(self._remove)
        card.replaced.connect(self._replace)
        card.counted.connect(self._show_advice)
        card.look_again()
        return card

    def _remove(self, target: str) -> None:
        folder = next((card.place.folder for card in self.subsets if card.place.target == target), "")
        text = _("Take {what} out").format(what=Path(folder).name)
        refusal = self.parts.document.change({target: None}, text)
        if refusal:
            self.refused.emit(refusal)

    def _replace(self, target: str, folders: list[Path]) -> None:
        document = self.parts.document
        text = _("Use {what}").format(what=", ".join(folder.name for folder in folders[:3]))
        refusal = document.change({target: None}, text, merge="replace-folder")
        changes = added_folders(document.plan, folders)
        if not refusal and changes:
            refusal = document.change(changes, text, merge="replace-folder")
        document.end_merge()
        if refusal:
            self.refused.emit(refusal)

    def _browse(self) -> None:
        path = QFileDialog.getExistingDirectory(self, _("Folder of images"), str(self.parts.document.base))
        if path:
            self.add_folders([Path(path)])

    def _images(self) -> int:
        looks = [card.look for card in self.subsets if card.place.own.get("is_reg") is not True]
        return sum(look.images for look in looks if look is not None)

    def _fitting_layer(self) -> str | None:
        plan, library = self.parts.document.plan, self.parts.document.library
        images = self._images()
        if not images:
            return None
        try:
            layers = compose(plan.family, plan.kind, images=images, library=library).layers
        except UnknownFamily:
            return None
        return next((name for name in layers if name in library.on("dataset")), None)

    def _show_advice(self) -> None:
        document = self.parts.document
        layer = self._fitting_layer()
        wanted = layer if layer != document.layer_on("dataset") and not document.read_only else None
        self._adapt.setVisible(wanted is not None)
        self._advice.setVisible(wanted is not None)
        if wanted is not None:
            title = _(document.library.layers[wanted].title)
            words = _("There are {images}. Rates and steps can be set for that many.")
            self._advice.setText(words.format(images=count_words(self._images())))
            self._adapt.setText(_("Use the values for: {size}").format(size=title))

    def _adapt_to_size(self) -> None:
        document = self.parts.document
        layer = self._fitting_layer()
        presets = with_layer(document.plan.presets, "dataset", layer, document.library)
        plan: TrainingPlan = document.plan.model_copy(update={"presets": presets})
        refusal = document.replace(plan, _("Use the values for this many images"))
        if refusal:
            self.refused.emit(refusal)
