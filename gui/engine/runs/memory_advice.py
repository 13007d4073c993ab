"""What a run's measured memory is good for: a larger batch next time, or what would have made room."""

from __future__ import annotations

from typing import Literal

from gui.engine.documents import Document
from gui.engine.errors import PreflightError
from gui.engine.hardware.host import operating_system
from gui.engine.hardware.memory.advice import Advised, Ask, advise, high_of, spend
from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.fit import fit
from gui.engine.hardware.memory.forecast import forecast
from gui.engine.hardware.memory.ladder import Ways
from gui.engine.hardware.memory.learning import MemoryLearning, learned
from gui.engine.hardware.memory.observations import Machine, MemoryExpectation, observe
from gui.engine.hardware.memory.room import Room
from gui.engine.hardware.memory.tables import load_tables
from gui.engine.paths import Home
from gui.engine.preflight.checking import checker_for
from gui.engine.preflight.facts import Facts, GpuFact
from gui.engine.preflight.rules.memory_needs import ways_of
from gui.engine.quantities import GIB
from gui.engine.runs.folder import RunFolder, home_of
from gui.engine.runs.records import Manifest
from gui.engine.runs.reuse import plan_of_run
from gui.engine.runs.trained_gpu import TrainedGpu, trained_gpu
from gui.engine.texts import _


class RunAdvice(Document):
    """What to change next time.

    Attributes:
        kind: ``room``: something is left over; ``tight``: next to nothing is, or less.
        sentence: What was measured.
        advised: What could be changed about it.
    """

    kind: Literal["room", "tight"]
    sentence: str
    advised: Advised


def expected_memory(run: RunFolder) -> MemoryExpectation | None:
    """Return what memory a run was expected to need; None where nothing was.

    Args:
        run: Its folder.
    """
    try:
        return Manifest.read(run.manifest).memory
    except (PreflightError, OSError):
        return None


def memory_advice(run: RunFolder) -> RunAdvice | None:
    """Return what a run's own figures advise; None where there is nothing to say.

    The forecast is corrected by what the run needs, and by what runs before it needed.

    Args:
        run: Its folder; it may still train.

    Raises:
        CannotRead: Its record, or what the program knows of memory, cannot be read.
    """
    manifest = Manifest.read(run.manifest)
    measured = trained_gpu(run)
    if manifest.memory is None or manifest.practice or measured is None or not measured.gpu.total:
        return None
    room, ask = _room(measured), _ask(run, manifest, manifest.memory, measured)
    question = manifest.memory.question
    needed = ask(question)
    if needed.unknown is not None:
        return None
    ways = _ways(run, measured)
    if high_of(needed) > room.usable or measured.at_limit:
        advised = advise(question, room, ways, ask)
        return RunAdvice(kind="tight", sentence=_tight_words(measured, room), advised=advised)
    advised = spend(question, room, ways, ask)
    if not advised.advice:
        return None
    text = _("Of the GPU’s memory about {gib:.1f} GiB are left over at its fullest.")
    spare = room.usable - high_of(needed)
    return RunAdvice(kind="room", sentence=text.format(gib=spare), advised=advised)


def _tight_words(measured: TrainedGpu, room: Room) -> str:
    if measured.spilled:
        return _("The GPU’s memory does not do for this training: it spills over into the RAM.")
    text = _("Of the {gib:.1f} GiB that this training can have, next to nothing is left over.")
    return text.format(gib=room.free)


def _room(measured: TrainedGpu) -> Room:
    """Return what there is for the run: all that others do not hold."""
    peaks, total = measured.peaks, (measured.gpu.total or 0) / GIB
    others = max(0, peaks.used - peaks.process) / GIB if peaks.used and peaks.process else 0.0
    return Room.of(total, total - others, operating_system())


def _ask(run: RunFolder, manifest: Manifest, expected: MemoryExpectation, measured: TrainedGpu) -> Ask:
    """Return what forecasts on this machine, by what this run has shown too."""
    prior = load_figures().prior(operating_system())
    machine = Machine(gpu=measured.gpu.uuid, torch=manifest.torch or "", driver=manifest.driver or "")
    seen = observe(expected, measured.step(), machine, run=run.name)
    home = home_of(run)
    earlier = learned(home, machine.gpu).observations if home is not None else ()
    observations = tuple(each for each in earlier if each.run != run.name) + ((seen,) if seen else ())
    learning = MemoryLearning(
        schema=1, gpu=machine.gpu, observations=observations, fitted=fit(observations, prior)
    )
    tables = load_tables()
    return lambda asked: forecast(asked, tables, learning.correction(asked, prior, machine.software))


def _ways(run: RunFolder, measured: TrainedGpu) -> Ways:
    """Return what of the run's plan can be changed; nothing but the plan itself is looked at."""
    file = plan_of_run(run)
    gpu = GpuFact(vram_gib=(measured.gpu.total or 0) / GIB)
    facts = Facts(os=operating_system(), gpu=(gpu,))
    home = home_of(run) or Home(run.path)
    view, _findings = checker_for(file.base, None, home, machine=facts).view(file.plan)
    return ways_of(view) if view is not None else Ways()
