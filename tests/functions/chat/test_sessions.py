"""Session routes: CRUD and paging (P16), and the isolation of chats (X30)."""

from functools import partial
from typing import Any

import anyio
import httpx
import pytest

from shared.domain.apps.app import App
from shared.domain.chats.chat import ROOT
from shared.domain.chats.shared_chat import SharedChat
from shared.domain.ids import AppId, MessageId, SessionId
from shared.domain.models.model import TextDelta
from shared.domain.store.documents import Query
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.test_message_routes import ask, open_chat

SESSIONS = "/v2/chat-sessions"


def list_titles(response: httpx.Response) -> list[str]:
    return [session["title"] for session in response.json()]


def build_chess_app(world: ChatFixture) -> App:
    return App(
        id=AppId("CHESS"), owner=EVE, name="Chess", created_at=world.clock.now(), private=False
    )


async def create_chat(http: httpx.AsyncClient, title: str, app_id: str | None = None) -> str:
    response = await http.post(SESSIONS, json={"title": title, "app_id": app_id})
    assert response.status_code == 200
    return str(response.json()["id"])


@pytest.mark.parametrize("mode", ["managed", "incognito", "client_encrypted"])
async def test_a_chat_that_is_begun_again_under_its_key_is_one_chat_t15(
    world: ChatFixture, mode: str
) -> None:
    async def begin(http: httpx.AsyncClient, key: str, **fields: Any) -> str:
        body = {"storage_mode": mode, **fields}
        answer = await http.post(SESSIONS, json=body, headers={"Idempotency-Key": key})
        assert answer.status_code == 200
        return str(answer.json()["id"])

    async with open_chat(world.deps()) as http:
        first, second = [await begin(http, "phone-1") for _ in range(2)]
        others = [await begin(http, "phone-2"), await begin(http, ""), await begin(http, "")]
    async with open_chat(world.deps(), uid=EVE) as http:
        others.append(await begin(http, "phone-1"))

    assert first == second
    assert len({first, *others}) == 5


@pytest.mark.parametrize(
    ("mode", "status"), [("managed", 200), ("incognito", 200), ("client_encrypted", 404)]
)
async def test_a_key_whose_chat_was_deleted_begins_it_anew_but_for_a_sealed_one_t15(
    world: ChatFixture, mode: str, status: int
) -> None:
    """A deleted sealed chat stays deleted: its other devices hear of that late."""
    body, headers = {"storage_mode": mode}, {"Idempotency-Key": "phone-1"}
    async with open_chat(world.deps()) as http:
        chat = (await http.post(SESSIONS, json=body, headers=headers)).json()
        await http.delete(f"{SESSIONS}/{chat['id']}")
        again = await http.post(SESSIONS, json=body, headers=headers)

    assert again.status_code == status


async def test_a_chat_is_created_read_renamed_starred_and_deleted_p16(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        chat = (await http.post(SESSIONS, json={})).json()
        path = f"{SESSIONS}/{chat['id']}"
        renamed_chat = (await http.patch(path, json={"title": " Tax\u202e return "})).json()
        starred_chat = (await http.patch(path, json={"starred": True})).json()
        read_chat = (await http.get(path)).json()
        delete_response = await http.delete(path)
        not_found_responses = [
            await http.get(path),
            await http.patch(path, json={}),
            await http.delete(path),
        ]

    assert chat == {
        "id": "id0001",
        "title": "New Chat",
        "starred": False,
        "app_id": None,
        "plugin_id": None,
        "created_at": "2026-03-02T12:00:00Z",
        "updated_at": "2026-03-02T12:00:00Z",
        "message_count": 0,
        "preview": "",
        "shared": False,
        "focus_mode_id": None,
        "agent_id": None,
        "project_id": None,
        "is_summarised": False,
        "storage_mode": "managed",
        "exercise": None,
        "locked_until": None,
        "summary": "",
        "tags": [],
        "icons": [],
        "category": "general",
        "language": "en",
        "details_requests": [],
        "title_kinds": None,
        "summary_kinds": None,
    }
    assert (renamed_chat["title"], renamed_chat["starred"]) == ("Tax return", False)
    own_title = {"title": "Tax return", "title_kinds": []}
    assert read_chat == starred_chat == {**chat, **own_title, "starred": True}
    assert delete_response.json() == {"status": "ok"}
    assert [(r.status_code, r.json()["detail"]) for r in not_found_responses] == [
        (404, "Chat session not found")
    ] * 3


async def test_the_pages_list_every_chat_once_with_the_newest_message_first_p16(
    world: ChatFixture,
) -> None:
    with ScriptedModel(script_answer("Yes.")) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            ids = []
            for n in range(5):
                world.clock.advance(minutes=1)
                ids.append(await create_chat(http, f"Chat {n}"))
            world.clock.advance(minutes=1)
            await ask(deps, {"text": "Is it there?"}, chat_session_id=ids[1])
            pages: list[list[str]] = []
            cursor: dict[str, str] = {}
            while not pages or cursor:
                page = await http.get(SESSIONS, params={"limit": 2, **cursor})
                pages.append(list_titles(page))
                following = page.headers.get("X-Next-Cursor")
                cursor = {"cursor": following} if following else {}
            chat = (await http.get(f"{SESSIONS}/{ids[1]}")).json()

    assert pages == [["Chat 1", "Chat 4"], ["Chat 3", "Chat 2"], ["Chat 0"]]
    assert (chat["message_count"], chat["preview"]) == (2, "Yes.")


async def test_the_list_is_filtered_by_app_and_star_p16(world: ChatFixture) -> None:
    deps = world.deps()
    await deps.stores.apps.create(build_chess_app(world))
    async with open_chat(deps) as http:
        for title, app_id, star in (
            ("plain", None, False), ("starred", None, True),
            ("opening", "CHESS", False), ("endgame", "CHESS", True),
        ):  # fmt: skip
            world.clock.advance(minutes=1)
            chat_id = await create_chat(http, title, app_id)
            await http.patch(f"{SESSIONS}/{chat_id}", json={"starred": star})
        title_lists = [
            list_titles(await http.get(SESSIONS, params=params))
            for params in ({}, {"app_id": "CHESS"}, {"starred": "true"}, {"starred": "false"},
                           {"app_id": "CHESS", "starred": "true"}, {"app_id": "null"})
        ]  # fmt: skip

    all_titles = ["endgame", "opening", "starred", "plain"]
    assert title_lists == [
        all_titles, ["endgame", "opening"], ["endgame", "starred"], ["opening", "plain"],
        ["endgame"], all_titles,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("params", "detail"),
    [
        ({"offset": "50"}, "Offsets are not supported here: pass the X-Next-Cursor"),
        ({"limit": "501"}, "The limit must be at most 500"),
        ({"limit": "0"}, "The limit must be at least 1"),
        ({"cursor": "made up"}, "The cursor is not one of this list; begin without one."),
    ],
)
async def test_an_invalid_list_query_is_refused_with_the_reason_p16(
    world: ChatFixture, params: dict[str, str], detail: str
) -> None:
    async with open_chat(world.deps()) as http:
        refusal = await http.get(SESSIONS, params=params)
        old_app = await http.get(SESSIONS, params={"limit": "50", "offset": "0"})

    assert (refusal.status_code, old_app.status_code) == (422, 200)
    assert refusal.json()["detail"].startswith(detail)


@pytest.mark.parametrize("body", [{"title": "x" * 501}, {"app_id": "a/b"}, {"title": 7}])
async def test_an_invalid_chat_is_not_created_p16(world: ChatFixture, body: dict[str, Any]) -> None:
    async with open_chat(world.deps()) as http:
        assert (await http.post(SESSIONS, json=body)).status_code == 422
        assert (await http.post(SESSIONS, json={"app_id": "NOPE"})).status_code == 404
        assert (await http.get(SESSIONS)).json() == []


async def test_chats_have_separate_messages_and_deleting_one_leaves_the_others_p16(
    world: ChatFixture,
) -> None:
    with ScriptedModel(script_answer("a"), script_answer("b"), script_answer("c")) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            work, home = await create_chat(http, "Work"), await create_chat(http, "Home")
            await ask(deps, {"text": "main"})
            await ask(deps, {"text": "work"}, chat_session_id=work)
            world.clock.advance(minutes=1)
            _, screen = await ask(deps, {"text": "home"}, chat_session_id=home)
            await http.delete(f"{SESSIONS}/{work}")
            texts_by_chat = [
                [m["text"] for m in (await http.get("/v2/messages", params=params)).json()]
                for params in ({}, {"chat_session_id": home})
            ]
            chat_titles = list_titles(await http.get(SESSIONS))
            not_found = await http.get("/v2/messages", params={"chat_session_id": work})

    assert screen.done is not None
    assert screen.done["chat_session_id"] == home
    assert texts_by_chat == [["a", "main"], ["c", "home"]]
    assert chat_titles == ["Home", "New Chat"]
    assert not_found.status_code == 404


async def test_a_chat_is_greeted_and_cleared_by_its_id_p16(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Yes.")) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            params = {"chat_session_id": await create_chat(http, "Work")}
            first_page = (await http.get("/v2/messages", params=params)).json()
            greeting = (await http.post("/v2/initial-message", params=params)).json()
            await ask(deps, {"text": "Hi"}, **params)
            new_greeting = (await http.delete("/v2/messages", params=params)).json()
            last_page = (await http.get("/v2/messages", params=params)).json()

            chat = (await http.get(f"{SESSIONS}/{params['chat_session_id']}")).json()

    assert first_page == [greeting]
    assert (chat["title"], chat["message_count"]) == ("Work", 1)
    assert first_page[0]["chat_session_id"] == params["chat_session_id"]
    assert last_page == [new_greeting]


@pytest.mark.parametrize("way", ["delete the chat", "clear it", "clear the main chat"])
async def test_an_answer_in_progress_does_not_restore_a_deleted_or_cleared_chat_p16(
    world: ChatFixture, way: str
) -> None:
    answer_started, chat_deleted = anyio.Event(), anyio.Event()

    async def wait() -> None:
        answer_started.set()
        await chat_deleted.wait()

    with ScriptedModel([TextDelta("The secret is "), wait, *script_answer("kept.")]) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            work = await create_chat(http, "Work")
            params = {} if way == "clear the main chat" else {"chat_session_id": work}
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(ask, deps, {"text": "What is it?"}, **params))
                await answer_started.wait()
                if way == "delete the chat":
                    await http.delete(f"{SESSIONS}/{work}")
                else:
                    await http.delete("/v2/messages", params=params)
                chat_deleted.set()
            messages = [
                (await http.get("/v2/messages", params=query)).json() for query in ({}, params)
            ]
            chats = (await http.get(SESSIONS)).json()
        stored_fields = [
            document.fields
            for name in ("messages", "runs", "chat_sessions")
            for document in await world.documents.query(Query(collection=f"users/{ADA}/{name}"))
        ]

    assert "secret" not in str([messages, chats, stored_fields])
    assert [chat["message_count"] for chat in chats if chat["id"] == work] == (
        [] if way == "delete the chat" else [1] if params else [0]
    )


async def test_older_messages_are_paged_from_the_oldest_known_message_p15(
    world: ChatFixture,
) -> None:
    with ScriptedModel(*(script_answer(f"a{n}") for n in range(60))) as model:
        deps = world.deps(model)
        for n in range(60):
            world.clock.advance(seconds=9)
            await ask(deps, {"text": f"q{n}"})
        async with open_chat(deps) as http:
            first = (await http.get("/v2/messages")).json()
            page = {"before": first[-1]["id"]}
            second = (await http.get("/v2/messages", params=page)).json()
            third = (await http.get("/v2/messages", params={"before": second[-1]["id"]})).json()
            other_chat = await create_chat(http, "Other")
            not_found_responses = [
                await http.get("/v2/messages", params={**page, "chat_session_id": other_chat}),
                await http.get("/v2/messages", params={"before": "nope"}),
            ]

    assert (len(first), len(second), third) == (100, 20, [])
    texts = [message["text"] for message in reversed([*first, *second])]
    assert texts == [text for n in range(60) for text in (f"q{n}", f"a{n}")]
    assert [response.status_code for response in not_found_responses] == [404, 404]


@pytest.mark.parametrize("chat_name", ["nope", "a/b", "../main", "hers", "chess"])
async def test_a_chat_that_is_not_the_callers_is_refused_before_any_model_call_x30(
    world: ChatFixture, chat_name: str
) -> None:
    deps = world.deps()
    await deps.stores.apps.create(build_chess_app(world))
    async with (
        open_chat(deps, EVE) as eve,
        open_chat(deps) as http,
    ):
        eve_chat, chess_chat = (
            await create_chat(eve, "Hers"),
            await create_chat(http, "Mine", "CHESS"),
        )
        session = {"hers": eve_chat, "chess": chess_chat}.get(chat_name, chat_name)
        params = {"chat_session_id": session, "app_id": "OTHER" if chat_name == "chess" else ""}
        _, screen = await ask(deps, {"text": "Hi"}, **params)
        refusals = [
            await http.get("/v2/messages", params=params),
            await http.delete("/v2/messages", params=params),
            await http.post("/v2/initial-message", params=params),
        ]
        chat_afterwards = (await eve.get(f"{SESSIONS}/{eve_chat}")).json()

    assert screen.text == "Chat session not found"
    assert [(r.status_code, r.json()["detail"]) for r in refusals] == [
        (404, "Chat session not found")
    ] * 3
    assert chat_afterwards["title"] == "Hers"


async def test_another_users_chat_cannot_be_read_changed_or_deleted_x30(
    world: ChatFixture,
) -> None:
    deps = world.deps()
    async with (
        open_chat(deps, EVE) as eve,
        open_chat(deps) as http,
    ):
        path = f"{SESSIONS}/{await create_chat(eve, 'Hers')}"
        answers = [
            await http.get(path),
            await http.patch(path, json={"title": "Mine"}),
            await http.delete(path),
        ]
        assert list_titles(await http.get(SESSIONS)) == []
        assert list_titles(await eve.get(SESSIONS)) == ["Hers"]

    assert [answer.status_code for answer in answers] == [404] * 3


async def test_a_chat_of_an_app_answers_as_that_app_when_only_the_chat_is_named_p16(
    world: ChatFixture,
) -> None:
    with ScriptedModel(script_answer("e4.")) as model:
        deps = world.deps(model)
        await deps.stores.apps.create(build_chess_app(world))
        async with open_chat(deps) as http:
            session = await create_chat(http, "Openings", "CHESS")
        _, screen = await ask(deps, {"text": "How to begin?"}, chat_session_id=session)

    assert 'This chat belongs to the app "Chess"' in model.calls[0].messages[-1].text
    assert screen.done is not None
    assert screen.done["plugin_id"] == "CHESS"


async def test_the_link_of_a_chat_ends_with_its_messages_u7(world: ChatFixture) -> None:
    stores = world.deps().stores
    async with open_chat(world.deps()) as http:
        for method, path in (
            ("DELETE", "/v2/messages?chat_session_id={}"),
            ("DELETE", "/v2/chat-sessions/{}"),
        ):
            chat = (await http.post(SESSIONS, json={})).json()["id"]
            link = SharedChat(
                id="token",
                uid=ADA,
                session_id=SessionId(chat),
                title="",
                branch=ROOT,
                until=(world.clock.now(), MessageId("m")),
                created_at=world.clock.now(),
            )
            await stores.shared_chats.share(link)
            shared = (await http.get(f"{SESSIONS}/{chat}")).json()["shared"]
            await http.request(method, path.format(chat))
            ended = await stores.shared_chats.find("token")
            assert (shared, ended) == (True, None)
            await stores.messages.clear(ADA, SessionId(chat))
