"""Files of models: one for each, or several parts of which the first is named."""

import re
from collections.abc import Sequence
from pathlib import Path

_PART = re.compile(r"(?P<stem>.+)-\d{5}-of-(?P<count>\d{5})\.gguf")


def list_parts(name: str) -> Sequence[str]:
    """List the names of all parts of a model, by the name of one of them."""
    part = _PART.fullmatch(name)
    if part is None:
        return [name]
    count = int(part["count"])
    return [f"{part['stem']}-{n:05}-of-{count:05}.gguf" for n in range(1, count + 1)]


def find_whole_model(folder: Path) -> Path | None:
    """Find a model in a folder whose parts are all there; None without one."""
    for file in sorted(folder.glob("*.gguf")):
        parts = [folder / name for name in list_parts(file.name)]
        if all(part.is_file() for part in parts):
            return parts[0]
    return None


def measure_size(file: Path) -> int:
    """Return the bytes of a model, all its parts together."""
    parts = [file.with_name(name) for name in list_parts(file.name)]
    return sum(part.stat().st_size for part in parts if part.is_file())
