"""Runs in a trainer's own Python and writes down what it is and can do.

Standard library only, Python 3.8 and up. Called as ``python probe.py TASKS.json RESULTS.jsonl``
with the trainer's folder as working directory. Every stage writes a line when it begins and a
line when it ends, so that whoever reads knows which stage died or hangs, and loses nothing of
the others. Nothing is read from or written to the standard streams.
"""

import argparse
import importlib
import importlib.util
import json
import os
import sys
import traceback
import warnings
from pathlib import Path

PACKAGES = {
    # module: distributions that bring it, the usual one first
    "accelerate": ["accelerate"],
    "bitsandbytes": ["bitsandbytes", "bitsandbytes-windows"],
    "came_pytorch": ["came-pytorch"],
    "cv2": ["opencv-python", "opencv-python-headless", "opencv-contrib-python"],
    "dadaptation": ["dadaptation"],
    "deepspeed": ["deepspeed"],
    "diffusers": ["diffusers"],
    "flash_attn": ["flash-attn", "flash_attn"],
    "huggingface_hub": ["huggingface-hub"],
    "intel_extension_for_pytorch": ["intel-extension-for-pytorch"],
    "lion_pytorch": ["lion-pytorch"],
    "LoraEasyCustomOptimizer": ["LoraEasyCustomOptimizer"],
    "lycoris": ["lycoris-lora", "lycoris_lora"],
    "numpy": ["numpy"],
    "onnxruntime": ["onnxruntime", "onnxruntime-gpu"],
    "optimum": ["optimum", "optimum-quanto"],
    "pillow_avif": ["pillow-avif-plugin"],
    "pillow_jxl": ["pillow-jxl-plugin"],
    "prodigyopt": ["prodigyopt"],
    "prodigyplus": ["prodigy-plus-schedule-free"],
    "pytorch_optimizer": ["pytorch-optimizer", "pytorch_optimizer"],
    "safetensors": ["safetensors"],
    "sageattention": ["sageattention"],
    "schedulefree": ["schedulefree"],
    "tensorboard": ["tensorboard"],
    "tensorflow": ["tensorflow"],
    "torch": ["torch"],
    "torchao": ["torchao"],
    "torchvision": ["torchvision"],
    "transformers": ["transformers"],
    "triton": ["triton", "triton-windows", "pytorch-triton-rocm"],
    "wandb": ["wandb"],
    "xformers": ["xformers"],
}


def probe_python():
    return {
        "version": ".".join(map(str, sys.version_info[:3])),
        "platform": sys.platform,
        "prefix": sys.prefix,
        "executable": sys.executable,
    }


def probe_packages():
    try:
        from importlib import metadata
    except ImportError:
        metadata = None
    found = {}
    for module, distributions in PACKAGES.items():
        try:
            spec = importlib.util.find_spec(module)
        except (ImportError, ValueError, AttributeError):
            continue
        # A folder without __init__.py is no package: wandb leaves one named "wandb" in the checkout.
        if spec is None or spec.origin is None:
            continue
        found[distributions[0]] = version_of(distributions, metadata)
    return found


def probe_modules():
    """Name what can be imported; None where this Python cannot tell."""
    from importlib import metadata

    if not hasattr(metadata, "packages_distributions") or not hasattr(sys, "stdlib_module_names"):
        return None
    names = set(sys.stdlib_module_names) | set(metadata.packages_distributions())
    names |= {entry.stem for entry in Path.cwd().iterdir() if entry.is_dir() or entry.suffix == ".py"}
    return sorted(name for name in names if name.isidentifier())


def version_of(distributions, metadata):
    for name in distributions if metadata else ():
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def probe_torch():
    import torch

    return {
        "version": str(torch.__version__),
        "cuda": torch.version.cuda,
        "hip": getattr(torch.version, "hip", None),
    }


def probe_gpus():
    import torch

    facts = {"backend": "cpu", "arch_list": [], "gpus": []}
    mps = getattr(getattr(torch, "backends", None), "mps", None)
    if torch.cuda.is_available():
        facts["backend"] = "rocm" if getattr(torch.version, "hip", None) else "cuda"
        facts["arch_list"] = list(torch.cuda.get_arch_list())
        facts["gpus"] = [probe_gpu(torch, index) for index in range(torch.cuda.device_count())]
    elif hasattr(torch, "xpu") and torch.xpu.is_available():
        facts["backend"] = "xpu"
    elif mps is not None and mps.is_available():
        facts["backend"] = "mps"
    return facts


def probe_gpu(torch, index):
    properties = torch.cuda.get_device_properties(index)
    amd = bool(getattr(torch.version, "hip", None))
    uuid = getattr(properties, "uuid", None)
    facts = {
        "index": index,
        "name": properties.name,
        "uuid": None if uuid is None or amd else "GPU-" + str(uuid).replace("GPU-", "", 1),
        "capability": None if amd else f"{properties.major}.{properties.minor}",
        "total_bytes": properties.total_memory,
        # torch's own answer counts emulation as support on older cards
        "bf16": torch.cuda.is_bf16_supported() if amd else properties.major >= 8,
        "usable": None,
        "problem": None,
    }
    try:
        kind = torch.bfloat16 if facts["bf16"] else torch.float16
        ones = torch.ones(16, 16, dtype=kind, device=f"cuda:{index}")
        facts["usable"] = float((ones @ ones).sum().item()) == 16.0**3
    except Exception as error:  # noqa: BLE001 - whatever a driver says is the fact that is wanted
        facts["problem"] = first_line(error)
        facts["usable"] = None if "out of memory" in str(error) else False
    return facts


def probe_module(name):
    """Import a package that only some trainings use: one that is there may still be broken."""
    if importlib.util.find_spec(name) is None:
        return {"there": False}
    module = importlib.import_module(name)
    return {"there": True, "cuda": has_cuda(module) if name == "bitsandbytes" else None}


def has_cuda(bitsandbytes):
    """Return whether its library for CUDA was found; None where this version does not tell."""
    extension = importlib.import_module(bitsandbytes.__name__ + ".cextension")
    told = getattr(getattr(extension, "lib", None), "compiled_with_cuda", None)
    return getattr(extension, "COMPILED_WITH_CUDA", None) if told is None else bool(told)


def probe_script(name):
    sys.argv = [name]
    module = importlib.import_module(name[: -len(".py")].replace("/", "."))
    return describe_parser(module.setup_parser())


def describe_parser(parser):
    groups = {}
    for group in parser._action_groups:
        for action in group._group_actions:
            groups[id(action)] = group.title
    return [describe_action(parser, action, groups.get(id(action))) for action in parser._actions]


def describe_action(parser, action, group):
    kind = action.type
    return {
        "flags": list(action.option_strings),
        "dest": action.dest,
        "nargs": action.nargs,
        "type": None if kind is None else getattr(kind, "__name__", type(kind).__name__),
        "default": plain(action.default),
        "choices": None if action.choices is None else [plain(choice) for choice in action.choices],
        "const": plain(action.const),
        "action": type(action).__name__,
        "required": bool(action.required),
        "metavar": plain(action.metavar),
        "group": group,
        "help": help_of(parser, action),
    }


def help_of(parser, action):
    if not action.help or action.help == argparse.SUPPRESS:
        return ""
    try:
        return parser._get_formatter()._expand_help(action)
    except Exception:  # noqa: BLE001 - a help text with a stray "%" is still a help text
        return str(action.help)


def plain(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value)


def describe_failure(error, root):
    cause = error
    while cause is not None and not isinstance(cause, ModuleNotFoundError):
        cause = cause.__cause__
    missing = cause.name.split(".")[0] if cause is not None and cause.name else None
    if missing and ((root / missing).exists() or (root / f"{missing}.py").exists()):
        missing = None  # a part of the checkout itself is gone, not a package
    return {
        "exception": "exit" if isinstance(error, SystemExit) else type(error).__name__,
        "message": first_line(error),
        "missing": missing,
        "where": where(error, root),
    }


def first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:500] if lines else ""


def where(error, root):
    inside = None
    for frame in traceback.extract_tb(error.__traceback__):
        path = Path(frame.filename)
        if root in path.parents:
            inside = f"{path.relative_to(root).as_posix()}:{frame.lineno}"
    return inside


def silence():
    """Point the standard streams at nothing, also for libraries that write to the descriptors."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    warnings.simplefilter("ignore")


def run_stage(stage):
    fixed = {
        "python": probe_python,
        "packages": probe_packages,
        "modules": probe_modules,
        "torch": probe_torch,
        "gpus": probe_gpus,
    }
    if stage in fixed:
        return fixed[stage]()
    return probe_script(stage) if stage.endswith(".py") else probe_module(stage)


def main(tasks, results):
    stages = json.loads(Path(tasks).read_text(encoding="utf-8"))["stages"]
    root = Path.cwd()
    sys.path[0] = str(root)  # instead of this program's own folder, as if the script itself were run
    silence()
    with Path(results).open("a", encoding="utf-8") as file:

        def write(line):
            file.write(json.dumps(line) + "\n")
            file.flush()

        for stage in stages:
            write({"stage": stage, "state": "begin"})
            try:
                write({"stage": stage, "state": "end", "result": run_stage(stage)})
            except BaseException as error:  # noqa: BLE001 - also the exit of a script is a fact
                write({"stage": stage, "state": "failed", "error": describe_failure(error, root)})


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
    os._exit(0)  # threads and exit handlers of the imported libraries have nothing to add
