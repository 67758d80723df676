"""Shallow models: copies of a model that keep its words and templates, and only its first layer.

They write nonsense, but read a prompt many times as fast: enough to see what a server accepts.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from infra.model_server.gguf import read_entries

_ALIGNMENT = 32
_DEEPER_LAYER = re.compile(rb"blk\.[1-9]\d*\.")
_KEY = b".block_count"


@dataclass
class _Tensor:
    """A tensor's entry in the header; its content begins at `offset` of the weights."""

    entry: bytes
    offset: int
    is_kept: bool


def write_shallow_model(model: Path, copy: Path) -> None:
    """Write a copy of a model with one layer."""
    with model.open("rb") as file:
        read_entries(file)
        head_size = file.tell()
        file.seek(8)
        (tensor_count,) = struct.unpack("<Q", file.read(8))
        file.seek(head_size)
        tensors = [_read_tensor(file) for _ in range(tensor_count)]
        start = _align(file.tell())
        file.seek(0)
        head = _count_one_layer(file.read(head_size))
        kept = [tensor for tensor in tensors if tensor.is_kept]
        ends = sorted([*(tensor.offset for tensor in tensors), model.stat().st_size - start])
        with copy.open("wb") as output:
            output.write(head[:8] + struct.pack("<Q", len(kept)) + head[16:])
            _write_tensors(file, output, kept, ends, start)


def _read_tensor(file: BinaryIO) -> _Tensor:
    begin = file.tell()
    (length,) = struct.unpack("<Q", file.read(8))
    name = file.read(length)
    (dimensions,) = struct.unpack("<I", file.read(4))
    file.seek(8 * dimensions + 4, 1)
    size = file.tell() - begin
    (offset,) = struct.unpack("<Q", file.read(8))
    file.seek(begin)
    entry = file.read(size)
    file.seek(8, 1)
    return _Tensor(entry=entry, offset=offset, is_kept=_DEEPER_LAYER.match(name) is None)


def _count_one_layer(head: bytes) -> bytes:
    """Return the head with a count of one: a number of four bytes behind its type."""
    position = head.index(_KEY) + len(_KEY) + 4
    return head[:position] + struct.pack("<I", 1) + head[position + 4 :]


def _write_tensors(
    file: BinaryIO, output: BinaryIO, kept: list[_Tensor], ends: list[int], start: int
) -> None:
    sizes = [ends[ends.index(tensor.offset) + 1] - tensor.offset for tensor in kept]
    output.writelines(
        tensor.entry + struct.pack("<Q", offset)
        for tensor, offset in zip(kept, _list_offsets(sizes), strict=True)
    )
    for tensor, size in zip(kept, sizes, strict=True):
        output.write(b"\0" * (_align(output.tell()) - output.tell()))
        file.seek(start + tensor.offset)
        output.write(file.read(size))


def _list_offsets(sizes: list[int]) -> Iterator[int]:
    offset = 0
    for size in sizes:
        yield offset
        offset = _align(offset + size)


def _align(position: int) -> int:
    return -(-position // _ALIGNMENT) * _ALIGNMENT
