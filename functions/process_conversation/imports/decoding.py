"""Decoding: the text of a file in whatever encoding it is; what is no text is refused by its kind."""

import codecs
import unicodedata

import filetype
from charset_normalizer import from_bytes

from functions.process_conversation.imports.drafts import AudioFile, UnreadableFile

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
AUDIO_TYPES = ("audio/", "video/")
_SAMPLE_BYTES = 262_144
"""Bytes that the encoding is guessed from."""


def decode(data: bytes) -> str:
    """Return the text of a file. Raises UnreadableFile."""
    if kind := filetype.guess(data):
        is_audio = kind.mime.startswith(AUDIO_TYPES)
        raise (AudioFile if is_audio else UnreadableFile)(f"it is no text, but {kind.mime}")
    text = _decode_marked(data) or _decode_guessed(data)
    if not text.strip():
        raise UnreadableFile("it is empty")
    if _has_controls(text):
        raise UnreadableFile("it is no text")
    return text


def _decode_marked(data: bytes) -> str | None:
    try:
        return data.decode("utf-16" if data.startswith(_UTF16_MARKS) else "utf-8-sig")
    except UnicodeDecodeError:
        return None


def _decode_guessed(data: bytes) -> str:
    match = from_bytes(data[:_SAMPLE_BYTES]).best()
    if match is None:
        raise UnreadableFile("it is no text")
    return data.decode(match.encoding, errors="replace")


def _has_controls(text: str) -> bool:
    return any(unicodedata.category(c) == "Cc" and c not in "\t\n\r\f\v\x1a\x85" for c in text)
