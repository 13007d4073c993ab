"""Captions: that they are found, and not all thrown away."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

A = {"image_dir": "/a"}
TXT = {**A, "caption_extension": ".txt"}


def folder(captions: int | None, **others: int) -> dict:
    fact = {"image_dir": "/a", "images": 10, "captions": captions}
    return {"dataset": {"subsets": [{**fact, "other_captions": {f".{k}": n for k, n in others.items()}}]}}


FIRES = [
    ("caption-extension", "stop", {"subsets": [A]}, folder(0, txt=10)),
    ("caption-extension", "warning", {"subsets": [TXT]}, folder(2, caption=8)),
    ("caption-extension", "hint", {"subsets": [A]}, {}),
    ("caption-dropout", "danger", {"caption_dropout_rate": 1.0}, {}),
    ("caption-dropout", "danger", {"subsets": [{**A, "caption_dropout_every_n_epochs": 1}]}, {}),
]


@pytest.mark.parametrize(("identity", "severity", "dataset", "facts"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, dataset, facts) -> None:
    view = make_view(make_plan({}, dataset), **facts)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    if not facts or identity != "caption-extension":
        assert_fixes_mend(identity, view)


SILENT = [
    ("caption-extension", {"subsets": [TXT]}, {}, {}),
    ("caption-extension", {"subsets": [A], "caption_extension": ".txt"}, {}, {}),
    ("caption-extension", {"subsets": [TXT]}, {}, folder(10, caption=2)),
    ("caption-extension", {"subsets": [A]}, {}, folder(0)),
    ("caption-extension", {"subsets": [A]}, {}, folder(None, txt=5)),
    ("caption-extension", {"subsets": [{**A, "metadata_file": "/m"}]}, {}, {}),
    ("caption-extension", {"subsets": [A]}, {"dataset_config": "/x.toml"}, folder(0, txt=10)),
    ("caption-dropout", {"caption_dropout_rate": 0.1}, {}, {}),
    ("caption-dropout", {"caption_dropout_every_n_epochs": 2}, {}, {}),
]


@pytest.mark.parametrize(("identity", "dataset", "arguments", "facts"), SILENT)
def test_that_the_rule_keeps_silent(identity, dataset, arguments, facts) -> None:
    assert not findings(identity, make_view(make_plan(arguments, dataset), **facts))


def test_that_what_lies_in_the_folder_is_read_without_asking() -> None:
    (finding,) = findings(
        "caption-extension", make_view(make_plan({}, {"subsets": [A]}), **folder(0, txt=10))
    )
    (fix,) = finding.fixes
    assert (fix.changes, fix.safe) == ({"dataset.subsets.0.caption_extension": ".txt"}, True)
    # With the extension the facts are collected anew: all captions are found.
    assert not findings("caption-extension", make_view(make_plan({}, {"subsets": [TXT]}), **folder(10)))
