"""After-turn work: the event of an ended turn and its entry point (P16)."""

import base64
import json
from dataclasses import replace

import pytest

from functions.chat.api.internal_routes import AFTER_TURN_ROUTES
from functions.chat.deps import AfterTurnDeps, ChatDeps
from functions.chat.turn.after_turn import after_turn
from shared import telemetry
from shared.domain.chats.chat import MAIN_SESSION
from shared.domain.errors import Unavailable
from shared.domain.models.model import ModelFacts
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.callers import build_service_headers, open_client
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.chats import (
    build_after_turn_deps,
    load_session,
    number_texts,
    script_notes,
    script_summaries,
    store_messages,
)
from tests.functions.chat.test_turn import ask, require_end


async def test_a_turn_publishes_its_end_once_its_answer_is_stored_p16(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        end = require_end(await ask(world.deps(model)))

    ids = {"uid": ADA, "session_id": MAIN_SESSION, "run_id": end.message.id}
    assert world.events.published == [("turn.ended", ids)]


@pytest.mark.parametrize(
    ("window_tokens", "due"), [(32_000, {"summarise_for": 32_000}), (128_000, {})]
)
async def test_the_end_of_a_turn_says_for_which_window_a_summary_is_due_x26(
    world: ChatFixture, window_tokens: int, due: dict[str, int]
) -> None:
    await store_messages(world, *number_texts(31))
    facts = ModelFacts(window_tokens=window_tokens)
    with ScriptedModel(script_answer("Hi"), facts=facts) as model:
        end = require_end(await ask(world.deps(model)))

    event = {"uid": ADA, "session_id": MAIN_SESSION, "run_id": end.message.id, **due}
    assert world.events.published == [("turn.ended", event)]


async def test_an_answer_completes_when_its_event_cannot_be_published(world: ChatFixture) -> None:
    class DownEvents:
        async def publish(self, *_: object) -> None:
            raise Unavailable("down")

    with ScriptedModel(script_answer("Hi")) as model:
        deps: ChatDeps = replace(world, events=DownEvents()).deps(model)  # type: ignore[arg-type]
        end = require_end(await ask(deps))

    assert (end.outcome, end.message.text) == ("completed", "Hi")


def build_push_body(event: object) -> bytes:
    data = base64.b64encode(json.dumps(event).encode()).decode()
    return json.dumps({"message": {"data": data, "messageId": "1"}}).encode()


async def post_event(deps: AfterTurnDeps, body: bytes, *, audience: str = "after_turn") -> int:
    headers = await build_service_headers(audience)
    async with open_client("after_turn", AFTER_TURN_ROUTES, deps, headers) as http:
        answer = await http.post("/", content=body)
    return answer.status_code


async def test_the_after_turn_entry_point_accepts_events_from_our_services_only(
    world: ChatFixture,
) -> None:
    *_, answer = await store_messages(world, *number_texts(32))
    ids = {"uid": ADA, "session_id": MAIN_SESSION, "run_id": answer.id}
    event = build_push_body({**ids, "summarise_for": 32_000})
    answers = {**script_notes({"title": "Time"}), **script_summaries("Numbers.")}
    with ScriptedModel(answers=answers) as model:
        deps = build_after_turn_deps(world, model)
        statuses = [
            await post_event(deps, event, audience="close_run"),
            await post_event(deps, build_push_body({"uid": ADA})),
            await post_event(deps, event),
        ]

    assert statuses == [401, 422, 204]
    session = await load_session(world)
    assert (session.title, session.summary) == ("Time", "Numbers.")


@pytest.mark.parametrize("count", [2, 24, 30])
async def test_each_message_is_read_once_after_a_turn_d11(world: ChatFixture, count: int) -> None:
    *_, answer = await store_messages(world, *number_texts(count))
    with (
        ScriptedModel(answers=script_notes({"title": "Numbers"})) as model,
        telemetry.log_request("after_turn"),
    ):
        await after_turn(build_after_turn_deps(world, model), ADA, MAIN_SESSION, answer.id)
        fields = telemetry.get_fields()

    assert (await world.deps().stores.messages.get(ADA, answer.id)).notes is not None
    assert fields["reads"] <= count + 4
