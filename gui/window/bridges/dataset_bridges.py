"""What the Data page and its panels stand on, as one thing that ends with the page."""

from __future__ import annotations

from dataclasses import dataclass

from gui.window.bridges.dataset_pictures import DatasetPictures
from gui.window.bridges.dataset_scan import DatasetScan


@dataclass(frozen=True)
class DatasetBridges:
    """What the page and its panels stand on.

    Attributes:
        scan: Looks at images.
        pictures: Makes the small pictures of the grid.
        large: Makes the large ones.
    """

    scan: DatasetScan
    pictures: DatasetPictures
    large: DatasetPictures

    def close(self) -> None:
        """End all processes."""
        for part in (self.scan, self.pictures, self.large):
            part.close()
