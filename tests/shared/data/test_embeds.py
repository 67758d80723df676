"""Embed store, in both stores: versions, and the chats that an embed goes with (M113, M115)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.memory_database import MemoryDatabase
from shared.data.chats.embeds import Embeds
from shared.domain.chats.embed import Embed, build_preview, compute_content_hash
from shared.domain.errors import NotFound, PreconditionFailed
from shared.domain.ids import EmbedId, MessageId, RunId, SessionId, UserId
from shared.domain.provenance import Source
from shared.domain.store.documents import Create
from shared.ports import Documents
from tests.fixtures.processing import START
from tests.fixtures.storage import INDEXES

ANN, BOB = UserId("ann"), UserId("bob")
RUN = RunId("r1")
CHAT, OTHER_CHAT = SessionId("main"), SessionId("s2")


def build_embed(name: str = "e1", *, content: str = '{"n":1}', version: int = 1) -> Embed:
    return Embed(
        id=EmbedId(name),
        type="tool_result",
        content=content,
        preview=build_preview(content),
        content_hash=compute_content_hash(content),
        length=len(content),
        session_ids=(CHAT,),
        message_id=MessageId("r1"),
        source=Source(kind="app", id="A1", name="Notes"),
        created_at=START,
        version=version,
    )


@pytest.fixture
async def embeds(any_documents: Documents) -> Embeds:
    await any_documents.write(Create(f"users/{ANN}/runs/{RUN}", {"session_id": CHAT}))
    return Embeds(any_documents)


async def test_what_a_run_brought_is_found_in_order_and_by_its_chat_m113(embeds: Embeds) -> None:
    first, second = build_embed("e1"), build_embed("e2")
    await embeds.add_of_run(ANN, RUN, [first, second])
    await embeds.add_of_run(ANN, RUN, [first, second])

    assert await embeds.find_all(ANN, [second.id, EmbedId("none"), EmbedId("../x"), first.id]) == [
        second,
        first,
    ]
    listed = await embeds.list_of_session(ANN, CHAT, limit=10)
    assert list(listed.items) == [second, first]
    assert not (await embeds.list_of_session(ANN, OTHER_CHAT, limit=10)).items


async def test_embeds_of_others_and_of_no_id_are_not_found_m113(embeds: Embeds) -> None:
    await embeds.add_of_run(ANN, RUN, [build_embed()])

    assert await embeds.find_all(BOB, [EmbedId("e1")]) == []
    for uid, name in ((BOB, "e1"), (ANN, "../messages/m1"), (ANN, "")):
        with pytest.raises(NotFound):
            await embeds.get(uid, name)


async def test_a_deleted_run_leaves_nothing_m115(embeds: Embeds) -> None:
    with pytest.raises(PreconditionFailed):
        await embeds.add_of_run(ANN, RunId("gone"), [build_embed()])

    assert await embeds.find_all(ANN, [EmbedId("e1")]) == []


async def test_the_same_version_is_skipped_and_a_newer_one_replaces_m113(embeds: Embeds) -> None:
    forged = replace(
        build_embed(content='{"n":2}', version=2),
        message_id=MessageId("other"),
        source=Source(kind="library"),
    )

    assert await embeds.put(ANN, build_embed()) == "newer"
    assert await embeds.put(ANN, build_embed(content="other")) == "same"
    assert await embeds.get(ANN, "e1") == build_embed()
    assert await embeds.put(ANN, forged) == "newer"
    assert await embeds.put(ANN, build_embed()) == "older"
    assert await embeds.get(ANN, "e1") == build_embed(content='{"n":2}', version=2)


async def test_an_embed_goes_with_the_last_chat_that_refers_to_it_m115(embeds: Embeds) -> None:
    await embeds.add_of_run(ANN, RUN, [build_embed("own"), build_embed("shared")])
    await embeds.put(ANN, replace(build_embed("shared"), session_ids=(OTHER_CHAT,)))

    await embeds.delete_for_session(ANN, CHAT)

    assert await embeds.find_all(ANN, [EmbedId("own"), EmbedId("shared")]) == [
        replace(build_embed("shared"), session_ids=(OTHER_CHAT,))
    ]
    await embeds.delete_for_session(ANN, OTHER_CHAT)
    assert await embeds.find_all(ANN, [EmbedId("shared")]) == []


@given(versions=st.lists(st.integers(1, 5), min_size=1, max_size=8))
async def test_whatever_order_versions_come_in_the_highest_stays_m113(versions: list[int]) -> None:
    embeds = Embeds(SqliteDocuments(MemoryDatabase(), INDEXES))

    for version in versions:
        await embeds.put(ANN, build_embed(content=f"[{version}]", version=version))

    assert await embeds.get(ANN, "e1") == build_embed(
        content=f"[{max(versions)}]", version=max(versions)
    )
