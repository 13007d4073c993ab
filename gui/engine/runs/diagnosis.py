"""Says what went wrong, from the trainer's output, in the order of likelihood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.redaction import redact_text
from gui.engine.runs.diagnoses import DiagnosisFile, Sign, State, known_diagnoses
from gui.engine.texts import _
from gui.engine.trainer.events import Step, TrainerEvent
from gui.engine.trainer.output import OutputParser, Said, Tally, as_utf8, read_log

_MOST_EVIDENCE = 3
_LONGEST_EVIDENCE = 600
_LONGEST_TEXT = 4000
_FEWEST_STEPS = 3


class Evidence(Document):
    """A line of the log that shows it.

    Attributes:
        line: Its number, from 1.
        text: Its words, tokens taken out; a wrapped record put together again.
    """

    line: int
    text: str


class DiagnosisFix(Document):
    """A way out.

    Attributes:
        label: What to do.
        changes: Target to new value, as in a finding's fix.
    """

    label: str
    changes: dict[str, Any] = Field(default_factory=dict)


class Diagnosis(Document):
    """One thing that went wrong.

    Attributes:
        id: Stable, part of the interface.
        variant: A narrower name, None without one.
        title: One sentence.
        evidence: The lines that show it, three at most.
        explanation: Why it happens.
        fixes: What to do, the best first.
        explains_end: Whether it says why a run ended; else it is worth knowing all the same.
    """

    id: str
    variant: str | None = None
    title: str
    evidence: tuple[Evidence, ...]
    explanation: str
    fixes: tuple[DiagnosisFix, ...]
    explains_end: bool = Field(default=True, exclude=True)


def diagnose_log(
    source: Path | Iterable[bytes],
    *,
    exit_status: int | None = None,
    known: Sequence[DiagnosisFile] | None = None,
) -> list[Diagnosis]:
    """Find what went wrong.

    Args:
        source: The log, or its bytes in chunks of any size.
        exit_status: How the trainer or its launcher ended, negative for a signal; None if unknown.
        known: What can be found; the program's own by default.

    Returns:
        The likeliest cause first; nothing for a healthy run.

    Raises:
        CannotRead: The log cannot be read.
    """
    examiner = Examiner(known_diagnoses() if known is None else known)
    for chunk in read_log(source) if isinstance(source, Path) else as_utf8(source):
        examiner.feed(chunk)
    return examiner.finish(exit_status)


class _Watch:
    """Looks for one diagnosis."""

    def __init__(self, file: DiagnosisFile) -> None:
        self.file = file
        self.evidence: list[Evidence] = []
        self._signs = [(sign, _compiled(sign.pattern)) for sign in file.signs]
        self._clues = {
            clue: _compiled(clue)
            for clue in (*file.needs, *(clue for variant in file.variants for clue in variant.clues))
        }
        self._seen: set[str] = set()

    def hear(self, said: Said) -> None:
        for clue, pattern in self._clues.items():
            if clue not in self._seen and (pattern.search(said.text) or pattern.search(said.context)):
                self._seen.add(clue)
        if len(self.evidence) < _MOST_EVIDENCE and any(_shows(*each, said) for each in self._signs):
            self.evidence.append(Evidence(line=said.line, text=redact_text(said.text)[:_LONGEST_EVIDENCE]))

    def result(self, facts: _Facts) -> Diagnosis | None:
        state = self.file.state
        held = state is not None and facts.hold(state)
        if not (self.evidence or held) or not self._seen.issuperset(self.file.needs):
            return None
        variant = next((v.name for v in self.file.variants if self._seen.issuperset(v.clues)), None)
        return Diagnosis(
            id=self.file.id,
            variant=variant,
            title=_(self.file.title),
            evidence=tuple(self.evidence) or facts.evidence,
            explanation=_(self.file.explanation),
            fixes=tuple(DiagnosisFix(label=_(fix.label), changes=fix.changes) for fix in self.file.fixes),
            explains_end=self.file.explains_end,
        )


class _Facts:
    """What the whole run showed."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.exit_status: int | None = None
        self.rates: list[float] = []
        self._last: tuple[int, Step] | None = None

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The newest step, for what no single line shows."""
        if self._last is None:
            return ()
        line, step = self._last
        seconds = f", {1 / step.rate:.3g} s/it" if step.rate else ""
        return (Evidence(line=line, text=f"step {step.step} of {step.total}{seconds}"),)

    def add(self, event: TrainerEvent, line: int) -> None:
        self.tally.add(event)
        if isinstance(event, Step):
            self._last = line, event
            if event.rate:
                # The bar's own rate is a mean of the whole run, so that the newest ones suffice.
                self.rates = [*self.rates[-_FEWEST_STEPS + 1 :], event.rate]

    def hold(self, state: State) -> bool:
        """Tell whether all that the state names is so."""
        settings = self.tally.settings
        slow = state.slower_than_seconds
        return all(
            (
                all(settings.get(name) == value for name, value in state.settings.items()),
                not any(_has(settings, name, value) for name, value in state.absent.items()),
                state.finished is None or state.finished == self.tally.model_saved,
                not state.exit_status or self.exit_status in state.exit_status,
                slow is None
                or (len(self.rates) >= _FEWEST_STEPS and all(rate * slow < 1 for rate in self.rates)),
            )
        )


class Examiner:
    """Reads a log in chunks and finds what went wrong.

    Args:
        known: What can be found.
    """

    def __init__(self, known: Sequence[DiagnosisFile]) -> None:
        self._watches = [_Watch(file) for file in known]
        self._facts = _Facts()
        self._parser = OutputParser(listener=self._hear)
        self._of_line = _joined(known)

    def feed(self, data: bytes) -> None:
        """Read the next bytes."""
        self._count(self._parser.feed(data))

    def finish(self, exit_status: int | None = None) -> list[Diagnosis]:
        """Return what was found, the likeliest cause first."""
        self._count(self._parser.finish())
        self._facts.exit_status = exit_status
        found = [watch.result(self._facts) for watch in self._watches]
        return [diagnosis for diagnosis in found if diagnosis is not None]

    def _count(self, events: Iterable[TrainerEvent]) -> None:
        for event in events:
            self._facts.add(event, self._parser.line)

    def _hear(self, said: Said) -> None:
        if said.kind == "line" and not self._of_line.search(said.text[:_LONGEST_TEXT]):
            return
        short = said._replace(text=said.text[:_LONGEST_TEXT])
        for watch in self._watches:
            watch.hear(short)


def _shows(sign: Sign, pattern: re.Pattern[str], said: Said) -> bool:
    if said.kind not in sign.where or pattern.search(said.text) is None:
        return False
    if sign.unless is not None and _compiled(sign.unless).search(said.text):
        return False
    return sign.within is None or _compiled(sign.within).search(said.context) is not None


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL | re.IGNORECASE)


def _joined(known: Sequence[DiagnosisFile]) -> re.Pattern[str]:
    """Join all that may be looked for in a bare line, so that most lines cost one search."""
    patterns = {clue for file in known for clue in file.needs}
    patterns |= {clue for file in known for variant in file.variants for clue in variant.clues}
    patterns |= {sign.pattern for file in known for sign in file.signs if "line" in sign.where}
    return _compiled("|".join(f"(?:{pattern})" for pattern in sorted(patterns)) or r"(?!)")


def _has(settings: dict[str, int | float | str], name: str, value: int | str | None) -> bool:
    return name in settings and (value is None or settings[name] == value)
