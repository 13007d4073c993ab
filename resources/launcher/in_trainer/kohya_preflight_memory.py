"""Writes down what the trainer's torch needs of each GPU, phase by phase, and changes nothing else.

It runs in the trainer's interpreter: standard library only, Python 3.8 and up, and the trainer's torch
only once the trainer itself has imported it. It begins when torch is first asked for, in a thread that
looks four times a second at counters which the allocator keeps anyway: nothing waits for the GPU, nothing
is printed, and every fault of its own ends in silence.

``<run folder>/memory.jsonl`` gets a row when a phase ends, when figures have grown, and at the exit:

    {"t", "phase", "event", "pid", "device", "uuid", "allocated_peak", "reserved_peak", "allocated",
     "reserved", "retries", "ooms", "peaks"}

Bytes; ``t`` in seconds since the trainer started; ``event`` is ``grown``, ``phase``, ``exit``, or
``no-cuda`` where torch has no CUDA or did not use it (then without figures); ``peaks`` says since when
the peaks count: ``phase`` or, where the trainer reads them too and they must not be reset, ``process``.
The supervisor writes the phase into ``phase.txt`` beside it.
"""

# No fault of the hook may reach the trainer. Only what every interpreter has loaded is imported at once;
# the rest when the trainer loads torch, which needs all of it too.
# ruff: noqa: BLE001, PTH100, PTH112, PTH116, PTH118, PTH120, PTH123

import os
import sys
import time

FOLDER_VARIABLE = "KOHYA_PREFLIGHT_RUN"
LOOK_SECONDS = 0.25
ROW_SECONDS = 1.0
NOTICEABLE = 0.01
"""Growth that is worth a row."""
MOST_FAULTS = 20
FIGURES = {
    "allocated_peak": "allocated_bytes.all.peak",
    "reserved_peak": "reserved_bytes.all.peak",
    "allocated": "allocated_bytes.all.current",
    "reserved": "reserved_bytes.all.current",
    "retries": "num_alloc_retries",
    "ooms": "num_ooms",
}
READS_PEAKS = rb"\b(?:(?:reset_)?max_memory_\w+|reset_peak_memory_stats|memory_(?:stats|summary)\w*)\s*\("
OWN_PROGRAM = b"\nif __name__ =="


def begin(place):
    """Wait for torch, if this process belongs to a run.

    Args:
        place: The folder on PYTHONPATH that this came from.
    """
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder and os.path.isdir(folder):
        sys.meta_path.insert(0, TorchWatch(Hook(folder), place))


def is_training_script():
    """Whether this process runs a script, as the trainer's are; not a module, a worker or a ``-c``."""
    main = sys.modules.get("__main__")
    if getattr(main, "__file__", None) is None or main.__name__ != "__main__" or main.__spec__ is not None:
        return False
    process = sys.modules.get("multiprocessing.process")
    return process is None or process.parent_process() is None


class TorchWatch:
    """Sees the first wish for torch; finds no module itself.

    It stays where it is: taking it out while another thread imports could make that import fail.
    """

    def __init__(self, hook, place):
        self.hook = hook
        self.place = place

    def find_spec(self, name, path=None, target=None):
        if name == "torch" and self.hook is not None:
            hook = self.hook
            try:
                if is_training_script():
                    self.hook = None
                    self.leave_environment()
                    hook.start()
            except Exception:
                pass
        return None

    def leave_environment(self):
        """Hand nothing down: what a training starts is no training."""
        places = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        kept = [place for place in places if place and os.path.abspath(place) != self.place]
        if kept:
            os.environ["PYTHONPATH"] = os.pathsep.join(kept)
        else:
            os.environ.pop("PYTHONPATH", None)


class Hook:
    """Looks and writes. Each look may fail; after twenty that did it looks no more."""

    def __init__(self, folder):
        self.folder = folder
        self.pid = os.getpid()
        self.phase = "loading"
        self.phase_mark = None
        self.started = None
        self.devices = None
        self.devices_seen = 0
        self.may_reset = None
        self.row_at = 0.0
        self.written = {}
        self.told_none = False

    def start(self):
        import atexit
        import threading

        self.pid = os.getpid()
        self.over, self.busy = threading.Event(), threading.Lock()
        atexit.register(self.end)
        threading.Thread(target=self.run, name="kohya-preflight-memory", daemon=True).start()

    def run(self):
        faults = 0
        while faults < MOST_FAULTS and not self.over.wait(LOOK_SECONDS):
            try:
                with self.busy:
                    self.look()
            except Exception:
                faults += 1

    def end(self):
        """Write the last rows. Runs when the interpreter ends, also after an exception."""
        if os.getpid() != self.pid:
            return
        self.over.set()
        if not self.busy.acquire(timeout=1.0):
            return
        try:
            torch = self.torch()
            if torch is not None:
                for device, figures in self.figures(torch):
                    self.add("exit", device, figures)
            elif "torch" in sys.modules:
                self.tell_none()
        except Exception:
            pass
        finally:
            self.busy.release()

    def look(self):
        torch, phase = self.torch(), self.read_phase()
        if torch is None:
            self.phase = phase
            if is_without_cuda():
                self.tell_none()
            return
        devices = self.figures(torch)
        if self.devices_seen < len(devices):  # what was taken since the last look is of the phase of now
            self.devices_seen, self.phase = len(devices), phase
        if phase != self.phase:
            for device, figures in devices:
                self.add("phase", device, figures)
            self.phase, self.written = phase, {}
            self.reset(torch, devices)
        elif time.monotonic() >= self.row_at + ROW_SECONDS:
            for device, figures in devices:
                if self.has_grown(device, figures):
                    self.add("grown", device, figures)

    def tell_none(self):
        if not self.told_none:
            self.told_none = True
            self.add("no-cuda", None, {})

    @staticmethod
    def torch():
        """Return the torch that the trainer imported, once its CUDA is at work; never begins that."""
        torch = sys.modules.get("torch")
        cuda = getattr(torch, "cuda", None)
        ready = getattr(cuda, "is_initialized", None)
        return torch if ready is not None and ready() else None

    def figures(self, torch):
        """Return the figures of each device that this process uses."""
        if self.devices is None:
            self.devices = torch._C._cuda_getDeviceCount()
        found = []
        for device in range(self.devices):
            stats = torch.cuda.memory_stats(device)
            figures = {name: int(stats.get(key, 0)) for name, key in FIGURES.items()}
            if figures["reserved_peak"] or figures["ooms"]:
                found.append((device, figures))
        return found

    def has_grown(self, device, figures):
        before = self.written.get(device)
        if before is None or (before["retries"], before["ooms"]) != (figures["retries"], figures["ooms"]):
            return True
        least = 1.0 + NOTICEABLE
        peaks = any(figures[name] > before[name] * least for name in ("allocated_peak", "reserved_peak"))
        low, high = sorted((figures["reserved"], before["reserved"]))
        return peaks or high > low * least

    def reset(self, torch, devices):
        """Let the peaks of the next phase count from now, unless the trainer reads them itself."""
        if self.may_reset is None:
            self.may_reset = not trainer_reads_peaks()
        if self.may_reset:
            for device, _ in devices:
                torch.cuda.reset_peak_memory_stats(device)

    def read_phase(self):
        """Return what the supervisor last wrote."""
        path = os.path.join(self.folder, "phase.txt")
        try:
            facts = os.stat(path)
            mark = (facts.st_mtime_ns, facts.st_ino)
            if mark == self.phase_mark:
                return self.phase
            with open(path, encoding="ascii") as file:
                phase = file.read(40).strip()
        except (OSError, ValueError):
            return self.phase
        self.phase_mark = mark
        return phase or self.phase

    def add(self, event, device, figures):
        import json

        row = {"t": self.t(), "phase": self.phase, "event": event, "pid": self.pid, "device": device}
        row.update({"uuid": None}, **dict.fromkeys(FIGURES))
        row.update(figures)
        row["peaks"] = "process" if self.may_reset is False else "phase"
        if device is not None:
            row["uuid"] = uuid_of(device)
            self.written[device] = figures
        line = (json.dumps(row) + "\n").encode("ascii")
        mode = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        file = os.open(os.path.join(self.folder, "memory.jsonl"), mode, 0o666)
        try:
            os.write(file, line)
        finally:
            os.close(file)
        self.row_at = time.monotonic()

    def t(self):
        """Return seconds since the trainer started, None where its launcher has not noted when."""
        if self.started is None:
            import json

            try:
                with open(os.path.join(self.folder, "launcher.json"), "rb") as file:
                    self.started = json.loads(file.read().decode("ascii"))["started_boottime"]
            except (OSError, ValueError, KeyError, TypeError):
                return None
        clock = getattr(time, "CLOCK_BOOTTIME", None)
        now = time.monotonic() if clock is None else time.clock_gettime(clock)
        return round(now - self.started, 3)


def is_without_cuda():
    """Whether the trainer's torch was built for neither CUDA nor ROCm."""
    version = getattr(sys.modules.get("torch"), "version", None)
    return version is not None and getattr(version, "cuda", 0) is None and getattr(version, "hip", 0) is None


def uuid_of(device):
    """Return the device's lasting name, without ``GPU-``, where this torch tells it."""
    try:
        return str(sys.modules["torch"].cuda.get_device_properties(device).uuid)
    except Exception:
        return None


def trainer_reads_peaks():
    """Whether a module of the trainer's own, as far as it is loaded, asks for what a reset would change.

    What a module does only when it is run as a program of its own is left out.
    """
    import re

    script = os.path.abspath(sys.modules["__main__"].__file__)
    root = os.path.join(os.path.dirname(script), "")
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    for path in files:
        if not path or not os.path.abspath(path).startswith(root) or not path.endswith(".py"):
            continue
        with open(path, "rb") as file:
            source = b"\n" + file.read()
        is_main = os.path.abspath(path) == script
        if re.search(READS_PEAKS, source if is_main else source.split(OWN_PROGRAM, 1)[0]):
            return True
    return False
