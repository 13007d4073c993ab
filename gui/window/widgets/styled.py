"""Sets the dynamic properties by which the style sheet chooses."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget


def style(widget: QWidget, **properties: object) -> None:
    """Set properties and draw the widget accordingly; nothing happens where nothing changes.

    Args:
        widget: Whose.
        properties: Name to value; booleans are written ``true`` and ``false`` as the sheet has them.
    """
    changed = False
    for name, value in properties.items():
        text = str(value).lower() if isinstance(value, bool) else value
        if widget.property(name) != text:
            widget.setProperty(name, text)
            changed = True
    if changed:
        look = widget.style()
        look.unpolish(widget)
        look.polish(widget)
        widget.update()
