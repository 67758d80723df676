"""Model file: the language model that the owner of a data folder chose in the console, with its key."""

from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from shared import telemetry
from shared.adapters.embedded.data_folder import close_file, replace_file
from shared.data.store.codec import type_adapter
from shared.domain.value import value

NAME = "model.json"
ModelKind = Literal["openai", "compatible", "ollama"]


@value
class ModelSetup:
    """`model` answers and reads transcripts, `small_model` does small work.

    `notes` are what was odd at `tested_at`, in sentences for its owner.
    """

    kind: ModelKind
    base_url: str
    api_key: str
    model: str
    small_model: str
    tested_at: datetime | None = None
    notes: tuple[str, ...] = ()


class ModelFile:
    """One setup below DATA_DIR, for this account alone; no file means the offline model."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / NAME

    @property
    def folder(self) -> Path:
        return self._path.parent

    def find_version(self) -> tuple[int, int] | None:
        """Find what changes with every change of the file; None without one."""
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        return status.st_mtime_ns, status.st_ino

    def load(self) -> ModelSetup | None:
        """Read the setup; a damaged file counts as none, and the log says so. Raises OSError."""
        try:
            close_file(self._path)
            content = self._path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            setup: ModelSetup = type_adapter(ModelSetup).validate_json(content)
        except ValidationError:  # its text would have the key in it
            telemetry.warning("model_file_damaged", file=str(self._path))
            return None
        return setup

    def store(self, setup: ModelSetup) -> None:
        """Replace the whole file at once. Raises OSError."""
        replace_file(self._path, type_adapter(ModelSetup).dump_json(setup))

    def delete(self) -> None:
        self._path.unlink(missing_ok=True)
