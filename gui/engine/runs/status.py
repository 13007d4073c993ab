"""What is true about a run now: ``status.json``, all that a viewer needs at a glance."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.preferences import NonfinitePolicy
from gui.engine.runs.events import FileKind, StopReason, StopStage, TroubleKind
from gui.engine.runs.records import Versioned
from gui.engine.trainer.events import Figure, PhaseName

RunState = Literal["starting", "running", "paused", "stopping", "checking", "ended"]
"""``checking`` is when the trainer is gone and its last file is being looked at."""

VerdictWord = Literal["finished", "nothing-trained", "suspect", "failed", "stopped", "unknown"]
Weights = Literal["finite", "nonfinite", "incomplete", "missing", "old", "not checked"]


class Cause(Document):
    """One likely reason of a failure; the whole diagnosis is one command away.

    Attributes:
        id: The diagnosis.
        title: One plain sentence.
    """

    id: str
    title: str


class Verdict(Document):
    """How a run ended, in truth.

    Attributes:
        verdict: The word.
        reason: What decided it, for programs: ``done``, ``user``, ``guard``, ``disk-full``, ``rebooted``, …
        sentence: For the user: what happened and what is left.
        exit_status: Of the trainer's command; negative for a signal, None when nobody could see it.
        step: The last step.
        total: How many there were to be.
        loss: The last finite loss.
        first_nonfinite_step: Where the loss stopped being a number.
        weights: What the last file is.
        final: The last file.
        clean: Files that are safe to use, in order; the last one is the newest.
        doubtful: Files that were saved but are not clean, in order.
        causes: Likely reasons, the likeliest first; empty where all is well.
    """

    verdict: VerdictWord
    reason: str = ""
    sentence: str = ""
    exit_status: int | None = None
    step: int | None = None
    total: int | None = None
    loss: Figure = None
    first_nonfinite_step: int | None = None
    weights: Weights | None = None
    final: Path | None = None
    clean: tuple[Path, ...] = ()
    doubtful: tuple[Path, ...] = ()
    causes: tuple[Cause, ...] = ()


class BarNow(Document):
    """A bar that does not count steps, as last drawn."""

    name: str
    done: int
    total: int | None


class GuardNow(Document):
    """What the guard does.

    Attributes:
        policy: As the plan asks.
        acts_as: As it can be done: ``confirm`` needs the tracker's log and acts as ``stop`` without.
        state: ``quiet``, ``watching`` a loss that is not finite yet unconfirmed, ``warned``, ``stopped``.
        accepted: Whether the user said to go on all the same.
        asks: Whether it waits for the user to say ``stop`` or ``accept``.
        step: The step whose loss it spoke of last.
        sentence: What it said last.
    """

    policy: NonfinitePolicy
    acts_as: NonfinitePolicy
    state: Literal["quiet", "watching", "warned", "stopped"] = "quiet"
    accepted: bool = False
    asks: bool = False
    step: int | None = None
    sentence: str = ""


class TroubleNow(Document):
    """Something that goes wrong now, or did until the run ended.

    Attributes:
        id: As in the event.
        since: Seconds since the trainer started, None where that is not known.
        step: The step that the run was at when it was noticed.
        sentence: For the user.
        cause: As in the event.
    """

    id: TroubleKind
    since: float | None = None
    step: int | None = None
    sentence: str
    cause: str = ""


class StopNow(Document):
    """A stop that was asked for.

    Attributes:
        reason: Who wanted it.
        stage: How far it is; None while the next save is awaited.
        sentence: What happens now.
    """

    reason: StopReason
    stage: StopStage | None = None
    sentence: str = ""


class FileNow(Document):
    """A model or state that the run has written.

    Attributes:
        path: Where, absolute.
        kind: What it is.
        complete: Whether all of it is there.
        size: Bytes.
        step: The step that the run was at when it appeared.
        judgement: What its weights are like, as in the event; None while it waits to be looked at.
        sentence: The judgement in words.
        kept_as: The link or copy that keeps it, where one was made.
        removed: Whether the trainer has removed it since, as ``save_last_n_*`` asks.
        modified_ns: Its time when it was looked at, which tells it from another one of its name; None
            until then, and where nobody noted it.
    """

    path: Path
    kind: FileKind
    complete: bool
    size: int
    step: int | None = None
    judgement: str | None = None
    sentence: str = ""
    kept_as: Path | None = None
    removed: bool = False
    modified_ns: int | None = None


class GpuNow(Document):
    """A GPU as last sampled.

    Attributes:
        index: In NVML's order.
        uuid: Its lasting name.
        name: The model.
        used_bytes: Of all processes.
        total_bytes: Of the device.
        process_bytes: Of this run's processes; None where the driver does not tell.
        peak_process_bytes: The most so far.
        peak_used_bytes: The most so far, of all processes.
        shared_bytes: RAM that the GPU uses for this run's processes; None where not told (all but Windows).
        others_bytes: Of other programs.
        torch_allocated_bytes: What tensors take, by the hook in the trainer; None without it.
        torch_reserved_bytes: What torch's allocator holds, likewise.
        utilisation_percent: Of the last moment.
        temperature_c: Degrees Celsius.
        power_w: Watts.
    """

    index: int
    uuid: str
    name: str = ""
    used_bytes: int | None = None
    total_bytes: int | None = None
    process_bytes: int | None = None
    peak_process_bytes: int | None = None
    peak_used_bytes: int | None = None
    shared_bytes: int | None = None
    others_bytes: int | None = None
    torch_allocated_bytes: int | None = None
    torch_reserved_bytes: int | None = None
    utilisation_percent: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None


class HostNow(Document):
    """The machine as last sampled.

    Attributes:
        tree_rss_bytes: Memory of the trainer's processes; what they share counts once for each.
        tree_pss_bytes: What they really hold, None where it cannot be known.
        peak_tree_rss_bytes: The most so far.
        tree_processes: How many there are.
        ram_available_bytes: What other programs could still have.
        disk_free_bytes: Folder to room left on its disk.
    """

    tree_rss_bytes: int = 0
    tree_pss_bytes: int | None = None
    peak_tree_rss_bytes: int = 0
    tree_processes: int = 0
    ram_available_bytes: int | None = None
    disk_free_bytes: dict[str, int] = Field(default_factory=dict)


class RunStatus(Versioned):
    """What is true about a run now.

    Attributes:
        name: The run's name.
        plan_name: The plan's.
        practice: Whether the practice trainer runs; said wherever the run is shown.
        state: What the run as a whole is doing.
        phase: What the trainer is doing.
        bar: Its other bar, where one moves.
        step: Steps done.
        total: How many there are to be.
        begun_at: Steps of the whole training that were done before, where it goes on from a state.
        whole: Steps of the whole training, likewise.
        epoch: Counted from 1.
        epochs: How many there are to be.
        avr_loss: The trainer's moving mean.
        loss: The last step's own loss, from the tracker.
        finite_loss: The last finite one of either.
        learning_rates: From the tracker, by its own names.
        rate: Steps a second now.
        mean_rate: Steps a second since the first.
        elapsed_seconds: Since the trainer started, stretches of pause included.
        remaining_seconds: By the rate now; None where it cannot be told.
        first_nonfinite_step: Where the loss stopped being a number.
        loss_before: The last finite loss before that.
        warnings: How many the trainer gave.
        errors: How many.
        last_warning: The newest warning or error of the trainer.
        guard: What the guard does.
        stop: A stop that was asked for.
        files: Models and states, oldest first: the newest two hundred, and the last clean ones before.
        samples: How many sample images there are.
        last_sample: The newest.
        gpus: As last sampled.
        gpu_problem: Why there are none.
        host: As last sampled.
        notices: What the user should know, in order.
        troubles: What goes wrong now, as a supervisor sees it over time.
        log_bytes: How much of output.log was read.
        supervisor_pid: Who writes this.
        trainer_pid: The trainer's first process.
        verdict: How it ended, once it has.
        written: Local time of day, for reading only.
    """

    name: str
    plan_name: str = ""
    practice: bool = False
    state: RunState = "starting"
    phase: PhaseName | None = None
    bar: BarNow | None = None
    step: int | None = None
    total: int | None = None
    begun_at: int | None = None
    whole: int | None = None
    epoch: int | None = None
    epochs: int | None = None
    avr_loss: Figure = None
    loss: Figure = None
    finite_loss: float | None = None
    learning_rates: dict[str, Figure] = Field(default_factory=dict)
    rate: float | None = None
    mean_rate: float | None = None
    elapsed_seconds: float | None = None
    remaining_seconds: float | None = None
    first_nonfinite_step: int | None = None
    loss_before: float | None = None
    warnings: int = 0
    errors: int = 0
    last_warning: str = ""
    guard: GuardNow | None = None
    stop: StopNow | None = None
    files: tuple[FileNow, ...] = ()
    samples: int = 0
    last_sample: Path | None = None
    gpus: tuple[GpuNow, ...] = ()
    gpu_problem: str | None = None
    host: HostNow = Field(default_factory=HostNow)
    notices: tuple[str, ...] = ()
    troubles: tuple[TroubleNow, ...] = ()
    log_bytes: int = 0
    supervisor_pid: int | None = None
    trainer_pid: int | None = None
    verdict: Verdict | None = None
    written: str = ""

    @property
    def busiest_gpu(self) -> GpuNow | None:
        """The GPU that the run has taken most of; None before one was seen."""
        return max(self.gpus, key=lambda gpu: (gpu.peak_process_bytes or 0, -gpu.index), default=None)
