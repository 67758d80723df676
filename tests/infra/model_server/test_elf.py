"""Symbolic libraries: one entry of a library is changed, and nothing else is touched."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.model_server.elf import mark_symbolic

START = 64 + 56
NEEDED, SYMBOLIC = (1, 7), (16, 0)


def build_library(*entries: tuple[int, int], spare: int) -> bytes:
    """Build the headers of a 64-bit library and its dynamic section."""
    section = b"".join(struct.pack("<qQ", *entry) for entry in [*entries, *[(0, 0)] * spare])
    head = b"\x7fELF\x02\x01".ljust(32, b"\0") + struct.pack("<Q", 64)
    head = head.ljust(54, b"\0") + struct.pack("<HH", 56, 1)
    program = struct.pack("<IIQ", 2, 6, START).ljust(32, b"\0") + struct.pack("<Q", len(section))
    return head.ljust(64, b"\0") + program.ljust(56, b"\0") + section + b"code"


def store(folder: Path, content: bytes) -> Path:
    file = folder / "libllama.so"
    file.write_bytes(content)
    return file


@pytest.mark.parametrize("times", [1, 2])
def test_a_spare_entry_makes_a_library_symbolic(tmp_path: Path, times: int) -> None:
    library = store(tmp_path, build_library(NEEDED, spare=3))

    for _ in range(times):
        mark_symbolic(library)

    assert library.read_bytes() == build_library(NEEDED, SYMBOLIC, spare=2)


def test_a_library_without_a_spare_entry_is_left_as_it_is(tmp_path: Path) -> None:
    library = store(tmp_path, build_library(NEEDED, spare=1))

    with pytest.raises(ValueError, match="spare"):
        mark_symbolic(library)

    assert library.read_bytes() == build_library(NEEDED, spare=1)


@given(st.sampled_from([b"", b"\x7fELF\x02\x01"]), st.binary(max_size=300))
def test_what_is_no_library_is_refused_unchanged(
    tmp_path_factory: pytest.TempPathFactory, beginning: bytes, rest: bytes
) -> None:
    library = store(tmp_path_factory.mktemp("library"), beginning + rest)

    with pytest.raises(ValueError, match=r"library|section"):
        mark_symbolic(library)

    assert library.read_bytes() == beginning + rest
