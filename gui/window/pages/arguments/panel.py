"""The panel beside the list: one argument with its editor, what is wrong, why it is so, and its help."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.findings import Finding, Fix, Severity
from gui.engine.plan.changes import ACTION
from gui.engine.preflight.actions import KEEP_TOKEN
from gui.engine.texts import _
from gui.engine.trainer.quoting import posix_words
from gui.window.bridges.tokens import Tokens
from gui.window.models.argument_rows import ArgumentRow
from gui.window.models.argument_values import shown_text, words_preview
from gui.window.models.arguments_model import ArgumentsModel, Column
from gui.window.pages.arguments.editors import ArgumentEditor
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.chip import Chip, Tone
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import FlowLayout, clear, column, held, row
from gui.window.widgets.page import Scroll
from gui.window.widgets.switch import Switch
from gui.window.widgets.way_button import WayButton

_TONES: dict[Severity, Tone] = {"stop": "bad", "danger": "bad", "warning": "warn", "hint": "accent"}
_MOST_FINDINGS = 4
_LONG_WORD = re.compile(r"\S{24,}")
_BREAKS = re.compile(r"(?<=[/\\_.,=-])(?=[^/\\_.,=-])|(?<=\S{24})")


class ArgumentPanel(QWidget):
    """Shows one row of the list.

    Args:
        model: What rows say.
        tokens: Keeps what plans should not hold.
    """

    left = Signal()
    """The user is done with the editor: Enter or Escape."""
    said = Signal(str)
    """Why the plan cannot hold something that was asked for."""

    def __init__(self, model: ArgumentsModel, tokens: Tokens) -> None:
        super().__init__()
        self.setObjectName("argument-panel")
        self._model = model
        self._tokens = tokens
        self._row: ArgumentRow | None = None
        self.editor: ArgumentEditor | None = None
        self._refusal = ""
        self._shown_findings: list[Finding] | None = None
        self._make_labels()
        self._editor_place = QVBoxLayout()
        self._findings = QVBoxLayout()
        self._findings.setSpacing(Space.S)
        self.back = Button("", compact=True, name="argument-take-back")
        self.default = Button("", compact=True, name="argument-use-default")
        self.back.clicked.connect(self._take_back)
        self.default.clicked.connect(self._use_default)
        layout = column(
            held(column(held(FlowLayout(self.title, self.source)), self.name, spacing=0)),
            self._editor_place,
            self.models,
            self._findings,
            self.preview,
            held(FlowLayout(self.back, self.default)),
            self.facts,
            self.help_title,
            self.help,
            None,
            spacing=Space.M,
            margins=(Space.L, Space.L, Space.L, Space.L),
        )
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(Scroll(held(layout), name="argument-panel-scroll"))
        model.values_changed.connect(self._refresh)

    def _make_labels(self) -> None:
        self.title = Label("", "card", selectable=True)
        self.title.setObjectName("argument-title")
        self.name = Label("", "mono", selectable=True)
        self.name.setObjectName("argument-name")
        self.source = Chip("", name="argument-source")
        self.preview = ElidedLabel("", "code")
        self.preview.setObjectName("argument-preview")
        self.models = Label("", "small", selectable=True)
        self.models.setObjectName("argument-models")
        self.facts = Label("", "muted", selectable=True)
        self.facts.setObjectName("argument-facts")
        self.help_title = Label(_("What the trainer says"), "strong")
        self.help = Label("", "body", selectable=True)
        self.help.setObjectName("argument-help")
        for label in (self.title, self.name, self.models, self.facts, self.help_title, self.help):
            label.setMinimumSize(1, 1)  # a long word must not push the editor out of sight

    @property
    def row(self) -> ArgumentRow | None:
        """What is shown."""
        return self._row

    def show_row(self, shown: ArgumentRow | None) -> None:
        """Show another row, or none."""
        if self._row is not None:
            self._model.document.end_merge()
        self._row = shown
        self._refusal = ""
        self._shown_findings = None
        clear(self._editor_place)
        self.editor = None
        if shown is not None:
            self.editor = ArgumentEditor(self._model, shown, self._tokens)
            self.editor.widget.setEnabled(not self._model.document.read_only or shown.kind == "locked")
            self.editor.refused.connect(self._refused)
            self.editor.left.connect(self.left)
            rest = None if isinstance(self.editor.widget, Switch) else 0
            self._editor_place.addLayout(row(self.editor.widget, rest, spacing=0))
            self.editor.widget.show()
        self._refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Escape leaves the editor."""
        if event.key() == Qt.Key.Key_Escape and self._row is not None:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _refresh(self) -> None:
        shown = self._row
        for part in (self.source, self.back, self.default, self.preview, self.facts, self.models):
            part.setVisible(shown is not None)
        if shown is None or self.editor is None:
            self._show_nothing()
            return
        self.title.setText(shown.title or shown.name)
        self.name.setText(shown.name)
        self.name.setVisible(bool(shown.title))
        self._show_source(shown)
        self.editor.show_now()
        models = self._model.models(shown)
        self.models.setText("\n".join(models))
        self.models.setVisible(bool(models))
        self._show_findings(shown)
        self._show_preview(shown)
        self._show_buttons(shown)
        self.facts.setText(_breakable(self._fact_words(shown)))
        self._show_help(shown)

    def _show_nothing(self) -> None:
        self.title.setText(_("No argument is chosen"))
        self.help_title.hide()
        self.name.hide()
        self.help.setText(_("Choose one in the list to change it and to read about it."))
        clear(self._findings)

    def _show_source(self, shown: ArgumentRow) -> None:
        own = self._model.effective(shown).source == "user"
        self.source.show_state(self._model.source_words(shown), "accent" if own else "neutral")

    def _show_findings(self, shown: ArgumentRow) -> None:
        found = self._model.findings(shown)[:_MOST_FINDINGS]
        if found == self._shown_findings and not self._refusal:
            return
        self._shown_findings = None if self._refusal else found
        clear(self._findings)
        if self._refusal:
            self._add_finding(self._trouble(self._refusal, "bad", 0))
        for number, finding in enumerate(found, start=1):
            self._add_finding(self._trouble(finding.title, _TONES[finding.severity], number))
            buttons = [
                self._fix_button(fix)
                for fix in finding.fixes
                if fix.changes.get(ACTION) in (None, KEEP_TOKEN)
            ]
            if buttons and not self._model.document.read_only:
                self._add_finding(held(FlowLayout(*buttons)))

    def _add_finding(self, widget: QWidget) -> None:
        self._findings.addWidget(widget)
        widget.show()

    @staticmethod
    def _trouble(sentence: str, tone: Tone, number: int) -> QWidget:
        label = Label(_breakable(sentence), "small")
        label.setObjectName(f"argument-trouble-{number}")
        label.setProperty("tone", tone)
        label.setMinimumSize(1, 1)
        return label

    def _fix_button(self, fix: Fix) -> Button:
        button = WayButton(fix.label, "link", name=f"argument-fix-{fix.id}")
        button.clicked.connect(lambda: self._apply(fix))
        return button

    def _show_preview(self, shown: ArgumentRow) -> None:
        words = words_preview(shown, self._model.effective(shown).value) if shown.kind == "list" else []
        self.preview.setVisible(bool(words))
        self.preview.setText(" ".join(posix_words(words)) if words else "")
        self.preview.setAccessibleName(_("What the trainer gets"))

    def _show_buttons(self, shown: ArgumentRow) -> None:
        found = self._model.effective(shown)
        document = self._model.document
        taken_out = shown.target in document.plan.without
        can = not document.read_only and not shown.is_heading
        self.back.setVisible(can and (found.source == "user" or taken_out))
        if found.preset_value is not None:
            value = shown_text(shown, found.preset_value)
            self.back.setText(_("Take back: {value}").format(value=value))
        else:
            self.back.setText(_("Take it out") if shown.unknown else _("Take back"))
        self.back.set_tip(_("Key: Delete, in the list"))
        fillable = "." not in shown.target or shown.target.count(".") == 1
        given = found.preset_value is not None and found.source != "family" and not taken_out
        self.default.setVisible(can and given and fillable)
        default = shown_text(shown, document.default(shown.target))
        words = _("Trainer's default: {value}").format(value=default) if default else _("Leave it out")
        self.default.setText(words)

    def _fact_words(self, shown: ArgumentRow) -> str:
        found, document = self._model.effective(shown), self._model.document
        lines = []
        if found.preset_value is not None:
            value = shown_text(shown, found.preset_value)
            layer = self._model.layer_title(shown)
            words = _("Preset “{name}” says {value}. {reason}") if layer else _("{value}: {reason}")
            lines.append(words.format(name=layer, value=value, reason=found.reason).strip())
        if not shown.unknown:
            default = shown_text(shown, document.default(shown.target))
            lines.append(
                _("Default: {value}").format(value=default)
                if default
                else _("By default the trainer leaves it out.")
            )
        if shown.choices:
            lines.append(_("One of: {values}").format(values=", ".join(map(str, shown.choices))))
        if shown.kind == "list":
            lines.append(_("Several values, blanks between them; quotes hold a value with blanks together."))
        return "\n".join(lines)

    def _show_help(self, shown: ArgumentRow) -> None:
        text = self._model.text(shown, Column.HELP)
        catalogue = self._model.document.catalogue
        if not text and shown.argument is not None and not (catalogue and catalogue.live):
            text = _("The trainer's own help is shown once a trainer is connected.")
        self.help_title.setVisible(bool(text) and shown.argument is not None)
        self.help.setVisible(bool(text))
        self.help.setText(_breakable(text))

    def _refused(self, sentence: str) -> None:
        self._refusal = sentence
        self._shown_findings = None
        if self._row is not None:
            self._show_findings(self._row)

    def _apply(self, fix: Fix) -> None:
        self._model.document.end_merge()
        if fix.changes.get(ACTION) == KEEP_TOKEN:
            self._tokens.move(self._model.document, next(iter(fix.changes)), fix)
            return
        self.said.emit(self._model.document.change(fix.changes, fix.label))
        if self.editor is not None:
            self.editor.focus()

    def _take_back(self) -> None:
        if self._row is not None:
            self._refused(self._model.reset(self._row))
            self._keep_keyboard()

    def _use_default(self) -> None:
        if self._row is not None:
            self._refused(self._model.use_default(self._row))
            self._keep_keyboard()

    def _keep_keyboard(self) -> None:
        """The button that was pressed may be gone now."""
        if self.editor is not None and self._row is not None:
            self.editor.focus()


def _breakable(text: str) -> str:
    """Return a text whose long words, such as paths, can go on in another line."""
    return _LONG_WORD.sub(lambda word: _BREAKS.sub("\u200b", word.group()), text)
