"""The bucket algorithm agrees with vectors that were taken from the trainer's own class."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.dataset.buckets import (
    BucketSettings,
    BucketsImpossible,
    ImageTooThin,
    batches_per_epoch,
    total_steps,
)

S512 = BucketSettings((512, 512))
S1024 = BucketSettings((1024, 1024))
WIDE = BucketSettings((1024, 1024), max_bucket_reso=2048)
NO_UPSCALE = BucketSettings((1024, 1024), bucket_no_upscale=True)


@pytest.mark.parametrize(
    ("settings", "image", "bucket", "resized", "error"),
    [
        (S512, (1000, 1500), (384, 640), (427, 640), -0.066667),
        (S512, (1920, 1080), (640, 384), (683, 384), -0.111111),
        (S512, (4000, 500), (1024, 256), (2048, 256), -4.0),
        (S512, (300, 400), (448, 576), (448, 597), 0.027778),
        (S1024, (1000, 1500), (704, 1024), (704, 1056), 0.020833),
        (S1024, (1920, 1080), (1024, 576), (1024, 576), 0.0),
        (WIDE, (1000, 1500), (832, 1216), (832, 1248), 0.017544),
        (WIDE, (1920, 1080), (1344, 768), (1365, 768), -0.027778),
        (WIDE, (4000, 500), (2048, 256), (2048, 256), 0.0),
        (NO_UPSCALE, (1000, 1500), (832, 1216), (832, 1248), None),
        (NO_UPSCALE, (300, 400), (256, 384), (300, 400), -0.083333),
        (NO_UPSCALE, (1023, 1025), (960, 1024), (1023, 1025), -0.060549),
        (NO_UPSCALE, (4000, 500), (2560, 320), (2560, 320), 0.0),
    ],
)
def test_that_an_image_goes_where_the_trainer_puts_it(settings, image, bucket, resized, error) -> None:
    placement = settings.place(image)
    assert (placement.bucket, placement.resized) == (bucket, resized)
    if error is not None:
        assert placement.error == pytest.approx(error, abs=1e-6)


def test_that_the_predefined_buckets_of_512_are_the_trainers() -> None:
    halves = {(256, h) for h in (832, 896, 960, 1024)} | {(320, 704), (320, 768), (384, 640), (448, 576)}
    assert set(S512.predefined) == halves | {(h, w) for w, h in halves} | {(512, 512)}
    assert S512.predefined == sorted(S512.predefined)


def test_that_without_buckets_everything_goes_to_the_resolution() -> None:
    assert BucketSettings((512, 768), enable_bucket=False).place((100, 100)).bucket == (512, 768)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (BucketSettings((1328, 1328)), "max"),
        (BucketSettings((192, 512)), "min"),
        (BucketSettings((1328, 1328), bucket_no_upscale=True), "max"),
        (BucketSettings((512, 512), bucket_reso_steps=0), "steps"),
        (BucketSettings((512, 512), min_bucket_reso=64, bucket_reso_steps=128), "zero"),
        (BucketSettings((512, 512), min_bucket_reso=-64), "zero"),
    ],
)
def test_that_settings_which_the_trainer_refuses_are_refused(settings, reason) -> None:
    with pytest.raises(BucketsImpossible) as caught:
        settings.place((512, 512))
    assert caught.value.reason == reason


def test_that_without_upscaling_the_smallest_side_does_not_matter() -> None:
    settings = BucketSettings((512, 512), min_bucket_reso=64, bucket_reso_steps=128, bucket_no_upscale=True)
    assert settings.place((512, 512)).bucket == (512, 512)


@pytest.mark.parametrize("image", [(1000, 60), (60, 1000), (100_000, 70)])
def test_that_a_side_of_zero_is_named_before_the_trainer_divides_by_it(image) -> None:
    with pytest.raises(ImageTooThin):
        NO_UPSCALE.place(image)


@given(st.integers(1, 9000), st.integers(1, 9000), st.booleans())
def test_that_the_resized_image_covers_its_bucket(width, height, no_upscale) -> None:
    settings = NO_UPSCALE if no_upscale else WIDE
    try:
        placement = settings.place((width, height))
    except ImageTooThin:
        assert no_upscale
        return
    assert placement.resized[0] >= placement.bucket[0]
    assert placement.resized[1] >= placement.bucket[1]
    assert all(side > 0 and side % 64 == 0 for side in placement.bucket)


def test_that_short_last_batches_count() -> None:
    assert batches_per_epoch([20, 1, 5], 4) == 5 + 1 + 2


def test_that_epochs_win_over_steps_and_one_rounding_is_done() -> None:
    assert total_steps(10, accumulation=4, max_train_epochs=3, max_train_steps=1600) == (9, 3)
    assert total_steps(10, max_train_epochs=None, max_train_steps=1600) == (1600, 160)
    assert total_steps(10, processes=2, accumulation=2, max_train_epochs=2, max_train_steps=9) == (6, 2)
