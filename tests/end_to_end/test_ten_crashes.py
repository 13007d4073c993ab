"""Ten runs, and SIGKILL at random moments of what works on them; two hundred are in ``tests/endurance``."""

from __future__ import annotations

from pathlib import Path

import pytest
from crashes import Storm, check_runs, seeded
from quick_trainer import ACCEPTED, AskedTrainer, quick_plan
from run_helper import make_run

from gui.engine.paths import Home
from gui.engine.runs.queue_store import Wish
from gui.engine.runs.start import start_supervisor

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers")]

QUEUED, BY_HAND = 3, 7

TRAINS = """
header(20)
for n in range(1, 21):
    step(n, 20, 0.5 - n / 100)
    sleep(0.15)
    if n % 5 == 0 and n < 20: save(f"{out}/lora-step{n:08d}.safetensors", seconds=0.1)
save(f"{out}/lora.safetensors", seconds=0.2)
saved()
"""


def test_that_of_ten_runs_nothing_is_lost_whoever_is_killed_when(tmp_path: Path, home: Home) -> None:
    random = seeded()
    storm = Storm(home, random)
    install = AskedTrainer(tmp_path / "trainer").known_in(home)
    for number in range(QUEUED):
        wish = Wish(install, gpus=(number,), accepted=ACCEPTED)
        storm.store.add(quick_plan(tmp_path, f"queued{number}", steps=random.randint(4, 12)), wish)
    for number in range(BY_HAND):
        name = f"2026113{number}-010203-by-hand"
        run, order = make_run(tmp_path / f"by-hand{number}", TRAINS, home=home.root, name=name)
        start_supervisor(run, order)
        storm.blow(kills=1, longest_pause=0.3)
    storm.blow(kills=6, longest_pause=0.6)
    storm.calm_down()
    check_runs(storm)
    assert storm.killed
