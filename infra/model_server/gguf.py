"""GGUF files: what the header of a model's file says of it, before any server reads the file.

The format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>.
"""

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from infra.model_server.errors import CannotServeModel
from shared.domain.value import value

MAGIC = b"GGUF"
_FORMATS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?"} | {
    10: "<Q",
    11: "<q",
    12: "<d",
}
"""How the values of a type are packed, by its number."""
_TEXT, _LIST = 8, 9
_MAX_ENTRIES = 100_000
_MAX_KEY_BYTES = 65_535
_MAX_TEXT_BYTES = 64 * 2**20
_DEFAULT_CONTEXT_TOKENS = 4_096
_VALUE_BYTES = 2
"""The cache of what was read holds half-precision numbers."""

Value = int | float | bool | str


@value
class ModelHeader:
    """What a file says of its model; `token_bytes` is what a token that was read takes of memory."""

    name: str
    context_tokens: int
    token_bytes: int


def read_header(path: Path) -> ModelHeader:
    """Read the header of a model's file. Raises CannotServeModel, with the path in its message."""
    try:
        with path.open("rb") as file:
            return _build_header(path, read_entries(file))
    except OSError as error:
        raise CannotServeModel(f"{path} cannot be read: {error.strerror}") from error
    except (EOFError, OverflowError, ValueError) as error:
        raise CannotServeModel(f"{path} is no whole GGUF file: {error}") from error


def read_entries(file: BinaryIO) -> Mapping[str, Value]:
    """Read the single values of a header; lists are left out, as those of a tokenizer are long.

    Raises ValueError for what is no GGUF file, and EOFError for one that was cut.
    """
    if file.read(len(MAGIC)) != MAGIC:
        raise ValueError("it does not begin like one")
    version, _, count = _read_count(file, "<I"), _read_count(file), _read_count(file)
    if version not in (2, 3) or not 0 < count <= _MAX_ENTRIES:
        raise ValueError("it is of an unknown version")
    entries: dict[str, Value] = {}
    for _ in range(count):
        key = _read_text(file, _MAX_KEY_BYTES)
        kind = _read_count(file, "<I")
        if kind == _LIST:
            _skip_list(file)
        else:
            entries[key] = _read_value(file, kind)
    return entries


def _read_value(file: BinaryIO, kind: int) -> Value:
    if kind == _TEXT:
        return _read_text(file, _MAX_TEXT_BYTES)
    if kind not in _FORMATS:
        raise ValueError("it holds a value of an unknown type")
    return _unpack(file, _FORMATS[kind])


def _skip_list(file: BinaryIO) -> None:
    kind, count = _read_count(file, "<I"), _read_count(file)
    if kind in _FORMATS:
        file.seek(count * struct.calcsize(_FORMATS[kind]), 1)
    elif kind == _TEXT:
        for _ in range(count):
            file.seek(_read_count(file), 1)
    else:
        raise ValueError("it holds a list of an unknown type")


def _read_text(file: BinaryIO, most_bytes: int) -> str:
    size_bytes = _read_count(file)
    if size_bytes > most_bytes:
        raise ValueError("it holds a text that is too long")
    return _read(file, size_bytes).decode(errors="replace")


def _read_count(file: BinaryIO, form: str = "<Q") -> int:
    return int(_unpack(file, form))


def _unpack(file: BinaryIO, form: str) -> Value:
    unpacked: Value = struct.unpack(form, _read(file, struct.calcsize(form)))[0]
    return unpacked


def _read(file: BinaryIO, size_bytes: int) -> bytes:
    content = file.read(size_bytes)
    if len(content) < size_bytes:
        raise EOFError("it ends too early")
    return content


def _build_header(path: Path, entries: Mapping[str, Value]) -> ModelHeader:
    kind = entries.get("general.architecture", "")

    def find_number(name: str, default: int) -> int:
        number = entries.get(f"{kind}.{name}", default)
        return number if type(number) is int and number > 0 else default

    heads = find_number("attention.head_count", 1)
    length = find_number("embedding_length", 1) // heads
    numbers = find_number("attention.key_length", length) + find_number(
        "attention.value_length", length
    )
    lists = find_number("block_count", 1) * find_number("attention.head_count_kv", heads)
    return ModelHeader(
        name=str(entries.get("general.name") or path.stem),
        context_tokens=find_number("context_length", _DEFAULT_CONTEXT_TOKENS),
        token_bytes=lists * numbers * _VALUE_BYTES,
    )
