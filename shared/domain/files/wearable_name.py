"""Name of a wearable whose past months are imported; alone, so that settings load nothing else."""

from typing import Literal

WearableName = Literal["limitless", "omi", "bee"]
