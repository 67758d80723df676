"""Several chats over HTTP (P16): CRUD, paging, and what each keeps to itself (X30)."""

from functools import partial
from typing import Any

import anyio
import httpx
import pytest

from shared.adapters.local_identity import LocalIdentity
from shared.domain.app import App
from shared.domain.documents import Query
from shared.domain.ids import AppId
from shared.domain.model import TextDelta
from tests.doubles import ScriptedModel, says
from tests.functions.chat.conftest import ADA, EVE, SECRET, World
from tests.functions.chat.test_endpoints import ask, client

SESSIONS = "/v2/chat-sessions"


def titles(response: httpx.Response) -> list[str]:
    return [session["title"] for session in response.json()]


def chess(world: World) -> App:
    return App(
        id=AppId("CHESS"), owner=EVE, name="Chess", created_at=world.clock.now(), private=False
    )


async def create(http: httpx.AsyncClient, title: str, app_id: str | None = None) -> str:
    made = await http.post(SESSIONS, json={"title": title, "app_id": app_id})
    assert made.status_code == 200
    return str(made.json()["id"])


async def test_p16_a_chat_is_created_read_renamed_starred_and_deleted(world: World) -> None:
    async with client(world.deps()) as http:
        made = (await http.post(SESSIONS, json={})).json()
        path = f"{SESSIONS}/{made['id']}"
        renamed = (await http.patch(path, json={"title": " Tax\u202e return "})).json()
        starred = (await http.patch(path, json={"starred": True})).json()
        read = (await http.get(path)).json()
        deleted = await http.delete(path)
        gone = [await http.get(path), await http.patch(path, json={}), await http.delete(path)]

    assert made == {
        "id": "id0001",
        "title": "New Chat",
        "starred": False,
        "app_id": None,
        "plugin_id": None,
        "created_at": "2026-03-02T12:00:00Z",
        "updated_at": "2026-03-02T12:00:00Z",
        "message_count": 0,
        "preview": "",
    }
    assert (renamed["title"], renamed["starred"]) == ("Tax return", False)
    assert read == starred == {**made, "title": "Tax return", "starred": True}
    assert deleted.json() == {"status": "ok"}
    assert [(r.status_code, r.json()["detail"]) for r in gone] == [
        (404, "Chat session not found")
    ] * 3


async def test_p16_pages_joined_are_all_chats_and_the_newest_message_comes_first(
    world: World,
) -> None:
    with ScriptedModel(says("Yes.")) as model:
        deps = world.deps(model)
        async with client(deps) as http:
            ids = []
            for n in range(5):
                world.clock.pass_(minutes=1)
                ids.append(await create(http, f"Chat {n}"))
            world.clock.pass_(minutes=1)
            await ask(deps, {"text": "Is it there?"}, chat_session_id=ids[1])
            pages: list[list[str]] = []
            cursor: dict[str, str] = {}
            while not pages or cursor:
                page = await http.get(SESSIONS, params={"limit": 2, **cursor})
                pages.append(titles(page))
                following = page.headers.get("X-Next-Cursor")
                cursor = {"cursor": following} if following else {}
            used = (await http.get(f"{SESSIONS}/{ids[1]}")).json()

    assert pages == [["Chat 1", "Chat 4"], ["Chat 3", "Chat 2"], ["Chat 0"]]
    assert (used["message_count"], used["preview"]) == (2, "Yes.")


async def test_p16_the_list_is_filtered_by_app_and_star(world: World) -> None:
    deps = world.deps()
    await deps.apps.create(chess(world))
    async with client(deps) as http:
        for title, app_id, star in (
            ("plain", None, False), ("starred", None, True),
            ("opening", "CHESS", False), ("endgame", "CHESS", True),
        ):  # fmt: skip
            world.clock.pass_(minutes=1)
            made = await create(http, title, app_id)
            await http.patch(f"{SESSIONS}/{made}", json={"starred": star})
        found = [
            titles(await http.get(SESSIONS, params=params))
            for params in ({}, {"app_id": "CHESS"}, {"starred": "true"}, {"starred": "false"},
                           {"app_id": "CHESS", "starred": "true"}, {"app_id": "null"})
        ]  # fmt: skip

    everything = ["endgame", "opening", "starred", "plain"]
    assert found == [
        everything, ["endgame", "opening"], ["endgame", "starred"], ["opening", "plain"],
        ["endgame"], everything,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("params", "detail"),
    [
        ({"offset": "50"}, "offset: Value error, offset is not supported: pass the X-Next-Cursor"),
        ({"limit": "501"}, "limit: Input should be less than or equal to 500"),
        ({"limit": "0"}, "limit: Input should be greater than or equal to 1"),
        ({"cursor": "made up"}, "cursor: not one of ours"),
    ],
)
async def test_p16_what_cannot_be_listed_says_why(
    world: World, params: dict[str, str], detail: str
) -> None:
    async with client(world.deps()) as http:
        refused = await http.get(SESSIONS, params=params)
        old_app = await http.get(SESSIONS, params={"limit": "50", "offset": "0"})

    assert (refused.status_code, old_app.status_code) == (422, 200)
    assert refused.json()["detail"].startswith(detail)


@pytest.mark.parametrize("body", [{"title": "x" * 501}, {"app_id": "a/b"}, {"title": 7}])
async def test_p16_what_cannot_be_a_chat_is_refused(world: World, body: dict[str, Any]) -> None:
    async with client(world.deps()) as http:
        assert (await http.post(SESSIONS, json=body)).status_code == 422
        assert (await http.post(SESSIONS, json={"app_id": "NOPE"})).status_code == 404
        assert (await http.get(SESSIONS)).json() == []


async def test_p16_chats_keep_their_messages_apart_and_deleting_one_leaves_the_others(
    world: World,
) -> None:
    with ScriptedModel(says("a"), says("b"), says("c")) as model:
        deps = world.deps(model)
        async with client(deps) as http:
            work, home = await create(http, "Work"), await create(http, "Home")
            await ask(deps, {"text": "main"})
            await ask(deps, {"text": "work"}, chat_session_id=work)
            world.clock.pass_(minutes=1)
            _, shown = await ask(deps, {"text": "home"}, chat_session_id=home)
            await http.delete(f"{SESSIONS}/{work}")
            left = [
                [m["text"] for m in (await http.get("/v2/messages", params=params)).json()]
                for params in ({}, {"chat_session_id": home})
            ]
            listed = titles(await http.get(SESSIONS))
            lost = await http.get("/v2/messages", params={"chat_session_id": work})

    assert shown.done is not None
    assert shown.done["chat_session_id"] == home
    assert left == [["a", "main"], ["c", "home"]]
    assert listed == ["Home", "New Chat"]
    assert lost.status_code == 404


async def test_p16_a_chat_is_greeted_cleared_and_begun_by_its_name(world: World) -> None:
    with ScriptedModel(says("Yes.")) as model:
        deps = world.deps(model)
        async with client(deps) as http:
            params = {"chat_session_id": await create(http, "Work")}
            greeted = (await http.get("/v2/messages", params=params)).json()
            begun = (await http.post("/v2/initial-message", params=params)).json()
            await ask(deps, {"text": "Hi"}, **params)
            cleared = (await http.delete("/v2/messages", params=params)).json()
            left = (await http.get("/v2/messages", params=params)).json()

            kept = (await http.get(f"{SESSIONS}/{params['chat_session_id']}")).json()

    assert greeted == [begun]
    assert (kept["title"], kept["message_count"]) == ("Work", 1)
    assert greeted[0]["chat_session_id"] == params["chat_session_id"]
    assert left == [cleared]


@pytest.mark.parametrize("way", ["delete the chat", "clear it", "clear the main chat"])
async def test_p16_an_answer_that_is_being_given_does_not_bring_a_deleted_chat_back(
    world: World, way: str
) -> None:
    told, gone = anyio.Event(), anyio.Event()

    async def wait() -> None:
        told.set()
        await gone.wait()

    with ScriptedModel([TextDelta("The secret is "), wait, *says("kept.")]) as model:
        deps = world.deps(model)
        async with client(deps) as http:
            work = await create(http, "Work")
            params = {} if way == "clear the main chat" else {"chat_session_id": work}
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(ask, deps, {"text": "What is it?"}, **params))
                await told.wait()
                if way == "delete the chat":
                    await http.delete(f"{SESSIONS}/{work}")
                else:
                    await http.delete("/v2/messages", params=params)
                gone.set()
            left = [(await http.get("/v2/messages", params=one)).json() for one in ({}, params)]
            listed = (await http.get(SESSIONS)).json()
        kept = [
            document.fields
            for name in ("messages", "runs", "chat_sessions")
            for document in await world.documents.query(Query(collection=f"users/{ADA}/{name}"))
        ]

    assert "secret" not in str([left, listed, kept])
    assert [chat["message_count"] for chat in listed if chat["id"] == work] == (
        [] if way == "delete the chat" else [1] if params else [0]
    )


async def test_p15_older_messages_are_read_from_the_oldest_one_that_is_known(world: World) -> None:
    with ScriptedModel(*(says(f"a{n}") for n in range(60))) as model:
        deps = world.deps(model)
        for n in range(60):
            world.clock.pass_(seconds=9)
            await ask(deps, {"text": f"q{n}"})
        async with client(deps) as http:
            first = (await http.get("/v2/messages")).json()
            before = {"before": first[-1]["id"]}
            second = (await http.get("/v2/messages", params=before)).json()
            third = (await http.get("/v2/messages", params={"before": second[-1]["id"]})).json()
            other = await create(http, "Other")
            lost = [
                await http.get("/v2/messages", params={**before, "chat_session_id": other}),
                await http.get("/v2/messages", params={"before": "nope"}),
            ]

    assert (len(first), len(second), third) == (100, 20, [])
    texts = [message["text"] for message in reversed([*first, *second])]
    assert texts == [text for n in range(60) for text in (f"q{n}", f"a{n}")]
    assert [response.status_code for response in lost] == [404, 404]


@pytest.mark.parametrize("named", ["nope", "a/b", "../main", "hers", "chess"])
async def test_x30_a_chat_that_is_not_the_callers_is_refused_before_any_model_call(
    world: World, named: str
) -> None:
    deps = world.deps()
    await deps.apps.create(chess(world))
    async with client(deps, LocalIdentity(SECRET).issue(EVE)) as eve, client(deps) as http:
        hers, her_chess = await create(eve, "Hers"), await create(http, "Mine", "CHESS")
        session = {"hers": hers, "chess": her_chess}.get(named, named)
        params = {"chat_session_id": session, "app_id": "OTHER" if named == "chess" else ""}
        _, shown = await ask(deps, {"text": "Hi"}, **params)
        refused = [
            await http.get("/v2/messages", params=params),
            await http.delete("/v2/messages", params=params),
            await http.post("/v2/initial-message", params=params),
        ]
        kept = (await eve.get(f"{SESSIONS}/{hers}")).json()

    assert shown.text == "Chat session not found"
    assert [(r.status_code, r.json()["detail"]) for r in refused] == [
        (404, "Chat session not found")
    ] * 3
    assert kept["title"] == "Hers"


async def test_x30_of_another_users_chat_nothing_can_be_read_changed_or_deleted(
    world: World,
) -> None:
    deps = world.deps()
    async with client(deps, LocalIdentity(SECRET).issue(EVE)) as eve, client(deps) as http:
        path = f"{SESSIONS}/{await create(eve, 'Hers')}"
        answers = [
            await http.get(path),
            await http.patch(path, json={"title": "Mine"}),
            await http.delete(path),
        ]
        assert titles(await http.get(SESSIONS)) == []
        assert titles(await eve.get(SESSIONS)) == ["Hers"]

    assert [answer.status_code for answer in answers] == [404] * 3


async def test_p16_a_chat_of_an_app_speaks_with_that_app_though_only_the_chat_is_named(
    world: World,
) -> None:
    with ScriptedModel(says("e4.")) as model:
        deps = world.deps(model)
        await deps.apps.create(chess(world))
        async with client(deps) as http:
            session = await create(http, "Openings", "CHESS")
        _, shown = await ask(deps, {"text": "How to begin?"}, chat_session_id=session)

    assert "This chat belongs to the app 'Chess'" in model.calls[0].messages[-1].text
    assert shown.done is not None
    assert shown.done["plugin_id"] == "CHESS"
