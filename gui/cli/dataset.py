"""``dataset PLAN|DIR``: the dataset doctor; status 1 when something is wrong with the images."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from gui.cli.check import prepare
from gui.cli.context import home
from gui.cli.dataset_repairs import add_repairs, needs_no_scan, repair, repair_scanned
from gui.cli.progress import ProgressLine, plain
from gui.engine.dataset.bucket_use import BucketUse
from gui.engine.dataset.caption_report import CaptionReport
from gui.engine.dataset.doctor import CACHE_FOLDER, Doctor
from gui.engine.dataset.folders import look_at_folder
from gui.engine.dataset.report import DatasetReport, SubsetReport
from gui.engine.dataset.scan import progress_words
from gui.engine.dataset.spec import DatasetSpec
from gui.engine.errors import Cancelled, CannotRead, UnknownFamily, WrongUsage
from gui.engine.plan.families import families
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.checking import checker_for
from gui.engine.preflight.dataset_report import spec_of_plan, with_rules
from gui.engine.preflight.dataset_spec import plan_of_folder
from gui.engine.preflight.finding_words import finding_lines
from gui.engine.texts import _, ngettext

_SIZE = re.compile(r"^(\d+)(?:[x×,](\d+))?$")
SHOWN_GROUPS = 10
SHOWN_WORDS = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    add_dataset(parser, _("a plan, or a folder of images or of such folders"))
    parser.add_argument("--processes", metavar="N", type=int, help=_("how many look at images; one a core"))
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))
    add_repairs(parser)


def add_dataset(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the options that say which images are meant.

    Args:
        parser: Of a sub-command.
        what: What may be given.
    """
    parser.add_argument("plan", metavar="PLAN|DIR", help=what)
    parser.add_argument("--script", metavar="NAME", help=_("the training script, where the file names none"))
    parser.add_argument("--family", metavar="F", help=_("the model family, where a folder is given"))
    parser.add_argument(
        "--resolution", metavar="WxH", help=_("the training size, where it is not the plan’s or the family’s")
    )


def run(options: argparse.Namespace) -> int:
    """Look at all images and print what was found.

    Returns:
        1 when something stops the trainer or may spoil the result, else 0.
    """
    if options.processes is not None and options.processes < 1:
        raise WrongUsage(_("--processes needs a number above 0"))
    plan, checker = given_dataset(options)
    spec = spec_of_plan(checker, plan)
    if needs_no_scan(options):
        return repair(options, spec)
    report = with_rules(checker, plan, _examine(spec, options))
    if options.json:
        print(report.model_dump_json(by_alias=True, indent=2))
    else:
        print("\n".join(map(plain, _lines(report))))
    for line in repair_scanned(options, spec, report):
        print(plain(line), file=sys.stderr if options.json else sys.stdout)
    return 1 if any(finding.severity != "hint" for finding in report.findings) else 0


def given_dataset(options: argparse.Namespace) -> tuple[TrainingPlan, Checker]:
    """Return the plan that was given, or the one that would train on the folder, and what checks it.

    Raises:
        UnknownFamily: There is no such family.
        CannotRead: It is no plan, or a folder without images.
        WrongUsage: The resolution is none.
    """
    size = _resolution(options.resolution)
    family = options.family or ""
    if family and family not in families():
        raise UnknownFamily(family, tuple(families()))
    place = Path(options.plan)
    if place.is_dir():
        folder = place.absolute()
        layout = look_at_folder(folder)
        if not layout.subsets():
            raise CannotRead(folder, _("it holds no images that the trainer reads"))
        plan = plan_of_folder(layout, family, size)
        return plan, checker_for(folder, None, home(options))
    options.machine, options.practice = None, False
    given, checker = prepare(options)
    plan = given.file.plan
    if family:
        plan = plan.model_copy(update={"family": family})
    if size is not None:
        plan = plan.model_copy(update={"dataset": {**plan.dataset, "resolution": list(size)}})
    return plan, checker


def _resolution(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    parts = _SIZE.match(text)
    if parts is None or int(parts[1]) < 1 or int(parts[2] or 1) < 1:
        raise WrongUsage(_("--resolution “{text}” is no size such as 1024x1024").format(text=text))
    return int(parts[1]), int(parts[2] or parts[1])


def _examine(spec: DatasetSpec, options: argparse.Namespace) -> DatasetReport:
    doctor = Doctor(spec, home(options).cache / CACHE_FOLDER, options.processes)
    line = ProgressLine()
    try:
        for batch in doctor.batches():
            line.show(progress_words(batch.progress))
        line.show(_("reading caches"))
        return doctor.report()
    except KeyboardInterrupt:
        raise Cancelled from None
    finally:
        line.clear()
        doctor.close()


def _lines(report: DatasetReport) -> Iterator[str]:
    for subset in report.subsets:
        yield _folder(subset)
        if subset.captions is not None and subset.captions.words:
            yield from _words(subset.captions)
    for buckets in report.buckets:
        if buckets.use is not None and buckets.use.buckets:
            yield ""
            yield from _histogram(buckets.use)
    groups = report.alike[:SHOWN_GROUPS]
    if groups:
        yield ""
        for group in groups:
            names = ", ".join(image.name for image in group.images[:5])
            yield (_("the same: {names}") if group.exact else _("look alike: {names}")).format(names=names)
    yield ""
    for finding in report.findings:
        yield from finding_lines(finding)
    if not report.findings:
        yield _("Nothing is wrong with these images, as far as can be told.")


def _folder(subset: SubsetReport) -> str:
    if not subset.exists:
        return _("{folder}: cannot be listed").format(folder=subset.image_dir)
    words = ngettext("{folder}: {count} image", "{folder}: {count} images", subset.images)
    text = words.format(folder=subset.image_dir, count=subset.images)
    text += " " + _("× {repeats}").format(repeats=subset.num_repeats)
    return text + (" " + _("(regularisation)") if subset.is_reg else "")


def _words(captions: CaptionReport) -> Iterator[str]:
    if captions.trigger is not None:
        words = _("trigger word: {word}, in {count} of {all} captions")
        yield "  " + words.format(word=captions.trigger, count=captions.with_trigger, all=captions.captions)
    if captions.limit is not None:
        words = (
            _("longest caption: {count} of {limit} tokens")
            if captions.exact
            else _("longest caption: about {count} of {limit} tokens (estimated)")
        )
        yield "  " + words.format(count=captions.longest, limit=captions.limit)
    shown = [f"{share.word} {share.share:.0%}" for share in captions.words[:SHOWN_WORDS]]
    yield "  " + _("in captions: {words}").format(words=", ".join(shown))


def _histogram(use: BucketUse) -> Iterator[str]:
    most = max(bucket.images for bucket in use.buckets)
    for bucket in use.buckets:
        bar = "█" * max(1, round(30 * bucket.images / most))
        size = f"{bucket.size[0]}×{bucket.size[1]}"
        yield _("{size:>11}  {bar} {images} in {batches} batches").format(
            size=size, bar=bar, images=bucket.images, batches=bucket.batches
        )
