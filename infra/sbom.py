"""`python -m infra.sbom FILE` writes what a deployment installs as CycloneDX JSON, from the locked pins.

Licences are those that installed packages tell of themselves; one that is not installed here has none.

Also called: software bill of materials, licences of dependencies.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCKS = ("requirements.txt", "infra/model_server/packages.txt", "infra/speech/packages.txt", "infra/speech/weights.txt")  # fmt: skip
"""What functions and the server need; what `MODEL=` and `SPEECH=local` install beside them."""
_PIN = re.compile(r"^([\w.-]+)(?:\[[\w,-]+\])?==([^\s;]+)(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_CLASSIFIER = "License :: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A release that a lock names, and the SHA-256 of each of its files."""

    name: str
    version: str
    hashes: Sequence[str]


def read_pins(lock: str) -> list[Pin]:
    return [
        Pin(name=name, version=version, hashes=_HASH.findall(rest))
        for name, version, rest in _PIN.findall((ROOT / lock).read_text())
    ]


def read_licences(name: str) -> list[str]:
    """Return the licences that an installed package names, all of a list or an expression; none where it is not installed."""
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return []
    for expression in told.get_all("License-Expression", []):
        return re.split(r" (?:AND|OR|WITH) ", re.sub(r"[()]", "", expression))
    classifiers = told.get_all("Classifier", [])
    named = [each.rsplit(" :: ", 1)[1] for each in classifiers if each.startswith(_CLASSIFIER)]
    return named or "".join(told.get_all("License", [])).split("\n")[0].strip().split(", ")


def build_sbom() -> dict[str, Any]:
    """Return a document of CycloneDX 1.6; a release of several locks stands there once."""
    pins = {(pin.name, pin.version): pin for lock in LOCKS for pin in read_pins(lock)}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "keepsake"}},
        "components": [dict(_describe(pin)) for _, pin in sorted(pins.items())],
    }


def _describe(pin: Pin) -> Iterator[tuple[str, Any]]:
    purl = f"pkg:pypi/{pin.name}@{pin.version}"
    yield from (("type", "library"), ("bom-ref", purl), ("name", pin.name))
    yield from (("version", pin.version), ("purl", purl))
    # The file of each platform has its own hash; `hashes` would be those of one file.
    yield "properties", [{"name": "sha256", "value": each} for each in pin.hashes]
    if licences := read_licences(pin.name):
        yield "licenses", [_name(each) for each in licences]


def _name(licence: str) -> Mapping[str, Any]:
    return {"license": {"name": licence}}


if __name__ == "__main__":
    sbom = build_sbom()
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(sbom, indent=1) + "\n")
    print(f"keepsake: {path}: {len(sbom['components'])} packages")
