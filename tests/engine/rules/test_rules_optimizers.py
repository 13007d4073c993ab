"""Optimizers: contradictory flags, missing packages, arguments that cannot be read."""

import ast

from hypothesis import given
from hypothesis import strategies as st
from table import findings, make_plan, make_view


@given(st.text(max_size=30))
def test_that_an_item_passes_exactly_when_the_trainer_could_read_it(word) -> None:
    # The trainer's own way, train_util.py:4859: one "=", then a Python literal.
    try:
        _key, value = word.split("=")
        ast.literal_eval(value)
        readable = not word.rstrip().endswith(",") and bool(_key.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        readable = False
    view = make_view(make_plan({"optimizer_args": [word]}))
    assert bool(findings("opt-args", view)) is not readable
