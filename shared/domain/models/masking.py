"""Masking: the models that read placeholders for private data."""

from typing import Literal

Masking = Literal["auto", "on", "off"]
"""All but local ones (auto), all (on), or none (off)."""
