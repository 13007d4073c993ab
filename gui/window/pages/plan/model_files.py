"""The model files of a family: where each is, and what is there."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.plan.families import ModelFile
from gui.engine.plan.paths import absolute, is_hub_name
from gui.engine.preflight.facts import ModelFact, PathFact
from gui.engine.quantities import gib
from gui.engine.texts import _
from gui.window.bridges.model_hashes import ModelHashes
from gui.window.models.model_words import model_words
from gui.window.pages.plan.editors import shown
from gui.window.pages.plan.finding_lines import FindingLines
from gui.window.pages.plan.model_facts import ModelFacts
from gui.window.pages.plan.parts import Parts
from gui.window.pages.plan.words import forms_words
from gui.window.theme.space import Space
from gui.window.widgets.chip import Chip
from gui.window.widgets.inputs import PathField
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import row
from gui.window.widgets.styled import style

MODEL_SUFFIXES = (".safetensors", ".ckpt", ".pt", ".pth", ".bin", ".sft")

_HINTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("t5xxl", ("t5[ -]?xxl",)),
    ("clip_l", ("clip[ -]?l",)),
    ("clip_g", ("clip[ -]?g",)),
    ("byt5", ("byt5",)),
    ("gemma2", ("gemma",)),
    ("qwen3", ("qwen ?3",)),
    ("text_encoder", ("qwen ?2",)),
    ("ae", (r"\bae\b", "autoencoder", "vae")),
    ("vae", ("vae",)),
)
"""Arguments, and what names of their files look like, with blanks for underscores."""


def argument_for(file: str, arguments: tuple[str, ...]) -> str:
    """Return for which argument a model file seems to be, by its name.

    Args:
        file: Path or name.
        arguments: Those that the family has, the base model first.
    """
    name = Path(file).stem.lower().replace("_", " ")
    for argument, hints in _HINTS:
        if argument in arguments and any(re.search(hint, name) for hint in hints):
            return argument
    return arguments[0]


class ModelFileRow(QWidget):
    """One model file.

    Args:
        parts: The plan and what is known about it.
        file: What the family asks for.
        hashes: Works out the hashes of files that are seen.
    """

    def __init__(self, parts: Parts, file: ModelFile, hashes: ModelHashes) -> None:
        super().__init__()
        self.setObjectName(f"row-{file.argument}")
        self.file = file
        self._parts = parts
        self._hashes = hashes
        pattern = _("Models ({suffixes})").format(
            suffixes=" ".join(f"*{suffix}" for suffix in MODEL_SUFFIXES)
        )
        self.path = PathField(
            "file" if "file" in file.forms else "folder",
            pattern=";;".join((pattern, _("All files (*)"))),
            placeholder=_("Drop it here: {forms}").format(forms=forms_words(file)),
            name=f"field-{file.argument}",
            words=_(file.title),
        )
        self.path.changed.connect(self._edited)
        self._title = Label(_(file.title))
        self._state = Chip(name=f"state-{file.argument}")
        self._need = Chip(_("needed"), "accent")
        if not file.required:
            self._need.hide()
        self._note = Label(_(file.note) if file.note else "", "small")
        self._note.setVisible(bool(file.note))
        self._facts = ModelFacts(file.argument)
        self._facts.stop_wanted.connect(hashes.stop)
        self._facts.again_wanted.connect(hashes.again)
        self.findings = FindingLines(parts.document)
        self._arrange()

    def refresh(self) -> None:
        """Show what the plan has now."""
        value = self._parts.document.effective(self.file.argument).value
        self.path.show_value(shown(value))
        self.path.setEnabled(not self._parts.document.read_only)
        self.show_findings()

    def show_findings(self) -> None:
        """Show what preflight says, and what is there."""
        findings = self._parts.checks.at(self.file.argument)
        self.findings.show_findings(findings)
        bad = [each.title for each in findings if each.severity in ("stop", "danger")]
        self.path.show_trouble("\n".join(bad))
        self._show_state()

    def place(self) -> Path | None:
        """Return the file that is there; None when none is, or a folder."""
        value = self._parts.document.effective(self.file.argument).value
        fact = self._path_fact(value)
        return self._path(value) if fact is not None and fact.kind == "file" else None

    def show_hash(self) -> None:
        """Show what is known about the file, and how far its hash is."""
        value = self._parts.document.effective(self.file.argument).value
        path, model = self._path(value), self._model(value)
        fact = self._path_fact(value)
        about = model_words(model, fact.size_bytes if fact else None) if model else ""
        self._facts.show_facts(about, path, self._hashes.of(path))

    def flash(self) -> None:
        """Give the field the keyboard."""
        self.path.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _arrange(self) -> None:
        names = row(self._title, self._need, self._state, spacing=Space.S)
        names.setStretchFactor(self._title, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, Space.S, 0, Space.S)
        layout.setSpacing(Space.XS)
        layout.addLayout(names)
        layout.addWidget(Label(self.file.argument, "mono"))
        layout.addWidget(self.path)
        layout.addWidget(self._facts)
        layout.addWidget(self._note)
        layout.addWidget(self.findings)

    def _show_state(self) -> None:
        value, base = self._parts.document.effective(self.file.argument).value, self._parts.document.base
        self._need.setVisible(self.file.required and not value)
        fact = self._path_fact(value)
        self._state.setVisible(True)
        if isinstance(value, str) and "hub" in self.file.forms and fact is None and is_hub_name(value, base):
            self._state.show_state(_("from the hub"), "neutral")
        elif fact is None:
            self._state.setVisible(False)
        elif fact.kind == "missing":
            self._state.show_state(_("not there"), "bad")
        elif fact.kind == "folder":
            self._state.show_state(_("folder"), "good" if "folder" in self.file.forms else "warn")
        elif (model := self._model(value)) is not None and model.complete is False:
            self._state.show_state(_("not complete"), "bad")
        elif model is not None and model.loads is False:
            self._state.show_state(_("broken"), "bad")
        else:
            self._state.show_state(gib(fact.size_bytes or 0), "good")
        style(self._state, role="chip")
        self.show_hash()

    def _path(self, value: object) -> Path:
        return Path(absolute(str(value or ""), self._parts.document.base))

    def _path_fact(self, value: object) -> PathFact | None:
        facts = self._parts.facts
        if not isinstance(value, str) or not value or facts is None:
            return None
        return facts.paths.get(str(self._path(value)))

    def _model(self, value: object) -> ModelFact | None:
        facts = self._parts.facts
        if not isinstance(value, str) or not value or facts is None:
            return None
        return next((each for each in facts.model if each.path == str(self._path(value))), None)

    def _edited(self, _text: str) -> None:
        self._parts.document.set_value(self.file.argument, self.path.path() or None)
        self._parts.document.end_merge()
