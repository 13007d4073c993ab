"""Finds out what an installed trainer is and can do, by asking its own Python; remembers the answer."""

from __future__ import annotations

import hashlib
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from gui.engine.errors import TrainerBroken
from gui.engine.resources import resource_path
from gui.engine.texts import _
from gui.engine.trainer.accelerate_config import accelerate_config
from gui.engine.trainer.checkout import card_of, commit_of, training_scripts, version_of
from gui.engine.trainer.facts import GpuSeen, ImportFailure, ScriptFacts, TrainerFacts
from gui.engine.trainer.installs import TrainerInstall
from gui.engine.trainer.interpreters import package_folders, prefix_of
from gui.engine.trainer.probe_run import PATIENCE_SECONDS, PROBE, ProbeRun
from gui.engine.trainer.remembered import recall, remember
from gui.engine.trainer.stage_run import Progress

_DRIVER = Path("/proc/driver/nvidia/version")
_WINDOWS_DRIVER = Path(os.environ.get("SYSTEMROOT", "C:/Windows")) / "System32" / "nvcuda.dll"
_OPTIONAL = {
    "bitsandbytes": "bitsandbytes",
    "dadaptation": "dadaptation",
    "lion_pytorch": "lion-pytorch",
    "lycoris": "lycoris-lora",
    "prodigyopt": "prodigyopt",
    "prodigyplus": "prodigy-plus-schedule-free",
    "pytorch_optimizer": "pytorch-optimizer",
    "schedulefree": "schedulefree",
    "xformers": "xformers",
}
"""Modules that only some trainings import, late and after caching, and their distributions."""

_PACKAGE_OF = {
    "cv2": "opencv-python",
    "PIL": "Pillow",
    "yaml": "PyYAML",
    "open_clip": "open_clip_torch",
    "lion_pytorch": "lion-pytorch",
    "pytorch_lightning": "pytorch-lightning",
    "google": "protobuf",
}
"""Packages whose module is called otherwise, of those that the trainer imports."""


def probe(
    install: TrainerInstall,
    cache: Path,
    *,
    refresh: bool = False,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    patience: float = PATIENCE_SECONDS,
) -> TrainerFacts:
    """Return the facts about a trainer, from the cache where nothing has changed since.

    Args:
        install: The trainer and its Python.
        cache: The home's cache folder.
        refresh: Ask again even if the cache is fresh.
        progress: Told what is being looked at, how much is done and how much there is.
        cancelled: Asked often; True ends the probe.
        patience: Seconds that one import may take.

    Raises:
        TrainerBroken: It cannot train at all; the sentence names what is missing.
        Cancelled: The caller asked for it.
    """
    scripts = training_scripts(install.root)
    if not scripts:
        raise TrainerBroken(install.root, install.python, _("it has no training script"))
    commit = commit_of(install.root)
    place = _place(install, cache)
    key = _fingerprint(install, commit, scripts)
    facts = None if refresh else recall(place, key, TrainerFacts)
    if facts is None:
        stages = ("python", "packages", "modules", "torch", *scripts, "gpus", *_OPTIONAL)
        run = ProbeRun(install, stages, progress=progress, cancelled=cancelled, patience=patience)
        run.run()
        facts = _facts_from(install, commit, scripts, run)
        remember(place, key, facts)
    return facts.model_copy(update={"accelerate": accelerate_config()})


def remembered_facts(install: TrainerInstall, cache: Path) -> TrainerFacts | None:
    """Return what is known about a trainer without asking it; None when it has changed or was never asked.

    Args:
        install: The trainer and its Python.
        cache: The home's cache folder.
    """
    return recall(_place(install, cache), state_of(install), TrainerFacts)


def state_of(install: TrainerInstall) -> str:
    """Return a digest of everything whose change may change what is known about a trainer."""
    return _fingerprint(install, commit_of(install.root), training_scripts(install.root))


def require_torch(install: TrainerInstall, facts: TrainerFacts) -> None:
    """Refuse a trainer that could be asked but cannot train.

    Raises:
        TrainerBroken: torch is missing or cannot be imported.
    """
    if facts.torch is None:
        if facts.torch_problem:
            raise TrainerBroken(install.root, install.python, facts.torch_problem)
        raise _lacks(install, "torch")


def _lacks(install: TrainerInstall, package: str) -> TrainerBroken:
    return TrainerBroken(install.root, install.python, missing=package, own=install.practice)


def _facts_from(
    install: TrainerInstall, commit: str | None, scripts: tuple[str, ...], run: ProbeRun
) -> TrainerFacts:
    failures = {script: run.failures[script] for script in scripts if script in run.failures}
    if len(failures) == len(scripts):
        raise _broken(install, [run.failures[s] for s in ("torch", *scripts) if s in run.failures])
    python, torch, devices = (run.results.get(stage, {}) for stage in ("python", "torch", "gpus"))
    no_torch = run.failures.get("torch")
    card = card_of(install.root)
    return TrainerFacts(
        schema=1,
        root=str(install.root),
        python=str(install.python),
        name=card.name,
        commit=commit,
        version=version_of(install.root, commit),
        python_version=python.get("version", ""),
        platform=python.get("platform", ""),
        torch=torch.get("version"),
        torch_problem=_words_of(no_torch) if no_torch and not no_torch.missing else None,
        cuda=torch.get("cuda"),
        hip=torch.get("hip"),
        backend=devices.get("backend", "cpu"),
        arch_list=tuple(devices.get("arch_list", ())),
        gpus=tuple(GpuSeen.model_validate(gpu) for gpu in devices.get("gpus", ())),
        packages=run.results.get("packages", {}),
        unusable={} if no_torch else dict(_unusable(run, devices.get("backend"))),
        modules=run.results.get("modules"),
        scripts={script: _script_facts(script, run) for script in scripts},
        problems=tuple(_problems(failures, run.failures)),
    )


def _unusable(run: ProbeRun, backend: str | None) -> Iterator[tuple[str, str]]:
    """Yield the packages that are installed and do not work, and why."""
    for module, distribution in _OPTIONAL.items():
        if module in run.failures:
            yield distribution, _words_of(run.failures[module])
        elif backend == "cuda" and run.results.get(module, {}).get("cuda") is False:
            yield distribution, _("it has no library for this CUDA")


def _script_facts(script: str, run: ProbeRun) -> ScriptFacts:
    if script in run.failures:
        return ScriptFacts(error=run.failures[script])
    return ScriptFacts.model_validate({"arguments": run.results[script]})


def _broken(install: TrainerInstall, failures: list[ImportFailure]) -> TrainerBroken:
    """Make one sentence of many failures: the package that most of them lack, or the first reason."""
    missing = Counter(failure.missing for failure in failures if failure.missing)
    if missing:
        module = "torch" if "torch" in missing else missing.most_common(1)[0][0]
        return _lacks(install, _PACKAGE_OF.get(module, module))
    return TrainerBroken(install.root, install.python, _words_of(failures[0]))


def _problems(scripts: Mapping[str, ImportFailure], stages: Mapping[str, ImportFailure]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for script, failure in scripts.items():
        by_reason.setdefault(_words_of(failure), []).append(script)
    for reason, names in by_reason.items():
        yield _("{scripts} cannot be used: {reason}").format(scripts=", ".join(names), reason=reason)
    if "torch" in stages:
        yield _("torch cannot be used: {reason}").format(reason=_words_of(stages["torch"]))
    if "gpus" in stages and "torch" not in stages:
        yield _("the GPUs cannot be asked: {reason}").format(reason=_words_of(stages["gpus"]))


def _words_of(failure: ImportFailure) -> str:
    if failure.missing:
        name = _PACKAGE_OF.get(failure.missing, failure.missing)
        return _("the package “{name}” is missing").format(name=name)
    sentences = {
        "crash": _("its Python crashes on import: {message}"),
        "hang": _("its Python does not finish the import: {message}"),
        "exit": _("it ends itself on import: {message}"),
    }
    sentence = sentences.get(failure.exception, "{exception}: {message}")
    words = sentence.format(exception=failure.exception, message=failure.message)
    return f"{words} ({failure.where})" if failure.where else words


def _fingerprint(install: TrainerInstall, commit: str | None, scripts: tuple[str, ...]) -> str:
    """Return a digest of everything whose change may change the facts.

    An update of the checkout, a package installed into the environment, another driver or
    machine, and a newer version of the probe itself all make it another one.
    """
    root = install.root
    watched = [root / script for script in scripts]
    watched += sorted((root / "library").glob("*.py"))
    watched += [root / "README.md", *package_folders(install.python), *_user_packages()]
    watched += [install.python, prefix_of(install.python) / "pyvenv.cfg", _WINDOWS_DRIVER]
    parts = [commit or "", resource_path(*PROBE).read_text("utf-8"), platform.node()]
    parts += [os.environ.get("CUDA_VISIBLE_DEVICES", ""), _driver_of_linux()]
    for path in watched:
        try:
            status = path.stat()
            parts.append(f"{path} {status.st_mtime_ns} {status.st_size}")
        except OSError:
            parts.append(str(path))
    return _digest(*parts)


def _driver_of_linux() -> str:
    """Return the driver's version and GPUs; files of /proc have no time that could tell a change."""
    try:
        return _DRIVER.read_text("utf-8", "replace") + str(sorted((_DRIVER.parent / "gpus").glob("*")))
    except OSError:
        return ""


def _user_packages() -> list[Path]:
    """``pip install --user`` puts packages where every Python of the same version finds them."""
    linux = Path.home().glob(".local/lib/python3*/site-packages")
    windows = (Path(os.environ.get("APPDATA") or Path.home()) / "Python").glob("Python3*/site-packages")
    return sorted([*linux, *windows])


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _place(install: TrainerInstall, cache: Path) -> Path:
    return cache / "trainers" / f"{_digest(str(install.root), str(install.python))[:16]}.json"
