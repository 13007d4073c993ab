"""Forecasts what a run would write: saves, states, samples, caches, log.

Source: trainer-facts 2.3, 2.4, 7.4 (train_network.py:1497, 1694, train_util.py:5771-5815, 5942-5990);
the sizes of models are counted (``resources/model_sizes.yaml``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gui.engine.documents import Document
from gui.engine.plan.model_sizes import ModelSize, model_size
from gui.engine.preflight.steps import StepsForecast, forecast_steps
from gui.engine.preflight.view import View, as_size
from gui.engine.quantities import GIB

BYTES_OF = {"float": 4, "fp32": 4, "fp16": 2, "bf16": 2}
"""Bytes of a number in the formats that ``save_precision`` knows."""

FULL_BYTES = 4

OPTIMIZER_BYTES: dict[str, int] = {
    "adamw8bit": 2,
    "pagedadamw8bit": 2,
    "lion8bit": 1,
    "pagedlion8bit": 1,
    "lion": 4,
    "adafactor": 0,
    "sgdnesterov": 4,
    "sgdnesterov8bit": 1,
    "prodigy": 16,
}
"""Bytes that an optimizer keeps for each parameter, in a saved state; two numbers where not named."""

USUAL_OPTIMIZER_BYTES = 8

PROMPTS_ASSUMED = 4
"""Sample prompts, whose file is not read here."""

SAMPLE_BYTES_PER_PX = 1.5
"""A PNG of a photograph takes about half of its 3 bytes a pixel."""

SAMPLE_PX = (512, 512)
"""The trainer's size of samples where a prompt names none (train_util.py:6506)."""

SENSELESS_PX = 100_000
"""No image has such a side; nothing is forecast for it."""

LOG_BYTES_PER_STEP = 1_000
"""Two to three redraws of the bar, the tracker's file, and this program's own notes of each step."""

TRAINERS_OWN = "networks."
"""How the names of the trainer's own modules begin; the size of others is not known."""


class DiskForecast(Document):
    """What a run would write, in bytes.

    Attributes:
        save_bytes: One saved model; None when its size is not known.
        saves: How many models are there at the end, the last one included.
        state_bytes: One saved state.
        states: How many states are there at the end.
        samples_bytes: All sample images.
        caches_bytes: Caches of latents and captions, beside the images.
        log_bytes: Log, tracker and notes.
    """

    save_bytes: int | None = None
    saves: int = 1
    state_bytes: int = 0
    states: int = 0
    samples_bytes: int = 0
    caches_bytes: int = 0
    log_bytes: int = 0

    @property
    def output_bytes(self) -> int:
        """What is written to the output folder and the run's own."""
        models = (self.save_bytes or 0) * self.saves + self.state_bytes * self.states
        return models + self.samples_bytes + self.log_bytes

    @property
    def total_gib(self) -> float:
        """All of it, GiB."""
        return (self.output_bytes + self.caches_bytes) / GIB


def forecast_disk(view: View) -> DiskForecast | None:
    """Return what a run would write; None when neither its length nor its model is known.

    Args:
        view: The plan and the facts.
    """
    size = model_size(view.kin.name) if view.kin else None
    if size is None:
        return None
    steps = forecast_steps(view)
    length = _length(view, steps)
    trained = _trained(view, size)
    return DiskForecast(
        save_bytes=None if trained is None else _saved(view, size, trained),
        saves=_kept(view, length) + 1,
        state_bytes=0 if trained is None else _state_bytes(view, trained),
        states=_states(view, length),
        samples_bytes=_samples(view, length),
        caches_bytes=_caches(view, size, steps.images if steps else 0),
        log_bytes=(length.steps or 0) * LOG_BYTES_PER_STEP,
    )


@dataclass(frozen=True)
class _Length:
    """How long a run is, as far as it is known: optimizer steps and epochs."""

    steps: int | None
    epochs: int | None


def _length(view: View, forecast: StepsForecast | None) -> _Length:
    if forecast is not None:
        return _Length(forecast.total_steps, forecast.epochs)
    epochs = _positive(view, "max_train_epochs")
    return _Length(None if epochs else _positive(view, "max_train_steps"), epochs)


def _trained(view: View, size: ModelSize) -> int | None:
    """Return how many parameters are trained; None when it is not known."""
    if view.trains_network:
        return _network(view, size)
    if "textual_inversion" in view.script:
        return 0
    if "lllite" in view.script:
        return None
    if "control_net" in view.script:
        return size.control
    text = size.text if view.flag("train_text_encoder") or view.script == "train_db.py" else 0
    return size.model + text


def _network(view: View, size: ModelSize) -> int | None:
    module = view.text("network_module") or ""
    rank = _positive(view, "network_dim") if view.given("network_dim") else 4
    if rank is None or not module.startswith(TRAINERS_OWN):
        return None
    if module.startswith("networks.oft") and size.oft:
        return size.oft // max(1, rank)
    pairs = view.pairs("network_args")
    conv = pairs.get("conv_dim", "")
    parameters = 0 if view.flag("network_train_text_encoder_only") else size.lora.model * rank
    if parameters and conv.isdecimal():
        parameters += size.lora.conv * int(conv) + size.lora.beside_conv * rank
    if not view.flag("network_train_unet_only"):
        parameters += size.lora.text * rank
    return parameters


def _number_bytes(view: View) -> int:
    saved = BYTES_OF.get(view.text("save_precision") or "")
    if saved:
        return saved
    return 2 if view.flag("full_bf16") or view.flag("full_fp16") else FULL_BYTES


def _saved(view: View, size: ModelSize, trained: int) -> int:
    whole = not view.trains_network and "control_net" not in view.script
    whole = whole and "textual_inversion" not in view.script
    return (size.saved if whole else trained) * _number_bytes(view)


def _state_bytes(view: View, trained: int) -> int:
    """A state holds the trained weights and what the optimizer keeps of each."""
    weights = 2 if view.flag("full_bf16") or view.flag("full_fp16") else FULL_BYTES
    return trained * (weights + OPTIMIZER_BYTES.get(view.optimizer, USUAL_OPTIMIZER_BYTES))


def _positive(view: View, name: str) -> int | None:
    number = view.number(name) if view.given(name) else None
    return int(number) if number is not None and number >= 1 else None


def _made(view: View, length: _Length) -> tuple[int, int]:
    """Return how many saves are made by epochs and by steps, the last one not counted."""
    ratio = _positive(view, "save_n_epoch_ratio")
    epochs = _positive(view, "save_every_n_epochs")
    if ratio is not None and length.epochs:
        epochs = length.epochs // ratio or 1
    every = _positive(view, "save_every_n_steps")
    by_epochs = (length.epochs - 1) // epochs if epochs and length.epochs else 0
    return by_epochs, (length.steps or 0) // every if every else 0


def _kept(view: View, length: _Length, suffix: str = "") -> int:
    """Return how many saves are left after old ones were removed (train_util.py:5786, 5796)."""
    by_epochs, by_steps = _made(view, length)
    last_epochs = _positive(view, f"save_last_n_epochs{suffix}") or _positive(view, "save_last_n_epochs")
    last_steps = _positive(view, f"save_last_n_steps{suffix}") or _positive(view, "save_last_n_steps")
    if last_epochs is not None:
        by_epochs = min(by_epochs, last_epochs)
    if last_steps is not None:
        every = _positive(view, "save_every_n_steps") or 1
        by_steps = min(by_steps, math.ceil((last_steps + 1) / every) + 1)
    return by_epochs + by_steps


def _states(view: View, length: _Length) -> int:
    if view.flag("save_state"):
        return _kept(view, length, "_state") + 1
    return 1 if view.flag("save_state_on_train_end") else 0


def _samples(view: View, length: _Length) -> int:
    if not view.given("sample_prompts"):
        return 0
    epochs, steps = _positive(view, "sample_every_n_epochs"), _positive(view, "sample_every_n_steps")
    every, of = (epochs, length.epochs) if epochs else (steps, length.steps)
    times = (of or 0) // every if every else 0
    times += view.flag("sample_at_first")
    return int(times * PROMPTS_ASSUMED * SAMPLE_PX[0] * SAMPLE_PX[1] * SAMPLE_BYTES_PER_PX)


def _caches(view: View, size: ModelSize, images: int) -> int:
    """Return the bytes of the caches beside the images; what is there already is counted too."""
    resolution = as_size(view.dataset_value("resolution"))
    total = 0.0
    if view.flag("cache_latents_to_disk") and resolution is not None and max(resolution) < SENSELESS_PX:
        places = resolution[0] * resolution[1] / size.latent.scale_px**2
        copies = 2 if any(subset.flag("flip_aug") for subset in view.subsets) else 1
        total += places * size.latent.channels * FULL_BYTES * copies * images
    if view.flag("cache_text_encoder_outputs_to_disk") and size.text_values:
        pieces = int(view.number("max_token_length") or 75) // 75 if view.script.startswith("sdxl_") else 1
        number = 2 if view.text("mixed_precision") == "fp16" else FULL_BYTES
        total += size.text_values * number * pieces * images
    return int(total)
