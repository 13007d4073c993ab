"""The cards at the right: samples, saved files, and what happened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal

from gui.engine.errors import PreflightError
from gui.engine.runs.events import FileSeen, Guarded, Launching, VerdictGiven
from gui.engine.runs.figures import clock_time
from gui.engine.runs.file_look import place_of
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.sample_prompts import SamplePlan, sample_plan
from gui.engine.runs.save_names import SaveNames
from gui.engine.runs.status import FileNow
from gui.engine.runs.words import Timeline, verdict_words
from gui.engine.texts import _
from gui.engine.trainer.events import Epoch, Error, LossNonfinite
from gui.window.bridges.run_reader import Happening
from gui.window.bridges.tasks import Tasks
from gui.window.models.run_lists import Line, LineModel
from gui.window.pages.run.lines import LineList
from gui.window.pages.run.samples import Sample, SampleModel, SampleStrip, caption_of
from gui.window.pages.run.words import file_chip, file_line
from gui.window.theme.theme import Theme
from gui.window.widgets.card import Card
from gui.window.widgets.labels import Label


class TimelineCard(Card):
    """What happened, newest first.

    Args:
        theme: Draws the lines.
    """

    picked = Signal(object, object)
    """Where a line that was clicked belongs: its step, and its line in the log; either may be None."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(_("What happened"), name="run-happened")
        self._words = Timeline()
        self.model = LineModel()
        self.list = LineList(
            theme, self.model, _("What happened, the newest first"), timed=True, name="run-timeline"
        )
        self.list.setMinimumHeight(theme.px(84))
        self.list.picked.connect(self._pick)
        self.list.chosen.connect(self._pick)
        self.body.addWidget(self.list, 1)

    def _pick(self, line: Line) -> None:
        self.picked.emit(line.step, line.key if isinstance(line.key, int) else None)

    def clear(self) -> None:
        """Begin with another run."""
        self._words = Timeline()
        self.model.clear()

    def add(self, happenings: Sequence[Happening]) -> None:
        """Tell more."""
        lines: list[Line] = []
        for happening in happenings:
            line = self._line(happening)
            if line is None:
                continue
            if line.key == "epoch" and lines and lines[-1].key == line.key:
                lines.pop()
            lines.append(line)
        if lines and lines[0].key == "epoch" and self.model.rowCount() and self.model.line(0).key == "epoch":
            self.model.replace_newest(lines.pop(0))
        self.model.add(lines)

    def _line(self, happening: Happening) -> Line | None:
        event, step = happening
        if isinstance(event, Launching):
            self._words = Timeline()  # its folder was written anew
        words = self._words.take(event)
        if words is None or (isinstance(event, FileSeen) and event.kind == "sample"):
            return None  # samples are seen in the card above
        text = words.text
        if isinstance(event, VerdictGiven):
            short = verdict_words(event.verdict, event.reason).text
            text = short[:1].upper() + short[1:]  # the whole sentence stands at the top of the page
        strong = isinstance(event, LossNonfinite | Guarded | VerdictGiven)
        key: str | int | None = "epoch" if isinstance(event, Epoch) else None
        if isinstance(event, Error):
            key = event.line
        return Line(text, words.tone, clock_time(event.t), tip=words.text, strong=strong, step=step, key=key)


class FilesCard(Card):
    """Models and states that the run saved, newest first."""

    chosen = Signal(object)
    """`FileNow`: show all of it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(_("Saved files"), name="run-files")
        self.model = LineModel()
        self.none = Label(_("Models appear here as they are saved, each of them checked."), "muted")
        self.none.setObjectName("run-no-files")
        self.list = LineList(
            theme, self.model, _("Saved files, the newest first"), timed=False, name="run-file-list"
        )
        self.list.setMinimumHeight(theme.px(60))
        self.files: tuple[FileNow, ...] = ()
        self.list.picked.connect(self._choose)
        self.list.chosen.connect(self._choose)
        self.body.addWidget(self.none)
        self.body.addWidget(self.list, 1)
        self.list.hide()

    def show_files(self, files: Sequence[FileNow]) -> None:
        """Show these."""
        self.files = tuple(files)
        self.model.show([_file_line(file) for file in reversed(files)])
        self.none.setVisible(not files)
        self.list.setVisible(bool(files))

    def _choose(self, line: Line) -> None:
        file = next((each for each in self.files if place_of(each) == line.key), None)
        if file is not None:
            self.chosen.emit(file)


def _file_line(file: FileNow) -> Line:
    chip = file_chip(file)
    kept = _("Kept as {file}.").format(file=file.kept_as) if file.kept_as else ""
    how = _("Click: what is in it, and how to go on from it.")
    tip = "\n".join(part for part in (str(file.path), file.sentence, kept, how) if part)
    return Line(
        file.path.name,
        chip.tone,
        small=file_line(file),
        chip=chip.text,
        tip=tip,
        struck=file.removed,
        step=file.step,
        key=place_of(file),
    )


class SamplesCard(Card):
    """The samples, in a strip; hidden while there are none and none will come.

    Args:
        theme: Their size.
        tasks: Where pictures are read.
    """

    def __init__(self, theme: Theme, tasks: Tasks) -> None:
        super().__init__(_("Samples"), name="run-samples")
        self._tasks = tasks
        self._plan = SamplePlan()
        self._waiting: list[Path] = []
        self._known = False
        self.model = SampleModel(theme, tasks)
        self.strip = SampleStrip(theme, self.model)
        self.none = Label(_("The first samples appear here."), "muted")
        self.none.setObjectName("run-no-samples")
        self.body.addWidget(self.strip)
        self.body.addWidget(self.none)
        self.hide()

    def begin(self, run: RunFolder) -> None:
        """Begin with another run."""
        self.model.clear()
        self._waiting, self._known, self._plan = [], False, SamplePlan()
        self._show()
        self._tasks.run(
            lambda _handle: sample_plan(run), self._take_plan, self._no_plan, key="run-sample-prompts"
        )

    def add(self, happenings: Sequence[Happening]) -> None:
        """Show more of them."""
        for event, _step in happenings:
            if isinstance(event, FileSeen) and event.kind == "sample" and event.complete:
                self._waiting.append(Path(event.path))
        if self._known:
            self._show()

    def _take_plan(self, plan: SamplePlan) -> None:
        self._plan, self._known = plan, True
        self._show()

    def _no_plan(self, _error: PreflightError) -> None:
        self._take_plan(SamplePlan())

    def _show(self) -> None:
        names = SaveNames(self._plan.output_name)
        self.model.add(self._sample(path, names) for path in self._waiting)
        self._waiting = []
        some = self.model.rowCount() > 0
        self.strip.setVisible(some)
        self.none.setVisible(not some)
        self.setVisible(some or self._plan.wanted)

    def _sample(self, path: Path, names: SaveNames) -> Sample:
        name = names.sample(path.name)
        if name is None:
            return Sample(path, caption_of(None, None))
        return Sample(path, caption_of(name.step, name.epoch), self._plan.prompt(name.prompt))
