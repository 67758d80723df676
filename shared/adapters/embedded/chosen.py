"""Choice of the model file: what is built from it, and built anew when it changes."""

from collections.abc import Callable
from typing import Generic, TypeVar

from shared.adapters.embedded.model_file import ModelFile, ModelSetup

T = TypeVar("T")


class Chosen(Generic[T]):
    """A change of the file counts from the next get() on."""

    def __init__(self, file: ModelFile, build: Callable[[ModelSetup | None], T]) -> None:
        """`build` gets None where nothing was chosen."""
        self._file = file
        self._build = build
        self._version = file.find_version()
        self._built = build(file.load())

    def get(self) -> T:
        version = self._file.find_version()
        if version != self._version:
            self._built = self._build(self._file.load())
            self._version = version
        return self._built
