"""Red and amber banners: what happened to a run, what was done, why, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
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
from gui.window.widgets.layouts import clear, column


class AlarmBanner(Banner):
    """One alarm; what is told of it may change while somebody reads it or stands on a button.

    Args:
        icons: Draws its picture.
        name: The alarm's id.
        clipboard: Takes the clean file's path.
    """

    answered = Signal(str)
    """A `RequestKind`: what the user says to a guard that asks."""

    def __init__(self, icons: Icons, name: str, clipboard: QClipboard) -> None:
        super().__init__(icons, name=f"run-banner-{name}")
        self._name = name
        self._clipboard = clipboard
        self._shown: tuple[object, ...] = ()
        self._offered: tuple[object, ...] = ()
        self._clean = Label("", "muted")
        self._clean.setObjectName(f"run-banner-{name}-clean")
        self._lines: tuple[tuple[str, tuple[str, ...]], ...] = ()
        self._details = QWidget()
        self._details.setObjectName(f"run-banner-{name}-details")
        self._parts = column(spacing=Space.XS)
        self._parts.setContentsMargins(0, Space.XS, 0, 0)
        self._details.setLayout(self._parts)
        self._details.hide()
        for part in (self._clean, self._details):
            self.body.addWidget(part)

    def show_alarm(self, alarm: Alarm, *, over: bool, ways: RecoveryButtons | None) -> None:
        """Show what is told now; what says the same as before stays as it is.

        Args:
            alarm: What is told.
            over: Whether the run is.
            ways: Buttons that lead on after the end; None where this alarm offers none.
        """
        if (alarm, over, ways) == self._shown:
            return
        self._shown = alarm, over, ways
        self.show_words(alarm.title, " ".join(filter(None, (alarm.text, alarm.done))), alarm.tone)
        line = _clean_line(alarm, ways)
        self._clean.setText(line)
        self._clean.setVisible(bool(line))
        self._show_details(_details(alarm) if ways is None else ())
        clean = ways.clean_file(alarm.last_clean) if ways is not None else alarm.last_clean
        offered = alarm.asks and not over, ways, bool(self._lines), clean
        if offered != self._offered:
            self._offered = offered
            self._show_buttons(asks=alarm.asks and not over, ways=ways, clean=clean)

    def _show_details(self, lines: tuple[tuple[str, tuple[str, ...]], ...]) -> None:
        if lines == self._lines:
            return
        self._lines = lines
        clear(self._parts)
        for title, some in lines:
            for label in (Label(title, "strong"), *(Label(f"• {line}") for line in some)):
                self._parts.addWidget(label)

    def _show_buttons(self, *, asks: bool, ways: RecoveryButtons | None, clean: Path | None) -> None:
        """Offer these; the keyboard stays on the button on which it was."""
        buttons = [*(self._answers() if asks else ()), *(ways.make() if ways is not None else ())]
        if self._lines:
            details = Button(_("What to do"), compact=True, name=f"run-banner-{self._name}-ways")
            details.setCheckable(True)
            details.setChecked(not self._details.isHidden())
            details.toggled.connect(self._details.setVisible)
            buttons.append(details)
        else:
            self._details.hide()
        if clean is not None:
            copy = Button(_("Copy path of the clean file"), compact=True, name=f"run-copy-clean-{self._name}")
            copy.set_tip(str(clean))
            copy.clicked.connect(lambda: self._clipboard.setText(str(clean)))
            buttons.append(copy)
        before = self.focusWidget()
        name = before.objectName() if before is not None and before.hasFocus() else ""
        self.set_buttons(*buttons)
        for button in buttons:
            if name and button.objectName() == name:
                button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _answers(self) -> tuple[Button, ...]:
        stop = Button(_("Stop the training"), "primary", compact=True, name="run-guard-stop")
        go_on = Button(_("Go on all the same"), compact=True, name="run-guard-accept")
        stop.clicked.connect(lambda: self.answered.emit("stop"))
        go_on.clicked.connect(lambda: self.answered.emit("accept"))
        go_on.set_tip(_("The guard will not stop this training for its loss any more."))
        return stop, go_on


def _clean_line(alarm: Alarm, ways: RecoveryButtons | None) -> str:
    """Return from where it can go on, and the likeliest cause, as far as nothing else says that."""
    said = f"{alarm.title} {alarm.text}"
    clean = "" if alarm.last_clean is not None and alarm.last_clean.name in said else alarm.last_clean_words
    clean = (ways.point_words(alarm.last_clean) if ways is not None else "") or clean
    return " ".join(part for part in (clean, *alarm.causes[:1]) if part and part.rstrip(".") not in said)


def _details(alarm: Alarm) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not alarm.next_steps and len(alarm.causes) < 2:
        return ()
    parts = ((_("Also possible:"), tuple(alarm.causes[1:])), (_("What to do:"), tuple(alarm.next_steps)))
    return tuple((title, lines) for title, lines in parts if lines)


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
        self._banners: dict[str, AlarmBanner] = {}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(Space.M)
        self.hide()

    def show_alarms(
        self, alarms: Sequence[Alarm], *, over: bool, ways: RecoveryButtons | None = None
    ) -> None:
        """Show these, each in its banner for as long as it is told.

        Args:
            alarms: The gravest first.
            over: Whether the run is.
            ways: Buttons that lead on after the end, for the gravest; None where there are none.
        """
        for name in self._banners.keys() - {alarm.id for alarm in alarms}:
            self._take_away(name)
        for place, alarm in enumerate(alarms):
            banner = self._banners.get(alarm.id) or self._new(alarm.id)
            banner.show_alarm(alarm, over=over, ways=None if place else ways)
            if self._layout.indexOf(banner) != place:
                self._layout.insertWidget(place, banner)
        self.setVisible(bool(alarms))

    def _new(self, name: str) -> AlarmBanner:
        banner = self._banners[name] = AlarmBanner(self._icons, name, self._clipboard)
        banner.answered.connect(self.answered)
        return banner

    def _take_away(self, name: str) -> None:
        banner = self._banners.pop(name)
        banner.hide()
        self._layout.removeWidget(banner)
        banner.deleteLater()
