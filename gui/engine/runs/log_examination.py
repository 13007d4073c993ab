"""Looks in the output of one run for everything that is known to go wrong."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from functools import lru_cache

from gui.engine.redaction import redact_text
from gui.engine.runs.diagnoses import DiagnosisFile, Sign, State
from gui.engine.runs.diagnosis_models import Diagnosis, DiagnosisFix, Evidence
from gui.engine.texts import _
from gui.engine.trainer.events import Step, TrainerEvent
from gui.engine.trainer.output import OutputParser, Said, Tally

LAST_LINES = 20
"""So much of an unknown failure's words is shown."""

MOST_TEMPLATES = 10_000

_MOST_EVIDENCE = 3
_LONGEST_EVIDENCE = 600
_LONGEST_TEXT = 4000
_FEWEST_STEPS = 3
_ENOUGH_ALIKE = 50
_ENDED_WELL = "model saved."
_NUMBERS = re.compile(r"\d+")


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
            self.evidence.append(_evidence(said))

    def survived(self) -> None:
        """Note that the run ended well all the same: what came before did not end it."""
        if self.file.explains_end and not self.file.in_finished_run:
            self.evidence.clear()

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
            evidence=tuple(self.evidence) or (facts.evidence_of(state) if state else ()),
            explanation=_(self.file.explanation),
            fixes=tuple(DiagnosisFix(label=_(fix.label), changes=fix.changes) for fix in self.file.fixes),
            explains_end=self.file.explains_end,
        )


class _Facts:
    """What the whole run showed.

    Args:
        names: The settings whose lines are wanted as evidence.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.tally = Tally()
        self.exit_status: int | None = None
        self._rates: deque[float] = deque(maxlen=_FEWEST_STEPS)
        self._names = frozenset(names)
        self._settings: dict[str, Evidence] = {}
        self._step: Evidence | None = None

    def hear(self, said: Said) -> None:
        if said.kind == "step":
            self._step = _evidence(said)
        else:
            for name in self._names:
                if name in said.text:
                    self._settings[name] = _evidence(said)

    def add(self, event: TrainerEvent) -> None:
        self.tally.add(event)
        if isinstance(event, Step) and event.rate:
            # The bar's own rate is a mean of the whole run, so that the newest ones suffice.
            self._rates.append(event.rate)

    def evidence_of(self, state: State) -> tuple[Evidence, ...]:
        """Return the lines that show what the state names."""
        lines = [self._settings[name] for name in state.settings if name in self._settings]
        if state.slower_than_seconds is not None and self._step is not None:
            lines.append(self._step)
        return tuple(lines)

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
                or (len(self._rates) == _FEWEST_STEPS and all(rate * slow < 1 for rate in self._rates)),
            )
        )


class Examination:
    """Reads the output of one run in chunks and finds what went wrong.

    Args:
        known: What can be found.
        lines_before: So many lines of the log were another run's.
    """

    def __init__(self, known: Sequence[DiagnosisFile], lines_before: int = 0) -> None:
        self._watches = [_Watch(file) for file in known]
        self._facts = _Facts(name for file in known if file.state for name in file.state.settings)
        self._parser = OutputParser(listener=self._hear)
        self._parser.skip_lines(lines_before)
        self._any_words = _joined(known)
        self._dull: dict[str, int] = {}
        self._last: deque[Said] = deque(maxlen=LAST_LINES)

    @property
    def tally(self) -> Tally:
        """What the events add up to so far."""
        return self._facts.tally

    @property
    def lines(self) -> int:
        """How many lines have been read whole."""
        return self._parser.line - 1

    def last_lines(self) -> tuple[Evidence, ...]:
        """Return what tells most of a failure that nothing explains, at most twenty lines.

        That is the end of the traceback that ended the run; without one the last that was said.
        """
        cause = self.tally.cause
        if cause is None or not cause.traceback:
            return tuple(_evidence(said) for said in self._last)
        lines = cause.traceback.splitlines()
        first = max(0, len(lines) - LAST_LINES)
        begin = cause.line or 1
        return tuple(
            Evidence(line=begin + number, text=redact_text(text)[:_LONGEST_EVIDENCE])
            for number, text in enumerate(lines[first:], first)
        )

    def feed(self, data: bytes, joined: int = 0) -> None:
        """Read the next bytes, out of which so many line ends were taken."""
        self._count(self._parser.feed(data))
        if joined:
            self._parser.skip_lines(joined)

    def skip(self, lines: int) -> None:
        """Leave out what holds so many line feeds; the line begun before is over."""
        self.feed(b"\n")
        self._parser.skip_lines(lines - 1)

    def finish(self, exit_status: int | None = None) -> list[Diagnosis]:
        """Return what was found, the likeliest cause first."""
        self._count(self._parser.finish())
        self._facts.exit_status = exit_status
        found = [watch.result(self._facts) for watch in self._watches]
        return [diagnosis for diagnosis in found if diagnosis is not None]

    def _count(self, events: Iterable[TrainerEvent]) -> None:
        for event in events:
            self._facts.add(event)

    def _hear(self, said: Said) -> None:
        short = said._replace(text=said.text[:_LONGEST_TEXT])
        self._facts.hear(short)
        if said.kind in ("line", "record", "exception", "wrapper") and short.text.strip():
            self._last.append(short)
        if short.text.startswith(_ENDED_WELL):
            for watch in self._watches:
                watch.survived()
        if said.kind == "step" or (said.kind in ("line", "record") and not self._is_news(short.text)):
            return
        for watch in self._watches:
            watch.hear(short)

    def _is_news(self, text: str) -> bool:
        """Tell whether a line may matter.

        Looking for everything costs a good deal, and a chatty trainer repeats itself a million times:
        of lines that differ in their numbers only, the first dozens are looked at.
        """
        template = _NUMBERS.sub("0", text)
        seen = self._dull.get(template, 0)
        if seen >= _ENOUGH_ALIKE:
            return False
        if self._any_words.search(text) is not None:
            return True
        if len(self._dull) >= MOST_TEMPLATES:
            self._dull.clear()
        self._dull[template] = seen + 1
        return False


def _shows(sign: Sign, pattern: re.Pattern[str], said: Said) -> bool:
    if said.kind not in sign.where or pattern.search(said.text) is None:
        return False
    if sign.unless is not None and _compiled(sign.unless).search(said.text):
        return False
    return sign.within is None or _compiled(sign.within).search(said.context) is not None


def _evidence(said: Said) -> Evidence:
    return Evidence(line=said.line, text=redact_text(said.text)[:_LONGEST_EVIDENCE])


@lru_cache(maxsize=2048)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL | re.IGNORECASE)


def _joined(known: Sequence[DiagnosisFile]) -> re.Pattern[str]:
    """Join all that may be looked for in lines and records, so that most cost one search."""
    patterns = {clue for file in known for clue in file.needs}
    patterns |= {clue for file in known for variant in file.variants for clue in variant.clues}
    patterns |= {
        sign.pattern for file in known for sign in file.signs if not {"line", "record"}.isdisjoint(sign.where)
    }
    return _compiled("|".join(f"(?:{pattern})" for pattern in sorted(patterns)) or r"(?!)")


def _has(settings: dict[str, int | float | str], name: str, value: int | str | None) -> bool:
    return name in settings and (value is None or settings[name] == value)
