"""Plans around the hard constraints, drawn by lot but always the same: right ones and wrong ones.

Each begins as a sound plan of a family and a kind, and is twisted a few times.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from agreement_dataset import (
    twist_buckets,
    twist_caching,
    twist_crop,
    twist_option,
    twist_own_file,
    twist_size,
    twist_structure,
)
from agreement_draft import WAYS, Draft, Places, sound

from gui.engine.plan.dataset_options import CONTROLNET_SCRIPTS, FINETUNING_SCRIPTS, FOLDER_ARGUMENTS
from gui.engine.redaction import SECRET_ARGUMENTS
from gui.engine.trainer.argument import Argument
from gui.engine.trainer.catalogue import Catalogue, ScriptArguments

NEVER_DRAWN = frozenset(
    {"config_file", "output_config", "dataset_config", "dataset_class", *FOLDER_ARGUMENTS, *SECRET_ARGUMENTS}
)
"""Arguments that make the trainer do something else than what the plan says, that say what the
dataset section says already, and tokens."""


WRONG: dict[str | None, tuple[Any, ...]] = {
    "int": ("many", "1e3", "16.0", 16.5, 100.0, "", True, "1,000", [1, 2], "0x10", " 12 ", "1_0", -3, "-3"),
    "float": ("fast", "1,5", "", True, [0.1, 0.2], "1e-4 ", "-1e-4", "1e", "½", "infinity", -2, "0x1p3"),
    "int_or_float": ("100.0", "1e2", 1.5, "half", "ten%", "150%", "-1", 0.5, "10%", 1, True, "%", "5 %"),
    "str": (
        "",
        True,
        ["a", "b"],
        "a b",
        "-x",
        "--network_dim",
        "--",
        "-",
        "=",
        "한글 'q' \"d\"",
        5,
        0.5,
        "%s",
    ),
}
"""For each reader: what it refuses, and what looks as if it would be refused."""

# True by hand would be no list at all, so it is not among them.
LISTS: tuple[Any, ...] = (
    [],
    ["a=1"],
    ["a=1", "b=2"],
    ["-a=1", "b"],
    ["-", "x"],
    ["- a", "x"],
    ["-5", "x"],
    "a=1",
    ["--help"],
    ["a", "--", "b"],
    [0.1, -0.5],
    [1e-5, -1e-5],
    [-1e-30, 2],
    ["x", "-1e-5"],
    ["a", 1],
    "",
)

SWITCHES = (True, False, "true", "no", 1, 0, "", "maybe", 2, 1.0)


def settings(script: ScriptArguments) -> list[Argument]:
    return [argument for name, argument in script.arguments.items() if name not in NEVER_DRAWN]


def right_value(draw: random.Random, argument: Argument) -> Any:
    if argument.is_flag:
        return draw.choice((True, False))
    choices = [choice for choice in argument.choices or () if choice is not None]
    if choices:
        return draw.choice(choices)
    values: dict[str | None, tuple[Any, ...]] = {
        "int": (1, 2, 64, "8"),
        "float": (0.1, 1e-5, 1, "1e-4", 1e-30, -0.5, -1e-7),
        "int_or_float": (100, 0.1, "5%", 0, "100"),
    }
    one = draw.choice(values.get(argument.type, ("word", "two words", "/some/path", "-dash", "a=b")))
    return [one, one] if argument.is_list and not str(one).startswith("-") else one


def twist_right(draw: random.Random, draft: Draft) -> None:
    for argument in draw.sample(settings(draft.script), draw.randint(1, 6)):
        draft.arguments[argument.dest] = right_value(draw, argument)


def twist_type(draw: random.Random, draft: Draft) -> None:
    valued = [row for row in settings(draft.script) if not row.is_flag and not row.choices]
    kind = draw.choice(("int", "int", "float", "float", "int_or_float", "str", "list"))
    fitting = [row for row in valued if (row.is_list if kind == "list" else row.type == kind)]
    if fitting:
        argument = draw.choice(fitting)
        draft.arguments[argument.dest] = draw.choice(LISTS if argument.is_list else WRONG[kind])


def twist_choice(draw: random.Random, draft: Draft) -> None:
    argument = draw.choice([row for row in settings(draft.script) if row.choices])
    known = [choice for choice in argument.choices or () if choice is not None]
    near = str(draw.choice(known))
    odd = ("", "none", "fp32", "75", 75, near.upper(), f" {near}", near[:-1], near, "225", True, [near, near])
    draft.arguments[argument.dest] = draw.choice(odd)


def twist_switch(draw: random.Random, draft: Draft) -> None:
    argument = draw.choice([row for row in settings(draft.script) if row.is_flag])
    draft.arguments[argument.dest] = draw.choice(SWITCHES)


def twist_name(draw: random.Random, draft: Draft) -> None:
    argument = draw.choice(settings(draft.script))
    name = argument.dest
    spelled = (
        name + "s",
        name.replace("_", "-"),
        name.upper(),
        name[1:],
        f"--{name}",
        name[:-1] + "x",
        name[: draw.randint(1, len(name))],
        "text_encoder_lr1",
        "learning_rate_te1",
        "prior_loss_weight",
        "cache_text_encoder_outputs",
        "blocks_to_swap",
        "no_half_vae",
        "fp8_base_unet",
        "train_text_encoder",
        "no_such_thing",
    )
    other = draw.choice(spelled)
    value = True if argument.is_flag else right_value(draw, argument)
    known = draft.script.arguments.get(other)
    draft.arguments[other] = right_value(draw, known) if known else value


# --- what verify_training_args looks at ---------------------------------------------------------

NOISE: dict[str, tuple[Any, ...]] = {
    "v2": (True, False),
    "v_parameterization": (True, True, False),
    "scale_v_pred_loss_like_noise_pred": (True, True, False),
    "v_pred_like_loss": (0.5, 0.0, "0", 1e-3),
    "zero_terminal_snr": (True, False),
    "noise_offset": (0.05, 0, "0.1"),
    "adaptive_noise_scale": (0.005, 0, -0.01),
    "multires_noise_iterations": (6,),
    "clip_skip": (2,),
    "min_snr_gamma": (5,),
    "debiased_estimation_loss": (True,),
    "sample_every_n_steps": (0, -5),
    "cache_latents_to_disk": (True,),
    "highvram": (True,),
}


def twist_noise(draw: random.Random, draft: Draft) -> None:
    for name in draw.sample(sorted(NOISE), draw.randint(2, 5)):
        if name in draft.script.arguments or draw.random() < 0.05:
            draft.arguments[name] = draw.choice(NOISE[name])


TWISTS: tuple[Callable[[random.Random, Draft], None], ...] = (
    *(twist_right, twist_type, twist_type, twist_choice, twist_switch, twist_name),
    *(twist_noise, twist_noise, twist_size, twist_crop, twist_buckets, twist_option, twist_structure),
    *(twist_own_file, twist_caching, twist_caching),
)


def drafts(count: int, seed: int, catalogue: Catalogue, places: Places) -> Iterator[Draft]:
    """Return plans, the same for the same seed.

    Args:
        count: How many.
        seed: Of the lot.
        catalogue: The trainer's arguments.
        places: Where their files lie.
    """
    draw = random.Random(seed)
    for _number in range(count):
        draft = sound(*draw.choice(WAYS), catalogue, places)
        # What brings its own file empties the dataset section, so it comes last.
        chosen = sorted(draw.sample(TWISTS, draw.choice((0, 1, 1, 2, 3))), key=lambda t: t is twist_own_file)
        for twist in chosen:
            if twist is twist_own_file and draft.script.name in CONTROLNET_SCRIPTS | FINETUNING_SCRIPTS:
                continue
            twist(draw, draft)
            draft.twists.append(twist.__name__)
        yield draft
