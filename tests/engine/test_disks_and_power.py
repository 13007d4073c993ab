"""What kind of disk a path lies on, whether it answers, and how the machine is powered."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from gui.engine.hardware.disks import Disks
from gui.engine.hardware.power import power_facts

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="as Linux tells of its devices")


def device(root: Path, name: str, *, rotational: str, model: str = "") -> Path:
    """Make a disk as Linux shows it, and point the device that the test's files lie on to it."""
    disk = root / "devices" / name
    (disk / "queue").mkdir(parents=True)
    (disk / "queue/rotational").write_text(rotational)
    if model:
        (disk / "device").mkdir()
        (disk / "device/model").write_text(model)
    return disk


def known_as(root: Path, disk: Path, path: Path) -> None:
    number = path.stat().st_dev
    link = root / "dev/block" / f"{os.major(number)}:{os.minor(number)}"
    link.parent.mkdir(parents=True)
    link.symlink_to(disk)


def mounted(monkeypatch: pytest.MonkeyPatch, *mounts: tuple[str, str, str]) -> None:
    table = [
        SimpleNamespace(device=device, mountpoint=point, fstype=system) for device, point, system in mounts
    ]
    monkeypatch.setattr(psutil, "disk_partitions", lambda **how: table)


@linux
@pytest.mark.parametrize(
    ("name", "rotational", "model", "kind"),
    [
        ("sda", "1", "WDC WD40EZRZ", "rotational"),
        ("nvme0n1", "0", "", "solid"),
        ("sda", "1", "QEMU HARDDISK", None),
        ("vda", "1", "", None),
        ("vda", "0", "", "solid"),
        ("sda", "?", "", "solid"),
    ],
)
def test_that_a_disk_tells_whether_it_turns(tmp_path: Path, name, rotational, model, kind) -> None:
    known_as(tmp_path, device(tmp_path, name, rotational=rotational, model=model), tmp_path)
    place = Disks(tmp_path).place(tmp_path / "not" / "yet")
    assert (place.kind, place.answers) == (kind, True)
    assert place.free_bytes > 0


@linux
def test_that_a_partition_and_a_volume_have_it_from_their_disks(tmp_path: Path) -> None:
    disk = device(tmp_path, "sda", rotational="1")
    part = disk / "sda1"
    part.mkdir()
    (part / "partition").write_text("1")
    volume = device(tmp_path, "dm-0", rotational="0")
    (volume / "slaves").mkdir()
    (volume / "slaves/sda1").symlink_to(part)
    known_as(tmp_path, volume, tmp_path)
    assert Disks(tmp_path).place(tmp_path).kind == "rotational"


@linux
def test_that_a_disk_of_which_nothing_is_told_is_unknown(tmp_path: Path) -> None:
    assert Disks(tmp_path / "nothing").place(tmp_path).kind is None


@linux
def test_that_a_network_drive_is_one_and_is_asked_once_whether_it_answers(tmp_path, monkeypatch) -> None:
    mounted(monkeypatch, ("/dev/sda1", "/", "ext4"), ("nas:/x", str(tmp_path), "nfs4"))
    disks = Disks()
    assert disks.place(tmp_path / "a").kind == "network"
    assert disks.place(tmp_path / "b").answers
    assert disks.answers(Path("/elsewhere"))


@linux
def test_that_a_network_drive_that_hangs_is_not_waited_for(tmp_path: Path, monkeypatch) -> None:
    gone = tmp_path / "nas"
    mounted(monkeypatch, ("/dev/sda1", "/", "ext4"), ("nas:/x", str(gone), "cifs"))
    ended = threading.Event()
    real = os.stat

    def hanging(path, *more, **how):
        if str(path).startswith(str(gone)):
            ended.wait()
        return real(path, *more, **how)

    monkeypatch.setattr(os, "stat", hanging)
    disks = Disks(patience=0.05)
    place = disks.place(gone / "images")
    ended.set()
    assert place == ("network", False, None)
    assert disks.place(tmp_path).answers


@linux
def test_that_a_network_drive_that_is_not_there_answers_that(tmp_path: Path, monkeypatch) -> None:
    mounted(monkeypatch, ("nas:/x", str(tmp_path / "nas"), "nfs"))
    assert Disks().answers(tmp_path / "nas" / "images")


@linux
def test_that_a_system_without_a_table_of_mounts_has_no_network_drives(tmp_path, monkeypatch) -> None:
    def refuse(**how):
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil, "disk_partitions", refuse)
    assert Disks().place(tmp_path).answers


@linux
def test_that_a_file_system_of_its_own_number_has_it_from_its_mount(tmp_path: Path, monkeypatch) -> None:
    disk = device(tmp_path, "sdb", rotational="1")
    (tmp_path / "class/block").mkdir(parents=True)
    (tmp_path / "class/block/sdb").symlink_to(disk)
    mounted(monkeypatch, ("/dev/sdb", str(tmp_path), "btrfs"))
    monkeypatch.setattr(os, "major", lambda number: 0)
    assert Disks(tmp_path).place(tmp_path).kind == "rotational"


@pytest.fixture
def files(tmp_path: Path) -> Iterator[SimpleNamespace]:
    return SimpleNamespace(profile=tmp_path / "profile", logind=(tmp_path / "a.conf", tmp_path / "b.conf"))


@linux
@pytest.mark.parametrize(
    ("text", "plan"), [("low-power\n", "saver"), ("performance", "performance"), ("odd", None), (None, None)]
)
def test_that_the_power_profile_is_told(files, text, plan) -> None:
    if text is not None:
        files.profile.write_text(text)
    assert power_facts(files.profile, files.logind).plan == plan


@linux
@pytest.mark.parametrize(
    ("base", "own", "minutes"),
    [
        ("[Login]\nIdleAction=suspend\nIdleActionSec=1h 30min\n", "", 90),
        ("[Login]\nIdleAction=suspend\n", "", 30),
        ("[Login]\nIdleAction=suspend\nIdleActionSec=600\n", "[Login]\nIdleAction=ignore\n", None),
        ("[Login]\n#IdleAction=ignore\n", "no section", None),
        ("", "", None),
    ],
)
def test_that_the_time_until_the_machine_falls_asleep_is_told(files, base, own, minutes) -> None:
    files.logind[0].write_text(base)
    files.logind[1].write_text(own)
    assert power_facts(files.profile, files.logind).sleep_minutes == minutes


@linux
@pytest.mark.parametrize(("plugged", "on_battery"), [(True, False), (False, True), (None, None)])
def test_that_a_battery_is_told(files, monkeypatch, plugged, on_battery) -> None:
    monkeypatch.setattr(psutil, "sensors_battery", lambda: SimpleNamespace(power_plugged=plugged))
    assert power_facts(files.profile, files.logind).on_battery is on_battery


@linux
def test_that_a_battery_that_cannot_be_asked_is_unknown(files, monkeypatch) -> None:
    def refuse():
        raise OSError

    monkeypatch.setattr(psutil, "sensors_battery", refuse)
    assert power_facts(files.profile, files.logind).on_battery is None
