"""Starts one training, waits for it, and notes how it ended, whoever else has died by then.

A program of its own: standard library only, Python 3.8 and up, run by the trainer's interpreter as
``python -I -S -X utf8 launcher.py`` in a session of its own. What to start comes as JSON on standard
input, so that neither a file nor a command line holds it; tokens come by environment and pass through:

    {"schema": 1, "command": [words], "cwd": path, "output": path, "folder": path}

It writes into ``folder``, each file in one step:

* ``launcher.json``: who the launcher and the trainer are (pid, boot id, start ticks), the trainer's
  process group and when it started, in seconds since the machine booted;
* ``exit.json``: the exit status (negative: the signal), when it ended, or why it could not be started.

The trainer leads a session and process group of its own, reads nothing, and appends both its streams to
``output``. When the launcher itself is killed the trainer trains on.
"""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

WINDOWS = os.name == "nt"
NOTE_BYTES = 4096
PR_SET_CHILD_SUBREAPER = 36
WRITE_ATTEMPTS = 60


def boottime():
    """Seconds since the machine booted; no clock that somebody can set."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


def boot_id():
    """Which boot this is: start ticks repeat after the next one."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def start_ticks(pid):
    """When a process started, as its kernel keeps it: tells it from a later one with the same pid."""
    if WINDOWS:
        return windows_start(pid)
    try:
        return int(Path("/proc", str(pid), "stat").read_bytes().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def windows_start(pid):
    """Milliseconds since 1970 at which a process was created."""
    import ctypes
    from ctypes import wintypes

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.OpenProcess.restype = wintypes.HANDLE
    kernel.OpenProcess.argtypes = (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)
    kernel.GetProcessTimes.argtypes = (wintypes.HANDLE,) + (ctypes.POINTER(wintypes.FILETIME),) * 4
    kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
    handle = kernel.OpenProcess(0x1000, False, pid)  # PROCESS_QUERY_LIMITED_INFORMATION
    if not handle:
        return None
    times = [wintypes.FILETIME() for _ in range(4)]
    known = kernel.GetProcessTimes(handle, *map(ctypes.byref, times))
    kernel.CloseHandle(handle)
    hundreds_of_ns = (times[0].dwHighDateTime << 32) | times[0].dwLowDateTime
    return round((hundreds_of_ns - 116444736000000000) / 10000) if known else None


def identity(pid):
    return {"pid": pid, "boot_id": boot_id(), "start_ticks": start_ticks(pid)}


def prepare_signals():
    """Outlive what ends the others, and hand nothing of that down.

    A caught signal is back at its default after exec, an ignored one stays ignored: so everything that
    was inherited as ignored (``nohup … &``) is reset, and what the launcher must survive is caught.
    """
    kept = {getattr(signal, name, None) for name in ("SIGPIPE", "SIGXFSZ", "SIGXFZ")}  # Popen resets these
    for number in signal.valid_signals():
        if number not in kept and signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: None)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())


def adopt_orphans():
    """On Linux, become the parent of what the trainer leaves behind, so that it stays findable."""
    with contextlib.suppress(Exception):
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Note:
    """A small file written in one step, its place on the disk taken beforehand.

    A trainer often dies because the disk is full: just then its exit status must not be lost.

    Raises:
        OSError: The place cannot be had.
    """

    def __init__(self, folder, name):
        self.path = Path(folder, name)
        self.reserved = Path(folder, "." + name + ".reserved")
        self._put(b" " * NOTE_BYTES, "wb")

    def write(self, document):
        content = json.dumps(document).encode("ascii").ljust(NOTE_BYTES - 1) + b"\n"
        for _ in range(WRITE_ATTEMPTS):
            try:
                self._put(content, "r+b" if self.reserved.exists() else "wb")
                self.reserved.replace(self.path)
            except OSError:
                time.sleep(1)
            else:
                return

    def _put(self, content, mode):
        with self.reserved.open(mode) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def reason_of(error, cwd):
    """Return one word for why the trainer could not be started."""
    if not Path(cwd).is_dir():
        return "no-folder"
    number, windows = getattr(error, "errno", None), getattr(error, "winerror", None)
    if number == errno.E2BIG or windows == 206:
        return "too-long"
    if number == errno.ENOEXEC or windows == 193:
        return "not-a-program"
    if number in (errno.ENOENT, errno.ENOTDIR):
        return "not-found"
    if number in (errno.EACCES, errno.EPERM):
        return "not-permitted"
    if number in (errno.ENOMEM, errno.EAGAIN):
        return "no-memory"
    if number in (errno.ENOSPC, errno.EROFS, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return "no-room"
    return "other"


def start(job):
    """Start the trainer.

    Raises:
        OSError, ValueError: It cannot be started, or its output cannot be written.
    """
    how = {"start_new_session": True}
    if WINDOWS:
        how = {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    with Path(job["output"]).open("ab", buffering=0) as output:
        return subprocess.Popen(
            job["command"],
            cwd=job["cwd"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            close_fds=True,
            **how,
        )


def outlive_orphans():
    """Stay as long as something that the trainer left behind lives."""
    while not WINDOWS:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def launch(job):
    """Start, wait, note. Returns the launcher's own exit status."""
    began = boottime()
    record = {"schema": 1, "status": None, "started_boottime": began, "boot_id": boot_id()}
    record.update(reason=None, error=None)
    note = Note(job["folder"], "exit.json")
    try:
        who = Note(job["folder"], "launcher.json")
        trainer = start(job)
    except (OSError, ValueError) as error:
        record.update(reason=reason_of(error, job["cwd"]), error=str(error)[:500])
        note.write(dict(record, ended_boottime=boottime(), ended=time.time()))
        return 1
    names = {"schema": 1, "launcher": identity(os.getpid()), "trainer": identity(trainer.pid)}
    who.write(dict(names, group=None if WINDOWS else trainer.pid, started_boottime=began))
    record["status"] = trainer.wait()
    note.write(dict(record, ended_boottime=boottime(), ended=time.time()))
    outlive_orphans()
    return 0


def main():
    prepare_signals()
    try:
        job = json.loads(sys.stdin.buffer.read().decode("ascii"))
    except ValueError:
        return 2  # whoever asked died in the middle of the sentence: nothing was started
    sys.stdin.close()
    adopt_orphans()
    return launch(job)


if __name__ == "__main__":
    sys.exit(main())
