"""What the dataset doctor calls a stop ends a real training, and what it calls harmless does not.

The table in ``tests/data/dataset/faults_on_the_trainer.yaml`` says of each kind of trouble what the trainer
does; here train_network.py itself, with a small model on the processor, is asked.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from dataset_faults import BUCKETS, MADE_FAULTS, MASKS, TRIGGER, MadeFault, clean_ground
from faults_on_the_trainer import FaultRow, fault_rows

ARGUMENTS = (
    *("--network_module=networks.lora", "--network_dim=4", "--network_train_unet_only"),
    *("--learning_rate=1e-4", "--seed=42", "--mixed_precision=no", "--max_data_loader_n_workers=0"),
    "--output_name=demo",
)

OFFLINE = {**os.environ, "HF_HUB_OFFLINE": "1"}
MANY = 8
"""Of so many faults together each is decoded, cropped, encoded and captioned, and one step is trained: more
would take a processor hours. Fewer are trained on for a whole epoch."""

pytestmark = pytest.mark.timeout(3600)


@pytest.fixture(scope="module")
def answers(real_trainer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """Train once for each fault that ends a training, and once for all that do not."""
    root = tmp_path_factory.mktemp("faults")
    orders = [order_of(root, real_trainer.inputs, name, rows) for name, rows in trainings()]
    given, taken = root / "orders.json", root / "answers.json"
    given.write_text(json.dumps(orders), "utf-8")
    words = [str(Path(__file__).parent / "fault_training.py"), str(given), str(taken)]
    subprocess.run([str(real_trainer.python), *words], cwd=real_trainer.root, env=OFFLINE, check=True)
    found: dict[str, dict] = json.loads(taken.read_text("utf-8"))
    return found


def trainings() -> Iterator[tuple[str, list[FaultRow]]]:
    """Yield a name and the faults that are trained on together."""
    tried = [row for row in fault_rows() if row.fault in MADE_FAULTS]
    alone = [row for row in tried if row.trainer != "trains"]
    yield from ((row.fault, [row]) for row in alone)
    for caches in (False, True):
        together = [row for row in tried if row not in alone and row.fault.startswith("cache-") is caches]
        yield ("harmless caches" if caches else "harmless"), together


def order_of(root: Path, inputs: Path, name: str, rows: list[FaultRow]) -> dict:
    """Write the dataset of one training; return what the trainer is asked."""
    place = root / name.replace(" ", "-")
    subsets = [subset_of(place, row.fault, MADE_FAULTS[row.fault], alone=len(rows) == 1) for row in rows]
    settings = {MADE_FAULTS[row.fault].setting for row in rows}
    options = {**BUCKETS, "bucket_no_upscale": settings == {"thin"}, "batch_size": 1}
    config = {"general": {"caption_extension": ".txt"}, "datasets": [{**options, "subsets": subsets}]}
    (place / "dataset.json").write_text(json.dumps(config), "utf-8")
    argv = [
        *ARGUMENTS,
        f"--pretrained_model_name_or_path={inputs}/sd15-random.safetensors",
        f"--tokenizer_cache_dir={inputs}/tokenizers",
        f"--dataset_config={place}/dataset.json",
        f"--output_dir={place}/out",
    ]
    many = len(rows) >= MANY
    argv += ["--max_train_steps=1", "--cache_latents"] if many else ["--max_train_epochs=1"]
    argv += ["--masked_loss"] if settings == {"masks"} else []
    argv += ["--cache_latents_to_disk"] if settings == {"caches"} else []
    return {"name": name, "argv": argv, "log": str(root / f"{place.name}.log")}


def subset_of(place: Path, key: str, fault: MadeFault, *, alone: bool) -> dict:
    """Write the folder of one fault, beside sound images where it has to end a training by itself."""
    folder = place / key
    folder.mkdir(parents=True)
    clean_ground(folder, fault.setting, 1 if alone else 0)
    fault.make(folder, "fault")
    subset: dict[str, object] = {"image_dir": str(folder), "num_repeats": 1}
    if fault.setting == "masks":
        subset["conditioning_data_dir"] = str(folder / MASKS)
    if fault.setting == "class":
        subset["class_tokens"] = f"{TRIGGER} woman"
    return subset


@pytest.mark.parametrize(
    "row", [row for row in fault_rows() if row.trainer == "ends"], ids=lambda row: row.fault
)
def test_that_what_is_said_to_end_a_training_ends_it(answers, row: FaultRow) -> None:
    answer = answers[row.fault]
    assert answer["status"] != 0
    assert not answer["saved"]
    assert row.says in answer["error"]


@pytest.mark.parametrize(
    "row", [row for row in fault_rows() if row.trainer == "nan"], ids=lambda row: row.fault
)
def test_that_what_is_said_to_break_the_loss_breaks_it(answers, row: FaultRow) -> None:
    assert answers[row.fault]["loss"] == "nan"


@pytest.mark.parametrize("name", ["harmless", "harmless caches"])
def test_that_all_that_is_said_to_be_harmless_is_trained_on(answers, name: str) -> None:
    answer = answers[name]
    assert (answer["status"], answer["saved"]) == (0, True), answer["error"]
    assert float(answer["loss"]) > 0, "no number, or none was learnt from"
