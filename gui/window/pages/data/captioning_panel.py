"""Captions by the trainer's own captioners: made in a scratch folder, seen one by one, and then written."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gui.engine.runs.captioning import CaptionOrder
from gui.engine.texts import _, ngettext
from gui.engine.trainer.captioners import captioners, missing_packages
from gui.window.bridges.caption_work import CaptionOutcome, CaptionWork
from gui.window.bridges.captioning_work import CaptioningWork
from gui.window.bridges.trainers import Trainers
from gui.window.pages.data.captioning_fields import FIELD_SHARE, LABEL_SHARE, CaptionerFields
from gui.window.pages.data.captioning_found import FoundCaptions
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.inputs import Choice, TextField
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, column, held, row
from gui.window.widgets.page import Scroll
from gui.window.widgets.switch import Switch


class CaptioningPanel(QWidget):
    """Which captioner, what it is told, how far it is, and what it made.

    Args:
        trainers: The trainer in use, whose captioners they are.
        captioning: Makes captions.
        work: Writes them, and takes that back.
        icons: With the theme.
    """

    files_changed = Signal()
    """Captions are other ones by now."""
    plan_wished = Signal(object, str)
    """Changes of the plan, and what they do in words; there are none."""

    def __init__(
        self, *, trainers: Trainers, captioning: CaptioningWork, work: CaptionWork, icons: Icons
    ) -> None:
        super().__init__()
        self.setObjectName("captioning-panel")
        self._trainers = trainers
        self._captioning = captioning
        self._work = work
        self._view: DatasetView | None = None
        self._asked: tuple[object, str] | None = None
        self._make(icons)
        self._put_together()
        self._connect()
        self._show()

    def _make(self, icons: Icons) -> None:
        names = [(name, _(each.title)) for name, each in captioners().items()]
        self.tagger = Choice(names, name="captioning-tagger", words=_("Captioner"))
        self.about = Label("", "muted")
        self.fields = CaptionerFields()
        self.trigger = TextField(
            placeholder=_("No trigger word"),
            name="captioning-trigger",
            words=_("Trigger word in each caption"),
        )
        self.everything = Switch(_("Also images that have a caption"), name="captioning-everything")
        self.refusal = Banner(icons, "warn", name="captioning-refusal")
        self._again = Button(_("Look again"), compact=True, name="captioning-again")
        self.refusal.set_buttons(self._again)
        self.start = Button(_("Make captions"), kind="primary", name="captioning-start")
        self.busy = Busy(name="captioning-busy")
        self.failure = Banner(icons, "bad", name="captioning-failure")
        self.found = FoundCaptions(icons)

    def _put_together(self) -> None:
        self._settings = Card(_("Have captions made"), name="captioning-settings")
        intro = _(
            "The trainer’s own captioners run on images that have no caption. Nothing is written beside the "
            "images before you have seen it."
        )
        body = self._settings.body
        body.addWidget(Label(intro, "muted"))
        body.addWidget(self.tagger)
        body.addWidget(self.about)
        body.addWidget(self.fields)
        named = row(Label(_("Trigger word")), self.trigger, spacing=Space.L)
        for place, share in enumerate((LABEL_SHARE, FIELD_SHARE)):
            named.setStretch(place, share)
        body.addLayout(named)
        for part in (self.refusal, self.busy, self.failure):
            body.addWidget(part)
        body.addWidget(held(FlowLayout(self.everything, self.start, spacing=Space.M)))
        content = held(column(self._settings, self.found, None, spacing=Space.L))
        self.setLayout(column(Scroll(content, name="captioning-scroll")))

    def _connect(self) -> None:
        self.tagger.changed.connect(lambda _name: self._ask())
        self.everything.changed.connect(lambda _on: self._count())
        self.start.clicked.connect(self._start)
        self._again.clicked.connect(self._ask_anew)
        self.busy.cancelled.connect(self._captioning.cancel)
        self.found.write_wished.connect(self._write)
        self.found.thrown_away.connect(self._captioning.throw_away)
        self._captioning.changed.connect(self._show)
        self._work.finished.connect(self._written)
        self._trainers.changed.connect(self._ask_when_seen)

    def show_view(self, view: DatasetView) -> None:
        """Offer captions for a dataset; those that were made before and not written are shown."""
        if self._view is None or self._view.spec != view.spec:
            self.trigger.show_value(view.trigger)
        self._view = view
        self._count()
        self._ask()
        self._captioning.pick_up(view.spec)

    def _ask_when_seen(self) -> None:
        if self._view is not None and self.isVisible():
            self._ask()

    def _ask_anew(self) -> None:
        """Ask although it was asked before: packages may be there by now."""
        self._asked = None
        self._ask()

    def _ask(self) -> None:
        """Ask the trainer about the chosen captioner, once."""
        trainer = self._trainers.current
        if trainer is None:
            self._show()
            return
        wanted = (trainer.install, str(self.tagger.value()))
        if wanted != self._asked:
            self._asked = wanted
            self._captioning.ask(*wanted)

    def _count(self) -> None:
        if self._view is not None:
            self._captioning.count(self._view.spec, everything=self.everything.isChecked())

    def _start(self) -> None:
        trainer, view, name = self._trainers.current, self._view, str(self.tagger.value())
        if trainer is None or view is None:
            return
        order = CaptionOrder(
            name,
            captioners()[name],
            self.fields.values(),
            self.trigger.text(),
            everything=self.everything.isChecked(),
        )
        self._captioning.start(trainer.install, view.spec, order)

    def _write(self) -> None:
        self._work.write(_("write the captions that were made"), self.found.previews())

    def _written(self, outcome: CaptionOutcome) -> None:
        if outcome.deed == "write" and outcome.step.previews == self.found.previews() and not outcome.error:
            self._captioning.throw_away()
            self._count()
            self.files_changed.emit()

    def _show(self) -> None:
        made, captioner = self._captioning, captioners()[str(self.tagger.value())]
        if self.fields.facts is not made.facts or self.fields.captioner is not captioner:
            self.fields.show_captioner(captioner, made.facts)
        size = _("The first time about {size:.1f} GiB are fetched from the hub.").format(
            size=captioner.fetches_gib
        )
        self.about.setText(f"{_(captioner.description)} {size}")
        self._show_refusal()
        self.busy.setVisible(made.progress is not None)
        if made.progress is not None:
            words, done, total = made.progress
            count = _("{done} of {total}").format(done=f"{done:,}", total=f"{total:,}")
            self.busy.show_progress(f"{words} {count}" if total else words, done, total)
        self.failure.setVisible(bool(made.problem))
        log = _("All that it said is in {log}.").format(log=made.made.log) if made.made else ""
        self.failure.show_words(made.problem, log, "bad")
        self.found.show_captions(made.found, made.job)
        self._show_start()

    def _show_refusal(self) -> None:
        """Say why it cannot begin, with the words for pip where packages are missing."""
        made, trainer = self._captioning, self._trainers.current
        captioner = captioners()[str(self.tagger.value())]
        missing = missing_packages(captioner, made.facts) if made.facts else ()
        title, text = made.refusal, ""
        if trainer is None:
            title = _("No trainer is in use, and captioners come with one.")
        elif missing:
            title = _("The trainer lacks packages for it: {names}").format(names=" ".join(missing))
            text = f"{trainer.install.python} -m pip install {' '.join(missing)}"
        elif made.facts is not None and made.facts.script.error is not None:
            failure = made.facts.script.error
            title = _("{script} cannot be used.").format(script=captioner.script)
            text = f"{failure.exception}: {failure.message}"
        self._again.setVisible(trainer is not None)
        self.refusal.setVisible(bool(title))
        self.refusal.show_words(title, text, "warn")

    def _show_start(self) -> None:
        made = self._captioning
        count = made.without or 0
        words = ngettext("Make {count} caption", "Make {count} captions", count)
        self.start.setText(words.format(count=f"{count:,}") if count else _("Every image has a caption"))
        ready = made.facts is not None and self.refusal.isHidden()
        self.start.setEnabled(ready and count > 0 and not made.busy)
