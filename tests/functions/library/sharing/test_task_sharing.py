"""Shared tasks: a link shows them and nothing else, and whoever accepts it gets copies, once."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx import AsyncClient

from functions.library.sharing.task_sharing import MAX_LINKS_PER_HOUR, NO_SHARE
from functions.library.sharing.task_sharing_schemas import MAX_SHARED_TASKS
from shared.data.account.accounts import Accounts
from shared.data.store.codec import dump
from shared.data.tasks.task_shares import TaskShares
from shared.domain.account.profile import Profile
from shared.domain.errors import Conflict, Unavailable
from shared.domain.ids import UserId
from shared.domain.store.documents import Query, Set
from shared.domain.tasks.task_share import (
    LIFETIME,
    TaskShare,
    build_share_id,
    copy_shared_task,
    snapshot_task,
)
from tests.fault_injection import FaultyPort, lose_response, raise_unavailable
from tests.fixtures.library import build_client
from tests.fixtures.processing import ALICE, START
from tests.functions.library.tasks.test_tasks import build_task

TASKS = "/v1/action-items"
BOB = UserId("bob")


@pytest.fixture
async def bob(world) -> AsyncIterator[AsyncClient]:
    async with build_client(world, BOB) as client:
        yield client


async def share(client: AsyncClient, *names: str) -> str:
    for name in names:
        body = {"id": name, "description": f"Task {name}", "due_at": "2026-12-01T10:00:00Z"}
        await client.post(TASKS, json=body)
    answer = await client.post(f"{TASKS}/share", json={"task_ids": names})
    assert answer.status_code == 200, answer.text
    token: str = answer.json()["token"]
    assert answer.json()["url"] == f"https://keepsake.example/shared/tasks/{token}"
    return token


def read_refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["detail"]


async def test_a_link_shows_the_tasks_and_who_sent_them_and_nothing_else(world, alice):
    await world.documents.write(Set(f"users/{ALICE}", dump(Profile(name="Alice"))))
    token = await share(alice, "one", "two")

    anonymous = await alice.get(f"{TASKS}/shared/{token}", headers={"Authorization": ""})

    assert anonymous.json() == {
        "sender_name": "Alice",
        "tasks": [
            {"description": "Task one", "due_at": "2026-12-01T10:00:00Z"},
            {"description": "Task two", "due_at": "2026-12-01T10:00:00Z"},
        ],
    }


async def test_people_see_the_tasks_as_a_page(alice):
    await alice.post(TASKS, json={"id": "one", "description": "<script>alert(1)</script> & bread"})
    token = await share(alice, "one")

    page = await alice.get(f"/shared/tasks/{token}")
    unknown_page = await alice.get("/shared/tasks/unknown")

    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; bread" in page.text
    assert "<script" not in page.text
    assert "Tasks from someone" in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert (unknown_page.status_code, NO_SHARE in unknown_page.text) == (404, True)


async def test_a_token_is_long_and_is_not_stored(world, alice):
    token = await share(alice, "one")

    (stored,) = await world.documents.query(Query(collection="task_shares"))
    assert stored.id == build_share_id(token)
    assert token not in str(stored.fields)


async def test_tasks_are_accepted_once(alice, bob):
    token = await share(alice, "one", "two")

    first = await bob.post(f"{TASKS}/accept", json={"token": token})
    second = await bob.post(f"{TASKS}/accept", json={"token": token})

    assert first.json() == {"count": 2}
    assert read_refusal(second) == (409, "You have added these tasks already")
    tasks = (await bob.get(TASKS)).json()["action_items"]
    assert sorted(task["description"] for task in tasks) == ["Task one", "Task two"]
    assert {task["due_at"] for task in tasks} == {"2026-12-01T10:00:00Z"}


async def test_a_copy_has_nothing_of_the_original_but_words_and_date(alice, bob):
    await alice.post(TASKS, json={"id": "one", "description": "Call", "conversation_id": "talk"})
    await alice.patch(f"{TASKS}/one", json={"exported": True, "apple_reminder_id": "r1"})
    token = await share(alice, "one")

    await bob.post(f"{TASKS}/accept", json={"token": token})

    (task,) = (await bob.get(TASKS)).json()["action_items"]
    assert (task["conversation_id"], task["exported"], task["apple_reminder_id"]) == (
        None,
        False,
        None,
    )
    assert task["id"] != "one"


async def test_own_tasks_are_not_accepted(alice):
    token = await share(alice, "one")

    answer = await alice.post(f"{TASKS}/accept", json={"token": token})

    assert read_refusal(answer) == (400, "These are your own tasks")
    assert len((await alice.get(TASKS)).json()["action_items"]) == 1


async def test_a_link_shows_the_tasks_as_they_were_when_they_were_shared(alice, bob):
    token = await share(alice, "one", "two")
    await alice.patch(f"{TASKS}/one", json={"description": "The code is 4471"})
    await alice.delete(f"{TASKS}/two")

    shown = (await bob.get(f"{TASKS}/shared/{token}")).json()["tasks"]
    page = await bob.get(f"/shared/tasks/{token}")
    await bob.post(f"{TASKS}/accept", json={"token": token})

    assert [task["description"] for task in shown] == ["Task one"]
    assert "4471" not in page.text
    assert [t["description"] for t in (await bob.get(TASKS)).json()["action_items"]] == ["Task one"]


async def test_its_owner_alone_ends_a_link(alice, bob):
    token = await share(alice, "one")
    path = f"{TASKS}/shared/{token}"

    assert read_refusal(await bob.delete(path)) == (404, NO_SHARE)
    assert (await bob.get(path)).status_code == 200
    assert (await alice.delete(path)).json() == {"status": "ok"}
    assert read_refusal(await bob.get(path)) == (404, NO_SHARE)
    assert read_refusal(await alice.delete(path)) == (404, NO_SHARE)


@pytest.mark.parametrize("token", ["unknown", "../../users", "x" * 100])
async def test_a_guessed_link_leads_nowhere(alice, bob, token):
    await share(alice, "one")

    for answer in (
        await bob.post(f"{TASKS}/accept", json={"token": token}),
        await bob.get(f"{TASKS}/shared/{token.replace('/', '-')}"),
    ):
        assert read_refusal(answer) == (404, NO_SHARE)


async def test_a_link_ends_after_its_lifetime_and_with_its_last_task(world, alice, bob):
    token, other_token = await share(alice, "one"), await share(alice, "two")

    await alice.delete(f"{TASKS}/one")
    assert read_refusal(await bob.get(f"{TASKS}/shared/{token}")) == (404, NO_SHARE)
    world.clock.advance(seconds=LIFETIME.total_seconds() - 1)
    assert (await bob.get(f"{TASKS}/shared/{other_token}")).status_code == 200
    world.clock.advance(seconds=1)
    assert read_refusal(await bob.get(f"{TASKS}/shared/{other_token}")) == (404, NO_SHARE)
    answer = await bob.post(f"{TASKS}/accept", json={"token": other_token})
    assert read_refusal(answer) == (404, NO_SHARE)


@pytest.mark.parametrize(
    ("task_ids", "status"),
    [
        ([], 422),
        (["one"] * (MAX_SHARED_TASKS + 1), 413),
        (["one", "unknown"], 404),
        (["one", "a/b"], 404),
        (["one", "one"], 200),
    ],
)
async def test_what_is_shared_is_bounded_and_ones_own(alice, task_ids, status):
    await share(alice, "one")

    answer = await alice.post(f"{TASKS}/share", json={"task_ids": task_ids})

    assert answer.status_code == status


async def test_the_links_of_an_hour_are_bounded(world, alice):
    for _ in range(MAX_LINKS_PER_HOUR):
        await share(alice, "one")

    refused = await alice.post(f"{TASKS}/share", json={"task_ids": ["one"]})
    world.clock.advance(hours=1)

    assert read_refusal(refused) == (429, "Rate limit exceeded. Maximum 20 links per hour.")
    assert refused.headers["retry-after"] == "3600"
    links = await world.documents.query(Query(collection="task_shares"))
    assert len(links) == MAX_LINKS_PER_HOUR
    assert await share(alice, "one")


async def test_tasks_of_another_user_cannot_be_shared(alice, bob):
    await share(alice, "one")

    answer = await bob.post(f"{TASKS}/share", json={"task_ids": ["one"]})

    assert read_refusal(answer) == (404, "Action item not found")


async def test_a_failed_attempt_is_repeated_and_adds_nothing_twice(world):
    """The app sends once more after an error: a failure before the commit leaves nothing."""
    link = build_share()
    copies = [copy_shared_task(link, snapshot_task(build_task(n)), START) for n in range(3)]
    faulty: Any = FaultyPort(world.documents, transaction=[raise_unavailable])

    with pytest.raises(Unavailable):
        await TaskShares(faulty).accept(BOB, link, copies, START)
    assert await list_stored(world) == []
    await TaskShares(faulty).accept(BOB, link, copies, START)

    assert await list_stored(world) == [copy.id for copy in sorted(copies, key=lambda c: c.id)]


async def test_a_lost_answer_leaves_all_tasks_and_a_repeat_adds_none(world):
    link = build_share()
    copies = [copy_shared_task(link, snapshot_task(build_task(n)), START) for n in range(3)]
    faulty: Any = FaultyPort(world.documents, transaction=[lose_response])

    with pytest.raises(Unavailable):
        await TaskShares(faulty).accept(BOB, link, copies, START)
    with pytest.raises(Conflict):
        await TaskShares(faulty).accept(BOB, link, copies, START)

    assert len(await list_stored(world)) == 3


def build_share() -> TaskShare:
    return TaskShare(
        id=build_share_id("token"),
        uid=ALICE,
        created_at=START,
        expires_at=START + LIFETIME,
    )


async def list_stored(world: Any) -> list[str]:
    tasks = await world.documents.query(Query(collection=f"users/{BOB}/action_items"))
    return [task.id for task in tasks]


async def test_links_end_with_the_account_of_their_owner(world, alice, bob):
    token = await share(alice, "one")

    await Accounts(world.documents).delete(ALICE)

    assert read_refusal(await bob.get(f"{TASKS}/shared/{token}")) == (404, NO_SHARE)
    assert await world.documents.query(Query(collection="task_shares")) == []


async def test_the_copies_stay_when_the_owner_is_gone(world, alice, bob):
    token = await share(alice, "one")
    await bob.post(f"{TASKS}/accept", json={"token": token})

    await Accounts(world.documents).delete(ALICE)

    assert [t["description"] for t in (await bob.get(TASKS)).json()["action_items"]] == ["Task one"]
