"""Schemas of uploads: the headers of tus, and what is told of one."""

from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator, Field

from shared.domain.ids import UserId
from shared.edge.declare.schemas import Wire

MAX_METADATA_CHARS = 4_096
MAX_NUMBER = 10**15
"""No file is as long; JSON and headers of clients hold such a number exactly."""


def _require_digits(text: object) -> object:
    if isinstance(text, str) and not (text.isascii() and text.isdigit()):
        raise ValueError("must be a whole number")
    return text


ByteCount = Annotated[int, BeforeValidator(_require_digits), Field(ge=0, le=MAX_NUMBER)]


class StartHeaders(Wire):
    """How long the file is, and base64 texts `filename` and `filetype` that say what it is."""

    upload_length: Annotated[ByteCount, Field(alias="Upload-Length")]
    upload_metadata: Annotated[
        str, Field(alias="Upload-Metadata", max_length=MAX_METADATA_CHARS)
    ] = ""


class PartHeaders(Wire):
    """The byte at which a part begins."""

    upload_offset: Annotated[ByteCount, Field(alias="Upload-Offset")]


class UploadOut(Wire):
    """How much of a file arrived, in bytes."""

    id: str
    length: int
    offset: int
    name: str
    media_type: str
    expires_at: datetime


class ExpireUploadIn(Wire):
    """An upload whose time is over."""

    uid: UserId
    upload_id: str
