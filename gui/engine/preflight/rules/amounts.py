"""Rules about how much there is: images against rank, rates and steps, and steps against time.

They are advice where images are known; none of them stops a run.
Source: N10, S4, T2, T4, T6, T7; SLOW-05, STEP-02.
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.amounts import amounts
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.learning_rates import HIGH, finds_own_rate, model_rate
from gui.engine.preflight.rules.networks import module_name
from gui.engine.preflight.steps import forecast_steps
from gui.engine.preflight.view import View
from gui.engine.texts import _, ngettext

CALM_RATE = 5e-5
"""Where to go from a rate that is unstable (N9)."""

LARGE_RATE = 1e-4
"""What is large for a small dataset (N10): the usual rate, and more."""

LONG_HOURS = 12.0
"""Runs that take longer are worth a second look (SLOW-05), and are cut by rented machines (STEP-02)."""

SECONDS_PER_HOUR = 3600.0


def trained_images(view: View) -> int | None:
    """Return how many images a LoRA is trained on; None when that is not known, or none is trained."""
    fact = view.facts.dataset
    return fact.images if fact and fact.images and view.dataset_known and view.trains_network else None


def check_data_few(view: View) -> Iterator[Finding]:
    """Too few images are learnt by heart (T2)."""
    images, limits = trained_images(view), amounts().images
    if images is None or images >= limits.few:
        return
    yield Finding(
        id="data-few",
        severity="warning" if images < limits.too_few else "hint",
        title=ngettext("{count} image is very little.", "{count} images are few.", images).format(
            count=images
        ),
        detail=_(
            "20 to 30 varied images do for a simple character, 100 and more for many styles. Fewer than 15 "
            "are too little, and 15 to 20 that are much alike are learnt by heart."
        ),
        arguments=("dataset.subsets",),
        sources=("T2",),
    )


def check_rank_data(view: View) -> Iterator[Finding]:
    """A high rank with few images learns them by heart (S4, T4)."""
    images, rank = trained_images(view), view.number("network_dim")
    if images is None or rank is None or not module_name(view) or view.flag("dim_from_weights"):
        return
    band = next((each for each in amounts().rank.bands if images <= each.images), None)
    if band is None or rank <= band.most:
        return
    yield Finding(
        id="rank-data",
        severity="hint",
        title=ngettext(
            "Rank {rank:g} is out of balance with {count} image.",
            "Rank {rank:g} is out of balance with {count} images.",
            images,
        ).format(rank=rank, count=images),
        detail=_("With so few images a lower rank does; the alpha goes along with it. Files get smaller."),
        arguments=("network_dim", "network_alpha"),
        fixes=(lower_rank(view, rank, band.meant),),
        sources=("S4", "T4"),
    )


def lower_rank(view: View, rank: float, meant: int) -> Fix:
    """Return the fix that takes another rank, with the alpha in the same proportion.

    Args:
        view: The plan.
        rank: What it has.
        meant: What it shall have.
    """
    alpha = view.number("network_alpha") or rank
    scaled = float(f"{max(1.0, alpha * meant / rank):.6g}")
    return write(
        {"network_dim": meant, "network_alpha": scaled},
        _("take rank {rank} with alpha {alpha:g}").format(rank=meant, alpha=scaled),
        identity="middle",
    )


def check_nan_prone(view: View) -> Iterator[Finding]:
    """Few images, single ones at a time, a large rate, no warm-up: what NaN is made of (N10)."""
    images, rate = trained_images(view), model_rate(view)[1]
    if (
        images is None
        or images > amounts().images.few
        or rate is None
        or rate < LARGE_RATE
        or finds_own_rate(view)
    ):
        return
    accumulates = (view.number("gradient_accumulation_steps") or 1) > 1
    single = all((dataset.number("batch_size") or 1) <= 1 for dataset in view.dataset_views)
    warm = view.given("lr_warmup_steps") and view.value("lr_warmup_steps") not in (0, "0", 0.0)
    if not single or accumulates or warm:
        return
    name = model_rate(view)[0]
    yield Finding(
        id="nan-prone",
        severity="warning" if rate >= HIGH else "hint",
        title=_("Few images one at a time, at a rate of {rate:g} and without warm-up.").format(rate=rate),
        detail=_("Each of these alone is fine; together they are how losses blow up. Change one of them."),
        arguments=("gradient_accumulation_steps", "lr_warmup_steps", name),
        fixes=(
            write(
                {"gradient_accumulation_steps": 4},
                _("let four images make one step (a step takes four times as long)"),
                identity="accumulate",
            ),
            write({name: CALM_RATE}, _("set {name} to {rate:g}").format(name=name, rate=CALM_RATE)),
        ),
        sources=("N10",),
    )


def check_steps_range(view: View) -> Iterator[Finding]:
    """Far fewer steps than usual learn nothing, far more learn by heart (T7)."""
    if not view.trains_network or view.kin is None:
        return
    forecast = forecast_steps(view)
    steps = forecast.total_steps if forecast else None
    if steps is None and not view.given("max_train_epochs") and view.given("max_train_steps"):
        steps = int(view.number("max_train_steps") or 0)
    usual, far = _usual_steps(view, view.kin.name), amounts().steps.far
    if not steps or usual[0] / far <= steps <= usual[1] * far:
        return
    meant = usual[1] if steps > usual[1] else usual[0]
    yield Finding(
        id="steps-range",
        severity="hint",
        title=ngettext(
            "{steps} step is far from the usual {low} to {high}.",
            "{steps} steps are far from the usual {low} to {high}.",
            steps,
        ).format(steps=steps, low=usual[0], high=usual[1]),
        detail=_("Fewer barely learn; more learn the images by heart, unless there are very many."),
        arguments=("max_train_steps", "max_train_epochs"),
        fixes=(
            write(
                {"max_train_steps": meant, "max_train_epochs": None},
                _("train {steps} steps").format(steps=meant),
                identity="usual",
            ),
        ),
        sources=("T7",),
    )


def _usual_steps(view: View, family: str) -> tuple[int, int]:
    """Return the fewest and the most steps that are usual for a family and what the plan is for."""
    limits = amounts().steps
    spans = [span for start, span in limits.families.items() if family.startswith(start)] or [limits.others]
    spans += [limits.purposes[layer] for layer in view.plan.presets if layer in limits.purposes]
    return min(low for low, _high in spans), max(high for _low, high in spans)


def check_eta(view: View) -> Iterator[Finding]:
    """A run of many hours is worth a second look, and rented machines end it (SLOW-05, STEP-02)."""
    pace, forecast = view.facts.seconds_per_step, forecast_steps(view)
    steps = forecast.total_steps if forecast else None
    if steps is None and not view.given("max_train_epochs"):
        steps = int(view.number("max_train_steps") or 0)
    if not pace or not steps or pace * steps <= LONG_HOURS * SECONDS_PER_HOUR:
        return
    fitting = int(LONG_HOURS * SECONDS_PER_HOUR / pace)
    yield Finding(
        id="eta",
        severity="warning",
        title=_("{steps} steps would take about {hours:.0f} hours.").format(
            steps=steps, hours=pace * steps / SECONDS_PER_HOUR
        ),
        detail=_(
            "A step took {seconds:.1f} seconds here. Save on the way, so that nothing is lost when a "
            "machine's time runs out."
        ).format(seconds=pace),
        arguments=("max_train_steps", "max_train_epochs"),
        fixes=(
            write(
                {"max_train_steps": fitting, "max_train_epochs": None},
                _("train {steps} steps, which takes {hours:g} hours").format(steps=fitting, hours=LONG_HOURS),
                identity="fitting",
            ),
        )
        if fitting
        else (),
        sources=("SLOW-05", "STEP-02"),
    )


RULES: tuple[Rule, ...] = (
    Rule("data-few", check_data_few, ("T2",), lambda: _("Few images")),
    Rule("rank-data", check_rank_data, ("S4", "T4"), lambda: _("Rank and number of images")),
    Rule("nan-prone", check_nan_prone, ("N10",), lambda: _("What makes losses blow up together")),
    Rule("steps-range", check_steps_range, ("T7",), lambda: _("Usual numbers of steps")),
    Rule("eta", check_eta, ("SLOW-05", "STEP-02"), lambda: _("How long the run would take")),
)
