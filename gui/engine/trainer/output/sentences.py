"""What an event says to a person, in one line."""

from __future__ import annotations

from gui.engine.texts import _
from gui.engine.trainer.events import (
    Epoch,
    Error,
    Exit,
    LossNonfinite,
    Phase,
    PhaseName,
    Progress,
    Saved,
    Setting,
    Step,
    TrainerEvent,
    Warned,
)


def phase_words(phase: PhaseName) -> str:
    """Return what the trainer does in a phase."""
    words: dict[PhaseName, str] = {
        "loading": _("loading"),
        "caching-latents": _("caching latents"),
        "caching-text": _("caching text encoder outputs"),
        "training": _("training"),
        "validating": _("validating"),
        "sampling": _("drawing samples"),
        "saving": _("saving"),
        "done": _("done"),
    }
    return words[phase]


def sentence_of(event: TrainerEvent) -> str | None:
    """Return the event in words; None for what only moves a bar."""
    words: str | None
    match event:
        case Phase():
            words = _("{phase} …").format(phase=phase_words(event.phase))
        case Progress():
            words = _bar(event)
        case Epoch():
            words = _("epoch {epoch} of {total}").format(epoch=event.epoch, total=event.total)
        case Step():
            words = _step(event)
        case LossNonfinite():
            words = _("step {step}: the loss is {value}").format(step=event.step, value=event.value)
        case Saved():
            words = _saved(event)
        case Setting():
            words = f"{event.name}: {event.value}"
        case Warned():
            words = _warning(event)
        case Error():
            words = _error(event)
        case Exit():
            words = _("the trainer ended with status {status}").format(status=event.status)
    return words


def _bar(event: Progress) -> str | None:
    if event.done != event.total or not event.total:
        return None
    name = event.name or _("items")
    return _("{name}: {done} of {total}").format(name=name, done=event.done, total=event.total)


def _step(event: Step) -> str:
    total = "?" if event.total is None else event.total
    parts = [_("step {step} of {total}").format(step=event.step, total=total)]
    if event.avr_loss is not None:
        parts.append(_("mean loss {loss}").format(loss=f"{event.avr_loss:.3g}"))
    if event.loss is not None:
        parts.append(_("loss {loss}").format(loss=f"{event.loss:.3g}"))
    if event.rate:
        parts.append(_("{seconds} s a step").format(seconds=f"{1 / event.rate:.3g}"))
    return ", ".join(parts)


def _saved(event: Saved) -> str:
    if event.kind == "state":
        return _("saves the state {path}").format(path=event.path)
    if event.kind == "sample":
        return _("drew {path}").format(path=event.path)
    if event.final:
        return _("saves the final file {path}").format(path=event.path)
    return _("saves {path}").format(path=event.path)


def _warning(event: Warned) -> str:
    if event.count > 1:
        return _("warning, {count} times by now: {message}").format(count=event.count, message=event.message)
    return _("warning: {message}").format(message=event.message)


def _error(event: Error) -> str:
    words = f"{event.type}: {event.message}" if event.type else event.message
    if event.wrapper:
        return _("the launcher reports: {message}").format(message=words)
    if event.line is None:
        return _("error: {message}").format(message=words)
    return _("error at line {line}: {message}").format(line=event.line, message=words)
