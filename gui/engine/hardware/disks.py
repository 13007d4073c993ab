"""What kind of disk a path lies on, and whether it answers: a network drive may hang for good.

The table of mounts is read first, which touches no disk; only a network drive is asked whether it answers.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import psutil

from gui.engine.patience import within

DiskKind = Literal["solid", "rotational", "network"]

NETWORK_SYSTEMS = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afs", "ncpfs", "webdav", "davfs"),
        *("ceph", "glusterfs", "lustre", "beegfs", "gpfs", "ocfs2", "orangefs", "9p", "virtiofs", "drvfs"),
        *("fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.davfs"),
    }
)
"""File systems behind which there is a network, or another system (WSL, virtual machines)."""

ANSWER_SECONDS = 2.0
"""A network drive that has not answered by then counts as gone."""

SYS = Path("/sys")

VIRTUAL = re.compile(r"vd|xvd|loop|zram|ram|nbd|rbd|sr|fd")
"""Devices that are no disks of this machine: what they say about turning is a default (virtio says yes)."""

VIRTUAL_MODELS = re.compile(r"qemu|vbox|virtual|vmware|persistentdisk|msft", re.IGNORECASE)
"""Models of disks that a virtual machine is given."""


class DiskPlace(NamedTuple):
    """Where a path lies.

    Attributes:
        kind: What the disk is; None where the system does not tell.
        answers: Whether it answers.
        free_bytes: What may still be written there; None where that is not known.
    """

    kind: DiskKind | None
    answers: bool
    free_bytes: int | None


@dataclass(frozen=True)
class _Mount:
    """One row of the table of mounts."""

    point: str
    device: str
    system: str


class Disks:
    """Looks at the disks of several paths; each disk is asked once, so make a new one for each look.

    Args:
        devices: Where Linux tells of its devices.
        patience: Seconds that a network drive has for its answer.
    """

    def __init__(self, devices: Path = SYS, patience: float = ANSWER_SECONDS) -> None:
        self._devices = devices
        self._patience = patience
        self._mounts = _mounts()
        self._answers: dict[str, bool] = {}
        self._kinds: dict[tuple[str, int], DiskKind | None] = {}

    def place(self, path: Path) -> DiskPlace:
        """Return where a path lies, which need not exist yet.

        Args:
            path: Absolute.
        """
        network = self._network(path)
        if network is not None and not self.answers(path):
            return DiskPlace("network", answers=False, free_bytes=None)
        there = _nearest(path)
        if there is None:
            return DiskPlace("network" if network else None, answers=True, free_bytes=None)
        return DiskPlace("network" if network else self._kind(there), answers=True, free_bytes=_free(there))

    def answers(self, path: Path) -> bool:
        """Return whether the disk of a path answers; quick for all but network drives."""
        root = self._network(path)
        if root is None:
            return True
        if root not in self._answers:
            try:
                within(self._patience, lambda: os.stat(root))  # noqa: PTH116 - a root such as \\server\share
                self._answers[root] = True
            except TimeoutError:
                self._answers[root] = False
            except (OSError, ValueError):
                self._answers[root] = True  # it says that there is nothing, and so it answers
        return self._answers[root]

    def _network(self, path: Path) -> str | None:
        """Return the root of the network drive that a path lies on; None for a disk of this machine."""
        if sys.platform == "win32":
            return _windows_network(path)  # pragma: no cover - Windows only
        mount = self._mount(path)
        return mount.point if mount and mount.system in NETWORK_SYSTEMS else None

    def _mount(self, path: Path) -> _Mount | None:
        wanted = os.path.normpath(path)
        around = [
            mount
            for mount in self._mounts
            if wanted == mount.point or wanted.startswith(mount.point.rstrip("/") + "/")
        ]
        return max(around, key=lambda mount: len(mount.point), default=None)

    def _kind(self, there: Path) -> DiskKind | None:
        mount = self._mount(there)
        with contextlib.suppress(OSError, ValueError):
            device = there.stat().st_dev
            key = (mount.device if mount else there.anchor, device)
            if key not in self._kinds:
                self._kinds[key] = self._ask_kind(there, device, mount)
            return self._kinds[key]
        return None

    def _ask_kind(self, there: Path, device: int, mount: _Mount | None) -> DiskKind | None:
        if sys.platform == "win32":
            return _windows_kind(there)  # pragma: no cover - Windows only
        if not sys.platform.startswith("linux"):
            return None
        major, minor = os.major(device), os.minor(device)
        # btrfs, overlays and the like have a number of their own; their mount names the real device.
        places = [self._devices / "dev/block" / f"{major}:{minor}"] if major else []
        if mount is not None and mount.device.startswith("/dev/"):
            places.append(self._devices / "class/block" / os.path.basename(os.path.realpath(mount.device)))  # noqa: PTH119
        for place in places:
            rotates = _rotates(place)
            if rotates is not None:
                return "rotational" if rotates else "solid"
        return None


def _mounts() -> tuple[_Mount, ...]:
    """Return the mounts of this system; the later ones of the same place hide the earlier."""
    if sys.platform == "win32":
        return ()  # pragma: no cover - Windows only
    try:
        found = psutil.disk_partitions(all=True)
    except (OSError, psutil.Error, ValueError):
        return ()
    return tuple(
        {each.mountpoint: _Mount(each.mountpoint, each.device, each.fstype) for each in found}.values()
    )


def _nearest(path: Path) -> Path | None:
    """Return the path, or the nearest folder above it that is there."""
    for place in (path, *path.parents):
        try:
            if place.exists():
                return place
        except (OSError, ValueError):
            return None
    return None


def _free(there: Path) -> int | None:
    try:
        return shutil.disk_usage(there).free
    except (OSError, ValueError):
        return None


def _rotates(place: Path) -> bool | None:
    """Return what the disk of a block device says; a partition has it from its disk.

    A device made of several (RAID, LVM, encryption) turns when one of them does.
    """
    try:
        device = place.resolve(strict=True)
        disk = device.parent if (device / "partition").exists() else device
        parts = [_rotates(part) for part in (disk / "slaves").glob("*")]
        if parts:
            return True if True in parts else None if None in parts else False
        turns = (disk / "queue/rotational").read_text("ascii").strip() == "1"
        return None if turns and _is_virtual(disk) else turns
    except (OSError, ValueError):
        return None


def _is_virtual(disk: Path) -> bool:
    if VIRTUAL.match(disk.name):
        return True
    try:
        return bool(VIRTUAL_MODELS.search((disk / "device/model").read_text("ascii", "replace")))
    except OSError:
        return False


def _windows_network(path: Path) -> str | None:  # pragma: no cover - Windows only
    r"""Return ``\\server\share\`` or the drive that is mapped to one."""
    import ctypes

    anchor = path.anchor
    if anchor.startswith("\\\\"):
        return None if anchor.startswith(("\\\\?\\", "\\\\.\\")) else anchor
    remote = 4
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
    return anchor if anchor and kernel.GetDriveTypeW(ctypes.c_wchar_p(anchor)) == remote else None


def _windows_kind(there: Path) -> DiskKind | None:  # pragma: no cover - Windows only
    """Ask a drive whether it has to seek (IOCTL_STORAGE_QUERY_PROPERTY, StorageDeviceSeekPenaltyProperty)."""
    import ctypes
    import struct

    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
    kernel.CreateFileW.restype = ctypes.c_void_p
    share_all, open_existing, query_property, seek_penalty = 0x7, 3, 0x2D1400, 7
    name = ctypes.c_wchar_p(f"\\\\.\\{there.drive}")
    handle = ctypes.c_void_p(kernel.CreateFileW(name, 0, share_all, None, open_existing, 0, None))
    if handle.value in (None, ctypes.c_void_p(-1).value):
        return None
    try:
        question = struct.pack("<III", seek_penalty, 0, 0)
        answer, length = ctypes.create_string_buffer(12), ctypes.c_uint32()
        asked = (handle, query_property, question, len(question), answer, len(answer))
        if not kernel.DeviceIoControl(*asked, ctypes.byref(length), None):
            return None
        return "rotational" if answer.raw[8] else "solid"
    finally:
        kernel.CloseHandle(handle)
