"""User settings over HTTP: what is refused, and what a rating of a summary hangs on."""

import pytest

from tests.fixtures.library import BODY, CONVERSATIONS, build_client

RATING = "/v1/users/analytics/memory_summary"


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        ("language", {"language": "Klingon"}, "The language must be the code of a language"),
        ("language", {"language": None}, "The language must be text"),
        ("geolocation", {"latitude": None, "longitude": 1.0}, "The latitude must be a"),
        ("geolocation", {"latitude": 91.0, "longitude": 1.0}, "The latitude must be at most"),
        ("geolocation", {"latitude": 1.0}, "The longitude must be given"),
        ("onboarding", {"acquisition_source": "x" * 201}, "The acquisition source must be at most"),
    ],
)
async def test_a_bad_setting_is_refused_with_what_is_wrong(alice, path, body, detail):
    answer = await alice.patch(f"/v1/users/{path}", json=body)

    assert answer.status_code in (413, 422)
    assert answer.json()["detail"].startswith(detail)


async def test_a_setting_that_is_null_or_left_out_is_kept(alice):
    await alice.patch("/v1/users/onboarding", json={"completed": True})

    answer = await alice.patch("/v1/users/onboarding", json={"completed": None})

    assert answer.json() == {"completed": True, "acquisition_source": None}


async def test_a_conversation_that_is_sent_again_keeps_its_place(alice):
    first = await alice.post(CONVERSATIONS, json=BODY)
    place = {"latitude": 52.5, "longitude": 13.4, "time": BODY["started_at"]}
    await alice.patch("/v1/users/geolocation", json=place)

    again = await alice.post(CONVERSATIONS, json=BODY)

    assert (again.status_code, again.json()["id"]) == (first.status_code, "talk")
    assert (await alice.get(f"{CONVERSATIONS}/talk")).json()["geolocation"] is None


async def test_a_rating_hangs_on_a_conversation_of_the_owner(alice, world):
    await alice.post(CONVERSATIONS, json=BODY)
    query: dict[str, str | int] = {"memory_id": "talk", "value": 1}
    async with build_client(world, "bob") as bob:
        refused = [
            (await bob.post(RATING, params=query)).status_code,
            (await alice.post(RATING, params={**query, "memory_id": "a/b"})).status_code,
            (await alice.get(RATING, params={"memory_id": "__x__"})).status_code,
            (await alice.post(RATING, params={**query, "value": 2})).status_code,
        ]
        await alice.post(RATING, params=query)
        seen_by_bob = (await bob.get(RATING, params=query)).json()

    assert refused == [404, 404, 404, 422]
    assert seen_by_bob == {"has_rating": False}


async def test_a_rating_is_deleted_with_its_conversation(alice):
    await alice.post(CONVERSATIONS, json=BODY)
    await alice.post(RATING, params={"memory_id": "talk", "value": 1})

    await alice.delete(f"{CONVERSATIONS}/talk")

    answer = await alice.get(RATING, params={"memory_id": "talk"})
    assert answer.json() == {"has_rating": False}
