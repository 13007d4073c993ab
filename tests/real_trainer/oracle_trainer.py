"""Runs the trainer's own scripts, with small models, for many command lines; run by its own Python.

Usage: PYTHON oracle_trainer.py JOBS.json ANSWERS TOKENIZERS WORKERS, with the checkout as working folder.

A job is ``{"script": "train_network", "words": ["--network_dim", "16"]}``. Everything is imported once;
each job then runs what stands under the script's ``if __name__ == "__main__"`` in a process of its own
(POSIX only), so that none can touch another. Its answer, a JSON file named by its number in ANSWERS:

- ``refusal``: None when it trained, else the exception, or what else ended it.
- ``where``: ``file.py:123`` of the innermost frame inside the checkout.
- ``steps``: Optimizer steps that it took.
- ``ended``: Whether it came to its own end, with all its saves.
- ``tail``: The end of its output.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path.cwd()))

from oracle_sizes import make_models_small

SCRIPTS = (
    "train_network",
    "sdxl_train_network",
    "flux_train_network",
    "sd3_train_network",
    "lumina_train_network",
    "hunyuan_image_train_network",
    "anima_train_network",
    "train_db",
    "fine_tune",
    "sdxl_train",
    "flux_train",
    "sd3_train",
    "lumina_train",
    "anima_train",
    "train_textual_inversion",
    "sdxl_train_textual_inversion",
    "train_control_net",
    "sdxl_train_control_net",
    "sdxl_train_control_net_lllite",
    "flux_train_control_net",
)
ENOUGH_STEPS = 5
"""After so many steps a longer training is broken off: it trains."""

CPU_SECONDS = 120
"""So much a job may compute."""

SECONDS = 1200
"""So long it may take on a busy machine."""

MEMORY_BYTES = 12 * 2**30

TAIL = 2000


class EnoughSeen(BaseException):
    """The training goes on and on: that is an answer."""


class TookTooLong(BaseException):
    """No answer came in time."""


class Progress:
    """How far the job has come."""

    def __init__(self) -> None:
        self.seen = {"losses": 0, "schedule": 0}
        self.ended = False

    @property
    def steps(self) -> int:
        """How many steps were seen; not each script shows them in both ways."""
        return max(self.seen.values())

    def count(self, way: str) -> None:
        """Count a step.

        Raises:
            EnoughSeen: It goes on and on.
        """
        self.seen[way] += 1
        if self.steps >= ENOUGH_STEPS:
            raise EnoughSeen


def main_block(script: str) -> CodeType:
    """Return what the script runs when it is started."""
    path = Path.cwd() / f"{script}.py"
    body = [
        statement
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)
        for statement in node.body
    ]
    return compile(ast.Module(body, type_ignores=[]), str(path), "exec")


def tokenizers(folder: Path) -> Callable[..., Any]:
    """Return what loads tokenizers from this disk alone: a few serve for all."""
    from library import anima_utils
    from transformers import ByT5Tokenizer, CLIPTokenizer

    qwen = anima_utils.load_qwen3_tokenizer("any.safetensors")
    t5 = anima_utils.load_t5_tokenizer()
    clip = CLIPTokenizer.from_pretrained(folder / "openai_clip-vit-large-patch14")
    anima_utils.load_qwen3_tokenizer = lambda path: qwen if path and Path(path).exists() else _missing(path)
    anima_utils.load_t5_tokenizer = lambda path=None: t5 if path is None else _missing(path)
    by_name = {"qwen": qwen, "t5": t5, "gemma": t5, "byt5": ByT5Tokenizer()}

    def load(_self: Any, _kind: Any, identity: str, *_rest: Any, **_more: Any) -> Any:
        import copy

        name = next((name for name in ("byt5", "qwen", "t5", "gemma") if name in identity.lower()), "")
        return copy.deepcopy(by_name.get(name, clip))

    return load


def _missing(path: str) -> Any:
    raise FileNotFoundError(path)


def prepare(folder: Path) -> dict[str, tuple[CodeType, Any]]:
    """Import all scripts and put the small models and the disk's tokenizers in place."""
    import oracle_loaders
    import torch
    from oracle_standins_late import load_sd3_file

    torch.set_num_threads(1)
    oracle_loaders.put_in_place()
    from library import strategy_base, strategy_lumina

    load = tokenizers(folder)
    strategy_base.TokenizeStrategy._load_tokenizer = load
    strategy_lumina.AutoTokenizer = type(
        "AutoTokenizer", (), {"from_pretrained": staticmethod(functools.partial(load, None, None))}
    )
    made = {}
    for script in SCRIPTS:
        module = importlib.import_module(script)
        if "load_safetensors" in vars(module):
            module.load_safetensors = load_sd3_file
        made[script] = (main_block(script), module)
    importlib.import_module("torch.utils.tensorboard")
    for name in ("lora", "lora_flux", "lora_sd3", "lora_lumina", "lora_hunyuan_image", "lora_anima"):
        importlib.import_module(f"networks.{name}")
    oracle_loaders.warm_up()
    return made


def computes_on_the_cpu() -> None:
    """Let fp16 and a GPU be asked for where there is none: fp16 is computed as bf16."""
    import torch
    from library import train_util

    real_prepare, real_dtype = train_util.prepare_accelerator, train_util.prepare_dtype
    layer_norm, group_norm = torch.nn.functional.layer_norm, torch.nn.functional.group_norm
    asked = None

    def accelerator(args: Any) -> Any:
        nonlocal asked
        asked = args.mixed_precision
        args.mixed_precision = "bf16" if asked == "fp16" else asked
        try:
            return real_prepare(args)
        finally:
            args.mixed_precision = asked

    def dtype(args: Any) -> Any:
        return tuple(torch.bfloat16 if each is torch.float16 else each for each in real_dtype(args))

    train_util.prepare_accelerator, train_util.prepare_dtype = accelerator, dtype

    def patch(accelerator: Any) -> None:
        """Fail as where there is no scaler of gradients, which only fp16 brings."""
        if asked != "fp16":
            raise AttributeError("'NoneType' object has no attribute '_unscale_grads_'")

    def in_full(norm: Callable[..., Any]) -> Callable[..., Any]:
        """On a GPU autocast computes it in full precision, on a CPU it refuses mixed ones."""

        def compute(x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
            if weight is not None and weight.dtype != x.dtype:
                x, weight = x.float(), weight.float()
                bias = bias.float() if bias is not None else None
            return norm(x, shape, weight, bias, eps)

        return compute

    train_util.patch_accelerator_for_fp16_training = patch
    torch.nn.functional.layer_norm = in_full(layer_norm)
    torch.nn.functional.group_norm = in_full(group_norm)
    torch.Tensor.cuda = lambda self, *_where, **_how: self


def counted(progress: Progress) -> None:
    """Count the trainer's steps."""
    from accelerate.scheduler import AcceleratedScheduler
    from library import train_util

    def also_count(kind: type, method: str, way: str) -> None:
        real = getattr(kind, method)

        @functools.wraps(real)
        def counting(self: Any, *args: Any, **more: Any) -> Any:
            result = real(self, *args, **more)
            progress.count(way)
            return result

        setattr(kind, method, counting)

    also_count(AcceleratedScheduler, "step", "schedule")
    also_count(train_util.LossRecorder, "add", "losses")


def where(error: BaseException) -> str | None:
    """Return the innermost frame inside the checkout."""
    here = str(Path.cwd())
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith(here):
            return f"{Path(frame.filename).name}:{frame.lineno}"
    return None


def run(job: dict[str, Any], ready: dict[str, tuple[CodeType, Any]], log: Path) -> dict[str, Any]:
    """Run one job in this process, which ends afterwards."""
    progress = Progress()
    counted(progress)
    code, module = ready[job["script"]]
    answer: dict[str, Any] = {"refusal": None, "where": None}
    sys.argv = [str(Path.cwd() / f"{job['script']}.py"), *job["words"]]

    def too_long(*_signal: Any) -> None:
        raise TookTooLong(f"no end after {CPU_SECONDS} s of computing")

    signal.signal(signal.SIGALRM, too_long)
    signal.signal(signal.SIGPROF, too_long)
    signal.alarm(SECONDS)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    try:
        exec(code, {**vars(module), "__name__": "__main__"})
        if not progress.steps:
            answer["refusal"] = "it ended and had trained nothing"
        progress.ended = True
    except EnoughSeen:
        pass
    except SystemExit as end:
        answer["refusal"] = f"exit {end.code}"
    except BaseException as error:  # noqa: BLE001 – whatever ends it is the answer
        answer |= {"refusal": f"{type(error).__name__}: {error}"[:500], "where": where(error)}
        traceback.print_exc()
    signal.alarm(0)
    signal.setitimer(signal.ITIMER_PROF, 0)
    sys.stdout.flush()
    sys.stderr.flush()
    tail = log.read_bytes()[-TAIL:].decode("utf-8", "replace") if log.exists() else ""
    return answer | {"steps": progress.steps, "ended": progress.ended, "tail": tail}


def child(job: dict[str, Any], ready: dict[str, tuple[CodeType, Any]], answers: Path, number: int) -> None:
    """Run one job and write its answer; never returns."""
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        log = answers / f"{number}.log"
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(out, 1)
        os.dup2(out, 2)
        begun = time.monotonic()
        answer = run(job, ready, log) | {"seconds": round(time.monotonic() - begun, 2)}
        part = answers / f"{number}.part"
        part.write_text(json.dumps(answer, ensure_ascii=False), "utf-8")
        part.rename(answers / f"{number}.json")
        log.unlink()
        status = 0
    finally:
        os._exit(status)


@contextlib.contextmanager
def at_most(workers: int) -> Iterator[Callable[[], None]]:
    """Give what waits until there is room for one more child; at the end all have ended."""
    alive = 0

    def room() -> None:
        nonlocal alive
        while alive >= workers:
            os.wait()
            alive -= 1
        alive += 1

    yield room
    while alive:
        with contextlib.suppress(ChildProcessError):
            os.wait()
        alive -= 1


def main(jobs: Path, answers: Path, folder: Path, workers: int) -> None:
    """Answer all jobs."""
    make_models_small()
    ready = prepare(folder)
    computes_on_the_cpu()
    with at_most(workers) as room:
        for number, job in enumerate(json.loads(jobs.read_text("utf-8"))):
            room()
            sys.stdout.flush()
            sys.stderr.flush()
            if os.fork() == 0:
                child(job, ready, answers, number)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
