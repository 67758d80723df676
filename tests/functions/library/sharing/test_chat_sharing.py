"""Sharing of chats (U7): a link shows a chat as it was, and nothing else, until it is ended."""

from datetime import timedelta

import pytest

from functions.library.routes import LIBRARY_ROUTES
from shared.data.stores import Stores
from shared.domain.chats.branches import add_fork, build_retry
from shared.domain.chats.chat import ROOT, Card, Message, build_session
from shared.domain.chats.steps import ReasoningStep
from shared.domain.ids import BranchId, ConversationId, MessageId, SessionId
from tests.fixtures.callers import open_client
from tests.fixtures.library import build_client, build_erasures, build_library_deps
from tests.fixtures.processing import ALICE

SHARING = "/v1/shared-chats/trip"
PAGE = "https://keepsake.example/read/#"
TRIP = SessionId("trip")


@pytest.fixture
def stores(world):
    return Stores(world.documents)


@pytest.fixture
async def anyone(world):
    async with open_client("library", LIBRARY_ROUTES, build_library_deps(world)) as client:
        yield client


@pytest.fixture(autouse=True)
async def chat(world, stores):
    """A greeting, a question, its answer, and another answer that is shown."""
    session = build_session(TRIP, app_id=None, now=world.clock.now(), title="The trip")
    await stores.sessions.add(ALICE, session)
    greeting = build_message(world, "hello", "Hi Alice! What shall we look at?")
    question = build_message(world, "r1-q", "How?")
    first = build_message(world, "r1", "By ferry.")
    await stores.messages.add(ALICE, session, greeting, question, first)
    fork = build_retry((), first, question, BranchId("r2"), MessageId("r2"))
    await stores.messages.add_version(ALICE, TRIP, fork)
    await store(stores, build_message(world, "r2", "By **train**.", branch=fork.id))


def build_message(world, name, text, *, branch=ROOT):
    world.clock.advance(seconds=1)
    card = Card(
        id=ConversationId("secret"), created_at=world.clock.now(), title="Private talk", emoji="🤫"
    )
    is_question = name.endswith("-q")
    return Message(
        id=MessageId(name),
        session_id=TRIP,
        text=text,
        sender="human" if is_question else "ai",
        created_at=world.clock.now(),
        branch=branch,
        memories_id=() if is_question else (card.id,),
        cards=() if is_question else (card,),
        metadata={"sources": [{"kind": "app", "id": "secret", "name": "secret"}]},
        steps=() if is_question else (ReasoningStep(text="secret"),),
        diagnostics={"trace_id": "secret"},
    )


async def store(stores, message):
    session = await stores.sessions.get(ALICE, TRIP)
    await stores.messages.add(ALICE, session, message)


async def share(alice):
    answer = await alice.put(SHARING)
    assert answer.status_code == 200
    return answer.json()["url"].removeprefix(PAGE)


async def read(anyone, token):
    return await anyone.get(f"/shared/chats/{token}")


async def read_texts(anyone, token):
    return [message["text"] for message in (await read(anyone, token)).json()["messages"]]


async def test_a_link_shows_the_shown_versions_and_their_words_alone_u7(anyone, alice):
    answer = await read(anyone, await share(alice))

    shared = answer.json()
    assert set(shared) == {"title", "shared_at", "messages", "is_complete"}
    assert (shared["title"], shared["is_complete"]) == ("The trip", True)
    assert [(m["sender"], m["text"]) for m in shared["messages"]] == [
        ("human", "How?"),
        ("ai", "By **train**."),
    ]
    assert {key for m in shared["messages"] for key in m} == {"sender", "text", "created_at"}
    assert "secret" not in answer.text
    assert "Private" not in answer.text


async def test_a_link_shows_a_chat_as_it_was_until_it_is_shared_again_u7(
    anyone, alice, world, stores
):
    token = await share(alice)
    await store(stores, build_message(world, "r3-q", "And back?", branch=BranchId("r2")))
    await stores.sessions.change_forks(ALICE, TRIP, lambda forks: add_fork((), forks[0]))
    before = await read_texts(anyone, token)

    again = await share(alice)

    assert before == ["How?", "By **train**."]
    assert again == token
    assert await read_texts(anyone, token) == ["How?", "By **train**.", "And back?"]


async def test_guessed_ended_and_orphaned_links_of_chats_have_the_same_answer(
    anyone, alice, stores
):
    ended, orphaned = await share(alice), None
    answer = await alice.delete(SHARING)
    assert answer.json() == {"status": "ok", "visibility": "private", "url": None}
    answers = [await read(anyone, ended)]
    orphaned = await share(alice)
    assert orphaned != ended
    answers.append(await read(anyone, ended))
    await stores.messages.clear(ALICE, TRIP)
    answers += [await read(anyone, token) for token in (orphaned, "guessed", "__proto__")]

    assert {(a.status_code, a.json()["detail"]) for a in answers} == {
        (404, "This chat is not shared.")
    }


async def test_the_link_to_a_chat_of_an_erased_account_is_gone(anyone, alice, world, stores):
    token = await share(alice)

    await build_erasures(world.documents).begin(ALICE, world.clock.now() + timedelta(seconds=1))
    during = await read(anyone, token)
    await stores.accounts.delete(ALICE)

    assert during.status_code == 404
    assert await world.documents.get(f"shared_chats/{token}") is None


async def test_only_the_owner_shares_a_chat(world, alice):
    async with build_client(world, "mallory") as mallory:
        foreign = [await mallory.put(SHARING), await mallory.delete(SHARING)]

    assert [(a.status_code, a.json()["detail"]) for a in foreign] == [
        (404, "Chat session not found")
    ] * 2
    assert await share(alice)


async def test_a_shared_chat_is_read_so_many_times_a_minute(anyone, alice):
    token = await share(alice)

    statuses = [(await read(anyone, token)).status_code for _ in range(121)]

    assert statuses == [*[200] * 120, 429]
