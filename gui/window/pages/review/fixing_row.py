"""The head of the findings: can it start, “apply all safe fixes”, and what that has done, with undo."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.findings import Finding, Fix
from gui.engine.plan.changes import ACTION
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.actions import CONVERT_CAPTIONS, END_RUN, KEEP_TOKEN
from gui.engine.preflight.caption_conversion import Converted, convert_captions
from gui.engine.preflight.fixing import Fixed, apply_safe_fixes
from gui.engine.texts import _, ngettext
from gui.window.bridges.checks import Checks
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.models.plan_document import PlanDocument
from gui.window.models.short_list import in_short
from gui.window.pages.review.words import headline, sentence_case
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button, IconButton
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import held, row

KEY = "review-fixes"
MOST_NAMED = 6


class FixingRow(QWidget):
    """Headline and safe fixes; the widget itself is what is said about them.

    Attributes:
        head: The headline with its buttons, to stand above all.

    Args:
        document: Is mended.
        checks: Finds what is wrong.
        tokens: Keeps tokens that are moved out of the plan.
        tasks: Where fixes are tried.
        icons: Draw pictures.
    """

    check_wanted = Signal()

    def __init__(
        self, document: PlanDocument, checks: Checks, tokens: Tokens, tasks: Tasks, icons: Icons
    ) -> None:
        super().__init__()
        self._document = document
        self._checks = checks
        self._tokens = tokens
        self._tasks = tasks
        self._busy = False
        self._step = -1
        self.headline = Label("", "strong")
        self.headline.setObjectName("review-headline")
        self.again = IconButton(icons.icon("refresh"), _("Check again"), shortcut="F5", name="check-again")
        self.again.clicked.connect(self.check_wanted)
        self._icons = icons
        icons.theme.changed.connect(self._draw_icon)
        self._draw_icon()
        self.apply = Button("", name="apply-safe-fixes", shortcut="Alt+F")
        self.apply.set_tip(
            _("Only fixes that lose nothing and leave no new stop; undo takes all back at once")
        )
        self.apply.clicked.connect(self._apply_all)
        self.looking = Label(_("looking at the files …"), "small")
        self.looking.setObjectName("review-looking")
        self.done = Banner(icons, "good", name="fixes-done")
        self.done.hide()
        self.undo = Button(_("Undo"), compact=True, name="undo-fixes", tip=_("Take these fixes back"))
        self.undo.clicked.connect(self._undo)
        self.dismiss = Button(_("Close"), "link", name="close-fixes")
        self.dismiss.clicked.connect(self._hide_done)
        self.done.set_buttons(self.undo, self.dismiss)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        line = row(spacing=Space.S)
        line.addWidget(self.headline, 1)
        line.addWidget(self.again)
        line.addWidget(self.apply)
        self.head = held(line, "review-head")
        layout.addWidget(self.looking)
        layout.addWidget(self.done)
        document.undo_stack.indexChanged.connect(self._moved)

    def show_state(self) -> None:
        """Show what the newest check says."""
        report = self._checks.report
        findings = report.findings if report else ()
        self.headline.setText(headline(findings) if report else _("Checking …"))
        self.looking.setVisible(self._checks.looking)
        self._show_self()
        safe = sum(any(_is_safe(fix) for fix in finding.fixes) for finding in findings)
        self.apply.setVisible(safe > 0 and not self._document.read_only)
        self.apply.setEnabled(not self._busy)
        text = ngettext("Apply {count} safe fix", "Apply {count} safe fixes", safe)
        self.apply.setText(_("Trying the fixes …") if self._busy else text.format(count=f"{safe:,}"))

    def apply_one(self, finding: Finding, fix: Fix) -> None:
        """Apply one fix that was chosen."""
        if fix.changes.get(ACTION) == KEEP_TOKEN:
            self._tokens.move(self._document, finding.arguments[0], fix)
            return
        if fix.changes.get(ACTION) == END_RUN:
            self._end_run(self._checks.home.runs / str(finding.where))
            return
        if fix.changes.get(ACTION) == CONVERT_CAPTIONS:
            self._convert_captions(str(finding.where or ""))
            return
        changes = {target: value for target, value in fix.changes.items() if target != ACTION}
        refusal = self._document.change(changes, sentence_case(fix.label)) if changes else ""
        if refusal:
            self.done.show_words(_("This fix cannot be applied."), refusal, "bad")
            self._show_done(undoable=False)
        else:
            self._hide_done()
        if ACTION in fix.changes:
            self.check_wanted.emit()

    def apply_advice(self, fix: Fix) -> None:
        """Apply advice on memory, and offer to take it back."""
        refusal = self._document.change(fix.changes, fix.label)
        title = (
            _("This advice cannot be applied.") if refusal else _("Applied: {what}").format(what=fix.label)
        )
        self._step = self._document.undo_stack.index()
        self.done.show_words(title, refusal, "bad" if refusal else "good")
        self._show_done(undoable=not refusal)

    def _end_run(self, folder: Path) -> None:
        """End what is alive of a run, and look again at who holds the GPU."""

        def work(_handle: TaskHandle) -> int:
            from gui.engine.runs.end_run import end_run  # heavy, and seldom wanted

            return end_run(folder, "window")

        def ended(count: int) -> None:
            text = ngettext("{count} process was ended.", "{count} processes were ended.", count)
            words = text.format(count=count) if count else _("Nothing of it was alive any more.")
            self.done.show_words(_("The run {name}").format(name=folder.name), words, "good")
            self.check_wanted.emit()

        self.done.show_words(_("Ending the run {name} …").format(name=folder.name), "", "accent")
        self._show_done(undoable=False)
        self._tasks.run(work, ended, self._not_ended, key=f"end-run {folder}")

    def _not_ended(self, error: PreflightError) -> None:
        self._not_done(_("The run could not be ended."), error)

    def _convert_captions(self, target: str) -> None:
        """Write captions in UTF-8, and look again at them."""
        checker, plan = self._checks.checker(), self._document.plan

        def converted(what: Converted) -> None:
            detail = _("The originals are kept beside them; the page “Data” brings them back.")
            self.done.show_words(what.words(), detail, "warn" if what.left else "good")
            self.check_wanted.emit()

        self.done.show_words(_("Converting captions …"), "", "accent")
        self._show_done(undoable=False)
        self._tasks.run(
            lambda handle: convert_captions(checker, plan, target, handle.is_cancelled),
            converted,
            lambda error: self._not_done(_("Not all captions could be converted."), error),
            key=f"convert-captions {target}",
        )

    def _not_done(self, title: str, error: PreflightError) -> None:
        self.done.show_words(title, str(error), "bad")
        self._show_done(undoable=False)
        self.check_wanted.emit()

    def _apply_all(self) -> None:
        plan, checker = self._document.plan, self._checks.checker()
        self._busy = True
        self.show_state()
        self._tasks.run(
            lambda _handle: apply_safe_fixes(plan, checker.findings),
            lambda fixed: self._applied(plan, fixed),
            self._failed,
            key=KEY,
        )

    def _applied(self, before: TrainingPlan, fixed: Fixed) -> None:
        self._busy = False
        if self._document.plan != before:
            self.done.show_words(_("The plan was changed meanwhile; the fixes were not applied."), "", "warn")
            self._show_done(undoable=False)
        elif not fixed.applied:
            self.done.show_words(
                _("No fix could be applied without asking."), _("Choose one below."), "accent"
            )
            self._show_done(undoable=False)
        else:
            count = len(fixed.applied)
            title = ngettext("{count} fix was applied", "{count} fixes were applied", count)
            refusal = self._document.replace(fixed.plan, _("Apply safe fixes"))
            self._step = self._document.undo_stack.index()
            self.done.show_words(title.format(count=f"{count:,}"), refusal or _list(fixed), "good")
            self._show_done(undoable=not refusal)
        self.show_state()

    def _failed(self, error: PreflightError) -> None:
        self._busy = False
        self.done.show_words(_("The fixes could not be tried."), str(error), "bad")
        self._show_done(undoable=False)
        self.show_state()

    def _show_done(self, *, undoable: bool) -> None:
        self.undo.setVisible(undoable)
        self.done.show()
        self._show_self()

    def _hide_done(self) -> None:
        self.done.hide()
        self._show_self()

    def _show_self(self) -> None:
        self.setVisible(not self.done.isHidden() or not self.looking.isHidden())

    def _draw_icon(self) -> None:
        side = self._icons.theme.px(20)
        self.again.setIconSize(QSize(side, side))
        self.again.setIcon(self._icons.icon("refresh"))

    def _undo(self) -> None:
        self._document.undo_stack.undo()
        self._hide_done()

    def _moved(self, index: int) -> None:
        """What was done since then is undone first; the button would take back something else."""
        if index != self._step:
            self.undo.hide()


def _is_safe(fix: Fix) -> bool:
    return fix.safe and ACTION not in fix.changes


def _list(fixed: Fixed) -> str:
    lines = list(dict.fromkeys(f"✓ {sentence_case(each.fix.label)}" for each in fixed.applied))
    return "\n".join(in_short(lines, MOST_NAMED))
