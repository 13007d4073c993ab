"""What this program says about plans is what the trainer's own parser and checks say, both ways."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from agreement_draft import Draft, Places, Unlooked, sound
from agreement_plans import drafts
from agreement_words import our_words, words_of
from PIL import Image

from gui.engine.findings import Finding
from gui.engine.plan.dataset_toml import dataset_toml
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.fixing import apply_safe_fixes
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.inherited import clean_environment

Answer = dict[str, str | None]
"""Each stage that the trainer reached, and its refusal there; None where it passed."""

DRIVER = Path(__file__).with_name("ask_trainer.py")
PLANS = int(os.environ.get("KOHYA_PREFLIGHT_AGREEMENT_PLANS", "1000"))
SEED = int(os.environ.get("KOHYA_PREFLIGHT_AGREEMENT_SEED", "3"))
"""Other numbers draw other plans, for a longer look."""

LEAST = 10
"""So many plans at least must be refused at each stage, and a quarter must pass, or nothing is shown."""

STAGES: dict[str, frozenset[str]] = {
    "parse": frozenset({"arg-unknown", "arg-type", "enum", "flag-value", "arg-count", "arg-form"}),
    "verify": frozenset({"adaptive-noise", "vpred-only"}),
    "dataset": frozenset(
        {"dataset-unknown", "dataset-type", "dataset-level", "dataset-missing", "reso-format", "face-crop"}
    ),
    "group": frozenset(
        {
            *("resolution", "bucket-range", "bucket-thin", "interpolation"),
            *("control-crop", "validation-control", "validation-split"),
            *("batch-size", "repeats-zero", "no-data"),
        }
    ),
    "cache": frozenset({"cache-aug"}),
    "extra": frozenset(
        {
            "bucket-steps",
            "cache-te",
            "cache-te-aug",
            "swap-offload",
            "unsloth-offload",
            "family-cannot:v2",
            "chroma:apply_t5_attn_mask",
        }
    ),
}
"""Which stop findings say at which stage the trainer refuses a plan; some only of one argument."""


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue.bundled()


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    """Two small images with captions, their masks, and a dataset file of a user's own."""
    folder = tmp_path_factory.mktemp("data")
    for kind in ("images", "masks"):
        (folder / kind).mkdir()
        for name, size in (("wide", (96, 64)), ("high", (64, 96))):
            Image.new("RGB", size, "grey").save(folder / kind / f"{name}.png")
            (folder / kind / f"{name}.txt").write_text("a thing", "utf-8")
    (folder / "meta.json").write_text("{}", "utf-8")
    own = folder / "own.toml"
    own.write_text(dataset_toml({"subsets": [{"image_dir": str(folder / "images")}]}, folder), "utf-8")
    return Places(folder)


def ask(trainer, drawn: list[Draft], words: list[list[str]], folder: Path) -> list[Answer]:
    """Put all command lines to the trainer, in one process."""
    jobs = [
        {"script": draft.script.name.removesuffix(".py"), "words": each}
        for draft, each in zip(drawn, words, strict=True)
    ]
    (folder / "jobs.json").write_text(json.dumps(jobs), "utf-8")
    done = subprocess.run(
        [trainer.python, DRIVER, folder / "jobs.json", folder / "answers.json"],
        cwd=trainer.root,
        env=clean_environment() | {"PYTHONUTF8": "1", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "answers.json").read_text("utf-8"))


LATER = {"cache-te": ("flux_train_network.py", "hunyuan_image_train_network.py")}
"""What these scripts do not check and die of at the first step."""


def claims(script: str, findings: list[Finding]) -> dict[str, list[str]]:
    """Return what we say about each stage: the titles of the stop findings about it."""
    findings = [found for found in findings if script not in LATER.get(found.id, ())]
    return {
        stage: [
            finding.title
            for finding in findings
            if finding.severity == "stop" and ids & {finding.id, f"{finding.id}:{finding.arguments[0]}"}
        ]
        for stage, ids in STAGES.items()
    }


def disagreements(draft: Draft, said: list[Finding], answer: Answer) -> list[str]:
    """Return where we and the trainer differ, as far as the trainer went."""
    ours = claims(draft.script.name, said)
    stops = {finding.id for finding in said if finding.severity == "stop"}
    if "arg-short" in stops:
        answer = {"parse": answer["parse"]}  # we do not look at what a name in short would do
    elif "bucket-steps" in stops and answer.get("group"):
        # The limits of buckets are judged by the step as it will be once it is mended.
        answer = {**answer, "group": None, "extra": answer["group"]}
        ours["group"] = []
    return [
        f"{stage}: we say {ours[stage]}, the trainer says {refusal}"
        for stage, refusal in answer.items()
        if bool(ours[stage]) != (refusal is not None)
    ]


STRICTER: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "arg-short": ({"save_every_n_epo": 2}, {}),
    "nonfinite-value": ({"learning_rate": "nan"}, {}),
    "dataset-bool": ({}, {"batch_size": True}),
}
"""What we stop at although the trainer takes it: arguments and dataset options, by our finding."""


@pytest.fixture(scope="module")
def drawn(catalogue, places) -> list[Draft]:
    strict = [sound("sd15", "lora", catalogue, places) for _identity in STRICTER]
    for draft, (arguments, dataset) in zip(strict, STRICTER.values(), strict=True):
        draft.arguments |= arguments
        draft.dataset |= dataset
    return [*strict, *drafts(PLANS, SEED, catalogue, places)]


@pytest.fixture(scope="module")
def answered(real_trainer, catalogue, drawn, tmp_path_factory) -> list[tuple[Draft, list[Finding], Answer]]:
    """Each plan with what we say and what the trainer says."""
    folder = tmp_path_factory.mktemp("plans")
    words: list[list[str]] = []
    for number, draft in enumerate(drawn):
        words.append(words_of(draft, real_trainer, catalogue, folder / str(number)))
    checker = Checker(folder, catalogue, Facts(), collector=Collector(models=Unlooked()))
    found = [checker.findings(draft.plan()) for draft in drawn]
    return list(zip(drawn, found, ask(real_trainer, drawn, words, folder), strict=True))


@pytest.mark.timeout(900)
def test_that_our_answer_is_the_trainers_own_both_ways(answered) -> None:
    refused: Counter[str] = Counter()
    differing = []
    for draft, said, answer in answered[len(STRICTER) :]:
        assert "rule-failed" not in {finding.id for finding in said}
        refused.update(stage for stage, refusal in answer.items() if refusal is not None)
        refused["nothing"] += not any(answer.values())
        differing += [
            f"{draft.script.name} {draft.twists} {draft.arguments} {draft.dataset}\n  {difference}"
            for difference in disagreements(draft, said, answer)
        ]
    assert not differing, f"{len(differing)} of {PLANS}:\n" + "\n".join(differing)
    assert all(refused[stage] >= LEAST for stage in STAGES), refused
    assert refused["nothing"] >= PLANS / 4


@pytest.mark.timeout(900)
def test_that_where_we_are_stricter_the_trainer_takes_what_was_hardly_meant(answered) -> None:
    for identity, (draft, said, answer) in zip(STRICTER, answered, strict=False):
        stops = {finding.id for finding in said if finding.severity == "stop"}
        assert identity in stops, (draft, said)
        assert not any(answer.values()), (identity, answer)


@pytest.mark.timeout(900)
def test_that_the_trainer_takes_what_safe_fixes_have_mended(
    real_trainer, catalogue, answered, tmp_path: Path
) -> None:
    checker = Checker(tmp_path, catalogue, Facts(), collector=Collector(models=Unlooked()))
    mended, words = [], []
    for number, (draft, said, _answer) in enumerate(answered):
        # What a dataset file of one's own says is not known here.
        if "dataset_config" in draft.arguments or all(each.severity != "stop" for each in said):
            continue
        fixed = apply_safe_fixes(draft.plan(), checker.findings)
        if all(each.severity != "stop" for each in fixed.remaining):
            mended.append(draft)
            words.append(our_words(fixed.plan, real_trainer, catalogue, tmp_path / str(number)))
    assert len(mended) >= PLANS / 20
    refused = [
        f"{draft.script.name} {draft.twists} {' '.join(each)}\n  {answer}"
        for draft, each, answer in zip(mended, words, ask(real_trainer, mended, words, tmp_path), strict=True)
        if any(answer.values())
    ]
    assert not refused, "\n".join(refused)
