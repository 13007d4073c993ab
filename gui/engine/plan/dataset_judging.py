"""Says what the trainer's schema would refuse in a plan's dataset section."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from gui.engine.findings import Finding, Fix
from gui.engine.plan.dataset_options import (
    CONTROLNET_SCRIPTS,
    FINETUNING_SCRIPTS,
    HANDED_DOWN,
    OPTIONS,
    DatasetOption,
    Level,
    Style,
    read_value,
    typed,
)
from gui.engine.plan.dataset_toml import is_writable
from gui.engine.texts import _

_SOURCE = "trainer: config_util.py"
_TABLES = frozenset({"general", "datasets"})
_STRUCTURE = frozenset({"general", "datasets", "subsets"})


def judge_dataset(
    dataset: Mapping[str, Any], script: str, *, masked_loss: bool = False, verbatim: bool = False
) -> list[Finding]:
    """Return what the trainer's schema would refuse in a dataset section.

    Args:
        dataset: A plan's dataset section.
        script: The training script: control nets and ``fine_tune.py`` know other keys.
        masked_loss: Whether ``masked_loss`` is on, which lets subsets name conditioning images.
        verbatim: Whether the trainer reads it as it stands: a file of the user's own, for which no value is
            written as it must be and nothing is handed down.

    Source: trainer-facts 1.7.
    """
    return list(_Judge(script, masked_loss, verbatim).findings(dataset))


class _Judge:
    """Walks through a dataset section; ``where`` is the dotted target of what it looks at."""

    def __init__(self, script: str, masked_loss: bool, verbatim: bool) -> None:
        self._script = script
        self._masked_loss = masked_loss
        self._verbatim = verbatim
        self._dropout = "textual_inversion" not in script

    def findings(self, dataset: Mapping[str, Any]) -> Iterator[Finding]:
        top = {key: value for key, value in dataset.items() if key not in _STRUCTURE}
        if self._verbatim:
            yield from (_not_at_top(key) for key in dataset if key not in _TABLES)
        else:
            for key, value in top.items():
                yield from self._entry(key, value, "dataset", "general", self._style_of_script())
        yield from self._general(dataset.get("general"))
        subsets = dataset.get("subsets")
        if subsets is not None and not self._verbatim:
            yield from self._subsets(subsets, "dataset.subsets")
        datasets = dataset.get("datasets")
        if datasets is None:
            return
        if not _is_tables(datasets):
            yield _wrong("dataset.datasets", _("datasets must be a list of tables."))
            return
        for number, entry in enumerate(datasets):
            yield from self._dataset(entry, f"dataset.datasets.{number}")

    def _general(self, general: Any) -> Iterator[Finding]:
        if general is None:
            return
        if not isinstance(general, Mapping):
            yield _wrong("dataset.general", _("general must be a table."))
            return
        for key, value in general.items():
            yield from self._entry(key, value, "dataset.general", "general", self._style_of_script())

    def _dataset(self, entry: Mapping[str, Any], where: str) -> Iterator[Finding]:
        subsets = entry.get("subsets")
        style = self._style(subsets if subsets is not None and _is_tables(subsets) else [])
        for key, value in entry.items():
            if key != "subsets":
                yield from self._entry(key, value, where, "datasets", style)
        yield from self._subsets([] if subsets is None else subsets, f"{where}.subsets")

    def _subsets(self, subsets: Any, where: str) -> Iterator[Finding]:
        if not _is_tables(subsets):
            yield _wrong(where, _("subsets must be a list of tables."))
            return
        style = self._style(subsets)
        required = {"finetuning": ("metadata_file",), "controlnet": ("image_dir", "conditioning_data_dir")}
        for number, subset in enumerate(subsets):
            place = f"{where}.{number}"
            for key, value in subset.items():
                yield from self._entry(key, value, place, "subsets", style)
            for key in required.get(style, ("image_dir",)):
                if subset.get(key) in (None, ""):
                    sentence = _("Subset {number} needs {key}.")
                    yield _missing(f"{place}.{key}", sentence.format(number=number + 1, key=key))

    def _style_of_script(self) -> Style | None:
        """Return the only kind of dataset that the script knows; None when it knows several."""
        if self._script in CONTROLNET_SCRIPTS:
            return "controlnet"
        return "finetuning" if self._script in FINETUNING_SCRIPTS else None

    def _style(self, subsets: Sequence[Mapping[str, Any]]) -> Style:
        """Return which schema the trainer takes (config_util.py:317-340)."""
        paired = self._masked_loss and (
            self._script == "train_db.py" or all("conditioning_data_dir" in subset for subset in subsets)
        )
        only = self._style_of_script()
        if only is not None or (paired and subsets):
            return only or "controlnet"
        with_metadata = bool(subsets) and all("metadata_file" in subset for subset in subsets)
        return "finetuning" if with_metadata and self._script != "train_db.py" else "dreambooth"

    def _entry(
        self, key: str, value: Any, where: str, level: Level, style: Style | None = None
    ) -> Iterator[Finding]:
        target = f"{where}.{key}"
        option = OPTIONS.get(key)
        if value is None:
            return
        if option is None or (option.dropout and not self._dropout):
            yield _unknown(target, key, value)
        elif level not in option.levels and (self._verbatim or level == "subsets" or key not in HANDED_DOWN):
            yield _wrong_level(target, option, level)
        elif style is not None and style not in option.styles:
            yield _wrong_style(target, key, style)
        else:
            yield from _judge_value(target, option, value, verbatim=self._verbatim)


def _not_at_top(key: str) -> Finding:
    sentence = _("{key} must stand under [general] or in one of the [[datasets]].")
    return _wrong(f"dataset.{key}", sentence.format(key=key), kind="dataset-level")


def _is_tables(value: Any) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    return isinstance(value, list | tuple) and all(isinstance(element, Mapping) for element in value)


def _fits(option: DatasetOption, value: Any, *, verbatim: bool = False) -> bool:
    def whole(number: Any) -> bool:
        return isinstance(number, int) and not isinstance(number, bool)

    def number(candidate: Any) -> bool:
        return whole(candidate) or isinstance(candidate, float)

    checks = {
        "bool": lambda: isinstance(value, bool),
        "int": lambda: whole(value),
        "float": lambda: isinstance(value, float) or (number(value) and not verbatim),
        "number": lambda: number(value),
        "text": lambda: isinstance(value, str),
        "table": lambda: isinstance(value, Mapping),
        "size": lambda: whole(value) or (_pair(value) and all(map(whole, value))),
        "range": lambda: (
            _pair(value) and all(isinstance(side, float) or (number(side) and not verbatim) for side in value)
        ),
    }
    return bool(checks[option.type]())


def _pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2


def _judge_value(
    target: str, option: DatasetOption, value: Any, *, verbatim: bool = False
) -> Iterator[Finding]:
    if not verbatim:
        value = typed(option.type, value)
    if not verbatim and not is_writable(value):
        sentence = _("{key} contains characters that the trainer's dataset file cannot hold.")
        yield _wrong(target, sentence.format(key=option.key))
        return
    if _fits(option, value, verbatim=verbatim):
        return
    wanted = {
        "bool": _("true or false"),
        "int": _("a whole number"),
        "float": _("a number with a point"),
        "number": _("a number"),
        "text": _("a text"),
        "table": _("a table"),
        "size": _("a whole number of pixels, or [width, height]"),
        "range": _("two numbers with points, [lowest, highest]"),
    }[option.type]
    sentence = _("{key} must be {wanted}, not {value}.").format(
        key=option.key, wanted=wanted, value=json.dumps(value, ensure_ascii=False, default=str)
    )
    meant = _meant(option, value)
    fixes = (
        (
            Fix(
                id="read-as-meant",
                label=_("write {value}").format(value=meant),
                changes={target: meant},
                safe=True,
            ),
        )
        if meant is not None
        else ()
    )
    if isinstance(value, bool) and option.type in ("int", "number", "size"):
        detail = _("The trainer would take it for the number {number}.").format(number=int(value))
        yield _wrong(target, sentence, fixes, "dataset-bool", detail)
    else:
        yield _wrong(target, sentence, fixes)


def _meant(option: DatasetOption, value: Any) -> Any:
    """Return the value that was surely meant: ``"768,768"``, ``512.0``, ``1`` for true."""
    if option.type == "bool" and value in (0, 1) and not isinstance(value, bool):
        return bool(value)
    if option.type == "int" and isinstance(value, float) and value.is_integer():
        return int(value)
    if option.type in ("float", "range") and _fits(option, value):
        return typed(option.type, value)
    if isinstance(value, str):
        read = read_value(option.type, value)
        return read if _fits(option, read) else None
    return None


def _unknown(target: str, key: str, value: Any) -> Finding:
    where = target.removesuffix(f".{key}")
    near = difflib.get_close_matches(key, OPTIONS, n=1, cutoff=0.75)
    rename = [
        Fix(
            id=f"rename-to-{name}",
            label=_("call it {name}").format(name=name),
            changes={target: None, f"{where}.{name}": value},
            safe=False,
        )
        for name in near
    ]
    remove = Fix(
        id="remove", label=_("leave {name} out").format(name=key), changes={target: None}, safe=False
    )
    return Finding(
        id="dataset-unknown",
        severity="stop",
        title=_("A dataset has no setting “{name}”.").format(name=key),
        detail=_("The trainer would refuse the whole dataset file and end."),
        arguments=(target,),
        where=target,
        fixes=(*rename, remove),
        sources=(_SOURCE,),
    )


def _wrong_level(target: str, option: DatasetOption, level: Level) -> Finding:
    if level == "subsets":
        sentence = _("{key} is a setting of the whole dataset; a subset cannot have it.")
    else:
        sentence = _("{key} is a setting of a subset; it cannot stand above the subsets.")
    return _wrong(target, sentence.format(key=option.key), kind="dataset-level")


def _wrong_style(target: str, key: str, style: Style) -> Finding:
    sentence = {
        "dreambooth": _("{key} is not known to a dataset of image folders."),
        "finetuning": _("{key} is not known to a dataset with metadata files."),
        "controlnet": _("{key} is not known to a dataset with conditioning images."),
    }[style]
    return _wrong(target, sentence.format(key=key), kind="dataset-level")


def _missing(target: str, sentence: str) -> Finding:
    return _wrong(target, sentence, kind="dataset-missing")


def _wrong(
    target: str, sentence: str, fixes: tuple[Fix, ...] = (), kind: str = "dataset-type", detail: str = ""
) -> Finding:
    return Finding(
        id=kind,
        severity="stop",
        title=sentence,
        detail=detail or _("The trainer would refuse the whole dataset file and end."),
        arguments=(target,),
        where=target,
        fixes=fixes,
        sources=(_SOURCE,),
    )
