"""Checks that a deployment asks of others: permissions, Pinecone's indexes, and the smoke test (D1, D3)."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from infra.deploy.domain import find_addresses
from infra.deploy.google import open_google
from infra.deploy.metrics import MEASURED, find_unknown_metrics
from infra.deploy.permissions import NEEDED, find_missing_permissions
from infra.deploy.pinecone_indexes import ensure_indexes
from infra.deploy.smoke_test import PRIVATE_PATHS, SOCKET_PATH, find_faults
from infra.deploy.target import ROOT
from tests.infra.terraform.stack import evaluate
from tests.servers import run_server

API_KEY = "pc-of-ann"


class PineconeControlPlane:
    """The part of Pinecone's control plane that makes and describes indexes."""

    def __init__(self) -> None:
        self.indexes: dict[str, dict[str, Any]] = {}
        self.is_crowded = False

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/indexes", self._create, methods=["POST"]),
                Route("/indexes/{name}", self._describe),
            ]
        )

    async def _describe(self, request: Request) -> Response:
        if request.headers["api-key"] != API_KEY:
            return JSONResponse({"error": "who"}, status_code=401)
        index = self.indexes.get(request.path_params["name"])
        return JSONResponse(index, status_code=200) if index else JSONResponse({}, status_code=404)

    async def _create(self, request: Request) -> Response:
        body = await request.json()
        is_taken = body["name"] in self.indexes or self.is_crowded
        self.indexes[body["name"]] = {**body, "host": f"{body['name']}.example.com"}
        return JSONResponse({} if is_taken else self.indexes[body["name"]], status_code=409 if is_taken else 201)  # fmt: skip


@pytest.fixture
def pinecone() -> Iterator[tuple[PineconeControlPlane, str]]:
    plane = PineconeControlPlane()
    with run_server(plane.app) as url:
        yield plane, url


def test_both_indexes_are_made_once_d1(pinecone: tuple[PineconeControlPlane, str]) -> None:
    plane, url = pinecone

    first = ensure_indexes(API_KEY, region="europe-west4", url=url)
    made = dict(plane.indexes)
    second = ensure_indexes(API_KEY, region="europe-west4", url=url)

    assert first == second == {"sparse": "keepsake-sparse.example.com", "dense": "keepsake-dense.example.com"}  # fmt: skip
    assert plane.indexes == made
    assert made["keepsake-sparse"]["vector_type"] == "sparse"
    assert (made["keepsake-dense"]["metric"], made["keepsake-dense"]["dimension"]) == ("cosine", 512)  # fmt: skip
    assert {index["deletion_protection"] for index in made.values()} == {"enabled"}


def test_an_index_that_somebody_else_makes_in_between_is_taken_d1(
    pinecone: tuple[PineconeControlPlane, str],
) -> None:
    plane, url = pinecone
    plane.is_crowded = True

    assert ensure_indexes(API_KEY, region="europe-west4", url=url)["dense"] == "keepsake-dense.example.com"  # fmt: skip


def test_a_wrong_key_makes_nothing_d1(pinecone: tuple[PineconeControlPlane, str]) -> None:
    plane, url = pinecone

    with pytest.raises(httpx.HTTPStatusError):
        ensure_indexes("wrong", region="europe-west4", url=url)

    assert plane.indexes == {}


def test_missing_permissions_are_listed_d1() -> None:
    async def answer(request: Request) -> Response:
        assert request.headers["authorization"] == "Bearer token"
        asked = (await request.json())["permissions"]
        return JSONResponse({"permissions": [name for name in asked if "run." not in name]})

    routes = [Route("/v1/projects/demo:testIamPermissions", answer, methods=["POST"])]
    with (
        run_server(Starlette(routes=routes)) as url,
        open_google("demo", "token", url=url) as google,
    ):
        assert find_missing_permissions(google) == ["run.services.create"]


def test_an_account_without_any_permission_lacks_all_d1() -> None:
    routes = [Route("/v1/projects/demo:testIamPermissions", lambda _: JSONResponse({}), methods=["POST"])]  # fmt: skip
    with (
        run_server(Starlette(routes=routes)) as url,
        open_google("demo", "token", url=url) as google,
    ):
        assert find_missing_permissions(google) == list(NEEDED)


def test_metrics_that_google_does_not_know_yet_are_told_f1() -> None:
    path = "/v3/projects/demo/metricDescriptors/logging.googleapis.com/user/keepsake_{name}"

    async def describe(request: Request) -> Response:
        return JSONResponse({}, status_code=200 if request.path_params["name"] == "turns" else 404)

    with run_server(Starlette(routes=[Route(path, describe)])) as url, open_google("demo", "token", url=url) as google:  # fmt: skip
        unknown = find_unknown_metrics(google)

    assert unknown == sorted({*MEASURED} - {"turns"})
    objectives = evaluate("services", "objectives")["objectives"].values()
    assert sorted({objective["metric"] for objective in objectives}) == list(MEASURED)


def test_a_name_leads_to_its_addresses_or_nowhere_yet_f1() -> None:
    def find_none(*_: object, **__: object) -> list[Any]:
        raise socket.gaierror

    assert find_addresses("localhost") == {"127.0.0.1"}
    assert find_addresses("keepsake.example.org", find_none) == set()


def build_deployment(*, headers: dict[str, str], refusal: int, unknown: int) -> Starlette:
    async def serve(request: Request) -> Response:
        match request.url.path:
            case "/":
                return PlainTextResponse("console", headers=headers)
            case "/config.json":
                return JSONResponse({"sign_in": "firebase"})
            case "/no-such-page":
                return Response(status_code=unknown)
        return Response(status_code=refusal)

    async def refuse(socket: WebSocket) -> None:
        await socket.send_denial_response(Response(status_code=refusal))

    return Starlette(routes=[WebSocketRoute(SOCKET_PATH, refuse), Route("/{path:path}", serve)])


def list_faults(**deployment: Any) -> list[str]:
    with run_server(build_deployment(**deployment)) as url, httpx.Client() as http:
        return list(find_faults(http, url))


WHOLE = {"content-security-policy": "default-src 'self'", "strict-transport-security": "max-age=1"}


def test_a_whole_deployment_passes_the_smoke_test_d3() -> None:
    assert list_faults(headers=WHOLE, refusal=401, unknown=404) == []


def test_an_open_function_a_missing_header_and_a_page_for_everything_are_found_d3() -> None:
    faults = list_faults(headers={}, refusal=200, unknown=200)

    assert len(faults) == 10
    assert faults[0] == "The console is sent without content-security-policy."
    assert "/v1/conversations answers 200 to a stranger, not 401" in " ".join(faults)
    assert faults[-1] == "An unknown page answers 200, not 404."


def test_the_smoke_test_asks_every_public_function_that_asks_who_calls_d3() -> None:
    table = json.loads((ROOT / "infra/routes.json").read_text())["functions"]
    described = json.loads((ROOT / "docs/openapi.json").read_text())["paths"]
    functions = {
        name
        for path in (*PRIVATE_PATHS, SOCKET_PATH)
        for name, row in table.items()
        if path in row.get("paths", []) or f"{path.rpartition('/')[0]}/**" in row.get("paths", [])
    }

    assert [path for path in PRIVATE_PATHS if "get" not in described.get(path, {})] == []
    assert functions == {n for n, row in table.items() if row["access"] == "public"} - {
        "integrations"
    }
