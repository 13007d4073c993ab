"""YAML is read as people mean it, and what could hurt is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.yaml_text import YamlProblem, parse_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-4", 0.0001),
        ("5E6", 5e6),
        ("-.5", -0.5),
        (".inf", float("inf")),
        ("2", 2),
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("2020-01-01", "2020-01-01"),
        ("1_000", "1_000"),
        ("0x10", "0x10"),
        ("010", 10),
        ('"1e-4"', "1e-4"),
        ("12gib", "12gib"),
        ("relative_step=False", "relative_step=False"),
        (".txt", ".txt"),
    ],
)
def test_that_plain_words_mean_what_they_say(text, value):
    assert parse_yaml(f"key: {text}") == {"key": value}
    assert type(parse_yaml(f"key: {text}")["key"]) is type(value)


def test_that_nan_is_a_number():
    assert str(parse_yaml(".nan")) == "nan"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: [", 2, "node content"),
        ("a: 1\nb: 2\na: 3", 3, "a is said twice"),
        ("a: &x [1]\nb: *x", 2, "aliases"),
        ("[" * 5000, 1, "depth|deeply"),
        ("a: !!python/object/apply:os.getcwd []", 1, "tag"),
        ("a: 1\n---\nb: 2", 2, "document"),
        ("a: \x00", None, "character"),
        ("a: " + "9" * 5000, None, "digits"),
    ],
)
def test_that_what_is_wrong_is_named_with_its_line(text, line, said):
    with pytest.raises(YamlProblem, match=said) as caught:
        parse_yaml(text)
    assert caught.value.line == line
    assert caught.value.reason


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_that_any_text_is_read_or_refused(text):
    try:
        parse_yaml(text)
    except YamlProblem as problem:
        assert problem.reason
