"""Settings calls of the released app (R1)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.readers import flag, optional, shape, text

LANGUAGE = shape(language=optional(text))
ONBOARDING = shape(completed=optional(flag, False), acquisition_source=optional(text))  # noqa: FBT003 - a default
PROFILE = shape(
    data_protection_level=optional(text),
    migration_status=optional(shape(status=text, target_level=text)),
)
SUMMARY_RATING = "/v1/users/analytics/memory_summary"
PLACE: dict[str, Any] = {
    "id": 0,
    "latitude": 38.72,
    "longitude": -9.14,
    "altitude": 12.5,
    "accuracy": 4.0,
    "googlePlaceId": None,
    "google_place_id": None,
    "address": None,
    "locationType": None,
    "location_type": None,
}


@pytest.mark.client_call("getUserProfile")
def test_the_profile_is_read_r1(phone):
    assert phone.get("/v1/users/profile", PROFILE)["migration_status"] is None


@pytest.mark.client_call("getPrivateCloudSyncEnabled", "setPrivateCloudSyncEnabled")
def test_the_switch_for_kept_sound_tells_the_truth_r1(phone):
    path, enabled = "/v1/users/private-cloud-sync", shape(private_cloud_sync_enabled=flag)
    before = phone.get(path, enabled)

    phone.send("POST", f"{path}?value=true")

    assert before == {"private_cloud_sync_enabled": False}
    assert phone.get(path, enabled) == {"private_cloud_sync_enabled": True}
    assert phone.get("/v1/users/profile")["keeps_audio"] is True


@pytest.mark.client_call("saveFcmTokenServer", "getUserPrimaryLanguage", "setUserPrimaryLanguage")
def test_the_language_is_unknown_until_it_is_chosen_r1(phone):
    phone.send("POST", "/v1/users/fcm-token", json={"fcm_token": "t", "time_zone": "Asia/Tokyo"})
    before = phone.get("/v1/users/language", LANGUAGE)

    phone.send("PATCH", "/v1/users/language", json={"language": "pt"})

    assert before == {"language": None}
    assert phone.get("/v1/users/language", LANGUAGE) == {"language": "pt"}


@pytest.mark.client_call("getUserOnboardingState", "updateUserOnboardingState")
def test_onboarding_is_kept_in_two_parts_r1(phone):
    path = "/v1/users/onboarding"
    before = phone.get(path, ONBOARDING)

    phone.send("PATCH", path, json={"completed": True})
    phone.send("PATCH", path, json={"acquisition_source": "friend"})

    assert before == {"completed": False, "acquisition_source": None}
    assert phone.get(path, ONBOARDING) == {"completed": True, "acquisition_source": "friend"}


def add_conversation_now(phone: Phone) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat()
    return phone.add_conversation(started_at=now, finished_at=now)


@pytest.mark.client_call("updateUserGeolocation")
def test_the_next_conversation_took_place_where_the_phone_is_r1(phone):
    phone.send("PATCH", "/v1/users/geolocation", json={**PLACE, "time": "2199-01-01T00:00:00Z"})

    here = add_conversation_now(phone)["geolocation"]
    earlier = phone.add_conversation()["geolocation"]

    assert (here["latitude"], here["longitude"], here["accuracy"]) == (38.72, -9.14, 4.0)
    assert earlier is None


@pytest.mark.client_call("updateUserGeolocation")
def test_a_conversation_keeps_the_place_it_came_with_r1(phone):
    phone.send("PATCH", "/v1/users/geolocation", json={**PLACE, "time": "2026-03-02T09:01:00Z"})

    without_place = phone.add_conversation()
    with_place = phone.add_conversation(geolocation={"latitude": 52.5, "longitude": 13.4})

    assert without_place["geolocation"]["latitude"] == 38.72
    assert with_place["geolocation"]["latitude"] == 52.5


@pytest.mark.client_call("getHasConversationSummaryRating", "setConversationSummaryRating")
@pytest.mark.parametrize("value", [1, 0])
def test_a_summary_that_was_only_shown_is_not_rated_r1(phone, value):
    query = {"memory_id": phone.add_conversation()["id"]}

    def has_rating() -> bool:
        answer: dict[str, bool] = phone.get(SUMMARY_RATING, shape(has_rating=flag), **query)
        return answer["has_rating"]

    seen = [has_rating()]
    for sent in (-1, value, -1):
        phone.send("POST", SUMMARY_RATING, params={**query, "value": sent, "reason": "null"})
        seen.append(has_rating())

    assert seen == [False, False, True, True]
