"""Asks the installed trainer what it says to command lines; run by the trainer's own Python.

Usage: PYTHON ask_trainer.py JOBS.json ANSWERS.json, with the checkout as the working folder.

A job is ``{"script": "train_network", "words": ["--network_dim", "16"]}``. Its answer maps each
stage that was reached to None (passed) or to the refusal's words:

- ``parse``: ``setup_parser().parse_args``.
- ``verify``: ``train_util.verify_training_args``.
- ``dataset``: ``prepare_dataset_args``, then the dataset file by the schema that the script takes.
- ``group``: the datasets themselves: resolution, buckets, images.
- ``cache``: that latents which are to be cached do not change.
- ``extra``: what LoRA scripts keep in ``assert_extra_args``; other scripts do not reach it.

Nothing is loaded, cached or trained.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path.cwd()))

CONTROLNET = (False, False, True, True)
"""What a dataset may be: folders, metadata files, pairs; and whether captions may be dropped."""


def schema(script: str, args: argparse.Namespace) -> tuple[bool, bool, bool, bool]:
    """Return what each script hands to ``ConfigSanitizer`` (train_network.py:517, fine_tune.py:69, …)."""
    if "control_net" in script or script == "train_controlnet":
        return CONTROLNET
    if script == "fine_tune":
        return (False, True, False, True)
    if script == "train_db":
        return (True, False, args.masked_loss, True)
    return (True, True, args.masked_loss, "textual_inversion" not in script)


def parse(script: str, words: list[str]) -> argparse.Namespace:
    """Let the script's parser read the words; its refusal becomes a ValueError."""
    parser = importlib.import_module(script).setup_parser()
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            return parser.parse_args(words)
    except SystemExit as end:
        lines = said.getvalue().strip().splitlines() or [str(end.code)]
        raise ValueError(lines[-1]) from None


def blueprint(script: str, args: argparse.Namespace) -> Any:
    """Judge the dataset file as the script would."""
    from library import config_util, train_util

    train_util.prepare_dataset_args(args, script != "train_db")
    sanitizer = config_util.ConfigSanitizer(*schema(script, args))
    read = config_util.load_user_config(args.dataset_config)
    return config_util.BlueprintGenerator(sanitizer).generate(read, args)


def can_be_made(made: Any) -> bool:
    """Whether the datasets hold folders of images; metadata files there are none."""
    return all(entry.is_dreambooth or entry.is_controlnet for entry in made.dataset_group.datasets)


def datasets(made: Any) -> Any:
    """Make the datasets, which reads the images' sizes and captions (train_network.py:571-579)."""
    from library import config_util

    groups = config_util.generate_dataset_group_by_blueprint(made.dataset_group)
    assert len(groups[0]), "No data found"
    return groups


def can_cache(args: argparse.Namespace, groups: Any) -> None:
    """Ask what all scripts assert before they cache latents (train_network.py:581)."""
    if args.cache_latents:
        assert all(group.is_latent_cacheable() for group in groups if group), "latents cannot be cached"


def own_asserts(script: str) -> list[type]:
    """Return the script's own trainer, which keeps its asserts in a method; full trainings have none."""
    module = importlib.import_module(script)
    return [
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == script and hasattr(kind, "assert_extra_args")
    ]


def answer(script: str, words: list[str]) -> dict[str, str | None]:
    """Take one command line through the stages."""
    from library import train_util

    said: dict[str, str | None] = {}

    def stage(name: str, act: Callable[[], Any]) -> Any:
        try:
            result = act()
        except (Exception, SystemExit) as error:  # noqa: BLE001 – a refusal is what is asked for
            said[name] = f"{type(error).__name__}: {error}"
            return None
        said[name] = None
        return result

    args = stage("parse", lambda: parse(script, words))
    if args is None:
        return said
    stage("verify", lambda: train_util.verify_training_args(args))
    if not args.dataset_config:
        return said
    made = stage("dataset", lambda: blueprint(script, args))
    groups = stage("group", lambda: datasets(made)) if made and can_be_made(made) else None
    if groups:
        stage("cache", lambda: can_cache(args, groups))
        for kind in own_asserts(script):
            stage("extra", lambda trainer=kind: trainer().assert_extra_args(args, *groups))
    return said


def main(jobs: Path, answers: Path) -> None:
    """Answer all jobs."""
    logging.disable(logging.CRITICAL)
    asked = json.loads(jobs.read_text("utf-8"))
    # The trainer prints to stdout.
    with contextlib.redirect_stdout(sys.stderr):
        said = [answer(job["script"], job["words"]) for job in asked]
    answers.write_text(json.dumps(said, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
