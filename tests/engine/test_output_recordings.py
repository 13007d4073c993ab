"""The parser reads what the real trainer printed, however it is cut.

``tests/data/recordings`` holds 58 real runs: ``combined.bin`` are both pipes' bytes in the order of
arrival, ``timing.jsonl`` how they came, ``expected.json`` a plain reading by somebody else.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gui.engine.runs.diagnosis import diagnose_log
from gui.engine.trainer.events import TRAINER_EVENT, Error, Phase, Saved, Setting, Step, TrainerEvent
from gui.engine.trainer.output import OutputParser, Tally

FOLDER = Path(__file__).parents[1] / "data" / "recordings"
EXPECTED: dict[str, dict[str, object]] = json.loads((FOLDER / "expected.json").read_text("utf-8"))
NAMES = sorted(EXPECTED)
SAVES_BY_LOG_RECORD = {"q_train_db": 1}
"""The plain reading counts lines "saving checkpoint:"; this script announces its file in a record."""

# Digests of the events without ``t`` and ``rate``: whoever changes what is read sees it here.
GOLDEN = {
    "a_normal": "be4ecb091913479e",
    "b_nan_lr1e3": "0fbe12f06c27c5df",
    "j_samples": "381c46fd60628bf1",
    "r_torchrun_2_error": "b087376052d22433",
    "g_corrupt_truncated_nocache_bucket_w0": "f41d0aa1334ac2d0",
}


@cache
def bytes_of(name: str) -> bytes:
    return (FOLDER / name / "combined.bin").read_bytes()


def read(chunks) -> list[TrainerEvent]:
    parser = OutputParser()
    events = []
    for chunk in chunks:
        events.extend(parser.feed(chunk))
    return events + parser.finish()


def cut(data: bytes, places) -> list[bytes]:
    edges = [0, *sorted(places), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


def as_lines(events) -> list[str]:
    return [event.model_dump_json(exclude={"t", "rate"}) for event in events]


@cache
def whole(name: str) -> list[str]:
    return as_lines(read([bytes_of(name)]))


@cache
def tally_of(name: str) -> Tally:
    tally = Tally()
    for event in read([bytes_of(name)]):
        tally.add(event)
    return tally


@pytest.mark.parametrize("name", NAMES)
def test_that_a_recording_reads_as_somebody_else_read_it(name):
    tally, expected = tally_of(name), EXPECTED[name]
    assert (tally.last_step, tally.total) == (expected["last_step"], expected["total"])
    assert tally.first_nonfinite_step == expected["first_nonfinite_step"]
    assert tally.saving_lines == SAVES_BY_LOG_RECORD.get(name, expected["saving_lines"])


@pytest.mark.parametrize("name", NAMES)
def test_that_what_went_wrong_in_a_recording_is_found(name):
    found = diagnose_log(FOLDER / name / "combined.bin")
    if EXPECTED[name]["first_diagnosis"] is not None:
        assert found[0].id == EXPECTED[name]["first_diagnosis"]
    elif EXPECTED[name]["verdict_from_output"] in ("finished", "stopped"):
        assert found == []


@pytest.mark.parametrize("name", NAMES)
def test_that_a_recording_gives_the_same_events_byte_by_byte(name):
    data = bytes_of(name)
    assert as_lines(read(data[at : at + 1] for at in range(len(data)))) == whole(name)


@pytest.mark.parametrize("name", NAMES)
def test_that_a_recording_gives_the_same_events_chunked_and_timed_as_it_came(name):
    data, parser, events, at = bytes_of(name), OutputParser(), [], 0
    for line in (FOLDER / name / "timing.jsonl").read_text("utf-8").splitlines():
        chunk = json.loads(line)
        new = parser.feed(data[at : at + chunk["length"]], chunk["t"])
        at += chunk["length"]
        assert all(event.t == chunk["t"] for event in new)
        events.extend(new)
    assert at == len(data)
    assert as_lines(events + parser.finish()) == whole(name)


@settings(max_examples=150)
@given(st.sampled_from(NAMES), st.data())
def test_that_a_recording_gives_the_same_events_at_random_cuts(name, data):
    recorded = bytes_of(name)
    places = data.draw(st.lists(st.integers(0, len(recorded)), max_size=60))
    assert as_lines(read(cut(recorded, places))) == whole(name)


@pytest.mark.parametrize("name", NAMES)
def test_that_every_event_of_a_recording_reads_back_as_it_was_written(name):
    for event in read([bytes_of(name)]):
        line = event.model_dump_json()
        json.loads(line, parse_constant=pytest.fail)
        assert TRAINER_EVENT.validate_json(line).model_dump_json() == line


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_that_the_events_of_a_recording_are_those_agreed_upon(name):
    digest = hashlib.sha256("\n".join(whole(name)).encode()).hexdigest()[:16]
    assert digest == GOLDEN[name]


@pytest.mark.parametrize("name", NAMES)
def test_that_each_step_comes_once_and_in_order(name):
    steps = [event.step for event in read([bytes_of(name)]) if isinstance(event, Step)]
    assert steps == list(range(1, len(steps) + 1))


@pytest.mark.parametrize("name", [n for n in NAMES if EXPECTED[n]["verdict_from_output"] == "finished"])
def test_that_a_finished_run_said_so_and_named_its_final_file(name):
    tally = tally_of(name)
    assert tally.model_saved and not tally.nothing_to_train
    assert tally.cause is None
    assert [save.final for save in tally.saves if save.kind == "model"].count(True) == 1


def test_that_each_step_has_its_own_loss_not_the_one_before():
    losses = [e.avr_loss for e in read([bytes_of("a_normal")]) if isinstance(e, Step)]
    assert losses[:6] == [1.14, 1.25, 1.23, 1.21, 1.16, 1.15]
    assert losses[9:13] == [1.12, 1.12, 1.09, 1.07]
    assert losses[-3:] == [1.1, 1.1, 1.1]


def test_that_a_run_without_images_is_told_from_one_that_trained():
    assert tally_of("c_missing_dir").nothing_to_train
    assert tally_of("p_output_config").nothing_to_train
    assert not tally_of("p_output_config_exists").nothing_to_train


CAUSES = {
    "d_truncated_model": ("safetensors_rust.SafetensorError", "MetadataIncompleteBuffer"),
    "e_unknown_arg": (None, "unrecognized arguments: --no_such_option 3"),
    "f_cache_latents_color_aug": ("AssertionError", "color_aug or random_crop cannot be used"),
    "g_corrupt_truncated_cache": ("OSError", "image file is truncated"),
    "g_corrupt_truncated_nocache_bucket_w0": ("OSError", "image file is truncated"),
    "g_notimage_cache": ("ZeroDivisionError", "division by zero"),
    "o_config_missing": (None, "nope.toml not found."),
    "o_dataset_config_bad_key": ("voluptuous.error.MultipleInvalid", "extra keys not allowed"),
    "p_output_config_exists": (None, "Config file already exists."),
    "r_torchrun_2_error": ("ValueError", "is neither a valid local path nor a valid repo id"),
    "r_two_processes": ("ValueError", "You can only use one of"),
    "x_no_network_module": ("AttributeError", "has no attribute 'startswith'"),
    "x_script_missing": (None, "can't open file"),
    "h_sigint_pgid": ("KeyboardInterrupt", ""),
}


@pytest.mark.parametrize("name", sorted(CAUSES))
def test_that_the_cause_is_the_trainers_own_error_not_the_launchers(name):
    cause = tally_of(name).cause
    assert cause is not None
    assert cause.type == CAUSES[name][0]
    assert CAUSES[name][1] in cause.message


@pytest.mark.parametrize("name", ["d_truncated_model", "h_sigkill_trainer", "r_torchrun_2_error"])
def test_that_a_launchers_traceback_is_marked_and_comes_last(name):
    errors = [event for event in read([bytes_of(name)]) if isinstance(event, Error)]
    assert [error.wrapper for error in errors] == [False] * (len(errors) - 1) + [True]


def test_that_errors_know_their_line():
    data = bytes_of("d_truncated_model")
    errors = [event for event in read([data]) if isinstance(event, Error)]
    lines = data.decode("utf-8", "replace").split("\n")
    assert all(lines[error.line - 1].startswith("Traceback") for error in errors)


def test_that_ranks_are_told_apart():
    errors = [event for event in read([bytes_of("r_torchrun_2_error")]) if isinstance(event, Error)]
    assert [error.rank for error in errors] == [0, 1, None]
    assert "[rank0]" not in (errors[0].traceback or "")


def test_that_the_phases_of_a_run_come_in_order():
    phases = [
        event.phase for event in read([bytes_of("v_sdpa_and_flags_passed")]) if isinstance(event, Phase)
    ]
    assert phases[:4] == ["loading", "caching-latents", "loading", "training"]
    assert phases[-2:] == ["saving", "done"]
    sampled = [event.phase for event in read([bytes_of("j_samples")]) if isinstance(event, Phase)]
    assert sampled.count("sampling") == 3
    assert "caching-text" in [
        event.phase for event in read([bytes_of("w_sdxl_lora")]) if isinstance(event, Phase)
    ]


def test_that_states_are_no_model_files():
    saves = [event for event in read([bytes_of("i_save_state")]) if isinstance(event, Saved)]
    states = [save for save in saves if save.kind == "state"]
    assert [save.path.rsplit("/", 1)[-1] for save in states] == [
        "i-step00000003-state",
        "i-step00000006-state",
        "i-state",
    ]
    assert [save.final for save in states] == [False, False, True]


HEADER = {
    "num train images * repeats": 10,
    "num reg images": 0,
    "num batches per epoch": 10,
    "num epochs": 3,
    "batch size per device": 1,
    "gradient accumulation steps": 1,
    "total optimization steps": 30,
    "override steps": 30,
    "optimizer": "AdamW",
    "accelerator device": "cpu",
}


def test_that_the_header_becomes_settings():
    settings_seen = {e.name: e.value for e in read([bytes_of("a_normal")]) if isinstance(e, Setting)}
    assert settings_seen.items() >= HEADER.items()
    several = {e.name: e.value for e in read([bytes_of("o_dataset_config")]) if isinstance(e, Setting)}
    assert several["batch size per device"] == "2, 1"


def test_that_a_wrapped_log_reads_as_one_that_was_not():
    """The same messages at 80 columns, at 120 on a terminal with colours and links, and unwrapped."""
    unwrapped = bytes_of("a_console_simple").decode("utf-8")
    for name in ("a_no_accelerate", "a_pty", "a_columns200"):
        heard = []
        parser = OutputParser(listener=heard.append)
        parser.feed(bytes_of(name))
        records = [said.text for said in heard if said.kind == "record"]
        common = [text for text in records if text in unwrapped]
        assert len(records) - len(common) <= 2, [text for text in records if text not in common]


def test_that_the_rate_follows_the_clock_and_without_one_the_bar():
    data, parser, rates, at = bytes_of("a_unbuffered"), OutputParser(), [], 0
    for line in (FOLDER / "a_unbuffered" / "timing.jsonl").read_text("utf-8").splitlines():
        chunk = json.loads(line)
        events = parser.feed(data[at : at + chunk["length"]], chunk["t"])
        at += chunk["length"]
        rates.extend(event.rate for event in events if isinstance(event, Step))
    assert all(0.2 < rate < 2 for rate in rates)
    by_bar = [event.rate for event in read([data]) if isinstance(event, Step)]
    assert by_bar != rates and all(0.2 < rate < 2 for rate in by_bar)


LATER = Path(__file__).parents[1] / "data" / "output" / "validation_accumulation.log"
"""A real run with two batches a step, validation and scaled weight norms, written to a file."""


def test_that_with_accumulation_each_step_has_the_mean_that_the_tracker_has():
    steps = [event for event in read([LATER.read_bytes()]) if isinstance(event, Step)]
    assert [(step.step, step.avr_loss) for step in steps] == [(1, 1.16), (2, 1.08), (3, 1.05), (4, 1.1)]
    assert [step.epoch for step in steps] == [1, 1, 2, 2]


def test_that_validation_bars_nested_and_finished_late_read():
    events = read([LATER.read_bytes()])
    phases = [event.phase for event in events if isinstance(event, Phase)]
    assert phases[3:] == ["training", "saving", "training", "validating"] * 2 + ["saving", "done"]
    ends = [
        (e.name, e.done) for e in events if e.event == "progress" and "validation" in e.name and e.done == 4
    ]
    assert ends == [("validation steps", 4), ("epoch validation steps", 4)] * 2
