"""Red and amber banners: what happened to a run, what was done, why, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QClipboard
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.runs.alarm import Alarm
from gui.engine.texts import _
from gui.window.pages.run.recovery_card import RecoveryButtons
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button
from gui.window.widgets.labels import Label


class AlarmBanner(Banner):
    """One alarm.

    Args:
        icons: Draws its picture.
        alarm: What is told.
        over: Whether the run is.
        ways: Buttons that lead on after the end; None where this alarm offers none.
        clipboard: Takes the clean file's path.
    """

    answered = Signal(str)
    """A `RequestKind`: what the user says to a guard that asks."""

    def __init__(
        self,
        icons: Icons,
        alarm: Alarm,
        *,
        over: bool,
        ways: RecoveryButtons | None,
        clipboard: QClipboard,
    ) -> None:
        text = " ".join(part for part in (alarm.text, alarm.done) if part)
        super().__init__(icons, alarm.tone, alarm.title, text, name=f"run-banner-{alarm.id}")
        self._alarm = alarm
        self._clipboard = clipboard
        self._ways: Button | None = None
        self._add_words(alarm, ways)
        self._details = self._make_details(alarm) if ways is None else None
        self.set_buttons(*self._make_buttons(alarm, over=over, ways=ways))

    @property
    def is_open(self) -> bool:
        """Whether what to do is shown."""
        return self._ways is not None and self._ways.isChecked()

    def open_details(self) -> None:
        """Show what to do."""
        if self._ways is not None:
            self._ways.setChecked(True)

    def _add_words(self, alarm: Alarm, ways: RecoveryButtons | None) -> None:
        said = f"{alarm.title} {alarm.text}"
        clean = (
            "" if alarm.last_clean is not None and alarm.last_clean.name in said else alarm.last_clean_words
        )
        clean = (ways.point_words(alarm.last_clean) if ways is not None else "") or clean
        line = " ".join(part for part in (clean, *alarm.causes[:1]) if part and part.rstrip(".") not in said)
        if line:
            label = Label(line, "muted")
            label.setObjectName(f"run-banner-{alarm.id}-clean")
            self.body.addWidget(label)

    def _make_details(self, alarm: Alarm) -> QWidget | None:
        if not alarm.next_steps and len(alarm.causes) < 2:
            return None
        details = QWidget()
        details.setObjectName(f"run-banner-{alarm.id}-details")
        layout = QVBoxLayout(details)
        layout.setContentsMargins(0, Space.XS, 0, 0)
        layout.setSpacing(Space.XS)
        for title, lines in ((_("Also possible:"), alarm.causes[1:]), (_("What to do:"), alarm.next_steps)):
            if lines:
                layout.addWidget(Label(title, "strong"))
            for line in lines:
                layout.addWidget(Label(f"• {line}"))
        details.hide()
        self.body.addWidget(details)
        return details

    def _make_buttons(self, alarm: Alarm, *, over: bool, ways: RecoveryButtons | None) -> list[Button]:
        buttons = []
        if alarm.asks and not over:
            stop = Button(_("Stop the training"), "primary", compact=True, name="run-guard-stop")
            go_on = Button(_("Go on all the same"), compact=True, name="run-guard-accept")
            stop.clicked.connect(lambda: self.answered.emit("stop"))
            go_on.clicked.connect(lambda: self.answered.emit("accept"))
            go_on.set_tip(_("The guard will not stop this training for its loss any more."))
            buttons += [stop, go_on]
        if ways is not None:
            buttons += ways.make()
        if self._details is not None:
            details = Button(_("What to do"), compact=True, name=f"run-banner-{alarm.id}-ways")
            details.setCheckable(True)
            details.toggled.connect(self._details.setVisible)
            self._ways = details
            buttons.append(details)
        clean = ways.clean_file(alarm.last_clean) if ways is not None else alarm.last_clean
        if clean is not None:
            copy = Button(_("Copy path of the clean file"), compact=True, name=f"run-copy-clean-{alarm.id}")
            copy.set_tip(str(clean))
            copy.clicked.connect(lambda: self._clipboard.setText(str(clean)))
            buttons.append(copy)
        return buttons


class AlarmStack(QWidget):
    """All alarms of a run, the gravest first.

    Args:
        icons: Draws their pictures.
        clipboard: Takes paths.
    """

    answered = Signal(str)

    def __init__(self, icons: Icons, clipboard: QClipboard) -> None:
        super().__init__()
        self.setObjectName("run-alarms")
        self._icons = icons
        self._clipboard = clipboard
        self._shown: dict[str, tuple[object, AlarmBanner]] = {}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(Space.M)
        self.hide()

    def show_alarms(
        self, alarms: Sequence[Alarm], *, over: bool, ways: RecoveryButtons | None = None
    ) -> None:
        """Show these; one that says the same as before stays as it is.

        Args:
            alarms: The gravest first.
            over: Whether the run is.
            ways: Buttons that lead on after the end, for the gravest; None where there are none.
        """
        wanted = {alarm.id: (alarm, over, None if number else ways) for number, alarm in enumerate(alarms)}
        opened = {name for name, (_words, banner) in self._shown.items() if banner.is_open}
        for name in list(self._shown):
            if self._shown[name][0] != wanted.get(name):  # type: ignore[call-overload]
                self._take_away(name)
        for place, (alarm, _over, own) in enumerate(wanted.values()):
            if alarm.id not in self._shown:
                banner = AlarmBanner(self._icons, alarm, over=over, ways=own, clipboard=self._clipboard)
                banner.answered.connect(self.answered)
                self._shown[alarm.id] = ((alarm, over, own), banner)
                if alarm.id in opened:
                    banner.open_details()
                self._layout.insertWidget(place, banner)
        self.setVisible(bool(wanted))

    def _take_away(self, name: str) -> None:
        banner = self._shown.pop(name)[1]
        banner.hide()
        self._layout.removeWidget(banner)
        banner.deleteLater()
