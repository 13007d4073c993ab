"""What is added to the trainer's environment and what is taken out of it."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence

from gui.engine.findings import Finding, Fix
from gui.engine.plan.model import LaunchSettings
from gui.engine.redaction import ARGUMENT_OF_VARIABLE
from gui.engine.texts import _
from gui.engine.trainer.inherited import variables_to_set, variables_to_unset

OUTPUT_VARIABLES: Mapping[str, str] = {
    "PYTHONUNBUFFERED": "1",
    "PYTHONUTF8": "1",
    "PYTHONIOENCODING": "utf-8",
    "COLUMNS": "400",
}
"""Makes the output come at once, as UTF-8, and not cut at 80 columns (trainer-facts 7.1)."""

DISTURBING = (
    # Settings of accelerate that would win over, or add to, what its command line says.
    "ACCELERATE_*",
    # Left by another launcher: torch would wait for partners that never come.
    *("RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "NODE_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"),
    *("GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_*"),
    *("PMI_*", "PMIX_*", "OMPI_COMM_WORLD_*", "MV2_COMM_WORLD_*", "MPI_LOCALNRANKS"),
    # Changes of Python: an interpreter that waits for input at the end, asserts that do not check.
    *("PYTHONINSPECT", "PYTHONOPTIMIZE", "PYTHONSTARTUP", "PYTHONWARNINGS", "PYTHONCASEOK"),
    # Changes of the output that is read: bars switched off or slowed, colours in a file.
    *("TQDM_*", "FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE"),
)
"""Variables, with shell wildcards, that would change a run without standing in its record."""

TOKEN_VARIABLES = frozenset(ARGUMENT_OF_VARIABLE)


def added_variables(
    launch: LaunchSettings,
    gpu_uuids: Sequence[str],
    tokens: Mapping[str, str],
    environ: Mapping[str, str],
) -> dict[str, str]:
    """Return what is added to the trainer's environment, tokens included.

    Args:
        launch: The plan's settings, judged before. What it adds itself cannot change what the
            output needs.
        gpu_uuids: Of all devices, in NVML's order; empty where NVML does not tell.
        tokens: Variable to token.
        environ: What the trainer would inherit.
    """
    return {
        **variables_to_set(environ),
        **launch.env,
        **OUTPUT_VARIABLES,
        **_visible_devices(launch, gpu_uuids),
        **{name: token for name, token in tokens.items() if token},
    }


def removed_variables(environ: Mapping[str, str], added: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of inherited variables that would change the run, sorted.

    Args:
        environ: What the trainer would inherit.
        added: What is set anyway, and so need not be removed.
    """
    names = set(variables_to_unset(environ))
    for pattern in DISTURBING:
        names.update(fnmatch.filter(environ, pattern))
    return tuple(sorted(names - added.keys()))


def _visible_devices(launch: LaunchSettings, gpu_uuids: Sequence[str]) -> dict[str, str]:
    """Name devices so that CUDA's own order, by speed, cannot mix them up."""
    if not launch.gpu_ids:
        return {}
    chosen = [gpu_uuids[index] if gpu_uuids else str(index) for index in launch.gpu_ids]
    return {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": ",".join(chosen)}


def judge_environment(launch: LaunchSettings, gpu_uuids: Sequence[str]) -> Iterator[Finding]:
    """Say which GPUs are not here and which variables no system can hold."""
    count = len(gpu_uuids)
    wrong = [index for index in launch.gpu_ids if index < 0 or (count and index >= count)]
    if wrong or len(set(launch.gpu_ids)) != len(launch.gpu_ids):
        yield Finding(
            id="gpuid",
            severity="stop",
            title=_("launch.gpu_ids names a GPU twice, or one that is not here: {ids}.").format(
                ids=", ".join(map(str, launch.gpu_ids))
            ),
            detail=_("This machine has {count} NVIDIA GPUs, counted from 0.").format(count=count)
            if count
            else "",
            arguments=("launch.gpu_ids",),
            where="launch.gpu_ids",
            fixes=(
                Fix(
                    id="any",
                    label=_("let the trainer choose"),
                    changes={"launch.gpu_ids": None},
                    safe=False,
                ),
            ),
            sources=("ENV-18",),
        )
    for name, value in launch.env.items():
        if (
            not name
            or "=" in name
            or "\0" in name + value
            or (not (name + value).isprintable() and "\n" in name)
        ):
            yield Finding(
                id="env-name",
                severity="stop",
                title=_("“{name}” cannot be a variable of the environment.").format(name=name),
                arguments=(f"env.{name}",),
                where=f"env.{name}",
            )
