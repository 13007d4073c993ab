"""Tells of alarms and of the end of a run outside the window, while the window is not in front."""

from __future__ import annotations

from typing import Literal, Protocol

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from gui.engine.runs.alarm import Alarm
from gui.engine.runs.status import Verdict
from gui.engine.runs.words import verdict_words
from gui.engine.texts import _
from gui.window.bridges.settings import Settings
from gui.window.theme.icons import Icons

Tone = Literal["plain", "good", "warn", "bad"]

SHOWN_MS = 20_000


class Desktop(Protocol):
    """What a desktop can do to be noticed."""

    def notify(self, title: str, text: str, tone: Tone) -> None:
        """Show a notification of the system."""

    def ask_for_attention(self, count: int) -> None:
        """Mark the window in the task bar, with how much there is to see."""

    def quiet(self) -> None:
        """Take the marks away."""


class QtDesktop(QObject):
    """The desktop as Qt reaches it; what it cannot do is left out.

    Args:
        application: Marks windows in the task bar.
        window: Which one.
        icons: Draws the tray's icon.
    """

    clicked = Signal()

    def __init__(self, application: QApplication, window: QWidget, icons: Icons) -> None:
        super().__init__()
        self._application = application
        self._window = window
        self._icons = icons
        self._tray: QSystemTrayIcon | None = None

    def notify(self, title: str, text: str, tone: Tone) -> None:
        """Show a notification of the system; the tray has an icon for as long as there is one."""
        if not QSystemTrayIcon.isSystemTrayAvailable():
            return
        if self._tray is None:
            self._tray = QSystemTrayIcon(QIcon(self._icons.pixmap("logo", 64, "accent")), self)
            self._tray.messageClicked.connect(self.clicked)
            self._tray.activated.connect(lambda _how: self.clicked.emit())
        self._tray.setToolTip(f"{title}\n{text}")
        self._tray.show()
        pictures = {
            "bad": QSystemTrayIcon.MessageIcon.Critical,
            "warn": QSystemTrayIcon.MessageIcon.Warning,
        }
        picture = pictures.get(tone, QSystemTrayIcon.MessageIcon.Information)
        self._tray.showMessage(title, text, picture, SHOWN_MS)

    def ask_for_attention(self, count: int) -> None:
        """Let the task bar's button flash or bounce, and number it where the system can."""
        self._application.alert(self._window)
        self._application.setBadgeNumber(count)

    def quiet(self) -> None:
        """Take the tray's icon and the number away."""
        self._application.setBadgeNumber(0)
        if self._tray is not None:
            self._tray.hide()


class Alerts(QObject):
    """Obeys the preference ``notifications``; says nothing while the window is in front.

    Args:
        application: Marks windows in the task bar.
        window: Watched for whether it is in front.
        icons: Draws the tray's icon.
        settings: With the preference.
        desktop: Another way to be noticed.
    """

    def __init__(
        self,
        application: QApplication,
        window: QWidget,
        icons: Icons,
        settings: Settings,
        desktop: Desktop | None = None,
    ) -> None:
        super().__init__()
        self._window = window
        self._settings = settings
        self._count = 0
        if desktop is None:
            own = QtDesktop(application, window, icons)
            own.clicked.connect(self.bring_to_front)
            desktop = own
        self._desktop: Desktop = desktop
        window.installEventFilter(self)

    def alarm(self, run_name: str, alarm: Alarm) -> None:
        """Tell of an alarm of a run."""
        detail = " ".join(part for part in (alarm.done or alarm.text, alarm.last_clean_words) if part)
        self._tell(f"{run_name}: {alarm.title}", detail, alarm.tone)

    def ended(self, run_name: str, verdict: Verdict) -> None:
        """Tell of the end of a run."""
        words = verdict_words(verdict.verdict, verdict.reason)
        title = _("{run}: {verdict}").format(run=run_name, verdict=words.text)
        self._tell(title, verdict.sentence, words.tone)

    def bring_to_front(self) -> None:
        """Show the window, also when it is minimised."""
        if self._window.isMinimized():
            self._window.showNormal()
        self._window.raise_()
        self._window.activateWindow()

    def close(self) -> None:
        """Leave nothing behind on the desktop."""
        self._window.removeEventFilter(self)
        self._desktop.quiet()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """What was told is seen once the window is in front."""
        if event.type() == QEvent.Type.WindowActivate and self._count:
            self._count = 0
            self._desktop.quiet()
        return super().eventFilter(watched, event)

    def _tell(self, title: str, text: str, tone: Tone) -> None:
        if not self._settings.values.notifications or self._window.isActiveWindow():
            return
        self._count += 1
        self._desktop.notify(title, text, tone)
        self._desktop.ask_for_attention(self._count)
