"""One step event a step number, with the step's own loss, whatever tqdm left out or drew twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.trainer.events import LossNonfinite, Phase, Progress, Step
from gui.engine.trainer.output import OutputParser, Tally


def bar(done, total=10, postfix=None, rate=" 2.00s/it") -> str:
    tail = f", {postfix}" if postfix else ""
    return f"\rsteps: {100 * done // total:3d}%|█▌        | {done}/{total} [00:02<01:05, {rate}{tail}]"


def loss(value) -> str:
    return f"avr_loss={value}"


def read(text: str, t: float | None = None):
    parser = OutputParser()
    return parser.feed(text.encode(), t) + parser.finish(t)


def steps(text: str) -> list[tuple[int, float | None]]:
    return [(e.step, e.avr_loss) for e in read(text) if isinstance(e, Step)]


def nonfinite(text: str) -> list[tuple[int, str]]:
    return [(e.step, str(e.value)) for e in read(text) if isinstance(e, LossNonfinite)]


def run(*losses, first=True) -> str:
    text, before = bar(0), None
    for number, value in enumerate(losses, 1):
        if first:
            text += bar(number, postfix=before and loss(before))
        text += bar(number, postfix=loss(value))
        before = value
    return text


def test_that_a_step_has_the_loss_of_its_second_redraw():
    assert steps(run("1.1", "1.2", "1.3")) == [(1, 1.1), (2, 1.2), (3, 1.3)]


def test_that_an_equal_loss_on_the_next_step_is_no_redraw_of_the_old_one():
    assert steps(run("1.1", "1.1", "1.1")) == [(1, 1.1), (2, 1.1), (3, 1.1)]


def test_that_a_left_out_first_redraw_loses_nothing():
    assert steps(run("1.1", "1.2", "1.3", first=False)) == [(1, 1.1), (2, 1.2), (3, 1.3)]


def test_that_a_left_out_first_redraw_and_an_equal_loss_wait_for_the_next_step():
    parser = OutputParser()
    parser.feed((bar(0) + bar(1, postfix=loss("1.1"))).encode())
    assert parser.feed(bar(2, postfix=loss("1.1")).encode()) == []
    events = parser.feed(bar(3, postfix=loss("1.2")).encode())
    assert [(e.step, e.avr_loss) for e in events] == [(2, 1.1), (3, 1.2)]


def test_that_the_redraw_at_the_end_adds_nothing():
    assert steps(run("1.1", "1.2") + bar(2, postfix=loss("1.2")) + "\n") == [(1, 1.1), (2, 1.2)]


def test_that_a_step_comes_at_the_bars_closing_bracket():
    parser = OutputParser()
    text = (bar(0) + bar(1) + bar(1, postfix=loss("1.1"))).encode()
    assert [e for e in parser.feed(text[:-1]) if isinstance(e, Step)] == []
    assert [e.step for e in parser.feed(text[-1:])] == [1]


def test_that_micro_batches_between_steps_are_not_steps():
    text = (
        bar(0) + bar(0, postfix=loss("1.11"))
        + bar(1, postfix=loss("1.11")) + bar(1, postfix=loss("1.2"))
        + bar(1, postfix=loss("1.15"))
        + bar(2, postfix=loss("1.15")) + bar(2, postfix=loss("1.3"))
    )  # fmt: skip
    assert steps(text) == [(1, 1.2), (2, 1.3)]


def test_that_a_step_of_which_only_the_old_loss_was_drawn_has_none():
    assert steps(run("1.1") + bar(2, postfix=loss("1.1"))) == [(1, 1.1), (2, None)]


def test_that_a_bar_closed_by_a_crash_does_not_lend_its_old_loss():
    crash = 'Traceback (most recent call last):\n  File "train.py", line 1, in <module>\nOSError: bad\n'
    text = run("1.1") + bar(2, postfix=loss("1.1")) + crash + bar(2, postfix=loss("1.1")) + "\n"
    assert steps(text) == [(1, 1.1), (2, None)]
    saved = run("1.1") + bar(2, postfix=loss("1.1")) + crash + bar(2, postfix=loss("1.2")) + "\n"
    assert steps(saved) == [(1, 1.1), (2, 1.2)]


def test_that_a_script_without_a_loss_still_steps():
    assert steps(bar(0) + bar(1) + bar(2) + bar(3)) == [(1, None), (2, None), (3, None)]


def test_that_a_piece_from_the_middle_of_a_log_reads():
    assert steps(bar(507, 1400, loss("0.134")) + "\n") == [(507, 0.134)]


def test_that_glued_bars_without_carriage_returns_read():
    assert steps(run("1.1", "1.2", "1.3").replace("\r", "")) == [(1, 1.1), (2, 1.2), (3, 1.3)]


def test_that_a_second_bar_begins_anew():
    events = read(run("1.1", "nan") + "\n" + run("1.3", "nan"))
    assert [(e.step) for e in events if isinstance(e, Step)] == [1, 2, 1, 2]
    assert [e.step for e in events if isinstance(e, LossNonfinite)] == [2, 2]
    assert [e.done for e in events if isinstance(e, Progress) and e.name == "steps"] == [0, 0]


def test_that_a_pending_step_is_given_before_a_second_bar():
    assert steps(run("1.1") + bar(2, postfix=loss("1.1")) + "\n" + run("0.5")) == [
        (1, 1.1),
        (2, None),
        (1, 0.5),
    ]


def test_that_a_bar_beyond_its_total_reads():
    text = bar(9, postfix=loss("0.2")) + "\rsteps: 11it [03:20,  8.50it/s, avr_loss=0.1]"
    events = [e for e in read(text) if isinstance(e, Step)]
    assert [(e.step, e.total, e.avr_loss) for e in events] == [(9, 10, 0.2), (11, None, 0.1)]


@pytest.mark.parametrize("word", ["nan", "inf", "-inf"])
def test_that_a_loss_that_is_no_number_is_told_once(word):
    assert nonfinite(run("1.1", word, word, word)) == [(2, word)]


def test_that_a_second_blow_up_after_finite_losses_is_told_again():
    assert nonfinite(run("1.1", "inf", "1.2", "nan", "nan")) == [(2, "inf"), (4, "nan")]


def test_that_it_is_told_in_the_redraw_that_shows_it():
    parser = OutputParser()
    parser.feed((run("1.1") + bar(2, postfix=loss("1.1"))).encode())
    events = parser.feed(bar(2, postfix=loss("nan")).encode())
    assert [event.event for event in events] == ["step", "loss-nonfinite"]


def test_that_a_micro_batch_blames_the_step_it_belongs_to():
    assert nonfinite(bar(0) + bar(0, postfix=loss("nan"))) == [(1, "nan")]
    assert nonfinite(run("1.1") + bar(1, postfix=loss("nan")) + bar(2, postfix=loss("nan"))) == [(2, "nan")]


def test_that_the_loss_is_found_among_other_figures():
    figures = "Average key norm=0.00137, Keys Scaled=0, avr_loss="
    text = bar(0) + bar(1) + bar(1, postfix=figures + "1.24") + bar(2, postfix=figures + "1.24")
    text += bar(2, postfix=figures + "nan") + bar(3, postfix=figures + "nan")
    text += bar(3, postfix=figures.replace("137", "138") + "nan")
    assert [(s, str(v)) for s, v in steps(text)] == [(1, "1.24"), (2, "nan"), (3, "nan")]
    assert nonfinite(text) == [(2, "nan")]
    assert steps(bar(0) + bar(1) + bar(1, postfix="loss=1.13")) == [(1, 1.13)]
    assert steps(bar(0) + bar(1) + bar(1, postfix="avr_loss=high, x=1")) == [(1, None)]


@pytest.mark.parametrize(
    ("printed", "rate"),
    [(" 2.00s/it", 0.5), (" 3.55it/s", 3.55), ("?it/s", None), ("0.00s/it", None), ("1.2.3it/s", None)],
)
def test_that_without_times_the_rate_is_the_bars(printed, rate):
    events = [e for e in read(bar(0) + bar(1) + bar(1, postfix=loss(1), rate=printed)) if isinstance(e, Step)]
    assert [event.rate for event in events] == [rate]


def test_that_with_times_the_rate_is_that_of_the_last_steps():
    parser, rates = OutputParser(), []
    parser.feed(bar(0, 40).encode(), 0.0)
    t = 100.0
    for number in range(1, 31):
        t += 1.0 if number < 15 else 4.0
        events = parser.feed(bar(number, 40, loss(f"1.{number}"), " 9.99s/it").encode(), t)
        rates += [event.rate for event in events if isinstance(event, Step)]
    assert rates[0] == pytest.approx(1 / 9.99)
    assert rates[5] == pytest.approx(1)
    assert rates[-1] == pytest.approx(0.25)


def test_that_sampling_does_not_slow_the_rate():
    parser = OutputParser()
    for number in range(0, 6):
        parser.feed(bar(number, postfix=loss(f"1.{number}")).encode(), float(number))
    parser.feed(b"\nsaving checkpoint: out/a-step00000005.safetensors\n", 5.1)
    events = parser.feed((bar(6, postfix=loss("1.5")) + bar(6, postfix=loss("1.6"))).encode(), 300.0)
    assert [event.rate for event in events if isinstance(event, Step)] == [0.5]
    (step,) = parser.feed(bar(7, postfix=loss("1.7")).encode(), 301.0)
    assert step.rate == pytest.approx(1)


def test_that_steps_belong_to_the_epoch_last_announced():
    text = bar(0) + "\nepoch 1/2\n" + bar(1, postfix=loss(1)) + "\n\nepoch 2/2\n" + bar(2, postfix=loss(2))
    assert [e.epoch for e in read(text) if isinstance(e, Step)] == [1, 2]


VALIDATION = (
    "\r{}validation steps: {:3d}%|█         | {}/8 [00:27<00:00,  3.40s/it, val_avg_loss=1.07, timestep=800]"
)


def test_that_validation_is_a_phase_and_counts_no_steps():
    text = run("1.1", "1.2") + "\n" + VALIDATION.format("", 0, 0, 8) + "\x1b[A"
    text += VALIDATION.format("", 50, 4) + bar(2, postfix=loss("1.3")) + bar(3, postfix=loss("1.4"))
    events = read(text)
    assert [e.phase for e in events if isinstance(e, Phase)] == ["training", "validating", "training"]
    assert [e.step for e in events if isinstance(e, Step)] == [1, 2, 3]
    assert [(e.name, e.done) for e in events if isinstance(e, Progress)][1:] == [
        ("validation steps", 0),
        ("validation steps", 4),
    ]


def test_that_a_validation_bar_finished_late_is_no_new_validation():
    text = run("1.1") + "\nepoch 1/1\n" + VALIDATION.format("epoch ", 100, 8) + "\n"
    assert "validating" not in [e.phase for e in read(text) if isinstance(e, Phase)]


def test_that_after_the_end_the_closing_bar_is_no_training():
    text = (
        run("1.1", "1.2")
        + "2026-11-30 00:20:26 INFO     model saved.                  train_network.py:1729\n"
    )
    text += bar(2, postfix=loss("1.2")) + "\n\nsaving checkpoint: out/a.safetensors\n"
    assert [e.phase for e in read(text) if isinstance(e, Phase)] == ["training", "done"]
    again = [e.phase for e in read(text + run("1.1")) if isinstance(e, Phase)]
    assert again == ["training", "done", "training"]


@given(st.integers(1, 500), st.integers(0, 40))
def test_that_other_bars_give_few_events_and_always_their_end(total, repeats):
    text = ""
    for done in range(total + 1):
        line = f"\rcaching: {100 * done // total:3d}%|█         | {done}/{total} [00:00<00:00, 9.00it/s]"
        text += line + (line if repeats and done % repeats == 0 else "")
    events = read(text)
    assert len(events) <= 102
    assert (events[-1].name, events[-1].done, events[-1].total) == ("caching", total, total)


def test_that_a_bar_of_the_same_name_begins_anew():
    once = "\r  0%|          | 0/10 [00:00<?, ?it/s]\r100%|██████████| 10/10 [00:00<00:00, 9.00it/s]\n"
    assert [(e.name, e.done) for e in read(once + once)] == [("", 0), ("", 10)] * 2


def test_that_bars_in_other_units_and_without_a_total_read():
    text = "\rmodel.safetensors:  10%|█         | 10.5M/1.22G [00:01<01:23, 14.5MB/s]\n0it [00:00, ?it/s]\n"
    events = [e for e in read(text) if isinstance(e, Progress)]
    assert [(e.name, e.done, e.total) for e in events] == [
        ("model.safetensors", 10_500_000, 1_220_000_000),
        ("", 0, None),
    ]
    many = "".join(f"\r{n}it [00:01, 99.00it/s]" for n in range(5000))
    assert len(read(many)) < 100


@pytest.mark.parametrize(
    "text",
    [
        "\r 10%|█         | 1.2.3/10 [00:00<?, ?it/s]\n",
        "\r 10%|█         | 1/10 [00:00<?, ?it/s\n",
        "an array [1, 2, 3] it [x]\n",
        "50% of [this]\n",
    ],
)
def test_that_what_only_looks_like_a_bar_is_none(text):
    assert [e for e in read(text) if isinstance(e, Progress | Step)] == []


def test_that_many_names_of_bars_are_not_kept_for_ever():
    parser = OutputParser()
    for number in range(1000):
        parser.feed(f"\rbar {number}:  50%|█    | 1/2 [00:01<00:01, 1.00it/s]".encode())
    assert len(parser._gate._last) <= 64


def test_that_a_tally_takes_the_trackers_word_too():
    tally = Tally()
    tally.add(Step(step=1, total=5, avr_loss=0.1, loss=0.2))
    assert (tally.last_step, tally.total, tally.avr_loss, tally.loss) == (1, 5, 0.1, 0.2)
    tally.add(Step(step=2, total=None, avr_loss=0.1))
    assert (tally.total, tally.loss, tally.first_nonfinite_step) == (5, 0.2, None)
    tally.add(Step(step=3, total=5, avr_loss=0.1, loss=float("nan")))
    tally.add(LossNonfinite(step=4, value=float("nan")))
    assert tally.first_nonfinite_step == 3
