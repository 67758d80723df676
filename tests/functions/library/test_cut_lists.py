"""Lists over HTTP that are cut: each says that there is more, and how many there are in all (E2)."""

from collections.abc import Mapping
from typing import Any

import pytest
from httpx import AsyncClient, Response

from tests.fixtures.chat import build_chat_fixture
from tests.fixtures.processing import ALICE
from tests.functions.chat.library import build_conversation, store_conversations

COUNT = 5
LIMIT = 2
SCOPES = [f"{noun}:read" for noun in ("conversations", "memories", "action_items", "goals")]
SEARCH = "/v3/memories/search"


@pytest.fixture
async def alice(alice: AsyncClient, database: Any) -> AsyncClient:
    """Store five conversations, facts, tasks, people and goals."""
    talks = [build_conversation(n, "The boat is of oak.") for n in range(COUNT)]
    await store_conversations(build_chat_fixture(database), ALICE, *talks)
    goal = {"goal_type": "scale", "target_value": 10}
    for n in range(COUNT):
        await alice.post("/v3/memories", json={"content": f"Owns boat {n}"})
        await alice.post("/v1/action-items", json={"description": f"Paint boat {n}"})
        await alice.post("/v1/users/people", json={"name": f"Ann{n}"})
        await alice.post("/v1/goals", json={"title": f"Sail {n}", **goal})
    return alice


async def authorize(owner: AsyncClient, path: str) -> Mapping[str, str]:
    """Return the headers of a script where the path is for these."""
    if "/dev/" not in path:
        return {}
    created = await owner.post("/v1/dev/keys", json={"name": "Script", "scopes": SCOPES})
    return {"Authorization": f"Bearer {created.json()['key']}"}


def read_rest(answer: Response) -> Mapping[str, str]:
    names = ("X-Has-More", "X-Total-Count")
    return {name: answer.headers[name] for name in names if name in answer.headers}


@pytest.mark.parametrize(
    ("path", "total"),
    [
        ("/v1/dev/user/conversations", COUNT),
        ("/v1/dev/user/memories", COUNT),
        ("/v1/dev/user/action-items", COUNT),
        ("/v1/dev/user/goals?include_inactive=true", None),
        ("/v1/users/people", None),
        ("/v1/conversations", None),
        ("/v3/memories", None),
    ],
)
async def test_an_array_says_in_headers_what_it_leaves_out_e2(
    alice: AsyncClient, path: str, total: int | None
) -> None:
    headers, sign = await authorize(alice, path), "&" if "?" in path else "?"

    cut = await alice.get(f"{path}{sign}limit={LIMIT}", headers=headers)
    whole = await alice.get(f"{path}{sign}limit={COUNT}", headers=headers)

    assert len(cut.json()) == LIMIT
    assert read_rest(cut) == {
        "X-Has-More": "true",
        **({"X-Total-Count": str(total)} if total else {}),
    }
    assert (len(whole.json()), read_rest(whole)) == (COUNT, {})


async def test_a_list_of_some_categories_counts_none_of_the_others_e2(alice: AsyncClient) -> None:
    path = f"/v1/dev/user/memories?categories=manual&limit={LIMIT}"

    by_category = await alice.get(path, headers=await authorize(alice, path))

    assert read_rest(by_category) == {"X-Has-More": "true"}


async def test_a_search_of_memories_says_that_others_fit_as_well_e2(alice: AsyncClient) -> None:
    cut = await alice.post(SEARCH, json={"query": "boat", "limit": LIMIT})
    whole = await alice.post(SEARCH, json={"query": "boat", "limit": COUNT})

    assert (len(cut.json()), read_rest(cut)) == (LIMIT, {"X-Has-More": "true"})
    assert (len(whole.json()), read_rest(whole)) == (COUNT, {})


@pytest.mark.parametrize("page", [{"offset": 0}, {"offset": 2}])
async def test_a_page_of_tasks_says_how_many_there_are_in_all_e2(
    alice: AsyncClient, page: Mapping[str, Any]
) -> None:
    cut = (await alice.get("/v1/action-items", params={"limit": LIMIT, **page})).json()
    last = (await alice.get("/v1/action-items", params={"limit": COUNT, **page})).json()

    assert (cut["has_more"], cut["total"]) == (True, COUNT)
    assert (last["has_more"], last["total"]) == (False, None)
