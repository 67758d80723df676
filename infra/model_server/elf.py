"""ELF libraries: which copy of a symbol a library uses.

The packaged server's libllama holds a C++ library of its own, and its siblings use the system's. As both name
their symbols alike, the loader has libllama free what it made by the code of the other, and the process aborts
with `free(): invalid pointer` after a few answers with tools. A library that is marked symbolic uses its own symbols.
"""

import struct
from pathlib import Path

_ELF_64_LITTLE = b"\x7fELF\x02\x01"
_PROGRAM_HEADERS, _HEADER_SIZES = struct.Struct("<32xQ"), struct.Struct("<54xHH")
_PROGRAM_HEADER = struct.Struct("<I4xQ16xQ")
"""Type, offset and size in the file."""
_DYNAMIC_ENTRY = struct.Struct("<qQ")
_PT_DYNAMIC = 2
_DT_NULL, _DT_SYMBOLIC = 0, 16


def mark_symbolic(library: Path) -> None:
    """Mark a library symbolic, in a spare entry of its dynamic section; repeating it changes nothing.

    Raises ValueError for another kind of file, or where no entry is spare.
    """
    content = bytearray(library.read_bytes())
    start, count = _find_dynamic_section(content)
    entries = [
        _DYNAMIC_ENTRY.unpack_from(content, start + n * _DYNAMIC_ENTRY.size) for n in range(count)
    ]
    tags = [tag for tag, _ in entries]
    if _DT_SYMBOLIC in tags:
        return
    if tags[-2:] != [_DT_NULL, _DT_NULL]:
        raise ValueError("no entry of its dynamic section is spare")
    position = start + tags.index(_DT_NULL) * _DYNAMIC_ENTRY.size
    _DYNAMIC_ENTRY.pack_into(content, position, _DT_SYMBOLIC, 0)
    library.write_bytes(content)


def _find_dynamic_section(content: bytearray) -> tuple[int, int]:
    """Return where it begins, and how many entries it has."""
    try:
        if not content.startswith(_ELF_64_LITTLE):
            raise ValueError("it is no library of a 64-bit Linux")
        (start,) = _PROGRAM_HEADERS.unpack_from(content)
        size, count = _HEADER_SIZES.unpack_from(content)
        for n in range(count):
            kind, offset, length = _PROGRAM_HEADER.unpack_from(content, start + n * size)
            if kind == _PT_DYNAMIC:
                return offset, length // _DYNAMIC_ENTRY.size
    except struct.error:
        pass
    raise ValueError("it has no dynamic section")
