"""What the trainer's sentences mean (trainer-facts 7.2).

Messages are bilingual, ``English / 日本語``: only the English half is read, since some consoles
print the other as mojibake.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gui.engine.trainer.events import PhaseName


class Meaning(NamedTuple):
    """What one sentence says.

    Attributes:
        kind: ``phase``, ``epoch``, ``saved``, ``state``, ``last-state``, ``setting``, ``warning``,
            ``error`` or ``missing`` (an error that the trainer logs as mere information).
        name: The phase, or the name of the setting, else empty.
        value: The path, the value, or the words.
        total: The number of epochs.
        source: The file and line of a Python warning.
    """

    kind: str
    name: str = ""
    value: str = ""
    total: int = 0
    source: str | None = None


_PHASES: tuple[tuple[str, PhaseName], ...] = (
    ("caching latents", "caching-latents"),
    ("caching Text Encoder outputs", "caching-text"),
    ("caching text encoder outputs", "caching-text"),
    ("generating sample images at", "sampling"),
    ("saving state at", "saving"),
    ("model saved.", "done"),
    ("loading model for process", "loading"),
    ("load StableDiffusion checkpoint", "loading"),
    ("import network module", "loading"),
    ("create LoRA network", "loading"),
    ("prepare optimizer, data loader", "loading"),
)

_BARE_WARNINGS = (
    "NaN found in latents",
    "no regularization images",
    "No caption file found for",
    "neither caption file nor class tokens",
    "some of reg images are not used",
    "ignore directory without repeats",
    "ignore duplicated subset",
    "failed to get image size",
    "zero_terminal_snr is enabled",
    "learning rate is too low",
    "because max_grad_norm is set",
    "cache_latents_to_disk is enabled",
)
_BARE_ERRORS = (
    "No data found. Please verify",
    "Error loading file:",
    "illegal char in file",
    "Invalid user config",
    "Config file already exists",
    "No prompt file",
    "failed to upload to HuggingFace",
)

_HEADER = (
    r"(?P<header>num train images \* repeats|num validation images \* repeats|num reg images"
    r"|num batches per epoch|num epochs|num examples|batch size per device"
    r"|gradient a?ccumulation steps|total optimization steps|total train batch size)"
    r"(?: \([^)]*\))? / .*?[:=] *(?P<header_value>[\d., ]+?)\s*$"
)
_SENTENCE = re.compile(
    r"\s*(?:"
    r"epoch (?P<epoch>\d{1,9})/(?P<epochs>\d{1,9})\s*$"
    r"|saving checkpoint: *(?P<saved>.+)"
    r"|saving model: *(?P<saved_folder>.+)"
    r"|save trained model as (?:StableDiffusion checkpoint|Diffusers)[^/\\]*? to (?P<saved_last>.+)"
    r"|Saving current state to (?P<state>.+)"
    r"|(?P<last_state>saving last state)"
    r"|" + _HEADER + r"|number of trainable parameters: (?P<parameters>\d+)"
    r"|override steps\. steps for .*?: *(?P<override>\d+)\s*$"
    r"|accelerator device: (?P<device>\S+)"
    r"|use (?P<optimizer>[\w.\- ]+?) optimizer \|"
    r"|(?P<images>\d+) train images with repeat"
    r"|(?P<reg_images>\d+) reg images"
    r"|unet dtype: (?P<unet_dtype>[\w.]+)"
    r"|Saved config file / [^:]*: *(?P<config>.+)"
    r"|(?P<missing>\S.*\.toml not found\.)\s*$"
    r"|(?P<phase>" + "|".join(re.escape(words) for words, _phase in _PHASES) + r")"
    r"|(?P<bare_warning>" + "|".join(map(re.escape, _BARE_WARNINGS)) + r")"
    r"|(?P<bare_error>" + "|".join(map(re.escape, _BARE_ERRORS)) + r")"
    r")"
)
_SETTINGS = {
    "parameters": "number of trainable parameters",
    "override": "override steps",
    "device": "accelerator device",
    "optimizer": "optimizer",
    "images": "train images with repeats",
    "reg_images": "reg images with repeats",
    "unet_dtype": "unet dtype",
    "config": "saved config file",
}
_OTHERS = {
    "saved": ("saved", ""),
    "saved_folder": ("saved", ""),
    "saved_last": ("saved", "final"),
    "state": ("state", ""),
    "last_state": ("last-state", ""),
    "bare_warning": ("warning", ""),
    "bare_error": ("error", ""),
    "missing": ("missing", ""),
}
_WHOLE = ("bare_warning", "bare_error")
_REFUSALS = re.compile(
    r"(?:\S+\.py|accelerate(?: <command>)?[\w \[\]<>.-]*): error: (?P<refusal>.+)"
    r"|\S*python[\d.]*(?:\.exe)?: (?P<python>(?:can't open file|No module named) .+)"
    r"|(?P<shell>'accelerate' is not recognized.*|.*\baccelerate: (?:command )?not found.*)"
    r"|(?P<fatal>Fatal Python error: .+)"
    r"|(?P<driver>Error (?:no kernel image|invalid device function|out of memory).* at line \d+ in file .*)"
)
_PYTHON_WARNING = re.compile(r"(?P<file>(?:[A-Za-z]:)?[^:]*\.pyx?):(?P<line>\d+): (?P<words>\w*Warning: .+)")
_ELASTIC = re.compile(r"[EW]\d{4} [\d:.]+ \d+ (?P<place>\S+)\] (?P<words>.+)")

starts_telling = re.compile(
    rb"\s{0,40}(?:\d{4}-\d\d-\d\d |INFO|WARNING|ERROR|CRITICAL|DEBUG|\[|Traceback|File \"|"
    rb"epoch \d|sav|Sav|num|total |batch size|gradient |override|accelerat|'accelerat|use |"
    rb"\d+ (?:train|reg) |unet |cach|gener|model saved|load|import net|create LoRA|prepare opt|"
    rb"[EW]\d{4} |\xe2\x95\xad|Error|NaN|no reg|No |neither|some of|ignore|failed to|zero_term|"
    rb"learning rate|because|illegal|Invalid|Config|Fatal|[\w.]*(?:Error|Exception|Interrupt|Invalid|BadZip))"
).match
"""Tells whether a bare line starts like one that may mean something."""

LOUD = (b"\r", b"]", b"Warning: ", b"python", b": error: ", b" not found")
"""What can make a line matter wherever it stands in it."""


def may_matter(raw: bytes) -> bool:
    """Tell cheaply whether a bare line may mean something; most lines of a chatty library do not."""
    return (
        starts_telling(raw) is not None
        or b"Warning: " in raw
        or b"python" in raw
        or b": error: " in raw
        or b" not found" in raw
    )


def read_sentence(text: str) -> Meaning | None:
    """Read the message of a record or a bare line; None where it says nothing of interest."""
    match = _SENTENCE.match(text)
    if match is None:
        return None
    kind = match.lastgroup or ""
    value = match[kind].strip()
    if kind in _SETTINGS:
        return Meaning("setting", _SETTINGS[kind], value)
    if kind == "header_value":
        return Meaning("setting", match["header"].replace(" ccum", " accum"), value)
    if kind == "epochs":
        return Meaning("epoch", value=match["epoch"], total=int(value))
    if kind == "phase":
        return Meaning("phase", next(phase for words, phase in _PHASES if words == value))
    return Meaning(*_OTHERS[kind], value=text.strip() if kind in _WHOLE else value)


def read_bare_line(text: str) -> Meaning | None:
    """Read a line that no logger laid out: a print, a refusal, a Python warning."""
    refusal = _REFUSALS.match(text)
    if refusal:
        return Meaning("error", value=refusal[refusal.lastgroup or 0].strip())
    warning = _PYTHON_WARNING.match(text)
    if warning:
        name = re.split(r"[\\/]", warning["file"])[-1]
        return Meaning("warning", value=warning["words"], source=f"{name}:{warning['line']}")
    elastic = _ELASTIC.match(text)
    if elastic:
        return Meaning("warning", value=elastic["words"], source=elastic["place"])
    return read_sentence(text)
