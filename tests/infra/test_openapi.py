"""API document: it agrees with the route tables."""

import json
import re
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from infra.openapi import OPENAPI_FILE, ROOT, build_document, list_public_routes, render_document


@pytest.fixture(scope="module")
def api() -> Any:
    return build_document()


def test_the_committed_document_matches_the_route_tables():
    assert render_document() == OPENAPI_FILE.read_text(), (
        "run `python -m infra.openapi` and commit what it writes"
    )


def test_the_document_is_valid_openapi(api: Any):
    assert list(OpenAPIV31SpecValidator(api).iter_errors()) == []


def test_every_public_route_is_described_once(api: Any):
    described = [(method, path) for path, item in api["paths"].items() for method in item]

    assert len(described) == len(list_public_routes()) > 0


def test_every_public_route_is_a_path_of_its_function_in_the_table():
    unrouted = [
        f"{operation.entry_point}: {operation.row.path}"
        for operation in list_public_routes()
        if not any(
            re.fullmatch(p, operation.row.path)
            for p in list_public_path_patterns(operation.entry_point)
        )
    ]

    assert unrouted == []


def list_public_path_patterns(entry_point: str) -> list[str]:
    """Return the paths that reach an entry point, as patterns."""
    paths = json.loads((ROOT / "infra/routes.json").read_text())["functions"][entry_point]["paths"]
    return [re.escape(path).replace(r"\*\*", ".+") for path in paths]


def test_internal_routes_are_not_published(api: Any):
    assert "/" not in api["paths"]
    assert "DeliverIn" not in json.dumps(api)


def test_an_apps_route_takes_its_key_and_names_its_refusals(api: Any):
    operation = api["paths"]["/v1/integrations/notification"]["post"]

    assert operation["security"] == [{"appKey": []}]
    assert set(operation["responses"]) == {
        "200", "400", "401", "403", "404", "408", "409", "413", "415", "422", "429",
    }  # fmt: skip
    assert set(operation["responses"]["429"]["content"]) == {"application/problem+json"}


def test_a_users_route_takes_their_token_and_its_query(api: Any):
    operation = api["paths"]["/v1/inbox"]["get"]

    assert operation["security"] == [{"userToken": []}]
    assert [(p["name"], p["in"], p["required"]) for p in operation["parameters"]] == [
        ("cursor", "query", False),
        ("limit", "query", False),
    ]


def test_a_name_in_a_path_is_a_parameter(api: Any):
    (parameter,) = api["paths"]["/v1/inbox/{id}/read"]["post"]["parameters"]

    assert (parameter["name"], parameter["in"], parameter["required"]) == ("id", "path", True)


def test_an_answer_that_streams_says_so(api: Any):
    answer = api["paths"]["/v2/messages"]["post"]["responses"]["200"]

    event = answer["content"]["text/event-stream"]["schema"]
    assert event["properties"]["data"]["anyOf"][0]["contentSchema"] == {
        "$ref": "#/components/schemas/UiChunk"
    }


def test_request_headers_and_other_responses_are_described_p29_x36(api: Any):
    post_operation = api["paths"]["/v2/messages"]["post"]
    resume_operation = api["paths"]["/v2/messages/{id}/stream"]["get"]

    limits = {
        parameter["name"]: (parameter["required"], parameter["schema"])
        for operation in (post_operation, resume_operation)
        for parameter in operation["parameters"]
        if parameter["in"] == "header"
    }
    assert limits["Idempotency-Key"] == (
        False,
        {"default": "", "maxLength": 255, "title": "Idempotency-Key", "type": "string"},
    )
    assert limits["Last-Event-ID"][1]["pattern"] == "^[0-9]{0,9}$"
    assert resume_operation["responses"]["204"] == {"description": "Done, without a body."}
    assert set(resume_operation["responses"]["200"]["content"]) == {"text/event-stream"}


def test_a_revoked_session_is_refused_where_something_is_exported_erased_or_allowed_s6():
    checked = {
        f"{operation.row.method} {operation.row.path}"
        for operation in list_public_routes()
        if operation.row.check in ("revocation", "erasure_request")
    }

    assert checked >= {
        "GET /v1/users/export",
        "DELETE /v1/users/delete-account",
        "POST /v1/apps/enable",
        "POST /v1/apps/mcp",
        "POST /v1/apps/mcp/complete",
        "POST /v1/apps/{app_id}/keys",
        "POST /v1/apps/{app_id}/mcp/refresh",
        "POST /v1/apps/{app_id}/signing-secret",
        "POST /v1/connections/complete",
        "POST /v1/connections/{service}/authorize",
        "POST /v1/mcp/keys",
        "POST /v2/messages/{id}/confirmations/{confirmation}",
        "PUT /v1/tool-grants",
    }
