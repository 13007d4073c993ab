"""How much a plan would train, counted as the trainer counts."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.header_lines import header_lines
from gui.engine.preflight.steps import bucket_settings, forecast_steps, measured_sizes
from gui.engine.preflight.view import View
from gui.engine.trainer.catalogue import Catalogue

SCRIPT = Catalogue.bundled().script("train_network.py")


def view_of(dataset: dict, facts: dict | None, arguments: dict | None = None, **plan) -> View:
    made = TrainingPlan.model_validate({"arguments": arguments or {}, "dataset": dataset, **plan})
    return View(made, Facts.model_validate({"dataset": facts} if facts else {}), SCRIPT.name, SCRIPT)


def subset(name: str, images: int, sizes: dict[str, int] | None = None, **options) -> tuple[dict, dict]:
    return (
        {"image_dir": name, **options},
        {"image_dir": name, "exists": True, "images": images, "sizes": sizes},
    )


def forecast(subsets: list[tuple[dict, dict]], dataset: dict | None = None, arguments=None, **plan):
    options = {"resolution": 512, **(dataset or {}), "subsets": [own for own, _fact in subsets]}
    return forecast_steps(view_of(options, {"subsets": [fact for _own, fact in subsets]}, arguments, **plan))


def test_that_images_and_repeats_of_a_machine_file_are_enough() -> None:
    facts = {"images": 20, "repeats": 10, "layout": "leaf"}
    found = forecast_steps(view_of({"resolution": 512, "batch_size": 2}, facts, {"max_train_epochs": 10}))
    assert found is not None and found.exact
    assert found.steps().model_dump() == {
        "images": 20,
        "repeats": 10,
        "batches_per_epoch": 100,
        "epochs": 10,
        "total_steps": 1000,
    }
    assert found.steps_per_epoch == 100


def test_that_each_bucket_has_its_own_last_batch() -> None:
    found = forecast(
        [subset("a", 5, {"512x512": 3, "512x768": 2}, num_repeats=3)],
        {"enable_bucket": True, "batch_size": 4, "resolution": [512, 512]},
        {"max_train_steps": 100, "gradient_accumulation_steps": 2},
    )
    # 9 square images make 3 batches, 6 tall ones 2; two batches a step.
    assert found is not None and found.exact
    assert (found.batches_per_epoch, found.epochs, found.total_steps) == (5, 34, 100)


def test_that_without_measured_sizes_the_count_is_said_to_be_a_guess() -> None:
    found = forecast([subset("a", 10, None)], {"enable_bucket": True, "batch_size": 4})
    assert found is not None and not found.exact
    assert (found.batches_per_epoch, found.total_steps) == (3, 1600)


def test_that_several_processes_share_the_batches() -> None:
    found = forecast([subset("a", 10)], None, {"max_train_epochs": 3}, launch={"num_processes": 4})
    assert found is not None and found.total_steps == 3 * math.ceil(10 / 4)


def test_that_what_the_trainer_passes_over_is_not_counted() -> None:
    found = forecast(
        [
            subset("a", 10, num_repeats=2),
            subset("a", 10, num_repeats=5),
            subset("b", 7, num_repeats=0),
            subset("c", 0),
        ],
    )
    assert found is not None and (found.images, found.batches_per_epoch, found.repeats) == (10, 20, None)


def test_that_held_out_images_are_not_trained() -> None:
    found = forecast([subset("a", 9, {"512x512": 5, "640x512": 4})], {"validation_split": 0.1})
    assert found is not None and found.batches_per_epoch == 9
    found = forecast([subset("a", 100, {"512x512": 60, "640x512": 40})], {"validation_split": 0.2})
    assert found is not None and found.batches_per_epoch == 80
    assert forecast([subset("a", 10)], {"validation_split": 1.0}) is None
    metadata = forecast([subset("a", 10, metadata_file="m.json")], {"validation_split": 0.5})
    assert metadata is not None and metadata.batches_per_epoch == 10


def test_that_several_datasets_are_added() -> None:
    one, two = subset("a", 10), subset("b", 3, num_repeats=2)
    dataset = {
        "resolution": 512,
        "datasets": [{"batch_size": 4, "subsets": [one[0]]}, {"batch_size": 1, "subsets": [two[0]]}],
    }
    found = forecast_steps(view_of(dataset, {"subsets": [one[1], two[1]]}))
    assert found is not None and found.batches_per_epoch == 3 + 6


@pytest.mark.parametrize(
    ("dataset", "facts", "arguments"),
    [
        ({"resolution": 512, "subsets": [{"image_dir": "a"}]}, None, {}),
        ({"resolution": 512}, {"layout": "leaf"}, {}),
        ({}, {"images": 5, "repeats": 1}, {"dataset_config": "/x.toml"}),
        ({"resolution": 512}, {"images": 5, "repeats": 1}, {"max_train_steps": 0}),
        ({"resolution": 512}, {"images": 0, "repeats": 1}, {}),
        (
            {"resolution": 512, "subsets": [{"image_dir": "a"}, {"image_dir": "b", "num_repeats": 2}]},
            {"images": 5},
            {},
        ),
    ],
)
def test_that_nothing_is_said_where_nothing_is_known(dataset, facts, arguments) -> None:
    assert forecast_steps(view_of(dataset, facts, arguments)) is None


def test_that_impossible_buckets_and_resolutions_give_a_guess() -> None:
    odd = forecast(
        [subset("a", 3, {"9000x10": 3})], {"enable_bucket": True, "bucket_no_upscale": True, "batch_size": 2}
    )
    assert odd is not None and (odd.batches_per_epoch, odd.exact) == (2, False)
    wrong = forecast([subset("a", 3)], {"resolution": "big", "batch_size": 2})
    assert wrong is not None and (wrong.batches_per_epoch, wrong.exact) == (2, False)
    assert bucket_settings(view_of({"resolution": 0}, None).dataset_views[0]) is None


def test_that_senseless_sizes_are_left_out() -> None:
    ((_subset, fact),) = view_of(
        {"subsets": [{"image_dir": "a"}]},
        {"subsets": [{"image_dir": "a", "sizes": {"0x5": 1, "8x9": 2, "axb": 3}}]},
    ).subset_facts
    assert measured_sizes(fact) == {(8, 9): 2}
    assert measured_sizes(None) == {}


def reference_reg(wanted: int, folders: list[tuple[int, int]]) -> int:
    """The trainer's own loop (train_util.py:2165-2184), image by image."""
    infos = [[repeats] for images, repeats in folders for _image in range(images)]
    registered: list[list[int]] = []
    count, first = 0, True
    while count < wanted:
        for info in infos:
            if first:
                registered.append(info)
                count += info[0]
            else:
                info[0] += 1
                count += 1
            if count >= wanted:
                break
        first = False
    return sum(info[0] for info in registered)


@given(
    train=st.lists(st.tuples(st.integers(1, 8), st.integers(1, 5)), min_size=1, max_size=3),
    reg=st.lists(st.tuples(st.integers(1, 12), st.integers(1, 5)), min_size=1, max_size=3),
    batch=st.integers(1, 5),
)
def test_that_regularisation_images_are_filled_up_as_the_trainer_does(train, reg, batch) -> None:
    subsets = [subset(f"t{n}", images, num_repeats=r) for n, (images, r) in enumerate(train)]
    subsets += [subset(f"r{n}", images, num_repeats=r, is_reg=True) for n, (images, r) in enumerate(reg)]
    found = forecast(subsets, {"batch_size": batch})
    wanted = sum(images * r for images, r in train)
    used = reference_reg(wanted, reg)
    assert found is not None
    assert found.reg_images == used
    assert found.batches_per_epoch == math.ceil((wanted + used) / batch)


def test_that_regularisation_images_of_several_sizes_are_shared_out() -> None:
    found = forecast(
        [
            subset("t", 4, {"512x512": 4}, num_repeats=5),
            subset("r", 3, {"512x512": 2, "768x512": 1}, is_reg=True),
        ],
        {"enable_bucket": True, "batch_size": 2},
    )
    assert found is not None and found.reg_images == 20
    one = Counter({(512, 512): 20 + 7 + 7, (640, 448): 6})
    assert found.batches_per_epoch == sum(math.ceil(count / 2) for count in one.values())
    together = forecast_steps(
        view_of(
            {"resolution": 512, "subsets": [{"image_dir": "a"}, {"image_dir": "b", "is_reg": True}]},
            {"images": 5, "repeats": 1},
        )
    )
    assert together is not None and (together.batches_per_epoch, together.exact) == (10, False)


def test_that_the_trainers_first_lines_are_told_as_it_prints_them() -> None:
    options = {
        "resolution": 512,
        "batch_size": 2,
        "subsets": [{"image_dir": "a"}, {"image_dir": "b", "is_reg": True}],
    }
    facts = [
        {"image_dir": "a", "exists": True, "images": 10, "sizes": {"512x512": 10}},
        {"image_dir": "b", "exists": True, "images": 30, "sizes": {"512x512": 30}},
    ]
    arguments = {"max_train_epochs": 3, "gradient_accumulation_steps": 2}
    # Of 30 regularisation images 10 are used; the trainer prints how many there are (train_util.py:2184).
    assert header_lines(view_of(options, {"subsets": facts}, arguments)) == [
        "num train images * repeats: 10",
        "num reg images: 30",
        "num batches per epoch: 10",
        "num epochs: 3",
        "batch size per device: 2",
        "gradient accumulation steps: 2",
        "total optimization steps: 15",
    ]
    assert header_lines(view_of(options, None)) == []
