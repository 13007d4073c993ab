"""A whole plan is checked: facts are collected, rules run apart from one another, fixes converge."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from gui.engine.errors import CannotRead
from gui.engine.findings import Finding, Fix, verdict_of
from gui.engine.plan.changes import apply_changes
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector, free_gib, path_fact
from gui.engine.preflight.facts import Facts, GpuFact
from gui.engine.preflight.fixing import apply_named_fixes, apply_safe_fixes
from gui.engine.preflight.machine import read_machine
from gui.engine.preflight.rule import Rule, run_rules
from gui.engine.preflight.view import View
from gui.engine.trainer.catalogue import Catalogue

CATALOGUE = Catalogue.bundled()


def plan_of(arguments: dict | None = None, dataset: dict | None = None, **more) -> TrainingPlan:
    return TrainingPlan.model_validate(
        {
            "family": "sdxl",
            "arguments": {
                "pretrained_model_name_or_path": "model.safetensors",
                "output_dir": "out",
                "mixed_precision": "bf16",
                "max_train_steps": 500,
                **(arguments or {}),
            },
            "dataset": {"resolution": [1024, 1024], "subsets": [{"image_dir": "images"}], **(dataset or {})},
            **more,
        }
    )


def checker(base: Path, **facts) -> Checker:
    return Checker(base, CATALOGUE, Facts.model_validate(facts), files_known=False)


def ids(findings, severity: str | None = None) -> set[str]:
    return {found.id for found in findings if severity in (None, found.severity)}


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


def test_that_all_safe_fixes_leave_no_stop_that_had_one_and_twice_changes_nothing(tmp_path: Path) -> None:
    plan = plan_of(
        {
            "mixed_precision": "fp16",
            "cache_latents": True,
            "color_aug": True,
            "cache_text_encoder_outputs": True,
            "lr_warmup_steps": 100,
            "use_8bit_adam": True,
            "optimizer_type": "AdamW8bit",
            "save_every_n_epochs": 0,
        }
    )
    check = checker(tmp_path).findings
    fixed = apply_safe_fixes(plan, check)
    assert not [f for f in fixed.remaining if f.severity == "stop" and any(fix.safe for fix in f.fixes)]
    assert not ids(fixed.remaining, "stop")
    again = apply_safe_fixes(fixed.plan, check)
    assert (again.plan, again.applied) == (fixed.plan, ())


def test_that_a_fix_which_brings_another_stop_is_not_taken() -> None:
    def check(plan: TrainingPlan) -> list[Finding]:
        value = plan.arguments.get("seed")
        other = Fix(id="x", label="x", changes={"seed": 2 if value == 1 else 1}, safe=True)
        return [Finding(id=f"stop-{value}", severity="stop", title="t", fixes=(other,))]

    plan = plan_of({"seed": 1})
    assert apply_safe_fixes(plan, check).plan == plan


def test_that_named_fixes_are_taken_also_unsafe_ones_and_unknown_names_are_told(tmp_path: Path) -> None:
    plan = plan_of({"cache_latents": True}, {"color_aug": True})
    check = checker(tmp_path).findings
    fixed, unknown = apply_named_fixes(plan, ["cache-aug:no-cache", "nothing", "cache-aug:nothing"], check)
    assert unknown == ("nothing", "cache-aug:nothing")
    assert "cache_latents" not in fixed.plan.arguments
    assert fixed.plan.dataset["color_aug"] is True


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.integers(), max_size=3),
)


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


# What is collected from this machine.


def make_images(folder: Path, sizes: list[tuple[int, int]], captions: int = 0) -> Path:
    folder.mkdir(parents=True)
    for number, size in enumerate(sizes):
        Image.new("RGB", size).save(folder / f"{number}.png")
        if number < captions:
            (folder / f"{number}.txt").write_text("mira", "utf-8")
    return folder


def collected(base: Path, plan: TrainingPlan) -> Facts:
    collector = Collector()
    check = Checker(base, CATALOGUE, collector.machine(), collector=collector)
    view, _findings = check.view(plan)
    assert view is not None
    return view.facts


def test_that_images_captions_sizes_and_paths_are_counted(tmp_path: Path) -> None:
    make_images(tmp_path / "images", [(64, 32), (64, 32), (200, 100)], captions=2)
    (tmp_path / "images" / "broken.png").write_bytes(b"no image")
    (tmp_path / "model.safetensors").write_bytes(b"12345")
    facts = collected(tmp_path, plan_of({}, {"caption_extension": ".txt"}))
    subset = facts.dataset.subsets[0]
    assert (subset.exists, subset.images, subset.captions) == (True, 4, 2)
    assert subset.sizes == {"64x32": 2, "200x100": 1}
    assert (facts.dataset.images, facts.dataset.repeats, facts.dataset.max_size_px) == (4, 1, (200, 100))
    model = facts.paths[str(tmp_path / "model.safetensors")]
    assert (model.kind, model.size_bytes) == ("file", 5)
    assert facts.paths[str(tmp_path / "out")].kind == "missing"
    assert facts.paths[str(tmp_path / "out")].writable
    assert facts.disk_free_gib > 0
    assert facts.os in ("linux", "windows", "macos")
    assert facts.ram_gib > 0


def test_that_a_missing_folder_is_known_to_be_missing(tmp_path: Path) -> None:
    facts = collected(tmp_path, plan_of())
    assert facts.dataset.subsets[0].exists is False
    assert facts.dataset.images is None


@pytest.mark.parametrize(
    ("folder", "given", "layout"),
    [
        ("train/10_mira", "train", "parent"),
        ("train/10_mira", "train/10_mira", "leaf"),
        ("mira", "mira", "flat"),
    ],
)
def test_that_the_layout_of_a_training_folder_is_told(tmp_path: Path, folder, given, layout) -> None:
    make_images(tmp_path / folder, [(64, 64)])
    plan = plan_of({"train_data_dir": given}).model_copy(update={"dataset": {"resolution": 512}})
    facts = collected(tmp_path, plan)
    assert facts.dataset.layout == layout
    assert (facts.dataset.images == 1) is (layout == "parent")


def test_that_regularisation_images_do_not_count_as_training_images(tmp_path: Path) -> None:
    make_images(tmp_path / "images", [(64, 64)] * 2)
    make_images(tmp_path / "reg", [(64, 64)] * 5)
    subsets = [{"image_dir": "images", "num_repeats": 3}, {"image_dir": "reg", "is_reg": True}]
    facts = collected(tmp_path, plan_of({}, {"subsets": subsets}))
    assert (facts.dataset.images, facts.dataset.repeats) == (2, 3)


def test_that_images_in_sub_folders_are_seen_but_not_counted(tmp_path: Path) -> None:
    make_images(tmp_path / "images" / "more", [(64, 64)])
    subset = collected(tmp_path, plan_of()).dataset.subsets[0]
    assert (subset.images, subset.sub_folders) == (0, 1)


def test_that_a_path_that_cannot_exist_is_missing_and_has_no_disk() -> None:
    assert path_fact(Path("/\0")).kind == "missing"
    assert free_gib(Path("/nowhere/at/all")) is not None


def test_that_a_verdict_follows_from_the_worst() -> None:
    def of(severity: str) -> Finding:
        return Finding(id="x", severity=severity, title="t")

    assert verdict_of([]) == "go"
    assert verdict_of([of("hint")]) == "go"
    assert verdict_of([of("warning"), of("hint")]) == "caution"
    assert verdict_of([of("danger"), of("stop")]) == "stop"


def test_that_a_fix_makes_a_new_plan_and_leaves_the_old() -> None:
    plan = plan_of()
    assert apply_changes(plan, {"seed": 1}) != plan
