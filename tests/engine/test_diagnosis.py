"""What went wrong is found in the words of real failures, and nothing is found where all is well.

``tests/data/cases`` holds logs of real failure cases; line 1 names the expected diagnosis, then
perhaps a variant, comments start with ``#``.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gui.engine.errors import CannotRead
from gui.engine.runs import log_examination, log_pieces
from gui.engine.runs.diagnoses import DiagnosisFile, known_diagnoses
from gui.engine.runs.diagnosis import diagnose_log

CASES = sorted((Path(__file__).parents[1] / "data" / "cases").glob("*.txt"))
NOT_IN_THE_LOG = {"flux_fp16"}
"""Variants that the settings tell, not the output."""


def expected(path: Path) -> tuple[str, str | None]:
    words = path.read_text("utf-8").splitlines()[0].removeprefix("# expected: ").split()
    variant = words[1] if len(words) > 1 and re.fullmatch(r"[a-z0-9_]+", words[1]) else None
    return words[0], variant


def log_of(path: Path) -> bytes:
    """Return the log without the comments, which name the answer."""
    lines = path.read_bytes().split(b"\n")
    while lines and lines[0].startswith(b"#"):
        del lines[0]
    return b"\n".join(lines)


def ids(data: bytes, **options) -> list[str]:
    return [found.id for found in diagnose_log([data], **options)]


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_that_the_cause_of_a_real_failure_is_found(path):
    wanted, variant = expected(path)
    found = diagnose_log([log_of(path)])
    if wanted == "ok":
        assert found == []
        return
    assert found[0].id == wanted
    if variant and variant not in NOT_IN_THE_LOG:
        assert found[0].variant == variant
    assert [other for other in found[1:] if other.explains_end] == []


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_that_the_evidence_stands_at_its_line(path):
    lines = log_of(path).decode("utf-8", "replace").replace("\r", "").split("\n")
    for found in diagnose_log([log_of(path)]):
        for evidence in found.evidence:
            assert 1 <= evidence.line <= len(lines)
            word = re.split(r"\W+", evidence.text.strip())[0]
            assert word == "step" or any(
                word in line for line in lines[evidence.line - 1 : evidence.line + 30]
            )


def test_that_every_diagnosis_says_what_to_do():
    for file in known_diagnoses():
        assert file.title.endswith(".") and file.explanation.endswith(".")
        assert file.fixes and all(fix.label.endswith((".", ")")) for fix in file.fixes)


def test_that_the_order_is_that_of_likelihood():
    text = b"\rsteps:  10%|#| 1/10 [00:01<00:10,  1.00s/it, avr_loss=nan]\n"
    text += b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 90.00 MiB.\n"
    text += b"subprocess.CalledProcessError: Command 'x' died with <Signals.SIGKILL: 9>.\n"
    assert ids(text) == ["cuda-oom", "loss-nonfinite", "host-sigkill"]


@pytest.mark.parametrize(
    ("status", "wanted"), [(-9, ["host-sigkill"]), (3221225477, ["host-crash-c0000005"]), (1, []), (None, [])]
)
def test_that_the_exit_status_counts(status, wanted):
    assert ids(b"load StableDiffusion checkpoint: a\n", exit_status=status) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (b"RuntimeError: HIP out of memory. Tried to allocate 80.00 MiB.", "cuda-oom"),
        (b"RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling", "cuda-oom"),
        (b"OSError: The paging file is too small. (os error 1455)", "host-memory"),
        (b"zipfile.BadZipFile: Bad CRC-32 for file 't5_out.npy'", "cache-broken"),
        (b"ValueError: Attempting to unscale FP16 gradients.", "fp16-unscale"),
        (b"AssertionError: Cannot swap more than 17 double blocks", "swap-too-many"),
        (b"ModuleNotFoundError: No module named 'lycoris'", "package-missing"),
        (b"RuntimeError: CUDA error: unspecified launch failure", "cuda-hardware"),
        (b"OSError: [WinError 112] There is not enough space on the disk", "disk-full"),
        (b"AssertionError: caption file is empty / x: a.txt", "caption-empty"),
    ],
)
def test_that_other_known_words_are_found(text, wanted):
    assert ids(b"x\n" + text + b"\n") == [wanted]


def test_that_a_missing_triton_is_no_cause():
    assert (
        ids(b"Traceback (most recent call last):\nModuleNotFoundError: No module named 'triton'\nx\n") == []
    )


def test_that_slow_steps_on_a_processor_are_no_spill():
    slow = "".join(f"\rsteps: 10%|#| {n}/99 [00:01<00:10, 39.50s/it, avr_loss=0.{n}]" for n in range(1, 6))
    assert ids(slow.encode()) == ["slow-spill"]
    assert ids(b"accelerator device: cpu\n" + slow.encode()) == []
    assert ids(slow.replace("39.50", " 3.50").encode()) == []


def test_that_the_default_number_of_steps_is_remarked_only_while_it_runs():
    header = "  total optimization steps / 学習ステップ数: 1600\n"
    assert ids(header.encode()) == ["steps-default-1600"]
    assert ids(("override steps. steps for 2 epochs is / x: 1600\n" + header).encode()) == []
    assert ids((header + "model saved.\n").encode()) == []


def test_that_evidence_is_bounded_and_free_of_tokens():
    token = b"hf_" + b"a" * 30
    line = b"x.py: error: unrecognized arguments: --huggingface_token " + token + b" " + b"y" * 5000 + b"\n"
    (found,) = diagnose_log([b"x\n" + line * 10])
    assert len(found.evidence) == 3
    assert all(len(e.text) <= 600 and token.decode() not in e.text for e in found.evidence)


def test_that_a_log_file_is_read_and_a_missing_one_named(tmp_path):
    log = tmp_path / "a log.txt"
    log.write_text("No data found. Please verify arguments\n", "utf-16")
    assert [found.id for found in diagnose_log(log)] == ["no-data"]
    with pytest.raises(CannotRead, match="nowhere"):
        diagnose_log(tmp_path / "nowhere")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le"])
def test_that_of_a_very_long_log_start_end_and_failures_between_are_read(tmp_path, monkeypatch, encoding):
    for name in ("HEAD_BYTES", "TAIL_BYTES", "BLOCK_BYTES"):
        monkeypatch.setattr(log_pieces, name, 1000)
    lines = [f"line {number}" for number in range(1, 9001)]
    lines[2] = "No data found. Please verify arguments"
    lines[2500] = "RuntimeError: CUDA out of memory"
    lines[5000] = "a line of no use; wandb: Paste an API key from your profile"
    lines[8990] = "OSError: image file is truncated"
    log = tmp_path / "long.txt"
    log.write_text("\n".join(lines) + "\n", encoding)
    found = {each.id: each.evidence[0].line for each in diagnose_log(log)}
    assert found == {"no-data": 3, "cuda-oom": 2501, "image-bad": 8991}


def test_that_of_a_log_that_fails_for_ever_the_first_and_the_last_failures_are_read(tmp_path, monkeypatch):
    for name in ("HEAD_BYTES", "TAIL_BYTES", "BLOCK_BYTES"):
        monkeypatch.setattr(log_pieces, name, 1000)
    log = tmp_path / "long.txt"
    strange = [f"StrangeError: number {number}" for number in range(9000)]
    strange[100] = "RuntimeError: CUDA out of memory"
    strange[4000] = "OSError: image file is truncated"
    log.write_text("\n".join(strange), "utf-8")
    assert [each.id for each in diagnose_log(log)] == ["cuda-oom"]


def test_that_repeated_lines_are_not_looked_at_for_ever():
    text = "".join(f"module {number} of 1000\n" for number in range(1000)) + "CUDA out of memory\n"
    assert ids(text.encode()) == ["cuda-oom"]


def test_that_ever_new_lines_are_not_kept_for_ever(monkeypatch):
    monkeypatch.setattr(log_examination, "MOST_TEMPLATES", 10)
    examiner = log_examination.Examination(known_diagnoses())
    examiner.feed("".join(f"{'x' * length}\n" for length in range(100)).encode() + b"CUDA out of memory\n")
    assert len(examiner._dull) <= 10
    assert [found.id for found in examiner.finish()] == ["cuda-oom"]


GOOD = "schema: 1\nid: {id}\nrank: 1\ntitle: T.\nexplanation: E.\nsources: [x]\n"


def test_that_a_new_diagnosis_needs_only_a_file(tmp_path):
    content = GOOD.format(id="mine") + "signs: [{where: [line], pattern: 'the moon'}]\nneeds: [full]\n"
    (tmp_path / "mine.yaml").write_text(content, "utf-8")
    known = known_diagnoses(tmp_path)
    assert ids(b"The Moon\nis full\n", known=known) == ["mine"]
    assert ids(b"The Moon\n", known=known) == []
    assert ids(b"The Moon is full\n", known=[]) == []


@pytest.mark.parametrize(
    "content",
    [
        "just words",
        "a: [",
        GOOD.format(id="bad"),
        GOOD.format(id="other") + "signs: [{pattern: x}]",
        GOOD.format(id="bad") + "signs: [{pattern: '('}]",
        GOOD.format(id="bad") + "signs: [{pattern: '(?i)x'}]\n" + "fixes: [1]",
        GOOD.format(id="bad") + "signs: [{pattern: x, where: [everywhere]}]",
    ],
)
def test_that_a_bad_file_is_named(tmp_path, content):
    (tmp_path / "bad.yaml").write_text(content, "utf-8")
    with pytest.raises(CannotRead, match=r"bad\.yaml"):
        known_diagnoses(tmp_path)


def test_that_inline_flags_are_refused():
    with pytest.raises(ValueError, match="no regular expression"):
        DiagnosisFile.model_validate(
            {"schema": 1, "id": "a", "rank": 1, "title": "T.", "explanation": "E.", "sources": ["x"]}
            | {"signs": [{"pattern": "x(?i)y"}]}
        )


@settings(max_examples=50)
@given(st.lists(st.binary(max_size=100), max_size=10))
def test_that_any_bytes_can_be_diagnosed(chunks):
    diagnose_log(chunks)
