"""All arguments of the open plan as a table: what counts, who says so, the default, the help."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from gui.engine.findings import Finding, Severity
from gui.engine.plan.changes import same_value
from gui.engine.plan.effective import Effective
from gui.engine.plan.tokens import is_token_variable
from gui.engine.redaction import HIDDEN
from gui.engine.texts import _
from gui.engine.trainer.catalogue import ScriptArguments
from gui.window.models.argument_groups import group_title
from gui.window.models.argument_rows import ArgumentRow, rows_of, shape_of, target_of
from gui.window.models.argument_values import judge, read_text, shown_text, value_text
from gui.window.models.model_words import model_words
from gui.window.models.plan_document import PlanDocument

if TYPE_CHECKING:
    from gui.window.bridges.checks import Checks
    from gui.window.bridges.tokens import Tokens

Only = Literal["all", "own", "preset", "findings"]
Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_SEVERITIES: tuple[Severity, ...] = ("stop", "danger", "warning", "hint")


class Column(IntEnum):
    """What the columns are."""

    NAME = 0
    VALUE = 1
    DEFAULT = 2
    SOURCE = 3
    HELP = 4


ROW_ROLE = Qt.ItemDataRole.UserRole
"""The `ArgumentRow` of an index."""


class ArgumentsModel(QAbstractTableModel):
    """The rows stay when values change, so that selection and place stay too.

    Args:
        document: The open plan.
        checks: What preflight says; None where nobody checks.
        titles: Everyday names of arguments by target.
        tokens: What is kept outside of plans; None where nothing is.
    """

    restructuring = Signal()
    """Rows are about to come or go."""
    values_changed = Signal()
    """Values, sources or findings are other ones now."""

    def __init__(
        self,
        document: PlanDocument,
        checks: Checks | None = None,
        titles: Mapping[str, str] | None = None,
        parent: QObject | None = None,
        *,
        tokens: Tokens | None = None,
    ) -> None:
        super().__init__(parent)
        self.tokens = tokens
        self._titles = titles
        self.document = document
        self._checks = checks
        self._script = document.script_arguments
        self._shape = shape_of(document.plan, self._script)
        self.rows = rows_of(document.plan, self._script, titles)
        self._places = {row.target: place for place, row in enumerate(self.rows)}
        self._effective: dict[str, Effective] = {}
        self._texts: dict[str, str] = {}
        document.changed.connect(self._plan_changed)
        if checks is not None:
            checks.changed.connect(self._tell_values)
        if tokens is not None:
            tokens.changed.connect(self._tokens_changed)

    # What Qt asks

    def rowCount(self, parent: Index = _NO_INDEX) -> int:  # noqa: N802 - Qt's name
        """Return how many rows there are."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:  # noqa: N802 - Qt's name
        """Return how many columns there are."""
        return 0 if parent.isValid() else len(Column)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return what a cell shows, or its `ArgumentRow`."""
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.spoken(row)
        if role == Qt.ItemDataRole.ToolTipRole and not row.is_heading:
            return "\n".join(filter(None, (row.name, row.title, self.text(row, Column.VALUE))))
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(row, Column(index.column()))
        return None

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return what a column is called."""
        if orientation is not Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return (_("Name"), _("Value"), _("Default"), _("From"), _("Help"))[section]

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Headings cannot be chosen."""
        if not index.isValid() or self.rows[index.row()].is_heading:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    # What the page asks

    @property
    def script(self) -> ScriptArguments | None:
        """The arguments of the plan's script; None when they are not known."""
        return self._script

    def row(self, target: str) -> ArgumentRow | None:
        """Return the row of a place; a name of the command line finds its dataset option."""
        for name in (target, target_of(target)):
            place = self._places.get(name)
            if place is not None:
                return self.rows[place]
        return None

    def index_of(self, row: ArgumentRow) -> QModelIndex:
        """Return where a row is now; invalid when it is gone."""
        place = self._places.get(row.target)
        return _NO_INDEX if place is None else self.index(place, 0)

    def effective(self, row: ArgumentRow) -> Effective:
        """Return what counts in a row."""
        if row.target not in self._effective:
            self._effective[row.target] = self._effective_now(row)
        return self._effective[row.target]

    def text(self, row: ArgumentRow, column: Column) -> str:
        """Return what a row shows in a column."""
        if row.is_heading:
            return group_title(row.group) if column == Column.NAME else ""
        if column == Column.NAME:
            return row.name
        if column == Column.VALUE:
            if row.target not in self._texts:
                kept = HIDDEN if self.is_kept(row) else ""
                self._texts[row.target] = shown_text(row, self.effective(row).value) or kept
            return self._texts[row.target]
        if column == Column.DEFAULT:
            return shown_text(row, self.document.default(row.target))
        return self.source_words(row) if column == Column.SOURCE else row.help

    def source_words(self, row: ArgumentRow) -> str:
        """Return who says the value of a row."""
        source = self.effective(row).source
        if source != "user" and self.is_kept(row):
            return _("kept outside of plans")
        if source == "preset":
            return _("preset {name}").format(name=self.layer_title(row))
        if source == "trainer" and row.group == "launch":
            return _("usual value")
        if source == "trainer" and row.target in self.document.plan.without:
            return _("default, by you")
        words = {"user": _("set by you"), "family": _("model family"), "trainer": _("default")}
        return words[source]

    def is_kept(self, row: ArgumentRow) -> bool:
        """Whether the value of a row is a token that is kept outside of plans."""
        return self.tokens is not None and row.target in self.tokens.known

    def layer_title(self, row: ArgumentRow) -> str:
        """Return the preset that says the value of a row, or would; empty for none."""
        name = self.document.layer_of(row.target)
        layer = self.document.library.layers.get(name)
        return _(layer.title) if layer is not None and layer.title else name

    def deviates(self, row: ArgumentRow) -> bool:
        """Whether the plan says something else than its presets."""
        return self.document.deviates(row.target)

    def findings(self, row: ArgumentRow) -> list[Finding]:
        """Return what is wrong in a row: what the trainer would refuse first, then preflight's findings."""
        found: list[Finding] = []
        if not row.is_heading and self.effective(row).source == "user":
            found = judge(row, self.effective(row).value, self._script, self.document.catalogue)
        known = {finding.title for finding in found}
        more = self._checks.at(row.target) if self._checks is not None else []
        return [*found, *(finding for finding in more if finding.title not in known)]

    def models(self, row: ArgumentRow) -> list[str]:
        """Return what the model files of a row are, a line each; none where none was seen."""
        checked = self._checks.checked if self._checks is not None else None
        if checked is None or checked.view is None:
            return []
        facts = checked.view.facts
        found = [fact for fact in facts.model if fact.argument == row.target]
        sizes = [facts.paths[fact.path].size_bytes if fact.path in facts.paths else None for fact in found]
        return [model_words(fact, size) for fact, size in zip(found, sizes, strict=True)]

    def worst(self, row: ArgumentRow) -> Severity | None:
        """Return how bad the worst finding of a row is."""
        found = {finding.severity for finding in self.findings(row)}
        return next((severity for severity in _SEVERITIES if severity in found), None)

    def spoken(self, row: ArgumentRow) -> str:
        """Return a row in one sentence, for those who hear it."""
        if row.is_heading:
            return self.text(row, Column.NAME)
        value = self.text(row, Column.VALUE) or _("nothing")
        return _("{name}: {value}, {source}").format(
            name=row.name, value=value, source=self.source_words(row)
        )

    def matching(self, search: str, only: Only) -> set[str]:
        """Return the targets of the rows that a search and a filter leave, headings included."""
        terms = search.casefold().split()
        found: set[str] = set()
        for row in self.rows:
            if not row.is_heading and self._is_wanted(row, only) and self._holds(row, terms):
                found.add(row.target)
                found.add(f"group:{row.group}")
        return found

    def count(self, only: Only) -> int:
        """Return how many rows a filter leaves."""
        return sum(not row.is_heading and self._is_wanted(row, only) for row in self.rows)

    # What the page does

    def set_text(self, row: ArgumentRow, text: str) -> str:
        """Take over what was typed; wrong values too, as a plan holds them and preflight says so.

        Returns:
            Why the plan cannot hold it, in one sentence; empty when it does.
        """
        if text == "" or (row.kind != "text" and not text.strip()):
            if not row.is_the_plans:
                return self.set_value(row, None)
            if row.kind != "text":
                return _("Give a value, or take it out.")
        value = read_text(row, text)
        if row.kind == "variables" and isinstance(value, dict):
            env = self.document.plan.launch.env
            value = value | {name: env[name] for name in env if is_token_variable(name)}
        return self.set_value(row, value)

    def set_value(self, row: ArgumentRow, value: Any) -> str:
        """Take over a value; None takes it back. Typing at one place becomes one undo step."""
        found = self.effective(row)
        if value is not None and found.source == "user" and same_value(value, found.value):
            return ""
        return self.document.set_value(row.target, value, merge=f"arguments:{row.target}")

    def reset(self, row: ArgumentRow) -> str:
        """Let presets and defaults count in a row again; what the script does not know is taken out."""
        self.document.end_merge()
        if row.unknown:
            section = "dataset" if row.target.startswith("dataset.") else "arguments"
            kept = {n: v for n, v in getattr(self.document.plan, section).items() if n != row.name}
            changed = self.document.plan.model_copy(update={section: kept})
            return self.document.replace(changed, _("Take out {name}").format(name=row.name))
        return self.document.take_back(row.target)

    def use_default(self, row: ArgumentRow) -> str:
        """Let the trainer's own default count, whatever the presets say."""
        self.document.end_merge()
        return self.document.change(
            {row.target: None}, _("Trainer's default for {name}").format(name=row.name)
        )

    def editor_text(self, row: ArgumentRow) -> str:
        """Return what the editor of a row shows: what the plan itself says."""
        found = self.effective(row)
        if found.source != "user":
            return ""
        value = found.value
        if row.kind == "variables":
            value = {n: v for n, v in value.items() if not is_token_variable(n)}
        return value_text(row, value)

    def refresh(self) -> None:
        """Take the rows anew: another trainer, other arguments."""
        self.restructuring.emit()
        self.beginResetModel()
        self._forget()
        self._script = self.document.script_arguments
        self._shape = shape_of(self.document.plan, self._script)
        self.rows = rows_of(self.document.plan, self._script, self._titles)
        self._places = {row.target: place for place, row in enumerate(self.rows)}
        self.endResetModel()
        self.values_changed.emit()

    # Inside

    def _effective_now(self, row: ArgumentRow) -> Effective:
        if row.unknown and not row.target.startswith("dataset."):
            return Effective(self.document.plan.arguments.get(row.name), "user", "", None)
        return self.document.effective(row.target)

    def _is_wanted(self, row: ArgumentRow, only: Only) -> bool:
        if only == "own":
            found = self.effective(row)
            return found.source == "user" or row.target in self.document.plan.without
        if only == "preset":
            return self.effective(row).source == "preset"
        return only == "all" or bool(self.findings(row))

    def _holds(self, row: ArgumentRow, terms: list[str]) -> bool:
        if not terms:
            return True
        texts = (
            row.name,
            row.title,
            *row.other_names,
            row.help,
            self.text(row, Column.VALUE),
            group_title(row.group),
        )
        whole = "\n".join(texts).casefold()
        return all(term in whole for term in terms)

    def _plan_changed(self, _targets: object) -> None:
        self._forget()
        script = self.document.script_arguments
        if script is not self._script:
            self.refresh()
            return
        shape = shape_of(self.document.plan, script)
        if shape != self._shape:
            self._shape = shape
            self._move_to(rows_of(self.document.plan, script, self._titles))
        self._tell_values()

    def _tokens_changed(self) -> None:
        self._forget()
        self._tell_values()

    def _forget(self) -> None:
        self._effective.clear()
        self._texts.clear()

    def _tell_values(self) -> None:
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(Column) - 1))
        self.values_changed.emit()

    def _move_to(self, rows: list[ArgumentRow]) -> None:
        """Insert and remove single rows, so that the others stay where the user sees them."""
        for kind, start, end, place, stop in reversed(list(_steps(self.rows, rows))):
            self.restructuring.emit()
            if kind in ("delete", "replace"):
                self.beginRemoveRows(_NO_INDEX, start, end - 1)
                del self.rows[start:end]
                self._place()
                self.endRemoveRows()
                self.restructuring.emit()
            if kind in ("insert", "replace"):
                self.beginInsertRows(_NO_INDEX, start, start + stop - place - 1)
                self.rows[start:start] = rows[place:stop]
                self._place()
                self.endInsertRows()

    def _place(self) -> None:
        self._places = {row.target: place for place, row in enumerate(self.rows)}


def _steps(before: list[ArgumentRow], after: list[ArgumentRow]) -> Iterator[tuple[str, int, int, int, int]]:
    old, new = [row.target for row in before], [row.target for row in after]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return (step for step in matcher.get_opcodes() if step[0] != "equal")
