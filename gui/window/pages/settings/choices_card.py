"""What new plans begin with, and whether the desktop tells of runs."""

from __future__ import annotations

from collections.abc import Callable

from gui.engine.quantities import gib
from gui.engine.texts import _
from gui.window.bridges.hardware import Hardware
from gui.window.bridges.settings import Settings
from gui.window.pages.plan.careful import guard_words
from gui.window.pages.plan.choices import Choices, Option
from gui.window.pages.settings.parts import SettingRow
from gui.window.theme.theme import Theme
from gui.window.widgets.card import Card
from gui.window.widgets.inputs import Choice
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import line
from gui.window.widgets.switch import Switch

Keep = Callable[..., bool]
_CHOICE_WIDTH = 300


class RunsCard(Card):
    """GPU and guard of new plans, notifications, and the memory hook.

    Args:
        settings: Holds them.
        hardware: Knows the GPUs.
        theme: Gives sizes.
        keep: Keeps a change.
    """

    def __init__(self, settings: Settings, hardware: Hardware, theme: Theme, keep: Keep) -> None:
        super().__init__(_("Plans and runs"), name="settings-runs")
        self._settings = settings
        self._hardware = hardware
        self._theme = theme
        self._offered: list[tuple[object, str]] = []
        self._gpu = Choice(name="setting-gpu", words=_("GPU of new plans"))
        self._gpu.changed.connect(lambda uuid: keep(gpu=uuid))
        self._gpu_row = SettingRow(_("GPU of new plans"), "", self._gpu)
        self._guard = Choices(theme, "setting-guard", width=230)
        self._guard.set_options([Option(name, *words) for name, words in guard_words().items()])
        self._guard.chosen.connect(lambda policy: keep(guard=policy))
        self._notifications = Switch(name="setting-notifications", words=_("Notifications"))
        self._notifications.changed.connect(lambda on: keep(notifications=on))
        self._memory = Switch(name="setting-measure-memory", words=_("Measure the memory of trainings"))
        self._memory.changed.connect(lambda on: keep(measure_memory=on))
        self.body.addWidget(self._gpu_row)
        self.body.addWidget(line())
        self.body.addWidget(Label(_("When the loss is no number any more, in new plans")))
        self.body.addWidget(self._guard)
        self.body.addWidget(line())
        self.body.addWidget(
            SettingRow(
                _("Notifications"),
                _("The desktop tells when a run ends or goes wrong while this window is not in front."),
                self._notifications,
            )
        )
        self.body.addWidget(line())
        self.body.addWidget(
            SettingRow(
                _("Measure the memory of trainings"),
                _("The trainer’s torch is asked what it needs of the GPU, so that forecasts get better."),
                self._memory,
            )
        )
        hardware.sampled.connect(self._show_gpus)
        theme.changed.connect(self._fit)
        self._fit()
        self.show_values()

    def show_values(self) -> None:
        """Show what is kept."""
        values = self._settings.values
        self._guard.show_value(values.guard)
        self._notifications.show_value(values.notifications)
        self._memory.show_value(values.measure_memory)
        self._offered = []
        self._show_gpus()

    def _show_gpus(self) -> None:
        """Offer the GPUs of this machine; nothing moves where they are the same."""
        chosen = self._settings.values.gpu
        options: list[tuple[object, str]] = [(None, _("Leave it to the trainer"))]
        for device in self._hardware.devices:
            total = f", {gib(device.total_bytes)}" if device.total_bytes else ""
            options.append((device.uuid, f"{device.index}: {device.name or device.uuid}{total}"))
        if chosen and chosen not in dict(options):
            options.append((chosen, _("{uuid} (not found now)").format(uuid=chosen)))
        self._gpu_row.text.setText(self._gpu_words())
        self._gpu_row.text.show()
        if options != self._offered and not self._gpu.view().isVisible():
            self._offered = options
            self._gpu.set_options(options)
            self._gpu.show_value(chosen)
            self._gpu.setToolTip(self._gpu.currentText())

    def _gpu_words(self) -> str:
        if not self._hardware.known:
            return _("Looking for GPUs …")
        if self._hardware.problem:
            return self._hardware.problem
        return _("A plan can name another one. It is remembered by its lasting name, not by its number.")

    def _fit(self) -> None:
        self._gpu.setFixedWidth(self._theme.px(_CHOICE_WIDTH))
