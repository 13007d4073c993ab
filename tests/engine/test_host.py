"""What is known about the machine beside its GPUs."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from gui.engine.hardware import host as host_module
from gui.engine.hardware.host import HostMonitor, cpu_name, operating_system, usable_cpus
from gui.engine.runs.process_tree import TreeMemory

MIB = 1 << 20
GIB = 1 << 30


@pytest.fixture
def outside(tmp_path: Path) -> HostMonitor:
    return HostMonitor(tmp_path / "none", tmp_path / "none")


def test_that_the_facts_are_those_of_this_machine(outside: HostMonitor) -> None:
    facts = outside.facts()
    assert facts.os == operating_system()
    assert facts.ram_bytes == psutil.virtual_memory().total
    assert 1 <= facts.cpu_count == usable_cpus() <= (psutil.cpu_count() or 1)
    assert facts.os_version
    assert facts.boot_time > 0
    if facts.os != "windows":
        assert facts.commit_limit_bytes is None


def test_that_a_sample_holds_the_ram_of_the_run(outside: HostMonitor) -> None:
    alone = outside.sample()
    assert 0 < alone.ram_available_bytes <= alone.ram_total_bytes
    assert (alone.tree_rss_bytes, alone.tree_processes) == (None, None)
    sample = outside.sample(TreeMemory(rss_bytes=5 * GIB, pss_bytes=None, processes=4))
    assert (sample.tree_rss_bytes, sample.tree_processes) == (5 * GIB, 4)


def write(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"memory.{name}").write_text(f"{content}\n")


def test_that_the_limit_of_a_container_is_the_ram(tmp_path: Path) -> None:
    own = tmp_path / "cgroup"
    own.write_text("0::/\n")
    write(tmp_path, max=64 * MIB, current=40 * MIB, stat=f"anon {30 * MIB}\ninactive_file {8 * MIB}")
    monitor = HostMonitor(tmp_path, own)
    sample = monitor.sample()
    assert sample.ram_total_bytes == monitor.facts().ram_bytes == 64 * MIB
    assert sample.ram_available_bytes == 32 * MIB


def test_that_the_tightest_of_nested_limits_counts(tmp_path: Path) -> None:
    own = tmp_path / "cgroup"
    own.write_text("0::/user.slice/job\n")
    write(tmp_path / "user.slice", max=80 * MIB, current=70 * MIB)
    write(tmp_path / "user.slice/job", max="max", current=1 * MIB)
    sample = HostMonitor(tmp_path, own).sample()
    assert (sample.ram_total_bytes, sample.ram_available_bytes) == (80 * MIB, 10 * MIB)


def test_that_the_older_control_groups_are_understood(tmp_path: Path) -> None:
    own = tmp_path / "cgroup"
    own.write_text("12:cpu,memory:/docker/abc\n3:cpuset:/x\nnonsense\n")
    write(tmp_path / "memory", limit_in_bytes=9223372036854771712, usage_in_bytes=5)
    write(tmp_path / "memory/docker/abc", limit_in_bytes=50 * MIB, usage_in_bytes=60 * MIB, stat="rss x")
    sample = HostMonitor(tmp_path, own).sample()
    assert (sample.ram_total_bytes, sample.ram_available_bytes) == (50 * MIB, 0)


def test_that_a_limit_beyond_the_machine_is_none(tmp_path: Path) -> None:
    own = tmp_path / "cgroup"
    own.write_text("0::/\n")
    write(tmp_path, max=1 << 50)
    assert HostMonitor(tmp_path, own).sample().ram_total_bytes == psutil.virtual_memory().total


def test_that_the_processor_is_named(tmp_path: Path) -> None:
    listing = tmp_path / "cpuinfo"
    listing.write_text("processor : 0\nmodel name\t: Some CPU @ 3 GHz\n")
    assert cpu_name(listing) == "Some CPU @ 3 GHz"
    assert isinstance(cpu_name(tmp_path / "none"), str)
    listing.write_text("processor : 0\n")
    assert isinstance(cpu_name(listing), str)


@pytest.mark.parametrize(
    ("platform", "name"),
    [("win32", "windows"), ("darwin", "macos"), ("linux", "linux"), ("freebsd", "linux")],
)
def test_that_the_system_is_one_of_three(monkeypatch: pytest.MonkeyPatch, platform: str, name: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert operating_system() == name


def test_that_a_system_that_tells_little_is_no_error(
    monkeypatch: pytest.MonkeyPatch, outside: HostMonitor
) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(host_module.psutil, "swap_memory", refuse)
    monkeypatch.setattr(host_module.os, "sched_getaffinity", refuse, raising=False)
    assert outside.sample().swap_used_bytes == 0
    assert usable_cpus() >= 1
