"""Deployment: how large Terraform makes the functions and how many queues there are."""

import ipaddress
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

INFRA = Path(__file__).parents[1]
SERVICES = INFRA / "terraform/services"
RESERVED_ADDRESSES = 4
"""Of each subnet: Google keeps the first two and the last two."""
_SUBNET = re.compile(r'variable "subnet" \{.*?default\s*=\s*"([\d./]+)"', re.DOTALL)
_SIZE = re.compile(r"^\s*(\w+)\s*=\s*\{([^{}]*)\}", re.MULTILINE)
_SETTING = re.compile(r'(\w+)\s*=\s*"?([\d.]+)')


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many requests an instance takes at a time, and how many instances there are at most."""

    memory_gib: float
    concurrency: int
    min_instances: int
    max_instances: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Sizes by function, and how many queues take the tasks of one kind.

    `direct_callers` share the `addresses` of a subnet, through which they call internal functions.
    """

    sizes: Mapping[str, Size]
    default_size: Size
    task_queues: int = 1
    addresses: int
    direct_callers: frozenset[str]

    def get_size(self, function: str) -> Size:
        return self.sizes.get(function, self.default_size)


def load_deployment(*variable_files: str) -> Deployment:
    """Read sizes.tf, and what the files of variables change of it."""
    rows = _read_rows("sizes.tf")
    default = rows.pop("default_size")
    changes: dict[str, dict[str, float]] = {}
    task_queues = 1
    for name in variable_files:
        changes |= _read_rows(name)
        match = re.search(r"^task_queues\s*=\s*(\d+)", (SERVICES / name).read_text(), re.MULTILINE)
        task_queues = int(match[1]) if match else task_queues
    functions = rows.keys() | changes.keys()
    return Deployment(
        sizes={
            name: _to_size({**default, **rows.get(name, {}), **changes.get(name, {})})
            for name in functions
        },
        default_size=_to_size(default),
        task_queues=task_queues,
        addresses=_count_addresses(),
        direct_callers=_list_direct_callers(),
    )


def _count_addresses() -> int:
    variables = (INFRA / "terraform/foundation/variables.tf").read_text()
    subnet = _SUBNET.search(variables)
    assert subnet is not None
    return ipaddress.ip_network(subnet[1]).num_addresses - RESERVED_ADDRESSES


def _list_direct_callers() -> frozenset[str]:
    calls = json.loads((INFRA / "routes.json").read_text())["calls"]
    return frozenset(call["caller"] for call in calls if call["via"] == "request")


def _read_rows(name: str) -> dict[str, dict[str, float]]:
    text = (SERVICES / name).read_text()
    return {row[1]: _read_settings(row[2]) for row in _SIZE.finditer(text)}


def _read_settings(text: str) -> dict[str, float]:
    """Read numbers; `512Mi` is 0.5, in GiB."""
    settings = {name: float(amount) for name, amount in _SETTING.findall(text)}
    if re.search(r'memory\s*=\s*"\d+Mi"', text):
        settings["memory"] /= 1024
    return settings


def _to_size(row: Mapping[str, float]) -> Size:
    return Size(
        memory_gib=row["memory"],
        concurrency=int(row["concurrency"]),
        min_instances=int(row["min_instances"]),
        max_instances=int(row["max_instances"]),
    )
