"""Fields for the arguments of a captioner, made of what its own parser says about them."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QGridLayout, QWidget

from gui.engine.texts import _
from gui.engine.trainer.argument import Argument
from gui.engine.trainer.captioners import Captioner, CaptionerFacts
from gui.window.theme.space import Space
from gui.window.widgets.inputs import Number, TextField
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import clear
from gui.window.widgets.switch import Switch

LABEL_SHARE, FIELD_SHARE = 1, 2


class CaptionerFields(QWidget):
    """One row for each argument that is worth a look, with the value that it would have.

    Attributes:
        captioner: Whose are shown.
        facts: What its trainer says about it; None before it is asked.
    """

    def __init__(self) -> None:
        super().__init__()
        self.captioner: Captioner | None = None
        self.facts: CaptionerFacts | None = None
        self._shown: dict[str, tuple[Argument, QWidget, Any]] = {}
        self._rows = QGridLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setHorizontalSpacing(Space.L)
        self._rows.setVerticalSpacing(Space.S)
        self._rows.setColumnStretch(0, LABEL_SHARE)
        self._rows.setColumnStretch(1, FIELD_SHARE)

    def show_captioner(self, captioner: Captioner, facts: CaptionerFacts | None) -> None:
        """Show a captioner's arguments; none before they are known."""
        clear(self._rows)
        self.captioner, self.facts, self._shown = captioner, facts, {}
        known = facts.arguments(captioner).arguments if facts is not None else {}
        for name in captioner.fields:
            argument = known.get(name)
            if argument is None:
                continue  # another version of the script
            usual = captioner.arguments.get(name, argument.default)
            field = self._field(argument, usual)
            label = Label(name, "mono")
            label.setBuddy(field)
            for widget in (label, field):
                widget.setToolTip(argument.help)
            self._rows.addWidget(label, len(self._shown), 0)
            self._rows.addWidget(field, len(self._shown), 1)
            self._shown[name] = (argument, field, usual)

    def _field(self, argument: Argument, usual: Any) -> QWidget:
        name = f"captioner-{argument.dest}"
        if argument.is_flag:
            switch = Switch(_("on"), name=name, words=argument.dest)
            switch.show_value(usual)
            return switch
        if argument.type in ("int", "float"):
            number = Number(
                whole=argument.type == "int",
                step=1 if argument.type == "int" else 0.05,
                name=name,
                words=argument.dest,
            )
            number.show_number(usual)
            return number
        field = TextField(name=name, words=argument.dest)
        field.show_value("" if usual is None else str(usual))
        return field

    def values(self) -> dict[str, Any]:
        """Return the arguments that are not as they would be anyway."""
        found = {name: self._value(field) for name, (_argument, field, _usual) in self._shown.items()}
        return {name: value for name, value in found.items() if value != self._usual(name)}

    def _usual(self, name: str) -> Any:
        _argument, field, usual = self._shown[name]
        return (usual or "") if type(field) is TextField else usual

    def _value(self, field: QWidget) -> Any:
        if isinstance(field, Switch):
            return field.isChecked()
        return (
            field.value()
            if isinstance(field, Number)
            else field.text()
            if isinstance(field, TextField)
            else None
        )
