"""Known models file: what was learned of language models and their servers, kept over restarts.

It holds no key, and nothing that anybody wrote or asked.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError
from pydantic_core import from_json

from shared import telemetry
from shared.adapters.embedded.data_folder import close_file, lock_file, replace_file
from shared.data.store.codec import type_adapter
from shared.domain.value import value
from shared.models.known_models import KnownModel, ModelKey

NAME = "known_models.json"
MAX_MODELS = 200
"""The latest are kept; nobody uses so many."""


@value
class _Entry:
    address: str
    name: str
    known: KnownModel


class KnownModelsFile:
    """One file below DATA_DIR, for this account alone, shared by all processes of its folder.

    What cannot be written, this process alone remembers.
    """

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / NAME
        self._version: tuple[int, int] | None = None
        self._kept: Mapping[ModelKey, KnownModel] = {}
        self._unsaved: dict[ModelKey, KnownModel] = {}

    def load(self) -> Mapping[ModelKey, KnownModel]:
        """Return what is kept: read again only after a change. What is damaged counts as nothing."""
        try:
            status = os.stat(self._path)  # noqa: PTH116 - a turn looks thirty times, at a third of the cost
            if (version := (status.st_mtime_ns, status.st_ino)) != self._version:
                self._version, self._kept = version, self._read()
        except FileNotFoundError:
            self._version, self._kept = None, {}
        except OSError as error:
            telemetry.warning("known_models_unreadable", error=type(error).__name__)
        return {**self._kept, **self._unsaved} if self._unsaved else self._kept

    def save(self, key: ModelKey, known: KnownModel) -> None:
        """Put one model beside those that other processes keep."""
        self._unsaved[key] = known
        if _has_secret(key[0]):
            return
        try:
            with lock_file(self._path):
                self._write(_put(self.load(), key, known))
        except OSError as error:
            telemetry.warning("known_models_not_saved", error=type(error).__name__)
        else:
            self._unsaved = {
                key: known for key, known in self._unsaved.items() if _has_secret(key[0])
            }

    def _write(self, models: Mapping[ModelKey, KnownModel]) -> None:
        entries = [
            _Entry(address=address, name=name, known=known)
            for (address, name), known in models.items()
            if not _has_secret(address)
        ]
        replace_file(self._path, type_adapter(list[_Entry]).dump_json(entries))

    def _read(self) -> Mapping[ModelKey, KnownModel]:
        close_file(self._path)
        try:
            rows = from_json(self._path.read_bytes())
        except ValueError:
            rows = None
        if not isinstance(rows, list):
            telemetry.warning("known_models_damaged", file=str(self._path))
            return {}
        entries = [entry for row in rows[-MAX_MODELS:] if (entry := _parse_entry(row))]
        return {(entry.address, entry.name): entry.known for entry in entries}


def _put(
    models: Mapping[ModelKey, KnownModel], key: ModelKey, known: KnownModel
) -> Mapping[ModelKey, KnownModel]:
    """Put a model behind all others; the first ones are forgotten where there are too many."""
    others = [item for item in models.items() if item[0] != key]
    return dict([*others, (key, known)][-MAX_MODELS:])


def _parse_entry(row: Any) -> _Entry | None:
    """Return an entry; None for one of another version, whose facts are found again."""
    try:
        entry: _Entry = type_adapter(_Entry).validate_python(row)
    except ValidationError:
        return None
    return entry


def _has_secret(address: str) -> bool:
    """Tell whether an address may have more in it than a place: a password, or a key in its query."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return True
    return bool(parts.username or parts.password or parts.query)
