"""No token is ever written or shown, in whatever form a text holds it."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.redaction import HIDDEN, SECRET_ARGUMENTS, redact_argv, redact_text

tokens = st.text("abcXYZ0189_-.", min_size=20, max_size=40).filter(lambda text: not text.startswith("-"))
flags = st.sampled_from(sorted(SECRET_ARGUMENTS))

FORMS = [
    "--{name} {token}",
    "--{name}={token}",
    "--{name} '{token}'",
    '--{name} "{token}"',
    "train.py --{name} {token} --seed 1",
    "['--{name}', '{token}', '--seed']",
    '["--{name}", "{token}"]',
    "Namespace({name}='{token}', seed=1)",
    "{name} = '{token}'",
    '{{"{name}": "{token}"}}',
    "{name}: {token}",
    "{variable}={token} python train.py",
    'set "{variable}={token}"',
    "{name} = '''{token}'''",
    '{name} = """{token}"""',
    "--{name} \\\n  {token}",
    '{{"text": "{name}=\\"{token}\\""}}',
    '{{"text": "\\n{name}: {token}"}}',
    '{{"text": "[\\"--{name}\\", \\"{token}\\"]"}}',
    "$env:{variable} = '{token}'",
]


@pytest.mark.parametrize("form", FORMS)
@given(name=flags, token=tokens)
def test_that_a_token_is_hidden_in_every_form(form: str, name: str, token: str):
    text = form.format(name=name, variable=SECRET_ARGUMENTS[name], token=token)
    redacted = redact_text(text)
    assert token not in redacted
    assert HIDDEN in redacted
    assert ("--seed" in text) == ("--seed" in redacted)


def test_that_what_looks_like_a_token_is_hidden_anywhere():
    token = "hf_" + "a1B2" * 8
    assert redact_text(f"401 for {token}.") == f"401 for {HIDDEN}."


SHAPES = [
    "api_org_" + "aB1" * 8,
    "wandb_v1_" + "aB1_" * 8,
    *("gh" + kind + "_" + "aB1" * 12 for kind in "pousr"),
    "github_pat_" + "aB1_" * 10,
    "glpat-" + "aB1-" * 6,
    "sk-proj-" + "aB1-" * 10,
    "AKIA" + "A1B2" * 4,
    "AIza" + "aB1-_" * 7,
    "xoxb-" + "1234-" * 5,
    "eyJhbGciOiJI.eyJzdWIiOiIx.s1gn-ature",
    "rpa_" + "A1B2" * 8,
    "r8_" + "aB1" * 12,
    "sk_live_" + "aB1" * 8,
    "dop_v1_" + "0af1" * 16,
    "npm_" + "aB1" * 12,
    "pypi-" + "aB1_" * 12,
]


@pytest.mark.parametrize("token", SHAPES)
@pytest.mark.parametrize(
    "form", ["{}", "key: {}.", "x='{}'", "https://h/?a=1&b={}&c", "({})", '{{"k": "{}"}}']
)
def test_that_tokens_of_known_services_are_hidden(token: str, form: str):
    assert token not in redact_text(form.format(token))
    assert HIDDEN in redact_text(form.format(token))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://me:pass-word@host/x", "https://•••@host/x"),
        ("https://h/m?token=abcdef&x=1", "https://h/m?token=•••&x=1"),
        ("https://h/m?X-Amz-Signature=abcdef", "https://h/m?X-Amz-Signature=•••"),
        ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer •••"),
        ("authorization: basic abcdefghijklmnop", "authorization: basic •••"),
        ("CIVITAI_API_TOKEN=abcdef0123", "CIVITAI_API_TOKEN=•••"),
        ('"OPENAI_API_KEY": "abcdef0123"', '"OPENAI_API_KEY": "•••"'),
        ("https://discord.com/api/webhooks/123/ab-cd", "https://discord.com/api/webhooks/•••"),
        ("https://hooks.slack.com/services/T0/B0/xyz", "https://hooks.slack.com/services/•••"),
        ("aws_secret_access_key = abc/def+ghi", "aws_secret_access_key = •••"),
        ('{"api_key": "abcdef0123", "x": 1}', '{"api_key": "•••", "x": 1}'),
        (r'{"t": "{\"x-api-key\": \"abcdef0123\"}"}', r'{"t": "{\"x-api-key\": \"•••\"}"}'),
        ("password: hunter22", "password: •••"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----", "•••"),
    ],
)
def test_that_tokens_are_hidden_by_what_stands_before_them(text: str, shown: str):
    assert redact_text(text) == shown


@given(st.text(min_size=8), st.text(), st.text())
def test_that_a_known_token_is_hidden_whatever_it_looks_like(token: str, before: str, after: str):
    assert token not in redact_text(before + token + after, [token]).replace(HIDDEN, "\0")


@pytest.mark.parametrize(
    "text",
    [
        "HF_TOKEN is not set",
        "--huggingface_token",
        "wandb_api_key=None, seed=1",
        "the argument huggingface_token is unknown",
        "hf_short",
        "epoch 1/10 avr_loss=0.1",
        "max_token_length=225 keep_tokens=1 pad_token: <|endoftext|>",
        "risk-averse mask-attention-of-the-whole-network",
        "a basic transformation, Bearer in mind",
        "https://huggingface.co/a/b?download=true",
        "",
    ],
)
def test_that_other_texts_stay_as_they_are(text: str):
    assert redact_text(text, ["", "nowhere"]) == text


@given(
    name=flags, token=st.text(min_size=8).filter(lambda text: not text.startswith("--")), glued=st.booleans()
)
def test_that_an_argument_list_loses_only_the_values_of_its_tokens(name: str, token: str, glued: bool):
    secret = [f"--{name}={token}"] if glued else [f"--{name}", token]
    shown = redact_argv(["train.py", *secret, "--seed", "1"])
    assert shown == ["train.py", *([f"--{name}={HIDDEN}"] if glued else [f"--{name}", HIDDEN]), "--seed", "1"]


def test_that_a_token_without_its_flag_is_hidden_in_an_argument_list():
    token = "s3cret-s3cret"
    argv = ["--wandb_run_name", f"run {token}", "--huggingface_token", "--seed", "1"]
    assert redact_argv(argv, [token]) == [
        "--wandb_run_name",
        f"run {HIDDEN}",
        "--huggingface_token",
        "--seed",
        "1",
    ]


@given(name=flags, token=st.text("abc $;&*{}[]()=,:|", min_size=8))
def test_that_a_quoted_command_line_hides_a_token_with_blanks_and_signs(name: str, token: str):
    redacted = redact_text(shlex.join(["train.py", f"--{name}", token]))
    assert token not in redacted


@given(name=flags, token=tokens)
def test_that_redacted_json_is_still_json(name: str, token: str):
    document = {"argv": ["--seed", "1", f"--{name}", token], name: token}
    assert token not in json.dumps(json.loads(redact_text(json.dumps(document))))


@pytest.mark.parametrize("before", [r"\n", r"\u001b[31m", "\x1b[31m", "\x1b[1;32m", "%3D", r"\x3d"])
def test_that_the_end_of_an_escape_hides_no_token(before: str):
    assert redact_text(f"text{before}hf_" + "a1B2" * 6) == f"text{before}{HIDDEN}"


def test_that_an_empty_value_swallows_nothing_behind_it():
    text = "huggingface_token='', name='mine'"
    assert redact_text(text) == text
