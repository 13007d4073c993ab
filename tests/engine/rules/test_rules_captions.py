"""Captions: that they are found, and not all thrown away."""

from table import findings, make_plan, make_view

A = {"image_dir": "/a"}
TXT = {**A, "caption_extension": ".txt"}


def folder(captions: int | None, **others: int) -> dict:
    fact = {"image_dir": "/a", "images": 10, "captions": captions}
    return {"dataset": {"subsets": [{**fact, "other_captions": {f".{k}": n for k, n in others.items()}}]}}


def test_that_what_lies_in_the_folder_is_read_without_asking() -> None:
    (finding,) = findings(
        "caption-extension", make_view(make_plan({}, {"subsets": [A]}), **folder(0, txt=10))
    )
    (fix,) = finding.fixes
    assert (fix.changes, fix.safe) == ({"dataset.subsets.0.caption_extension": ".txt"}, True)
    # With the extension the facts are collected anew: all captions are found.
    assert not findings("caption-extension", make_view(make_plan({}, {"subsets": [TXT]}), **folder(10)))
