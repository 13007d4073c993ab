"""When the memory of a GPU is nearly full, spills over, or is taken by others; and what is said then."""

from __future__ import annotations

from typing import Any

import pytest

from gui.engine.quantities import GIB, MIB
from gui.engine.runs.memory_trouble import MemoryJudge, MemoryLook
from gui.engine.runs.memory_words import memory_causes, memory_sentence, memory_steps, memory_title
from gui.engine.runs.slow_causes import SlowFacts, slow_cause


class Film:
    """Looks at a GPU of 12 GiB, one a second."""

    def __init__(self, **always: Any) -> None:
        self.judge, self.always, self.now = MemoryJudge(), always, 0.0
        self.told: list[tuple[str, bool]] = []
        self.sentences: list[str] = []

    def show(self, used_gib: float, seconds: int = 1, **more: Any) -> Film:
        for _n in range(seconds):
            self.now += 1.0
            used = int(used_gib * GIB)
            facts = {"total": 12 * GIB, "used": used, "free": 12 * GIB - used, **self.always, **more}
            look = MemoryLook(now=self.now, **facts)
            for change in self.judge.look(look):
                self.told.append((change.kind, change.over))
                self.sentences.append(memory_sentence(change, look, "GPU 0 (RTX)", ["chrome (1.2 GiB)"]))
        return self


def test_that_a_healthy_training_is_told_nothing_of() -> None:
    film = Film(others=300 * MIB, shared=80 * MIB)
    assert film.show(2, 20).show(10.5, 60).show(9, 5).told == []


def test_that_full_memory_is_told_when_it_lasts_and_when_it_is_over() -> None:
    film = Film().show(11.9, 4).show(9, 1).show(11.9, 4)
    assert film.told == [], "allocating passes through full"
    assert film.show(11.9, 3).told == [("memory-full", False)]
    assert "11.9 GiB of 12.0 GiB, 0.1 GiB left" in film.sentences[0]
    assert film.show(11.7, 5).told == [("memory-full", False)], "not at ease yet"
    assert film.show(11.0, 1).told == [("memory-full", False), ("memory-full", True)]


def test_that_memory_that_torch_only_keeps_is_room() -> None:
    assert Film(spare=2 * GIB).show(11.95, 30).told == []


def test_that_windows_is_warned_earlier_because_it_spills() -> None:
    assert Film(wddm=True).show(11.5, 10).told == [("memory-full", False)]
    assert Film(wddm=False).show(11.5, 10).told == []


def test_that_shared_memory_that_grows_while_the_gpu_is_full_is_spilled() -> None:
    film = Film(wddm=True).show(6, 5, shared=900 * MIB)
    assert film.show(11.6, 3, shared=1000 * MIB).told == []
    assert ("memory-spill", False) in film.show(11.6, 1, shared=1500 * MIB).told
    assert "0.6 GiB have spilled over" in " ".join(film.sentences)
    film.show(11.6, 1, shared=1050 * MIB)
    assert film.told.count(("memory-spill", False)) == 1
    assert film.show(11.6, 1, shared=950 * MIB).told[-1] == ("memory-spill", True)


def test_that_pinned_memory_while_there_is_room_is_no_spill() -> None:
    assert Film(wddm=True).show(8, 5, shared=100 * MIB).show(9, 5, shared=9 * GIB).told == []


@pytest.mark.parametrize(("wddm", "used", "slower", "told"), [
    (True, 11.6, 3.0, True),
    (True, 11.6, 2.0, False),
    (True, 9.0, 9.0, False),
    (False, 11.6, 9.0, False),
])  # fmt: skip
def test_that_slow_steps_tell_of_a_spill_that_nobody_counts(
    wddm: bool, used: float, slower: float, told: bool
) -> None:
    film = (
        Film(wddm=wddm, usual_seconds=2.0)
        .show(used, 2, step_seconds=2.0)
        .show(used, 2, step_seconds=2 * slower)
    )
    assert (("memory-spill", False) in film.told) is told
    if told:
        assert "a step takes 3.0 times as long as usual" in " ".join(film.sentences)
        assert film.show(used, 1, step_seconds=2.4).told[-1] == ("memory-spill", True)


def test_that_another_program_that_starts_is_told_with_its_name() -> None:
    film = Film().show(8, 10, others=200 * MIB)
    assert film.show(9, 1, others=1300 * MIB).told == [], "one look is no look"
    assert film.show(9, 1, others=1300 * MIB).told == [("gpu-others", False)]
    assert film.sentences == ["Other programs hold 1.3 GiB of the memory of GPU 0 (RTX): chrome (1.2 GiB)."]
    assert film.show(8, 3, others=600 * MIB).told == [("gpu-others", False)]
    assert film.show(8, 1, others=250 * MIB).told == [("gpu-others", False), ("gpu-others", True)]


def test_that_much_that_was_held_before_the_run_is_told_too() -> None:
    assert Film().show(5, 2, others=3 * GIB).told == [("gpu-others", False)]


def test_that_what_is_not_told_is_not_judged() -> None:
    film = Film(others=None, shared=None, step_seconds=None, usual_seconds=None, wddm=True)
    assert film.show(6, 20).told == []
    assert MemoryLook(now=0, total=0, used=0, free=0).share == 0


def test_that_each_trouble_has_a_title_causes_and_steps() -> None:
    for kind in ("memory-full", "memory-spill", "gpu-others"):
        assert memory_title(kind) and memory_causes(kind) and len(memory_steps(kind)) >= 2
    assert memory_title("slowed") is None


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (SlowFacts(), ""),
        (SlowFacts(spilling=True, retries=3), "spills over"),
        (SlowFacts(retries=3, throttle=("heat",)), "gives memory back"),
        (SlowFacts(throttle=("heat",), temperature_c=91.0), "hot (91 °C)"),
        (SlowFacts(throttle=("heat-hardware",)), "hot (– °C)"),
        (SlowFacts(throttle=("power-brake",)), "power supply"),
        (SlowFacts(throttle=("power-cap", "clock-setting"), utilisation_percent=99), ""),
        (SlowFacts(ram_available_bytes=100 * MIB), "RAM of the machine is full"),
        (SlowFacts(ram_available_bytes=GIB, holders=["game.exe (3.0 GiB)"]), "game.exe"),
        (SlowFacts(utilisation_percent=12), "at work 12 %"),
    ],
)
def test_that_the_cause_of_slow_steps_is_named(facts: SlowFacts, words: str) -> None:
    cause = slow_cause(facts)
    assert words in cause and bool(words) == bool(cause)
