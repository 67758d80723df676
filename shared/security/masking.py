"""Masking: placeholders in the place of private data, and the way back.

A placeholder is a kind and a tag, such as EMAIL-4k3x9qa2. The tag is a keyed hash of the value, so a
value has the same placeholder in every turn of a chat, and another in other chats. It has no brackets
or underscores, which models escape, and a fixed length, so that its end is known without another character.

Also called: redaction, anonymization, data masking, privacy filter.
"""

import base64
import hashlib
import hmac
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, get_args

from shared.security.private_data import Kind, PrivateSpan, find_private, join_overlaps

_TAG_CHARS = 8
_NAMES = tuple(kind.upper() for kind in get_args(Kind))
_PLACEHOLDER = re.compile(rf"(?:{'|'.join(_NAMES)})-[2-7][a-z2-7]{{{_TAG_CHARS - 1}}}")
_MAX_PLACEHOLDER_CHARS = max(map(len, _NAMES)) + 1 + _TAG_CHARS
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)', re.DOTALL)

Change = Callable[[str], str]
FindPrivate = Callable[[str], Sequence[PrivateSpan]]


class Masker:
    """Masks and restores the texts of one chat; it knows the values that it masked."""

    def __init__(self, key: bytes, find: FindPrivate = find_private) -> None:
        """`find` finds the private data of a text, as a cache of it may do."""
        self._key = key
        self._find = find
        self._values: dict[str, str] = {}
        self._placeholders: dict[tuple[Kind, str], str] = {}
        self._masked_texts: dict[str, str] = {}

    def mask(self, text: str) -> str:
        """Replace private data by placeholders. What looks like one is replaced too.

        So each placeholder that a model reads is ours, and restoring gives back every text as it was.
        """
        masked = self._masked_texts.get(text)
        if masked is None:
            masked = self._masked_texts[text] = self._mask_anew(text)
        return masked

    def count_values(self) -> Mapping[Kind, int]:
        """Count the different values that were masked so far, by kind."""
        return Counter(kind for kind, _ in self._placeholders if kind != "text")

    def restore(self, text: str) -> str:
        """Put the values back; what a model made up stays as it is."""
        return _PLACEHOLDER.sub(lambda found: self._values.get(found[0], found[0]), text)

    def _mask_anew(self, text: str) -> str:
        parts, end = [], 0
        for span in join_overlaps([*self._find(text), *_find_placeholders(text)]):
            value = text[span.start : span.end]
            parts += [text[end : span.start], self._get_placeholder(span.kind, value)]
            end = span.end
        return "".join([*parts, text[end:]])

    def _get_placeholder(self, kind: Kind, value: str) -> str:
        placeholder = self._placeholders.get((kind, value))
        if placeholder is None:
            candidates = (self._build_placeholder(kind, value, n) for n in count())
            placeholder = next(each for each in candidates if each not in self._values)
            self._placeholders[kind, value] = placeholder
            self._values[placeholder] = value
        return placeholder

    def _build_placeholder(self, kind: Kind, value: str, attempt: int) -> str:
        """Build the placeholder of a value; another attempt where two values have the same one."""
        content = f"{kind}\0{attempt}\0{value}".encode("utf-8", "surrogatepass")
        digest = hmac.digest(self._key, content, hashlib.sha256)
        first = "234567"[digest[-1] % 6]
        tag = base64.b32encode(digest[:5]).decode().lower()
        return f"{kind.upper()}-{first}{tag[: _TAG_CHARS - 1]}"


class PrivateSpans:
    """Remembers where private data stands in texts, by their hashes: it holds no text.

    A chat sends the same rules, tools and earlier messages with each call.
    """

    MAX_SPANS = 100
    """Of one text: a list of addresses is searched again rather than kept."""

    def __init__(self, max_texts: int = 4_096) -> None:
        self._max_texts = max_texts
        self._spans: dict[bytes, Sequence[PrivateSpan]] = {}
        self._lock = threading.Lock()

    def find(self, text: str) -> Sequence[PrivateSpan]:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        found = self._spans.get(digest)
        if found is None:
            found = find_private(text)
            if len(found) <= self.MAX_SPANS:
                self._remember(digest, found)
        return found

    def _remember(self, digest: bytes, found: Sequence[PrivateSpan]) -> None:
        with self._lock:
            self._spans[digest] = found
            if len(self._spans) > self._max_texts:
                del self._spans[next(iter(self._spans))]


class StreamRestorer:
    """Restores a streamed text; the result does not depend on how it is split.

    Fewer characters are pending than a placeholder has: those that may be the beginning of one.
    """

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._pending = ""

    def feed(self, piece: str) -> str:
        """Add the next piece; return the text that no later piece can change."""
        text = self._pending + piece
        decided_end = len(text) - _count_undecided(text)
        self._pending = text[decided_end:]
        return self._masker.restore(text[:decided_end])

    def flush(self) -> str:
        """Return the pending text at the end of the stream."""
        text, self._pending = self._pending, ""
        return text


def change_strings(value: Any, change: Change) -> Any:
    """Change every string of a JSON-like value, and the names in its objects."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change_strings(k, change): change_strings(v, change) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [change_strings(item, change) for item in value]
    return value


def change_json_strings(text: str, change: Change) -> str:
    """Change the strings of a JSON text, however they are escaped; the rest stays as it is.

    The text may be broken: a string that cannot be read is changed as it stands there.
    """
    return _JSON_STRING.sub(lambda literal: _change_literal(literal[0], change), text)


def _change_literal(literal: str, change: Change) -> str:
    try:
        value = json.loads(literal, strict=False)
    except ValueError:
        return change(literal)
    changed = change(value)
    return literal if changed == value else json.dumps(changed, ensure_ascii=not _is_sound(changed))


def _is_sound(text: str) -> bool:
    """Tell whether a text has no half of a surrogate pair, which only an escape can write."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _find_placeholders(text: str) -> Iterator[PrivateSpan]:
    for match in _PLACEHOLDER.finditer(text):
        yield PrivateSpan(*match.span(), "text")


def _count_undecided(text: str) -> int:
    """Count the characters at the end that may be the beginning of a placeholder."""
    end = text[1 - _MAX_PLACEHOLDER_CHARS :]
    match = _PARTIAL.search(end)
    return len(match[0]) if match else 0


def _build_partial_form() -> str:
    """Build the form of each beginning of a placeholder, at the end of a text."""
    names = {name[:length] for name in _NAMES for length in range(1, len(name) + 1)}
    with_tag = rf"(?:{'|'.join(_NAMES)})-(?:[2-7][a-z2-7]{{0,{_TAG_CHARS - 2}}})?"
    return rf"(?:{with_tag}|{'|'.join(sorted(names, key=len, reverse=True))})\Z"


_PARTIAL = re.compile(_build_partial_form())
