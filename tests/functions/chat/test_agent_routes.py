"""Routes of custom agents: CRUD, limits, and links by which others copy them (X5)."""

from typing import Any

import pytest

from shared.domain.chats.custom_agent import MAX_AGENTS
from shared.domain.ids import AgentId
from shared.library.files import thumbnail_path
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.test_custom_agents import AGENTS, COACH, create_agent
from tests.functions.chat.test_files import store_file
from tests.functions.chat.test_message_routes import open_chat


async def test_an_agent_is_created_read_changed_and_deleted_x5(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        created = (
            await http.post(AGENTS, json={**COACH, "name": " Co\u202each ", "emoji": "🏃"})
        ).json()
        path = f"{AGENTS}/{created['id']}"
        world.clock.advance(minutes=1)
        changed = (await http.patch(path, json={"tools": ["remember"], "emoji": None})).json()
        freed = (await http.patch(path, json={"tools": None, "role": "fast"})).json()
        read = (await http.get(path)).json()
        deleted = await http.delete(path)
        missing = [
            await http.get(path),
            await http.patch(path, json={"name": "x"}),
            await http.delete(path),
            await http.put(f"{path}/share"),
            await http.delete(f"{path}/share"),
        ]

    assert created == {
        **COACH,
        "id": "id0001",
        "description": "",
        "emoji": "🏃",
        "picture": "",
        "tools": None,
        "role": "agent",
        "replaces_prompt": False,
        "created_at": "2026-03-02T12:00:00Z",
        "updated_at": "2026-03-02T12:00:00Z",
        "is_foreign": False,
        "share_token": None,
    }
    later = {"updated_at": "2026-03-02T12:01:00Z"}
    assert changed == {**created, **later, "tools": ["remember"]}
    assert freed == read == {**created, **later, "role": "fast"}
    assert deleted.json() == {"status": "ok"}
    assert [(r.status_code, r.json()["detail"]) for r in missing] == [(404, "Agent not found")] * 5


async def test_the_pages_list_every_agent_once_newest_first_x5(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        for n in range(5):
            world.clock.advance(minutes=1)
            await create_agent(http, name=f"Agent {n}")
        names: list[str] = []
        params: dict[str, Any] = {"limit": 2}
        while True:
            page = (await http.get(AGENTS, params=params)).json()
            names += [agent["name"] for agent in page["items"]]
            if page["next"] is None:
                break
            params["cursor"] = page["next"]

    assert names == [f"Agent {n}" for n in (4, 3, 2, 1, 0)]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"name": "\u202e"}, 422),
        ({"name": "x" * 61}, 422),
        ({"instructions": " "}, 422),
        ({"instructions": "x" * 8_001}, 422),
        ({"role": "persona"}, 422),
        ({"tools": ["x"] * 101}, 413),
        ({"tools": ["x" * 161]}, 422),
    ],
)
async def test_an_agent_beyond_the_bounds_is_refused_x5(
    world: ChatFixture, changes: dict[str, Any], status: int
) -> None:
    async with open_chat(world.deps()) as http:
        refusal = await http.post(AGENTS, json={**COACH, **changes})
        listed = (await http.get(AGENTS)).json()

    assert refusal.status_code == status
    assert listed == {"items": [], "next": None}


async def test_a_link_makes_one_copy_for_each_who_has_it_until_it_ends_x5(
    world: ChatFixture,
) -> None:
    deps = world.deps()
    async with open_chat(deps) as ada, open_chat(deps, EVE) as eve:
        original = await create_agent(ada)
        shared = (await ada.put(f"{AGENTS}/{original}/share")).json()
        again = (await ada.put(f"{AGENTS}/{original}/share")).json()
        token = shared["share_token"]
        shown = (await eve.get(f"/v1/shared-agents/{token}")).json()
        copies = [
            (await eve.post(f"{AGENTS}/from-link", json={"token": token})).json() for _ in range(2)
        ]
        own = (await ada.post(f"{AGENTS}/from-link", json={"token": token})).json()
        await eve.patch(f"{AGENTS}/{copies[0]['id']}", json={"instructions": "Be kind."})
        ended = (await ada.delete(f"{AGENTS}/{original}/share")).json()
        refusals = [
            await eve.get(f"/v1/shared-agents/{token}"),
            await eve.post(f"{AGENTS}/from-link", json={"token": token}),
            await eve.get("/v1/shared-agents/__proto__"),
        ]
        kept = (await eve.get(AGENTS)).json()["items"]
        new_token = (await ada.put(f"{AGENTS}/{original}/share")).json()["share_token"]

    assert again == shared
    assert shown == {
        **COACH,
        "description": "",
        "emoji": "",
        "picture": "",
        "tools": None,
        "role": "agent",
        "replaces_prompt": False,
    }
    assert copies[0] == copies[1]
    assert (copies[0]["is_foreign"], copies[0]["share_token"]) == (True, None)
    assert own["id"] == original
    assert ended["share_token"] is None
    assert [(r.status_code, r.json()["detail"]) for r in refusals] == [
        (404, "This agent is not shared.")
    ] * 3
    assert [(agent["instructions"], agent["is_foreign"]) for agent in kept] == [("Be kind.", True)]
    assert new_token != token


async def test_a_deleted_agent_takes_its_link_along_x5(world: ChatFixture) -> None:
    deps = world.deps()
    async with open_chat(deps) as http:
        agent_id = await create_agent(http)
        token = (await http.put(f"{AGENTS}/{agent_id}/share")).json()["share_token"]
        await http.delete(f"{AGENTS}/{agent_id}")
        refusal = await http.get(f"/v1/shared-agents/{token}")

    assert refusal.status_code == 404
    assert await world.documents.get(f"shared_agents/{token}") is None


async def test_there_are_at_most_so_many_agents_and_deleting_makes_room_x5(
    world: ChatFixture,
) -> None:
    deps = world.deps()
    async with open_chat(deps) as http:
        first = await create_agent(http)
        for _ in range(MAX_AGENTS - 1):
            await create_agent(http)
        refusal = await http.post(AGENTS, json=COACH)
        await http.delete(f"{AGENTS}/{first}")
        accepted = await http.post(AGENTS, json=COACH)

    assert (refusal.status_code, refusal.json()["detail"]) == (
        409,
        "You may have 100 agents; delete one first.",
    )
    assert accepted.status_code == 200


async def test_an_erased_account_leaves_no_link_x5(world: ChatFixture) -> None:
    deps = world.deps()
    async with open_chat(deps) as http:
        agent_id = await create_agent(http)
        token = (await http.put(f"{AGENTS}/{agent_id}/share")).json()["share_token"]
    await deps.stores.accounts.delete(ADA)

    assert await world.documents.get(f"shared_agents/{token}") is None
    assert await deps.stores.custom_agents.find(ADA, AgentId(agent_id)) is None


async def test_an_imported_agent_counts_as_words_of_others_and_never_replaces_one_x5(
    world: ChatFixture,
) -> None:
    deps = world.deps()
    agents = deps.stores.custom_agents
    async with open_chat(deps) as http:
        agent_id = AgentId(await create_agent(http))
    agent = await agents.get(ADA, agent_id)
    await agents.restore(ADA, agent)
    await agents.restore(EVE, agent)

    assert await agents.get(ADA, agent_id) == agent
    assert (await agents.get(EVE, agent_id)).is_foreign


async def test_an_agent_has_a_picture_of_its_owners_files_x5(world: ChatFixture) -> None:
    photo = await store_file(world, "photo")
    text = await store_file(world, "lease", "It ends in May.")
    await world.deps().stores.files.change(
        ADA, photo, media_type="image/png", has_thumbnail=True, thumbnail_key="k1"
    )
    async with open_chat(world.deps()) as http:
        path = f"{AGENTS}/{await create_agent(http, picture_file_id=photo)}"
        agent = (await http.get(path)).json()
        refused = await http.patch(path, json={"picture_file_id": text})
        missing = await http.patch(path, json={"picture_file_id": "nope"})
        shared = (await http.put(f"{path}/share")).json()
        renamed = (await http.patch(path, json={"name": "Tutor"})).json()
    async with open_chat(world.deps(), EVE) as http:
        token = shared["share_token"]
        offered = (await http.get(f"/v1/shared-agents/{token}")).json()
        copied = (await http.post(f"{AGENTS}/from-link", json={"token": token})).json()
        foreign = await http.post(AGENTS, json={**COACH, "picture_file_id": photo})
    async with open_chat(world.deps()) as http:
        without = (await http.patch(path, json={"picture_file_id": ""})).json()

    address = "/v2/files/photo/thumbnail?owner=ada&key=k1"
    assert agent["picture"] == renamed["picture"] == address
    assert (offered["picture"], copied["picture"]) == (f"/v1/shared-agents/{token}/picture", "")
    assert without["picture"] == ""
    assert [answer.status_code for answer in (refused, missing, foreign)] == [422, 404, 404]


async def test_the_picture_of_a_shared_agent_tells_nothing_of_its_owner_and_ends_with_the_link_x5(
    world: ChatFixture,
) -> None:
    photo = await store_file(world, "photo")
    await world.blobs.write(thumbnail_path(ADA, photo), b"webp", media_type="image/webp")
    await world.deps().stores.files.change(
        ADA, photo, media_type="image/png", has_thumbnail=True, thumbnail_key="k1"
    )
    async with open_chat(world.deps()) as http:
        path = f"{AGENTS}/{await create_agent(http, picture_file_id=photo)}"
        token = (await http.put(f"{path}/share")).json()["share_token"]
        link = f"/v1/shared-agents/{token}"
    async with open_chat(world.deps(), EVE) as http:
        offered = await http.get(link)
        shown = await http.get(offered.json()["picture"], headers={"Authorization": ""})
    async with open_chat(world.deps()) as http:
        await http.delete(f"{path}/share")
        ended = await http.get(offered.json()["picture"])

    assert "k1" not in offered.text
    assert f"owner={ADA}" not in offered.text
    assert (shown.content, shown.headers["cache-control"]) == (b"webp", "no-store")
    assert ended.status_code == 404
