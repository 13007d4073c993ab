"""Rules about full trainings: what single scripts assert or cannot do.

Source: trainer-facts 1.5, 1.9, 2.9 (sdxl_train.py:106-117, 286, 374-416, sd3_train.py:81-99, 408-448,
train_db.py:339-348).
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.caching import TEXT_CACHES, caches_text, without_text_cache
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.rules.schedules import relative_step
from gui.engine.preflight.steps import SENSELESS, forecast_steps
from gui.engine.preflight.view import View, as_number
from gui.engine.texts import _

BLOCK_RATES = 23
"""Learning rates by block of SDXL's U-Net (sdxl_train.py:55)."""

OTHER_RATES = ("learning_rate_te", "self_attn_lr", "cross_attn_lr", "mlp_lr", "mod_lr", "block_lr")
"""Rates of parts of a model, which count beside ``learning_rate``."""


def check_trained_and_cached(view: View) -> Iterator[Finding]:
    """What is cached cannot be trained (sdxl_train.py:109, sd3_train.py:81)."""
    if not view.flag("train_text_encoder") or not caches_text(view):
        return
    if view.script not in ("sdxl_train.py", "sd3_train.py") or view.flag("use_t5xxl_cache_only"):
        return
    t5_only = write({"use_t5xxl_cache_only": True}, _("cache only T5"), identity="t5-only", safe=True)
    drop = leave_out("train_text_encoder", safe=view.script == "sdxl_train.py")
    yield Finding(
        id="te-trained-cached",
        severity="stop",
        title=_("The text encoders cannot be trained while their outputs are cached."),
        detail=_("The trainer checks it first and stops."),
        arguments=("train_text_encoder", "cache_text_encoder_outputs"),
        fixes=((t5_only,) if view.script == "sd3_train.py" else ()) + (drop, without_text_cache(view)),
        sources=("CONF-01", "trainer: sdxl_train.py:109, sd3_train.py:81"),
    )


def check_t5_training(view: View) -> Iterator[Finding]:
    """T5 is trained only along with CLIP and never cached (sd3_train.py:93-99)."""
    if view.script != "sd3_train.py" or not view.flag("train_t5xxl"):
        return
    cached = caches_text(view) or view.flag("use_t5xxl_cache_only")
    alone = not view.flag("train_text_encoder")
    if not cached and not alone:
        return
    together: dict[str, object] = {"train_text_encoder": True, "use_t5xxl_cache_only": None}
    together |= {name: None for name in TEXT_CACHES if view.given(name)}
    yield Finding(
        id="t5-training",
        severity="stop",
        title=_("T5 can only be trained along with CLIP, and without a cache of its outputs."),
        detail=_("The trainer checks it first and stops."),
        arguments=("train_t5xxl", "train_text_encoder", "cache_text_encoder_outputs"),
        fixes=(
            leave_out("train_t5xxl", safe=True),
            write(together, _("train all text encoders, without a cache"), identity="together"),
        ),
        sources=("trainer: sd3_train.py:93-99",),
    )


def check_weighted_cached(view: View) -> Iterator[Finding]:
    """Weights in captions are lost when their encodings are cached (sdxl_train.py:106)."""
    if view.script != "sdxl_train.py" or not view.flag("weighted_captions") or not caches_text(view):
        return
    yield Finding(
        id="weighted-cached",
        severity="stop",
        title=_("Weighted captions and cached text encoder outputs exclude each other."),
        detail=_("The trainer checks it first and stops."),
        arguments=("weighted_captions", "cache_text_encoder_outputs"),
        fixes=(leave_out("weighted_captions", safe=True), without_text_cache(view)),
        sources=("trainer: sdxl_train.py:106",),
    )


def check_fused_groups(view: View) -> Iterator[Finding]:
    """Optimizers by group or block take neither schedule-free nor relative steps (flux_train.py:380)."""
    groups = view.number("fused_optimizer_groups") if view.script == "sdxl_train.py" else None
    blockwise = view.flag("blockwise_fused_optimizers")
    if not groups and not blockwise:
        return
    name = "blockwise_fused_optimizers" if blockwise else "fused_optimizer_groups"
    if blockwise and view.optimizer.endswith("schedulefree"):
        title = _("{name} does not go with schedule-free optimizers.")
        detail = _("The trainer stops after loading and caching.")
    elif relative_step(view):
        title = _("{name} does not go with Adafactor’s relative steps.")
        detail = _("The second optimizer finds no learning rate, and the trainer stops.")
    elif view.flag("fused_backward_pass"):
        title = _("{name} and fused_backward_pass exclude each other.")
        detail = _("The first wins in silence, and most of the model is not trained.")
    else:
        return
    fixes = [leave_out(name, safe=True)]
    if relative_step(view):
        fixed = ["relative_step=False", "scale_parameter=False", "warmup_init=False"]
        fixes.append(
            write(
                {"optimizer_args": fixed}, _("let Adafactor keep to the learning rate"), identity="fixed-rate"
            )
        )
    yield Finding(
        id="fused-groups",
        severity="stop",
        title=title.format(name=name),
        detail=detail,
        arguments=(name, "optimizer_type", "optimizer_args"),
        fixes=tuple(fixes),
        sources=("trainer: flux_train.py:380, train_util.py:5062-5079, sdxl_train.py:374-416",),
    )


def check_freeze_blockwise(view: View) -> Iterator[Finding]:
    """Frozen blocks upset the count of blockwise optimizers (sd3_train.py:408, 448)."""
    frozen = view.number("num_last_block_to_freeze")
    if not frozen or not view.flag("blockwise_fused_optimizers"):
        return
    yield Finding(
        id="freeze-blockwise",
        severity="stop",
        title=_("num_last_block_to_freeze and blockwise_fused_optimizers exclude each other."),
        detail=_("The trainer stops with “number of parameters does not match”, after loading and caching."),
        arguments=("blockwise_fused_optimizers", "num_last_block_to_freeze"),
        fixes=(
            leave_out("blockwise_fused_optimizers", safe=True),
            leave_out("num_last_block_to_freeze", identity="no-freeze"),
        ),
        sources=("trainer: sd3_train.py:408, 448",),
    )


def check_block_lr(view: View) -> Iterator[Finding]:
    """``block_lr`` has one rate for each of the 23 blocks (sdxl_train.py:113)."""
    text = view.text("block_lr")
    if text is None:
        return
    rates = text.split(",")
    if len(rates) == BLOCK_RATES and all(as_number(rate) is not None for rate in rates):
        return
    yield Finding(
        id="block-lr",
        severity="stop",
        title=_("block_lr needs {wanted} numbers with commas between, not {count}.").format(
            wanted=BLOCK_RATES, count=len(rates)
        ),
        detail=_("One for each block of the U-Net. The trainer checks it first and stops."),
        arguments=("block_lr",),
        fixes=(leave_out("block_lr"),),
        sources=("trainer: sdxl_train.py:113-117",),
    )


def check_stop_te(view: View) -> Iterator[Finding]:
    """When DreamBooth stops training the text encoder, it fails (train_db.py:339-348)."""
    stop = view.number("stop_text_encoder_training") if view.given("stop_text_encoder_training") else None
    if view.script != "train_db.py" or stop is None or stop < 0:
        return
    forecast = forecast_steps(view) if view.given("max_train_epochs") else None
    total = forecast.total_steps if forecast else view.number("max_train_steps")
    if total is not None and stop >= total and (forecast or not view.given("max_train_epochs")):
        return
    yield Finding(
        id="stop-te",
        severity="stop",
        title=_("Training fails when step {step:g} of the text encoder is reached.").format(step=stop),
        detail=_(
            "The script then loses hold of its model. Only “never train the text encoder” (-1) and “train it "
            "to the end” work."
        ),
        arguments=("stop_text_encoder_training",),
        fixes=(
            write(
                {"stop_text_encoder_training": -1},
                _("never train the text encoder"),
                identity="never",
                safe=stop == 0,
            ),
            leave_out("stop_text_encoder_training"),
        ),
        sources=("trainer: train_db.py:339-348",),
    )


def _begins_at(view: View) -> tuple[str, int] | None:
    """Return which argument says at which step the run begins, and the step (train_network.py:1236-1242)."""
    step, epoch = (
        view.number(name) if view.given(name) else None for name in ("initial_step", "initial_epoch")
    )
    if step is not None:
        return "initial_step", int(step)
    forecast = forecast_steps(view)
    if epoch is None or forecast is None:
        return None
    together = max(1, min(view.plan.launch.num_processes, SENSELESS)) * max(
        1, int(view.number("gradient_accumulation_steps") or 1)
    )
    return "initial_epoch", (int(epoch) - 1) * -(-forecast.batches_per_epoch // together)


def check_initial_step(view: View) -> Iterator[Finding]:
    """A run that starts at its end has nothing to do (train_network.py:1252)."""
    begins = _begins_at(view) if view.trains_network else None
    forecast = forecast_steps(view) if view.given("max_train_epochs") else None
    total = forecast.total_steps if forecast else view.number("max_train_steps")
    if begins is None or total is None or (view.given("max_train_epochs") and forecast is None):
        return
    name, first = begins
    if first <= 0 or first < total:
        return
    yield Finding(
        id="initial-step",
        severity="stop",
        title=_("The run would begin at step {first:g} of {total:g}.").format(first=first, total=total),
        detail=_("The trainer stops after loading and caching."),
        arguments=(name, "max_train_epochs" if forecast else "max_train_steps"),
        fixes=(leave_out(name),),
        sources=("STEP-07", "trainer: train_network.py:1236-1254"),
    )


def check_zero_rate(view: View) -> Iterator[Finding]:
    """A rate of 0 leaves a full training nothing to train (sdxl_train.py:286)."""
    if view.trains_network or not view.given("learning_rate") or view.number("learning_rate") != 0:
        return
    if view.flag("train_text_encoder") or view.arguments is None or view.knows("control_net_lr"):
        return
    if any(view.given(name) for name in OTHER_RATES):
        return
    yield Finding(
        id="rate-zero",
        severity="stop",
        title=_("A learning rate of 0 trains nothing."),
        detail=_("The trainer stops after loading, or goes through all steps without changing anything."),
        arguments=("learning_rate",),
        fixes=(write({"learning_rate": 1e-5}, _("set the learning rate to 1e-5")),),
        sources=("CONF-14", "trainer: sdxl_train.py:286"),
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "te-trained-cached",
        check_trained_and_cached,
        ("CONF-01", "trainer: sdxl_train.py:109"),
        lambda: _("Trained text encoders beside their cache, in full trainings"),
    ),
    Rule(
        "t5-training", check_t5_training, ("trainer: sd3_train.py:93",), lambda: _("What training T5 needs")
    ),
    Rule(
        "weighted-cached",
        check_weighted_cached,
        ("trainer: sdxl_train.py:106",),
        lambda: _("Weighted captions beside cached text encoders"),
    ),
    Rule(
        "fused-groups",
        check_fused_groups,
        ("trainer: flux_train.py:380",),
        lambda: _("Optimizers by group or block, and what they exclude"),
    ),
    Rule(
        "freeze-blockwise",
        check_freeze_blockwise,
        ("trainer: sd3_train.py:448",),
        lambda: _("Frozen blocks beside blockwise optimizers"),
    ),
    Rule("block-lr", check_block_lr, ("trainer: sdxl_train.py:113",), lambda: _("Rates by block of SDXL")),
    Rule(
        "stop-te",
        check_stop_te,
        ("trainer: train_db.py:339",),
        lambda: _("The step at which DreamBooth stops training the text encoder"),
    ),
    Rule(
        "initial-step",
        check_initial_step,
        ("STEP-07", "trainer: train_network.py:1252"),
        lambda: _("A run that would begin at its end"),
    ),
    Rule("rate-zero", check_zero_rate, ("CONF-14",), lambda: _("A learning rate of 0 in full trainings")),
)
