"""What a report says in words: what went wrong, with which trainer on which machine, by which command."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence

from gui import __version__
from gui.engine.runs.diagnosing import DiagnosisReport
from gui.engine.runs.diagnosis_lines import report_lines
from gui.engine.runs.figures import duration, figure, size
from gui.engine.runs.records import CommandRecord, Manifest
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _
from gui.engine.trainer.quoting import posix_words


def diagnosis_text(report: DiagnosisReport, manifest: Manifest | None, status: RunStatus | None) -> str:
    """Return what is pasted into a forum: what went wrong, and on what."""
    parts = [*report_lines(report), "", *how_far_lines(report, status), *environment_lines(manifest)]
    return "\n".join(parts).strip() + "\n"


def how_far_lines(report: DiagnosisReport, status: RunStatus | None) -> list[str]:
    """Return how far the training came."""
    facts: list[str] = []
    progress = report.progress
    if progress.step is not None:
        facts.append(_("step {step} of {total}").format(step=progress.step, total=progress.total or "?"))
    if progress.loss is not None:
        facts.append(_("last finite loss {loss}").format(loss=figure(progress.loss)))
    if progress.first_nonfinite_step is not None:
        facts.append(_("not finite from step {step} on").format(step=progress.first_nonfinite_step))
    if status is not None and status.elapsed_seconds is not None:
        facts.append(duration(status.elapsed_seconds))
    if report.exit_status is not None:
        facts.append(_("exit status {status}").format(status=report.exit_status))
    return [_("Training: {facts}").format(facts=" · ".join(facts))] if facts else []


def environment_lines(manifest: Manifest | None) -> list[str]:
    """Return what ran where, by its versions."""
    lines = [_("Program: Kohya Preflight {version}").format(version=__version__)]
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    lines.append(_("System: {system}").format(system=system.strip()))
    if manifest is None:
        return lines
    version = " ".join(filter(None, (manifest.trainer_version, (manifest.trainer_commit or "")[:12])))
    trainer = _("practice trainer") if manifest.practice else "sd-scripts"
    lines.append(_("Trainer: {trainer}").format(trainer=f"{trainer} {version}".strip()))
    torch = [f"torch {manifest.torch}"] if manifest.torch else []
    torch += [f"CUDA {manifest.cuda}"] if manifest.cuda else []
    torch += [f"Python {manifest.python_version}"] if manifest.python_version else []
    if torch:
        lines.append(_("Trainer's Python: {facts}").format(facts=", ".join(torch)))
    gpus = ", ".join(manifest.gpus) or _("none known")
    driver = _(", driver {version}").format(version=manifest.driver) if manifest.driver else ""
    return [*lines, _("GPU: {names}").format(names=gpus) + driver]


def command_text(command: CommandRecord) -> str:
    """Return the command as it was launched, one argument a line, as it could be typed into bash."""
    lines = [f"# {command.note}"] if command.note else []
    lines.append(f"cd {posix_words([str(command.cwd)])[0]}")
    lines += [f"export {name}={posix_words([text])[0]}" for name, text in command.environment.items()]
    if command.unset:
        lines.append("unset " + " ".join(command.unset))
    return "\n".join([*lines, _broken(posix_words(command.argv))]) + "\n"


def _broken(words: Sequence[str]) -> str:
    lines: list[list[str]] = [[]]
    for word in words:
        if word.startswith("--"):
            lines.append([])
        lines[-1].append(word)
    return " \\\n  ".join(" ".join(line) for line in lines if line)


def contents_lines(parts: Iterable[tuple[str, int, str, str]]) -> list[str]:
    """Return what a report holds: name, bytes, what it is, and what is not in it."""
    rows = [(name, size(count), words, note) for name, count, words, note in parts]
    width = max((len(row[0]) for row in rows), default=0)
    amount = max((len(row[1]) for row in rows), default=0)
    return [
        f"{name:<{width}}  {count:>{amount}}  {words}" + (f" ({note})" if note else "")
        for name, count, words, note in rows
    ]
