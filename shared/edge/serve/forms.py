"""Forms: multipart bodies of one JSON field, or of texts, and files, as apps and browsers send them.

A body is refused by its declared length before any of it is read, and while it is read once it is
longer than that.

Also called: multipart upload.
"""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from pydantic_core import to_json
from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from shared.domain.amounts import describe_bytes
from shared.domain.value import value
from shared.edge.declare.problems import RequestRejected, build_problem
from shared.edge.declare.routes import Form, UploadedFile
from shared.edge.serve.body_pace import receive_in_time

if TYPE_CHECKING:
    from shared.ports import Clock

MAX_FIELDS = 8
MAX_ENVELOPE_BYTES = 16_384
"""Boundaries, headers of parts, and fields that nobody reads."""
MAX_PART_HEAD_BYTES = 512
"""Of a further file: its boundary and its name."""
_BOUNDARY = re.compile(rb"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")


@value
class ReceivedForm:
    """A form's body as JSON text, and its files."""

    json_text: bytes
    files: Sequence[UploadedFile]


def is_form(request: Request) -> bool:
    media_type = request.headers.get("content-type", "").partition(";")[0]
    return media_type.strip().lower() == "multipart/form-data"


async def receive_form(
    form: Form, request: Request, clock: "Clock", *, max_json_bytes: int
) -> ReceivedForm:
    """Receive a form no further than its limits. Raises RequestRejected."""
    envelope_bytes = MAX_ENVELOPE_BYTES + (form.max_files - 1) * MAX_PART_HEAD_BYTES
    max_bytes = max_json_bytes + form.max_file_bytes + envelope_bytes
    declared_bytes = request.headers.get("content-length", "")
    _check_size(int(declared_bytes) if declared_bytes.isdecimal() else 0, max_bytes)
    parser = _FormParser(
        _build_headers(request),
        _read_within(request, clock, max_bytes),
        max_files=form.max_files,
        max_fields=MAX_FIELDS,
        max_part_size=max_json_bytes,
    )
    fields = await _parse(parser)
    try:
        return ReceivedForm(
            json_text=_get_json_text(fields, form), files=await _read_files(fields, form)
        )
    finally:
        await fields.close()


class _FormParser(MultiPartParser):
    """Refuses a body that ends before its last boundary: its last part would be missing."""

    _is_complete = False

    async def parse(self) -> FormData:
        self.stream = self._require_end(self.stream)
        return await super().parse()

    def on_end(self) -> None:
        self._is_complete = True

    async def _require_end(
        self, stream: AsyncGenerator[bytes, None]
    ) -> AsyncGenerator[bytes, None]:
        async for chunk in stream:
            yield chunk
        if not self._is_complete:
            raise RequestRejected(build_problem(400, "The form ends before its last boundary."))


async def _parse(parser: _FormParser) -> FormData:
    try:
        return await parser.parse()
    except MultiPartException as refusal:
        problem = build_problem(422, f"The form is refused: {refusal.message}")
        raise RequestRejected(problem) from refusal


def _build_headers(request: Request) -> Headers:
    """Return the type with its boundary alone: texts are UTF-8, whatever charset is declared."""
    _, options = parse_options_header(request.headers["content-type"])
    boundary = options.get(b"boundary", b"")
    if not _BOUNDARY.fullmatch(boundary):
        raise RequestRejected(build_problem(400, "The form has no boundary."))
    return Headers({"content-type": f'multipart/form-data; boundary="{boundary.decode()}"'})


async def _read_within(
    request: Request, clock: "Clock", max_bytes: int
) -> AsyncGenerator[bytes, None]:
    size_bytes = 0
    async with aclosing(receive_in_time(request, clock)) as chunks:
        async for chunk in chunks:
            size_bytes += len(chunk)
            _check_size(size_bytes, max_bytes)
            yield chunk


def _check_size(size_bytes: int, max_bytes: int) -> None:
    if size_bytes > max_bytes:
        raise RequestRejected(build_problem(413, f"The form is over {describe_bytes(max_bytes)}."))


def _get_json_text(fields: FormData, form: Form) -> bytes:
    """Return the JSON field, or the texts of the form where it has none. Raises RequestRejected."""
    if form.json_field is None:
        return to_json({name: text for name, text in fields.items() if isinstance(text, str)})
    text = fields.get(form.json_field)
    if text is None and form.is_json_optional and form.file_field in fields:
        return b"{}"
    if not isinstance(text, str):
        raise RequestRejected(build_problem(422, f"The form has no field {form.json_field!r}."))
    if not text.strip():
        raise RequestRejected(
            build_problem(400, f"{form.json_field} is not valid JSON: it is empty")
        )
    return text.encode(errors="replace")


async def _read_files(fields: FormData, form: Form) -> list[UploadedFile]:
    files = [file for file in fields.getlist(form.file_field) if isinstance(file, UploadFile)]
    if sum(file.size or 0 for file in files) > form.max_file_bytes:
        raise RequestRejected(
            build_problem(413, f"{form.file_field} is over {describe_bytes(form.max_file_bytes)}.")
        )
    return [UploadedFile(name=file.filename or "", content=await file.read()) for file in files]
