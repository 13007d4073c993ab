"""The first step: what is trained."""

from __future__ import annotations

from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.findings import Finding
from gui.engine.plan.families import Family, families
from gui.engine.texts import _
from gui.window.bridges.model_hashes import ModelHashes
from gui.window.pages.plan.choices import Choices, Option
from gui.window.pages.plan.model_files import ModelFileRow, argument_for
from gui.window.pages.plan.motifs import FamilyPicture
from gui.window.pages.plan.parts import Parts
from gui.window.pages.plan.step import Step
from gui.window.pages.plan.words import kind_words
from gui.window.theme.space import Space
from gui.window.widgets.card import Card
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import clear, line

KINDS = ("lora", "full", "dreambooth", "textual_inversion", "controlnet", "controlnet-lllite")


class WhatStep(Step):
    """Family, kind of training, purpose, and the model's files."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts, "what")
        self._known: tuple[str, ...] = ()
        self._families = Choices(parts.theme, "family", width=112, margins=Space.S)
        self._families.chosen.connect(self._choose_family)
        self._about = Label("", "muted")
        self._kinds = Choices(parts.theme, "kind", width=150)
        self._kinds.chosen.connect(self._choose_kind)
        self._purposes = Choices(parts.theme, "purpose", width=150)
        self._purposes.chosen.connect(self._choose_purpose)
        self._files: list[ModelFileRow] = []
        self._hashes = ModelHashes(parts.tasks, parts.home.hashes)
        self._hashes.changed.connect(self._show_hashes)
        self._file_rows = QVBoxLayout()
        self._file_rows.setSpacing(0)
        self._file_card = _card(_("Model files"), self._file_rows)
        for card in (
            _card(_("Which model"), self._families, self._about),
            _card(_("For what"), self._purposes),
            self._file_card,
            _card(_("How"), self._kinds),
        ):
            self.content.addWidget(card)
        self.content.addStretch(1)
        self._families.set_options(
            [
                Option(name, _(each.title), picture=FamilyPicture(name, parts.theme))
                for name, each in families().items()
            ]
        )
        library = parts.document.library
        self._purposes.set_options(
            [
                Option(name, _(layer.title), _(layer.description))
                for name, layer in library.on("purpose").items()
            ]
        )

    def update_now(self) -> None:
        """Show what the plan has now."""
        super().update_now()
        plan, family = self.parts.document.plan, self.parts.family
        self._families.show_value(plan.family)
        self._about.setText(_(family.description) if family else self._unknown_family())
        self._purposes.show_value(self.parts.document.layer_on("purpose"))
        wanted = (plan.family, plan.kind)
        if wanted != self._known:
            self._known = wanted
            self._show_kinds(family)
            self._show_files(family)
        self._kinds.show_value(plan.kind)
        for row in self._files:
            row.refresh()

    def show_findings(self) -> None:
        """Show what preflight says now."""
        super().show_findings()
        for row in self._files:
            row.show_findings()
        self._want_hashes()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Read no files for those who do not look."""
        super().hideEvent(event)
        self._hashes.want(())

    def has_place(self, finding: Finding) -> bool:
        """Whether a finding is shown beside its field."""
        return any(row.file.argument in finding.arguments for row in self._files)

    def focus_field(self, target: str) -> bool:
        """Give a field the keyboard; whether this step has it."""
        found = next((row for row in self._files if row.file.argument == target), None)
        if found is not None:
            self.scroller.ensureWidgetVisible(found)
            found.flash()
            return True
        place = {"plan.family": self._families, "plan.kind": self._kinds}.get(target)
        if place is not None:
            self.scroller.ensureWidgetVisible(place)
            card = place.card(self.parts.document.plan.family) or place.card(self.parts.document.plan.kind)
            (card or place).setFocus()
        return place is not None

    def take_model(self, path: str) -> None:
        """Use a model file that was dropped, for what its name seems to say."""
        arguments = tuple(row.file.argument for row in self._files) or ("pretrained_model_name_or_path",)
        self.parts.document.set_value(argument_for(path, arguments), path)

    def _want_hashes(self) -> None:
        """Have the files read that are seen, the base model first."""
        if self.isVisible():
            places = (row.place() for row in self._files)
            self._hashes.want(tuple(dict.fromkeys(place for place in places if place is not None)))
            self._show_hashes()

    def _show_hashes(self) -> None:
        for row in self._files:
            row.show_hash()

    def _unknown_family(self) -> str:
        name = self.parts.document.plan.family
        if not name:
            return _("The plan names no model family. Choose one.")
        return _("The plan names the family “{name}”, which is not known here. Choose one.").format(name=name)

    def _show_kinds(self, family: Family | None) -> None:
        self._kinds.set_options([self._kind_option(kind, family) for kind in KINDS])

    @staticmethod
    def _kind_option(kind: str, family: Family | None) -> Option:
        title, text = kind_words(kind)
        reason = ""
        if family is not None and kind not in family.kinds:
            reasons = (_(entry.reason) for entry in family.missing_kinds if kind in entry.kinds)
            reason = next(reasons, _("The trainer has it not for this family."))
        return Option(kind, title, "" if reason else text, reason=reason)

    def _show_files(self, family: Family | None) -> None:
        clear(self._file_rows)
        self._files = []
        kind = self.parts.document.plan.kind
        for file in family.files if family else ():
            if file.kinds and kind not in file.kinds:
                continue
            if self._files:
                self._file_rows.addWidget(line())
            row = ModelFileRow(self.parts, file, self._hashes)
            self._files.append(row)
            self._file_rows.addWidget(row)
        self._file_card.setVisible(bool(self._files))

    def _choose_family(self, name: str) -> None:
        title = _(families()[name].title)
        text = _("Choose {what}").format(what=title)
        self._say(self.parts.document.set_family(name, text=text))

    def _choose_kind(self, kind: str) -> None:
        plan = self.parts.document.plan
        text = _("Choose {what}").format(what=kind_words(kind)[0])
        self._say(self.parts.document.set_family(plan.family, kind, text=text))

    def _choose_purpose(self, name: str) -> None:
        title = _(self.parts.document.library.layers[name].title)
        self._say(self.parts.document.set_layer("purpose", name, _("Choose {what}").format(what=title)))

    def _say(self, refusal: str) -> None:
        if refusal:
            self.refused.emit(refusal)


def _card(title: str, *parts: QWidget | QVBoxLayout) -> Card:
    card = Card(title)
    for part in parts:
        if isinstance(part, QWidget):
            card.body.addWidget(part)
        else:
            card.body.addLayout(part)
    return card
