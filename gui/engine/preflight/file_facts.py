"""Facts about the files beside a plan: images, captions and caches at a quick look, and saved states."""

from __future__ import annotations

from typing import Literal

from gui.engine.documents import Document
from gui.engine.trainer.saved_state import steps_behind


class ImageFault(Document):
    """An image that the trainer would stumble over.

    Attributes:
        name: Its file name.
        kind: ``unreadable`` (broken or cut off), ``format`` (something else than its name says),
            ``large`` (above 64 million pixels), ``bomb`` (so large that Pillow refuses it).
        what: What it is instead, or its size, in words; empty when that is not known.
    """

    name: str
    kind: Literal["unreadable", "format", "large", "bomb"]
    what: str = ""


class CaptionFault(Document):
    """A caption file that the trainer would stumble over, or read otherwise than it looks.

    Attributes:
        name: Its file name.
        kind: ``empty`` (no line at all), ``blank`` (the first line is blank), ``encoding`` (no
            UTF-8), ``mark`` (begins with a byte order mark, which is read as a letter).
    """

    name: str
    kind: Literal["empty", "blank", "encoding", "mark"]


class CacheFact(Document):
    """What lies beside the images of one folder of the caches that the plan would use again.

    Attributes:
        looked: How many images' caches were looked for.
        text: Cached text encoder outputs.
        latents: Cached latents.
        stale_text: Of ``text``, how many are older than their caption.
        stale_latents: Of ``latents``, how many are older than their image.
        other_size: Of ``latents``, how many are for another bucket than the plan's.
        damaged: Names of those that cannot be read.
        old_style: Names of caches that are taken whatever they hold (strategy_sd.py:153).
        stale_list: Whether the list that ``cache_info`` keeps is older than an image or a caption in it.
    """

    looked: int = 0
    text: int = 0
    latents: int = 0
    stale_text: int = 0
    stale_latents: int = 0
    other_size: int = 0
    damaged: tuple[str, ...] = ()
    old_style: tuple[str, ...] = ()
    stale_list: bool = False


class PairsFact(Document):
    """How images and their conditioning images fit together.

    Attributes:
        without: Names of images that have none.
        surplus: Names of conditioning images that belong to no image.
        other_size: Names of images whose conditioning image has another size.
    """

    without: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
    other_size: tuple[str, ...] = ()


class StateFact(Document):
    """A folder that the plan resumes from.

    Attributes:
        path: The folder.
        has_optimizer: Whether it holds the optimizer's state.
        lacks: Files that loading it needs, such as ``scheduler.bin``, and that are not in it as a whole.
        has_scaler: Whether it holds the state of fp16's scaler; None when that is not known.
        has_random: Whether it holds the state of the random numbers.
        finite: Whether all numbers of its weights are finite; None when they were not looked at.
        step: The step that it says it was saved at; None when it says nothing. A training that goes on
            counts anew, and its states say so few.
        scheduled: How often its schedule was moved, over all its trainings; None when not known.
        rates: The base learning rates of its parameter groups; empty when not known.
        step_in_name: The step, or the epoch, that its name tells; None when it tells none.
        counts: What ``step_in_name`` counts.
        rank: The rank of the network in it; None when that is not known.
        trains_text: Whether its network has parts for a text encoder; None when not known.
        optimizer: How the saved file beside it was optimised, in the trainer's words; None: not known.
        network: The saved file beside it; None when there is none.
        module: The network module of that file; None when not known.
        precision: ``mixed_precision`` of that training; None when not known.
    """

    path: str
    has_optimizer: bool = False
    lacks: tuple[str, ...] = ()
    has_scaler: bool | None = None
    has_random: bool = True
    finite: bool | None = None
    step: int | None = None
    scheduled: int | None = None
    rates: tuple[float, ...] = ()
    step_in_name: int | None = None
    counts: Literal["steps", "epochs"] | None = None
    rank: int | None = None
    trains_text: bool | None = None
    optimizer: str | None = None
    network: str | None = None
    module: str | None = None
    precision: str | None = None

    def behind(self, processes: int) -> int | None:
        """Return how many optimizer steps are behind it in all; None when neither count tells.

        Args:
            processes: How many saved it, as far as the plan tells.
        """
        return steps_behind(self.step, self.scheduled, processes)
