"""Makes a plan of a settings file of LoRA_Easy_Training_Scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gui.engine.importers.assembling import Draft
from gui.engine.importers.typed_values import typed_value
from gui.engine.plan.dataset_options import OPTIONS, typed
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue

_OWN = frozenset(
    {
        *(
            "sdxl",
            "fa",
            "easy_name",
            "save_toml",
            "save_toml_location",
            "tag_occurrence",
            "tag_file_location",
        ),
        *("warmup_ratio", "save_n_epoch_ratio", "name"),
    }
)
"""What that program reads itself."""

_SHORT_LORA = {"lora", "locon (lierla)", "locon"}


def is_lora_easy(data: Mapping[str, Any]) -> bool:
    """Return whether TOML data has the form of that program: tables with ``args`` or ``dataset_args``."""
    tables = [value for value in data.values() if isinstance(value, dict)]
    return any({"args", "dataset_args"} & table.keys() for table in tables)


def read_lora_easy(data: Mapping[str, Any], script: str | None, catalogue: Catalogue) -> Draft:
    """Gather what a settings file says.

    Args:
        data: The file's content.
        script: The training script, where somebody says which.
        catalogue: The trainer's arguments.

    Raises:
        ScriptNotUsable: The trainer lacks the script.
    """
    sections = {name: value for name, value in data.items() if isinstance(value, dict)}
    arguments = _merged(sections, "args")
    known = catalogue.script(script or _script(sections, arguments))
    draft = Draft(known.name, dataset=_dataset(data, sections))
    if "network" in known.name:
        _take_network(draft, arguments)
    unknown: list[str] = []
    for name, value in arguments.items():
        row = known.arguments.get(name)
        if name in _OWN or name in draft.arguments:
            continue
        if row is None:
            unknown += [name] if value not in (None, "", False) else []
        else:
            draft.arguments[name] = typed_value(row, _pairs(value) if isinstance(value, dict) else value)
    if arguments.get("warmup_ratio"):
        draft.arguments["lr_warmup_steps"] = arguments["warmup_ratio"]
    left = sorted(unknown + ([key for key in ("save_n_epoch_ratio",) if arguments.get(key)]))
    if left:
        draft.note(_("Only that program knows these; they are left out: {keys}").format(keys=", ".join(left)))
    return draft


def _merged(sections: Mapping[str, Any], part: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for section in sections.values():
        inner = section.get(part)
        values |= inner if isinstance(inner, dict) else {}
    return values


def _script(sections: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    mode = sections.get("train_mode", {}).get("train_mode", "lora")
    kind = "textual_inversion" if mode != "lora" else "network"
    if kind == "network" and (sections.get("flux_args", {}).get("args") or "t5xxl" in arguments):
        return "flux_train_network.py"
    return f"{'sdxl_' if arguments.get('sdxl') else ''}train_{kind}.py"


def _take_network(draft: Draft, arguments: Mapping[str, Any]) -> None:
    """Choose the module as that program does: by the algorithm that is named."""
    inner = arguments.get("network_args")
    options = dict(inner) if isinstance(inner, dict) else {}
    algorithm = str(options.get("algo", "")).lower()
    if algorithm in _SHORT_LORA and algorithm != "locon":
        options.pop("algo", None)
        algorithm = ""
    module = "lycoris.kohya" if algorithm else "networks.lora"
    if not algorithm and draft.script == "flux_train_network.py":
        module = "networks.lora_flux"
    elif not algorithm and "unit" in options:
        module = "networks.dylora"
    elif not algorithm and arguments.get("fa"):
        module = "networks.lora_fa"
    draft.arguments["network_module"] = arguments.get("network_module") or module
    if options:
        draft.arguments["network_args"] = _pairs(options)


def _pairs(table: Mapping[str, Any]) -> list[str]:
    def text(value: Any) -> str:
        return ",".join(map(str, value)) if isinstance(value, list) else str(value)

    return [f"{key}={text(value)}" for key, value in table.items()]


def _dataset(data: Mapping[str, Any], sections: Mapping[str, Any]) -> dict[str, Any]:
    options = _known(_merged(sections, "dataset_args"))
    subsets = data.get("subsets")
    entries = (
        [_known(entry) for entry in subsets if isinstance(entry, dict)] if isinstance(subsets, list) else []
    )
    return {**options, "subsets": entries}


def _known(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: typed(OPTIONS[key].type, value) for key, value in table.items() if key in OPTIONS}
