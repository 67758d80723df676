"""Routing table of infra/routes.json as types: the entry point of each path, and its callers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from shared.domain.apps.service_calls import ServiceCalls, parse_service_calls

ROOT = Path(__file__).parents[2]
ROUTES = ROOT / "infra/routes.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPoint:
    """A deployed function. `paths` are public; an internal one has none. One of sockets is served by uvicorn itself."""

    name: str
    source: Path
    access: Literal["public", "internal"]
    paths: tuple[str, ...] = ()
    carries_sockets: bool = False

    @property
    def application(self) -> str:
        """Where uvicorn finds the application of one that carries sockets."""
        return ".".join(self.source.relative_to(ROOT).with_suffix("").parts) + ":app"


def load_entry_points() -> list[EntryPoint]:
    """Read the table of functions."""
    table: Mapping[str, Mapping[str, Any]] = json.loads(ROUTES.read_text())["functions"]
    return [
        EntryPoint(
            name=name,
            source=ROOT / row["source"],
            access=row["access"],
            paths=tuple(row.get("paths", ())),
            carries_sockets=row.get("sockets", False),
        )
        for name, row in table.items()
    ]


def load_service_calls() -> ServiceCalls:
    """Read the table of calls between functions."""
    return parse_service_calls(json.loads(ROUTES.read_text())["calls"])


def to_starlette_path(path: str) -> str:
    """Write `/v1/apps/**` as Starlette's `/v1/apps/{rest:path}`."""
    return path.replace("**", "{rest:path}")
