"""Safety scores and reviews as they are stored, on SQLite and on Firestore's emulator."""

from datetime import UTC, datetime, timedelta

from shared.data.account.accounts import Accounts
from shared.data.chats.safety_reviews import SafetyReviews
from shared.data.chats.sessions import Sessions
from shared.domain.chats.chat import MAIN_SESSION, build_session
from shared.domain.chats.safety import REVIEW_TTL, SafetyScore
from shared.domain.ids import SessionId, UserId
from shared.domain.store.documents import Query
from shared.ports import Documents

ANN = UserId("ann")
BOB = UserId("bob")
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


async def begin(documents: Documents, *names: str) -> Sessions:
    sessions = Sessions(documents)
    for uid in (ANN, BOB):
        for name in names:
            await sessions.add(uid, build_session(SessionId(name), app_id=None, now=NOW))
    return sessions


async def harm(documents: Documents, times: int, uid: UserId = ANN) -> list[str]:
    reviews = SafetyReviews(documents)
    minute = timedelta(minutes=1)
    return [await reviews.add_harm(uid, MAIN_SESSION, 1, NOW + n * minute) for n in range(times)]


async def read_safety(sessions: Sessions, name: str = MAIN_SESSION) -> SafetyScore:
    session = await sessions.get(ANN, SessionId(name))
    assert session is not None
    return session.safety


async def test_a_score_is_kept_on_its_chat_alone_m128(any_documents: Documents) -> None:
    sessions = await begin(any_documents, "main", "other")

    assert await harm(any_documents, 3) == ["slow", "review", "locked"]
    assert (await read_safety(sessions)).locked_until == NOW + timedelta(days=1, minutes=2)
    assert await read_safety(sessions, "other") == SafetyScore()


async def test_a_chat_has_one_review_with_ids_and_without_words_m129(
    any_documents: Documents,
) -> None:
    await begin(any_documents, "main")
    await harm(any_documents, 4)

    (review,) = await SafetyReviews(any_documents).list_newest()
    (stored,) = await any_documents.query(Query(collection="safety_reviews"))
    assert (review.uid, review.session_id, review.step) == (ANN, "main", "locked")
    assert review.expires_at == review.created_at + REVIEW_TTL == stored.fields["expires_at"]
    assert stored.fields.keys() == {
        *("id", "uid", "session_id", "step", "points", "created_at", "expires_at")
    }


async def test_an_operator_unlocks_a_chat_or_closes_its_review_m129(
    any_documents: Documents,
) -> None:
    sessions = await begin(any_documents, "main")
    await harm(any_documents, 3)
    await harm(any_documents, 3, BOB)
    reviews = SafetyReviews(any_documents)
    of_bob, of_ann = await reviews.list_newest()

    await reviews.close(of_bob)
    await reviews.unlock(of_ann)
    await reviews.unlock(of_ann)

    assert await read_safety(sessions) == SafetyScore()
    assert await reviews.list_newest() == []


async def test_a_deleted_chat_has_no_score_and_unlocking_brings_none_back_m129(
    any_documents: Documents,
) -> None:
    sessions = await begin(any_documents, "main")
    await harm(any_documents, 2)
    reviews = SafetyReviews(any_documents)
    (review,) = await reviews.list_newest()
    await any_documents.delete_tree("users/ann/chat_sessions/main")

    assert await harm(any_documents, 1) == ["none"]
    await reviews.unlock(review)
    assert await sessions.get(ANN, MAIN_SESSION) is None


async def test_an_erasure_removes_the_reviews_of_one_user_m129(any_documents: Documents) -> None:
    await begin(any_documents, "main")
    await harm(any_documents, 2)
    await harm(any_documents, 2, BOB)

    await Accounts(any_documents).delete(ANN)

    assert [review.uid for review in await SafetyReviews(any_documents).list_newest()] == [BOB]
