"""The style sheet: what a palette cannot say. Widgets choose by dynamic properties, never by own sheets.

``kind`` of buttons: primary, quiet, danger, link, side, step, segment. ``role`` of labels and frames:
title, card, strong, muted, small, mono, surface, … ``tone`` of chips, cards and banners: neutral, accent,
good, warn, bad.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gui.window.theme.space import CARD_RADIUS, CONTROL_HEIGHT, CONTROL_RADIUS, SMALL_RADIUS
from gui.window.theme.tokens import Tokens

Pixels = Callable[[float], int]
TONES = ("good", "warn", "bad")


def style_sheet(tokens: Tokens, px: Pixels, mono: Sequence[str]) -> str:
    """Return the sheet for some colours and a text size."""
    families = ", ".join(f'"{name}"' for name in (*mono, "monospace"))
    return "\n".join(
        (
            _labels(tokens, px, families),
            _frames(tokens),
            _chips(tokens, px),
            _buttons(tokens, px),
            _inputs(tokens, px),
            _marks(tokens, px),
            _views(tokens, px),
        )
    )


def _labels(t: Tokens, px: Pixels, families: str) -> str:
    return f"""
    QLabel {{ background: transparent; }}
    QLabel[role="title"] {{ font-size: {px(22)}px; font-weight: 600; }}
    QLabel[role="hero"] {{ font-size: {px(28)}px; font-weight: 600; }}
    QLabel[role="card-title"] {{ font-size: {px(15)}px; font-weight: 600; }}
    QLabel[role="strong"] {{ font-weight: 600; }}
    QLabel[role="muted"] {{ color: {t.muted}; }}
    QLabel[role="small"] {{ color: {t.muted}; font-size: {px(12)}px; }}
    QLabel[role="mono"] {{ color: {t.muted}; font-family: {families}; font-size: {px(12)}px; }}
    QLabel[role="code"] {{ color: {t.text}; font-family: {families}; font-size: {px(12)}px;
        background: {t.bg}; border: 1px solid {t.line}; border-radius: {SMALL_RADIUS}px;
        padding: {px(3)}px {px(8)}px; }}
    QLabel[tone="good"] {{ color: {t.good}; }}
    QLabel[tone="warn"] {{ color: {t.warn}; }}
    QLabel[tone="bad"] {{ color: {t.bad}; }}
    QLabel[tone="accent"] {{ color: {t.accent}; }}
    *[mono="true"] {{ font-family: {families}; font-size: {px(12.5)}px; }}
    """


def _frames(t: Tokens) -> str:
    edges = "\n".join(
        f'QFrame[role="card"][edge="{tone}"] {{ border-left: 3px solid {getattr(t, tone)}; }}'
        for tone in (*TONES, "accent")
    )
    banners = "\n".join(
        f'QFrame[role="banner"][tone="{tone}"] {{ background: {getattr(t, tone + "_soft")};'
        f" border: 1px solid {getattr(t, tone)}; border-radius: {CARD_RADIUS}px; }}"
        for tone in (*TONES, "accent")
    )
    return f"""
    QMainWindow, QDialog {{ background: {t.bg}; }}
    QFrame[role="surface"] {{ background: {t.surface}; border: none; }}
    QFrame[role="side-bar"] {{ background: {t.surface}; border: none; border-right: 1px solid {t.line}; }}
    QFrame[role="status-line"] {{ background: {t.surface}; border: none; border-top: 1px solid {t.line}; }}
    QFrame[role="line"] {{ background: {t.line}; border: none; max-height: 1px; min-height: 1px; }}
    QFrame[role="card"] {{ background: {t.surface}; border: 1px solid {t.line};
        border-radius: {CARD_RADIUS}px; }}
    QFrame[role="card"][chosen="true"] {{ border: 2px solid {t.accent}; }}
    QFrame[role="card"][clickable="true"]:hover {{ border-color: {t.accent}; }}
    QFrame[role="card"][clickable="true"]:focus {{ border: 2px solid {t.accent}; }}
    QFrame[role="card"][dropping="true"], QFrame[role="drop"][dropping="true"] {{
        border: 2px dashed {t.accent}; background: {t.accent_soft}; }}
    QFrame[role="drop"] {{ background: {t.bg}; border: 2px dashed {t.line}; border-radius: {CARD_RADIUS}px; }}
    QFrame[role="row"] {{ background: transparent; border: 1px solid transparent;
        border-radius: {CONTROL_RADIUS}px; }}
    QFrame[role="row"]:hover {{ background: {t.bg}; }}
    QFrame[role="row"]:focus {{ border: 1px solid {t.accent}; }}
    QFrame[role="well"] {{ background: {t.bg}; border: 1px solid {t.line};
        border-radius: {CONTROL_RADIUS}px; }}
    {edges}
    {banners}
    QScrollArea, QScrollArea > QWidget > QWidget[role="content"] {{ background: transparent; border: none; }}
    QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line}; padding: 6px; }}
    """


def _chips(t: Tokens, px: Pixels) -> str:
    tones = "\n".join(
        f'QLabel[role="chip"][tone="{tone}"] {{ background: {getattr(t, tone + "_soft")};'
        f" color: {getattr(t, tone)}; border-color: {getattr(t, tone + '_soft')}; }}"
        for tone in (*TONES, "accent")
    )
    return f"""
    QLabel[role="chip"] {{ background: {t.bg}; color: {t.muted}; border: 1px solid {t.line};
        border-radius: {px(10)}px; padding: {px(3)}px {px(9)}px; font-size: {px(12)}px; font-weight: 600; }}
    {tones}
    """


def _buttons(t: Tokens, px: Pixels) -> str:
    base = f"border-radius: {CONTROL_RADIUS}px; padding: {px(6)}px {px(14)}px; font-weight: 500;"
    segments = "\n".join(
        f'QPushButton[kind="segment"][tone="{tone}"] {{ background: {getattr(t, tone + "_soft")};'
        f" color: {getattr(t, tone)}; border-color: {getattr(t, tone + '_soft')}; }}"
        f'QPushButton[kind="segment"][tone="{tone}"]:checked {{ border-color: {getattr(t, tone)}; }}'
        for tone in TONES
    )
    return f"""
    QPushButton {{ {base} background: {t.raised}; color: {t.text}; border: 1px solid {t.line};
        min-height: {px(CONTROL_HEIGHT) - 2 * px(6) - 2}px; }}
    QPushButton:hover {{ border-color: {t.faint}; }}
    QPushButton:pressed {{ background: {t.bg}; }}
    QPushButton:focus {{ border: 2px solid {t.accent}; padding: {px(6) - 1}px {px(14) - 1}px; }}
    QPushButton:disabled {{ color: {t.faint}; background: {t.bg}; }}
    QPushButton[compact="true"] {{ padding: {px(3)}px {px(11)}px; min-height: {px(30) - 2 * px(3) - 2}px; }}
    QPushButton[compact="true"]:focus {{ padding: {px(3) - 1}px {px(11) - 1}px; }}
    QPushButton[kind="primary"] {{ background: {t.accent}; color: {t.on_accent};
        border: 1px solid {t.accent}; font-weight: 600; }}
    QPushButton[kind="primary"]:hover {{ border-color: {t.text}; }}
    QPushButton[kind="primary"]:focus {{ border: 2px solid {t.text}; }}
    QPushButton[kind="primary"]:disabled, QPushButton[kind="primary"][blocked="true"] {{
        background: {t.accent_soft}; color: {t.muted}; border-color: {t.line}; }}
    QPushButton[kind="danger"] {{ color: {t.bad}; border-color: {t.bad}; }}
    QPushButton[kind="danger"]:disabled {{ color: {t.faint}; border-color: {t.line}; }}
    QPushButton[kind="link"] {{ background: transparent; border: 1px solid transparent; color: {t.accent};
        padding: {px(1)}px {px(4)}px; min-height: {px(18)}px; text-align: left; }}
    QPushButton[kind="link"][compact="true"] {{ font-size: {px(12)}px; padding: 0px {px(4)}px; }}
    QPushButton[kind="link"]:hover {{ text-decoration: underline; }}
    QPushButton[kind="link"]:focus {{ border: 1px solid {t.accent}; padding: {px(1)}px {px(4)}px; }}
    QPushButton[kind="link"]:disabled {{ color: {t.faint}; }}
    QPushButton[kind="segment"] {{ padding: {px(2)}px {px(10)}px; border-radius: {px(12)}px; color: {t.muted};
        background: transparent; min-height: {px(24) - 2 * px(2) - 2}px; font-size: {px(12)}px;
        font-weight: 600; }}
    QPushButton[kind="segment"]:checked {{ background: {t.accent_soft}; color: {t.accent};
        border-color: {t.accent}; }}
    {segments}
    QPushButton[kind="segment"]:focus {{ border: 2px solid {t.accent};
        padding: {px(2) - 1}px {px(10) - 1}px; }}
    QPushButton[kind="legend"] {{ padding: {px(2)}px {px(10)}px; border-radius: {px(12)}px; color: {t.faint};
        background: transparent; border: 1px dashed {t.line}; min-height: {px(24) - 2 * px(2) - 2}px;
        font-size: {px(12)}px; font-weight: 600; }}
    QPushButton[kind="legend"]:checked {{ background: {t.bg}; color: {t.muted}; border-style: solid; }}
    QPushButton[kind="legend"]:focus {{ border: 2px solid {t.accent};
        padding: {px(2) - 1}px {px(10) - 1}px; }}
    QPushButton::menu-indicator {{ width: 0px; }}
    QToolButton[kind="side"] {{ background: transparent; border: 1px solid transparent;
        border-radius: {CONTROL_RADIUS}px; color: {t.muted}; font-size: {px(12)}px;
        padding: {px(6)}px 0px; }}
    QToolButton[kind="side"]:hover {{ background: {t.bg}; }}
    QToolButton[kind="side"]:checked {{ background: {t.accent_soft}; color: {t.accent}; font-weight: 600; }}
    QToolButton[kind="side"]:focus {{ border: 1px solid {t.accent}; }}
    QToolButton[kind="icon"] {{ background: transparent; border: 1px solid transparent;
        border-radius: {SMALL_RADIUS}px; padding: {px(4)}px; color: {t.muted}; }}
    QToolButton[kind="icon"]:hover {{ background: {t.bg}; border-color: {t.line}; }}
    QToolButton[kind="icon"]:focus {{ border: 1px solid {t.accent}; }}
    QToolButton[kind="step"] {{ background: transparent; border: 1px solid transparent;
        border-radius: {CONTROL_RADIUS}px; color: {t.muted}; text-align: left;
        padding: {px(8)}px {px(10)}px; }}
    QToolButton[kind="step"]:hover {{ background: {t.surface}; }}
    QToolButton[kind="step"]:checked {{ background: {t.surface}; border-color: {t.line}; color: {t.text};
        font-weight: 600; }}
    QToolButton[kind="step"]:focus {{ border-color: {t.accent}; }}
    """


def _inputs(t: Tokens, px: Pixels) -> str:
    fields = "QLineEdit, QComboBox, QAbstractSpinBox, QPlainTextEdit, QTextEdit"
    focused = ", ".join(f"{name}:focus" for name in fields.split(", "))
    disabled = ", ".join(f"{name}:disabled" for name in fields.split(", "))
    return f"""
    {fields} {{ background: {t.bg}; color: {t.text}; border: 1px solid {t.line};
        border-radius: {CONTROL_RADIUS}px; padding: {px(5)}px {px(10)}px;
        selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
    QLineEdit, QComboBox, QAbstractSpinBox {{ min-height: {px(34) - 2 * px(5) - 2}px; }}
    {focused} {{ border: 1px solid {t.accent}; background: {t.surface}; }}
    {disabled} {{ color: {t.faint}; }}
    QLineEdit[role="title"] {{ font-size: {px(22)}px; font-weight: 600; background: transparent;
        border: 1px solid transparent; border-radius: {SMALL_RADIUS}px; padding: 0px {px(2)}px;
        min-height: {px(28)}px; }}
    QLineEdit[role="title"]:hover {{ border: 1px solid {t.line}; }}
    QLineEdit[role="title"]:focus {{ border: 1px solid {t.accent}; background: {t.surface}; }}
    *[trouble="true"] {{ border: 1px solid {t.bad}; }}
    *[dropping="true"] {{ border: 2px dashed {t.accent}; }}
    *[flash="true"] {{ border: 2px solid {t.accent}; }}
    QComboBox::drop-down {{ border: none; width: {px(24)}px; }}
    QComboBox::down-arrow {{ image: none; width: 0px; }}
    QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{ width: 0px; border: none; }}
    QComboBox QAbstractItemView {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line};
        selection-background-color: {t.accent_soft}; selection-color: {t.text}; outline: none;
        padding: 4px; }}
    """


def _marks(t: Tokens, px: Pixels) -> str:
    return f"""
    QCheckBox, QRadioButton {{ spacing: {px(8)}px; background: transparent; }}
    QCheckBox:focus, QRadioButton:focus {{ color: {t.accent}; }}
    QProgressBar {{ background: {t.line}; border: none; border-radius: {px(4)}px; height: {px(8)}px;
        max-height: {px(8)}px; min-height: {px(8)}px; text-align: center; color: transparent; }}
    QProgressBar::chunk {{ background: {t.accent}; border-radius: {px(4)}px; }}
    QProgressBar[tone="warn"]::chunk {{ background: {t.warn}; }}
    QProgressBar[tone="bad"]::chunk {{ background: {t.bad}; }}
    QProgressBar[tone="good"]::chunk {{ background: {t.good}; }}
    QSplitter::handle {{ background: transparent; }}
    QMenu {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line}; padding: 4px; }}
    QMenu::item {{ padding: {px(6)}px {px(16)}px; border-radius: {SMALL_RADIUS}px; }}
    QMenu::item:selected {{ background: {t.accent_soft}; color: {t.text}; }}
    QMenu::item:disabled {{ color: {t.faint}; }}
    QMenu::separator {{ height: 1px; background: {t.line}; margin: 4px 8px; }}
    """


def _views(t: Tokens, px: Pixels) -> str:
    return f"""
    QAbstractItemView {{ background: {t.surface}; border: none; outline: none;
        selection-background-color: {t.accent_soft}; selection-color: {t.text}; }}
    QListView[role="parts"] {{ border: 1px solid {t.line}; border-radius: {CONTROL_RADIUS}px;
        padding: {px(4)}px; }}
    QListView[role="parts"]::item {{ padding: {px(8)}px {px(4)}px; border-radius: {SMALL_RADIUS}px; }}
    QListView[role="parts"]::indicator {{ width: {px(14)}px; height: {px(14)}px; }}
    QListView[role="parts"]::item:selected {{ background: {t.accent_soft}; color: {t.text}; }}
    QAbstractItemView[role="tiles"] {{ background: transparent; }}
    QHeaderView::section {{ background: {t.surface}; color: {t.muted}; border: none;
        border-bottom: 1px solid {t.line}; padding: {px(6)}px {px(8)}px; font-size: {px(12)}px; }}
    QScrollBar:vertical {{ background: transparent; width: {px(12)}px; margin: 0px; }}
    QScrollBar:horizontal {{ background: transparent; height: {px(12)}px; margin: 0px; }}
    QScrollBar::handle {{ background: {t.line}; border-radius: {px(4)}px; margin: 2px; }}
    QScrollBar::handle:vertical {{ min-height: {px(32)}px; }}
    QScrollBar::handle:horizontal {{ min-width: {px(32)}px; }}
    QScrollBar::handle:hover {{ background: {t.faint}; }}
    QScrollBar::add-line, QScrollBar::sub-line {{ width: 0px; height: 0px; }}
    QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
    """
