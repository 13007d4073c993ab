"""Log records, tracebacks, refusals, warnings and announcements, however they are glued and wrapped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.trainer.events import Epoch, Error, Exit, Phase, Saved, Setting, Step, Warned
from gui.engine.trainer.output import OutputParser, Tally, as_utf8, read_log
from gui.engine.trainer.output.records import begin_record, cells, continue_record
from gui.engine.trainer.output.sentences import phase_words, sentence_of

BAR = "\rsteps:  50%|█████     | 5/10 [00:02<01:05,  2.00s/it, avr_loss=1.1]"
TRACEBACK = 'Traceback (most recent call last):\n  File "/t/train.py", line 9, in <module>\n    train()\n'


def read(text: str | bytes, **options):
    parser = OutputParser(**options)
    data = text if isinstance(text, bytes) else text.encode()
    return parser.feed(data) + parser.finish()


def errors(text) -> list[Error]:
    return [event for event in read(text) if isinstance(event, Error)]


def warnings(text) -> list[Warned]:
    return [event for event in read(text) if isinstance(event, Warned)]


def rows(level: str, message: list[str], source: str, width: int = 80) -> str:
    """Lay a record out as rich does, the message wrapped already."""
    column = width - 29 - 1 - len(source)
    first = f"2026-11-30 00:19:50 {level:8} {message[0]}"
    text = first + " " * (29 + column - cells(first) + 1) + source + "\n"
    for row in message[1:]:
        text += " " * 29 + row + " " * (width - 29 - cells(row)) + "\n"
    return text


def wrapped(message: str, width: int) -> list[str]:
    """Wrap as rich does: at spaces, which are lost, and longer words anywhere."""
    done, row = [], ""
    for word in message.split(" "):
        candidate = f"{row} {word}" if row else word
        if cells(candidate) <= width:
            row = candidate
            continue
        if row:
            done.append(row)
        row = ""
        for char in word:
            if cells(row + char) > width:
                done.append(row)
                row = ""
            row += char
    return [*done, row]


words = st.text(st.sampled_from("abcxyz/._0123学習済"), min_size=1, max_size=50)


@given(st.lists(words, min_size=1, max_size=12), st.sampled_from([60, 80, 120, 200, 400]))
def test_that_a_wrapped_message_is_put_together_again(parts, width):
    message, source = " ".join(parts), "train_util.py:2960"
    column = width - 29 - 1 - len(source)
    first, *others = rows("ERROR", wrapped(message, column), source, width).splitlines()
    record = begin_record(first, 1)
    assert record is not None
    assert all(continue_record(record, row) for row in others)
    exactly_full = any(" " not in row and cells(row) >= column - 1 for row in record.rows)
    whole = record.message()
    assert whole.replace(" ", "") == message.replace(" ", "")
    if not exactly_full:
        assert whole == message


def test_that_lines_of_one_message_stay_lines():
    table = rows(
        "INFO", ["[Dataset 0]", "  batch_size: 1", "  resolution: (64, 64)", "", "  flip: no"], "c.py:1"
    )
    record = begin_record(table.splitlines()[0], 1)
    for row in table.splitlines()[1:]:
        assert continue_record(record, row)
    assert record.message() == "[Dataset 0]\n  batch_size: 1\n  resolution: (64, 64)\n\n  flip: no"


def test_that_a_record_without_its_source_reads():
    (event,) = errors("2026-11-30 00:19:50 ERROR    No data found.\n" + " " * 29 + "Please verify\n")
    assert event.message == "No data found. Please verify"


def test_that_a_record_glued_to_a_bar_reads():
    glued = BAR + rows("ERROR", ["Error loading file:", "/data/img03.png"], "train_util.py:2960")
    (event,) = errors("first\n" + glued)
    assert (event.message, event.type, event.line) == ("Error loading file: /data/img03.png", None, 2)
    blank = BAR + " " + " " * 20 + "WARNING  take care" + " " * 20 + "train_util.py:1\n"
    assert [(w.message, w.source) for w in warnings(blank)] == [("take care", "train_util.py:1")]


def test_that_an_endless_record_is_bounded():
    parser = OutputParser()
    parser.feed(rows("ERROR", ["x"], "a.py:1").encode())
    parser.feed((" " * 29 + "y" * 50 + "\n").encode() * 5000)
    (event,) = parser.finish()
    assert len(event.message) <= 4000


def test_that_the_prefix_of_a_gui_is_taken_off():
    text = "[2025-07-20 10:11:02] [INFO] ERROR    illegal char in file (not       train_util.py:1693\n"
    text += "[2025-07-20 10:11:02] [INFO] Traceback (most recent call last):\n"
    text += '[2025-07-20 10:11:02] [INFO] File "/t/train_util.py", line 1690, in read_caption\n'
    text += "[2025-07-20 10:11:02] [INFO] lines = f.readlines()\n"
    text += "[2025-07-20 10:11:02] [INFO] UnicodeDecodeError: 'utf-8' codec can't decode byte 0xa0\n"
    record, raised = errors(text)
    assert record.message == "illegal char in file (not"
    assert (raised.type, raised.message) == ("UnicodeDecodeError", "'utf-8' codec can't decode byte 0xa0")


def test_that_a_traceback_glued_to_a_bar_reads():
    for pad in ("", " ", "   "):
        (event,) = errors(BAR + pad + TRACEBACK + "OSError: image file is truncated\n" + BAR)
        assert (event.type, event.message) == ("OSError", "image file is truncated")
        assert event.traceback == TRACEBACK + "OSError: image file is truncated"


def test_that_a_chain_is_one_error_and_the_last_one_counts():
    chain = TRACEBACK + "struct.error: unpack\n\n"
    chain += "The above exception was the direct cause of the following exception:\n\n"
    chain += TRACEBACK + "OSError: image file is truncated\n\n"
    chain += "During handling of the above exception, another exception occurred:\n\n"
    chain += TRACEBACK + "RuntimeError: all is lost\n"
    (event,) = errors(chain)
    assert (event.type, event.message) == ("RuntimeError", "all is lost")
    assert "struct.error" in event.traceback and "direct cause" in event.traceback


def test_that_a_loader_workers_error_is_the_original_one():
    text = TRACEBACK + "OSError: Caught OSError in DataLoader worker process 0.\n"
    text += 'Original Traceback (most recent call last):\n  File "/t/worker.py", line 1, in loop\n    x\n'
    text += "OSError: image file is truncated\n\n" + BAR
    (event,) = errors(text)
    assert (event.type, event.message) == ("OSError", "image file is truncated")
    assert "DataLoader worker process 0" in event.traceback


def test_that_a_message_of_several_lines_is_whole():
    text = (
        TRACEBACK
        + "RuntimeError: Error(s) in loading state_dict for UNet:\n\tMissing key(s): a\n\tsize mismatch\nx\n"
    )
    (event,) = errors(text)
    assert event.message == "Error(s) in loading state_dict for UNet:\nMissing key(s): a\nsize mismatch"


def test_that_a_boxed_traceback_reads():
    box = "╭──────── Traceback (most recent call last) ────────╮\n│ D:\\train.py:167 in <module>   │\n"
    box += "│ ❱ 167 │   trainer.train(args) │\n╰────────────╯\nAssertionError: cannot be trained\n"
    (event,) = errors(box)
    assert (event.type, event.message) == ("AssertionError", "cannot be trained")


def test_that_a_piece_of_a_traceback_reads():
    piece = '  File "/t/flux_train.py", line 42, in check\n    assert (\nAssertionError: when caching\n'
    assert [(e.type, e.message) for e in errors("hello\n" + piece)] == [("AssertionError", "when caching")]
    alone = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 90.00 MiB.\n"
    assert [e.type for e in errors(alone)] == ["torch.OutOfMemoryError"]
    cut = errors(TRACEBACK)
    assert [(e.type, e.message) for e in cut] == [(None, "train()")]


def test_that_processes_writing_at_once_are_told_apart():
    text = "[rank0]: Traceback (most recent call last):\n[rank1]: Traceback (most recent call last):\n"
    text += '[rank0]:   File "/t/a.py", line 1, in f\n[rank1]:   File "/t/b.py", line 2, in g\n'
    text += "[rank1]: RuntimeError: Connection closed by peer\n[rank0]: ValueError: no model\n[rank0]: done\n"
    first, second = errors(text)
    assert (first.rank, first.type, second.rank, second.type) == (1, "RuntimeError", 0, "ValueError")
    tally = Tally()
    tally.add(second)
    tally.add(first)
    assert tally.cause == second


def test_that_lines_between_those_of_a_traceback_are_not_swallowed():
    text = 'Traceback (most recent call last):\n  File "/t/a.py", line 1, in f\n'
    text += "saving checkpoint: out/a-000001.safetensors\n    f()\nOSError: bad\n"
    events = read(text)
    assert [e.path for e in events if isinstance(e, Saved)] == ["out/a-000001.safetensors"]
    assert [e.message for e in events if isinstance(e, Error)] == ["bad"]


def test_that_a_traceback_without_an_end_does_not_swallow_the_rest():
    text = '  File "/t/a.py", line 1, in f\n' + "  code\n" * 12 + "  num epochs / epoch数: 3\n"
    text += "foreign line\n" * 50 + "".join(BAR.replace("5/10", f"{n}/99") + "\n" for n in range(60))
    events = read(text)
    assert [e.value for e in events if isinstance(e, Setting)] == [3]
    assert len([e for e in events if isinstance(e, Step)]) == 59
    assert len([e for e in events if isinstance(e, Error)]) == 1


def test_that_a_long_traceback_keeps_its_ends():
    frames = "".join(f'  File "/t/a.py", line {n}, in f\n    f({n})\n' for n in range(5000))
    (event,) = errors("Traceback (most recent call last):\n" + frames + "RecursionError: maximum depth\n")
    assert "line 1, in f" in event.traceback and "line 4999, in f" in event.traceback
    assert len(event.traceback.splitlines()) <= 201 and "\n…\n" in event.traceback


def test_that_launchers_report_and_trainers_raise():
    wrapper = (
        TRACEBACK
        + "subprocess.CalledProcessError: Command '['python3', 'x.py']' died with <Signals.SIGKILL: 9>.\n"
    )
    assert [e.wrapper for e in errors(wrapper)] == [True]
    own = TRACEBACK + "subprocess.CalledProcessError: git failed\n"
    assert [e.wrapper for e in errors(own)] == [False]
    interrupted = TRACEBACK.replace("/t/train.py", "/v/accelerate/commands/launch.py") + "KeyboardInterrupt\n"
    assert [e.wrapper for e in errors(interrupted)] == [True]
    assert [e.wrapper for e in errors(TRACEBACK + "KeyboardInterrupt\n")] == [False]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train_network.py: error: unrecognized arguments: 768", "unrecognized arguments: 768"),
        (
            "train.py: error: argument --x: invalid int value: 'five'",
            "argument --x: invalid int value: 'five'",
        ),
        (
            "/v/bin/python3: can't open file '/t/no.py': [Errno 2] No",
            "can't open file '/t/no.py': [Errno 2] No",
        ),
        (r"C:\v\python.exe: No module named accelerate", "No module named accelerate"),
        ("'accelerate' is not recognized as an internal", "'accelerate' is not recognized as an internal"),
        ("bash: line 1: accelerate: command not found", "bash: line 1: accelerate: command not found"),
        ("Fatal Python error: Segmentation fault", "Fatal Python error: Segmentation fault"),
        ("No data found. Please verify arguments / 画像", "No data found. Please verify arguments / 画像"),
        ("/data/nope.toml not found.", "/data/nope.toml not found."),
    ],
)
def test_that_a_refusal_is_an_error(line, message):
    assert [(e.type, e.message, e.traceback) for e in errors(f"x\n{line}\n")] == [(None, message, None)]
    assert [e.message for e in errors(BAR + line + "\n")] == [message]


@pytest.mark.parametrize(
    ("line", "message", "source"),
    [
        ("C:\\my v\\x.py:12: FutureWarning: use y", "FutureWarning: use y", "x.py:12"),
        ("/v/lib/x.py:3504: RuntimeWarning: Mean of empty", "RuntimeWarning: Mean of empty", "x.py:3504"),
        ("NaN found in latents, replacing with zeros", "NaN found in latents, replacing with zeros", None),
        ("W1130 01:08:03.122000 21080 torch/api.py:1028] Sending", "Sending", "torch/api.py:1028"),
        ("no regularization images / 正則化", "no regularization images / 正則化", None),
    ],
)
def test_that_a_bare_warning_is_one(line, message, source):
    assert [(w.message, w.source) for w in warnings(f"x\n{line}\n")] == [(message, source)]


def test_that_a_repeated_warning_comes_less_and_less_often():
    text = "NaN found in latents, replacing with zeros\n" * 1000
    assert [w.count for w in warnings(text)] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    parser = OutputParser()
    for number in range(2000):
        parser.feed(f"/v/x.py:{number}: UserWarning: number {number}\n".encode())
    assert len(parser._seen) <= 512


def test_that_an_error_that_comes_for_ever_does_not_flood():
    text = (TRACEBACK + "OSError: bad\n") * 1000
    assert len(errors(text)) == 8 + 6


def test_that_a_crash_while_saving_is_one_while_saving():
    crash = "saving checkpoint: out/a-step00000005.safetensors\n" + TRACEBACK + "OSError: disk full\n"
    phases = [e.phase for e in read(BAR + "\n" + crash + BAR + "\n") if isinstance(e, Phase)]
    assert phases == ["training", "saving"]


def test_that_settings_are_told_when_they_change():
    header = "  num epochs / epoch数: 3\n  batch size per device / バッチサイズ: 2, 1\n"
    header += "  gradient ccumulation steps / 勾配 = 4\n  total optimization steps / 学習: 30\n"
    events = [e for e in read(header * 2 + "num epochs / epoch: 5\n") if isinstance(e, Setting)]
    assert [(e.name, e.value) for e in events] == [
        ("num epochs", 3),
        ("batch size per device", "2, 1"),
        ("gradient accumulation steps", 4),
        ("total optimization steps", 30),
        ("num epochs", 5),
    ]


@pytest.mark.parametrize(
    ("path", "final"),
    [
        ("out/a-000001.safetensors", False),
        ("out/a-step00000010.safetensors", False),
        ("out/a.safetensors", True),
        ("C:\\out\\a-000001.ckpt", False),
        ("out/a-step00000010-state", True),
    ],
)
def test_that_the_final_file_is_known_by_its_name(path, final):
    (event,) = [e for e in read(f"\nsaving checkpoint: {path}\n") if isinstance(e, Saved)]
    assert (event.path, event.kind, event.final) == (path, "model", final)


def test_that_other_scripts_announcements_read():
    text = "saving model: out/a-000002\nsave trained model as Diffusers to out/last\n"
    assert [(e.path, e.final) for e in read(text) if isinstance(e, Saved)] == [
        ("out/a-000002", False),
        ("out/last", True),
    ]


def test_that_epochs_are_announced_by_the_line_not_by_the_workers():
    text = (
        BAR
        + "epoch 1/3\n"
        + rows("INFO", ["epoch is incremented. current_epoch: 0, epoch: 2"], "t.py:1", 200)
    )
    assert [(e.epoch, e.total) for e in read(text) if isinstance(e, Epoch)] == [(1, 3)]


def test_that_harmless_tracebacks_are_no_cause():
    tally = Tally()
    for event in read(TRACEBACK + "ModuleNotFoundError: No module named 'triton'\nhello\n"):
        tally.add(event)
    assert tally.errors and tally.cause is None


def test_that_a_tally_keeps_a_bounded_number_of_things():
    tally = Tally()
    for number in range(3000):
        tally.add(Error(message=f"error {number}"))
        tally.add(Saved(path=f"out/{number}", kind="model"))
    assert (len(tally.errors), len(tally.saves), tally.saving_lines) == (20, 2000, 3000)
    assert tally.errors[0].message == "error 0" and tally.cause.message == "error 2999"


def test_that_tokens_are_kept_out():
    token = "hf_" + "a" * 30
    text = (
        TRACEBACK
        + f"subprocess.CalledProcessError: Command '['x.py', '--huggingface_token', '{token}']' failed\n"
    )
    text += f"x.py: error: unrecognized arguments: --wandb_api_key=abcdef\n/v/x.py:1: UserWarning: {token}\n"
    told = " ".join(
        event.model_dump_json() for event in read(text + "saving checkpoint: my/secret.safetensors\n")
    )
    assert token not in told and "abcdef" not in told
    own = read("saving checkpoint: my/secret.safetensors\n", secrets=["secret"])
    assert "secret" not in " ".join(event.model_dump_json() for event in own)


SGR = "\x1b[2;36m2026-11-30 00:50:52\x1b[0m \x1b[33mWARNING \x1b[0m take \x1b[1mcare\x1b[0m    "
LINKED = SGR + "\x1b]8;id=1;file:///t/a.py\x1b\\\x1b[2ma.py\x1b[0m\x1b]8;;\x1b\\\x1b[2m:\x1b[0m7\r\n"


def test_that_colours_and_links_of_a_terminal_are_taken_off():
    assert [(w.message, w.source) for w in warnings(LINKED)] == [("take care", "a.py:7")]
    bell = LINKED.replace("\x1b\\", "\x07")
    assert [(w.message, w.source) for w in warnings(bell)] == [("take care", "a.py:7")]


@pytest.mark.parametrize("broken", ["\x1b", "\x1b[", "\x1b]8;;http", "\x1b]8;;x\x1b", "\x1b[12", "\x1b["])
def test_that_a_broken_escape_loses_nothing_after_it(broken):
    events = read(f"{broken}\nsaving checkpoint: out/a.safetensors\n{broken}")
    assert [e.path for e in events if isinstance(e, Saved)] == ["out/a.safetensors"]


def test_that_dos_and_unix_line_ends_read_alike():
    text = (
        TRACEBACK + "OSError: bad\n\nThe above exception was the direct cause of the following exception:\n\n"
    )
    text += TRACEBACK + "ValueError: worse\n" + "saving checkpoint: out/a.safetensors\n"
    unix = [event.model_dump() for event in read(text)]
    assert [event.model_dump() for event in read(text.replace("\n", "\r\n"))] == unix


def test_that_bytes_that_are_no_text_read_on():
    assert [
        e.path for e in read(b"\xff\xfe\x80\nsaving checkpoint: \xe9\xe8.pt\n") if isinstance(e, Saved)
    ] == ["��.pt"]


def test_that_utf16_logs_and_byte_order_marks_read(tmp_path):
    log = tmp_path / "log.txt"
    for encoding in ("utf-16", "utf-16-be", "utf-8-sig", "utf-8"):
        mark = "\ufeff" if encoding == "utf-16-be" else ""
        log.write_bytes((mark + "saving checkpoint: 学.pt\n").encode(encoding))
        events = read(b"".join(read_log(log)))
        assert [e.path for e in events if isinstance(e, Saved)] == ["学.pt"]
    assert b"".join(as_utf8(bytes([byte]) for byte in "\ufeff学".encode("utf-16-le"))) == "学".encode()
    assert b"".join(as_utf8([])) == b""


def test_that_a_listener_hears_everything():
    heard = []
    parser = OutputParser(listener=heard.append)
    text = (
        "hello\n" + rows("INFO", ["Using", "v1-tokenizer"], "s.py:26", 47) + TRACEBACK + "OSError: bad\nbye\n"
    )
    parser.feed((text + BAR + BAR.replace("5/10", "6/10").replace("1.1", "nan")).encode())
    assert [(said.kind, said.text, said.line) for said in heard] == [
        ("line", "hello", 1),
        ("record", "Using v1-tokenizer", 2),
        ("exception", "OSError: bad", 4),
        ("line", "bye", 8),
        ("step", "step 5 of 10, 2 s/it", 9),
        ("step", "step 6 of 10, 2 s/it", 9),
        ("loss", "step 6: loss nan", 9),
    ]


def test_that_events_have_words():
    text = "loading model for process 0/1\n" + "caching latents...\n" + TRACEBACK + "OSError: bad\n" + "x\n"
    text += "train.py: error: no\nepoch 1/2\nsaving checkpoint: a-000001.pt\nsaving checkpoint: a.pt\n"
    text += "NaN found in latents\nNaN found in latents\n  num epochs / x: 3\n"
    text += rows("INFO", ["Saving current state to out/a-state"], "t.py:1", 120)
    text += "\r  0%|          | 0/2 [00:00<?, ?it/s]\r100%|█| 2/2 [00:00<00:00, 1.00it/s]\n"
    text += BAR + BAR.replace("5/10", "6/10").replace("1.1", "nan") + "\n"
    text += TRACEBACK + "subprocess.CalledProcessError: Command 'x' returned non-zero exit status 1.\n"
    said = [sentence_of(event) for event in read(text)]
    for words in (
        "caching latents …",
        "error at line 3: OSError: bad",
        "epoch 1 of 2",
        "saves a-000001.pt",
        "saves the final file a.pt",
        "warning, 2 times by now: NaN found in latents",
        "num epochs: 3",
        "saves the state out/a-state",
        "items: 2 of 2",
        "step 5 of 10, mean loss 1.1, 2 s a step",
        "step 6: the loss is nan",
    ):
        assert words in said
    assert said[-1].startswith("the launcher reports: subprocess.CalledProcessError")
    assert sentence_of(Exit(status=1)) == "the trainer ended with status 1"
    assert sentence_of(Error(message="bad")) == "error: bad"
    assert sentence_of(Saved(path="a.png", kind="sample")) == "drew a.png"
    assert sentence_of(Step(step=1, total=None, loss=0.5)) == "step 1 of ?, loss 0.5"
    assert {phase_words(event.phase) for event in read(text) if isinstance(event, Phase)}
