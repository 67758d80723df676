"""Idempotency of requests: a repeat gets the stored answer, and the work is done once (T15)."""

from dataclasses import dataclass, field
from datetime import timedelta

import anyio
import httpx
import pytest
from starlette.responses import JSONResponse, Response

from shared.adapters.embedded.local_identity import LocalIdentity
from shared.adapters.embedded.local_service_identity import LocalServiceIdentity
from shared.data.stores import Stores
from shared.domain.errors import NotFound, Unavailable
from shared.domain.ids import UserId
from shared.domain.store.operation import LEASE_TTL, OPERATION_TTL, Operation
from shared.edge.declare.idempotency import run_idempotent
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.edge.serve.http import build_application
from shared.ports import Documents
from tests.fakes import CountingIds, FixedClock
from tests.fixtures.callers import build_service_identity

ALICE = UserId("alice")
INFLIGHT = "The first request with this idempotency key is still in progress."
OTHER = "This idempotency key was used for another request."


class Order(Wire):
    item: str


@dataclass
class Shop:
    """A function that takes orders and records the operation name of each."""

    stores: Stores
    clock: FixedClock = field(default_factory=FixedClock)
    new_id: CountingIds = field(default_factory=CountingIds)
    identity: LocalIdentity = field(default_factory=lambda: LocalIdentity(b"secret"))
    service_identity: LocalServiceIdentity = field(
        default_factory=lambda: build_service_identity("shop", "chat")
    )
    operation_names: list[str] = field(default_factory=list)
    outcomes: list[Exception | Response] = field(default_factory=list)
    work_started: anyio.Event = field(default_factory=anyio.Event)
    gate: anyio.Event | None = None

    async def work(self, operation: Operation) -> Response:
        self.operation_names.append(operation.name)
        self.work_started.set()
        if self.gate:
            await self.gate.wait()
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if isinstance(outcome, Exception):
            raise outcome
        return outcome or JSONResponse({"n": len(self.operation_names)}, 201, {"X-Kept": "yes"})

    async def post(
        self, key: str | None = "k", item: str = "tea", *, caller: str = "ann", path: str = "/"
    ) -> httpx.Response:
        headers = {"X-Caller": caller} | ({"Idempotency-Key": key} if key is not None else {})
        transport = httpx.ASGITransport(build_application("shop", ROUTES, self))
        async with httpx.AsyncClient(transport=transport, base_url="http://shop") as client:
            return await client.post(path, json={"item": item}, headers=headers)


@route("POST", "/", "Place an order", access="anyone")
async def place_order(shop: Shop, call: Call[Order]) -> Response:
    return await run_idempotent(
        shop, call, uid=ALICE, caller=call.headers["x-caller"], work=shop.work
    )


ROUTES = (place_order, place_order.at("/other"))


@pytest.fixture
def shop(any_documents: Documents) -> Shop:
    return Shop(Stores(any_documents))


def parse_problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["detail"]


async def test_the_same_request_gets_the_same_answer_byte_for_byte_and_is_done_once_t15(shop: Shop):
    first_response = await shop.post()
    second_response = await shop.post()

    assert (
        (first_response.status_code, first_response.content)
        == (second_response.status_code, second_response.content)
        == (201, b'{"n":1}')
    )
    assert "Idempotency-Replayed" not in first_response.headers
    assert (second_response.headers["X-Kept"], second_response.headers["Idempotency-Replayed"]) == (
        "yes",
        "true",
    )
    assert len(shop.operation_names) == 1


async def test_without_a_key_every_request_is_done(shop: Shop):
    for key in (None, None, ""):
        await shop.post(key)

    assert len(set(shop.operation_names)) == 3


async def test_another_body_under_the_same_key_is_refused_t15(shop: Shop):
    await shop.post(item="tea")

    assert parse_problem(await shop.post(item="coffee")) == (422, OTHER)
    assert len(shop.operation_names) == 1


async def test_keys_of_other_callers_and_paths_are_other_keys(shop: Shop):
    await shop.post()
    await shop.post(caller="bob")
    await shop.post(path="/other")

    assert len(set(shop.operation_names)) == 3


async def test_a_repeat_during_the_first_request_is_a_conflict_t15(shop: Shop):
    shop.gate = anyio.Event()
    answers: list[httpx.Response] = []

    async def post_first() -> None:
        answers.append(await shop.post())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(post_first)
        await shop.work_started.wait()
        conflict = await shop.post()
        shop.gate.set()

    assert parse_problem(conflict) == (409, INFLIGHT)
    assert answers[0].status_code == 201
    assert (await shop.post()).content == answers[0].content


async def test_a_crashed_attempt_is_continued_under_the_same_name_after_its_lease_t15(shop: Shop):
    crash_scope = anyio.CancelScope()
    shop.gate = anyio.Event()
    async with anyio.create_task_group() as tasks:

        async def post_first() -> None:
            with crash_scope:
                await shop.post()

        tasks.start_soon(post_first)
        await shop.work_started.wait()
        crash_scope.cancel()
    shop.gate = None

    early_response = await shop.post()
    shop.clock.advance(seconds=LEASE_TTL.total_seconds())
    continued_response = await shop.post()

    assert (early_response.status_code, continued_response.status_code) == (409, 201)
    assert shop.operation_names == [shop.operation_names[0]] * 2


async def test_two_attempts_that_overlap_give_one_answer_t15(shop: Shop):
    """The first attempt is only slow: it ends after the one that continued its operation."""
    shop.gate = slow_gate = anyio.Event()
    answers: list[httpx.Response] = []

    async def post_first() -> None:
        answers.append(await shop.post())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(post_first)
        await shop.work_started.wait()
        shop.clock.advance(seconds=LEASE_TTL.total_seconds())
        shop.gate = None
        shop.outcomes = [JSONResponse({"by": "the second"})]
        answers.append(await shop.post())
        slow_gate.set()

    assert answers[0].content == answers[1].content == b'{"by":"the second"}'


@pytest.mark.parametrize(
    "outcome", [Unavailable("down"), RuntimeError("a bug"), JSONResponse({}, 503)]
)
async def test_a_failed_attempt_is_continued_at_once_under_the_same_name_t15(
    shop: Shop, outcome: Exception | Response
):
    shop.outcomes = [outcome]

    failed_response, continued_response = await shop.post(), await shop.post()

    assert failed_response.status_code >= 500
    assert continued_response.status_code == 201
    assert shop.operation_names == [shop.operation_names[0]] * 2


async def test_a_rejected_request_is_not_stored_and_starts_anew_t15(shop: Shop):
    shop.outcomes = [NotFound("no tea")]

    rejected_response, accepted_response = await shop.post(), await shop.post()

    assert (rejected_response.status_code, accepted_response.status_code) == (404, 201)
    assert len(set(shop.operation_names)) == 2


async def test_a_key_expires_after_a_day_t15(shop: Shop):
    await shop.post()

    shop.clock.advance(seconds=(OPERATION_TTL - timedelta(seconds=1)).total_seconds())
    replayed_response = await shop.post(item="tea")
    shop.clock.advance(seconds=1)
    fresh_response = await shop.post(item="coffee")

    assert "Idempotency-Replayed" in replayed_response.headers
    assert fresh_response.status_code == 201
    assert len(set(shop.operation_names)) == 2


@pytest.mark.parametrize(("length", "status"), [(255, 201), (256, 400)])
async def test_a_key_has_at_most_255_characters_t15(shop: Shop, length: int, status: int):
    assert (await shop.post("k" * length)).status_code == status


async def test_of_twenty_concurrent_requests_one_is_done_t15(shop: Shop):
    answers: list[httpx.Response] = []

    async def post() -> None:
        answers.append(await shop.post())

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(post)

    assert len(shop.operation_names) == 1
    assert {a.status_code for a in answers} <= {201, 409}
    assert {a.content for a in answers if a.status_code == 201} == {b'{"n":1}'}
