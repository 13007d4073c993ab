"""What will happen: how much is trained, how long it takes, what is written."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout

from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.report import Resume, Steps
from gui.engine.quantities import GIB, about, exact, gib
from gui.engine.texts import _, ngettext
from gui.window.bridges.launch_preview import LaunchPreview
from gui.window.bridges.plan_check import Checked
from gui.window.theme.space import Space
from gui.window.widgets.card import Card
from gui.window.widgets.labels import Label

Line = tuple[str, str, str]
"""What, how much, and what the tooltip tells."""


class ForecastCard(Card):
    """Figures in two columns."""

    def __init__(self) -> None:
        super().__init__(_("What will happen"), name="what-will-happen")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(Space.S)
        self._grid.setVerticalSpacing(Space.S)
        self._grid.setColumnStretch(0, 1)
        self.body.addLayout(self._grid)
        self._resume = Label("")
        self._resume.setObjectName("forecast-resume")
        self._resume.hide()
        self.body.addWidget(self._resume)
        self._rows: list[tuple[Label, Label]] = []

    def show_forecast(self, checked: Checked | None, preview: LaunchPreview | None) -> None:
        """Show what is known; what is not is said to be unknown."""
        self._show(_lines(checked, preview))
        resume = checked.report.resume if checked else None
        self._resume.setText(resume.sentence if resume else "")
        self._resume.setVisible(resume is not None)

    def _show(self, lines: list[Line]) -> None:
        while len(self._rows) < len(lines):
            what, much = Label("", "muted"), Label("", "strong")
            much.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            number = len(self._rows)
            much.setObjectName(f"forecast-{number}")
            self._grid.addWidget(what, number, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(much, number, 1)
            self._rows.append((what, much))
        for number, (what, much) in enumerate(self._rows):
            shown = number < len(lines)
            what.setVisible(shown)
            much.setVisible(shown)
            if shown:
                what.setText(lines[number][0])
                much.setText(lines[number][1])
                much.setToolTip(lines[number][2])


def _lines(checked: Checked | None, preview: LaunchPreview | None) -> list[Line]:
    steps = checked.report.steps if checked else None
    if checked is None or steps is None or not steps.total_steps:
        return [(_("Steps"), _("known once the images are"), "")]
    return [
        *_data(checked, steps),
        *_length(steps, checked.report.resume, preview),
        *_files(checked),
        _guard(checked.plan),
    ]


def _data(checked: Checked, steps: Steps) -> list[Line]:
    view = checked.view
    batch = view.dataset_value("batch_size") if view else None
    if steps.repeats is not None:
        text = ngettext(
            "{images} image × {repeats} repeats, batch {batch}",
            "{images} images × {repeats} repeats, batch {batch}",
            steps.images or 0,
        )
    else:
        text = ngettext("{images} image, batch {batch}", "{images} images, batch {batch}", steps.images or 0)
    what = text.format(images=f"{steps.images or 0:,}", repeats=steps.repeats, batch=batch)
    count = steps.batches_per_epoch or 0
    return [(what, _("{count} an epoch").format(count=f"{count:,}"), _("Batches of one epoch"))]


def _length(steps: Steps, resume: Resume | None, preview: LaunchPreview | None) -> list[Line]:
    total, epochs = steps.total_steps or 0, steps.epochs or 0
    text = ngettext("{steps} in {epochs} epoch", "{steps} in {epochs} epochs", epochs)
    lines = [(_("Steps"), text.format(steps=f"{total:,}", epochs=f"{epochs:,}"), "")]
    if preview is not None and preview.seconds_per_step:
        seconds = (resume.steps if resume else total) * preview.seconds_per_step
        tip = _("{time}, as fast as the run {name} was; loading and saving not counted")
        known = tip.format(time=exact(seconds), name=preview.like)
        return [*lines, (_("Time on this machine"), about(seconds), known)]
    tip = _("No earlier run of the same kind on this machine tells how long a step takes.")
    return [*lines, (_("Time"), _("known after the first steps"), tip)]


def _guard(plan: TrainingPlan) -> Line:
    much, tip = {
        "stop": (_("the run stops"), _("At once, so that what was saved before stays good.")),
        "confirm": (_("stops if it stays so"), _("When the next steps' own losses confirm it.")),
        "warn": (_("only a warning"), _("The run goes on; what is saved from then on is of no use.")),
    }[plan.guard.nonfinite]
    return _("If the loss is not finite"), much, tip


def _files(checked: Checked) -> list[Line]:
    disk, free = checked.disk, checked.free_gib
    lines: list[Line] = []
    if disk is not None and disk.save_bytes is not None:
        text = ngettext("{count} save, {size}", "{count} saves, {size}", disk.saves)
        size = gib(disk.output_bytes)
        tip = _("Models of {size} each, states, samples and the log").format(size=gib(disk.save_bytes))
        lines.append((_("Files"), text.format(count=f"{disk.saves:,}", size=size), tip))
        if disk.caches_bytes:
            lines.append((_("Caches beside the images"), gib(disk.caches_bytes), ""))
    if free is not None:
        lines.append((_("Free on that disk"), gib(free * GIB), ""))
    return lines
