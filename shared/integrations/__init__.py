"""Integrations: the third-party services with tools, one module each, loaded on first use.

Also called: connectors, third-party integrations.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from shared.domain.apps.connection import Service
from shared.domain.errors import NotFound

if TYPE_CHECKING:
    from shared.integrations.service import Integration

INTEGRATIONS: tuple[Service, ...] = (
    "google_calendar",
    "gmail",
    "whoop",
    "notion",
    "x",
    "github",
    "perplexity",
    "web",
)
"""In the order of the model's tools: append only."""


def load_integration(name: str) -> "Integration":
    """Import the module of a service. Raises NotFound."""
    if name not in INTEGRATIONS:
        raise NotFound("There is no such service")
    loaded_integration: Integration = import_module(f"shared.integrations.{name}").INTEGRATION
    return loaded_integration
