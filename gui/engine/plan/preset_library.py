"""Where presets are: the program's own, and the user's as files that can be passed on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from pydantic import ValidationError

from gui.engine.documents import read_text, reason_of, write_atomically
from gui.engine.errors import CannotRead, CannotWrite, PresetNameRefused, UnknownPreset
from gui.engine.plan.preset_layer import Layer
from gui.engine.resources import resource_path
from gui.engine.texts import _
from gui.engine.yaml_text import YamlProblem, parse_yaml

SUFFIX = ".yaml"
LARGEST_PRESET_BYTES = 256 * 1024
LONGEST_NAME = 60

_FORBIDDEN = re.compile(r'[\\/:*?"<>|\x00-\x1f\x7f]')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True)
class BrokenPreset:
    """A preset file that cannot be used; it stays where it is.

    Attributes:
        path: The file.
        key: What in it is wrong, dotted; empty when the file as a whole is.
        reason: Why, in plain words and already translated.
    """

    path: Path
    key: str
    reason: str

    @property
    def sentence(self) -> str:
        """File, key and reason."""
        where = _("{path}, {key}: {reason}") if self.key else "{path}: {reason}"
        return where.format(path=self.path, key=self.key, reason=self.reason)


class PresetLibrary:
    """The program's layers and the user's own, by name.

    The name of a layer is its file's name. The program's names cannot be taken.

    Attributes:
        folder: The user's presets; need not exist. None for the program's alone.
        layers: All usable layers, the program's first, each in the order of lists.
        broken: The user's files that cannot be used, by name.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Read all presets.

        Args:
            folder: The user's presets.

        Raises:
            CannotRead: One of the program's own files is damaged.
        """
        self.folder = folder
        bundled = _bundled(resource_path("presets"))
        own: dict[str, Layer] = {}
        self.broken: dict[str, BrokenPreset] = {}
        for path in _own_files(folder):
            read = _own(path, bundled)
            if isinstance(read, BrokenPreset):
                self.broken[path.stem] = read
            else:
                own[path.stem] = read
        self.layers: Mapping[str, Layer] = MappingProxyType({**bundled, **own})
        self._own = frozenset(own)

    @property
    def own(self) -> tuple[str, ...]:
        """The names of the user's usable presets."""
        return tuple(name for name in self.layers if name in self._own)

    def on(self, axis: str) -> dict[str, Layer]:
        """Return the layers about one matter, in the order of lists."""
        return {name: layer for name, layer in self.layers.items() if layer.axis == axis}

    def path_of(self, name: str) -> Path:
        """Return the file of one of the user's presets, usable or not.

        Raises:
            UnknownPreset: The user has none of this name.
        """
        if self.folder is None or (name not in self._own and name not in self.broken):
            raise UnknownPreset(name, (*self.own, *self.broken))
        return self.broken[name].path if name in self.broken else self.folder / f"{name}{SUFFIX}"

    def save(self, name: str, layer: Layer, *, replace: bool = False) -> PresetLibrary:
        """Write one of the user's presets and return the library as it is now.

        Args:
            name: Its name; becomes the file's name.
            layer: What it sets.
            replace: Whether a preset of the user's own of this name may be replaced.

        Raises:
            PresetNameRefused: The name cannot be a file's name, or is taken.
            CannotWrite: The file cannot be written.
        """
        target = self._target(name, replace=replace)
        write_atomically(target, preset_text(layer))
        return PresetLibrary(self.folder)

    def add(self, file: Path, *, name: str | None = None) -> tuple[PresetLibrary, str]:
        """Take over a preset that somebody passed on, as it is.

        Args:
            file: The file.
            name: Another name than the file's.

        Raises:
            CannotRead: It is no preset; the sentence names the key.
            PresetNameRefused: The name cannot be a file's name, or is taken.
            CannotWrite: The file cannot be written.
        """
        chosen = name or file.stem
        target = self._target(chosen, replace=False)
        text = _text_of(file)
        read = _judged(file, text)
        if isinstance(read, BrokenPreset):
            raise CannotRead(file, f"{read.key}: {read.reason}" if read.key else read.reason)
        write_atomically(target, text)
        return PresetLibrary(self.folder), chosen

    def export(self, name: str, target: Path) -> None:
        """Copy a preset to a file that can be passed on.

        Raises:
            UnknownPreset: There is none of this name.
            CannotWrite: The file cannot be written.
        """
        if name in self._own or name in self.broken:
            write_atomically(target, _text_of(self.path_of(name)))
        elif name in self.layers:
            write_atomically(target, preset_text(self.layers[name]))
        else:
            raise UnknownPreset(name, tuple(self.layers))

    def rename(self, old: str, new: str) -> PresetLibrary:
        """Give one of the user's presets another name; those of the user's that stand on it follow.

        Raises:
            UnknownPreset: The user has none of the old name.
            PresetNameRefused: The new name cannot be a file's name, or is taken.
            CannotWrite: A file cannot be written.
        """
        source = self.path_of(old)
        target = self._target(new, replace=False, besides=old)
        try:
            source.rename(target)
        except OSError as error:
            raise CannotWrite(target, reason_of(error)) from error
        for name in self.own:
            if name != old and old in self.layers[name].layers:
                place = self.path_of(name)
                write_atomically(place, _with_renamed_layer(_text_of(place), old, new))
        return PresetLibrary(self.folder)

    def delete(self, name: str) -> PresetLibrary:
        """Delete one of the user's presets.

        Raises:
            UnknownPreset: The user has none of this name.
            CannotWrite: The file cannot be deleted.
        """
        place = self.path_of(name)
        try:
            place.unlink()
        except OSError as error:
            raise CannotWrite(place, reason_of(error)) from error
        return PresetLibrary(self.folder)

    def _target(self, name: str, *, replace: bool, besides: str | None = None) -> Path:
        reason = name_trouble(name)
        if self.folder is None:
            reason = _("there is no folder for presets of one's own")
        taken = next(
            (known for known in (*self.layers, *self.broken) if known.casefold() == name.casefold()), None
        )
        own = taken in self._own or taken in self.broken
        if taken is not None and not own:
            reason = _("it belongs to one of the program's own presets")
        elif taken is not None and taken != besides and not replace:
            reason = _("there is a preset of this name already")
        if reason or self.folder is None:
            sentence = _("No preset can be called “{name}”: {reason}")
            raise PresetNameRefused(sentence.format(name=name, reason=reason))
        return self.path_of(taken) if taken is not None and replace else self.folder / f"{name}{SUFFIX}"


def name_trouble(name: str) -> str:
    """Return why a name cannot be that of a preset file on every system; empty when it can."""
    if not name.strip() or name != name.strip() or name.startswith(".") or name.endswith("."):
        return _("it must not be empty, nor begin or end with a blank or a dot")
    if _FORBIDDEN.search(name) or _RESERVED.fullmatch(name):
        return _("a file cannot be called so on every system")
    if len(name) > LONGEST_NAME:
        return _("it is longer than {most} characters").format(most=LONGEST_NAME)
    return ""


def preset_text(layer: Layer) -> str:
    """Return a layer as the text of a preset file: what differs from the defaults."""
    data = layer.model_dump(by_alias=True, mode="json", exclude_defaults=True)
    return str(yaml.safe_dump({"schema": 1, **data}, sort_keys=False, allow_unicode=True, width=100))


def _with_renamed_layer(text: str, old: str, new: str) -> str:
    """Put a new name into ``layers`` and leave every other sign as it is, comments included."""
    document = yaml.compose(text, Loader=yaml.SafeLoader)
    spans = [
        (item.start_mark.index, item.end_mark.index)
        for key, value in (document.value if isinstance(document, yaml.MappingNode) else ())
        if key.value == "layers" and isinstance(value, yaml.SequenceNode)
        for item in value.value
        if item.value == old
    ]
    for start, end in reversed(spans):
        text = text[:start] + json.dumps(new, ensure_ascii=False) + text[end:]
    return text


@lru_cache(maxsize=4)
def _bundled(folder: Path) -> Mapping[str, Layer]:
    found: dict[str, Layer] = {}
    for path in sorted(folder.rglob(f"*{SUFFIX}")):
        read = _judged(path, read_text(path))
        if isinstance(read, BrokenPreset):
            raise CannotRead(path, f"{read.key}: {read.reason}" if read.key else read.reason)
        found[path.stem] = read
    return MappingProxyType(dict(sorted(found.items(), key=lambda entry: (entry[1].order, entry[0]))))


def _own_files(folder: Path | None) -> Iterator[Path]:
    try:
        yield from sorted(
            path for path in (folder.iterdir() if folder else ()) if path.suffix == SUFFIX and path.is_file()
        )
    except OSError:
        return  # no folder, no presets


def _own(path: Path, bundled: Mapping[str, Layer]) -> Layer | BrokenPreset:
    if any(path.stem.casefold() == name.casefold() for name in bundled):
        return BrokenPreset(
            path, "", _("its name belongs to one of the program's own presets; rename the file")
        )
    try:
        text = _text_of(path)
    except CannotRead as error:
        return BrokenPreset(path, "", error.reason)
    return _judged(path, text)


def _text_of(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_PRESET_BYTES:
            raise CannotRead(path, _("it is too large for a preset"))
    except OSError as error:
        raise CannotRead(path, reason_of(error)) from error
    return read_text(path)


def _judged(path: Path, text: str) -> Layer | BrokenPreset:
    """Read a preset, or say which key is wrong and how."""
    try:
        content = parse_yaml(text)
    except YamlProblem as problem:
        where = _("line {line}").format(line=problem.line) if problem.line else ""
        return BrokenPreset(path, where, _("it is not YAML: {reason}").format(reason=problem.reason))
    if not isinstance(content, dict):
        return BrokenPreset(path, "", _("it is no preset: it has no keys"))
    schema = content.get("schema", 1)
    if isinstance(schema, int) and schema > 1:
        return BrokenPreset(path, "schema", _("a newer version of Kohya Preflight wrote it"))
    try:
        return Layer.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        return BrokenPreset(path, _key(first["loc"]), _reason(first["type"], first["msg"], first["input"]))


def _key(place: tuple[int | str, ...]) -> str:
    """Return the key without the names of pydantic's alternatives behind it."""
    parts = [str(part) for part in place]
    for depth, part in enumerate(parts):
        if part in ("set", "scale", "most"):
            parts = parts[: depth + 2]
            break
    return ".".join(parts)


def _reason(kind: str, message: str, value: Any) -> str:
    shown = repr(value) if isinstance(value, str) else str(value)
    shown = shown if len(shown) <= 40 else shown[:39] + "…"
    wanted = {
        "string_type": _("a text"),
        "dict_type": _("a table"),
        "model_type": _("a table"),
        "tuple_type": _("a list"),
        "int_type": _("a whole number"),
        "int_parsing": _("a whole number"),
        "float_type": _("a number"),
        "float_parsing": _("a number"),
    }.get(kind)
    if kind == "extra_forbidden":
        return _("no preset has such a key")
    if kind == "missing":
        return _("it is missing")
    if wanted is None:
        return message.removeprefix("Value error, ")
    return _("it must be {wanted}, not {value}").format(wanted=wanted, value=shown)
