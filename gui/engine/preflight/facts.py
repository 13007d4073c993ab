"""What rules may know about the machine, the trainer, the models and the data.

Facts are collected once and are plain data, so that every rule is a pure function and a plan can
be checked for another machine (``--machine``). What is not known is None, never a guess: rules
about it keep silent.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.preflight.file_facts import CacheFact, CaptionFault, ImageFault, PairsFact, StateFact
from gui.engine.preflight.surroundings import (
    AccelerateFact,
    DiskFact,
    HolderFact,
    PowerFact,
    RunFact,
    TextFact,
    TrainerGpuFact,
)
from gui.engine.trainer.model_signatures import Prediction

OperatingSystem = Literal["linux", "windows", "macos"]
Layout = Literal["parent", "leaf", "flat"]


class GpuFact(Document):
    """One GPU.

    Attributes:
        name: As the driver tells it.
        vram_gib: Its memory, GiB.
        free_gib: Free now, GiB.
        compute_capability: ``"8.6"``.
        driver: Version of the driver.
        index: In NVML's order, by PCI bus.
        uuid: ``GPU-…``.
        holder: Who holds its memory, the largest first; None where the driver does not tell.
        lost: It no longer answers, and will not until a restart.
    """

    name: str = ""
    vram_gib: float | None = None
    free_gib: float | None = None
    compute_capability: str | None = None
    driver: str | None = None
    index: int = 0
    uuid: str | None = None
    holder: tuple[HolderFact, ...] | None = None
    lost: bool = False

    @property
    def used_gib(self) -> float | None:
        """What is in use, GiB; None when it is not known."""
        if self.vram_gib is None or self.free_gib is None:
            return None
        return max(0.0, self.vram_gib - self.free_gib)

    @property
    def capability(self) -> tuple[int, int] | None:
        """The compute capability as (major, minor); None when unknown or not written as a number."""
        major, _, minor = (self.compute_capability or "").partition(".")
        return (int(major), int(minor or 0)) if major.isdecimal() and (minor or "0").isdecimal() else None


class TrainerFact(Document):
    """The trainer that would run.

    Attributes:
        version: ``"0.10.1"``.
        commit: 40 hex digits.
        torch: Version of its torch.
        cuda: CUDA version that its torch was built for; empty for a CPU build, None when unknown.
        python: Version of its Python.
        packages: Distribution to version; a package not in it is not installed. None: unknown.
        modules: Top-level modules that its Python can import; None: unknown.
        unusable: Packages that are installed and do not work, and why.
        practice: Whether it is the practice trainer.
        root: Its folder.
        interpreter: Its Python.
        backend: Where its torch computes: ``cuda``, ``rocm``, ``xpu``, ``mps``, ``cpu``; None: unknown.
        arch_list: GPU architectures that its torch was compiled for; empty when it does not tell.
        gpu: What its torch sees.
        pins: Distribution to the version that its own requirements ask for.
    """

    version: str | None = None
    commit: str | None = None
    torch: str | None = None
    cuda: str | None = None
    python: str | None = None
    packages: dict[str, str | None] | None = None
    unusable: dict[str, str] = Field(default_factory=dict)
    modules: tuple[str, ...] | None = None
    practice: bool = False
    root: str = ""
    interpreter: str = ""
    backend: str | None = None
    arch_list: tuple[str, ...] = ()
    gpu: tuple[TrainerGpuFact, ...] = ()
    pins: dict[str, str] = Field(default_factory=dict)

    @property
    def cuda_build(self) -> str | None:
        """The CUDA version that its torch was built for, also as its version tells; as ``cuda``."""
        if self.cuda is not None or self.torch is None:
            return self.cuda
        local = self.torch.partition("+")[2]
        digits = local.removeprefix("cu")
        if local.startswith("cu") and digits.isdecimal() and len(digits) > 2:
            return f"{digits[:-1]}.{digits[-1]}"
        return "" if local == "cpu" else None


class ModelFact(Document):
    """A model file as its header tells.

    Attributes:
        argument: The trainer argument that names it.
        family: A family's name.
        complete: Whether the file is as long as its header says.
        path: Which file or folder; empty where only facts were given.
        kind: What it is for, such as ``checkpoint``, ``network``, ``t5xxl``; None when not known.
        variant: Such as ``refiner`` or ``inpainting``; of a VAE, which.
        title: What it is, in words.
        layout: Whose names its tensors have.
        parts: What it holds.
        prediction: What it says that it predicts.
        zero_terminal_snr: Whether it says that it was trained down to full noise.
        dtypes: Kind of number to how many tensors are of it, most first.
        quantised: Whether its weights are in pieces with scales beside them.
        pickle: Whether it is a PyTorch file, which can hold any program.
        loads: Whether the format's own reader takes it.
        problem: What is wrong with the file, in one sentence.
    """

    argument: str
    family: str | None = None
    complete: bool | None = None
    path: str = ""
    kind: str | None = None
    variant: str | None = None
    title: str = ""
    layout: str | None = None
    parts: tuple[str, ...] = ()
    prediction: Prediction | None = None
    zero_terminal_snr: bool = False
    dtypes: dict[str, int] = Field(default_factory=dict)
    quantised: bool = False
    pickle: bool = False
    loads: bool | None = None
    problem: str | None = None

    @property
    def dtype(self) -> str | None:
        """The kind of number that most of its tensors are of."""
        return next(iter(self.dtypes), None)


class SubsetFact(Document):
    """One folder of images.

    Attributes:
        image_dir: The folder.
        exists: Whether it is a folder.
        images: Files that the trainer would read.
        captions: Of these, how many have a caption file with the subset's extension.
        other_captions: Other extensions to the number of such files; None when not looked at.
        sizes: ``"WxH"`` in pixels to the number of images; None when not looked at.
        repeats_in_name: The number before the first ``_`` of the folder's name.
        sub_folders: Sub-folders that hold images: the trainer does not look into them.
        unread: Ending to the number of files that look like images and that the trainer passes over.
        same_stem: Names that several images share but for their ending.
        mac_files: Images that are only what macOS notes beside them (``._name``).
        image_faults: Images that the trainer would stumble over, as far as a quick look tells.
        caption_faults: The same of caption files.
        caches: What lies beside the images; None where nothing would be used again, or not looked at.
        pairs: How images and conditioning images fit together; None where there are no pairs.
        scanned: What a finished scan found besides: key of the kind of trouble to names; None without one.
    """

    image_dir: str
    exists: bool | None = None
    images: int | None = None
    captions: int | None = None
    other_captions: dict[str, int] | None = None
    sizes: dict[str, int] | None = None
    repeats_in_name: int | None = None
    sub_folders: int | None = None
    unread: dict[str, int] = Field(default_factory=dict)
    same_stem: tuple[str, ...] = ()
    mac_files: tuple[str, ...] = ()
    image_faults: tuple[ImageFault, ...] = ()
    caption_faults: tuple[CaptionFault, ...] = ()
    caches: CacheFact | None = None
    pairs: PairsFact | None = None
    scanned: dict[str, tuple[str, ...]] | None = None

    @cached_property
    def measured(self) -> dict[tuple[int, int], int]:
        """Image size (width, height) to number of images, as far as it makes sense."""
        sizes: dict[tuple[int, int], int] = {}
        for text, count in (self.sizes or {}).items():
            width, _, height = text.partition("x")
            if width.isdecimal() and height.isdecimal() and int(width) and int(height) and count > 0:
                sizes[int(width), int(height)] = count
        return sizes


class DatasetFact(Document):
    """The data as a whole.

    Attributes:
        images: Files that the trainer would read, regularisation images not counted.
        repeats: Where all have the same.
        layout: ``parent`` of ``N_name`` folders, ``leaf`` (such a folder itself), or ``flat``.
        passed_over: Folders below ``train_data_dir`` whose names tell no repeats.
        max_size_px: The largest image, (width, height).
        subsets: One for each subset of the plan, in its order.
    """

    images: int | None = None
    repeats: int | None = None
    layout: Layout | None = None
    passed_over: tuple[str, ...] = ()
    max_size_px: tuple[int, int] | None = None
    subsets: tuple[SubsetFact, ...] = ()


class PathFact(Document):
    """What is at a path that the plan names.

    Attributes:
        kind: ``file``, ``folder`` or ``missing``.
        size_bytes: Of a file.
        writable: Whether the program may write there (for a missing folder: into its nearest parent).
    """

    kind: Literal["file", "folder", "missing"]
    size_bytes: int | None = None
    writable: bool | None = None


class Facts(Document):
    """Everything that rules may know besides the plan.

    Attributes:
        os: Where it would run.
        ram_gib: Physical memory, GiB.
        ram_available_gib: Of it, what can be had now, GiB.
        commit_limit_gib: Windows: RAM and page file, GiB.
        commit_available_gib: Of it, what is still given out, GiB.
        disk_free_gib: Free on the output's disk, GiB.
        disk: The disks of the places that the plan names.
        gpu: The GPUs; empty when there is none, None when unknown.
        gpu_choice: Of what the trainer inherits, the variables that choose GPUs.
        power: How the machine is powered.
        accelerate: The user's configuration of accelerate; None when there is none.
        text: Text files that the trainer will read.
        hub: Models of the Hugging Face hub that are in its cache on this machine; None: unknown.
        offline: Whether the trainer inherits that nothing may be fetched from the hub.
        run: Runs of this program of which something is alive.
        locked_outputs: Of ``existing_outputs``, those that cannot be written just now.
        trainer: The trainer.
        model: Model files.
        dataset: The data.
        paths: Absolute path to what is there; a path that is not in it is unknown.
        existing_outputs: Names below ``output_dir`` that the run would write and that are there.
        state: The folder that the plan resumes from; None where it is not known.
        seconds_per_step: How long a step of such a plan takes here; None when none was run yet.
    """

    os: OperatingSystem | None = None
    ram_gib: float | None = None
    ram_available_gib: float | None = None
    commit_limit_gib: float | None = None
    commit_available_gib: float | None = None
    disk_free_gib: float | None = None
    disk: tuple[DiskFact, ...] = ()
    gpu: tuple[GpuFact, ...] | None = None
    gpu_choice: dict[str, str] = Field(default_factory=dict)
    power: PowerFact = Field(default_factory=PowerFact)
    accelerate: AccelerateFact | None = None
    text: tuple[TextFact, ...] = ()
    hub: tuple[str, ...] | None = None
    offline: bool = False
    run: tuple[RunFact, ...] = ()
    locked_outputs: tuple[str, ...] = ()
    trainer: TrainerFact | None = None
    model: tuple[ModelFact, ...] = ()
    dataset: DatasetFact | None = None
    paths: dict[str, PathFact] = Field(default_factory=dict)
    existing_outputs: tuple[str, ...] = ()
    state: StateFact | None = None
    seconds_per_step: float | None = None
