"""A whole plan is checked: parser, rules and launch answer together, rules run apart from one another."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from preflight_plans import CATALOGUE, checker, ids, plan_of, values

from gui.engine.errors import CannotRead
from gui.engine.findings import Finding, verdict_of
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector
from gui.engine.preflight.facts import Facts, GpuFact
from gui.engine.preflight.machine import read_machine
from gui.engine.preflight.rule import Rule, run_rules
from gui.engine.preflight.view import View
from gui.engine.trainer.facts import TrainerFacts


def test_that_parser_and_rules_answer_together_and_the_worst_comes_first(tmp_path: Path) -> None:
    plan = plan_of({"mixed_precision": "fp16", "network_dimm": 3, "save_precision": "bf16"})
    report = checker(tmp_path).report(plan)
    assert report.verdict == "stop"
    assert (report.script, report.family) == ("sdxl_train_network.py", "sdxl")
    assert {"arg-unknown", "sdxl-vae"} <= ids(report.findings, "stop")
    order = ["stop", "danger", "warning", "hint"]
    ranks = [order.index(found.severity) for found in report.findings]
    assert ranks == sorted(ranks)


def test_that_a_plan_for_no_known_script_says_which_there_are(tmp_path: Path) -> None:
    report = checker(tmp_path).report(plan_of(script="sdxl_train_netwrok.py"))
    assert (report.verdict, report.script) == ("stop", "")
    assert ids(report.findings) == {"script-exists"}
    assert "sdxl_train_network.py" in report.findings[0].title


def test_that_a_plan_for_no_known_family_is_a_finding(tmp_path: Path) -> None:
    assert checker(tmp_path).report(plan_of(family="sdxll")).verdict == "stop"


def test_that_a_rule_that_fails_is_said_and_hides_no_other() -> None:
    def broken(_view: View):
        raise ZeroDivisionError("oh")

    def sound(_view: View):
        yield Finding(id="sound", severity="stop", title="t")

    rules = [Rule("broken", broken, ("x",), str), Rule("sound", sound, ("x",), str)]
    view = View(plan_of(), Facts(), "sdxl_train_network.py", None)
    found = run_rules(rules, view)
    assert [(each.id, each.where) for each in found] == [("sound", None), ("rule-failed", "broken")]
    assert "ZeroDivisionError" in found[1].detail


@settings(max_examples=150)
@given(
    st.dictionaries(
        st.sampled_from(sorted(CATALOGUE.script("sdxl_train_network.py").arguments)), values, max_size=12
    ),
    st.dictionaries(
        st.sampled_from(
            ["resolution", "batch_size", "color_aug", "enable_bucket", "subsets", "datasets", "general"]
        ),
        st.one_of(values, st.lists(st.dictionaries(st.text(max_size=5), values, max_size=2), max_size=2)),
        max_size=4,
    ),
)
def test_that_values_of_any_type_give_findings_and_never_break_a_rule(arguments, dataset) -> None:
    plan = plan_of(arguments).model_copy(update={"dataset": dataset})
    assert "rule-failed" not in ids(checker(Path("/nowhere")).findings(plan))


def test_that_five_thousand_unknown_keys_are_each_named(tmp_path: Path) -> None:
    plan = plan_of({f"nonsense_{number}": number for number in range(5000)})
    found = [each for each in checker(tmp_path).findings(plan) if each.id == "arg-unknown"]
    assert len({each.where or each.arguments[0] for each in found}) == 5000


def test_that_a_verdict_follows_from_the_worst() -> None:
    def of(severity: str) -> Finding:
        return Finding(id="x", severity=severity, title="t")

    assert verdict_of([]) == "go"
    assert verdict_of([of("hint")]) == "go"
    assert verdict_of([of("warning"), of("hint")]) == "caution"
    assert verdict_of([of("danger"), of("stop")]) == "stop"


def test_that_what_cannot_be_launched_so_is_said_before_the_launch(tmp_path: Path) -> None:
    launch = {"num_processes": 0, "dynamo_backend": "magic", "gpu_ids": [0, 7], "env": {"A=B": "x"}}
    check = checker(tmp_path, gpu=[{"name": "A"}, {"name": "B", "index": 1}])
    assert {"launch-processes", "launch-dynamo", "gpuid", "env-name"} <= ids(
        check.findings(plan_of(launch=launch)), "stop"
    )


def test_that_of_an_unknown_trainer_nothing_is_said_about_processes(tmp_path: Path) -> None:
    assert "multigpu" not in ids(checker(tmp_path).findings(plan_of(launch={"num_processes": 2})))


def test_that_a_trainer_without_gpus_trains_in_one_process(tmp_path: Path) -> None:
    trainer = TrainerFacts(root="t", python="p", packages={"accelerate": "1"}, backend="cpu")
    check = Checker(tmp_path, CATALOGUE, Facts(), collector=Collector(trainer))
    found = check.findings(plan_of(launch={"num_processes": 2}))
    assert "multigpu" in ids(found, "stop")


def test_that_a_token_in_a_plan_is_warned_of_and_never_shown(tmp_path: Path) -> None:
    token = "hf_" + "x" * 30
    report = checker(tmp_path).report(
        plan_of({"huggingface_token": token}, launch={"env": {"HF_TOKEN": token}})
    )
    assert [each.where for each in report.findings if each.id == "secret-in-plan"] == [
        "huggingface_token",
        "env.HF_TOKEN",
    ]
    assert token not in report.model_dump_json()


def test_that_a_plan_of_a_newer_version_is_no_plan_to_run(tmp_path: Path) -> None:
    plan = plan_of().model_copy(update={"schema_": 99})
    assert "plan-newer" in ids(checker(tmp_path).findings(plan), "stop")


# The machine file.


def test_that_a_machine_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(
        """
os = "windows"
ram_gib = 32.0
[[gpu]]
name = "NVIDIA GeForce RTX 3060"
vram_gib = 12.0
compute_capability = "8.6"
[trainer]
torch = "2.6.0"
packages = { xformers = "0.0.29" }
[[model]]
argument = "pretrained_model_name_or_path"
family = "sdxl"
[dataset]
images = 20
layout = "leaf"
max_size_px = [1152, 1152]
""",
        "utf-8",
    )
    facts = read_machine(path)
    assert (facts.os, facts.gpu[0].capability, facts.dataset.max_size_px) == ("windows", (8, 6), (1152, 1152))
    view = View(plan_of(), facts, "sdxl_train_network.py", None)
    assert view.package("xformers") is True
    assert view.package("bitsandbytes") is False


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("os = 3", "os"),
        ("vram = 3", "vram"),
        ("os = ", "TOML"),
        ("[[gpu]]\nvram_gib = 'x'", "gpu.0.vram_gib"),
        ("paths = {}", "paths"),
        ("os = 'beos'", "linux, windows, macos"),
        ("gpu = '3060'", "gpu must be a list"),
        ("[gpu]\nvram_gib = 8", "gpu must be a list"),
        ("ram_gib = -4", "ram_gib must be a number from 0 on, not -4"),
        ("[[gpu]]\nvram_gib = nan", "gpu.0.vram_gib must be a number"),
        ("disk_free_gib = inf", "disk_free_gib"),
        ("[dataset]\nmax_size_px = [512, -1]", "dataset.max_size_px.1"),
        ("[[gpu]]\ncompute_capability = 8.6", "must be a text, not 8.6"),
    ],
)
def test_that_a_wrong_machine_file_names_the_key(tmp_path: Path, text: str, key: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(CannotRead) as caught:
        read_machine(path)
    assert key in str(caught.value)


@pytest.mark.parametrize(
    ("text", "capability"), [("8.6", (8, 6)), ("12", (12, 0)), ("gfx90", None), (None, None)]
)
def test_that_a_compute_capability_is_read_where_it_is_one(text, capability) -> None:
    assert GpuFact(compute_capability=text).capability == capability
