"""Admission in a chat: a question waits its turn, and a user who floods is told when to come back (D5)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from functions.chat.deps import ChatDeps, Limits
from shared.adapters.admitted_model import AdmittedModels
from shared.domain.errors import Unavailable
from shared.domain.models.rate_budget import build_instance_budget
from shared.reading.crisis_verdict import DOUBTFUL_DANGER
from shared.resilience.admission import Admission
from shared.safety.crisis_plan import NOT_ALONE
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.test_message_routes import open_chat

UI_PROTOCOL = {"protocol": "ui-message-stream"}
HELLO = {"text": "Hello"}
DESPERATE = {"text": "I want to kill myself"}
DOUBTFUL = {"text": "my pills are all in front of me"}


async def lease_nothing(*_: object, **__: object) -> float:
    raise Unavailable("the store is down")


def admit(deps: ChatDeps, world: ChatFixture) -> tuple[ChatDeps, Admission]:
    """Give an instance 40,000 tokens a minute of its own, and a minute's rest."""
    budget = build_instance_budget(160_000, 1, world.clock.now())
    admission = Admission(budget, lease_nothing, world.clock, first_shard=0)
    world.clock.advance(seconds=60)
    limits = Limits(reading_end_s=0.0, late_reading_s=0.0)
    return replace(deps, model=AdmittedModels(deps.model, admission), limits=limits), admission


@asynccontextmanager
async def waiting_call(admission: Admission, world: ChatFixture) -> AsyncIterator[None]:
    """Let a call of Ada's wait for longer than she may ask another question."""
    call = asyncio.create_task(admission.admit(ADA, "now", 20_000))
    await asyncio.sleep(0)
    world.clock.advance(seconds=6)
    yield
    call.cancel()
    with suppress(asyncio.CancelledError):
        await call


async def test_a_question_is_answered_where_there_are_tokens_d5(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        deps, _ = admit(world.deps(model), world)
        async with open_chat(deps) as http:
            answer = await http.post("/v2/messages", json=HELLO, params=UI_PROTOCOL)

    assert answer.status_code == 200
    assert "Hi" in answer.text


async def test_who_floods_is_refused_in_both_protocols_and_told_when_to_come_back_d5(
    world: ChatFixture,
) -> None:
    deps, admission = admit(world.deps(ScriptedModel()), world)
    async with waiting_call(admission, world), open_chat(deps) as http:
        refusal = await http.post("/v2/messages", json=HELLO, params=UI_PROTOCOL)
        in_chat = await http.post("/v2/messages", json=HELLO)

    assert (refusal.status_code, refusal.headers["retry-after"]) == (429, "30")
    assert refusal.json()["detail"].startswith("Your other questions still wait")
    assert in_chat.content.startswith(b"data: Your other questions still wait")


async def test_what_may_be_a_crisis_is_judged_at_once_however_short_tokens_are_d5(
    world: ChatFixture,
) -> None:
    world.meanings.danger = {DOUBTFUL["text"]: DOUBTFUL_DANGER}
    readings = {"chat/reading": [{"danger": 3}]}
    with ScriptedModel(answers=readings) as model:
        deps, admission = admit(world.deps(model), world)
        async with waiting_call(admission, world), open_chat(deps) as http:
            answer = await http.post("/v2/messages", json=DOUBTFUL, params=UI_PROTOCOL)

    assert answer.status_code == 200
    assert NOT_ALONE in answer.text


async def test_a_crisis_is_never_refused_for_want_of_tokens_d5(world: ChatFixture) -> None:
    deps, admission = admit(
        world.deps(ScriptedModel(answers={"chat/reading": [{"danger": 3}]})), world
    )
    async with waiting_call(admission, world), open_chat(deps) as http:
        answer = await http.post("/v2/messages", json=DESPERATE, params=UI_PROTOCOL)

    assert answer.status_code == 200
