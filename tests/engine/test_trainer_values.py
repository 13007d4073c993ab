"""Values are judged as a real argparse parser would, and spelled so that it reads them back."""

import argparse
import contextlib
import io
import math
from pathlib import PurePath

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gui.engine.trainer.argument import Argument
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.values import Problem, Words, int_or_float, words_for

CATALOGUE = Catalogue.bundled()


def trainers_int_or_float(value):
    """The trainer's own function, word for word in its effect (train_util.py:3664)."""
    if value.endswith("%"):
        try:
            return float(value[:-1]) / 100.0
        except ValueError as error:
            raise argparse.ArgumentTypeError("no percentage") from error
    try:
        if float(value) >= 1:
            return int(value)
        return float(value)
    except ValueError as error:
        raise argparse.ArgumentTypeError("no int or float") from error


TYPES = {
    "str": str,
    "int": int,
    "float": float,
    "int_or_float": trainers_int_or_float,
    "Path": PurePath,
    None: None,
}
ACTIONS = {
    "_StoreAction": "store",
    "_StoreTrueAction": "store_true",
    "_StoreFalseAction": "store_false",
    "_StoreConstAction": "store_const",
    "_AppendAction": "append",
    "_CountAction": "count",
    "BooleanOptionalAction": argparse.BooleanOptionalAction,
}


def real_parser(*rows):
    """Build the parser that these rows describe."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    for row in rows:
        words = {"action": ACTIONS[row.action], "dest": row.dest, "default": row.default}
        if row.action in ("_StoreAction", "_AppendAction"):
            words |= {"nargs": row.nargs, "type": TYPES[row.type], "choices": row.choices}
            words = {name: value for name, value in words.items() if value is not None}
            if row.nargs == "?":
                words["const"] = row.const
        if row.action == "_StoreConstAction":
            words["const"] = row.const
        parser.add_argument(*(f for f in row.flags if not f.startswith("--no-")), **words)
    return parser


NEIGHBOUR = Argument(
    flags=("--other",), dest="other", nargs=0, default=False, const=True, action="_StoreTrueAction"
)


def parsed_by_argparse(row, words):
    """Return what a real parser makes of the words, between other options as in a real command."""
    parser = real_parser(row, NEIGHBOUR)
    with contextlib.redirect_stderr(io.StringIO()):
        found = parser.parse_args(["--other", *words, "--other"])
    return getattr(found, row.dest)


def refused_by_argparse(row, word):
    try:
        parsed_by_argparse(row, [f"{row.flags[0]}={word}"])
    except (SystemExit, argparse.ArgumentError, ValueError):
        return True
    return False


def same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other and type(one) is type(other)


def row(**changes):
    name = changes.pop("dest", "value")
    return Argument(**{"flags": (f"--{name}",), "dest": name, "type": "str"} | changes)


SHAPES = [
    row(type=kind, nargs=nargs)
    for kind in ("str", "int", "float", "int_or_float", "Path", None)
    for nargs in (None, "*", "+", "?", 2)
] + [
    row(type="str", choices=(None, "float", "fp16", "bf16")),
    row(type="int", choices=(None, 150, 225)),
    row(type="float", nargs="*", choices=(0.5, 1.0)),
    row(type="str", action="_AppendAction"),
]

WORDS = st.one_of(
    st.text(max_size=12),
    st.text(alphabet="-+.0123456789eE_%, =ainf\n", max_size=8),
    st.sampled_from(
        [
            "--",
            "-",
            "- ",
            "- a=b",
            "-\n",
            "-1",
            "-1e-5",
            "--other",
            "--value",
            "-x y",
            "--other=1",
            " 768",
            "@file",
        ]
    ),
)
SCALARS = st.one_of(
    WORDS, st.integers(-(10**20), 10**20), st.floats(), st.sampled_from([150, 225, 0.5, "fp16", "bf16"])
)


@given(st.sampled_from(SHAPES), st.one_of(SCALARS, st.lists(SCALARS, max_size=4)))
def test_that_accepted_values_are_read_back_by_a_real_parser(argument, value):
    judged = words_for(argument, value)
    if isinstance(judged, Words):
        assert same(parsed_by_argparse(argument, judged.words), judged.value)


@given(st.sampled_from([shape for shape in SHAPES if shape.nargs is None]), WORDS)
def test_that_a_single_text_is_accepted_exactly_when_a_real_parser_accepts_it(argument, word):
    assume("\0" not in word and word != "--")  # no argv can hold the one, argparse drops the other
    judged = words_for(argument, word)
    assert isinstance(judged, Problem) == refused_by_argparse(argument, word)


@given(st.sampled_from(SHAPES), st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.booleans()))
def test_that_every_suggestion_is_accepted(argument, value):
    judged = words_for(argument, value)
    if isinstance(judged, Problem):
        for suggestion in judged.suggestions:
            assert isinstance(words_for(argument, suggestion), Words)


@given(st.sampled_from([s for s in SHAPES if s.type in ("int", "float", "int_or_float")]), WORDS)
def test_that_refused_lists_are_refused_for_a_reason_that_argparse_shares(argument, word):
    assume(word != "--")
    judged = words_for(argument, [word, word])
    if isinstance(judged, Problem) and judged.kind == "type":
        assert refused_by_argparse(argument.model_copy(update={"nargs": None}), word)


@pytest.mark.parametrize("script", CATALOGUE.scripts)
def test_that_the_defaults_of_the_trainer_survive_its_own_parser(script):
    rows = [row for row in CATALOGUE.script(script).rows if row.is_setting]
    parser = real_parser(*rows)
    words, expected = [], {}
    for argument in rows:
        judged = words_for(argument, argument.default)
        assert isinstance(judged, Words), argument
        words += judged.words
        expected[argument.dest] = argument.default
    assert vars(parser.parse_args(words)) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [("100", 100), ("0.1", 0.1), ("10%", 0.1), ("150%", 1.5), ("1", 1), ("-1", -1.0), ("0", 0.0)],
)
def test_that_steps_or_shares_are_read_as_the_trainer_reads_them(text, value):
    assert same(int_or_float(text), value)


@pytest.mark.parametrize("text", ["100.0", "1.5", "1e2", "", "ten", "%", "inf"])
def test_that_steps_must_be_whole(text):
    with pytest.raises(ValueError):
        int_or_float(text)


@given(st.text(alphabet="0123456789.eE+-%_naif ", max_size=9))
def test_that_our_reader_of_steps_agrees_with_the_trainers(text):
    def outcome(reader):
        try:
            return reader(text)
        except (ValueError, argparse.ArgumentTypeError):
            return "refused"

    assert same(outcome(int_or_float), outcome(trainers_int_or_float))


@pytest.mark.parametrize(
    ("changes", "value", "words"),
    [
        ({"type": "str"}, "768, 768", ("--value", "768, 768")),
        ({"type": "str"}, "-my lora", ("--value=-my lora",)),
        ({"type": "str"}, "", ("--value", "")),
        ({"type": "int"}, -1, ("--value=-1",)),
        ({"type": "float"}, 1e-5, ("--value", "1e-05")),
        ({"type": "float", "nargs": "*"}, [1e-4, -1e-05], ("--value", "0.0001", "-0.00001")),
        ({"type": "float", "nargs": "*"}, 1e-4, ("--value", "0.0001")),
        ({"type": "float", "nargs": "*"}, [-1e-05], ("--value=-1e-05",)),
        ({"type": "float", "nargs": "*"}, [-1.5e20, 0.0], ("--value", "-150000000000000000000", "0.0")),
        ({"type": "str", "nargs": "*"}, ["betas=0.9,0.99", "d=1"], ("--value", "betas=0.9,0.99", "d=1")),
        ({"type": "str", "nargs": "*"}, [], ("--value",)),
        ({"type": "str", "nargs": "*"}, ["- a", "-", "x"], ("--value", "- a", "-", "x")),
        ({"type": "str", "nargs": "?", "const": "all"}, True, ("--value",)),
        ({"type": "str", "action": "_AppendAction"}, ["a", "-b"], ("--value", "a", "--value=-b")),
        ({"action": "_StoreTrueAction", "nargs": 0, "const": True}, True, ("--value",)),
        ({"action": "_StoreTrueAction", "nargs": 0, "const": True}, False, ()),
        ({"action": "_StoreFalseAction", "nargs": 0, "const": False}, False, ("--value",)),
        ({"action": "_StoreFalseAction", "nargs": 0, "const": False}, True, ()),
        ({"action": "_StoreConstAction", "nargs": 0, "const": "x"}, True, ("--value",)),
        ({"action": "_StoreConstAction", "nargs": 0, "const": "x"}, "x", ("--value",)),
        ({"action": "_CountAction", "nargs": 0, "default": 0}, 2, ("--value", "--value")),
        ({"type": "str"}, None, ()),
    ],
)
def test_that_a_value_is_spelled(changes, value, words):
    judged = words_for(row(**changes), value)
    assert isinstance(judged, Words)
    assert judged.words == words


def test_that_a_switch_with_two_spellings_takes_the_one_that_is_meant():
    argument = row(flags=("--value", "--no-value"), nargs=0, action="BooleanOptionalAction")
    assert words_for(argument, True).words == ("--value",)
    assert words_for(argument, False).words == ("--no-value",)
    assert words_for(argument, "false").suggestions == (False,)
    assert parsed_by_argparse(argument, ["--no-value"]) is False


@pytest.mark.parametrize(
    ("name", "value", "kind", "suggestions"),
    [
        ("network_dim", 16.0, "type", (16,)),
        ("network_dim", "1e3", "type", (1000,)),
        ("network_dim", 1.5, "type", ()),
        ("network_dim", True, "type", ()),
        ("network_dim", "", "type", ()),
        ("network_dim", "nan", "type", ()),
        ("network_dim", [16], "count", (16,)),
        ("learning_rate", "1,5", "type", (1.5,)),
        ("learning_rate", "1e-4 # safe", "type", ()),
        ("lr_warmup_steps", 100.0, "type", (100,)),
        ("lr_warmup_steps", "five", "type", ()),
        ("resolution", [768, 512], "count", ("768,512",)),
        ("resolution", {"w": 768}, "type", ()),
        ("save_precision", "fp32", "choice", ("float",)),
        ("mixed_precision", "FP16", "choice", ("fp16",)),
        ("max_token_length", 75, "choice", (None,)),
        ("max_token_length", 255, "choice", (225,)),
        ("enable_bucket", "false", "flag", (False,)),
        ("enable_bucket", 1, "flag", (True,)),
        ("enable_bucket", "maybe", "flag", ()),
        ("output_name", "a\0b", "form", ()),
        ("output_name", "a\ud800", "form", ()),
        ("output_name", "--", "form", ()),
        ("network_args", ["a=1", "-b"], "form", ()),
    ],
)
def test_that_a_wrong_value_is_named_with_what_was_meant(name, value, kind, suggestions):
    judged = words_for(CATALOGUE.script("train_network").arguments[name], value)
    assert isinstance(judged, Problem)
    assert (judged.kind, judged.suggestions) == (kind, suggestions)
    assert name in judged.sentence


def test_that_a_number_among_texts_keeps_its_spelling():
    assert words_for(row(nargs="*"), ["a", -1e16]).kind == "form"
    assert words_for(row(nargs="*"), ["a", -1.5]).words == ("--value", "a", "-1.5")


def test_that_minus_infinity_cannot_stand_in_a_list():
    judged = words_for(row(type="float", nargs="*"), [-1e300, float("-inf")])
    assert isinstance(judged, Problem)
    assert judged.kind == "form"


@pytest.mark.parametrize("elements", [[], ["a"], ["a", "b", "c"]])
def test_that_a_fixed_number_of_values_is_insisted_on(elements):
    assert words_for(row(nargs=2), elements).kind == "count"
    assert isinstance(words_for(row(nargs=2), ["a", "b"]), Words)


def test_that_a_list_with_at_least_one_value_is_insisted_on():
    assert words_for(row(nargs="+"), []).kind == "count"


def test_that_a_value_that_only_the_trainer_can_read_is_left_to_it():
    assert words_for(row(type="parse_ratio"), "3:4").words == ("--value", "3:4")


def test_that_a_token_is_not_repeated_in_a_sentence():
    argument = CATALOGUE.script("train_network").arguments["wandb_api_key"]
    assert "abcdef" not in words_for(argument, {"key": "abcdef"}).sentence


def test_that_a_long_value_is_shortened_in_a_sentence():
    argument = CATALOGUE.script("train_network").arguments["network_dim"]
    assert len(words_for(argument, "x" * 5000).sentence) < 200
