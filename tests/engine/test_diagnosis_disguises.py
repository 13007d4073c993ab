"""A log gives the same diagnosis however it was copied: prefixes, colours, line ends, encodings, widths."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gui.engine.runs.diagnosing import is_output
from gui.engine.runs.diagnosis import diagnose_log
from gui.engine.runs.log_mending import LogMender

DATA = Path(__file__).parents[1] / "data"
EXPECTED = json.loads((DATA / "recordings" / "expected.json").read_text("utf-8"))
HEALTHY = sorted(
    name
    for name, told in EXPECTED.items()
    if told["exit"] == 0
    and told["verdict_from_output"] == "finished"
    and not name.startswith("t_nan_")
    and (DATA / "recordings" / name / "combined.bin").is_file()
)


def log_of(path: Path) -> str:
    lines = path.read_text("utf-8").split("\n")
    while lines and lines[0].startswith("#"):
        del lines[0]
    return "\n".join(lines)


CASES = {path.stem: log_of(path) for path in sorted((DATA / "cases").glob("*.txt"))}
WANTED = {path.stem: path.read_text("utf-8").split()[2] for path in sorted((DATA / "cases").glob("*.txt"))}
FAILED = sorted(name for name, wanted in WANTED.items() if wanted != "ok")

PREFIXES = [
    "12:10:11-123456 INFO     ",
    "trainer-1  | ",
    "Nov 30 00:19:32 host python[1234]: ",
    "2026-11-30T00:19:32+0000 host accelerate[12]: ",
    "2026-11-30T00:19:32.123456789Z ",
    "2026-11-30T00:19:32.123456789Z stderr F ",
    "[00:19:32] ",
    "00:19:32 ",
    "Nov 30 00:19:32 ",
    "[2024-08-20 22:01:11] [INFO] ",
    "trainer-1  | 2026-11-30T00:19:32.123Z ",
]


def ids(data: bytes) -> list[str]:
    return [found.id for found in diagnose_log([data])]


def prefixed(text: str, prefix: str) -> str:
    return "\n".join(prefix + line for line in text.split("\n"))


def coloured(text: str) -> str:
    return "\n".join(f"\x1b[1;31m{line}\x1b[0m" for line in text.split("\n"))


def wrapped(text: str, width: int) -> str:
    return "\n".join(
        line[at : at + width] for line in text.split("\n") for at in range(0, max(1, len(line)), width)
    )


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("name", FAILED)
def test_that_prefixes_hide_no_cause(name, prefix):
    assert ids(prefixed(CASES[name], prefix).encode())[:1] == [WANTED[name]]


@pytest.mark.parametrize("name", FAILED)
def test_that_colours_line_ends_and_encodings_hide_no_cause(name):
    text, wanted = CASES[name], [WANTED[name]]
    assert ids(coloured(text).encode())[:1] == wanted
    assert ids(text.replace("\n", "\r\n").encode())[:1] == wanted
    text = f"preparing\n{text}"
    for encoding in ("utf-16", "utf-8-sig", "utf-16-le", "utf-16-be"):
        assert ids(text.encode(encoding))[:1] == wanted


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", FAILED)
def test_that_a_narrow_terminal_hides_no_cause(name, width):
    assert ids(wrapped(CASES[name], width).encode())[:1] == [WANTED[name]]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(HEALTHY),
    st.sampled_from(["", *PREFIXES]),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([None, 80, 100]),
)
def test_that_a_healthy_log_stays_healthy(name, prefix, colours, ends, width):
    text = (DATA / "recordings" / name / "combined.bin").read_bytes().decode("utf-8", "replace")
    if width:
        text = wrapped(text, width)
    if colours:
        text = coloured(text)
    assert ids(prefixed(text, prefix).replace("\n", ends).encode()) == []


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_that_a_cut_log_gives_no_other_cause(data):
    name = data.draw(st.sampled_from(FAILED))
    text = CASES[name].encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    full = set(ids(text))
    assert set(ids(text[start:end])) <= full | {"steps-default-1600"}


@pytest.mark.parametrize("name", ["OOM-02", "DATA-01", "NAN-06"])
def test_that_of_two_runs_in_one_log_the_last_counts(name):
    healthy = (DATA / "recordings" / "a_normal" / "combined.bin").read_bytes()
    failed = CASES[name].encode() + b"\nsubprocess.CalledProcessError: Command '[x]' returned non-zero.\n"
    assert ids(healthy + failed)[:1] == [WANTED[name]]
    found = diagnose_log([failed + healthy])
    assert [(each.id, each.explains_end) for each in found] == [(WANTED[name], False)]
    other = CASES["MODEL-08"].encode() + b"\n"
    begin = b"The following values were not passed to `accelerate launch` and had defaults used instead:\n"
    both = diagnose_log([failed + begin + other])
    assert [each.id for each in both] == ["model-file-incomplete", WANTED[name]]
    assert both[0].evidence[0].line > both[1].evidence[0].line


def test_that_the_cause_of_a_chained_traceback_is_found():
    link = "\nThe above exception was the direct cause of the following exception:\n\n"
    first = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\nOSError: image file is truncated\n'
    )
    last = 'Traceback (most recent call last):\n  File "b.py", line 1, in g\nStrangeError: no batch\n'
    assert ids((first + link + last).encode()) == ["image-bad"]
    tried = first.replace("OSError: image file is truncated", "ModuleNotFoundError: No module named 'fast'")
    during = "\nDuring handling of the above exception, another exception occurred:\n\n"
    assert ids((tried + during + last).encode()) == []


NOISE = """A matching Triton is not available, some optimizations will not be enabled.
Error caught was: No module named 'triton'
Failed to load CPU gemm_4bit_forward from kernels-community: No module named 'kernels'.
WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for: PyTorch 2.0.0+cu118
No module 'xformers'. Proceeding without it.
2024-08-20 22:01:11.000 E external/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable to register cuDNN factory
/venv/checkpoint.py:31: UserWarning: None of the inputs have requires_grad=True. Gradients will be None
/venv/diffusers/utils/outputs.py:63: FutureWarning: `torch.utils._pytree` is deprecated.
1Torch was not compiled with flash attention.
clip_skip will be unexpected / SDXL学習ではclip_skipは動作しません
max_token_length is not used in Flux training
Traceback (most recent call last):
  File "/venv/xformers/__init__.py", line 55, in _is_triton_available
ModuleNotFoundError: No module named 'triton'
INFO: epoch is incremented.
"""


@pytest.mark.parametrize("prefix", ["", *PREFIXES])
def test_that_noise_is_no_cause(prefix):
    assert ids(prefixed(NOISE, prefix).encode()) == []


def test_that_the_trainers_own_records_keep_their_times():
    record = b"2026-11-30 00:19:32 INFO     use AdamW optimizer | {}    train_util.py:5096\n"
    mender = LogMender()
    assert b"".join(piece.data for piece in (*mender.feed(record), *mender.finish())) == record


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=200), max_size=8))
def test_that_mending_depends_on_the_bytes_alone(chunks):
    def mended(pieces):
        mender = LogMender()
        given = [each for piece in pieces for each in mender.feed(piece)]
        return b"".join(each.data for each in (*given, *mender.finish()))

    assert mended(chunks) == mended([b"".join(chunks)])


def test_that_a_line_without_an_end_is_not_kept_whole():
    mender = LogMender()
    bar = b"\rsteps:  21%|##1       | 3/14 [00:08<00:31,  2.86s/it, avr_loss=0.1]"
    given = b"".join(piece.data for _each in range(4) for piece in mender.feed(bar * 1000))
    assert len(given) > 3 * 1000 * len(bar)
    rest = b"".join(piece.data for piece in (*mender.feed(b" 12:10:11 x\n12:10:11 y\n"), *mender.finish()))
    assert rest.endswith(b" 12:10:11 x\ny\n")


def test_that_logs_are_told_from_commands_and_words(tmp_path):
    assert is_output(DATA / "cases" / "OOM-02.txt") and is_output(DATA / "cases" / "OK-01.txt")
    command = tmp_path / "command.txt"
    command.write_text("accelerate launch train_network.py --max_train_steps 10 --network_dim 4\n", "utf-8")
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("a girl, load of flowers --w 512 --h 512\n", "utf-8")
    assert not is_output(command) and not is_output(prompts) and not is_output(tmp_path / "nowhere")
