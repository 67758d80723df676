"""HTTP applications: errors, access, request ids and log lines around a handler."""

import traceback
from collections.abc import AsyncIterator
from dataclasses import dataclass

import anyio
import httpx
import pytest

from shared.adapters.embedded.local_identity import LocalIdentity
from shared.data.store.codec import MalformedDocument, load
from shared.domain.account.profile import Profile
from shared.domain.errors import AccountErased, AlreadyExists, PreconditionFailed, Unavailable
from shared.domain.store.documents import Document
from shared.edge.declare.routes import Call, route
from shared.edge.serve.http import build_application
from tests.fakes import FixedClock
from tests.fixtures.callers import build_service_identity
from tests.log import capture_log

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class FakeAuthDeps:
    identity = LocalIdentity(b"secret")
    service_identity = build_service_identity("shop", "chat")
    clock = FixedClock()


@route("GET", "/broken", "Fail", access="anyone")
async def fail(_deps: FakeAuthDeps, _call: Call) -> None:
    raise RuntimeError("her diagnosis")


RACES = {"changed": PreconditionFailed, "there": AlreadyExists, "erased": AccountErased}


@route("GET", "/races/{kind}", "Lose a race", access="anyone")
async def lose_race(_deps: FakeAuthDeps, call: Call) -> None:
    raise RACES[call.path["kind"]]("users/ann/memories/m1")


@route("GET", "/parts", "Fail in parts that run beside one another", access="anyone")
async def fail_in_parts(_deps: FakeAuthDeps, _call: Call) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_fail_in_time)


async def _fail_in_time() -> None:
    raise Unavailable("the store is away")


@route("POST", "/", "Serve our other functions", access="service")
async def serve_internally(_deps: FakeAuthDeps, _call: Call) -> None:
    raise AssertionError("nobody but a service of ours gets here")


@route("GET", "/orders/{count}", "List orders", access="anyone")
async def list_orders(_deps: FakeAuthDeps, call: Call) -> list[str]:
    return [f"order {number}" for number in range(int(call.path["count"]))]


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    routes = (fail, fail_in_parts, lose_race, list_orders, serve_internally)
    transport = httpx.ASGITransport(build_application("shop", routes, FakeAuthDeps()))
    async with httpx.AsyncClient(transport=transport, base_url="http://shop") as client:
        yield client


@pytest.mark.parametrize("kind", ["changed", "there"])
async def test_who_lost_a_race_is_told_to_try_again(http: httpx.AsyncClient, kind: str):
    answer = await http.get(f"/races/{kind}")

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    detail = "Something else changed this at the same time. Please try again."
    assert answer.json()["detail"] == detail


async def test_what_failed_in_a_part_is_told_as_if_it_were_the_whole(http: httpx.AsyncClient):
    answer = await http.get("/parts")

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


async def test_an_erased_account_is_gone_for_good(http: httpx.AsyncClient):
    answer = await http.get("/races/erased")

    assert (answer.status_code, "retry-after" in answer.headers) == (410, False)


async def test_an_unhandled_error_is_a_problem_without_details(http: httpx.AsyncClient):
    answer = await http.get("/broken")

    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"] == "Internal Server Error"


@pytest.mark.parametrize("count", [1_000, 50_000])
async def test_a_long_answer_is_compressed_for_those_who_take_it(
    http: httpx.AsyncClient, count: int
):
    plain = await http.get(f"/orders/{count}", headers={"Accept-Encoding": "identity"})
    small = await http.get(f"/orders/{count}", headers={"Accept-Encoding": "br, gzip"})

    assert plain.json() == small.json() == [f"order {number}" for number in range(count)]
    assert "content-encoding" not in plain.headers
    assert small.headers["content-encoding"] == "gzip"
    assert int(small.headers["content-length"]) < int(plain.headers["content-length"]) / 4
    assert plain.headers["vary"] == small.headers["vary"] == "Accept-Encoding"


async def test_answers_of_json_are_kept_by_no_cache(http: httpx.AsyncClient):
    answer = await http.get("/orders/3")

    assert answer.headers["cache-control"] == "private, no-store"


@pytest.mark.parametrize("path", ["/nothing", "/orders/many", "/broken"])
async def test_problems_are_kept_by_no_cache(http: httpx.AsyncClient, path: str):
    answer = await http.get(path)

    assert answer.status_code >= 400
    assert answer.headers["cache-control"] == "no-store"


async def test_only_a_service_token_for_this_function_opens_an_internal_endpoint(
    http: httpx.AsyncClient,
):
    user = FakeAuthDeps.identity.issue("alice")
    other = await FakeAuthDeps.service_identity.get_token("caller", "chat")

    for token in (user, other):
        answer = await http.post("/", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401


TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACE_HEADERS = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "X-Request-Id": "r1"}


@pytest.mark.parametrize(
    ("method", "path", "status", "outcome"),
    [
        ("GET", "/healthz", 200, "ok"),
        ("GET", "/broken", 500, "failed"),
        ("POST", "/", 401, "refused"),
        ("GET", "/nowhere", 404, "refused"),
        ("PUT", "/broken", 405, "refused"),
    ],
)
async def test_every_answer_has_its_request_id_and_one_line_c75(
    http: httpx.AsyncClient, method: str, path: str, status: int, outcome: str
):
    with capture_log() as log:
        answer = await http.request(method, path, headers=TRACE_HEADERS)

    (line,) = log.find_requests()
    assert answer.status_code == status
    assert answer.headers["x-request-id"] == "r1"
    assert (line["function"], line["status"], line["outcome"]) == ("shop", status, outcome)
    assert (line["trace_id"], line["request_id"]) == (TRACE, "r1")


async def test_an_invalid_request_id_is_not_echoed_c75(http: httpx.AsyncClient):
    answer = await http.get("/broken", headers={"X-Request-Id": "<script>"})

    assert answer.headers["x-request-id"].isalnum()


async def test_a_log_line_contains_neither_path_nor_query_c75(http: httpx.AsyncClient):
    with capture_log() as log:
        await http.get("/her-diagnosis?of=ann")

    assert "diagnosis" not in log.text
    assert "ann" not in log.text


def test_the_error_of_a_malformed_document_contains_none_of_its_content():
    document = Document(path="users/alice", fields={"name": {"is": "her diagnosis"}}, version="")

    with pytest.raises(MalformedDocument) as error:
        load(Profile, document)

    assert "diagnosis" not in "".join(traceback.format_exception(error.value))
