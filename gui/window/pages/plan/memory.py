"""The fourth step: on which GPU, and with how much memory."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QProgressBar

from gui.engine.errors import UnknownFamily
from gui.engine.findings import Finding
from gui.engine.hardware.gpu import GpuDevice, GpuSample
from gui.engine.plan.preset_choice import with_layer
from gui.engine.plan.presets import compose
from gui.engine.preflight.facts import GpuFact
from gui.engine.quantities import GIB, gib
from gui.engine.texts import _
from gui.window.pages.plan.choices import Choices, Option
from gui.window.pages.plan.effects import differing, effect_grid, values_with
from gui.window.pages.plan.parts import Parts
from gui.window.pages.plan.step import Step
from gui.window.theme.space import Space
from gui.window.widgets.card import Card
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import clear, column, held

ANY = "any"
NONE = "none"


@dataclass(frozen=True)
class FoundGpu:
    """A GPU of this machine.

    Attributes:
        index: In NVML's order.
        name: The model.
        total_bytes: Its memory; None when not known.
        free_bytes: What can be had now; None when not known.
        capability: Compute capability; None when not known.
    """

    index: int
    name: str
    total_bytes: int | None
    free_bytes: int | None
    capability: tuple[int, int] | None


def found_gpus(samples: list[GpuSample], devices: list[GpuDevice]) -> list[FoundGpu]:
    """Return the GPUs that answer, with what is known of each; of a divided one the part that would train."""
    about = {device.uuid: device for device in devices}
    found = []
    for sample in {sample.index: sample for sample in reversed(samples)}.values():
        device = about.get(sample.uuid)
        fact = GpuFact(compute_capability=device.compute_capability if device else None)
        total = sample.total_bytes or (device.total_bytes if device else None)
        if not sample.lost:
            found.append(FoundGpu(sample.index, sample.name, total, sample.free_bytes, fact.capability))
    return sorted(found, key=lambda gpu: gpu.index)


class MemoryStep(Step):
    """The GPUs that were found, and the classes of memory."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts, "memory")
        self._gpus: list[FoundGpu] = []
        self._shown: tuple[object, ...] = ()
        self._known: tuple[object, ...] = ()
        self._bars: dict[int, tuple[QProgressBar, Label]] = {}
        self._found = Choices(parts.theme, "gpu", width=230)
        self._found.chosen.connect(self._choose_gpu)
        self._problem = Label("", "muted")
        self._several = Label("", "small")
        gpus = Card(_("The GPU that trains"))
        for part in (self._found, self._problem, self._several):
            gpus.body.addWidget(part)
        self._sizes = Choices(parts.theme, "memory", width=92)
        self._sizes.chosen.connect(self._choose_size)
        self._effects_title = Label("", "strong")
        self._effects = column(spacing=Space.XS)
        sizes = Card(_("How much memory it has"))
        sizes.body.addWidget(Label(_("Chosen with the GPU. Choose it by hand for another machine."), "small"))
        sizes.body.addWidget(self._sizes)
        sizes.body.addSpacing(Space.S)
        sizes.body.addWidget(self._effects_title)
        sizes.body.addLayout(self._effects)
        self.content.addWidget(gpus)
        self.content.addWidget(sizes)
        self.content.addStretch(1)
        parts.hardware.sampled.connect(self._sampled)

    def update_now(self) -> None:
        """Show what the plan has now."""
        super().update_now()
        document = self.parts.document
        plan = document.plan
        self._show_gpus()
        ids = plan.launch.gpu_ids
        self._found.show_value(str(ids[0]) if len(ids) == 1 else ANY if not ids else None)
        known = {gpu.index for gpu in self._gpus}
        away = bool(ids) and (len(ids) > 1 or ids[0] not in known)
        self._several.setText(
            _("The plan trains on: {gpus}.").format(gpus=", ".join(f"GPU {each}" for each in ids))
            if away
            else ""
        )
        self._several.setVisible(away)
        wanted = (plan.family, plan.kind, plan.presets)
        if wanted != self._known:
            self._known = wanted
            self._show_sizes()
        self._sizes.show_value(document.layer_on("memory") or NONE)

    def has_place(self, finding: Finding) -> bool:
        """Whether a finding is shown beside its field."""
        del finding
        return False

    def focus_field(self, target: str) -> bool:
        """Give a field the keyboard; whether this step has it."""
        del target
        card = self._found.card(ANY) or self._sizes.card(self.parts.document.layer_on("memory") or NONE)
        if card is not None:
            self.scroller.ensureWidgetVisible(card)
            card.setFocus()
        return card is not None

    def _sampled(self) -> None:
        if not self.isVisible():
            self._stale = True
            return
        before = self._shown
        self._show_gpus()
        if self._shown != before:
            self.update_now()

    def _show_gpus(self) -> None:
        hardware = self.parts.hardware
        self._gpus = found_gpus(list(hardware.gpus), list(hardware.devices))
        shown = tuple((gpu.index, gpu.name, gpu.total_bytes) for gpu in self._gpus)
        if shown != self._shown or not self._bars:
            self._shown = shown
            self._bars = {}
            options = [self._option(gpu) for gpu in self._gpus]
            if options:
                options.append(
                    Option(ANY, _("Leave it to the trainer"), _("It takes the first GPU that it sees."))
                )
            self._found.set_options(options)
        self._found.setVisible(bool(self._gpus))
        self._problem.setVisible(not self._gpus or bool(hardware.problem))
        self._problem.setText(hardware.problem if self._gpus else self._no_gpu(hardware.problem))
        for gpu in self._gpus:
            self._show_use(gpu)

    @staticmethod
    def _no_gpu(problem: str | None) -> str:
        calm = _(
            "The plan can be made all the same: choose below how much memory the GPU has that will train it."
        )
        if not problem:
            return _("Looking for GPUs …") + " " + calm
        return f"{problem[:1].upper()}{problem[1:].rstrip('.')}. {calm}"

    def _option(self, gpu: FoundGpu) -> Option:
        bar = QProgressBar()
        bar.setTextVisible(False)
        bar.setRange(0, 1000)
        bar.setAccessibleName(_("GPU memory in use"))
        words = Label("", "small")
        self._bars[gpu.index] = (bar, words)
        title = gpu.name or _("GPU {index}").format(index=gpu.index)
        return Option(str(gpu.index), title, details=(held(column(bar, words, spacing=Space.XS)),))

    def _show_use(self, gpu: FoundGpu) -> None:
        bar, words = self._bars[gpu.index]
        if gpu.total_bytes and gpu.free_bytes is not None:
            bar.setValue(round(1000 * (1 - gpu.free_bytes / gpu.total_bytes)))
            text = _("GPU {index} · {free} of {total} free")
            words.setText(text.format(index=gpu.index, free=gib(gpu.free_bytes), total=gib(gpu.total_bytes)))
        else:
            bar.hide()
            words.setText(_("GPU {index} · memory not known").format(index=gpu.index))

    def _show_sizes(self) -> None:
        document = self.parts.document
        layers = document.library.on("memory")
        self._sizes.set_options(
            [Option(NONE, _("Any")), *(Option(name, _(layer.title)) for name, layer in layers.items())]
        )
        chosen = document.layer_on("memory")
        clear(self._effects)
        self._effects_title.setVisible(chosen is not None)
        if chosen is None:
            return
        plan, library = document.plan, document.library
        values = {name: values_with(plan, "memory", name, library) for name in (None, chosen)}
        targets = differing(values.values())
        self._effects.addLayout(effect_grid(values[chosen], targets))
        words = _("What {size} changes") if targets else _("{size} is enough for the usual values")
        self._effects_title.setText(words.format(size=_(layers[chosen].title)))

    def _choose_gpu(self, name: str) -> None:
        document = self.parts.document
        plan = document.plan
        gpu = next((each for each in self._gpus if str(each.index) == name), None)
        launch = plan.launch.model_copy(update={"gpu_ids": () if gpu is None else (gpu.index,)})
        presets = plan.presets
        if gpu is not None and gpu.total_bytes:
            memory, precision = self._layers_for(gpu)
            presets = with_layer(presets, "memory", memory, document.library)
            presets = with_layer(presets, "gpu", precision, document.library)
        words = gpu.name if gpu else _("any GPU")
        changed = plan.model_copy(update={"launch": launch, "presets": presets})
        refusal = document.replace(changed, _("Choose {what}").format(what=words))
        if refusal:
            self.refused.emit(refusal)

    def _layers_for(self, gpu: FoundGpu) -> tuple[str | None, str | None]:
        """Return the layers for a GPU's memory and for its precision."""
        document = self.parts.document
        library, plan = document.library, document.plan
        family = plan.family if self.parts.family is not None else "sdxl"
        vram = (gpu.total_bytes or 0) / GIB
        try:
            made = compose(
                family, plan.kind, vram_gib=vram, compute_capability=gpu.capability, library=library
            )
        except UnknownFamily:
            return None, None
        found = {
            axis: [name for name in made.layers if name in library.on(axis)] for axis in ("memory", "gpu")
        }
        return next(iter(found["memory"]), None), next(iter(found["gpu"]), None)

    def _choose_size(self, name: str) -> None:
        document = self.parts.document
        layer = None if name == NONE else name
        title = _(document.library.layers[name].title) if layer else _("any memory")
        refusal = document.set_layer("memory", layer, _("Choose {what}").format(what=title))
        if refusal:
            self.refused.emit(refusal)
