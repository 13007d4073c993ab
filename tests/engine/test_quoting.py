"""Each shell gives back the words that went in: bash really, cmd and PowerShell by their documented rules."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gui.engine.errors import WrongUsage
from gui.engine.trainer.quoting import quote

SIGNS = [
    *"ab1-_=/\\\"' \t%^!&|<>()$`;,*?[]{}~#@+:.\n\r‘’“”한😀\u00a0",
    *("--", "PATH", "%PATH%", '\\"', "$env:PATH"),
]
WORD = st.lists(st.sampled_from(SIGNS), max_size=12).map("".join) | st.text(max_size=20).filter(
    lambda text: not re.search("[\x00\ud800-\udfff]", text)
)
ARGV = st.lists(WORD, min_size=1, max_size=6)


# --- the C runtime's rules, for whatever reaches a Windows program ------------------------------------------


def msvcrt_split(line: str) -> list[str]:
    """Microsoft, "Parsing C command-line arguments": the rules for argv[1] and after."""
    words: list[str] = []
    place = 0
    while True:
        while place < len(line) and line[place] in " \t":
            place += 1
        if place == len(line):
            return words
        word, quoted = "", False
        while place < len(line) and (quoted or line[place] not in " \t"):
            slashes = 0
            while line[place : place + 1] == "\\":
                slashes, place = slashes + 1, place + 1
            if line[place : place + 1] == '"':
                word += "\\" * (slashes // 2)
                if slashes % 2:
                    word += '"'
                elif quoted and line[place + 1 : place + 2] == '"':
                    word, place = word + '"', place + 1
                else:
                    quoted = not quoted
                place += 1
                continue
            word += "\\" * slashes
            if place < len(line) and (quoted or line[place] not in " \t"):
                word, place = word + line[place], place + 1
        words.append(word)


def test_that_the_decoder_follows_the_published_examples() -> None:
    assert msvcrt_split('"a b c" d e') == ["a b c", "d", "e"]
    assert msvcrt_split('"ab\\"c" "\\\\" d') == ['ab"c', "\\", "d"]
    assert msvcrt_split('a\\\\\\b d"e f"g h') == ["a\\\\\\b", "de fg", "h"]
    assert msvcrt_split('a\\\\\\"b c d') == ['a\\"b', "c", "d"]
    assert msvcrt_split('a\\\\\\\\"b c" d e') == ["a\\\\b c", "d", "e"]
    assert msvcrt_split('a"b"" c d') == ['ab" c d']


# --- cmd ----------------------------------------------------------------------------------------------------


def cmd_line_to_program(line: str, variables: dict[str, str]) -> tuple[str, str]:
    """What cmd hands over of a typed line: the program's name and the rest as raw text.

    First ``%NAME%`` is replaced where NAME exists, quotes or not; then carets and quotes are read.
    """
    expanded, place = "", 0
    while place < len(line):
        end = line.find("%", place + 1) if line[place] == "%" else -1
        name = line[place + 1 : end] if end > 0 else ""
        if end > 0 and name.upper() in variables:
            expanded, place = expanded + variables[name.upper()], end + 1
        else:
            expanded, place = expanded + line[place], place + 1
    raw, quoted, place = "", False, 0
    name_end = None
    while place < len(expanded):
        sign = expanded[place]
        if sign == "^" and not quoted:
            place += 1
            raw += expanded[place : place + 1]
        elif sign == '"':
            quoted, raw = not quoted, raw + sign
        elif not quoted and sign in "&|<>()\n":
            raise AssertionError(f"cmd would act on {sign!r} in {line!r}")
        else:
            if sign in " \t,;=" and not quoted and name_end is None:
                name_end = len(raw)
            raw += sign
        place += 1
    name_end = len(raw) if name_end is None else name_end
    return raw[:name_end].strip('"'), raw[name_end:]


@given(ARGV)
@settings(max_examples=300, deadline=None)
def test_that_cmd_gives_the_same_words_or_they_are_refused(argv: list[str]) -> None:
    argv = ["C:\\Program Files\\Python (x86) & more\\python.exe", *argv]
    if any(re.search(r"[\x00-\x08\x0a-\x1f\x7f]", word) for word in argv):
        with pytest.raises(WrongUsage):
            quote(argv, "cmd")
        return
    program, rest = cmd_line_to_program(quote(argv, "cmd"), {"PATH": "C:\\bad", "A": "x"})
    assert [program, *msvcrt_split(rest)] == argv


@pytest.mark.parametrize("program", ["C:\\100%PATH%\\python.exe", 'C:\\a"b\\python.exe'])
def test_that_cmd_refuses_a_program_that_it_cannot_name(program: str) -> None:
    with pytest.raises(WrongUsage, match="cmd"):
        quote([program], "cmd")


def test_that_plain_words_stay_plain_in_cmd() -> None:
    assert quote(["C:\\venv\\python.exe", "train.py", "--network_dim", "16"], "cmd") == (
        "C:\\venv\\python.exe train.py --network_dim 16"
    )


# --- PowerShell ---------------------------------------------------------------------------------------------


def powershell_tokens(line: str) -> tuple[list[str], bool]:
    """Read a command by about_Quoting_Rules and about_Parsing; also whether it asks for the old way."""
    legacy = line.startswith("& { $PSNativeCommandArgumentPassing = 'Legacy'; ")
    if legacy:
        line = line.removeprefix("& { $PSNativeCommandArgumentPassing = 'Legacy'; ").removesuffix(" }")
    assert line.startswith("& ")
    tokens, place = [], 2
    while place < len(line):
        if line[place] == " ":
            place += 1
        elif line[place] == "'":
            text, place = "", place + 1
            while True:
                if line[place] in "'‘’‚‛":
                    if line[place + 1 : place + 2] and line[place + 1] in "'‘’‚‛":
                        text, place = text + line[place], place + 2
                        continue
                    place += 1
                    break
                text, place = text + line[place], place + 1
            assert line[place : place + 1] in ("", " ")
            tokens.append(text)
        else:
            end = (line + " ").index(" ", place)
            bare = line[place:end]
            assert re.fullmatch(r"[A-Za-z_/][\w/.\\:-]*|--?[A-Za-z_][\w-]*", bare), bare
            tokens.append(bare)
            place = end
    return tokens, legacy


def glued_the_old_way(words: list[str], version: str) -> str:
    """How 5.1 and 7.2 (and newer ones when told so) make a command line of words."""
    parts = []
    for word in words:
        quotes, before, needs = 0, "", False
        for sign in word:
            if sign == '"' and (version == "5.1" or before != "\\"):
                quotes += 1
            elif sign.isspace() and quotes % 2 == 0:
                needs = True
            before = sign
        tail = "" if version == "5.1" else "\\" * (len(word) - len(word.rstrip("\\")))
        parts.append(f'"{word}{tail}"' if needs else word)
    return " ".join(part for part in parts if part)


def glued_the_new_way(words: list[str]) -> str:
    return subprocess.list2cmdline(words)


@given(ARGV)
@settings(max_examples=300, deadline=None)
def test_that_powershell_gives_the_same_words_in_all_versions(argv: list[str]) -> None:
    try:
        line = quote(["C:\\Program Files\\py\\python.exe", *argv], "powershell")
    except WrongUsage:
        assert any(re.search(r'\\"', word) and any(map(str.isspace, word)) for word in argv)
        return
    (program, *words), legacy = powershell_tokens(line)
    assert program == "C:\\Program Files\\py\\python.exe"
    for version in ("5.1", "7"):
        assert msvcrt_split(glued_the_old_way(words, version)) == argv
    if not legacy:
        assert msvcrt_split(glued_the_new_way(words)) == argv


def test_that_powershell_needs_no_old_way_for_ordinary_words() -> None:
    line = quote(["C:\\a b\\python.exe", "--network_dim", "16", "--output_name", "it's"], "powershell")
    assert line == "& 'C:\\a b\\python.exe' --network_dim '16' --output_name 'it''s'"


def test_that_a_word_with_a_double_quote_asks_powershell_for_the_old_way() -> None:
    line = quote(["python", 'step_rules="1:0.1, 0.05"'], "powershell")
    assert line.startswith("& { $PSNativeCommandArgumentPassing = 'Legacy'; & python ")


# --- bash ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash on this machine")
def test_that_bash_gives_the_same_words() -> None:
    seen: list[list[str]] = []

    @given(ARGV)
    @settings(max_examples=400, deadline=None)
    def collect(argv: list[str]) -> None:
        seen.append(argv)

    collect()
    script = "\n".join(quote(["show", *argv], "posix") for argv in seen)
    # One bash for all lines; the function prints its words and a mark, each ended by NUL.
    program = "show() { printf '%s\\0' \"$@\"; printf '<end>\\0'; }\n" + script + "\n"
    result = subprocess.run(["bash"], input=program.encode(), capture_output=True, check=True)
    lines: list[list[str]] = [[]]
    for word in result.stdout.decode().split("\0")[:-1]:
        if word == "<end>":
            lines.append([])
        else:
            lines[-1].append(word)
    assert lines[:-1] == seen


@pytest.mark.parametrize("shell", ["posix", "powershell", "cmd"])
def test_that_no_shell_is_given_a_nul(shell: str) -> None:
    with pytest.raises(WrongUsage):
        quote(["python", "a\0b"], shell)  # type: ignore[arg-type]
