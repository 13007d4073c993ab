"""How the settings of the kohya_ss GUI become arguments of the trainer, as data."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.resources import resource_path
from gui.engine.yaml_text import read_yaml

Kind = Literal["lora", "dreambooth", "full", "textual_inversion"]


class GuiFamily(Document):
    """A box of the GUI that chooses a model family.

    Attributes:
        switches: The keys of the box, of old and new versions.
        scripts: The script of each kind of training that the GUI has for it.
    """

    switches: tuple[str, ...] = ()
    scripts: dict[Kind, str]


class LoraType(Document):
    """An entry of the GUI's list of LoRA types.

    Attributes:
        module: ``network_module``.
        module_of: The module for some families.
        fixed: What always stands in ``network_args``.
        always: Keys that stand there whatever they hold.
        set: Keys that stand there when they hold something.
        groups: Groups of such keys.
    """

    module: str
    module_of: dict[str, str] = Field(default_factory=dict)
    fixed: dict[str, str] = Field(default_factory=dict)
    always: tuple[str, ...] = ()
    set_: tuple[str, ...] = Field(default=(), alias="set")
    groups: tuple[str, ...] = ()


class GuiRules(Document):
    """The whole file; its comments say what each part means."""

    schema_: Literal[1] = Field(alias="schema")
    families: dict[str, GuiFamily]
    names: dict[str, str]
    family_names: dict[str, dict[str, str]]
    only_for: dict[str, tuple[str, ...]]
    unset_at_zero: frozenset[str]
    lora_types: dict[str, LoraType]
    groups: dict[str, tuple[str, ...]]
    always_groups: frozenset[str]
    network_names: dict[str, str]
    removed: frozenset[str]
    gui_only: frozenset[str]

    def network_keys(self, lora_type: str) -> dict[str, bool]:
        """Return the GUI's keys that go into ``network_args``, and whether each always does."""
        how = self.lora_types[lora_type]
        keys = dict.fromkeys(how.always, True) | dict.fromkeys(how.set_, False)
        for group in (*how.groups, "loraplus"):
            keys |= dict.fromkeys(self.groups[group], group in self.always_groups)
        return keys

    def network_name(self, lora_type: str, key: str) -> str:
        """Return what a key of the GUI is called inside ``network_args``."""
        return self.network_names.get(f"{lora_type}.{key}") or self.network_names.get(key, key)

    def all_network_keys(self) -> frozenset[str]:
        """Return every key that some LoRA type uses."""
        return frozenset(key for name in self.lora_types for key in self.network_keys(name))


@lru_cache(maxsize=2)
def gui_rules(path: Path | None = None) -> GuiRules:
    """Return the rules.

    Args:
        path: The file; None takes the program's own.

    Raises:
        CannotRead: It is no such file.
    """
    file = path or resource_path("importers", "kohya_gui.yaml")
    return read_yaml(file, GuiRules)
