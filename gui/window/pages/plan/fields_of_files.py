"""The fields about what is read and written: data, results, samples, the log."""

from __future__ import annotations

from gui.engine.texts import _
from gui.window.pages.plan.fields import Field, Group, same_words


def data_groups() -> tuple[Group, ...]:
    """Return what counts for all folders of images."""
    return (
        Group(
            _("For all folders"),
            (
                Field(
                    ("dataset.resolution",), _("Resolution"), "size", unit=(_("pixels"),), low=256, high=2048
                ),
                Field(
                    ("dataset.enable_bucket",),
                    _("Keep shapes of images"),
                    "switch",
                    note=_("Images are sorted into buckets of like shape; otherwise all are cut to one."),
                ),
                Field(
                    ("dataset.caption_extension",),
                    _("Captions end in"),
                    "choice",
                    open=True,
                    options=same_words(".txt", ".caption"),
                ),
            ),
        ),
    )


def saving_groups() -> tuple[Group, ...]:
    """Return what is written, and when."""
    return (Group(_("Files"), _file_fields()), Group(_("Log"), _log_fields()))


def _file_fields() -> tuple[Field, ...]:
    return (
        Field(
            ("output_dir",),
            _("Folder"),
            "folder",
            note=_("Where the trained files go; it is made when it is missing."),
        ),
        Field(("output_name",), _("File name"), "text", note=_("Without its ending.")),
        Field(
            ("save_every_n_steps", "save_every_n_epochs"),
            _("Save every"),
            "either",
            unit=(_("steps"), _("epochs")),
            low=1,
            whole=True,
            step=50,
            note=_("The best file is often not the last one."),
        ),
        Field(
            ("save_last_n_steps", "save_last_n_epochs"),
            _("Keep those of the last"),
            "either",
            unit=(_("steps"), _("epochs")),
            low=1,
            whole=True,
            step=50,
            note=_("Older ones are deleted by the trainer; empty keeps all."),
        ),
        Field(
            ("save_precision",),
            _("Saved in"),
            "choice",
            options=(
                (None, _("as it is trained")),
                ("float", _("float (full precision)")),
                ("fp16", "fp16"),
                ("bf16", "bf16"),
            ),
        ),
        Field(
            ("save_state",),
            _("Save the state as well"),
            "switch",
            note=_("With it a run can be gone on with; it takes much more disk than the file."),
        ),
    )


def sample_fields() -> tuple[Field, ...]:
    """Return when sample images are made."""
    return (
        Field(
            ("sample_every_n_steps", "sample_every_n_epochs"),
            _("Samples every"),
            "either",
            unit=(_("steps"), _("epochs")),
            low=1,
            whole=True,
            step=50,
            note=_("Each time the training waits for the images."),
        ),
        Field(
            ("sample_at_first",),
            _("Samples before the first step"),
            "switch",
            note=_("To compare with later ones."),
        ),
        Field(
            ("sample_sampler",),
            _("Sampler"),
            "choice",
            options=same_words(
                "ddim",
                "euler",
                "euler_a",
                "heun",
                "dpmsolver++",
                "dpm_2",
                "k_euler",
                "k_euler_a",
                "pndm",
                "lms",
            ),
        ),
    )


def _log_fields() -> tuple[Field, ...]:
    return (
        Field(
            ("logging_dir",),
            _("Folder of the log"),
            "folder",
            note=_("Kohya Preflight keeps its own figures in any case."),
        ),
        Field(
            ("log_with",),
            _("Log with"),
            "choice",
            options=(
                (None, _("nothing")),
                ("tensorboard", "tensorboard"),
                ("wandb", "wandb"),
                ("all", _("both")),
            ),
        ),
    )
