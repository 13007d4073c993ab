"""Caches against everything that would have to change each time."""

import pytest
from table import SUBSET, assert_fixes_mend, findings, make_plan, make_view


@pytest.mark.parametrize("cache", ["cache_latents", "cache_latents_to_disk"])
@pytest.mark.parametrize(
    ("arguments", "dataset"),
    [
        ({"color_aug": True}, {}),
        ({}, {"random_crop": True}),
        ({}, {"general": {"color_aug": True}}),
        ({}, {"subsets": [{**SUBSET, "random_crop": True, "color_aug": True}]}),
    ],
)
def test_that_cached_latents_exclude_changing_images(cache, arguments, dataset) -> None:
    view = make_view(make_plan({cache: True, **arguments}, dataset))
    assert [finding.severity for finding in findings("cache-aug", view)] == ["stop"]
    assert_fixes_mend("cache-aug", view)


PAIRED = {**SUBSET, "conditioning_data_dir": "/masks"}


@pytest.mark.parametrize(
    ("identity", "script", "arguments", "option"),
    [
        ("cache-aug", "train_control_net.py", {"cache_latents": True}, "color_aug"),
        ("cache-aug", "train_network.py", {"cache_latents": True, "masked_loss": True}, "color_aug"),
        (
            "cache-te-aug",
            "sdxl_train_control_net.py",
            {"cache_text_encoder_outputs": True},
            "shuffle_caption",
        ),
    ],
)
def test_that_with_pairs_of_images_the_trainer_only_forgets_the_changes(
    identity, script, arguments, option
) -> None:
    view = make_view(make_plan(arguments, {"subsets": [{**PAIRED, option: True}]}), script)
    (finding,) = findings(identity, view)
    assert finding.severity == "warning"
    assert "does not refuse" in finding.detail
    assert_fixes_mend(identity, view)


@pytest.mark.parametrize(
    ("arguments", "dataset"),
    [
        ({"cache_latents": True}, {"flip_aug": True}),
        ({"color_aug": True}, {}),
        # A subset's own word wins over the command line (trainer-facts 2.2).
        ({"cache_latents": True, "color_aug": True}, {"subsets": [{**SUBSET, "color_aug": False}]}),
    ],
)
def test_that_cached_latents_go_with_the_rest(arguments, dataset) -> None:
    assert not findings("cache-aug", make_view(make_plan(arguments, dataset)))


@pytest.mark.parametrize(
    "dataset", [{"shuffle_caption": True}, {"caption_dropout_rate": 0.05}, {"token_warmup_step": 100}]
)
def test_that_cached_captions_exclude_changing_captions(dataset) -> None:
    view = make_view(make_plan({"cache_text_encoder_outputs": True}, dataset))
    assert findings("cache-te-aug", view)
    assert_fixes_mend("cache-te-aug", view)


def test_that_two_subsets_give_two_findings() -> None:
    subsets = [{**SUBSET, "shuffle_caption": True}, SUBSET, {**SUBSET, "shuffle_caption": True}]
    view = make_view(make_plan({"cache_text_encoder_outputs": True}, {"subsets": subsets}))
    assert [finding.where for finding in findings("cache-te-aug", view)] == [
        "dataset.subsets.0",
        "dataset.subsets.2",
    ]


@pytest.mark.parametrize(
    ("script", "dataset"),
    [
        ("anima_train_network.py", {"caption_dropout_rate": 0.05}),
        ("sdxl_train_network.py", {"caption_dropout_rate": 0.0, "shuffle_caption": False}),
    ],
)
def test_that_captions_may_change_where_the_trainer_allows_it(script, dataset) -> None:
    view = make_view(make_plan({"cache_text_encoder_outputs": True}, dataset), script)
    assert not findings("cache-te-aug", view)


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("sdxl_train_network.py", {}),
        ("anima_train_network.py", {}),
        ("hunyuan_image_train_network.py", {}),
        ("flux_train_network.py", {"model_type": "chroma"}),
    ],
)
def test_that_a_cached_text_encoder_cannot_be_trained(script, arguments) -> None:
    view = make_view(make_plan({"cache_text_encoder_outputs_to_disk": True, **arguments}), script)
    assert [finding.severity for finding in findings("cache-te", view)] == ["stop"]
    assert_fixes_mend("cache-te", view)


@pytest.mark.parametrize("script", ["flux_train_network.py", "sd3_train_network.py"])
def test_that_flux_and_sd3_train_clip_while_t5_is_cached(script) -> None:
    assert not findings("cache-te", make_view(make_plan({"cache_text_encoder_outputs": True}), script))


def test_that_training_only_the_unet_goes_with_cached_captions() -> None:
    plan = make_plan({"cache_text_encoder_outputs": True, "network_train_unet_only": True})
    assert not findings("cache-te", make_view(plan))
