"""What stands where findings would be when there are none."""

from __future__ import annotations

from gui.engine.texts import _
from gui.window.theme.space import Space
from gui.window.widgets.card import Card
from gui.window.widgets.chip import Chip
from gui.window.widgets.labels import Label
from gui.window.widgets.styled import style


class ReadyCard(Card):
    """Says that the plan can be launched, and what is done for its safety then."""

    def __init__(self) -> None:
        super().__init__(_("Nothing speaks against launching this plan"), edge="good", name="review-ready")
        self.head.insertWidget(0, Chip(_("ready"), "good"))
        self.head.setSpacing(Space.M)
        style(self.title, role="strong")
        self.body.addWidget(
            Label(
                _(
                    "All that can be checked before the GPU is touched was checked. At the launch it is "
                    "checked once more; then the run is watched, also when this window is closed."
                ),
                "muted",
            )
        )
