"""Sealed documents: a cache that only its user's key opens, for a day, as if it were any store (M84)."""

from datetime import timedelta
from typing import Any

import pytest

from shared.adapters.sealed_documents import SealedDocuments
from shared.domain.chats.sealed_chat import CACHE_TTL
from shared.domain.errors import AlreadyExists
from shared.domain.ids import UserId
from shared.domain.store.documents import (
    Create,
    Delete,
    Increment,
    Order,
    Query,
    Set,
    Update,
    Where,
)
from shared.ports import Documents, Transaction
from tests.fakes import FixedClock
from tests.fixtures.sealed import build_data_keys, seal

CHAT = "sealed-c1"
PATH = f"users/ann/messages/{CHAT}-m1"
STORED_PATH = f"users/ann/sealed_messages/{CHAT}-m1"
SECRET = "xylophone"
ANN = UserId("ann")


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def sealed(any_documents: Documents, clock: FixedClock) -> SealedDocuments:
    return seal(any_documents, clock)


def build_fields(clock: FixedClock, **fields: Any) -> dict[str, Any]:
    times = {"created_at": clock.now()}
    return {"session_id": CHAT, "sender": "human", "text": SECRET, **times, **fields}


async def test_a_document_reads_as_it_was_written_m84(
    sealed: SealedDocuments, clock: FixedClock
) -> None:
    fields = build_fields(clock, cards=[{"at": clock.now(), "raw": b"\0\1"}], preview=None)

    await sealed.write(Create(PATH, fields))
    found = await sealed.get(PATH)

    assert found is not None
    assert found.path == PATH
    assert {**found.fields, **fields} == found.fields
    assert found.fields["expires_at"] == clock.now() + CACHE_TTL


async def test_only_what_queries_need_is_stored_in_clear_m84(
    sealed: SealedDocuments, any_documents: Documents, clock: FixedClock
) -> None:
    await sealed.write(Create(PATH, build_fields(clock)))
    await sealed.write(Update(PATH, {"rating_reason": f"no {SECRET}", "rating": 1}))

    stored = await any_documents.get(STORED_PATH)
    assert stored is not None
    names = {"session_id", "sender", "created_at", "expires_at", "sealed", "changed"}
    assert set(stored.fields) == names
    assert SECRET.encode() not in repr(stored.fields).encode()
    assert await any_documents.get(PATH) is None


async def test_changes_are_read_over_what_was_there_m84(sealed: SealedDocuments) -> None:
    path = f"users/ann/chat_sessions/{CHAT}"
    await sealed.write(Create(path, {"title": "", "preview": "", "message_count": 0}))
    for text in ("one", "two"):
        await sealed.write(Update(path, {"preview": text, "message_count": Increment(1)}))

    found = await sealed.get(path)

    assert found is not None
    wanted = {"title": "", "preview": "two", "message_count": 2}
    assert {name: found.fields[name] for name in wanted} == wanted


async def test_other_documents_stay_as_they_are_m84(
    sealed: SealedDocuments, any_documents: Documents
) -> None:
    await sealed.write(Create("users/ann/messages/m1", {"text": "hello"}))

    assert (await sealed.get("users/ann/messages/m1")) == await any_documents.get(
        "users/ann/messages/m1"
    )


async def test_queries_find_the_chat_that_they_name_m84(
    sealed: SealedDocuments, clock: FixedClock
) -> None:
    for number in range(3):
        clock.advance(seconds=1)
        path = f"users/ann/messages/{CHAT}-m{number}"
        await sealed.write(Create(path, build_fields(clock, text=f"{number}")))
    await sealed.write(Create("users/ann/messages/m9", build_fields(clock, session_id="main")))
    where = (Where("session_id", "==", CHAT),)
    query = Query(
        collection="users/ann/messages", where=where, order_by=(Order("created_at", "desc"),)
    )

    found = await sealed.query(query)
    everything = await sealed.query(Query(collection="users/ann/messages"))

    assert [document.fields["text"] for document in found] == ["2", "1", "0"]
    assert found[0].path == f"users/ann/messages/{CHAT}-m2"
    assert await sealed.count(query) == 3
    assert [document.id for document in everything] == ["m9"]


async def test_journals_are_sealed_with_their_run_m84(
    sealed: SealedDocuments, any_documents: Documents
) -> None:
    run = f"users/ann/runs/{CHAT}-r1"
    await sealed.write(Create(f"{run}/batches/00000001", {"events": SECRET, "last_seq": 1}))

    [batch] = await sealed.query(Query(collection=f"{run}/batches"))
    stored = await any_documents.query(Query(collection=f"users/ann/sealed_runs/{CHAT}-r1/batches"))

    assert batch.fields["events"] == SECRET
    assert SECRET not in repr(stored)
    assert await sealed.delete_tree(run) == 1


async def test_expired_is_unread_m84(sealed: SealedDocuments, clock: FixedClock) -> None:
    await sealed.write(Create(PATH, build_fields(clock)))
    query = Query(collection="users/ann/messages", where=(Where("session_id", "==", CHAT),))

    clock.advance(hours=23, minutes=59)
    still = await sealed.get(PATH)
    clock.advance(minutes=1)

    assert still is not None
    assert await sealed.get(PATH) is None
    assert await sealed.query(query) == []


async def test_the_key_of_another_user_opens_nothing_m84(
    sealed: SealedDocuments, any_documents: Documents, clock: FixedClock
) -> None:
    await sealed.write(Create(PATH, build_fields(clock)))
    await sealed.write(Create(f"users/eve/messages/{CHAT}-m2", build_fields(clock)))
    stored = await any_documents.get(STORED_PATH)
    assert stored is not None
    await any_documents.write(Set(f"users/eve/sealed_messages/{CHAT}-m1", stored.fields))

    assert await sealed.get(f"users/eve/messages/{CHAT}-m1") is None


async def test_what_is_moved_or_altered_is_not_there_m84(
    sealed: SealedDocuments, any_documents: Documents, clock: FixedClock
) -> None:
    await sealed.write(Create(PATH, build_fields(clock)))
    stored = await any_documents.get(STORED_PATH)
    assert stored is not None
    blob = stored.fields["sealed"]
    altered = {**stored.fields, "sealed": blob[:-1] + bytes([blob[-1] ^ 1])}
    await any_documents.write(
        Set(f"users/ann/sealed_messages/{CHAT}-m2", stored.fields),
        Set(f"users/ann/sealed_messages/{CHAT}-m3", altered),
        Set(f"users/ann/sealed_messages/{CHAT}-m4", {**stored.fields, "sealed": b"x"}),
    )

    paths = [f"users/ann/messages/{CHAT}-m{number}" for number in (2, 3, 4)]
    assert await sealed.get_many(paths) == [None, None, None]


async def test_a_transaction_seals_what_it_writes_m84(
    sealed: SealedDocuments, any_documents: Documents, clock: FixedClock
) -> None:
    await sealed.write(Create(PATH, build_fields(clock)))

    async def work(tx: Transaction) -> str:
        found = await tx.get(PATH)
        assert found is not None
        tx.write(Set(PATH, {**found.fields, "text": SECRET * 2}), Create("users/ann/x/y", {}))
        return str(found.fields["text"])

    assert await sealed.transaction(work) == SECRET
    found = await sealed.get(PATH)
    assert found is not None
    assert found.fields["text"] == SECRET * 2
    assert SECRET not in repr(await any_documents.get(STORED_PATH))


async def test_a_second_creation_is_refused_m84(sealed: SealedDocuments, clock: FixedClock) -> None:
    await sealed.write(Create(PATH, build_fields(clock)))

    with pytest.raises(AlreadyExists):
        await sealed.write(Create(PATH, build_fields(clock)))
    await sealed.write(Delete(PATH))
    assert await sealed.get(PATH) is None


async def test_another_process_reads_it_m84(
    sealed: SealedDocuments, any_documents: Documents, clock: FixedClock
) -> None:
    await sealed.write(Create(PATH, build_fields(clock)))

    assert await seal(any_documents, clock).get(PATH) is not None


async def test_without_its_key_it_is_gone_m91(
    sealed: SealedDocuments, any_documents: Documents, clock: FixedClock
) -> None:
    await sealed.write(Create(PATH, build_fields(clock)))
    await build_data_keys(any_documents, clock).shred(ANN)

    assert await seal(any_documents, clock).get(PATH) is None
    clock.advance(minutes=5)
    assert await sealed.get(PATH) is None


async def test_after_a_rotation_the_old_is_a_miss_and_no_error_m91(
    sealed: SealedDocuments, any_documents: Documents, clock: FixedClock
) -> None:
    await sealed.write(Create(PATH, build_fields(clock)))
    rotated = seal(any_documents, clock, wrapping_key=b"r" * 32)

    assert await rotated.get(PATH) is None
    other = f"users/ann/messages/{CHAT}-m2"
    await rotated.write(Create(other, build_fields(clock)))
    assert await rotated.get(other) is not None
    assert await rotated.get(PATH) is None


async def test_a_process_with_an_old_key_finds_the_new_one_m91(
    sealed: SealedDocuments, any_documents: Documents, clock: FixedClock
) -> None:
    await sealed.write(Create(PATH, build_fields(clock)))
    keys = build_data_keys(any_documents, clock)
    await keys.shred(ANN)
    await seal(any_documents, clock).write(Set(PATH, build_fields(clock, text="new")))
    clock.advance(seconds=5)

    found = await sealed.get(PATH)

    assert found is not None
    assert found.fields["text"] == "new"


async def test_a_key_is_in_memory_for_five_minutes_m84(
    any_documents: Documents, clock: FixedClock
) -> None:
    keys = build_data_keys(any_documents, clock)
    key = await keys.get_or_create(ANN)
    await any_documents.delete_tree("users/ann")

    clock.time += timedelta(minutes=4, seconds=59)
    assert await keys.find(ANN, key.id) == key
    clock.time += timedelta(seconds=1)
    assert await keys.find(ANN, key.id) is None
