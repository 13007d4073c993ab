"""Files that somebody may bring by mistake or in bad faith, and what must be said of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

Make = Callable[[Path], object]


class BadFile(NamedTuple):
    """One of them.

    Attributes:
        name: The file's.
        make: Writes it.
        words: Some words of the sentence that refuses it.
    """

    name: str
    make: Make
    words: str


def _content(content: bytes) -> Make:
    return lambda path: path.write_bytes(content)


def _large(size: int, head: bytes = b"") -> Make:
    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.write(head)
            file.truncate(size)

    return make


def _header(fields: object, more: bytes = b"") -> bytes:
    raw = json.dumps(fields).encode()
    return len(raw).to_bytes(8, "little") + raw + more


_BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{here}: &{here} [{','.join([f'*{before}'] * 9)}]\n"
    for before, here in zip("abcdefgh", "bcdefghi", strict=True)
)
_GUI = b'{"LoRA_type": "Standard", "train_batch_size": 1, "max_resolution": "512,512", '

BAD_FILES: dict[str, BadFile] = {
    "json that is no config": BadFile("config.json", _content(b'{"hello": [1, 2]}'), "no settings"),
    "json that ends too early": BadFile("config.json", _content(_GUI), "not JSON"),
    "json without an end of depth": BadFile("config.json", _content(b"[" * 300_000), "nested too deeply"),
    "yaml bomb": BadFile("plan.yaml", _content(_BOMB.encode()), "no list of arguments"),
    "yaml bomb as toml": BadFile("plan.toml", _content(_BOMB.encode()), "not TOML"),
    "toml of 50 MB": BadFile("plan.toml", _large(50 << 20, b'name = "x"\n'), "too large"),
    "json of 50 MB": BadFile("config.json", _large(50 << 20, b"{"), "too large"),
    "toml with a key twice": BadFile("plan.toml", _content(b"[arguments]\nseed = 1\nseed = 2\n"), "not TOML"),
    "json with a key twice": BadFile("config.json", _content(_GUI + b'"seed": 1, "seed": 2}'), "said twice"),
    "json with nan": BadFile("config.json", _content(_GUI + b'"learning_rate": NaN}'), "no finite number"),
    "json with 1e400": BadFile(
        "config.json", _content(_GUI + b'"learning_rate": 1e400}'), "no finite number"
    ),
    "toml with nan": BadFile("config.toml", _content(b"learning_rate = nan\n"), "no finite number"),
    "toml with 1e400": BadFile("config.toml", _content(b"learning_rate = 1e400\n"), "no finite number"),
    "utf-16 without a mark": BadFile(
        "plan.toml", _content('name = "x"\n'.encode("utf-16-le")), "UTF-16 without its mark"
    ),
    "utf-16 of nothing": BadFile("a.txt", _content("hello".encode("utf-16")), "no list of arguments"),
    "cp949": BadFile("plan.toml", _content('name = "이름"\n'.encode("cp949")), "not UTF-8"),
    "cp949 script": BadFile(
        "train.bat", _content("rem 이름\npython train_network.py".encode("cp949")), "not UTF-8"
    ),
    "unclosed quote": BadFile("run.sh", _content(b'python train_network.py --output_name "a\n'), "quote"),
    "unclosed quote of windows": BadFile("run.bat", _content(b'python train_network.py "--seed'), "quote"),
    "unclosed quote of powershell": BadFile("run.ps1", _content(b"python train_network.py 'a\n"), "quote"),
    "nothing at all": BadFile("plan.toml", _content(b""), "no plan"),
    "zero-byte model": BadFile("x.safetensors", _content(b""), "empty"),
    "header of 100 MB": BadFile(
        "x.safetensors", _large(200 << 20, (100_000_000).to_bytes(8, "little") + b'{"a":'), "header"
    ),
    "header longer than the file": BadFile(
        "x.safetensors", _content((1 << 40).to_bytes(8, "little") + b"{}"), ""
    ),
    "lying offsets": BadFile(
        "x.safetensors",
        _content(_header({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 2**50]}})),
        "",
    ),
    "a folder as a model": BadFile("x.safetensors", lambda path: path.mkdir(), "folder"),
    "a loop of links": BadFile("plan.toml", lambda path: path.symlink_to(path), "links"),
    "a file that is not there": BadFile("plan.toml", lambda _path: None, "No such file"),
}
"""By what is wrong with it."""
