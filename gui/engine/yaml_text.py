"""Reads YAML as people mean it: ``1e-4`` is a number and ``no`` is a word, as in YAML 1.2."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from gui.engine.documents import Document, read_text
from gui.engine.errors import CannotRead
from gui.engine.texts import _

D = TypeVar("D", bound=Document)

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_PLAIN = {
    "tag:yaml.org,2002:bool": (r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    "tag:yaml.org,2002:int": (r"^[-+]?[0-9]+$", "-+0123456789"),
    "tag:yaml.org,2002:float": (
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        "-+.0123456789",
    ),
    "tag:yaml.org,2002:null": (r"^(?:~|null|Null|NULL|)$", "~nN\0"),
}
"""What unquoted words are no texts. Source: YAML 1.2, chapter 10.3 (core schema)."""


class YamlProblem(ValueError):
    """A text is no YAML, or uses what no document here needs.

    Attributes:
        reason: What is wrong, as YAML says it.
        line: Where, from 1; None when it is not known.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class _CoreLoader(_Loader):  # type: ignore[misc]
    """The safe loader with the plain words of YAML 1.2, and without keys that are said twice."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _of in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise YamlProblem(_("{key} is said twice").format(key=key.value), key.start_mark.line + 1)
            seen.add(str(key.value))
        made: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return made


for _tag, (_pattern, _first) in _PLAIN.items():
    for _letter in _first:
        _CoreLoader.yaml_implicit_resolvers.setdefault("" if _letter == "\0" else _letter, []).append(
            (_tag, re.compile(_pattern))
        )


def _float(loader: Any, node: yaml.ScalarNode) -> float:
    word = str(loader.construct_scalar(node)).lower()
    return float(word.replace(".inf", "inf").replace(".nan", "nan"))


def _int(loader: Any, node: yaml.ScalarNode) -> int:
    return int(str(loader.construct_scalar(node)))


_CoreLoader.add_constructor("tag:yaml.org,2002:float", _float)
_CoreLoader.add_constructor("tag:yaml.org,2002:int", _int)


def _line(mark: Any) -> int | None:
    return None if mark is None else int(mark.line) + 1


def parse_yaml(text: str) -> Any:
    """Return what a YAML text says.

    Args:
        text: One document. Anchors and aliases are refused: a few lines of them can fill the memory.

    Raises:
        YamlProblem: It is no such text.
    """
    try:
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.AliasEvent):
                raise YamlProblem(_("aliases (*name) are not used here"), _line(event.start_mark))
        loader = _CoreLoader(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        raise YamlProblem(
            error.problem or str(error), _line(error.problem_mark or error.context_mark)
        ) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, YamlProblem):
            raise
        reason = _("it is nested too deeply") if isinstance(error, RecursionError) else str(error)
        raise YamlProblem(reason) from error


def read_yaml(path: Path, kind: type[D]) -> D:
    """Read a document from a file, and judge it.

    Raises:
        CannotRead: It is missing, no YAML, or of another kind.
    """
    try:
        return kind.model_validate(parse_yaml(read_text(path)))
    except YamlProblem as error:
        raise CannotRead(path, error.reason) from error
    except ValidationError as error:
        raise CannotRead(path, str(error)) from error
