"""``presets`` and ``families``: what the program knows, with reasons, and the user's own presets."""

import json

import pytest

from gui.cli.main import run
from gui.engine.paths import Home


def printed(capsys, *words) -> tuple[int, str, str]:
    status = run(words)
    out, err = capsys.readouterr()
    return status, out, err


def as_json(capsys, *words):
    status, out, _err = printed(capsys, *words, "--json")
    document = json.loads(out)
    assert document["schema"] == 1
    return status, document


def test_that_all_presets_are_listed_by_what_they_are_about(home, capsys):
    status, out, err = printed(capsys, "presets")
    assert (status, err) == (0, "")
    assert (
        out.index("character") < out.index("stable-first") < out.index("12gib") < out.index("lycoris-locon")
    )


def test_that_the_list_is_a_document(home, capsys):
    status, document = as_json(capsys, "presets")
    assert status == 0
    rows = {row["name"]: row for row in document["presets"]}
    assert rows["pony"]["layers"] == ["sdxl"]
    assert rows["safe"]["axis"] == "caution"
    assert document["broken"] == []


def test_that_a_composition_is_shown_with_reasons(home, capsys):
    status, out, _err = printed(capsys, "presets", "--family", "sdxl", "--vram", "12", "--images", "20")
    assert status == 0
    assert out.startswith('presets = ["sdxl", "character", "safe", "12gib", "15-25-images"]\n')
    assert "unet_lr = 4.8e-05\n" in out
    assert "[S4" in out


def test_that_a_composition_is_a_document(home, capsys):
    given = ("--family", "flux1", "--purpose", "style", "--caution", "standard", "--vram", "11.99")
    status, document = as_json(
        capsys, "presets", *given, "--capability", "8.6", "--repeats", "3", "--images", "30"
    )
    assert status == 0
    assert document["values"]["blocks_to_swap"]["value"] == 20
    assert document["values"]["dataset.num_repeats"]["value"] == 3
    assert document["layers"][-1] == "26-79-images"


def test_that_what_is_not_possible_is_said_with_status_1(home, capsys):
    status, out, _err = printed(capsys, "presets", "--family", "flux1", "--kind", "full", "--vram", "8")
    assert status == 1
    assert "not possible" in out
    assert "16 GB would be enough" in out


@pytest.mark.parametrize(
    "words",
    [
        ("--vram", "12"),
        ("--family", "sd9"),
        ("--family", "sdxl", "--purpose", "opera"),
        ("--family", "sdxl", "--vram", "much"),
        ("--family", "sdxl", "--vram", "-1"),
        ("--family", "sdxl", "--vram", "nan"),
        ("--family", "sdxl", "--capability", "eight"),
        ("--delete", "safe"),
        ("--delete", "a", "--add", "b"),
        ("--save", "mine", "nowhere.toml"),
    ],
)
def test_that_wrong_use_is_one_line_and_status_2(home, capsys, words):
    status, out, err = printed(capsys, "presets", *words)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1


PLAN = """
schema = 1
name = "mira"
family = "sdxl"
presets = ["sdxl", "character", "safe"]
[arguments]
unet_lr = 6e-5
output_dir = "out"
"""


@pytest.fixture
def plan(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(PLAN, "utf-8")
    return str(file)


def test_that_presets_of_ones_own_are_kept_renamed_passed_on_and_deleted(home: Home, capsys, plan, tmp_path):
    assert printed(capsys, "presets", "--save", "mine", plan) == (0, "mine\n", "")
    assert "6.0e-05" in (home.presets / "mine.yaml").read_text("utf-8")
    assert printed(capsys, "presets", "--save", "mine", plan)[0] == 2
    assert printed(capsys, "presets", "--replace", "mine", plan)[0] == 0
    assert printed(capsys, "presets", "--rename", "mine", "faces") == (0, "faces\n", "")
    sent = str(tmp_path / "sent.yaml")
    assert printed(capsys, "presets", "--export", "faces", sent)[0] == 0
    assert printed(capsys, "presets", "--add", sent) == (0, "sent\n", "")
    rows = as_json(capsys, "presets")[1]["presets"]
    assert [(row["name"], row["title"]) for row in rows if row["axis"] == "own"] == [
        ("faces", "mine"),
        ("sent", "mine"),
    ]
    assert printed(capsys, "presets", "--delete", "faces") == (0, "", "")
    assert [file.name for file in home.presets.iterdir()] == ["sent.yaml"]


def test_that_broken_presets_are_named_and_the_rest_is_shown(home: Home, capsys):
    home.presets.mkdir(parents=True)
    (home.presets / "bad.yaml").write_text("wings: 2", "utf-8")
    status, out, err = printed(capsys, "presets")
    assert status == 0
    assert "bad.yaml, wings: no preset has such a key" in err
    assert "stable-first" in out
    document = as_json(capsys, "presets")[1]
    assert document["broken"][0]["key"] == "wings"


def test_that_plans_may_name_presets_of_ones_own(home: Home, capsys, plan, tmp_path):
    assert printed(capsys, "presets", "--save", "mine", plan)[0] == 0
    other = tmp_path / "other.toml"
    other.write_text(
        'family = "sdxl"\npresets = ["mine"]\n[arguments]\noutput_dir = "o"\n'
        'pretrained_model_name_or_path = "m.safetensors"\n[[dataset.subsets]]\nimage_dir = "i"\n',
        "utf-8",
    )
    machine = tmp_path / "machine.toml"
    machine.write_text("ram_gib = 64.0\n", "utf-8")
    status, document = as_json(capsys, "check", str(other), "--machine", str(machine))
    assert status == 0, document["findings"]
    (home.presets / "mine.yaml").unlink()
    status, document = as_json(capsys, "check", str(other), "--machine", str(machine))
    assert status == 1
    assert "preset-unknown" in [finding["id"] for finding in document["findings"]]


def test_that_families_are_listed(home, capsys):
    status, out, _err = printed(capsys, "families")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[:4]] == ["sd15", "sdxl", "pony", "illustrious"]


def test_that_a_family_is_shown_in_full(home, capsys):
    status, out, _err = printed(capsys, "families", "hunyuan-image", "sdxl")
    assert status == 0
    for said in ("lora_hunyuan_image", "byt5", "2048 × 2048", "37", "fp8_scaled is meant", "(optional)"):
        assert said in out


def test_that_families_are_a_document(home, capsys):
    status, document = as_json(capsys, "families", "chroma")
    assert status == 0
    assert document["families"][0]["arguments"]["model_type"] == "chroma"


def test_that_an_unknown_family_is_refused(home, capsys):
    status, _out, err = printed(capsys, "families", "sd9")
    assert status == 2
    assert "sd15" in err
