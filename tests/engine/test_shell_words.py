"""Command lines of three shells become the words that the shell would give the program."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.errors import WrongUsage
from gui.engine.importers.shell_text import TooLong, UnclosedQuote, split_for_program
from gui.engine.importers.shell_words import shell_commands, shell_of
from gui.engine.trainer.quoting import SHELLS, quote

WORDS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"])) | st.text("ab \"'\\^%!$`&|<>(){};,#@="), max_size=5
)


@pytest.mark.parametrize("shell", SHELLS)
@given(words=WORDS)
def test_that_what_is_quoted_for_a_shell_is_read_as_the_same_words(shell, words) -> None:
    argv = ["python", *words]
    try:
        line = quote(argv, shell)
    except WrongUsage:
        return
    said = shell_commands(line.replace("\r\n", "\n"), shell)
    assert [list(command.words) for command in said.commands] == [argv]


@pytest.mark.parametrize("shell", SHELLS)
@given(text=st.text() | st.text("ab \"'\\^%!$`&|<>(){};,#@=\n+-"))
def test_that_any_text_is_read_or_has_an_unclosed_quote(shell, text) -> None:
    try:
        shell_commands(text, shell)
    except UnclosedQuote as error:
        assert error.line >= 1


def words_of(text: str, shell) -> list[tuple[str, ...]]:
    return [command.words for command in shell_commands(text, shell).commands]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a \\\n  b # c\n", ("a", "b")),
        ("A='x y'\na \"$A\" $A ${A}z", ("a", "x y", "x", "y", "x", "yz")),
        ("A=(--x 1\n --y 'a b')\nA+=(--z)\na \"${A[@]}\"", ("a", "--x", "1", "--y", "a b", "--z")),
        ("a ${NO:-default} > log 2>&1", ("a", "default")),
        ("A=1; A+=2\na $A", ("a", "12")),
        ('a "x\\"y\\\nz\\w" \'$A\' $', ("a", 'x"yz\\w', "$A", "$")),
        ("!a b", ("a", "b")),
        ("if true; then\n", ("true",)),
        ("export A=5\nsudo a $A", ("a", "5")),
        (r"a $'it\'s\n\x41\u00e9\101' b", ("a", "it's\nAéA", "b")),
    ],
)
def test_that_posix_lines_are_read(text: str, words: tuple[str, ...]) -> None:
    assert words_of(text, "posix")[-1] == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a ^\n b", ("a", "b")),
        ('set A=x y\na "%A%" %a%', ("a", "x y", "x", "y")),
        ('set "A=x"\ncall a !A!', ("a", "x")),
        ("rem a 'b\n:: \"\n:label\n@a %%b", ("a", "%b")),
        ('a "C:\\new dir\\\\" > log.txt 2>&1', ("a", "C:\\new dir\\")),
        ("start /wait a b", ("a", "b")),
        ("echo.\na %~dp0x", ("a", ".\\x")),
        ("b && a", ("a",)),
        ("a b ^ ", ("a", "b", "^")),
        ("set A=b ^ \na %A%", ("a", "b")),
    ],
)
def test_that_batch_lines_are_read(text: str, words: tuple[str, ...]) -> None:
    assert words_of(text, "cmd")[-1] == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a `\n  b # c", ("a", "b")),
        ('$A = "x y"\n& a $A "$A`"z"', ("a", "x y", 'x y"z')),
        ("$L = @('--x', 1,\n '--y')\n$L += '--z'\na @L", ("a", "--x", "1", "--y", "--z")),
        ("$L = '--x', '--y'\na $L", ("a", "--x", "--y")),
        ("<# a\n# b #>\na \"x\"\"y\" 'it''s'", ("a", 'x"y', "it's")),
        ("a --b=$true ${c}", ("a", "--b=True", "${c}")),
        ("a 512,768", ("a", "512,768")),
        ("[int]$n = 5\na $n", ("a", "5")),
        ("$L = [System.Collections.ArrayList]::new()\n[void]$L.Add('--x')\na $L b", ("a", "--x", "b")),
        ("$L = New-Object System.Collections.ArrayList\n$L.AddRange(@('--x', '5'))\na $L", ("a", "--x", "5")),
        ("$L = [List[string]]::new()\nif ($no) { [void]$L.Add('--x') }\na $L b", ("a", "b")),
        ("if ($x) { a b }", ("a", "b")),
        ("!a b", ("a", "b")),
    ],
)
def test_that_powershell_lines_are_read(text: str, words: tuple[str, ...]) -> None:
    assert words_of(text, "powershell")[-1] == words


@pytest.mark.parametrize(
    ("text", "shell"),
    [
        ("a 'b", "posix"),
        ("a $'b\\'", "posix"),
        ('\n\na "b', "posix"),
        ("A=(b", "posix"),
        ("A=(" * 20_000, "posix"),
        ('a "b', "cmd"),
        ("a 'b", "powershell"),
        ('a "b', "powershell"),
        ("a <# b", "powershell"),
    ],
)
def test_that_an_unclosed_quote_is_named(text: str, shell) -> None:
    with pytest.raises(UnclosedQuote):
        shell_commands(text, shell)


@pytest.mark.parametrize(
    ("text", "shell"),
    [
        ("A=aaaaaaaaaa\n" + "A=$A$A$A$A\n" * 40, "posix"),
        ("set A=aaaaaaaaaa\n" + "set A=%A%%A%%A%%A%\n" * 40, "cmd"),
        ("$A = 'aaaaaaaaaa'\n" + '$A = "$A$A$A$A"\n' * 40, "powershell"),
        ("a\n" * 30_000, "posix"),
        ("a\n" * 30_000, "cmd"),
        ("a\n" * 30_000, "powershell"),
    ],
)
def test_that_variables_and_commands_beyond_any_use_end_the_reading(text: str, shell) -> None:
    with pytest.raises(TooLong):
        shell_commands(text, shell)


def test_that_unknown_variables_and_decisions_are_said() -> None:
    said = shell_commands('a "$B" $(date)', "posix")
    assert (said.unknown, said.dynamic) == (["B"], True)
    assert shell_commands("if exist x a %B% y", "cmd").dynamic
    assert shell_commands("a %B%", "cmd").unknown == ["B"]
    said = shell_commands("a $b $(c)", "powershell")
    assert (said.unknown, said.dynamic) == (["b"], True)


def test_that_the_environment_is_known_per_command() -> None:
    posix = shell_commands("export A=1\nB=2 a\nc", "posix").commands
    assert [dict(each.environment) for each in posix] == [{"A": "1", "B": "2"}, {"A": "1"}]
    assert shell_commands("$env:A = '1'\na", "powershell").commands[0].environment == {"A": "1"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('a "b c" d', ["a", "b c", "d"]),
        ('a\\\\"b c"', ["a\\b c"]),
        ('a \\"b', ["a", '"b']),
        ('"a""b"', ['a"b']),
        ("", []),
    ],
)
def test_that_the_c_runtime_splits_so(line: str, words: list[str]) -> None:
    assert split_for_program(line) == words


@pytest.mark.parametrize(
    ("text", "suffix", "shell"),
    [
        ("x", ".bat", "cmd"),
        ("x", ".ps1", "powershell"),
        ("x", ".sh", "posix"),
        ("a \\\n b", "", "posix"),
        ("a ^\n b", "", "cmd"),
        ("a `\n b", "", "powershell"),
        ("$a = 1\nb", "", "powershell"),
        ("a b", ".txt", "posix"),
        ("python D:\\x\\train.py", "", "cmd"),
    ],
)
def test_that_the_shell_is_told_by_what_only_it_has(text: str, suffix: str, shell: str) -> None:
    assert shell_of(text, suffix) == shell
