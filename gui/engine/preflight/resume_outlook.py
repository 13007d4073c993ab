"""What resuming would really do: at which step, how many steps, and which files would be written over.

Source: trainer-facts 2.3, 7.4 (train_network.py:1232-1425, 1497, 1694, 1722, train_util.py:90-103).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from gui.engine.preflight.file_facts import StateFact
from gui.engine.preflight.report import Resume
from gui.engine.preflight.steps import SENSELESS, forecast_steps
from gui.engine.preflight.view import View
from gui.engine.texts import _
from gui.engine.trainer.final_file import is_written_by
from gui.engine.trainer.resume_course import Course, ResumeSetting
from gui.engine.trainer.resume_ways import is_lengthless

OUTLOOK = "resume_outlook"
"""Under which name a view remembers it: several rules ask for it."""

_NAME = re.compile(r"(?:-step(?P<step>\d{8})|-(?P<epoch>\d{6}))?(?P<state>-state)?(?:\.\w+)?$")


@dataclass(frozen=True)
class ResumeOutlook:
    """What the trainer would do with a plan that resumes.

    Attributes:
        setting: What decides it.
        done: Optimizer steps behind the state, over all its trainings.
        counted: The step that the state itself says; None for none.
        begins_at: Where the trainer takes it to begin.
        asks_rest: Whether the plan's length is what remains, counted from 0.
        lengthless: Whether the rate at a step does not depend on the length.
        course: What the trainer does; None where it refuses.
    """

    setting: ResumeSetting
    done: int
    counted: int | None
    begins_at: int
    asks_rest: bool
    lengthless: bool
    course: Course | None

    @property
    def whole(self) -> int:
        """Steps of the whole training, from its very beginning."""
        return self.setting.whole + (self.done if self.asks_rest else 0)

    @property
    def remaining(self) -> int:
        """Steps that remain of it."""
        return self.whole - self.done


def resumed_state(view: View) -> StateFact | None:
    """Return the state that the plan goes on from, where it is known."""
    state = view.facts.state
    if state is None or view.text("resume") != state.path or view.flag("resume_from_huggingface"):
        return None
    return state


def processes_of(view: View) -> int:
    """Return how many processes the plan trains with."""
    return max(1, min(view.plan.launch.num_processes, SENSELESS))


def steps_behind(view: View, state: StateFact) -> int | None:
    """Return the optimizer steps behind a state, by what it says, else by its name."""
    behind = state.behind(processes_of(view))
    if behind is not None:
        return behind
    if state.counts == "steps":
        return state.step_in_name
    forecast = forecast_steps(view)
    if state.step_in_name is None or forecast is None:
        return None
    return state.step_in_name * forecast.steps_per_epoch


def resume_outlook(view: View) -> ResumeOutlook | None:
    """Return what resuming would do; None without a known state, or where the length is not known."""
    if OUTLOOK not in view.memory:
        view.memory[OUTLOOK] = _outlook(view)
    known: ResumeOutlook | None = view.memory[OUTLOOK]
    return known


def plan_is_lengthless(view: View) -> bool:
    """Return whether the plan's learning rate at a step does not depend on how many there are to be."""
    warmup = view.number("lr_warmup_steps") or 0.0
    share = 0 < warmup < 1 or str(view.value("lr_warmup_steps")).endswith("%")
    return is_lengthless(
        view.text("lr_scheduler") or "",
        view.optimizer,
        foreign=view.text("lr_scheduler_type") is not None,
        warmup_share=share,
    )


def _outlook(view: View) -> ResumeOutlook | None:
    state, forecast = resumed_state(view), forecast_steps(view)
    done = steps_behind(view, state) if state is not None else None
    if state is None or forecast is None or done is None or not state.has_optimizer:
        return None
    setting = ResumeSetting(
        whole=forecast.total_steps,
        batches=math.ceil(forecast.batches_per_epoch / processes_of(view)),
        accumulation=max(1, int(view.number("gradient_accumulation_steps") or 1)),
        counts=view.trains_network,
    )
    begins_at, named = _beginning(view, state, setting)
    setting = setting.at(begins_at, skips=view.flag("skip_until_initial_step"))
    return ResumeOutlook(
        setting=setting,
        done=done,
        counted=state.step,
        begins_at=begins_at,
        asks_rest=named and begins_at == 0 and done > 0,
        lengthless=plan_is_lengthless(view),
        course=setting.course(),
    )


def _beginning(view: View, state: StateFact, setting: ResumeSetting) -> tuple[int, bool]:
    """Return where the trainer takes the training to begin, and whether the plan says so itself."""
    step = view.number("initial_step") if view.given("initial_step") else None
    epoch = view.number("initial_epoch") if view.given("initial_epoch") else None
    if step is not None:
        return int(step), True
    if epoch is not None:
        return (int(epoch) - 1) * setting.steps_per_epoch, True
    return state.step or 0, False


def overwritten(view: View, names: tuple[str, ...]) -> list[str]:
    """Return those of the existing names that the run would write over.

    Args:
        view: The plan and the facts.
        names: Of what lies in the output folder already.
    """
    base = view.value("output_name")
    ours = [name for name in names if is_written_by(name, None if base is None else str(base))]
    outlook = resume_outlook(view)
    if outlook is None or outlook.course is None:
        return ours
    return [name for name in ours if _is_written(view, name, outlook.setting, outlook.course)]


def _is_written(view: View, name: str, setting: ResumeSetting, course: Course) -> bool:
    """Whether the trainer comes to write a name of its own (train_network.py:1497, 1694, 1722)."""
    match = _NAME.search(name)
    if match is None:
        return True
    states = view.flag("save_state")
    if match["step"]:
        every = view.number("save_every_n_steps")
        number, first, last = int(match["step"]), course.counts_from + 1, course.ends_at
    elif match["epoch"]:
        every = 1.0 if view.given("save_n_epoch_ratio") else view.number("save_every_n_epochs")
        epochs = math.ceil(setting.whole / setting.steps_per_epoch)
        number, first, last = int(match["epoch"]), course.first_epoch, epochs - 1
    else:
        return not match["state"] or states or view.flag("save_state_on_train_end")
    if every is None or every < 1 or (match["state"] and not states):
        return False
    return first <= number <= last and number % int(every) == 0


def resume_report(view: View) -> Resume | None:
    """Return what the report says about resuming; None where there is nothing to say or it is refused."""
    outlook = resume_outlook(view)
    if outlook is None or outlook.course is None:
        return None
    lost = overwritten(view, view.facts.existing_outputs)
    return Resume(
        step=outlook.done,
        whole=outlook.whole,
        steps=outlook.course.steps,
        overwrites=tuple(lost),
        sentence=_sentence(view, outlook, outlook.course.steps, lost),
    )


def _sentence(view: View, outlook: ResumeOutlook, steps: int, lost: list[str]) -> str:
    if not outlook.setting.counts:
        said = _("Goes on after step {done} with {steps} steps, which {script} counts from 0")
    elif steps == outlook.remaining:
        said = _("Continues at step {done} of {whole}")
    else:
        said = _("Continues at step {done} of {whole}, and trains {steps} steps more")
    ending = (
        _("{beginning}; saves will overwrite {names}.")
        if lost
        else _("{beginning}; saves will not overwrite the old ones.")
    )
    beginning = said.format(
        done=f"{outlook.done:,}", whole=f"{outlook.whole:,}", steps=f"{steps:,}", script=view.script
    )
    names = ", ".join(lost[:3]) + (" …" if len(lost) > 3 else "")
    return ending.format(beginning=beginning, names=names)
