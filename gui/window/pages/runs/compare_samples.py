"""Samples of several runs from the same prompt and seed: a line a run, a column a step (S8)."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from gui.engine.runs.comparison_lines import label_of
from gui.engine.runs.comparison_models import ComparedSample, SampleGroup
from gui.engine.texts import _, ngettext
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.pages.run.samples import caption_of, read_picture
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.card import Card
from gui.window.widgets.labels import ElidedLabel, Label

SIDE_PX = 112
MOST_COLUMNS = 6
MOST_GROUPS = 8


class CompareSamples(Card):
    """The card; hidden by its owner where no run has samples.

    Args:
        groups: What is shown.
        tasks: Where pictures are read.
        theme: Gives their size.
    """

    def __init__(self, groups: Sequence[SampleGroup], tasks: Tasks, theme: Theme) -> None:
        super().__init__(_("Samples of the same prompt and seed"), name="compare-samples")
        self._tasks = tasks
        self._theme = theme
        for group in groups[:MOST_GROUPS]:
            self.body.addWidget(self._group(group))
        more = len(groups) - MOST_GROUPS
        if more > 0:
            text = ngettext("{count} more prompt is not shown.", "{count} more prompts are not shown.", more)
            self.body.addWidget(Label(text.format(count=more), "small"))

    def _group(self, group: SampleGroup) -> QWidget:
        columns = _columns(group)
        place = QWidget()
        grid = QGridLayout(place)
        grid.setContentsMargins(0, 0, 0, Space.M)
        grid.setSpacing(Space.S)
        seed = (
            _("each with another seed: differences may be chance")
            if group.seed is None
            else _("seed {seed}").format(seed=group.seed)
        )
        grid.addWidget(ElidedLabel(f"{group.prompt} · {seed}", "muted"), 0, 0, 1, len(columns) + 2)
        for column, step in enumerate(columns, 1):
            caption = caption_of(step, None) if step is not None else _("sample")
            grid.addWidget(Label(caption, "small", wrap=False), 1, column, Qt.AlignmentFlag.AlignHCenter)
        for line, samples in enumerate(group.samples):
            grid.addWidget(Label(label_of(line), "strong", wrap=False), line + 2, 0)
            known = {sample.step: sample for sample in samples}
            for column, step in enumerate(columns, 1):
                if step in known:
                    grid.addWidget(self._picture(known[step], line), line + 2, column)
        grid.setColumnStretch(len(columns) + 1, 1)
        return place

    def _picture(self, sample: ComparedSample, line: int) -> QLabel:
        side = self._theme.px(SIDE_PX)
        label = QLabel()
        label.setObjectName(f"compare-sample-{line}-{sample.step}")
        label.setFixedSize(side, side)
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        label.setToolTip(str(sample.path))
        label.setAccessibleName(f"{label_of(line)}, {caption_of(sample.step, None)}")
        path = sample.path

        def work(_handle: TaskHandle) -> QImage:
            return read_picture(path, QSize(2 * side, 2 * side))

        self._tasks.run(
            work, lambda image: _show(label, image, side), lambda error: label.setText(str(error))
        )
        return label


def _columns(group: SampleGroup) -> list[int | None]:
    """Return the steps that have a column: those of most runs first, evenly chosen where they are many."""
    counts: dict[int | None, int] = {}
    for samples in group.samples:
        for step in {sample.step for sample in samples}:
            counts[step] = counts.get(step, 0) + 1
    chosen: list[int | None] = []
    for count in sorted(set(counts.values()), reverse=True):
        steps = sorted((step for step in counts if counts[step] == count), key=_order)
        chosen += _evenly(steps, MOST_COLUMNS - len(chosen))
    return sorted(chosen, key=_order)


def _order(step: int | None) -> int:
    return -1 if step is None else step


def _evenly(steps: list[int | None], most: int) -> list[int | None]:
    """Return at most so many, the first and the last one among them."""
    if len(steps) <= most:
        return steps
    if most < 2:
        return steps[-1:] if most else []
    return [steps[round(n * (len(steps) - 1) / (most - 1))] for n in range(most)]


def _show(label: QLabel, image: QImage, side: int) -> None:
    pixmap = QPixmap.fromImage(
        image.scaled(
            2 * side,
            2 * side,
            Qt.AspectRatioMode.KeepAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
    )
    pixmap.setDevicePixelRatio(2.0)
    label.setPixmap(pixmap)
