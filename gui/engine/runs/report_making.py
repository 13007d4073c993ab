"""Makes the report of a run, or of a log alone: every part bounded, names and tokens taken out.

Nothing is written here: the parts can be looked at first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from gui.engine.errors import CannotRead, PreflightError
from gui.engine.paths import Home
from gui.engine.personal import Anonymiser, Identity, this_identity
from gui.engine.plan.tokens import secrets_in
from gui.engine.preflight.checking import checker_for
from gui.engine.preflight.finding_words import finding_lines
from gui.engine.redaction import redact_text
from gui.engine.runs.diagnosing import DiagnosisReport, HowFar, diagnose_output, diagnose_run
from gui.engine.runs.figures import size
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.metrics import parse_row
from gui.engine.runs.records import CommandRecord, Manifest, Versioned
from gui.engine.runs.report import Report, ReportPart
from gui.engine.runs.report_picture import figures_of, metrics_picture
from gui.engine.runs.report_pieces import Piece, is_plain_file, log_text, read_piece
from gui.engine.runs.report_words import command_text, diagnosis_text
from gui.engine.runs.reuse import plan_of_run
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _

KIB, MIB = 1 << 10, 1 << 20
DOCUMENT_BYTES = MIB
LOG_START_BYTES, LOG_END_BYTES = 128 * KIB, 2 * MIB
LOG_LETTERS = 400_000
EVENT_BYTES = 256 * KIB
METRIC_BYTES = 16 * MIB

WHOLE_LOG_BYTES = 256 * MIB
"""A longer log is diagnosed by its beginning and its end, so that nobody waits for minutes."""

DIAGNOSED_START_BYTES, DIAGNOSED_END_BYTES = 2 * MIB, 8 * MIB

SUMMARY = "report.txt"

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f]")

Record = TypeVar("Record", bound=Versioned)


class _Raw(NamedTuple):
    """A part that is not cleaned yet; the fields are those of ``ReportPart``."""

    name: str
    words: str
    text: str
    note: str = ""


def report_of_run(run: RunFolder, home: Home, identity: Identity | None = None) -> Report:
    """Make the report of a run; what cannot be read is left out, and named.

    Args:
        run: The run, over or not.
        home: Holds the user's presets, which say what the plan means.
        identity: Whose names are taken out; None: those of this machine.
    """
    return _Maker(identity or this_identity(), run, home).report()


def report_of_log(path: Path, identity: Identity | None = None) -> Report:
    """Make the report of a log of which nothing else is known.

    Raises:
        CannotRead: It cannot be read, or is no plain file.
    """
    clean = Anonymiser(identity or this_identity())
    piece = read_piece(path, LOG_START_BYTES, LOG_END_BYTES)
    text = log_text(piece, LOG_LETTERS)
    clean.learn(text)
    diagnosis = diagnosis_text(_diagnosis_of_log(path), None, None)
    raw = (
        _Raw(SUMMARY, _("what went wrong"), diagnosis),
        _Raw("log.txt", _("the trainer's output"), text, _note(piece)),
    )
    return Report(clean.text(path.stem), clean.text(diagnosis), tuple(_cleaned(clean, each) for each in raw))


class _Maker:
    """Collects the parts of one run's report."""

    def __init__(self, identity: Identity, run: RunFolder, home: Home) -> None:
        self._run = run
        self._home = home
        self._status = _record(RunStatus, run.status)
        self._manifest = _record(Manifest, run.manifest)
        commit = self._manifest.trainer_commit if self._manifest is not None else None
        self._clean = Anonymiser(identity, harmless=[commit] if commit else ())
        self._left_out: list[str] = []

    def report(self) -> Report:
        """Return it."""
        raw = [each for each in self._texts() if each.text.strip()]
        for each in raw:
            self._clean.learn(each.text)
        diagnosis = diagnosis_text(self._diagnosis(), self._manifest, self._status)
        parts = [_cleaned(self._clean, each) for each in raw]
        picture = self._picture()
        if picture is not None:
            parts.append(ReportPart("metrics.png", _("loss, learning rates and GPU memory"), picture))
        summary = _Raw(SUMMARY, _("what went wrong"), diagnosis + self._left_out_words())
        name = self._clean.text(self._run.name)
        text = self._clean.text(diagnosis)
        return Report(name, text, (_cleaned(self._clean, summary), *parts))

    def _texts(self) -> Iterator[_Raw]:
        run = self._run
        yield self._document(run.plan, "plan.toml", _("the plan as it was launched"))
        yield self._document(run.dataset, "dataset.toml", _("the dataset file that the trainer got"))
        command = _record(CommandRecord, run.command)
        text = command_text(command) if command is not None else ""
        yield _Raw("command.txt", _("the trainer's command line"), text)
        yield _Raw("findings.txt", _("what preflight says of the plan now"), self._findings())
        yield self._log(run.output_log, "log.txt", _("the trainer's output"))
        yield self._log(run.supervisor_log, "supervisor.txt", _("what the supervisor itself said"))
        yield self._document(run.events, "events.jsonl", _("what happened, by events"), 0, EVENT_BYTES)
        yield self._document(run.status, "status.json", _("how the run stands"))
        manifest = self._manifest
        known = "" if manifest is None else _without_files(manifest)
        yield _Raw("manifest.json", _("versions of everything that took part"), known)

    def _document(
        self, path: Path, name: str, words: str, first: int = DOCUMENT_BYTES, last: int = 0
    ) -> _Raw:
        piece = self._piece(path, first, last)
        if piece is None:
            return _Raw(name, words, "")
        text = (piece.start + piece.end).decode("utf-8", "replace")
        if piece.left_out and not text.strip():
            self._left_out.append(f"{path.name}: {_note(piece)}")
        return _Raw(name, words, text, _note(piece))

    def _log(self, path: Path, name: str, words: str) -> _Raw:
        piece = self._piece(path, LOG_START_BYTES, LOG_END_BYTES)
        if piece is None:
            return _Raw(name, words, "")
        return _Raw(name, words, log_text(piece, LOG_LETTERS), _note(piece))

    def _piece(self, path: Path, first: int, last: int) -> Piece | None:
        try:
            return read_piece(path, first, last)
        except CannotRead as error:
            if path.is_symlink() or path.exists():
                self._left_out.append(f"{path.name}: {error.reason}")
            return None

    def _findings(self) -> str:
        """Return what preflight says; nothing of practice, which has rules of its own."""
        if self._manifest is None or self._manifest.practice or not is_plain_file(self._run.plan):
            return ""
        try:
            plan = plan_of_run(self._run)
            report = checker_for(plan.base, None, self._home).report(plan.plan)
        except PreflightError:
            return ""
        lines = [line for finding in report.findings for line in finding_lines(finding)]
        return redact_text("\n".join(lines) + "\n", secrets_in(plan.plan)) if lines else ""

    def _diagnosis(self) -> DiagnosisReport:
        log = self._run.output_log
        try:
            if not is_plain_file(log) or log.stat().st_size > WHOLE_LOG_BYTES:
                return self._known_diagnosis()
            return diagnose_run(self._run)
        except (OSError, PreflightError):
            return self._known_diagnosis()

    def _known_diagnosis(self) -> DiagnosisReport:
        """Return what the status tells where the log is not read as a whole."""
        try:
            found = _diagnosis_of_log(self._run.output_log)
        except CannotRead:
            found = DiagnosisReport(verdict="unknown", exit_status=None, progress=HowFar(), diagnoses=())
        status = self._status
        if status is None or status.verdict is None:
            return found
        verdict = status.verdict
        known = {"verdict": verdict.verdict, "exit_status": verdict.exit_status, "sentence": verdict.sentence}
        return found.model_copy(update=known)

    def _picture(self) -> bytes | None:
        piece = self._piece(self._run.metrics, 0, METRIC_BYTES)
        if piece is None:
            return None
        lines = (piece.start + piece.end).splitlines()
        rows = (row for line in lines if (row := parse_row(line)) is not None)
        nonfinite = self._status.first_nonfinite_step if self._status is not None else None
        return metrics_picture(figures_of(rows, nonfinite))

    def _left_out_words(self) -> str:
        if not self._left_out:
            return ""
        return (
            "\n" + _("Not in this report:") + "\n" + "\n".join(f"  {each}" for each in self._left_out) + "\n"
        )


def _record(kind: type[Record], path: Path) -> Record | None:
    """Read a document of the run; None where it is missing, broken, or no plain file."""
    if not is_plain_file(path):
        return None
    try:
        return kind.read(path)
    except PreflightError:
        return None


def _diagnosis_of_log(path: Path) -> DiagnosisReport:
    """Say what went wrong in a log, read by its beginning and end where it is endless.

    Raises:
        CannotRead: It cannot be read, or is no plain file.
    """
    piece = read_piece(path, DIAGNOSED_START_BYTES, DIAGNOSED_END_BYTES)
    if piece.left_out and piece.size > WHOLE_LOG_BYTES:
        return diagnose_output((piece.start, piece.end))
    return diagnose_output(path)


def _without_files(manifest: Manifest) -> str:
    """Return the manifest without the files that lay in the output folder before: they are not the run's."""
    return manifest.model_copy(update={"existing": ()}).model_dump_json(by_alias=True, indent=1) + "\n"


def _note(piece: Piece) -> str:
    if not piece.left_out:
        return ""
    text = _("{left} of {whole} are left out")
    return text.format(left=size(piece.left_out), whole=size(piece.size))


def _cleaned(clean: Anonymiser, raw: _Raw) -> ReportPart:
    text = clean.text(_CONTROLS.sub("\N{REPLACEMENT CHARACTER}", raw.text))
    return ReportPart(raw.name, raw.words, text.encode("utf-8", "backslashreplace"), raw.note)
