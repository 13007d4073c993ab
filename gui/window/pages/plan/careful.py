"""The third step: how careful the training is, and what happens when it breaks."""

from __future__ import annotations

from gui.engine.texts import _
from gui.window.pages.plan.choices import Choices, Option
from gui.window.pages.plan.effects import differing, effect_lines, values_with
from gui.window.pages.plan.fields import again_groups
from gui.window.pages.plan.parts import Parts
from gui.window.pages.plan.rows import FieldCard
from gui.window.pages.plan.step import Step
from gui.window.widgets.card import Card
from gui.window.widgets.labels import Label


def guard_words() -> dict[str, tuple[str, str]]:
    """Return what each guard policy is called, and what it does."""
    return {
        "stop": (
            _("Stop at once"),
            _("The first loss that is no number stops the run. What was saved before stays good."),
        ),
        "confirm": (
            _("Stop when it stays so"),
            _("Single bad steps are let pass, as mixed precision has them; it stops when they do not end."),
        ),
        "warn": (
            _("Only tell me"),
            _("The run goes on whatever happens, and files saved from then on may be useless."),
        ),
    }


class CarefulStep(Step):
    """Caution presets as cards, the guard's policy, and how often a run is tried again by itself."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts, "careful")
        self._known: tuple[object, ...] = ()
        self._cautions = Choices(parts.theme, "caution", width=230)
        self._cautions.chosen.connect(self._choose)
        self._own = Label("", "small")
        cautions = Card(_("How careful it learns"))
        cautions.body.addWidget(self._cautions)
        cautions.body.addWidget(self._own)
        self._guards = Choices(parts.theme, "guard", width=230)
        self._guards.chosen.connect(self._choose_guard)
        self._guards.set_options([Option(name, *words) for name, words in guard_words().items()])
        guard = Card(_("When the loss is no number any more"))
        guard.body.addWidget(self._guards)
        self.content.addWidget(cautions)
        self.content.addWidget(guard)
        self.cards = [FieldCard(parts, group) for group in again_groups()]
        for card in self.cards:
            self.content.addWidget(card)
        self.content.addStretch(1)

    def update_now(self) -> None:
        """Show what the plan has now."""
        super().update_now()
        document = self.parts.document
        plan = document.plan
        wanted = (plan.family, plan.kind, plan.presets)
        if wanted != self._known:
            self._known = wanted
            self._show_cautions()
        self._cautions.show_value(document.layer_on("caution"))
        self._guards.show_value(plan.guard.nonfinite)
        own = len(plan.arguments)
        self._own.setText(_("Values that you set yourself stay as they are.") if own else "")
        self._own.setVisible(bool(own))

    def focus_field(self, target: str) -> bool:
        """Give a field the keyboard; whether this step has it."""
        if super().focus_field(target):
            return True
        chosen = self.parts.document.plan.guard.nonfinite if target.startswith("guard.") else ""
        card = self._guards.card(chosen) or self._cautions.card(
            self.parts.document.layer_on("caution") or "safe"
        )
        if card is not None:
            self.scroller.ensureWidgetVisible(card)
            card.setFocus()
        return card is not None

    def _show_cautions(self) -> None:
        document = self.parts.document
        layers = document.library.on("caution")
        values = {name: values_with(document.plan, "caution", name, document.library) for name in layers}
        targets = differing(values.values())
        self._cautions.set_options(
            [
                Option(
                    name, _(layer.title), _(layer.description), details=effect_lines(values[name], targets)
                )
                for name, layer in layers.items()
            ]
        )

    def _choose(self, name: str) -> None:
        title = _(self.parts.document.library.layers[name].title)
        refusal = self.parts.document.set_layer("caution", name, _("Choose {what}").format(what=title))
        if refusal:
            self.refused.emit(refusal)

    def _choose_guard(self, name: str) -> None:
        text = _("Choose {what}").format(what=guard_words()[name][0])
        refusal = self.parts.document.change({"guard.nonfinite": name}, text)
        if refusal:
            self.refused.emit(refusal)
