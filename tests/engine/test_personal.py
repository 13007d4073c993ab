"""What is handed to others tells nobody's name, host or home, however it is written."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine import personal
from gui.engine.personal import HOME, HOST, MAIL, USER, Anonymiser, Identity, for_others, this_identity
from gui.engine.redaction import HIDDEN

NOBODY = Identity()

names = st.text("qzxjwvkQZ", min_size=3, max_size=12)
full_names = st.builds("{} {}".format, names, names)
letters = st.text("qzxjäöéł", min_size=3, max_size=8)


def cleaned(text: str, identity: Identity = NOBODY) -> str:
    anonymiser = Anonymiser(identity)
    anonymiser.learn(text)
    return anonymiser.text(text)


POSIX = [
    "/home/{}/models/a.safetensors",
    "/Users/{}/models/a.safetensors",
    "/media/{}/disk/a.safetensors",
    "/mnt/c/Users/{}/a.safetensors",
    "in '/home/{}': no such file",
    "cwd=/home/{}",
    "/run/media/{}/disk",
    "/export/home/{}/x",
    "ssh {}@gpu-box.example.org",
    "USER={}",
    "LOGNAME: '{}'",
    "HOSTNAME={}",
    "events.out.tfevents.1699999999.{}.4711.0",
    "  host      : {}\n  rank      : 0",
]

WINDOWS = [
    "C:\\Users\\{}\\models\\a.safetensors",
    "C:/Users/{}/models/a.safetensors",
    "C:\\\\Users\\\\{}\\\\models",
    "\\\\server\\Users\\{}\\x",
    'File "D:\\Users\\{}\\train.py", line 1',
    "c:\\users\\{}",
    "C:\\Documents and Settings\\{}\\x",
    "C%3A%5CUsers%5C{}%5Cmodels",
]


@pytest.mark.parametrize("form", POSIX)
@given(name=names)
def test_that_no_name_is_left_where_systems_put_names(form: str, name: str):
    text = f"first line\n{form.format(name)}\nlast line"
    shown = cleaned(text)
    assert name not in shown
    assert shown.startswith("first line\n") and shown.endswith("\nlast line")


@pytest.mark.parametrize("form", WINDOWS)
@given(name=full_names)
def test_that_names_with_blanks_go_as_a_whole(form: str, name: str):
    first, last = name.split()
    shown = cleaned(form.format(quote(name) if "%" in form else name))
    assert first not in shown and last not in shown


@given(name=letters, family=letters)
def test_that_a_known_home_goes_in_every_spelling(name: str, family: str):
    windows, posix = f"C:\\Data\\{name} {family}", f"/data/people/{name}"
    identity = Identity((f"{name} {family}", name), (), (windows, posix))
    for home in (windows, posix):
        slashes = home.replace("\\", "/")
        escaped = json.dumps(home)
        ways = (home, slashes, quote(slashes), escaped, json.dumps({"x": home}, ensure_ascii=False))
        shown = cleaned(" ".join(f"{way}/x" for way in ways), identity)
        assert HOME in shown
        assert name not in shown and family not in shown and json.dumps(name)[1:-1] not in shown


@pytest.mark.parametrize(
    ("user", "short"),
    [("John Smith", "JOHNSM~1"), ("john.smith", "johnsm~2"), ("Maximilian", "MAXIMI~1"), ("a+b c", "A_BC~1")],
)
def test_that_the_short_form_of_windows_goes_anywhere(user: str, short: str):
    text = f"C:\\DOCUME~1\\{short}\\LOCALS~1\\Temp and D:\\{short}\\x"
    assert short not in cleaned(text, Identity((user,)))


def test_that_a_name_learned_from_one_path_is_known_in_another():
    text = "C:\\Users\\Zqann Wvo\\a and D:\\backup\\Zqann Wvo\\b, says Zqann Wvo"
    assert cleaned(text) == f"C:\\Users\\{USER}\\a and D:\\backup\\{USER}\\b, says {USER}"


def test_that_a_folder_called_home_within_a_path_teaches_nothing():
    text = "/data/home/runs/a.log and the runs, D:\\x\\Users\\models\\y and models"
    assert cleaned(text) == f"/data/home/{USER}/a.log and the runs, D:\\x\\Users\\{USER}\\y and models"


def test_that_host_and_user_go_as_words_but_not_within_words():
    identity = Identity(("zqj",), ("vx-box.lan", "vx-box"), ())
    assert cleaned("zqj on VX-BOX: vx-box.lan, vx-boxer, zqj_lora, --zqj-x", identity) == (
        f"{USER} on {HOST}: {HOST}, vx-boxer, zqj_lora, --zqj-x"
    )


def test_that_a_short_name_goes_from_paths_only():
    assert cleaned("/data/jo/x jo: jo", Identity(("jo",))) == f"/data/{USER}/x jo: jo"


@pytest.mark.parametrize(
    "text",
    [
        "epoch 1/10, steps: 36%, avr_loss=0.134, 12.4.5.8",
        "C:\\Users\\Public\\models",
        "--max_train_steps 100 --network_dim=32 --optimizer_args a=1",
        "user and host, root and train",
        "/usr/lib/python3/site-packages/torch/nn.py",
        "sha256 " + "ab" * 32,
        "commit " + "0a" * 20,
        "",
    ],
)
def test_that_other_texts_stay_as_they_are(text: str):
    anonymiser = Anonymiser(Identity(("root", "user"), ("localhost", "12"), ("/",)), harmless=["0a" * 20])
    anonymiser.learn(text)
    assert anonymiser.text(text) == text


def test_that_what_looks_like_a_key_goes_and_mail_addresses_too():
    assert cleaned("key " + "0b" * 20) == f"key {HIDDEN}"
    assert cleaned("key " + "0b" * 16) == f"key {HIDDEN}"
    assert cleaned("by jane.doe@example.org.") == f"by {MAIL}."
    assert cleaned("at DESKTOP-A1B2C3D now") == f"at {HOST} now"


@given(st.text("/\\Users home:'\"%20~\n", max_size=200))
def test_that_cleaning_again_changes_nothing(text: str):
    once = cleaned(text)
    assert cleaned(once) == once


@given(name=letters, data=st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3))
def test_that_cleaned_json_is_still_json(name: str, data: dict[str, str]):
    document = {**data, "path": f"C:\\Users\\{name}\\x", "other": [f"/home/{name}"]}
    for ascii_only in (False, True):
        shown = cleaned(json.dumps(document, ensure_ascii=ascii_only))
        assert name not in json.dumps(json.loads(shown), ensure_ascii=False)


def test_that_a_hostile_text_is_read_in_one_go():
    for piece in ("/Users/", "\\Users\\a b ", "a@", "%5c", "\\", " host : ", "tfevents.1.", "/home/x"):
        text = piece * (200_000 // len(piece))
        assert len(cleaned(text)) <= 2 * len(text)


def test_that_a_name_that_is_no_text_is_no_fault():
    assert cleaned("/home/zq\\ud83dx/y", Identity(("zq\udcff",))) == f"/home/{USER}/y"


def test_that_a_text_that_names_thousands_of_people_is_bounded():
    anonymiser = Anonymiser(NOBODY)
    anonymiser.learn(" ".join(f"/home/zq{number}/x" for number in range(5000)))
    assert len(anonymiser._users) <= 50


def test_that_this_machine_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HOME", str(tmp_path / "zqann"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "zqann"))
    monkeypatch.setattr("getpass.getuser", lambda: "zqann2")
    monkeypatch.setattr("socket.gethostname", lambda: "vx-box.lan")
    found = this_identity()
    assert {"zqann", "zqann2"} <= set(found.users)
    assert {"vx-box", "vx-box.lan"} <= set(found.hosts)
    assert str(tmp_path / "zqann") in found.homes


def test_that_a_text_for_others_tells_nobody(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(personal, "this_identity", lambda: Identity(hosts=("vx-box",)))
    assert for_others("/home/zqann/x on vx-box, says zqann") == f"/home/{USER}/x on {HOST}, says {USER}"


def test_that_a_machine_without_names_is_no_fault(monkeypatch: pytest.MonkeyPatch):
    def nobody() -> str:
        raise KeyError

    def nowhere() -> Path:
        raise RuntimeError

    monkeypatch.setattr("getpass.getuser", nobody)
    monkeypatch.setattr(Path, "home", nowhere)
    assert this_identity().homes == ()


@pytest.mark.skipif(not hasattr(Path, "symlink_to"), reason="no links there")
def test_that_a_linked_home_is_known_by_both_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "linked")
    assert set(this_identity().homes) == {str(tmp_path / "linked"), str(tmp_path / "real")}


@pytest.mark.parametrize("form", ["/data/{}/x", "{} here", "{}_lora", "{}님", '{{"t": "\\n{}"}}'])
@pytest.mark.parametrize("known", ["NFC", "NFD"])
@pytest.mark.parametrize("written", ["NFC", "NFD"])
def test_that_a_name_of_hangul_goes_however_its_letters_are_put(form: str, known: str, written: str):
    identity = Identity((unicodedata.normalize(known, "김철수"),))
    name = unicodedata.normalize(written, "김철수")
    for spelling in (name, quote(name), json.dumps(name)[1:-1], repr(name.encode())[2:-1]):
        assert spelling not in cleaned(form.format(spelling), identity)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/data/janedoe_lora/x", f"/data/{USER}_lora/x"),
        ("lora-JaneDoe-v2.safetensors", f"lora-{USER}-v2.safetensors"),
        ("janedoeLora and janedoe2", f"{USER}Lora and {USER}2"),
        (r'{"text": "\njanedoe on\tvx-box"}', rf'{{"text": "\n{USER} on\t{HOST}"}}'),
        (r"\u001b[31mjanedoe, %3Djanedoe", rf"\u001b[31m{USER}, %3D{USER}"),
        ("xjanedoe, janedoes", "xjanedoe, janedoes"),
    ],
)
def test_that_a_long_name_goes_from_within_words_and_from_behind_escapes(text: str, shown: str):
    assert cleaned(text, Identity(("janedoe",), ("vx-box",))) == shown


@pytest.mark.parametrize(
    "text", ["Zqann Wvo", "zqann_wvo", "Zqann+Wvo", "ZqannWvo", "zqann.wvo", "Zqann%20Wvo"]
)
def test_that_a_name_of_two_words_goes_however_they_are_joined(text: str):
    assert cleaned(f"by {text}!", Identity(("Zqann Wvo",))) == f"by {USER}!"


def test_that_the_name_of_an_account_is_learned_from_the_log():
    text = "wandb: Currently logged in as: zqann (team). https://wandb.ai/vxteam/lora/runs/1 of zqann"
    shown = cleaned(text)
    assert "zqann" not in shown and "vxteam" not in shown
