"""One folder of images: what is in it, and what the plan says about it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QHBoxLayout

from gui.engine.errors import PreflightError
from gui.engine.findings import Finding
from gui.engine.plan.paths import absolute
from gui.engine.texts import _, ngettext
from gui.window.bridges.tasks import TaskHandle
from gui.window.pages.plan.fields import Field
from gui.window.pages.plan.finding_lines import FindingLines
from gui.window.pages.plan.folder_look import FolderLook, load_pictures, look_into
from gui.window.pages.plan.parts import Parts
from gui.window.pages.plan.picture_strip import FINENESS, SIDE, PictureStrip
from gui.window.pages.plan.rows import FieldRow
from gui.window.pages.plan.subsets import SubsetPlace
from gui.window.pages.plan.words import breakable, count_words
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button, IconButton
from gui.window.widgets.card import Card
from gui.window.widgets.chip import Chip, Tone
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import FlowLayout, clear, column, line, row

MOST_OFFERED = 4


def subset_fields(target: str) -> tuple[Field, ...]:
    """Return what can be said about one folder."""
    return (
        Field(
            (f"{target}.class_tokens",),
            _("Trigger word"),
            "text",
            note=_("A rare word that will call it. It stands in for captions where there are none."),
        ),
        Field(
            (f"{target}.num_repeats",),
            _("Repeats"),
            "number",
            unit=(_("times"),),
            low=1,
            high=100,
            whole=True,
            note=_("How often an epoch shows each image."),
        ),
        Field(
            (f"{target}.is_reg",),
            _("For comparison only"),
            "switch",
            note=_("Regularisation images: they keep other things of the kind as they are."),
        ),
    )


class SubsetCard(Card):
    """A folder.

    Args:
        parts: The plan and what is known about it.
        place: The folder.
    """

    removed = Signal(str)
    """The folder shall leave the plan, by its target."""
    replaced = Signal(str, list)
    """Other folders (of Path) shall stand in its place."""
    counted = Signal()
    """The images are counted."""

    def __init__(self, parts: Parts, place: SubsetPlace) -> None:
        self._name = ElidedLabel(Path(place.folder).name or _("No folder named"), "card")
        remove = IconButton(
            parts.icons.icon("trash"),
            _("Take this folder out of the plan; its files stay"),
            name=f"remove-{place.target}",
        )
        super().__init__("", name=f"subset-{place.target}")
        self.place = place
        self.look: FolderLook | None = None
        self._found: list[Finding] = []
        self._helped: object = None
        self._looking: TaskHandle | None = None
        self._reading: TaskHandle | None = None
        self._parts = parts
        self._remove = remove
        self.strip = PictureStrip(parts.icons)
        self._chips = FlowLayout()
        self._help = column(spacing=Space.S)
        self.findings = FindingLines(parts.document)
        self.rows = [FieldRow(parts, field) for field in subset_fields(place.target)]
        parts.theme.changed.connect(self._draw)
        remove.clicked.connect(lambda: self.removed.emit(self.place.target))
        self._arrange()

    @property
    def folder(self) -> Path:
        """The folder, absolute."""
        return Path(absolute(self.place.folder, self._parts.document.base))

    @property
    def extension(self) -> str:
        """In what its captions end."""
        own = self.place.own.get("caption_extension")
        value = self._parts.document.effective("dataset.caption_extension").value if own is None else own
        return value if isinstance(value, str) else ""

    def refresh(self, place: SubsetPlace) -> None:
        """Show what the plan has now."""
        self.place = place
        self._remove.setEnabled(not self._parts.document.read_only)
        for each in self.rows:
            each.refresh()
        self.show_findings()

    def show_findings(self) -> None:
        """Show what preflight says about this folder and not about one of its fields."""
        inside = {target for each in self.rows for target in each.field.targets}
        self._found = [
            finding
            for finding in self._parts.checks.at(self.place.target)
            if self.holds(finding) and not inside.intersection(finding.arguments)
        ]
        self.findings.show_findings(self._found)
        for each in self.rows:
            each.show_findings()
        if self.look is not None:
            self._show_help(self.look)

    def retire(self) -> None:
        """Go away; what is still being read answers to nobody."""
        for handle in (self._looking, self._reading):
            if handle is not None:
                handle.cancel()
        self.hide()
        self.deleteLater()

    def holds(self, finding: Finding) -> bool:
        """Whether a finding is about this folder."""
        return any(self.has(target) for target in finding.arguments)

    def has(self, target: str) -> bool:
        """Whether a place of the plan is this folder, or below it."""
        return f"{target}.".startswith(f"{self.place.target}.")

    def look_again(self) -> None:
        """Count the files, in a thread."""
        if not self.place.folder.strip():
            return
        folder, extension = self.folder, self.extension
        self._looking = self._parts.tasks.run(
            lambda handle: look_into(folder, extension, handle.is_cancelled),
            self._seen,
            self._unseen,
            key=f"plan-folder-{self.place.target}",
        )

    def _draw(self) -> None:
        self._remove.setIcon(self._parts.icons.icon("trash"))

    def _arrange(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(Space.M)
        path = ElidedLabel(self.place.folder, "mono", middle=True)
        head.addLayout(column(self._name, path, spacing=2), 1)
        head.addWidget(self._remove, 0, Qt.AlignmentFlag.AlignTop)
        self.body.addLayout(head)
        self.body.addWidget(self.strip)
        self.strip.hide()
        self.body.addLayout(self._chips)
        self.body.addLayout(self._help)
        self.body.addWidget(self.findings)
        for each in self.rows:
            self.body.addWidget(line())
            self.body.addWidget(each)

    def _unseen(self, error: PreflightError) -> None:
        self.look = self._helped = None
        self.strip.hide()
        clear(self._chips)
        self._chips.addWidget(Chip(_("not there"), "bad"))
        clear(self._help)
        self._help.addWidget(Label(breakable(str(error)), "small"))
        self.counted.emit()

    def _seen(self, look: FolderLook) -> None:
        before, self.look = self.look, look
        self._show_counts(look)
        self._show_help(look)
        self.counted.emit()
        if before is None or before.first != look.first or before.folder != look.folder:
            self.strip.show_names(look.first)
            side = self._parts.theme.px(SIDE) * FINENESS
            self._reading = self._parts.tasks.run(
                lambda handle: load_pictures(look.folder, look.first, side, handle.is_cancelled),
                self._show_pictures,
                lambda _error: None,
                key=f"plan-pictures-{self.place.target}",
            )

    def _show_pictures(self, images: list[QImage | None]) -> None:
        if self.look is not None and len(images) == len(self.look.first):
            self.strip.show_pictures(images)
            if self.strip.broken:
                self._show_counts(self.look)

    def _show_counts(self, look: FolderLook) -> None:
        clear(self._chips)
        chips = [Chip(count_words(look.images), "good" if look.images else "bad")]
        if look.images:
            tone: Tone = "good" if look.captioned == look.images else "warn"
            words = ngettext("{count} caption", "{count} captions", look.captioned).format(
                count=f"{look.captioned:,}"
            )
            chips.append(Chip(words, tone if look.captioned or not self._has_word() else "neutral"))
        if look.ignored:
            ignored = Chip(_("{count} passed over").format(count=f"{len(look.ignored):,}"), "warn")
            ignored.setToolTip(
                _("The trainer does not read: {names}").format(names=", ".join(look.ignored[:20]))
            )
            chips.append(ignored)
        if self.strip.broken:
            broken = Chip(_("{count} broken").format(count=len(self.strip.broken)), "bad")
            broken.setToolTip("\n".join(self.strip.broken))
            chips.append(broken)
        for chip in chips:
            self._chips.addWidget(chip)

    def _has_word(self) -> bool:
        return bool(self.place.own.get("class_tokens"))

    def _show_help(self, look: FolderLook) -> None:
        told = any("caption_extension" in each for finding in self._found for each in finding.arguments)
        if self._helped == (look, told):
            return
        self._helped = (look, told)
        clear(self._help)
        other = max(look.other_captions, key=lambda ending: look.other_captions[ending], default="")
        if look.images and other and look.captioned < look.other_captions[other] and not told:
            words = ngettext(
                "{count} file ends in {found}, but the plan looks for {wanted}.",
                "{count} files end in {found}, but the plan looks for {wanted}.",
                look.other_captions[other],
            )
            label = Label(
                words.format(
                    count=look.other_captions[other], found=other, wanted=self.extension or ".caption"
                ),
                "small",
            )
            use = Button(
                _("Look for {ending}").format(ending=other),
                compact=True,
                name=f"use-captions-{self.place.target}",
            )
            use.clicked.connect(lambda: self._use_ending(other))
            offer = row(label, use)
            offer.setStretchFactor(label, 1)
            self._help.addLayout(offer)
        if look.inside and not look.images:
            self._offer(look)

    def _offer(self, look: FolderLook) -> None:
        text = _("There are no images here, only in its sub-folders. The trainer does not look into those.")
        self._help.addWidget(Label(text, "small"))
        buttons = FlowLayout()
        if len(look.inside) > 1:
            every = [each.path for each in look.inside]
            words = _("Use all {count} sub-folders").format(count=len(every))
            buttons.addWidget(self._use_button(words, every, f"use-all-{self.place.target}"))
        for each in look.inside[:MOST_OFFERED]:
            words = _("Use {name} ({images})").format(name=each.path.name, images=count_words(each.images))
            buttons.addWidget(self._use_button(words, [each.path], f"use-inside-{each.path.name}"))
        self._help.addLayout(buttons)

    def _use_button(self, words: str, folders: list[Path], name: str) -> Button:
        button = Button(words, compact=True, name=name)
        button.clicked.connect(lambda: self.replaced.emit(self.place.target, folders))
        return button

    def _use_ending(self, ending: str) -> None:
        own = "caption_extension" in self.place.own
        target = f"{self.place.target}.caption_extension" if own else "dataset.caption_extension"
        self._parts.document.set_value(target, ending)
