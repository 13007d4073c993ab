"""What a stand-in for a trainer needs: a real process that prints, saves and logs as the real one does.

Standard library only, so that it starts quickly. A test writes a short script that uses it.
"""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

SCALE = " ▏▎▍▌▋▊▉█"


def sleep(seconds):
    time.sleep(seconds)


def wait_for(path):
    """Go on only once a test has made this file."""
    while not Path(path).exists():
        time.sleep(0.02)


def say(text):
    """A line on standard output, as ``accelerator.print`` makes it."""
    print(text, flush=True)


def record(level, message):
    """A log record on standard error."""
    sys.stderr.write(f"2026-11-30 00:19:32 {level:<8} {message:<300}train_util.py:1\n")
    sys.stderr.flush()


def bar(step, total, loss=None):
    """Draw the training bar once; twice makes a step."""
    cells = "█" * (10 * step // total)
    postfix = "" if loss is None else f", avr_loss={loss:.3g}"
    counts = f"{step}/{total} [00:0{step % 10}<00:10,  2.00it/s{postfix}]"
    sys.stderr.write(f"\rsteps: {100 * step // total:3d}%|{cells:<10}| {counts}")
    sys.stderr.flush()


def step(number, total, loss, previous=None):
    """Both redraws of a step."""
    bar(number, total, previous)
    bar(number, total, loss)


def header(total):
    say("running training / 学習開始")
    say(f"  num batches per epoch / 1epochのバッチ数: {total}")
    say("  num epochs / epoch数: 1")
    say(f"  total optimization steps / 学習ステップ数: {total}")
    bar(0, total)
    say("\nepoch 1/1\n")


def announce(path):
    say(f"\nsaving checkpoint: {path}")


def weights(value=0.02, tensors=4, size=64):
    """The bytes of a LoRA file."""
    names = [
        f"lora_unet_block_{n}.lora_{half}.weight" for n in range(tensors // 2) for half in ("down", "up")
    ]
    header, data, at = {"__metadata__": {"ss_steps": "0"}}, b"", 0
    for name in names:
        raw = struct.pack(f"<{size}f", *[value * (1 if i % 2 else -1) for i in range(size)])
        header[name] = {"dtype": "F32", "shape": [4, size // 4], "data_offsets": [at, at + len(raw)]}
        at += len(raw)
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def save(path, value=0.02, seconds=0.0, cut=None):
    """Announce and write a model, slowly if asked, or only its first ``cut`` bytes."""
    announce(path)
    data = weights(value)[:cut]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with Path(path).open("wb", buffering=0) as file:
        half = len(data) // 2
        file.write(data[:half])
        time.sleep(seconds)
        file.write(data[half:])


def saved():
    record("INFO", "model saved.")


def ignore_stop():
    """Be as deaf as a process that hangs in a driver."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def worker(seconds=600, own_session=False):
    """Start a process as a data loader does."""
    return subprocess.Popen(
        [sys.executable, "-c", f"import time; time.sleep({seconds})"], start_new_session=own_session
    )


class Tracker:
    """Writes event files as TensorBoard does."""

    def __init__(self, folder):
        folder = Path(folder) / "20261130000000" / "network_train"
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time())}.host.1.0"
        self.file = (folder / name).open("ab", buffering=0)

    def scalar(self, number, tag, value):
        name = tag.encode()
        inner = b"\x0a" + bytes([len(name)]) + name + b"\x15" + struct.pack("<f", value)
        summary = b"\x0a" + varint(len(inner)) + inner
        event = b"\x09" + struct.pack("<d", time.time()) + b"\x10" + varint(number)
        event += b"\x2a" + varint(len(summary)) + summary
        length = struct.pack("<Q", len(event))
        self.file.write(length + masked(length) + event + masked(event))

    def loss(self, number, loss, rate=1e-4):
        self.scalar(number, "loss/current", loss)
        self.scalar(number, "lr/unet", rate)


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 & -(crc & 1))
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def end(status=0):
    sys.stderr.flush()
    sys.stdout.flush()
    os._exit(status)
