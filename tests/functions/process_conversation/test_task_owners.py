"""Owners of tasks: what others promised is kept apart from what the user has to do."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx import AsyncClient

from functions.process_conversation.processing.model_outputs import ActionItemOutput
from functions.process_conversation.processing.task_owner import decide_owner, find_voices
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.domain.conversations.conversation import Segment
from tests.fakes import ScriptedModel
from tests.fixtures.library import BODY, CONVERSATIONS, build_client
from tests.fixtures.processing import (
    ALICE,
    TALK,
    ProcessingFixture,
    build_extraction_output,
    build_memory_output,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)

TASKS = "/v1/action-items"
FILLER = "We talked about the garden fence and the neighbours for a long while. " * 8


@pytest.fixture
def world(database) -> ProcessingFixture:
    return build_processing_fixture(database, OfflineModel())


@pytest.fixture
async def alice(world: ProcessingFixture) -> AsyncIterator[AsyncClient]:
    async with build_client(world, ALICE) as client:
        yield client


async def keep_talk(world: ProcessingFixture, alice: AsyncClient, *, user: str | None) -> None:
    lines = [
        ("Ann", "I will bring the ladder on Friday."),
        ("Tom", "I'll order the planks. Mara, can you send the contract?"),
        ("Mara", f"Sure. {FILLER}"),
    ]
    segments = [{"text": text, "speaker": who, "is_user": who == user} for who, text in lines]
    await alice.post(CONVERSATIONS, json={**BODY, "transcript_segments": segments})
    await world.deliver_all()


async def list_tasks(client: AsyncClient, **query: str) -> list[tuple[str, str]]:
    items = (await client.get(TASKS, params=query)).json()["action_items"]
    return sorted((item["owner_name"] or "", item["description"]) for item in items)


async def test_the_list_of_tasks_is_what_the_user_has_to_do(world, alice) -> None:
    await keep_talk(world, alice, user="Tom")

    assert await list_tasks(alice) == [("", "Order the planks")]
    assert await list_tasks(alice, owner="other") == [
        ("Ann", "Bring the ladder"),
        ("Mara", "Send the contract"),
    ]
    assert await list_tasks(alice, owner="others") == await list_tasks(alice, owner="other")
    assert len(await list_tasks(alice, owner="all")) == 3


async def test_before_anybody_is_the_user_nothing_is_theirs(world, alice) -> None:
    await keep_talk(world, alice, user=None)
    found = (await alice.post(f"{TASKS}/search", json={"query": "ladder"})).json()

    assert await list_tasks(alice) == []
    assert [name for name, _ in await list_tasks(alice, owner="other")] == ["Ann", "Mara", "Tom"]
    assert found["action_items"] == []


async def test_the_owner_of_a_task_can_be_changed_and_stays_so(world, alice) -> None:
    await keep_talk(world, alice, user="Tom")
    [task, _] = (await alice.get(TASKS, params={"owner": "other"})).json()["action_items"]
    url = f"{TASKS}/{task['id']}"

    taken = (await alice.patch(url, json={"owner": "me"})).json()
    await world.deps.stores.conversations.reopen(ALICE, TALK, now=world.clock.now())
    await world.deliver({"uid": ALICE, "conversation_id": TALK})
    kept = (await alice.get(url)).json()
    given = (await alice.patch(url, json={"owner_name": "Eve"})).json()
    structured = (await alice.get(f"{CONVERSATIONS}/talk")).json()["structured"]

    assert [(t["owner"], t["owner_name"]) for t in (taken, kept, given)] == [
        ("me", None),
        ("me", None),
        ("other", "Eve"),
    ]
    assert "Eve" in [item["owner_name"] for item in structured["action_items"]]


async def test_a_page_is_filled_past_the_tasks_of_others(alice) -> None:
    for number in range(7):
        body: dict[str, Any] = {"description": f"Task {number}"}
        task = (await alice.post(TASKS, json=body)).json()
        if number % 3:
            await alice.patch(f"{TASKS}/{task['id']}", json={"owner_name": "Ann"})

    pages, cursor = [], None
    while True:
        query = {"limit": "2", **({"cursor": cursor} if cursor else {})}
        page = (await alice.get(TASKS, params=query)).json()
        pages.append(len(page["action_items"]))
        cursor = page["next_cursor"]
        if cursor is None:
            break
    skipped = (await alice.get(TASKS, params={"limit": "1", "offset": "1"})).json()

    assert pages == [2, 1]
    assert (len(skipped["action_items"]), skipped["has_more"]) == (1, True)


@pytest.mark.parametrize(
    ("speakers", "answer", "owner"),
    [
        (["Tom*", "Ann"], {"owner": "me"}, ("me", None)),
        (["Tom*", "Ann"], {"owner": " Ann "}, ("other", "Ann")),
        (["Tom*", "Ann"], {"owner": "tom"}, ("me", None)),
        (["Tom*", "Ann"], {"owner": "User"}, ("me", None)),
        (["Tom*", "User"], {"owner": "User"}, ("other", "User")),
        (["Tom*", "Ann"], {"owner": "SPEAKER_01"}, ("other", None)),
        (["Tom*", "Ann"], {"owner": "unknown"}, ("unknown", None)),
        (["Tom*", "Ann"], {"owner": 7}, ("unknown", None)),
        (["SPEAKER_00*", "SPEAKER_01"], {"owner": "alex"}, ("me", None)),
        (["SPEAKER_00*", "SPEAKER_01"], {"owner": "Alex Weber"}, ("me", None)),
        (["SPEAKER_00*", "Alex Kern"], {"owner": "Alex"}, ("other", "Alex")),
        (["SPEAKER_00*", "SPEAKER_01"], {"owner": "SPEAKER_00"}, ("me", None)),
        (["SPEAKER_00*", "SPEAKER_01"], {"owner": "me (Alex)"}, ("me", None)),
        (["SPEAKER_00*", "SPEAKER_01"], {"owner": "the owner"}, ("me", None)),
        (["SPEAKER_00*", "SPEAKER_01"], {"owner": "Alex Weber."}, ("me", None)),
        (["SPEAKER_00*", "Mara"], {"owner": "Mara / Alex"}, ("me", None)),
        (["SPEAKER_00*", "Mara"], {"owner": "me and Mara"}, ("me", None)),
        (["SPEAKER_00*", "Mara Lind"], {"owner": "Alex und Mara"}, ("me", None)),
        (["SPEAKER_00*", "Mara"], {"owner": "Alex Miller"}, ("other", "Alex Miller")),
        (["SPEAKER_00*", "Mara"], {"owner": "Weber, Alex"}, ("me", None)),
        (["SPEAKER_00*", "Mara"], {"owner": "Alex W."}, ("me", None)),
        (["SPEAKER_00*", "Mara"], {"owner": "A. Weber"}, ("me", None)),
        (["SPEAKER_00*", "Mara"], {"owner": "A. W."}, ("other", "A. W.")),
        (["SPEAKER_00*", "Alex W."], {"owner": "Alex W."}, ("other", "Alex W.")),
        (["SPEAKER_00*", "Mara"], {"owner": "Yo"}, ("me", None)),
        (["SPEAKER_00*", "Mara"], {"owner": "Ben"}, ("other", "Ben")),
        (["SPEAKER_00*", "Mara"], {"owner": "wir"}, ("me", None)),
        (["SPEAKER_00*", "Mara"], {"owner": "you"}, ("unknown", None)),
        (["SPEAKER_00*", "You"], {"owner": "you"}, ("other", "You")),
        (["SPEAKER_00*", "SPEAKER_01"], {"owner": "Ines"}, ("me", None)),
        (["SPEAKER_00*", "Mara"], {"owner": "MARA"}, ("other", "Mara")),
        (["SPEAKER_00*", "Zoë Klein"], {"owner": "zoe"}, ("other", "Zoë")),
        (["SPEAKER_00*", "Mara"], {"owner": "Mara (my sister)"}, ("other", "Mara")),
        (["SPEAKER_00*", "Mara"], {"owner": "N/A"}, ("unknown", None)),
        (["SPEAKER_00*", "Mara"], {"owner": "Jonas, Mara"}, ("other", "Mara")),
        (["Alex Weber", "Ann"], {"owner": "me"}, ("me", None)),
        (["Tom", "Ann"], {"owner": "me"}, ("unknown", None)),
        (["SPEAKER_00", "SPEAKER_01"], {"owner": "me"}, ("unknown", None)),
        (["SPEAKER_00"], {"owner": "me"}, ("me", None)),
        (["Tom"], {"owner": "me"}, ("unknown", None)),
        (["Tom", "Ann"], {"owner": "Alex"}, ("other", "Alex")),
        (["Tom", "Ann"], {"owner": "Alex Weber"}, ("me", None)),
        (["Tom*", "Ann"], {"owner": "田中"}, ("other", "田中")),
        (["Tom*", "Ann"], {"owner": "田中 太郎"}, ("me", None)),
        (["Tom*", "Ann"], {"owner": "김"}, ("other", "김")),
    ],
)
def test_a_models_word_on_the_owner_holds_only_as_far_as_the_transcript(
    speakers, answer, owner
) -> None:
    segments = [Segment(text="x", speaker=s.rstrip("*"), is_user=s.endswith("*")) for s in speakers]
    talk = build_test_conversation(transcript_segments=tuple(segments))
    output = ActionItemOutput.model_validate({"description": "Do it", **answer})

    decided = decide_owner(
        find_voices(talk, ["Alex Weber", "田中 太郎", "김 민수", "Inês Dias"]), output
    )

    assert (decided.owner, decided.name) == owner


@pytest.mark.parametrize(
    ("names", "answer", "owner"),
    [
        (["Alexandra Weber", "Alex"], "Alex Weber", ("me", None)),
        (["Alexandra Weber", "Alex"], "Alex W.", ("me", None)),
        (["Alexandra Weber", "Alex"], "@Alex", ("me", None)),
        (["Alexandra Weber", "Alex"], "Alex Schmidt", ("other", "Alex Schmidt")),
        (["Łukasz Żak"], "Lukasz", ("me", None)),
        (["Łukasz Żak"], "Lukasz Zak", ("me", None)),
        (["Søren Ørsted"], "Soren Orsted", ("me", None)),
        (["Mary-Jane Watt"], "Mary Jane", ("me", None)),
        (["Mary-Jane Watt"], "Mary-Jane", ("me", None)),
        (["Mary-Jane Watt"], "Mary", ("me", None)),
        (["Mary-Jane Watt"], "Jane", ("other", "Jane")),
        (["Ann"], "Mara and me", ("me", None)),
        (["Ann"], "Jonas and me", ("me", None)),
        (["Ann"], "ich und Mara", ("me", None)),
        (["Ann"], "moi et Mara", ("me", None)),
        (["Ann"], "yo y Mara", ("me", None)),
        (["Ann"], "Mi Young Kim", ("other", "Mi Young Kim")),
        (["Ann"], "nós", ("me", None)),
        (["Ann"], "beide", ("me", None)),
        (["Ann"], "أنا", ("me", None)),
        (["Ann"], "自分", ("me", None)),
        (["Ann"], "unbekannt", ("unknown", None)),
        (["Ann"], "inconnu", ("unknown", None)),
        (["Ann"], "不明", ("unknown", None)),
        (["Ann"], "-", ("unknown", None)),
    ],
)
def test_the_owner_is_known_by_nicknames_in_any_spelling_and_by_pronouns_i3(names, answer, owner):
    segments = [
        Segment(text="x", speaker="SPEAKER_00", is_user=True),
        Segment(text="x", speaker="Mara"),
    ]
    talk = build_test_conversation(transcript_segments=tuple(segments))
    output = ActionItemOutput.model_validate({"description": "Do it", "owner": answer})

    decided = decide_owner(find_voices(talk, names), output)

    assert (decided.owner, decided.name) == owner


@pytest.mark.parametrize(
    ("text_source", "is_own"),
    [("audio_transcript", True), (None, True), ("message", False), ("other_text", False)],
)
async def test_a_text_that_may_be_anybodys_says_nothing_of_the_owner_i3(
    database, text_source, is_own
):
    said = "I'm allergic to peanuts, and I will call the printer."
    talk = build_test_conversation(
        transcript_segments=(Segment(text=said),), external_data={"text_source": text_source}
    )
    answer = build_extraction_output(
        build_memory_output(), action_items=[{"description": "Call the printer", "owner": "me"}]
    )
    with ScriptedModel(answers=build_script(answer)) as model:
        world = build_processing_fixture(database, model)
        await world.deps.stores.conversations.add(ALICE, talk)
        await world.deliver_all()

    memories = await world.deps.stores.memories.list_newest(ALICE, limit=9)
    [task] = await world.deps.stores.action_items.list_newest(ALICE, limit=9)
    assert (len(memories), task.owner) == ((1, "me") if is_own else (0, "unknown"))
