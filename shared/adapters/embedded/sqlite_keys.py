"""Sort keys: values as text that sorts as Firestore sorts values, and the indexed fields."""

import math
import struct
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from shared.domain.store.documents import Fields

MAX_KEY_CHARS = 1_502
"""Firestore, too, compares only the beginning of a long value; more than any text that a query may name."""

_END = "\x01\x03"
"""Of an item of a list or a map: no text has it, as they escape what begins with \\x01."""

Keys = dict[str, str | list[str]]


def build_sort_key(value: Any) -> str:
    """Return text that orders by type, then by value; equal values have equal text.

    Whole and other numbers sort together, texts and bytes by their bytes. Among lists, and among
    maps, the order is not Firestore's.
    """
    if isinstance(value, str):  # as most are
        return f"4{_encode_text(value)}"
    if value is None or isinstance(value, bool):
        return "0" if value is None else f"1{value:d}"
    if isinstance(value, int | float):
        return f"2{_encode_number(value)}"
    if isinstance(value, datetime):
        return f"3{value.astimezone(UTC).isoformat(timespec='microseconds')}"
    if isinstance(value, bytes):
        return f"5{value.hex()}"
    return _encode_collection(value)


def build_next_type_key(key: str) -> str:
    """Return the first text that sorts after all values of the type of `key`."""
    return chr(ord(key[0]) + 1)


def build_field_key(names: Sequence[str]) -> str:
    """Encode a field path; a dot inside a name differs from a step of the path."""
    return ".".join(map(_quote_name, names))


@lru_cache(maxsize=1_000)
def _quote_name(name: str) -> str:
    """Quote a name once: documents have the same few."""
    return quote(name, safe="").replace(".", "%2E")


def build_items_key(names: Sequence[str]) -> str:
    """Encode the path of a list's items."""
    return f"{build_field_key(names)}[]"


def build_index_keys(fields: Fields, is_exempt: Callable[[str], bool]) -> Keys:
    """Return the fields that queries see: field path → sort key, and the items of lists."""
    keys: Keys = {}
    _add_keys(keys, fields, is_exempt)
    return keys


def _add_keys(
    keys: Keys,
    fields: Fields,
    is_exempt: Callable[[str], bool],
    parent_path: str = "",
    parent_key: str = "",
) -> None:
    """Add the key of every field that is no map, and those of its items."""
    for name, value in fields.items():
        path, key = f"{parent_path}{name}", f"{parent_key}{_quote_name(name)}"
        if isinstance(value, dict):
            _add_keys(keys, value, is_exempt, f"{path}.", f"{key}.")
        elif not is_exempt(path):
            keys[key] = build_short_key(value)
            if isinstance(value, list | tuple):
                keys[f"{key}[]"] = sorted({build_short_key(item) for item in value})


def count_entries(keys: Keys) -> int:
    """Count index entries as Firestore does: two for each value, one for each item of a list."""
    lists = [items for items in keys.values() if isinstance(items, list)]
    return 2 * (len(keys) - 2 * len(lists)) + sum(map(len, lists))


def build_short_key(value: Any) -> str:
    """Return as much of the key of a value as is stored, and as a cursor compares."""
    return build_sort_key(value)[:MAX_KEY_CHARS]


def _encode_collection(value: Any) -> str:
    if isinstance(value, dict):
        return "9" + "".join(
            f"{_encode_text(name)}{_END}{build_sort_key(value[name])}{_END}"
            for name in sorted(value)
        )
    return "8" + "".join(f"{build_sort_key(item)}{_END}" for item in value)


def _encode_number(value: float) -> str:
    """Write the nearest double as sortable bits, then what a whole number has beyond it."""
    if math.isnan(value):
        return ""
    double = float(value)
    (bits,) = struct.unpack(">Q", struct.pack(">d", double + 0.0))  # there is one zero
    bits ^= 0xFFFF_FFFF_FFFF_FFFF if bits >> 63 else 1 << 63
    remainder = value - int(double) if isinstance(value, int) else 0
    return f"{bits:016x}{remainder + 2048:04d}"


def _encode_text(value: str) -> str:
    """Escape NUL: SQLite's JSON functions stop at it."""
    if "\x01" in value or "\x00" in value:
        return value.replace("\x01", "\x01\x02").replace("\x00", "\x01\x01")
    return value
