"""Puts the Data page together: the page, its panels, and what they stand on."""

from __future__ import annotations

from gui.engine.dataset.caption_drafts import CaptionDrafts
from gui.engine.paths import Home
from gui.engine.texts import _
from gui.window.bridges.caption_work import CaptionWork
from gui.window.bridges.captioning_work import CaptioningWork
from gui.window.bridges.checks import Checks
from gui.window.bridges.dataset_bridges import DatasetBridges
from gui.window.bridges.dataset_pictures import DatasetPictures
from gui.window.bridges.dataset_scan import DatasetScan
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.trainers import Trainers
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.data.buckets_panel import BucketsPanel
from gui.window.pages.data.caption_panel import CaptionPanel
from gui.window.pages.data.captioning_panel import CaptioningPanel
from gui.window.pages.data.data_page import REPAIRS, DataPage
from gui.window.pages.data.repairs_panel import RepairsPanel
from gui.window.pages.data.views import NamedPanel
from gui.window.pages.data.words_panel import WordsPanel
from gui.window.theme.icons import Icons


def make_data_page(
    *,
    document: PlanDocument,
    checks: Checks,
    trainers: Trainers,
    tasks: Tasks,
    icons: Icons,
    home: Home,
    processes: int | None = None,
) -> DataPage:
    """Return the Data page with all of its views.

    Args:
        document: The open plan.
        checks: Checks it.
        trainers: The trainer in use, which brings captioners.
        tasks: For reading and moving files.
        icons: With the theme.
        home: Holds what is remembered of images, and captions that are not written yet.
        processes: How many look at images; None takes one a core.
    """
    bridges = DatasetBridges(
        scan=DatasetScan(home, processes),
        pictures=DatasetPictures(),
        large=DatasetPictures(processes=1),
    )
    work = CaptionWork(tasks)
    captions = CaptionPanel(
        tasks=tasks,
        icons=icons,
        work=work,
        pictures=bridges.large,
        drafts=CaptionDrafts(home.caption_drafts),
    )
    captioning = CaptioningPanel(
        trainers=trainers, captioning=CaptioningWork(home, tasks), work=work, icons=icons
    )
    words = WordsPanel(tasks=tasks, icons=icons, work=work)
    views = [
        NamedPanel("captions", _("Captions"), captions),
        NamedPanel("captioning", _("Captioners"), captioning),
        NamedPanel("buckets", _("Buckets"), BucketsPanel(icons=icons, checks=checks)),
        NamedPanel("words", _("Words"), words),
        NamedPanel(REPAIRS, _("Repairs"), RepairsPanel(tasks=tasks, icons=icons, work=work)),
    ]
    page = DataPage(document=document, checks=checks, bridges=bridges, tasks=tasks, icons=icons, views=views)
    words.images_wished.connect(page.show_images)
    return page
