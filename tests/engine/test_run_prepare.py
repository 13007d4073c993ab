"""A plan becomes a run folder, or nothing at all."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from practice_runs import BASE, TRAINER

from gui.engine.errors import NewerDocument, PlanNotRunnable, RunRefused, TrainerBroken
from gui.engine.findings import Finding
from gui.engine.paths import Home
from gui.engine.plan.plan_file import PlanFile, parse_plan
from gui.engine.preferences import change_preferences
from gui.engine.runs import prepare
from gui.engine.runs.disk import DiskWatch
from gui.engine.runs.folder import run_names
from gui.engine.runs.lock import SupervisorLock
from gui.engine.runs.prepare import Preparation
from gui.engine.runs.records import CommandRecord, Manifest
from gui.engine.runs.start import read_status
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import TrainerInstall, practice_install

PLAN = """
schema = 1
name = "mira"
family = "sd15"
kind = "lora"
[arguments]
pretrained_model_name_or_path = "{base}"
output_dir = "out"
output_name = "mira"
network_dim = 4
save_state = true
huggingface_token = "hf_abcdefghijklmnopqrst"
[dataset]
resolution = [512, 512]
[[dataset.subsets]]
image_dir = "images"
"""


def plan_file(tmp_path: Path, text: str = PLAN) -> PlanFile:
    return parse_plan(text.format(base=BASE.as_posix()), tmp_path / "mira.toml")


def preparation(tmp_path: Path, torch: str | None = "2.6.0", **options: object) -> Preparation:
    install: TrainerInstall = practice_install(sys.executable)
    facts = TrainerFacts(
        root=str(TRAINER),
        python=sys.executable,
        commit="c" * 40,
        torch=torch,
        packages={"tensorboard": "1"},
    )
    return Preparation(Home(tmp_path / "home"), install, facts, Catalogue.bundled(), **options)  # type: ignore[arg-type]


def test_that_a_run_folder_tells_all_but_tokens(tmp_path: Path) -> None:
    prepared = preparation(tmp_path, environ={"PATH": "/bin", "PYTHONPATH": "x"}).prepare(plan_file(tmp_path))
    run, order = prepared.run, prepared.order
    assert order.environment["HF_TOKEN"] == "hf_abcdefghijklmnopqrst"
    assert order.environment["PATH"] == "/bin" and "PYTHONPATH" not in order.environment
    manifest, command = Manifest.read(run.manifest), CommandRecord.read(run.command)
    assert (manifest.trainer_commit, manifest.torch, manifest.practice) == ("c" * 40, "2.6.0", True)
    assert manifest.base_model is not None and manifest.base_model.size == BASE.stat().st_size
    assert command.save_state and not command.resumed and not command.wrapped and command.tracker
    assert command.output_dir == tmp_path / "out"
    assert "output.log" in command.note
    status = read_status(run)
    assert status is not None and status.state == "starting"
    for path in run.path.rglob("*"):
        assert path.is_dir() or b"hf_abc" not in path.read_bytes(), path
    assert json.loads(run.command.read_text("utf-8"))["argv"] == list(order.argv)


def test_that_a_plan_in_a_strange_place_keeps_its_paths(tmp_path: Path) -> None:
    place = tmp_path / '미라\'s "best" --of $HOME' / ("long " * 40).strip()
    place.mkdir(parents=True)
    prepared = preparation(place).prepare(plan_file(place))
    assert CommandRecord.read(prepared.run.command).output_dir == place / "out"
    assert str(place / "images") in prepared.run.dataset.read_text("utf-8").replace('\\"', '"')


def test_that_what_cannot_run_leaves_nothing(tmp_path: Path) -> None:
    broken = PLAN.replace("network_dim", "network_dmi")
    with pytest.raises(PlanNotRunnable):
        preparation(tmp_path).prepare(plan_file(tmp_path, broken))
    newer = PLAN.replace("schema = 1", "schema = 9")
    with pytest.raises(NewerDocument):
        preparation(tmp_path).prepare(plan_file(tmp_path, newer))
    assert run_names(Home(tmp_path / "home")) == []


def test_that_a_trainer_without_torch_is_refused_with_the_way_to_add_it(tmp_path: Path) -> None:
    with pytest.raises(TrainerBroken, match="pip install torch"):
        preparation(tmp_path, torch=None).prepare(plan_file(tmp_path))
    assert run_names(Home(tmp_path / "home")) == []


def test_that_a_full_disk_refuses_the_launch_and_little_room_is_told(tmp_path: Path) -> None:
    def disks(free: int) -> object:
        return lambda places: DiskWatch(places, free=lambda _folder: free)

    with pytest.raises(RunRefused) as refused:
        preparation(tmp_path, disks=disks(100 << 20)).prepare(plan_file(tmp_path))
    assert "0.1 GiB" in str(refused.value)
    assert run_names(Home(tmp_path / "home")) == []
    prepared = preparation(tmp_path, disks=disks(2 << 30)).prepare(plan_file(tmp_path))
    assert sum("2.0 GiB" in note for note in prepared.notes) == 2


def test_that_two_trainings_into_the_same_files_are_refused(tmp_path: Path) -> None:
    first = preparation(tmp_path).prepare(plan_file(tmp_path)).run
    first.events.write_bytes(b"")
    with SupervisorLock(first.lock):
        with pytest.raises(RunRefused) as refused:
            preparation(tmp_path).prepare(plan_file(tmp_path))
        other_name = PLAN.replace('output_name = "mira"', 'output_name = "mira_2"')
        preparation(tmp_path).prepare(plan_file(tmp_path, other_name))
    assert first.name in str(refused.value) and str(tmp_path / "out" / "mira*") in str(refused.value)
    preparation(tmp_path).prepare(plan_file(tmp_path))


def test_that_folders_beside_that_are_no_runs_do_not_matter(tmp_path: Path) -> None:
    broken = preparation(tmp_path).prepare(plan_file(tmp_path)).run
    broken.events.write_bytes(b"")
    broken.command.write_bytes(b"{")
    newer = preparation(tmp_path).prepare(plan_file(tmp_path)).run
    newer.events.write_bytes(b"")
    newer.status.write_text('{"schema": 9}', "utf-8")
    preparation(tmp_path).prepare(plan_file(tmp_path))


def test_that_a_danger_needs_a_yes_which_is_kept(tmp_path: Path) -> None:
    danger = Finding(id="mad-lr", severity="danger", title="The learning rate is mad.")
    hint = Finding(id="a-hint", severity="hint", title="By the way.")
    careful = preparation(tmp_path, judge=lambda _plan: [danger, hint])
    with pytest.raises(PlanNotRunnable) as refused:
        careful.prepare(plan_file(tmp_path))
    assert refused.value.findings == (danger,)
    prepared = careful.prepare(plan_file(tmp_path), accepted=["mad-lr"])
    assert Manifest.read(prepared.run.manifest).accepted == ("mad-lr",)
    assert "By the way." in prepared.notes


def test_that_files_of_the_same_names_are_listed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "mira-step00000010-state").mkdir(parents=True)
    for number in range(7):
        (out / f"mira-{number:06d}.safetensors").write_bytes(b"x")
    (out / "other.safetensors").write_bytes(b"x")
    prepared = preparation(tmp_path).prepare(plan_file(tmp_path))
    manifest = Manifest.read(prepared.run.manifest)
    assert len(manifest.overwrites) == 8 and "other.safetensors" not in manifest.overwrites
    assert any("…" in note and "mira-000000.safetensors" in note for note in prepared.notes)


def test_that_a_hub_name_is_a_base_model_without_a_size(tmp_path: Path) -> None:
    text = PLAN.replace('"{base}"', '"runwayml/stable-diffusion-v1-5"')
    prepared = preparation(tmp_path).prepare(plan_file(tmp_path, text))
    base = Manifest.read(prepared.run.manifest).base_model
    assert base is not None and (base.path, base.size) == ("runwayml/stable-diffusion-v1-5", None)


def test_that_a_command_without_a_base_model_has_none(tmp_path: Path) -> None:
    prepared = preparation(tmp_path).prepare(plan_file(tmp_path))
    command = CommandRecord.read(prepared.run.command)
    bare = command.model_copy(update={"argv": ("python", "x.py")})
    assert prepare._base_model(bare) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("plan_line", "preference"), [("", ""), ("measure_memory = false", ""), ("", "false")]
)
def test_that_the_memory_hook_goes_along_unless_it_is_switched_off(
    tmp_path: Path, plan_line: str, preference: str
) -> None:
    home = Home(tmp_path / "home")
    if preference:
        change_preferences(home.preferences, measure_memory=False)
    prepared = preparation(tmp_path).prepare(plan_file(tmp_path, f"{PLAN}[launch]\n{plan_line}\n"))
    wanted = not (plan_line or preference)
    assert prepared.order.measure_memory is wanted
    assert Manifest.read(prepared.run.manifest).measures_memory is wanted
    assert "in_trainer" not in prepared.run.command.read_text("utf-8"), "the command is the trainer's own"


def test_that_of_several_launches_in_the_same_moment_one_gets_the_names(tmp_path: Path) -> None:
    def launch(_number: int) -> bool:
        try:
            preparation(tmp_path).prepare(plan_file(tmp_path))
        except RunRefused as refusal:
            assert "training into the same files" in str(refusal)
            return False
        return True

    with ThreadPoolExecutor(4) as impatient:
        assert sorted(impatient.map(launch, range(4))) == [False, False, False, True]
    assert len(run_names(Home(tmp_path / "home"))) == 1
