"""Omi's form of documents: how Omi's own backend stores what was said, read and, of conversations, written here.

At the level `standard` a transcript is the zlib of its JSON list. At `enhanced` the hex of that, or in older
documents the JSON itself, is encrypted by AES-256-GCM under a key that the operator's ENCRYPTION_SECRET and
the user's id make; so are the `base64` of a photo, the text of a message and the content of a memory. Facts read
from BasedHardware/omi at 005c62db (backend/database/conversations.py, backend/utils/encryption.py).
"""

import base64
import json
import secrets
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic_core import from_json

from shared import telemetry
from shared.domain.store.documents import Fields
from shared.domain.store.omi_level import OmiLevel
from shared.domain.value import value

MAX_JSON_BYTES = 16_777_216
"""Of a transcript that is unpacked: the longest one with the names of its fields."""
MAX_JSON_VALUES = 1_000_000
_TRANSCRIPT, _IS_COMPRESSED, _LEVEL = (
    "transcript_segments",
    "transcript_segments_compressed",
    "data_protection_level",
)
_ENCRYPTED = {"photos": "base64", "messages": "text", "memories": "content"}
_NONCE_BYTES = 12
_INFO = b"user-data-encryption"


class _Unreadable(ValueError):
    """What Omi stored cannot be read here."""


@value
class OmiForm:
    """Reads what Omi wrote, and writes so that Omi reads it where a `level` is wanted.

    `secret` is Omi's ENCRYPTION_SECRET, None where the operator gave none.
    """

    secret: str | None = None
    level: OmiLevel | None = None

    def read(self, path: str, fields: Fields) -> Fields:
        """Return the fields of a document as ours hold them; those that Omi did not write as they are.

        What cannot be decrypted or unpacked is None, which no conversation's type takes.
        """
        match path.split("/"):
            case ["users", uid, "conversations", _]:
                read = {**_complete(fields), **self._read_transcript(uid, fields)}
                return {**fields, **read} if read else fields
            case ["users", uid, "bin", _] if isinstance(fields.get("record"), dict):
                inner = f"users/{uid}/{fields.get('kind')}/{fields.get('record_id')}"
                return {**fields, "record": self.read(inner, fields["record"])}
            case ["users", uid, *_, kind, _] if name := _find_encrypted(kind, fields):
                return self._read_field(fields, name, lambda text: self._decrypt(uid, text))
        return fields

    def write(self, path: str, fields: Fields) -> Fields:
        """Return fields that are to be stored, the transcript among them as Omi reads it at our level."""
        match path.split("/"):
            case ["users", uid, "conversations", _] if self.level and _holds_list(fields):
                content = zlib.compress(_dump_segments(fields[_TRANSCRIPT]))
                is_standard = self.level == "standard"
                stored = content if is_standard else self._encrypt(uid, content.hex())
                marks = {_IS_COMPRESSED: True, _LEVEL: self.level}
                return {**fields, **marks, _TRANSCRIPT: stored}
            case ["users", uid, "bin", _] if isinstance(fields.get("record"), dict):
                inner = f"users/{uid}/{fields['kind']}/{fields['record_id']}"
                return {**fields, "record": self.write(inner, fields["record"])}
            case ["users", uid, "conversations", _, "photos", _] if (
                self.level == "enhanced" and fields.get("base64")
            ):
                sealed = self._encrypt(uid, fields["base64"])
                return {**fields, "base64": sealed, _LEVEL: self.level}
        return fields

    def _read_transcript(self, uid: str, fields: Fields) -> Fields:
        def parse(stored: bytes | str) -> Any:
            if isinstance(stored, bytes):
                return _load_segments(_unpack(stored))
            text = self._decrypt(uid, stored)
            if not fields.get(_IS_COMPRESSED):
                return _load_segments(text.encode())
            return _load_segments(_unpack(bytes.fromhex(text)))

        if not isinstance(fields.get(_TRANSCRIPT), bytes | str):
            return {}
        return self._read_field({_TRANSCRIPT: fields[_TRANSCRIPT]}, _TRANSCRIPT, parse)

    def _read_field(self, fields: Fields, name: str, parse: Callable[[Any], Any]) -> Fields:
        try:
            return {**fields, name: parse(fields[name])}
        except (ValueError, zlib.error) as error:
            telemetry.warning("omi_document_unreadable", field=name, reason=str(error)[:80])
            return {**fields, name: None}

    def _decrypt(self, uid: str, sealed: str) -> str:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if self.secret is None:
            raise _Unreadable("cannot be decrypted: OMI_ENCRYPTION_SECRET is not set")
        content = base64.b64decode(sealed, validate=True)
        nonce, rest = content[:_NONCE_BYTES], content[_NONCE_BYTES:]
        try:
            return AESGCM(_derive_key(self.secret, uid)).decrypt(nonce, rest, None).decode()
        except InvalidTag:
            raise _Unreadable("cannot be decrypted: another OMI_ENCRYPTION_SECRET") from None

    def _encrypt(self, uid: str, text: str) -> str:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        assert self.secret is not None, "the settings ask for it at this level"
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = AESGCM(_derive_key(self.secret, uid)).encrypt(nonce, text.encode(), None)
        return base64.b64encode(nonce + sealed).decode()


def list_marks(fields: Collection[str]) -> Sequence[str]:
    """Return the fields that tell how these are stored, of those that are not asked for themselves."""
    if not {_TRANSCRIPT, *_ENCRYPTED.values()}.intersection(fields):
        return ()
    return [mark for mark in (_LEVEL, _IS_COMPRESSED) if mark not in fields]


def is_unreadable(fields: Fields) -> bool:
    """Tell whether this is a conversation of Omi's whose transcript `read` could not open."""
    return _IS_COMPRESSED in fields and fields.get(_TRANSCRIPT, ()) is None


def _holds_list(fields: Fields) -> bool:
    return isinstance(fields.get(_TRANSCRIPT), list)


def _find_encrypted(kind: str, fields: Fields) -> str | None:
    """Return the field of a document that Omi encrypted."""
    name = _ENCRYPTED.get(kind)
    return name if fields.get(_LEVEL) == "enhanced" and name and fields.get(name) else None


def _complete(fields: Fields) -> Fields:
    """Return what Omi leaves null or names otherwise, and a conversation of ours always has."""
    started_at = fields.get("started_at") or fields.get("created_at")
    instead: Mapping[str, Any] = {
        "started_at": started_at,
        "finished_at": started_at,
        "language": "en",
        "source": "unknown",
    }
    nulls = {name: instead[name] for name in instead if fields.get(name, "") is None}
    is_public = fields.get("visibility") == "public"
    return {**nulls, "visibility": "shared"} if is_public else nulls


def _unpack(content: bytes) -> bytes:
    inflater = zlib.decompressobj()
    unpacked = inflater.decompress(content, MAX_JSON_BYTES)
    if not inflater.eof:
        raise _Unreadable("cannot be unpacked: it is cut off, or too long")
    return unpacked


def _load_segments(text: bytes) -> Any:
    """Parse a JSON list that is bounded before it is parsed."""
    if sum(map(text.count, (b",", b"[", b"{"))) > MAX_JSON_VALUES or len(text) > MAX_JSON_BYTES:
        raise _Unreadable("cannot be unpacked: it is too long")
    segments = from_json(text)
    if not isinstance(segments, list):
        raise _Unreadable("cannot be read: it is no list")
    return segments


def _dump_segments(segments: list[Any]) -> bytes:
    return json.dumps(segments).encode()


@lru_cache(maxsize=1_000)
def _derive_key(secret: str, uid: str) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    hkdf = HKDF(algorithm=SHA256(), length=32, salt=uid.encode(), info=_INFO)
    return hkdf.derive(secret.encode())
