"""Writes a plan as settings of the kohya_ss GUI.

What is written is read back by our own importer; what came out otherwise goes into the GUI's field for
additional parameters, and what cannot be said there either is told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gui.engine.errors import WrongUsage
from gui.engine.importers.exports import Exportable, Exported, cannot_say
from gui.engine.importers.kohya_gui import read_gui_settings
from gui.engine.importers.kohya_rules import GuiRules, Kind, gui_rules
from gui.engine.plan.model import LaunchSettings
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.values import Words, words_for

_BY_HAND = frozenset(
    {"network_module", "network_args", "text_encoder_lr", "unet_lr", "lr_warmup_steps", "xformers", "sdpa"}
)


LAUNCH = ("num_processes", "num_machines", "dynamo_backend", "num_cpu_threads_per_process")
"""Of a plan's launch settings, those that the GUI has under the same names."""

USUAL_OPTIMIZER = "AdamW"
"""What the trainer takes where none is named (train_util.py:4845)."""


def export_kohya(ready: Exportable, catalogue: Catalogue) -> Exported:
    """Return a settings file of the GUI.

    Args:
        ready: The plan.
        catalogue: The trainer's arguments.

    Raises:
        WrongUsage: The GUI has no place for this kind of training.
    """
    rules = gui_rules()
    arguments, beside = ready.arguments_and_dataset(inline=True)
    wish = "dreambooth" if ready.plan.kind == "full" and "in_json" not in arguments else ready.plan.kind
    family, kind = _tab(rules, ready.script.name, wish)
    settings = _settings(rules, family, kind, ready, arguments)
    wrong = _differences(settings, arguments, ready, catalogue)
    extra: list[str] = []
    for name in wrong:
        row = ready.script.arguments.get(name)
        spelled = words_for(row, arguments.get(name)) if row else None
        if isinstance(spelled, Words) and not any(
            set(word) & set(' \t\n"') or not word for word in spelled.words
        ):
            extra += spelled.words
    settings["additional_parameters"] = " ".join(extra)
    left = _differences(settings, arguments, ready, catalogue)
    if ready.plan.launch.env:
        left = [*left, "launch.env"]
    text = json.dumps(settings, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    return Exported(text, beside, (*ready.notes, *map(cannot_say, left)))


def _tab(rules: GuiRules, script: str, wish: str) -> tuple[str, Kind]:
    """Return the family's box and the tab of the GUI that start a script."""
    fitting = [
        (name, kind)
        for name, family in rules.families.items()
        for kind, started in family.scripts.items()
        if started == script
    ]
    if not fitting:
        raise WrongUsage(_("The kohya_ss GUI has no place for {script}.").format(script=script))
    return next((each for each in fitting if each[1] == wish), fitting[0])


def _settings(
    rules: GuiRules, family: str, kind: Kind, ready: Exportable, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Fill the GUI's keys; what is not set is written as not set, or the GUI would keep what it shows."""
    known = ready.script.arguments
    settings: dict[str, Any] = {name: False for name, row in known.items() if row.is_flag}
    settings |= {name: 0 for name in sorted(rules.unset_at_zero) if name in known}
    for key in rules.families[family].switches:
        settings[key] = True
    marks: dict[str, dict[str, Any]] = {"lora": {"LoRA_type": "Standard"}, "full": {"full_path": True}}
    settings |= marks.get(kind, {})
    back = {argument: key for key, argument in rules.names.items() if key in ("optimizer", "max_resolution")}
    back |= {argument: key for key, argument in rules.family_names.get(family, {}).items()}
    for name, value in arguments.items():
        if name in known and name not in _BY_HAND and value is not None:
            settings[back.get(name, name)] = " ".join(map(str, value)) if isinstance(value, list) else value
            if name in back:
                settings.pop(name, None)
    if kind == "lora":
        settings |= _network(rules, family, arguments)
    if kind == "full":
        folder, _slash, name = str(arguments.get("in_json", "")).rpartition("/")
        settings |= {"train_dir": folder, "caption_metadata_filename": name}
        settings["image_folder"] = settings.pop("train_data_dir", "")
    settings |= _by_hand(arguments)
    settings.setdefault("optimizer", USUAL_OPTIMIZER)
    settings["lr_warmup"] = settings.get("lr_warmup", 0)
    return settings | _launch(ready.plan.launch)


def _network(rules: GuiRules, family: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Choose the LoRA type whose module and fixed options fit."""
    given = arguments.get("network_args")
    words = [str(word) for word in given] if isinstance(given, list) else []
    pairs = dict(word.partition("=")[::2] for word in words)
    for name, how in rules.lora_types.items():
        module = how.module_of.get(family, how.module)
        if module == arguments.get("network_module") and how.fixed.items() <= pairs.items():
            keys = {rules.network_name(name, key): key for key in rules.network_keys(name)}
            return {"LoRA_type": name} | {
                keys[key]: _literal(value) for key, value in pairs.items() if key in keys
            }
    return {"LoRA_type": "Standard"}


def _literal(text: str) -> Any:
    """Return a switch or a number where the text is exactly what Python makes of it again."""
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if str(value) == text:
            return value
    return text


def _by_hand(arguments: Mapping[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    rates = arguments.get("text_encoder_lr")
    rates = rates if isinstance(rates, list) else [rates] if rates is not None else []
    if rates:
        settings["text_encoder_lr"] = rates[0]
    if len(rates) > 1:
        settings["t5xxl_lr"] = rates[1]
    if arguments.get("unet_lr") is not None:
        settings["unet_lr"] = arguments["unet_lr"]
    warmup = arguments.get("lr_warmup_steps")
    if isinstance(warmup, int):
        settings["lr_warmup_steps"] = warmup
    elif isinstance(warmup, float):
        settings["lr_warmup"] = warmup * 100
    attention = next((name for name in ("xformers", "sdpa") if arguments.get(name)), None)
    settings["xformers"] = attention or "none"
    if any(arguments.get(name) for name in ("network_train_unet_only", "network_train_text_encoder_only")):
        settings.setdefault("unet_lr", 0)
        settings.setdefault("text_encoder_lr", 0)
    return settings


def _launch(launch: LaunchSettings) -> dict[str, Any]:
    settings = launch.model_dump(include=set(LAUNCH))
    return settings | {
        "gpu_ids": ",".join(map(str, launch.gpu_ids)),
        "multi_gpu": launch.num_processes > 1,
        "main_process_port": 0,
        "extra_accelerate_launch_args": "",
    }


def _differences(
    settings: Mapping[str, Any], arguments: Mapping[str, Any], ready: Exportable, catalogue: Catalogue
) -> list[str]:
    """Return the arguments that would come back otherwise."""
    draft = read_gui_settings(settings, None, catalogue)
    back = {name: value for name, value in draft.arguments.items() if value is not False}
    wanted = {name: value for name, value in arguments.items() if value is not None and value is not False}
    names = [*wanted, *(name for name in back if name not in wanted)]
    return [name for name in names if not _same(ready, name, back.get(name), wanted.get(name))]


def _same(ready: Exportable, name: str, one: Any, other: Any) -> bool:
    if name == "optimizer_type":
        return (one or USUAL_OPTIMIZER) == (other or USUAL_OPTIMIZER)
    row = ready.script.arguments.get(name)
    if row is None or one is None or other is None:
        return bool(one == other)
    return words_for(row, one) == words_for(row, other)
