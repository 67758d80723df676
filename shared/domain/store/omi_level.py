"""Omi's levels of data protection: packed, or packed and encrypted."""

from typing import Literal

OmiLevel = Literal["standard", "enhanced"]
