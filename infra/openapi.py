"""API document: OpenAPI 3.1 of the public routes; `python -m infra.openapi` writes docs/openapi.json."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from infra.local.routing import EntryPoint as RoutedEntryPoint
from infra.local.routing import load_entry_points
from infra.stream_documents import EVENT_TYPES, build_stream_content
from infra.stream_documents import MEDIA_TYPE as EVENT_STREAM
from shared.data.store.codec import type_adapter
from shared.edge.declare.entry_points import load_routes
from shared.edge.declare.idempotency import IdempotencyKeyHeader
from shared.edge.declare.routes import Form, Route
from shared.edge.declare.schemas import Wire

ROOT = Path(__file__).parents[1]
OPENAPI_FILE = ROOT / "docs/openapi.json"
PAGE = "text/html"
REFERENCE_TEMPLATE = "#/components/schemas/{model}"
PROBLEM_SCHEMA = {
    "description": "A problem (RFC 9457). `detail` is one sentence for the caller.",
    "type": "object",
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail"],
}
STATUS_DESCRIPTIONS: Mapping[int, str] = {
    200: "Done.",
    201: "Created.",
    202: "Accepted; the work continues.",
    204: "Done, without a body.",
    206: "A part of what was asked for.",
    207: "A part was done; the body says what failed.",
    303: "It is shown at another address.",
    304: "Unchanged.",
    400: "The request cannot be read, or a required part is missing.",
    401: "The caller is not authenticated.",
    403: "The caller is not allowed to do this.",
    404: "There is no such thing for this caller.",
    408: "The request was sent over five minutes ago, by its X-Request-Start-Time.",
    409: "The request conflicts with what is stored.",
    410: "The time for this has expired.",
    412: "The request asks for a version of a protocol that is not spoken here.",
    413: "The request is larger than the limit.",
    416: "The range lies outside of the content.",
    415: "The body is not sent as a media type that is accepted.",
    422: "A value is invalid.",
    423: "The chat is locked; `locked_until` tells until when.",
    429: "A limit is reached; Retry-After tells when to try again.",
    502: "The language model, or a server that was asked, gave no usable answer.",
    503: "A part of the service does not answer; try again.",
}
SECURITY_SCHEMES = {
    "userToken": {
        "type": "http",
        "scheme": "bearer",
        "description": "The user's ID token: Firebase's, or of a local server `POST /local/token`.",
    },
    "appKey": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key: an app's, `sk_…`, or for MCP a user's, `ks_mcp_…`, or a token by OAuth.",
    },
}

Json = dict[str, Any]
Schemas = Mapping[tuple[Any, Any], Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicRoute:
    """A public route, and the entry point that serves it."""

    entry_point: str
    row: Route[Any]


def list_public_routes() -> list[PublicRoute]:
    """List what is described of every public entry point but that of sockets, in the order of infra/routes.json."""
    return [
        PublicRoute(entry_point=entry_point.name, row=row)
        for entry_point in load_entry_points()
        if entry_point.access == "public" and not entry_point.carries_sockets
        for row in _list_routes(entry_point)
        if row.is_described
    ]


def _list_routes(entry_point: RoutedEntryPoint) -> Sequence[Route[Any]]:
    """List the routes of an entry point once each: those that it serves first stand among all, or apart."""
    table = import_module(f"functions.{entry_point.source.parent.name}.entry_points").ENTRY_POINTS
    [row] = [row for row in table if row.name == entry_point.name]
    *earlier, last = map(load_routes, row.places)
    return [*(route for routes in earlier for route in routes if route not in last), *last]


def build_document() -> Json:
    """Build the OpenAPI document."""
    routes = list_public_routes()
    schemas, components = _build_schemas([operation.row for operation in routes])
    paths: dict[str, Json] = {}
    for operation in routes:
        path = re.sub(r"{(\w+):\w+}", r"{\1}", operation.row.path)
        paths.setdefault(path, {})[operation.row.method.lower()] = _build_operation(
            operation, schemas
        )
    return {
        "openapi": "3.1.0",
        "info": _build_info(),
        "paths": paths,
        "components": {
            "schemas": {"Problem": PROBLEM_SCHEMA, **components},
            "securitySchemes": SECURITY_SCHEMES,
        },
    }


def _build_info() -> Json:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {
        "title": "Keepsake",
        "version": project["version"],
        "description": project["description"],
        "license": {"name": project["license"], "identifier": project["license"]},
    }


def _build_schemas(rows: list[Route[Any]]) -> tuple[Schemas, Json]:
    """Return the schema of each body, response and event, and the named ones they refer to."""
    bodies = [(row.body, "validation") for row in rows if row.body not in (None, bytes)]
    responses = [(row.response, "serialization") for row in rows if row.response is not None]
    events = [(kind, "serialization") for kind in EVENT_TYPES]
    types = list(dict.fromkeys([*bodies, *responses, *events]))
    adapters = [(kind, mode, type_adapter(kind)) for kind, mode in types]
    schemas, definitions = TypeAdapter.json_schemas(adapters, ref_template=REFERENCE_TEMPLATE)  # type: ignore[arg-type]  # the modes are literals, in a list of tuples
    return schemas, definitions.get("$defs", {})


def _build_operation(operation: PublicRoute, schemas: Schemas) -> Json:
    row = operation.row
    result: Json = {
        "operationId": re.sub(r"\W+", "_", f"{row.method.lower()}{row.path}").strip("_"),
        "summary": row.summary,
        "tags": [_find_subject(row.path)],
        "security": _build_security(row),
        "parameters": [
            *_build_path_parameters(row),
            *_build_parameters(row.query, "query"),
            *_build_query_fields(row),
            *_build_parameters(row.headers, "header"),
            *_build_parameters(IdempotencyKeyHeader if row.creates else None, "header"),
        ],
        "responses": {**_build_responses(row, schemas), **_build_error_responses(row)},
    }
    if row.body is not None:
        result["requestBody"] = _build_request_body(row, schemas)
    return result


def _find_subject(path: str) -> str:
    """Return the noun of a path, such as conversations of /v1/conversations/{id}."""
    return next(part for part in path.split("/") if part and not re.fullmatch(r"v\d+", part))


def _build_security(row: Route[Any]) -> list[Json]:
    """Return the token that a route takes; an app's key where no user signs in but 401 is possible."""
    if row.access == "user":
        return [{"userToken": []}]
    return [{"appKey": []}] if 401 in row.errors else []


def _build_path_parameters(row: Route[Any]) -> list[Json]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)", row.path)
    ]


def _build_parameters(model: type[Wire] | None, place: str) -> list[Json]:
    if model is None:
        return []
    schema = model.model_json_schema()
    required = schema.get("required", [])
    return [
        {"name": name, "in": place, "required": name in required, "schema": field}
        for name, field in schema["properties"].items()
    ]


def _build_query_fields(row: Route[Any]) -> list[Json]:
    """List the fields of a body that released apps send in the query."""
    if not row.is_query_accepted:
        return []
    return [
        {**parameter, "required": False, "deprecated": True}
        for parameter in _build_parameters(row.body, "query")
    ]


def _build_request_body(row: Route[Any], schemas: Schemas) -> Json:
    described = {
        "description": f"At most {row.max_bytes} bytes.",
        "required": not row.is_query_accepted,
    }
    if row.body is bytes:
        return {**described, "content": {"application/octet-stream": {}}}
    schema = schemas[row.body, "validation"]
    content: Json = {"application/json": {"schema": schema}}
    if row.form is not None:
        content["multipart/form-data"] = _build_form_content(row.form, schema)
    return {**described, "content": content}


def _build_form_content(form: Form, schema: Json) -> Json:
    file: Json = {"type": "string", "format": "binary", "maxLength": form.max_file_bytes}
    if form.max_files > 1:
        file = {"type": "array", "items": file, "maxItems": form.max_files}
    if form.json_field is None:
        own = {"properties": {form.file_field: file}, "required": [form.file_field]}
        return {"schema": {"allOf": [schema, {"type": "object", **own}]}}
    return {
        "schema": {
            "type": "object",
            "properties": {form.json_field: schema, form.file_field: file},
            "required": [form.file_field if form.is_json_optional else form.json_field],
        },
        "encoding": {form.json_field: {"contentType": "application/json"}},
    }


def _build_responses(row: Route[Any], schemas: Schemas) -> Json:
    return {
        str(status): {
            "description": STATUS_DESCRIPTIONS[status],
            **_build_content(row, status, schemas),
        }
        for status in (row.status, *row.other_statuses)
    }


def _build_content(row: Route[Any], status: int, schemas: Schemas) -> Json:
    if status in (204, 304):
        return {}
    if row.media_type == EVENT_STREAM:
        return {"content": build_stream_content(f"{row.method} {row.path}", schemas)}
    if row.response is not None:
        return {"content": {row.media_type: {"schema": schemas[row.response, "serialization"]}}}
    return {"content": {row.media_type: {}}} if row.media_type != "application/json" else {}


def _build_error_responses(row: Route[Any]) -> Json:
    """Describe what a handler can refuse, and what the edge refuses before it is called.

    A handler of pages may refuse with a page, and one of another protocol with what that says.
    """
    statuses = {408, *row.errors}
    if row.access == "user":
        statuses.add(401)
    if row.headers is not None:
        statuses.add(400)
    if row.creates:
        statuses |= {400, 409, 422}
    if row.query is not None:
        statuses.add(422)
    if row.body is not None:
        statuses |= {400, 413, 415, 422}
    problem = {"schema": {"$ref": REFERENCE_TEMPLATE.format(model="Problem")}}
    page: Json = {PAGE: {}} if row.media_type == PAGE else {}
    content = {"application/problem+json": problem, **page}
    return {
        str(status): {
            "description": STATUS_DESCRIPTIONS[status],
            "content": {
                **content,
                **({"application/json": {}} if status in row.protocol_errors else {}),
            },
        }
        for status in sorted(statuses)
    }


def render_document() -> str:
    """Return the document as it is committed."""
    return json.dumps(build_document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    OPENAPI_FILE.write_text(render_document())
    print(f"wrote {OPENAPI_FILE.relative_to(ROOT)}")
