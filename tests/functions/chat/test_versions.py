"""Versions of messages (U7): an edited question, another answer, and which of them a chat shows."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx

from functions.chat.api.routes import ROUTES
from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import Journal
from functions.chat.sessions import versions
from functions.chat.sessions.versions import load_wanted
from functions.chat.turn.after_turn import after_turn
from functions.chat.turn.answer_turn import answer_turn, build_run
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.domain.chats.chat import MAIN_SESSION, Fork, Message, build_session
from shared.domain.chats.run import LEASE_TTL
from shared.domain.ids import BranchId, MessageId
from shared.domain.models.model import SAFE_WINDOW_TOKENS, AssistantTurn, ModelMessage, UserText
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.chats import GONE_ANSWER

UI = {"protocol": "ui-message-stream"}


class ChatClient:
    """A client that asks, edits and lists, a second apart."""

    def __init__(self, world: ChatFixture, http: httpx.AsyncClient) -> None:
        self.world = world
        self.http = http

    async def ask(self, text: str, **fields: Any) -> httpx.Response:
        self.world.clock.advance(seconds=1)
        return await self.http.post("/v2/messages", json={"text": text, **fields}, params=UI)

    async def add_version(
        self, message_id: str, text: str | None = None, key: str = ""
    ) -> httpx.Response:
        self.world.clock.advance(seconds=1)
        return await self.http.post(
            f"/v2/messages/{message_id}/versions",
            json={} if text is None else {"text": text},
            headers={"Idempotency-Key": key} if key else {},
        )

    async def show(self, message_id: str) -> httpx.Response:
        return await self.http.put(
            "/v2/chat-sessions/main/shown-version", json={"message_id": message_id}
        )

    async def list_shown(self, **query: str) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = (await self.http.get("/v2/messages", params=query)).json()
        return messages[::-1]

    async def list_texts(self) -> list[str]:
        return [message["text"] for message in await self.list_shown()]


@asynccontextmanager
async def open_chat(
    world: ChatFixture, model: ScriptedModel, uid: str = ADA
) -> AsyncIterator[ChatClient]:
    async with open_client("chat", ROUTES, world.deps(model), build_auth_headers(uid)) as http:
        yield ChatClient(world, http)


def read_conversation(messages: Sequence[ModelMessage]) -> list[str]:
    """Return what the model read of the chat, without the system's texts."""
    texts = [m.text for m in messages if isinstance(m, UserText | AssistantTurn)]
    return [text.rsplit("\n\n", 1)[-1] for text in texts]


async def test_another_answer_keeps_the_first_one_within_reach_u7(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("One"), script_answer("Two"), script_answer("Three")) as model:
        async with open_chat(world, model) as chat:
            first = (await chat.ask("Hello")).headers["x-run-id"]
            second = (await chat.add_version(first)).headers["x-run-id"]
            third = (await chat.add_version(second)).headers["x-run-id"]
            shown = await chat.list_shown()
            await chat.show(first)
            texts = await chat.list_texts()

    assert [(m["text"], m["metadata"].get("versions")) for m in shown] == [
        ("Hello", None),
        ("Three", [first, second, third]),
    ]
    assert texts == ["Hello", "One"]
    assert [read_conversation(call.messages) for call in model.calls] == [["Hello"]] * 3


async def test_an_edited_question_begins_a_branch_without_what_followed_u7(
    world: ChatFixture,
) -> None:
    answers = [script_answer(text) for text in ("One", "Two", "Deux", "Trois", "Three")]
    with ScriptedModel(*answers) as model:
        async with open_chat(world, model) as chat:
            await chat.ask("First?")
            run_id = (await chat.ask("Second?")).headers["x-run-id"]
            edited = (await chat.add_version(f"{run_id}-q", "Deuxième?")).headers["x-run-id"]
            await chat.ask("Troisième?")
            in_branch = await chat.list_texts()
            await chat.show(f"{run_id}-q")
            await chat.ask("Third?")
            in_root = await chat.list_shown()
            await chat.show(f"{edited}-q")
            again = await chat.list_texts()

    assert in_branch == again == ["First?", "One", "Deuxième?", "Deux", "Troisième?", "Trois"]
    assert [m["text"] for m in in_root] == ["First?", "One", "Second?", "Two", "Third?", "Three"]
    assert in_root[2]["metadata"]["versions"] == [f"{run_id}-q", f"{edited}-q"]
    assert read_conversation(model.calls[3].messages) == in_branch[:5]
    assert read_conversation(model.calls[4].messages) == [m["text"] for m in in_root[:5]]


async def test_a_repeated_request_streams_the_version_it_began_u7(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("One"), script_answer("Two")) as model:
        async with open_chat(world, model) as chat:
            first = (await chat.ask("Hello")).headers["x-run-id"]
            began = await chat.add_version(first, key="k")
            repeated = await chat.add_version(first, key="k")
            other = await chat.add_version(f"{first}-q", "Bye", key="k")
            texts = await chat.list_texts()
            [_, answer] = await chat.list_shown()

    assert began.content == repeated.content
    assert other.status_code == 422
    assert texts == ["Hello", "Two"]
    assert len(answer["metadata"]["versions"]) == 2


async def test_of_two_windows_the_second_must_look_first_u7(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("One"), script_answer("Two")) as model:
        async with open_chat(world, model) as chat:
            first = (await chat.ask("Hello")).headers["x-run-id"]
            await chat.add_version(first)
            refused = await chat.ask("And now?", follows=first)
            texts = await chat.list_texts()

    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "This chat was changed in another window. Please look at it and ask again.",
    )
    assert texts == ["Hello", "Two"]


async def test_a_question_may_follow_what_its_owner_saw(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("One"), script_answer("Two")) as model:
        async with open_chat(world, model) as chat:
            first = (await chat.ask("Hello")).headers["x-run-id"]
            accepted = await chat.ask("And now?", follows=first)

    assert accepted.status_code == 200


async def test_what_cannot_have_versions_is_refused_with_a_reason(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("One")) as model:
        async with open_chat(world, model) as chat:
            [greeting] = await chat.list_shown()
            first = (await chat.ask("Hello")).headers["x-run-id"]
            refusals = [
                await chat.add_version(greeting["id"]),
                await chat.add_version(f"{first}-q"),
                await chat.add_version(f"{first}-q", "  "),
                await chat.add_version(first, "Other"),
                await chat.add_version("nope"),
                await chat.show("nope"),
            ]
        async with open_chat(world, model, EVE) as eve:
            refusals += [await eve.add_version(first), await eve.show(first)]

    assert [(r.status_code, r.json()["detail"]) for r in refusals] == [
        (422, "Only an answer to a question of yours can be asked again."),
        (422, "An edited question needs its new text."),
        (422, "Your message is empty. Please write a question."),
        (422, "An answer is asked again with the text of its question."),
        (404, "Message not found"),
        (404, "Message not found"),
        (404, "Message not found"),
        (404, "Chat session not found"),
    ]


async def test_a_chat_has_a_bounded_number_of_versions(world: ChatFixture) -> None:
    count = versions.MAX_VERSIONS
    with ScriptedModel(*[script_answer("Hi")] * 3) as model:
        deps = world.deps(model)
        turn = await prepare_turn(deps, ADA, Question("Hello"))
        await answer_turn(deps, turn, Journal())
        await add_answer(world, deps, turn.run_id)
        await deps.stores.sessions.change_forks(
            ADA, MAIN_SESSION, lambda forks: (*add_hidden_versions(forks[0], count - 2), *forks)
        )
        await add_answer(world, deps, turn.run_id)
        async with open_chat(world, model) as chat:
            refused = await chat.add_version(turn.run_id)
            [_, answer] = await chat.list_shown()

    assert refused.status_code == 409
    assert "begin a new chat" in refused.json()["detail"]
    assert len(answer["metadata"]["versions"]) == count + 1


def add_hidden_versions(fork: Fork, count: int) -> list[Fork]:
    return [
        replace(fork, id=BranchId(f"v{n}"), head=MessageId(f"v{n}"), is_shown=False)
        for n in range(count)
    ]


async def add_answer(world: ChatFixture, deps: ChatDeps, message_id: str) -> str:
    """Ask for another answer without HTTP."""
    world.clock.advance(minutes=10)
    wanted = await load_wanted(deps, ADA, MessageId(message_id), None)
    turn = await prepare_turn(
        deps,
        ADA,
        Question(wanted.text, session_id=wanted.session.id, can_confirm=True, version=wanted),
    )
    await answer_turn(deps, turn, Journal())
    return turn.run_id


async def test_a_version_whose_process_died_is_closed_by_its_next_reader(
    world: ChatFixture,
) -> None:
    with ScriptedModel(script_answer("One")) as model:
        deps = world.deps(model)
        turn = await prepare_turn(deps, ADA, Question("Hello"))
        await answer_turn(deps, turn, Journal())
        world.clock.advance(seconds=1)
        wanted = await load_wanted(deps, ADA, MessageId(turn.run_id), None)
        dying = await prepare_turn(
            deps, ADA, Question("Hello", session_id=MAIN_SESSION, version=wanted)
        )
        run = build_run(deps, dying)
        await deps.stores.runs.begin(ADA, run, dying.session, dying.question, dying.fork)
        async with open_chat(world, model) as chat:
            [waiting] = await chat.list_shown()
            world.clock.advance(seconds=LEASE_TTL.total_seconds())
            closed = await chat.list_shown()

    assert waiting["metadata"]["run"] == dying.run_id
    assert [m["id"] for m in closed] == [f"{turn.run_id}-q", dying.run_id]
    assert closed[1]["metadata"]["outcome"] == "interrupted"
    assert closed[1]["metadata"]["versions"] == [turn.run_id, dying.run_id]


async def test_older_pages_hold_the_shown_versions_alone(world: ChatFixture) -> None:
    answers = [script_answer(f"A{n}") for n in range(4)]
    with ScriptedModel(*answers) as model:
        async with open_chat(world, model) as chat:
            first = (await chat.ask("Q0")).headers["x-run-id"]
            second = (await chat.ask("Q1")).headers["x-run-id"]
            await chat.add_version(first)
            await chat.show(first)
            await chat.add_version(second)
            shown = await chat.list_shown()
            older = await chat.list_shown(before=shown[-1]["id"])

    assert [m["text"] for m in older] == ["Q0", "A0", "Q1"]


async def test_an_apps_notification_stays_in_every_version(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("One"), script_answer("Two")) as model:
        async with open_chat(world, model) as chat:
            first = (await chat.ask("Hello")).headers["x-run-id"]
            await chat.add_version(first)
            world.clock.advance(seconds=1)
            now = world.clock.now()
            post = Message(
                id=MessageId("post"),
                session_id=MAIN_SESSION,
                text="It rains.",
                sender="ai",
                created_at=now,
                from_integration=True,
            )
            session = build_session(MAIN_SESSION, app_id=None, now=now)
            await world.deps().stores.messages.add(ADA, session, post)
            in_branch = await chat.list_texts()
            await chat.show(first)
            in_root = await chat.list_texts()

    assert in_branch == ["Hello", "Two", "It rains."]
    assert in_root == ["Hello", "One", "It rains."]


async def test_a_cleared_chat_has_no_versions(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("One"), script_answer("Two")) as model:
        async with open_chat(world, model) as chat:
            first = (await chat.ask("Hello")).headers["x-run-id"]
            await chat.add_version(first)
            await chat.http.delete("/v2/messages")
            texts = await chat.list_texts()
            session = await world.deps().stores.sessions.get(ADA, MAIN_SESSION)

    assert len(texts) == 1
    assert session is not None
    assert session.forks == ()


async def test_a_summary_of_another_version_is_not_read_and_made_anew(world: ChatFixture) -> None:
    turns = 17
    summaries: list[object] = [{"summary": f"Summary {n}"} for n in range(2)]
    model = ScriptedModel(
        *[script_answer(f"A{n}") for n in range(2 * turns)],
        answers={"chat/summary": summaries},
    )
    async with open_chat(world, model) as chat:
        ids = [(await chat.ask(f"Q{n}")).headers["x-run-id"] for n in range(turns)]
        await after_turn(world.deps(model), ADA, MAIN_SESSION, GONE_ANSWER, SAFE_WINDOW_TOKENS)  # type: ignore[arg-type]
        await chat.add_version(f"{ids[1]}-q", "Another")
        read = read_conversation(model.calls[-1].messages)
        for n in range(turns - 2):
            await chat.ask(f"B{n}")
        await after_turn(world.deps(model), ADA, MAIN_SESSION, GONE_ANSWER, SAFE_WINDOW_TOKENS)  # type: ignore[arg-type]
        session = await world.deps().stores.sessions.get(ADA, MAIN_SESSION)

    assert read == ["Q0", "A0", "Another"]
    texts = [message["text"] for message in model.prompts[-1][1].data["messages"]]
    assert "Q1" not in texts
    assert "Another" in texts
    assert model.prompts[-1][1].data["summary"] == ""
    assert session is not None
    assert session.summary == "Summary 1"
    assert session.summarised_branch == session.forks[0].id


async def test_a_summary_from_before_the_edit_stays(world: ChatFixture) -> None:
    turns = 17
    model = ScriptedModel(
        *[script_answer(f"A{n}") for n in range(turns + 1)],
        answers={"chat/summary": [{"summary": "Early talk"}]},
    )
    async with open_chat(world, model) as chat:
        ids = [(await chat.ask(f"Q{n}")).headers["x-run-id"] for n in range(turns)]
        await after_turn(world.deps(model), ADA, MAIN_SESSION, GONE_ANSWER, SAFE_WINDOW_TOKENS)  # type: ignore[arg-type]
        world.clock.advance(seconds=timedelta(minutes=1).total_seconds())
        await chat.add_version(ids[-1])

    assert "Early talk" in str(model.calls[-1].messages)
