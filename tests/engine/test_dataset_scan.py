"""A scan decodes every image in processes, survives what kills them, and remembers what it found."""

from __future__ import annotations

import hashlib
import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import psutil
import pytest
from dataset_maker import clean_dataset, picture, saved

from gui.engine.dataset.crew import Crew
from gui.engine.dataset.image_cache import FILE_NAME, FileState, ImageCache
from gui.engine.dataset.image_facts import ImageFacts
from gui.engine.dataset.image_look import facts_of, prepare
from gui.engine.dataset.scan import FolderToScan, Scan, ScannedImage, ScanProgress
from gui.engine.dataset.worker import Job, answer_line, read_answer
from gui.engine.errors import ScanFailed

HELPERS = Path(__file__).parents[1] / "run_helpers"
DEADLY = [sys.executable, str(HELPERS / "deadly_worker.py")]
BROKEN = [sys.executable, "-c", "raise SystemExit(3)"]
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def scan_of(folder: Path, cache: ImageCache, **more) -> Scan:
    names = sorted(file.name for file in folder.iterdir())
    return Scan([FolderToScan(folder, names)], cache, 2, **more)


def all_of(scan: Scan) -> dict[str, ScannedImage]:
    return {image.name: image for batch in scan.batches() for image in batch.images}


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file()
    }


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder of eight small images of their own."""
    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.png").write_bytes(saved(picture(number, (64, 64))))
    return folder


def test_that_every_image_is_looked_at_and_left_as_it_is(small: Path, no_leftovers) -> None:
    before = hashes(small)
    found = all_of(scan_of(small, ImageCache(None)))
    assert sorted(found) == sorted(before)
    assert all(image.facts.size == (64, 64) and image.facts.fault is None for image in found.values())
    assert hashes(small) == before


def test_that_the_second_look_needs_no_process(small: Path, tmp_path: Path, no_leftovers) -> None:
    cache = ImageCache(tmp_path / "cache")
    first = all_of(scan_of(small, cache))
    cache.close()
    again = all_of(scan_of(small, ImageCache(tmp_path / "cache"), crew_words=BROKEN))
    assert again == first


def test_that_a_changed_image_is_looked_at_again(small: Path, tmp_path: Path, no_leftovers) -> None:
    cache = ImageCache(tmp_path / "cache")
    all_of(scan_of(small, cache))
    (small / "3.png").write_bytes(saved(picture(33, (80, 64))))
    assert all_of(scan_of(small, cache))["3.png"].facts.size == (80, 64)


def test_that_a_copied_dataset_is_known_by_its_content(small: Path, tmp_path: Path, no_leftovers) -> None:
    cache = ImageCache(tmp_path / "cache")
    first = all_of(scan_of(small, cache))
    copy = tmp_path / "copy"
    small.rename(copy)
    (copy / "new.png").write_bytes((copy / "1.png").read_bytes())
    crew = Crew(iter([Job(copy / "new.png", (first["1.png"].facts.content,))]), 1)
    (answer,) = [answer for answer in crew.answers() if answer]
    assert answer[1] == first["1.png"].facts.content  # read, and not decoded
    assert all_of(scan_of(copy, cache))["new.png"].facts == first["1.png"].facts


def test_that_the_progress_tells_pace_and_time_left(small: Path, no_leftovers) -> None:
    scan = scan_of(small, ImageCache(None), crew_words=DEADLY)
    for number in range(6):
        (small / f"slow_{number}.png").write_bytes(saved(picture(number, (32, 32))))
    scan = scan_of(small, ImageCache(None), crew_words=DEADLY)
    progress = [batch.progress for batch in scan.batches()]
    assert all(one.done <= other.done for one, other in itertools.pairwise(progress))
    assert progress[-1].done == progress[-1].total == 14
    assert any(each.per_second and each.seconds_left for each in progress[:-1])
    assert ScanProgress(1, 2).per_second is None


def test_that_a_process_that_dies_on_an_image_names_it_and_the_others_are_looked_at(
    small: Path, no_leftovers
) -> None:
    for name in ("deadly_1.png", "deadly_2.png"):
        (small / name).write_bytes(saved(picture(9, (64, 64))))
    found = all_of(scan_of(small, ImageCache(None), crew_words=DEADLY))
    assert len(found) == 10
    assert {name for name, image in found.items() if image.facts.fault == "died"} == {
        "deadly_1.png",
        "deadly_2.png",
    }
    assert found["deadly_1.png"].facts.reason == "9"


def test_that_what_killed_a_process_is_tried_again_the_next_time(
    small: Path, tmp_path: Path, no_leftovers
) -> None:
    (small / "deadly.png").write_bytes(saved(picture(9, (64, 64))))
    cache = ImageCache(tmp_path / "cache")
    assert all_of(scan_of(small, cache, crew_words=DEADLY))["deadly.png"].facts.fault == "died"
    assert all_of(scan_of(small, cache))["deadly.png"].facts.fault is None


def test_that_an_image_on_which_a_process_hangs_is_given_up(small: Path, no_leftovers) -> None:
    (small / "endless.png").write_bytes(saved(picture(9, (64, 64))))
    jobs = [Job(small / name) for name in ("1.png", "endless.png", "2.png")]
    crew = Crew(iter(jobs), 1, words=DEADLY, stuck_seconds=1.0)
    answers = dict(answer for answer in crew.answers() if answer)
    assert answers[jobs[1]].fault == "slow"
    assert answers[jobs[2]].fault is None


def test_that_processes_that_do_not_start_are_one_sentence(small: Path, no_leftovers) -> None:
    with pytest.raises(ScanFailed, match="cannot be looked at"):
        all_of(scan_of(small, ImageCache(None), crew_words=BROKEN))
    with pytest.raises(ScanFailed, match="No such file"):
        all_of(scan_of(small, ImageCache(None), crew_words=["/no/such/program"]))


def test_that_a_scan_can_be_paused_resumed_and_cancelled(small: Path, tmp_path: Path, no_leftovers) -> None:
    for number in range(40):
        (small / f"slow_{number}.png").write_bytes(saved(picture(number, (32, 32))))
    cache = ImageCache(tmp_path / "cache")
    scan = scan_of(small, cache, crew_words=DEADLY)
    batches = scan.batches()
    while next(batches).progress.done == 0:
        pass
    scan.pause()
    quiet_until = time.monotonic() + 5
    done = -1
    while (now := next(batches).progress.done) != done or time.monotonic() < quiet_until - 2:
        done = now
    assert done < 48
    scan.resume()
    while next(batches).progress.done == done:
        pass
    threading.Timer(0.2, scan.cancel).start()
    images = [image for batch in batches for image in batch.images]
    assert done + len(images) < 48
    assert scan.cancelled
    remembered = scan_of(small, cache, crew_words=BROKEN)
    known = next(remembered.batches())
    assert known.images


def test_that_a_cancelled_scan_looks_at_nothing(small: Path) -> None:
    scan = scan_of(small, ImageCache(None), crew_words=BROKEN)
    scan.cancel()
    assert all_of(scan) == {}


def test_that_a_paused_scan_can_be_cancelled(small: Path, no_leftovers) -> None:
    scan = scan_of(small, ImageCache(None))
    scan.pause()
    threading.Timer(0.5, scan.cancel).start()
    assert all_of(scan) == {}


def test_that_files_that_vanish_during_the_scan_are_told(small: Path, no_leftovers) -> None:
    names = ["1.png", "gone.png"]
    scan = Scan([FolderToScan(small, names)], ImageCache(None), 1)
    assert all_of(scan)["gone.png"].facts.fault == "gone"
    jobs = iter([Job(small / "gone.png")])
    (answer,) = [answer for answer in Crew(jobs, 1).answers() if answer]
    assert answer[1].fault == "gone"


@pytest.mark.skipif(os.name == "nt", reason="names of POSIX systems")
def test_that_any_name_of_a_file_is_looked_at(tmp_path: Path, no_leftovers) -> None:
    names = ["new\nline.png", "quo'te\".png", os.fsdecode(b"\xff\xfe.png"), "미라 😀.png", "x" * 251 + ".png"]
    for name in names:
        (tmp_path / name).write_bytes(saved(picture(1, (64, 64))))
    cache = ImageCache(tmp_path.parent / "cache of names")
    found = all_of(Scan([FolderToScan(tmp_path, names)], cache, 1))
    assert {image.facts.fault for image in found.values()} == {None}
    assert set(found) == set(names)
    again = Scan([FolderToScan(tmp_path, names)], cache, 1, crew_words=BROKEN)
    assert all_of(again) == found


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX systems")
def test_that_links_in_circles_pipes_and_folders_end_the_look(tmp_path: Path, no_leftovers) -> None:
    (tmp_path / "loop.png").symlink_to(tmp_path / "loop.png")
    (tmp_path / "nowhere.png").symlink_to(tmp_path / "missing")
    (tmp_path / "folder.png").mkdir()
    os.mkfifo(tmp_path / "pipe.png")
    found = all_of(scan_of(tmp_path, ImageCache(None)))
    faults = {name: image.facts.fault for name, image in found.items()}
    assert faults == {
        "loop.png": "denied",
        "nowhere.png": "denied",
        "folder.png": "unknown",
        "pipe.png": "unknown",
    }


@pytest.mark.skipif(ROOT or os.name == "nt", reason="nothing is forbidden to root")
def test_that_files_that_must_not_be_read_are_told(small: Path, no_leftovers) -> None:
    (small / "1.png").chmod(0)
    assert all_of(scan_of(small, ImageCache(None)))["1.png"].facts.fault == "denied"


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_that_the_processes_end_with_whoever_started_them(tmp_path: Path, no_leftovers) -> None:
    clean_dataset(tmp_path / "images", 2)
    for number in range(60):
        (tmp_path / "images" / f"slow_{number}.png").write_bytes(b"x")
    program = textwrap.dedent(
        f"""
        import os
        from pathlib import Path
        from gui.engine.dataset.image_cache import ImageCache
        from gui.engine.dataset.scan import FolderToScan, Scan
        folder = Path({str(tmp_path / "images")!r})
        scan = Scan([FolderToScan(folder, os.listdir(folder))], ImageCache(None), 2, crew_words={DEADLY!r})
        for batch in scan.batches():
            print(batch.progress.done, flush=True)
        """
    )
    asker = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    while asker.stdout.readline().strip() in ("0", "1"):
        pass
    children = psutil.Process(asker.pid).children(recursive=True)
    assert children
    os.kill(asker.pid, signal.SIGKILL)
    asker.wait()
    asker.stdout.close()
    _gone, alive = psutil.wait_procs(children, timeout=10)
    assert alive == []


def test_that_a_damaged_cache_is_made_anew(small: Path, tmp_path: Path, no_leftovers) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / FILE_NAME).write_bytes(b"no database" * 1000)
    cache = ImageCache(tmp_path / "cache")
    found = all_of(scan_of(small, cache))
    assert len(found) == 8
    cache.close()
    assert ImageCache(tmp_path / "cache").find(small, "1.png", found["1.png"].state) == found["1.png"].facts


def test_that_without_a_place_for_the_cache_all_is_looked_at(
    small: Path, tmp_path: Path, no_leftovers
) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert len(all_of(scan_of(small, ImageCache(tmp_path / "file" / "cache")))) == 8


def test_that_the_cache_forgets_what_is_gone_and_never_fails(tmp_path: Path) -> None:
    cache, state = ImageCache(tmp_path), FileState(5, 7)
    facts = ImageFacts(content="ab" * 16, width=3, height=4)
    cache.remember(tmp_path, [("a.png", state, facts), ("b.png", state, facts)])
    cache.forget_others(tmp_path, ["b.png"])
    assert cache.find(tmp_path, "a.png", state) is None
    assert cache.find(tmp_path, "b.png", state) == facts
    assert cache.of_size(5) == {facts.content: facts}
    cache._connection.execute("UPDATE images SET facts = 'rubbish'")
    assert cache.find(tmp_path, "b.png", state) is None
    cache._connection.execute("DROP TABLE images")
    assert cache.find(tmp_path, "b.png", state) is None
    assert cache.of_size(5) == {}
    cache.remember(tmp_path, [("a.png", state, facts)])
    cache.forget_others(tmp_path, [])
    cache.close()


def test_that_facts_of_an_older_program_are_not_used(tmp_path: Path) -> None:
    cache, state = ImageCache(tmp_path), FileState(5, 7)
    cache.remember(tmp_path, [("a.png", state, ImageFacts(content="ab" * 16))])
    cache._connection.execute("PRAGMA user_version = 999")
    cache.close()
    assert ImageCache(tmp_path).find(tmp_path, "a.png", state) is None


def test_that_jobs_and_answers_survive_their_lines(tmp_path: Path) -> None:
    job = Job(tmp_path / os.fsdecode(b"\xff\n.png"), ("ab",))
    assert Job.read(job.line()) == job
    assert job.line().count(b"\n") == 1
    facts = ImageFacts(content="ab", reason="line\nbreak", width=1, height=2, sharpness=0.5)
    assert read_answer(answer_line(facts)) == facts
    assert answer_line(facts).count(b"\n") == 1
    assert read_answer(answer_line("abc")) == "abc"


CUTS = [
    pytest.param(suffix, how, share, id=f"{suffix}-{number}-{share}")
    for number, (suffix, how) in enumerate(
        [
            (".jpg", {}),
            (".jpg", {"progressive": True}),
            (".png", {}),
            (".webp", {}),
            (".webp", {"lossless": True}),
            (".bmp", {}),
        ]
    )
    for share in range(1, 10)
]


@pytest.fixture(scope="module")
def decoder():
    """Set this process up like one of a scan."""
    from PIL import Image

    before = Image.MAX_IMAGE_PIXELS
    prepare()
    yield
    Image.MAX_IMAGE_PIXELS = before


@pytest.mark.parametrize(("suffix", "how", "share"), CUTS)
def test_that_an_image_cut_at_any_tenth_is_found(suffix: str, how: dict, share: int, decoder) -> None:
    data = saved(picture(3, (320, 240)), suffix, **how)
    assert facts_of(data).fault is None
    assert facts_of(data[: len(data) * share // 10]).fault == "truncated"


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp", ".bmp"])
def test_that_a_lost_last_byte_is_found(suffix: str, decoder) -> None:
    data = saved(picture(3, (320, 240)), suffix)
    assert facts_of(data).whole
    facts = facts_of(data[:-1])
    assert facts.fault == "truncated" or not facts.whole


def test_that_a_webp_whose_end_is_zeros_is_not_whole(decoder) -> None:
    data = saved(picture(3, (320, 240)), ".webp")
    facts = facts_of(data[: len(data) // 2] + bytes(len(data) - len(data) // 2))
    assert not facts.whole
