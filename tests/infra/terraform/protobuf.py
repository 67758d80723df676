"""Protobuf as Terraform's plugin protocol needs it: messages as lists of numbered fields, without a compiler."""

from collections.abc import Iterator, Sequence

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
Field = tuple[int, bytes | str | int]


def encode(fields: Sequence[Field]) -> bytes:
    """Write a message; a number is a varint, anything else is counted bytes."""
    message = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            message += _write_varint(number << 3 | _VARINT) + _write_varint(value)
        else:
            content = value.encode() if isinstance(value, str) else value
            message += _write_varint(number << 3 | _BYTES) + _write_varint(len(content)) + content
    return bytes(message)


def decode(message: bytes) -> dict[int, bytes]:
    """Return the counted bytes of each field, the last where it comes again."""
    return dict(_read_fields(message))


def _read_fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(message):
        tag, at = _read_varint(message, at)
        if tag & 7 == _VARINT:
            _, at = _read_varint(message, at)
        elif tag & 7 == _BYTES:
            size, at = _read_varint(message, at)
            yield tag >> 3, message[at : at + size]
            at += size
        else:
            at += {_FIXED64: 8, _FIXED32: 4}[tag & 7]


def _write_varint(number: int) -> bytes:
    content = bytearray()
    while number > 0x7F:
        content.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*content, number))


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = message[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
