"""Makes a plan of the settings file of the kohya_ss GUI."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gui.engine.importers.argument_words import take_words
from gui.engine.importers.assembling import Draft
from gui.engine.importers.kohya_rules import GuiRules, Kind, gui_rules
from gui.engine.importers.launch_words import take_launch_words
from gui.engine.importers.typed_values import typed_value
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue, ScriptArguments

_MARKS = frozenset(
    {
        "LoRA_type",
        "LyCORIS_preset",
        "lr_warmup",
        "max_resolution",
        "model_list",
        "optimizer",
        "use_latent_files",
    }
)
_LAUNCH = ("num_processes", "num_machines", "num_cpu_threads_per_process", "dynamo_backend", "gpu_ids")
_NOISE = {
    "Original": ("multires_noise_iterations", "multires_noise_discount"),
    "Multires": ("noise_offset", "adaptive_noise_scale", "noise_offset_random_strength"),
}
_PROMPT_FILES = (".txt", ".toml", ".json")


def is_gui_settings(data: Any) -> bool:
    """Return whether JSON data looks like settings of the kohya_ss GUI."""
    return isinstance(data, dict) and bool(_MARKS & data.keys())


def read_gui_settings(data: Mapping[str, Any], script: str | None, catalogue: Catalogue) -> Draft:
    """Gather what a settings file of the GUI says.

    Args:
        data: The file's content.
        script: The training script, where somebody says which; else the settings tell it.
        catalogue: The trainer's arguments.

    Raises:
        ScriptNotUsable: The trainer lacks the script.
    """
    return _Reader(data, gui_rules(), script, catalogue).read()


def number(value: Any) -> float:
    """Return a number of the GUI, which it may keep as text; 0 for what is none."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0


class _Reader:
    def __init__(
        self, data: Mapping[str, Any], rules: GuiRules, script: str | None, catalogue: Catalogue
    ) -> None:
        self._data = data
        self._rules = rules
        self._family = self._family_of()
        kind, name = self._kind_and_script()
        self._kind: Kind = kind
        self._known: ScriptArguments = catalogue.script(script or name)
        self._draft = Draft(self._known.name)

    def read(self) -> Draft:
        """Return what was gathered, in the order in which the GUI fills its command."""
        self._same_names()
        if self._kind == "lora":
            self._network()
            self._learning_rates()
        self._switched()
        self._steps_and_warmup()
        self._samples()
        self._launch()
        words = str(self._data.get("additional_parameters") or "").replace('"', "").split()
        take_words(self._draft, words, self._known)
        return self._draft

    def _family_of(self) -> str:
        for name, family in self._rules.families.items():
            if any(self._data.get(key) is True for key in family.switches):
                return name
        return {"Flux1": "flux1", "Flux1 OFT": "flux1"}.get(str(self._data.get("LoRA_type")), "sd")

    def _kind_and_script(self) -> tuple[Kind, str]:
        kind: Kind = "dreambooth"
        if "LoRA_type" in self._data or "network_dim" in self._data:
            kind = "lora"
        elif "token_string" in self._data or "num_vectors_per_token" in self._data:
            kind = "textual_inversion"
        elif {"full_path", "train_dir", "caption_metadata_filename"} & self._data.keys():
            kind = "full"
        scripts = self._rules.families[self._family].scripts
        return kind, scripts.get(kind) or next(iter(scripts.values()))

    def _same_names(self) -> None:
        """Take what has a counterpart in the trainer, and list what has none."""
        rules = self._rules
        foreign = {key for names in rules.family_names.values() for key in names}
        names = {**rules.names, **rules.family_names.get(self._family, {})}
        boxes = {key for family in rules.families.values() for key in family.switches}
        passed_over = (
            rules.gui_only | rules.all_network_keys() | boxes | {*_LAUNCH, "use_8bit_adam", "xformers"}
        )
        unknown: list[str] = []
        for key, value in self._data.items():
            name = names.get(key, key)
            row = self._known.arguments.get(name)
            if name in ("text_encoder_lr", "unet_lr", "lr_warmup_steps", "sample_prompts", "sdpa"):
                continue
            if (key in foreign and key not in names) or (key in passed_over and row is None):
                continue
            if key in _LAUNCH or key in ("use_8bit_adam", "xformers"):
                continue
            if key in rules.removed:
                if value:
                    self._note_removed(key)
            elif row is None:
                unknown += [] if self._is_unset(name, value) else [key]
            elif not self._is_unset(name, value):
                self._draft.arguments[name] = typed_value(row, value)
        if unknown:
            self._draft.note(
                _("Only the GUI knows these, or another script; they are left out: {keys}").format(
                    keys=", ".join(sorted(unknown))
                )
            )

    def _note_removed(self, key: str) -> None:
        self._draft.note(_("{name} was removed from the trainer and is left out.").format(name=key))

    def _silent(self, name: str) -> bool:
        """Whether the GUI itself would not pass this on for this family."""
        return self._family not in self._rules.only_for.get(name, (self._family,)) or name.startswith("_")

    def _is_unset(self, name: str, value: Any) -> bool:
        if not _says_something(value) or self._silent(name):
            return True
        if name in self._rules.unset_at_zero and number(value) == 0:
            return True
        if name == "max_token_length" and number(value) == 75:
            return True
        return name in _NOISE.get(str(self._data.get("noise_offset_type")), ())

    def _network(self) -> None:
        lora_type = str(self._data.get("LoRA_type") or "Standard")
        how = self._rules.lora_types.get(lora_type)
        if how is None:
            self._draft.note(
                _("The LoRA type “{name}” is not known; networks.lora was taken.").format(name=lora_type)
            )
            lora_type, how = "Standard", self._rules.lora_types["Standard"]
        words = [f"{key}={value}" for key, value in how.fixed.items()]
        for key, always in self._rules.network_keys(lora_type).items():
            value = self._data.get(key)
            if value is None or value == "" or (not always and (value is False or value in (0, "0"))):
                continue
            words.append(f"{self._rules.network_name(lora_type, key)}={value}".replace('"', ""))
        if self._data.get("split_mode") is True and self._family == "flux1":
            words.append("train_blocks=single")
        self._draft.arguments["network_module"] = how.module_of.get(self._family, how.module)
        spelled = [part for word in words for part in word.split()]
        if spelled:
            self._draft.arguments["network_args"] = spelled

    def _learning_rates(self) -> None:
        """Read the rates of text encoder and U-Net, where 0 means that the part is not trained."""
        text, unet = number(self._data.get("text_encoder_lr")), number(self._data.get("unet_lr"))
        t5 = number(self._data.get("t5xxl_lr"))
        values: dict[str, Any] = {}
        if text:
            values["text_encoder_lr"] = [text, t5] if t5 else [text]
        if unet:
            values["unet_lr"] = unet
        told = "text_encoder_lr" in self._data and "unet_lr" in self._data
        if told and not text and unet:
            values["network_train_unet_only"] = True
        if told and text and not unet:
            values["network_train_text_encoder_only"] = True
        for name, value in values.items():
            row = self._known.arguments.get(name)
            if row is not None:
                self._draft.arguments[name] = typed_value(row, value)

    def _switched(self) -> None:
        """Read the boxes that choose between several arguments."""
        attention = self._data.get("xformers")
        chosen = "xformers" if attention is True else str(attention or "")
        if self._data.get("sdpa") is True:
            chosen = chosen or "sdpa"
        if chosen in ("xformers", "sdpa") and chosen in self._known.arguments:
            self._draft.arguments[chosen] = True
        if "optimizer" not in self._data and "use_8bit_adam" in self._data:
            self._draft.arguments["optimizer_type"] = "AdamW8bit" if self._data["use_8bit_adam"] else "AdamW"
        folder = str(self._data.get("train_dir") or "")
        if self._kind == "full" and folder:
            latents = self._data.get("use_latent_files") == "Yes"
            name = self._data.get("latent_metadata_filename" if latents else "caption_metadata_filename")
            self._draft.arguments["in_json"] = f"{folder}/{name}"
        if self._kind == "full" and not self._data.get("dataset_config"):
            self._draft.arguments["enable_bucket"] = True

    def _steps_and_warmup(self) -> None:
        """Turn epochs and percents into the trainer's own arguments."""
        arguments, epochs = self._draft.arguments, number(self._data.get("epoch"))
        if not {"max_train_steps", "max_train_epochs"} & arguments.keys() and epochs >= 1:
            arguments["max_train_epochs"] = int(epochs)
            self._draft.note(
                _(
                    "The GUI computes the steps from its {count} epochs; here they became max_train_epochs."
                ).format(count=int(epochs))
            )
        steps, percent = number(self._data.get("lr_warmup_steps")), number(self._data.get("lr_warmup"))
        if steps or percent:
            arguments["lr_warmup_steps"] = (int(steps) if steps >= 1 else steps) if steps else percent / 100
        if self._data.get("stop_text_encoder_training") or self._data.get("stop_text_encoder_training_pct"):
            arguments.pop("stop_text_encoder_training", None)
            self._draft.note(_("A percentage of steps after which the text encoder stops is left out."))

    def _samples(self) -> None:
        prompts = self._data.get("sample_prompts")
        if not isinstance(prompts, str) or not prompts.strip():
            return
        if "\n" not in prompts.strip() and Path(prompts.strip()).suffix.lower() in _PROMPT_FILES:
            self._draft.arguments["sample_prompts"] = prompts.strip()
            return
        self._draft.note(
            _(
                "The GUI keeps the prompts of samples in its settings; the trainer reads a file. Write them "
                "into one and name it as sample_prompts."
            )
        )

    def _launch(self) -> None:
        words: list[str] = []
        for name in _LAUNCH:
            value = self._data.get(name)
            if value not in (None, "", 0):
                words += [f"--{name}", str(int(value)) if isinstance(value, float) else str(value)]
        extra = str(self._data.get("extra_accelerate_launch_args") or "").replace('"', "").split()
        take_launch_words(self._draft, [*words, *extra])


def _says_something(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", []) and not isinstance(value, dict)
