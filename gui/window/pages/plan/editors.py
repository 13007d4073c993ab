"""Editors for the fields of the wizard. They show whatever a plan holds, also what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gui.engine.texts import _
from gui.window.pages.plan.fields import Field
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.inputs import Choice, Number, PathField, TextField, number_text
from gui.window.widgets.labels import Label
from gui.window.widgets.switch import Switch

WIDTH = 188
"""Of editors, pixels at a text size of 100 %."""

_SIZE = re.compile(r"(\d+)\s*(?:[x×*,; ]\s*(\d+))?")


class Editor(QWidget):
    """Edits one field.

    Args:
        field: What is edited.
        theme: Gives sizes.
    """

    edited = Signal(str, object)
    """The user gave a place another value; None for nothing."""

    def __init__(self, field: Field, theme: Theme) -> None:
        super().__init__()
        self.field = field
        self.theme = theme
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(Space.S)

    def show_values(self, values: dict[str, Any], defaults: dict[str, Any]) -> None:
        """Show what counts at the field's places.

        Args:
            values: Of each place; None where nobody says one.
            defaults: What the trainer takes when nobody says one.
        """
        raise NotImplementedError

    def show_trouble(self, trouble: str) -> None:
        """Mark the value as wrong, or as fine with an empty text."""
        del trouble

    def place(self, target: str) -> QWidget:
        """Return what takes the keyboard for a place."""
        del target
        return self

    def _tell(self, value: object) -> None:
        self.edited.emit(self.field.name, value)


def shown(value: Any) -> str:
    """Return a value of any type as it is written; empty for None."""
    if isinstance(value, list | tuple):
        return " ".join(map(shown, value))
    return number_text(value)


def _number(field: Field, target: str, *, step: float | None) -> Number:
    least = 0 if field.low is not None and field.low >= 0 else None
    return Number(whole=field.whole, low=least, step=step, name=f"field-{target}", words=field.title)


class LineEditor(Editor):
    """One line that is typed into.

    Args:
        line: Takes the typing.
    """

    def __init__(self, field: Field, theme: Theme, line: TextField) -> None:
        super().__init__(field, theme)
        self._line = line
        self._row.addWidget(line, 1)

    def show_values(self, values: dict[str, Any], defaults: dict[str, Any]) -> None:
        """Show what counts at the field's places."""
        self._line.show_value(shown(values[self.field.name]))
        self._line.setPlaceholderText(shown(defaults.get(self.field.name)))

    def show_trouble(self, trouble: str) -> None:
        """Mark the value as wrong."""
        self._line.show_trouble(trouble)

    def place(self, target: str) -> QWidget:
        """Return what takes the keyboard."""
        return self._line


class NumberEditor(LineEditor):
    """A number with its unit."""

    def __init__(self, field: Field, theme: Theme) -> None:
        number = _number(field, field.name, step=field.step)
        super().__init__(field, theme, number)
        number.value_changed.connect(self._tell)
        if field.unit:
            self._row.addWidget(Label(field.unit[0], "small", wrap=False))


class RatesEditor(LineEditor):
    """One rate, or one for each text encoder, with blanks between them."""

    def __init__(self, field: Field, theme: Theme) -> None:
        line = TextField(name=f"field-{field.name}", words=field.title)
        super().__init__(field, theme, line)
        line.changed.connect(lambda text: self._tell(rates(text)))


def rates(text: str) -> object:
    """Return the rates that a text means; the text itself where it means none."""
    words = text.replace("\u2212", "-").split()
    try:
        numbers = [float(word.replace(",", ".")) for word in words]
    except ValueError:
        return text
    if len(numbers) < 2:
        return numbers[0] if numbers else None
    return numbers


class ChoiceEditor(Editor):
    """One of several values; where the names are open, others can be typed."""

    def __init__(self, field: Field, theme: Theme) -> None:
        super().__init__(field, theme)
        self._options = field.options
        self.choice = Choice(
            field.options, editable=field.open, name=f"field-{field.name}", words=field.title
        )
        self.choice.changed.connect(self._chosen)
        self._row.addWidget(self.choice, 1)

    def show_values(self, values: dict[str, Any], defaults: dict[str, Any]) -> None:
        """Show what counts at the field's places."""
        value = values[self.field.name]
        if value is None and not any(option is None for option, _words in self._options):
            value = defaults.get(self.field.name)
        known = any(type(option) is type(value) and option == value for option, _words in self._options)
        self.choice.show_value(value if known or value is None else shown(value))

    def show_trouble(self, trouble: str) -> None:
        """Mark the value as wrong."""
        self.choice.setToolTip(trouble)

    def place(self, target: str) -> QWidget:
        """Return what takes the keyboard."""
        return self.choice

    def _chosen(self, value: object) -> None:
        self._tell(None if value == "" else value)


class TextEditor(LineEditor):
    """A line of text."""

    def __init__(self, field: Field, theme: Theme) -> None:
        line = TextField(name=f"field-{field.name}", words=field.title)
        super().__init__(field, theme, line)
        line.changed.connect(lambda text: self._tell(text or None))


class SwitchEditor(Editor):
    """On or off."""

    def __init__(self, field: Field, theme: Theme) -> None:
        super().__init__(field, theme)
        self.switch = Switch(_("off"), name=f"field-{field.name}", words=field.title)
        self.switch.changed.connect(self._tell)
        self._row.addWidget(self.switch)
        self._row.addStretch(1)

    def show_values(self, values: dict[str, Any], defaults: dict[str, Any]) -> None:
        """Show what counts at the field's places."""
        value = values[self.field.name]
        value = defaults.get(self.field.name) if value is None else value
        self.switch.show_value(value)
        words = shown(value) if value is not None and not isinstance(value, bool) else ""
        self.switch.setText(words or (_("on") if value is True else _("off")))
        self.switch.updateGeometry()

    def place(self, target: str) -> QWidget:
        """Return what takes the keyboard."""
        return self.switch


class PathEditor(Editor):
    """A file or a folder: typed, dropped or chosen."""

    def __init__(self, field: Field, theme: Theme) -> None:
        super().__init__(field, theme)
        kind = "folder" if field.kind == "folder" else "file"
        self.path = PathField(kind, name=f"field-{field.name}", words=field.title)  # type: ignore[arg-type]
        self.path.changed.connect(lambda _text: self._tell(self.path.path() or None))
        self._row.addWidget(self.path, 1)

    def show_values(self, values: dict[str, Any], defaults: dict[str, Any]) -> None:
        """Show what counts at the field's places."""
        self.path.show_value(shown(values[self.field.name]))

    def show_trouble(self, trouble: str) -> None:
        """Mark the value as wrong."""
        self.path.show_trouble(trouble)

    def place(self, target: str) -> QWidget:
        """Return what takes the keyboard."""
        return self.path.field


class SizeEditor(Editor):
    """Width and height in pixels."""

    def __init__(self, field: Field, theme: Theme) -> None:
        super().__init__(field, theme)
        self.text = TextField(name=f"field-{field.name}", words=field.title, placeholder="1024 × 1024")
        self.text.changed.connect(lambda text: self._tell(size(text)))
        self._row.addWidget(self.text, 1)
        if field.unit:
            self._row.addWidget(Label(field.unit[0], "small", wrap=False))

    def show_values(self, values: dict[str, Any], defaults: dict[str, Any]) -> None:
        """Show what counts at the field's places."""
        value = values[self.field.name]
        whole = isinstance(value, list | tuple) and len(value) == 2
        self.text.show_value(" × ".join(map(shown, value)) if whole else shown(value))

    def show_trouble(self, trouble: str) -> None:
        """Mark the value as wrong."""
        self.text.show_trouble(trouble)

    def place(self, target: str) -> QWidget:
        """Return what takes the keyboard."""
        return self.text


def size(text: str) -> object:
    """Return [width, height] in pixels; None for nothing, the text itself where it is no size."""
    found = _SIZE.fullmatch(text.strip())
    if not text.strip() or found is None:
        return text.strip() or None
    width = int(found[1])
    return [width, int(found[2]) if found[2] else width]


class EitherEditor(Editor):
    """A number at one of two places, such as steps or epochs."""

    switched = Signal(str, str, object)
    """From one place to the other, with the number that is shown."""

    def __init__(self, field: Field, theme: Theme) -> None:
        super().__init__(field, theme)
        self._target = field.name
        self.number = _number(field, field.name, step=field.step)
        self.units = Choice(
            tuple(zip(field.targets, field.unit, strict=True)),
            name=f"unit-{field.name}",
            words=_("Unit of {field}").format(field=field.title),
        )
        self.units.setMinimumContentsLength(5)
        self.number.value_changed.connect(lambda value: self.edited.emit(self._target, value))
        self.units.changed.connect(self._switch)
        self._row.addWidget(self.number, 1)
        self._row.addWidget(self.units, 1)

    @property
    def target(self) -> str:
        """The place that is edited now."""
        return self._target

    def show_values(self, values: dict[str, Any], defaults: dict[str, Any]) -> None:
        """Show what counts at the field's places."""
        said = [target for target in self.field.targets if values[target] is not None]
        # Where both are said, epochs win in the trainer (train_network.py:800).
        if said:
            self._target = said[-1]
        self.units.show_value(self._target)
        self.number.show_value(shown(values[self._target]))
        self.number.setPlaceholderText(shown(defaults.get(self._target)))

    def show_trouble(self, trouble: str) -> None:
        """Mark the value as wrong."""
        self.number.show_trouble(trouble)

    def place(self, target: str) -> QWidget:
        """Return what takes the keyboard."""
        return self.number

    def _switch(self, target: object) -> None:
        before, self._target = self._target, str(target)
        if before != self._target:
            self.switched.emit(before, self._target, self.number.value())


class PairEditor(Editor):
    """Two numbers that belong together."""

    def __init__(self, field: Field, theme: Theme) -> None:
        super().__init__(field, theme)
        self.numbers: dict[str, Number] = {}
        for place, target in enumerate(field.targets):
            number = _number(field, target, step=field.step)
            number.setAccessibleName(f"{field.title}: {target}")
            number.value_changed.connect(self._telling(target))
            if place:
                self._row.addWidget(Label("·", "muted", wrap=False))
            self._row.addWidget(number, 1)
            self.numbers[target] = number

    def show_values(self, values: dict[str, Any], defaults: dict[str, Any]) -> None:
        """Show what counts at the field's places."""
        for target, number in self.numbers.items():
            number.show_value(shown(values[target]))
            number.setPlaceholderText(shown(defaults.get(target)))

    def show_trouble(self, trouble: str) -> None:
        """Mark the value as wrong."""
        for number in self.numbers.values():
            number.show_trouble(trouble)

    def place(self, target: str) -> QWidget:
        """Return what takes the keyboard."""
        return self.numbers.get(target, self.numbers[self.field.name])

    def _telling(self, target: str) -> Callable[[object], None]:
        return lambda value: self.edited.emit(target, value)


_EDITORS: dict[str, type[Editor]] = {
    "number": NumberEditor,
    "rates": RatesEditor,
    "choice": ChoiceEditor,
    "text": TextEditor,
    "switch": SwitchEditor,
    "file": PathEditor,
    "folder": PathEditor,
    "size": SizeEditor,
    "either": EitherEditor,
    "pair": PairEditor,
}


def make_editor(field: Field, theme: Theme) -> Editor:
    """Return what edits a field."""
    return _EDITORS[field.kind](field, theme)
