"""When a training counts as stalled or slowed down; time is only told, never waited for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.runs.pace import (
    EPOCH_SECONDS,
    PATIENCE_SECONDS,
    SILENT_SECONDS,
    SLEEP_SECONDS,
    Look,
    Pace,
    PaceChange,
)

TICK = 0.5


class Film:
    """A run as it goes on, looked at twice a second."""

    def __init__(self) -> None:
        self.pace = Pace()
        self.look = Look(now=1000.0)
        self.changes: list[PaceChange] = []
        self.pace.look(self.look)

    def _next(self, seconds: float, **new: object) -> None:
        self.look = self.look._replace(now=self.look.now + seconds, **new)
        self.changes += self.pace.look(self.look)

    def be(self, **new: object) -> None:
        self._next(0.01, **new)

    def quiet(self, seconds: float) -> None:
        for _n in range(int(seconds / TICK)):
            self._next(TICK)

    def sleep(self, seconds: float) -> None:
        self._next(seconds)

    def say(self) -> None:
        self.be(log_bytes=self.look.log_bytes + 80)

    def steps(self, count: int, seconds: float) -> None:
        for _n in range(count):
            self.quiet(seconds)
            self.be(step=(self.look.step or 0) + 1, log_bytes=self.look.log_bytes + 80)

    def train(self, seconds: float = 2.0, count: int = 60) -> None:
        self.be(phase="training", epoch=1)
        self.steps(count, seconds)

    @property
    def kinds(self) -> list[tuple[str, bool]]:
        return [(change.kind, change.over) for change in self.changes]


@pytest.fixture
def film() -> Film:
    return Film()


def test_that_silence_far_beyond_the_usual_step_is_told_and_its_end_too(film: Film) -> None:
    film.train()
    film.quiet(SILENT_SECONDS - 5)
    assert film.kinds == []
    film.quiet(10)
    assert film.kinds == [("stalled", False)]
    assert film.changes[0].usual_seconds == pytest.approx(2.0, abs=0.1)
    film.quiet(120)
    film.say()
    assert film.kinds == [("stalled", False), ("stalled", True)]
    assert film.changes[1].seconds == pytest.approx(SILENT_SECONDS + 125, abs=2)


def test_that_slow_steps_may_be_silent_for_longer(film: Film) -> None:
    film.train(seconds=60, count=20)
    film.quiet(590)
    assert film.kinds == []
    film.quiet(20)
    assert film.kinds == [("stalled", False)]


@pytest.mark.parametrize("phase", ["loading", "caching-latents", "validating", "sampling", "saving", "done"])
def test_that_each_phase_has_its_own_patience(film: Film, phase: str) -> None:
    film.train()
    film.be(phase=phase)
    film.quiet(PATIENCE_SECONDS[phase] - 5)  # type: ignore[index]
    assert film.kinds == []
    film.quiet(10)
    assert film.kinds == [("stalled", False)]


def test_that_the_first_step_of_all_and_of_an_epoch_may_take_long(film: Film) -> None:
    film.be(phase="training", epoch=1)
    film.quiet(PATIENCE_SECONDS["training"] - 5)
    film.train()
    film.be(epoch=2)
    film.quiet(EPOCH_SECONDS - 5)
    assert film.kinds == []
    film.steps(1, 0)
    film.quiet(SILENT_SECONDS + 5)
    assert film.kinds == [("stalled", False)]


def test_that_output_without_a_step_is_a_sign_of_life(film: Film) -> None:
    film.train()
    for _n in range(10):
        film.quiet(100)
        film.say()
    assert film.kinds == []


def test_that_a_pause_is_no_stall(film: Film) -> None:
    film.train()
    film.quiet(100)
    film.be(halted=True)
    film.quiet(5000)
    film.be(halted=False)
    film.quiet(SILENT_SECONDS - 5)
    film.steps(40, 2)
    assert film.kinds == []


def test_that_a_machine_that_was_asleep_has_not_stalled_and_not_slowed(film: Film) -> None:
    film.train()
    for _n in range(20):
        film.quiet(1)
        film.sleep(8 * 3600)
        film.steps(1, 1)
    film.quiet(SILENT_SECONDS - 5)
    assert film.kinds == []


def test_that_a_third_of_the_usual_rate_is_told_and_its_end_too(film: Film) -> None:
    film.train()
    film.steps(30, 5)
    assert film.kinds == [], "two and a half times as long is not yet slow"
    film.steps(20, 7)
    assert film.kinds == [("slowed", False)]
    assert film.changes[0].seconds == pytest.approx(7, abs=0.5)
    assert film.changes[0].usual_seconds == pytest.approx(2, abs=0.5)
    film.steps(60, 2)
    assert film.kinds == [("slowed", False), ("slowed", True)]


def test_that_saves_and_samples_between_steps_are_no_slowness(film: Film) -> None:
    film.train()
    for phase in ["saving", "sampling", "validating"] * 20:
        film.quiet(1)
        film.be(phase=phase)
        film.quiet(60)
        film.be(phase="training")
        film.steps(1, 1)
        film.steps(2, 2)
    assert film.kinds == []


def test_that_single_slow_steps_are_no_slowness(film: Film) -> None:
    film.train()
    for _n in range(20):
        film.steps(4, 2)
        film.steps(1, 40)
    assert film.kinds == []


def test_that_a_few_slow_steps_of_a_fast_run_are_no_slowness(film: Film) -> None:
    film.be(phase="training", epoch=1)
    for _n in range(400):
        film.be(step=(film.look.step or 0) + 5)
        film.quiet(0.5)
    film.steps(5, 4)
    for _n in range(100):
        film.be(step=(film.look.step or 0) + 5)
        film.quiet(0.5)
    assert film.kinds == []


def test_that_a_count_that_begins_anew_harms_nothing(film: Film) -> None:
    film.train()
    film.be(step=0)
    film.steps(30, 2)
    assert film.kinds == []


looks = st.lists(
    st.tuples(
        st.floats(0, 400),
        st.sampled_from([None, *PATIENCE_SECONDS]),
        st.integers(0, 3),
        st.integers(0, 1),
        st.integers(0, 1),
        st.booleans(),
    ),
    max_size=200,
)


@given(looks)
def test_that_each_trouble_begins_before_it_ends(moves: list[tuple[float, str, int, int, int, bool]]) -> None:
    pace, now, step, epoch, log = Pace(), 0.0, 0, 0, 0
    open_now: set[str] = set()
    for seconds, phase, steps, epochs, data, halted in moves:
        now, step, epoch, log = now + seconds, step + steps, epoch + epochs, log + data
        for change in pace.look(Look(now, phase, step, epoch, log, halted)):  # type: ignore[arg-type]
            assert (change.kind in open_now) == change.over
            open_now ^= {change.kind}
            assert change.seconds >= 0


@given(st.lists(st.floats(SLEEP_SECONDS + 1, 1e6), max_size=30))
def test_that_sleep_alone_is_never_told(gaps: list[float]) -> None:
    film = Film()
    film.train()
    for gap in gaps:
        film.sleep(gap)
    assert film.kinds == []
