"""Reviews of apps: one a user, a rating that follows from them, and answers of developers (R1)."""

from typing import Any

import pytest
from httpx import Response

from shared.domain.ids import AppId, UserId
from tests.fixtures.notes_app import NotesFixture
from tests.fixtures.tool_proxy import ALICE

BOB = UserId("bob")


async def review(
    world: NotesFixture, app_id: str, uid: str = ALICE, score: float = 4.0, text: str = "Good"
) -> Response:
    return await world.request(
        "POST",
        "/v1/apps/review",
        uid=uid,
        params={"app_id": app_id},
        json={"score": score, "review": text},
    )


async def install(world: NotesFixture, *uids: str) -> str:
    """Register Notes and install it for these users."""
    app_id: str = (await world.register()).json()["id"]
    for uid in uids:
        await world.request("POST", "/v1/apps/enable", uid=uid, params={"app_id": app_id})
    return app_id


async def read_app(world: NotesFixture, app_id: str, uid: str = "dev") -> dict[str, Any]:
    app: dict[str, Any] = (await world.request("GET", f"/v1/apps/{app_id}", uid=uid)).json()
    return app


async def test_an_apps_rating_is_the_average_of_one_review_a_user_r1(world: NotesFixture):
    app_id = await install(world, ALICE, BOB)
    averages = []
    for uid, score in ((ALICE, 5), (BOB, 2.5), (ALICE, 1), (ALICE, 1)):
        await review(world, app_id, uid, score)
        app = await read_app(world, app_id)
        averages.append((app["rating_avg"], app["rating_count"]))

    assert averages == [(5.0, 1), (3.75, 2), (1.75, 2), (1.75, 2)]


async def test_a_review_shows_its_authors_name_and_hides_their_account_r1(world: NotesFixture):
    await world.deps.stores.profiles.change(ALICE, name="Alice\u202e Miller")
    app_id = await install(world, ALICE)
    await review(world, app_id, text="Very\u200b good")

    [shown] = (await read_app(world, app_id))["reviews"]
    own = (await read_app(world, app_id, ALICE))["user_review"]

    assert (shown["username"], shown["review"], shown["score"]) == (
        "Alice Miller",
        "Very good",
        4.0,
    )
    assert ALICE not in shown["uid"]
    assert own == {**shown, "uid": ALICE}


async def test_a_changed_review_keeps_its_date_and_its_answer_r1(world: NotesFixture):
    app_id = await install(world, ALICE)
    await review(world, app_id)
    [first] = (await read_app(world, app_id))["reviews"]
    body = {"reviewer_uid": first["uid"], "response": "Thanks"}
    await world.request("PATCH", f"/v1/apps/{app_id}/review/reply", json=body)
    world.clock.advance(hours=1)

    changed = {"score": 2, "review": "Worse"}
    await world.request("PATCH", f"/v1/apps/{app_id}/review", uid=ALICE, json=changed)

    [shown] = (await read_app(world, app_id))["reviews"]
    assert (shown["rated_at"], shown["review"], shown["score"]) == (first["rated_at"], "Worse", 2.0)
    assert shown["updated_at"] > first["rated_at"]
    assert shown["response"] == "Thanks"


async def test_who_may_review_and_who_may_answer_r1(world: NotesFixture):
    app_id = await install(world, ALICE, "dev")
    await review(world, app_id)
    body = {"reviewer_uid": "nobody", "response": "Thanks"}
    path = f"/v1/apps/{app_id}/review/reply"

    refusals = [
        await review(world, app_id, BOB),
        await review(world, app_id, "dev"),
        await review(world, "unknown"),
        await world.request("PATCH", path, uid=ALICE, json=body),
        await world.request("PATCH", path, json=body),
    ]

    assert [(answer.status_code, answer.json()["detail"]) for answer in refusals] == [
        (403, "Install the app before you review it"),
        (403, "You cannot review your own app"),
        (404, "App not found"),
        (403, "You are not authorized to perform this action"),
        (404, "Review not found"),
    ]


@pytest.mark.parametrize(("score", "text"), [(5.5, ""), (-1, ""), (4, "x" * 2_001)])
async def test_a_review_beyond_its_limits_is_refused_r1(
    world: NotesFixture, score: float, text: str
):
    app_id = await install(world, ALICE)

    assert (await review(world, app_id, score=score, text=text)).status_code in (413, 422)
    assert (await read_app(world, app_id))["rating_count"] == 0


async def test_an_erased_account_takes_its_reviews_along_s6(world: NotesFixture):
    app_id = await install(world, ALICE, BOB)
    await review(world, app_id, ALICE, 1)
    await review(world, app_id, BOB, 4, "Fine")

    await world.deps.stores.accounts.delete(ALICE)
    await world.deps.stores.accounts.delete(ALICE)

    app = await read_app(world, app_id)
    assert [shown["review"] for shown in app["reviews"]] == ["Fine"]
    assert (app["rating_avg"], app["rating_count"]) == (4.0, 1)


async def test_an_erased_account_has_nothing_installed_any_more_s6(world: NotesFixture):
    app_id = await install(world, ALICE, BOB)
    gone_id = (await world.register()).json()["id"]
    await world.request("POST", "/v1/apps/enable", uid=ALICE, params={"app_id": gone_id})
    await world.deps.stores.apps.remove(AppId(gone_id))

    await world.deps.stores.accounts.delete(ALICE)
    await world.deps.stores.accounts.delete(ALICE)

    assert (await read_app(world, app_id))["installs"] == 1
    assert await world.deps.stores.installed_apps.list_all(ALICE) == []


async def test_an_erasure_passes_over_apps_that_are_gone_s6(world: NotesFixture):
    app_id = await install(world, ALICE)
    await review(world, app_id)
    await world.deps.stores.apps.remove(AppId(app_id))

    await world.deps.stores.accounts.delete(ALICE)

    assert await world.documents.get(f"users/{ALICE}/app_reviews/{app_id}") is None
