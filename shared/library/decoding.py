"""Decoding: the text of a file in whatever encoding it is; what is no text is refused by its kind.

Also called: charset detection, character encoding.
"""

import codecs
import re
import unicodedata
from encodings.aliases import aliases

from charset_normalizer import from_bytes

from shared.library.file_kinds import describe_type, guess_type

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Encodings by the bytes that a file begins with; the first of UTF-32 are also those of UTF-16."""
WESTERN = ("cp1252", "latin_1", "iso8859_15")
AUDIO_TYPES = ("audio/", "video/")
MIN_ZERO_SHARE = 0.02
_EARLY_PAGES = ("cp4", "cp5", "cp7", "cp8", "cp10", "cp11", "mac_", "hp_", "johab", "kz", "ptcp")
_EXCLUDED = sorted({name for name in aliases.values() if name.startswith(_EARLY_PAGES)} - {"cp874"})
"""Code pages of DOS, mainframes and early Macs: hardly any program writes them, and short texts look like them."""
_TURKISH, _ICELANDIC = re.compile("[ðýþÐÝÞ]"), re.compile("[áíúóæÁÍÚÓÆ]")
"""Letters of Iceland in whose places Windows has those of Turkey, and others that Turkey lacks."""
_SAMPLE_BYTES = 262_144
"""Bytes that the encoding is guessed from."""


class UnreadableFile(ValueError):
    """A file that is not imported; the message is the reason, in one line."""


class AudioFile(UnreadableFile):
    """A file of sound, or of pictures with sound: words may be in it."""


def decode(data: bytes) -> str:
    """Return the text of a file. Raises UnreadableFile."""
    if media_type := guess_type(data):
        is_audio = media_type.startswith(AUDIO_TYPES)
        raise (AudioFile if is_audio else UnreadableFile)(describe_type(media_type))
    text = (_decode_marked(data) or _decode_guessed(data)).removeprefix("\ufeff")
    if not text.strip():
        raise UnreadableFile("it is empty")
    if _has_controls(text):
        raise UnreadableFile("it is no text")
    return text


def _decode_marked(data: bytes) -> str | None:
    encoding = next((_MARKS[mark] for mark in _MARKS if data.startswith(mark)), None)
    try:
        return data.decode(encoding or _find_wide(data) or "utf-8-sig")
    except UnicodeDecodeError:
        return None


def _find_wide(data: bytes) -> str | None:
    """Return UTF-16 for a file in which each second byte may be zero, and no other is."""
    sample = data[:_SAMPLE_BYTES]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    is_wide = not min(even, odd) and max(even, odd) >= MIN_ZERO_SHARE * len(sample)
    if len(data) % 2 or not is_wide or not sample:
        return None
    return "utf-16-be" if even else "utf-16-le"


def _decode_guessed(data: bytes) -> str:
    match = from_bytes(data[:_SAMPLE_BYTES], cp_exclusion=_EXCLUDED).best()
    if match is None:
        raise UnreadableFile("it is no text")
    text = data.decode(match.encoding, errors="replace")
    is_turkish = match.encoding in WESTERN and _TURKISH.search(text) and not _ICELANDIC.search(text)
    return data.decode("cp1254", errors="replace") if is_turkish else text


def _has_controls(text: str) -> bool:
    return any(unicodedata.category(c) == "Cc" and c not in "\t\n\r\f\v\x1a\x85" for c in text)
