"""Recorded answers of services, as their documentation shows them."""

import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


def recorded(name: str) -> Any:
    """Return an answer by service and name, such as `google_calendar/events`."""
    return json.loads((_FOLDER / f"{name}.json").read_text())
