"""The Run page's own sentences: how far a run is, how fast, and what a file is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from gui.engine.quantities import about, exact, gib
from gui.engine.runs.events import RequestKind
from gui.engine.runs.figures import size
from gui.engine.runs.status import FileNow, GpuNow, RunStatus
from gui.engine.runs.words import Words
from gui.engine.texts import _
from gui.engine.trainer.output.sentences import phase_words
from gui.window.widgets.chip import Tone

Clock = Callable[[], float]

DAY_SECONDS = 20 * 3600
"""An end that is further away is told with its day."""

TONES: dict[str, Tone] = {"plain": "neutral", "good": "good", "warn": "warn", "bad": "bad"}
"""The window's tones for those of the engine's words."""


def progress_words(status: RunStatus, now: Clock = time.time) -> str:
    """Return how far a run is, how fast it is, and when it ends, in one line."""
    parts = [_steps(status), _epochs(status)]
    if status.elapsed_seconds is not None:
        parts.append(exact(status.elapsed_seconds))
    parts.append(_pace(status))
    if status.state == "running" and status.remaining_seconds is not None and status.verdict is None:
        parts.append(_left(status.remaining_seconds, now()))
    return " · ".join(part for part in parts if part)


def _steps(status: RunStatus) -> str:
    if status.step is None:
        return "" if status.verdict is not None else _("before the first step")
    if status.total is None:
        return _("step {step}").format(step=f"{status.step:,}")
    words = _("step {step} of {total}").format(step=f"{status.step:,}", total=f"{status.total:,}")
    if status.begun_at is None or status.whole is None:
        return words
    # It goes on from a state: where it stands in the whole training is what matters to people.
    return _("{words} ({done} of {whole} in all)").format(
        words=words, done=f"{status.begun_at + status.step:,}", whole=f"{status.whole:,}"
    )


def _epochs(status: RunStatus) -> str:
    if status.epoch is None or status.epochs is None:
        return ""
    return _("epoch {epoch} of {epochs}").format(epoch=status.epoch, epochs=status.epochs)


def _pace(status: RunStatus) -> str:
    mean = status.mean_rate
    now = status.rate if status.state in ("running", "paused") else None
    if not mean and not now:
        return ""
    slow = (mean or now or 0.0) < 1

    def value(rate: float) -> str:
        return f"{1 / rate if slow else rate:.2f}"

    values = {"now": value(now) if now else "", "mean": value(mean) if mean else ""}
    if now and mean:
        text = (
            _("{now} s a step ({mean} on average)") if slow else _("{now} steps a second ({mean} on average)")
        )
    elif mean:
        text = _("{mean} s a step on average") if slow else _("{mean} steps a second on average")
    else:
        text = _("{now} s a step") if slow else _("{now} steps a second")
    return text.format(**values)


def _left(seconds: float, now: float) -> str:
    end = time.localtime(now + seconds)
    clock = time.strftime("%a %H:%M" if seconds > DAY_SECONDS else "%H:%M", end)
    return _("{duration} left, ends {clock}").format(duration=about(seconds), clock=clock)


def phase_line(status: RunStatus) -> str:
    """Return what is done before the first step and after the last, with its bar; "" while it trains.

    Saves and samples in between come and go within a moment: the state's chip tells of them.
    """
    if status.state == "checking":
        return _("Looking at the saved files …")
    if status.verdict is not None or status.step is not None or status.phase in (None, "training", "done"):
        return ""
    words = _sentence(phase_words(status.phase))
    if status.bar is None:
        return _("{what} …").format(what=words)
    done = f"{status.bar.done:,}"
    if status.bar.total is None:
        return _("{what}: {done}").format(what=words, done=done)
    return _("{what}: {done} of {total}").format(what=words, done=done, total=f"{status.bar.total:,}")


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def progress_of(status: RunStatus) -> tuple[int, int]:
    """Return how much of how much is done, as a bar shows it; of 0 where nobody knows."""
    if status.bar is not None and status.bar.total and status.step is None:
        return status.bar.done, status.bar.total
    if status.verdict is None and (status.step is None or not status.total):
        return 0, 0
    return status.step or 0, status.total or max(1, status.step or 0)


def why_not(kind: RequestKind, status: RunStatus | None) -> str:
    """Return why something cannot be asked of a run now, "" where it can."""
    if status is None:
        return _("The run cannot be read now.")
    if status.state in ("checking", "ended") or status.verdict is not None:
        return _("The training is over.")
    stopping = status.state == "stopping" or (status.stop is not None and status.stop.stage is not None)
    if stopping and kind != "stop":
        return _("The training is being stopped already.")
    if kind == "stop-after-save" and status.stop is not None:
        return status.stop.sentence or _("The training will be stopped after the next save.")
    if kind == "pause" and status.state == "starting":
        return _("There is nothing to pause yet.")
    return ""


class LossOnStop(NamedTuple):
    """What stopping now costs.

    Attributes:
        question: In one line.
        detail: What is lost, and what is left.
    """

    question: str
    detail: str


def loss_on_stop(status: RunStatus | None) -> LossOnStop:
    """Return the question that is asked before a run is stopped at once."""
    step = status.step if status is not None else None
    question = _("Stop this training now?")
    if step is None:
        return LossOnStop(question, _("It has not made a step yet; nothing is saved."))
    models = [file for file in status.files if file.kind == "model" and not file.removed] if status else []
    states = [file for file in status.files if file.kind == "state" and not file.removed] if status else []
    if not models:
        text = _("Nothing was saved yet: all {step} steps are lost.").format(step=f"{step:,}")
        return LossOnStop(question, text)
    newest = models[-1]
    text = _("The steps since the last save are lost. The last file is {file}.")
    if newest.step is not None:
        text = _("The {lost} steps since the last save are lost. The last file is {file}, of step {saved}.")
    words = text.format(
        lost=f"{max(0, step - (newest.step or 0)):,}", file=newest.path.name, saved=f"{newest.step or 0:,}"
    )
    if not states:
        words += " " + _("No training state was saved, so it cannot go on from there exactly as it was.")
    return LossOnStop(question, words)


def gpu_words(gpu: GpuNow, *, over: bool, forecast_bytes: float | None = None) -> str:
    """Return a GPU's memory in words: now, peak, what was forecast, and of how much."""
    parts = []
    if gpu.used_bytes is not None and not over:
        parts.append(_("now {amount}").format(amount=gib(gpu.used_bytes)))
    if gpu.peak_used_bytes is not None:
        parts.append(_("peak {amount}").format(amount=gib(gpu.peak_used_bytes)))
    if gpu.peak_process_bytes is not None:
        parts.append(_("this run {amount}").format(amount=gib(gpu.peak_process_bytes)))
    if forecast_bytes is not None:
        parts.append(_("forecast {amount}").format(amount=gib(forecast_bytes)))
    words = " · ".join(parts)
    if gpu.total_bytes is not None:
        words = _("{words} of {total}").format(words=words, total=gib(gpu.total_bytes))
    return words


def host_words(status: RunStatus) -> str:
    """Return the machine's memory and disks in a line."""
    host, parts = status.host, []
    held = host.tree_pss_bytes if host.tree_pss_bytes is not None else host.tree_rss_bytes
    if held and status.verdict is None:
        parts.append(_("RAM {amount} of the trainer").format(amount=gib(held)))
    if host.peak_tree_rss_bytes:
        text = _("peak {amount}") if parts else _("RAM peak {amount} of the trainer")
        parts.append(text.format(amount=gib(host.peak_tree_rss_bytes)))
    if host.ram_available_bytes is not None and status.verdict is None:
        parts.append(_("{amount} free").format(amount=gib(host.ram_available_bytes)))
    if host.disk_free_bytes:
        parts.append(_("disk {amount} free").format(amount=gib(min(host.disk_free_bytes.values()))))
    return " · ".join(parts)


def file_chip(file: FileNow) -> Words:
    """Return what a saved file is, in a word or two; a state is only known to be whole."""
    if file.removed:
        return Words("plain", _("removed"))
    if not file.complete:
        return Words("plain", _("being written"))
    if file.judgement is None:
        return Words("plain", _("state") if file.kind == "state" else _("not checked yet"))
    known = {
        "clean": Words("good", _("clean")),
        "grown": Words("warn", _("grown")),
        "incomplete": Words("bad", _("broken")),
        "nonfinite": Words("bad", _("broken")),
        "after-nonfinite": Words("bad", _("after the break")),
        "not-checked": Words("warn", _("not checked")),
    }
    return known.get(file.judgement, Words("plain", file.judgement))


def file_line(file: FileNow) -> str:
    """Return a saved file's step and size."""
    step = _("step {step}").format(step=f"{file.step:,}") if file.step is not None else ""
    return " · ".join(part for part in (step, size(file.size)) if part)
