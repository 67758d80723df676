"""Directory of apps: sections, categories and searches, without reading the whole store (R1)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.data.apps.app_listings import MAX_LISTED
from shared.domain.apps.app import App, Rating
from shared.domain.ids import AppId, UserId
from tests.fakes import CountingDocuments
from tests.fixtures.notes_app import NotesFixture
from tests.fixtures.tool_proxy import ALICE, build_deps

BOB = UserId("bob")


async def add_app(world: NotesFixture, name: str, **fields: Any) -> str:
    app = App(
        **{
            "id": AppId(name.replace(" ", "")),
            "owner": UserId("dev"),
            "name": name,
            "created_at": world.clock.now(),
            "private": False,
            "capabilities": ("chat",),
            **fields,
        }
    )
    await world.deps.stores.apps.create(app)
    return app.id


async def search(world: NotesFixture, uid: str = ALICE, **query: Any) -> list[str]:
    page = await world.request("GET", "/v2/apps/search", uid=uid, params=query)
    assert page.status_code == 200, page.text
    return [app["id"] for app in page.json()["data"]]


def build_rating(score: float, count: int = 1) -> Rating:
    return Rating(count=count, points=round(score * 100) * count)


async def add_shelf(world: NotesFixture) -> None:
    """Add four public apps and a private one of another user."""
    await add_app(world, "Bread", category="financial", installs=3, rating=build_rating(3.5))
    await add_app(world, "apple pie", description="Of Ann's garden", rating=build_rating(4.5))
    await add_app(world, "Carrots", capabilities=("memories",), installs=3)
    await add_app(world, "Dates", author="Ann", rating=build_rating(4.5, count=2))
    await add_app(world, "Eggs", private=True)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["Bread", "Carrots", "applepie", "Dates"]),
        ({"q": "ANN"}, ["applepie", "Dates"]),
        ({"q": "ann garden"}, ["applepie"]),
        ({"q": "egg"}, []),
        ({"category": "financial"}, ["Bread"]),
        ({"capability": "memories"}, ["Carrots"]),
        ({"capability": "popular"}, ["Bread", "Carrots"]),
        ({"rating": "4"}, ["applepie", "Dates"]),
        ({"rating": "4+"}, ["applepie", "Dates"]),
        ({"sort": "rating_desc"}, ["Dates", "applepie", "Bread", "Carrots"]),
        ({"sort": "rating_asc"}, ["Carrots", "Bread", "applepie", "Dates"]),
        ({"sort": "name_asc"}, ["applepie", "Bread", "Carrots", "Dates"]),
        ({"sort": "name_desc"}, ["Dates", "Carrots", "Bread", "applepie"]),
        ({"offset": 1, "limit": 2}, ["Carrots", "applepie"]),
        ({"offset": 4}, []),
        ({"offset": 99_999}, []),
        ({"my_apps": "true"}, []),
        ({"installed_apps": "true"}, []),
        (
            {"category": "", "q": "", "rating": "", "sort": ""},
            ["Bread", "Carrots", "applepie", "Dates"],
        ),
    ],
)
async def test_a_search_finds_what_its_filters_allow_r1(
    world: NotesFixture, query: dict[str, Any], found: list[str]
):
    await add_shelf(world)

    assert await search(world, **query) == found


@pytest.mark.parametrize(
    "query",
    [{"offset": -1}, {"offset": 1_000_001}, {"limit": 0}, {"rating": "good"}, {"q": "x" * 201}],
)
async def test_a_search_beyond_its_limits_is_refused_r1(world: NotesFixture, query: dict[str, Any]):
    answer = await world.request("GET", "/v2/apps/search", params=query)

    assert answer.status_code in (413, 422)


async def test_a_page_says_where_it_stands_r1(world: NotesFixture):
    await add_shelf(world)
    query = {"offset": 1, "limit": 2}

    page = (await world.request("GET", "/v2/apps/search", params=query, uid=ALICE)).json()

    assert page["pagination"] == {"total": 4, "count": 2, "offset": 1, "limit": 2, "has_more": True}


async def test_sections_have_the_apps_that_belong_there_r1(world: NotesFixture):
    await add_shelf(world)

    sections = (await world.request("GET", "/v2/apps", uid=ALICE)).json()["groups"]

    ids = {
        section["capability"]["id"]: [app["id"] for app in section["data"]] for section in sections
    }
    assert ids == {
        "popular": ["Bread", "Carrots"],
        "chat": ["Bread", "applepie", "Dates"],
        "memories": ["Carrots"],
    }
    assert [section["pagination"]["total"] for section in sections] == [2, 3, 1]
    beyond = await world.request("GET", "/v2/apps", uid=ALICE, params={"offset": 9_999})
    assert beyond.json() == {"groups": []}


async def test_the_apps_of_a_capability_stand_by_category_r1(world: NotesFixture):
    await add_shelf(world)

    answer = (await world.request("GET", "/v2/apps/capability/chat/grouped", uid=ALICE)).json()

    assert [(group["category"]["id"], group["count"]) for group in answer["groups"]] == [
        ("financial", 1),
        ("other", 2),
    ]
    assert answer["meta"] == {"totalApps": 3, "groupCount": 2}
    unknown = await world.request("GET", "/v2/apps/capability/nothing/grouped")
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "Capability not found")


async def test_popular_apps_are_those_of_several_users_r1(world: NotesFixture):
    app = (await world.register()).json()
    popular = []
    for uid in (ALICE, BOB):
        await world.request("POST", "/v1/apps/enable", uid=uid, params={"app_id": app["id"]})
        world.clock.advance(minutes=1)
        answer = await world.request("GET", "/v1/apps/popular", uid=uid)
        popular.append([(shown["id"], shown["is_popular"]) for shown in answer.json()])

    assert popular == [[], [(app["id"], True)]]


async def test_own_and_installed_apps_are_found_at_once_r1(world: NotesFixture):
    await search(world)  # the listings are cached from here
    own_id = await add_app(world, "Mine", owner=ALICE, private=True)
    installed_id = await add_app(world, "Theirs")
    await world.request("POST", "/v1/apps/enable", uid=ALICE, params={"app_id": installed_id})

    assert await search(world, my_apps="true") == [own_id]
    assert await search(world, installed_apps="true") == [installed_id]
    assert sorted(await search(world)) == [own_id, installed_id]
    assert await search(world, uid=BOB) == []


async def test_an_installed_app_that_became_private_is_no_longer_listed_r1(world: NotesFixture):
    app_id = await add_app(world, "Theirs")
    await world.request("POST", "/v1/apps/enable", uid=ALICE, params={"app_id": app_id})
    assert await search(world) == [app_id]

    path = f"/v1/apps/{app_id}/change-visibility"
    await world.request("PATCH", path, params={"private": "true"})

    assert await search(world) == await search(world, installed_apps="true") == []


async def test_a_listing_that_is_out_of_date_shows_nothing_private_r1(world: NotesFixture):
    """Another instance made it private, and this one has listed it since."""
    app_id = await add_app(world, "Theirs")
    assert await search(world, uid=BOB) == [app_id]

    await world.deps.stores.apps.update_app(AppId(app_id), lambda app: replace(app, private=True))

    assert await search(world, uid=BOB) == []


async def test_a_public_app_of_another_instance_is_listed_within_a_minute_r1(world: NotesFixture):
    assert await search(world) == []
    app_id = await add_app(world, "New")

    before = await search(world)
    world.clock.advance(minutes=1)

    assert (before, await search(world)) == ([], [app_id])


async def test_the_listings_are_read_once_for_many_lists_r1(world: NotesFixture):
    for n in range(30):
        await add_app(world, f"App {n}")
    counting_documents = CountingDocuments(world.documents)
    world.deps = build_deps(counting_documents, world.clock)

    costs = []
    for _ in range(3):
        before = counting_documents.documents
        await search(world, limit=3)
        costs.append(counting_documents.documents - before)

    own_apps, installations, older_apps, page = 1, 1, 1, 3
    later_cost = own_apps + installations + older_apps + page
    assert costs == [30 + later_cost, later_cost, later_cost]


async def test_changing_an_app_again_and_again_reads_no_listings_s4(world: NotesFixture):
    counting_documents = CountingDocuments(world.documents)
    world.deps = build_deps(counting_documents, world.clock)
    app_id = await add_app(world, "Notes")
    for n in range(30):
        await add_app(world, f"App {n}")
    await world.request("POST", "/v1/apps/enable", uid=BOB, params={"app_id": app_id})
    await search(world)

    costs, found = [], []
    for is_private in ("true", "false"):
        await world.request(
            "PATCH", f"/v1/apps/{app_id}/change-visibility", params={"private": is_private}
        )
        review = {"score": 3, "review": ""}
        params = {"app_id": app_id}
        await world.request("POST", "/v1/apps/review", uid=BOB, params=params, json=review)
        before = counting_documents.documents
        found.append(await search(world, q="notes"))
        costs.append(counting_documents.documents - before)

    assert max(costs) < 10
    assert found == [[], [app_id]]


async def test_no_more_than_the_newest_apps_are_listed_r1(world: NotesFixture):
    old_id = await add_app(world, "Old", created_at=world.clock.now() - timedelta(days=1))
    for n in range(MAX_LISTED):
        await add_app(world, f"App {n}")

    page = (await world.request("GET", "/v2/apps/search", uid=ALICE)).json()

    assert page["pagination"]["total"] == MAX_LISTED
    assert await search(world, q="Old") == []
    await world.request("POST", "/v1/apps/enable", uid=ALICE, params={"app_id": old_id})
    assert await search(world, q="Old") == [old_id]
