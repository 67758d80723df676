"""Integrations of the released app, and how often apps may push (R1)."""

import pytest

from tests.contracts.omi_client.readers import flag, integer, optional, shape, text

CALENDAR = "/v1/integrations/google_calendar"
MENTOR = "/v1/users/mentor-notification-settings"
INTEGRATION = shape(connected=flag, app_key=optional(text))
FREQUENCY = shape(frequency=integer)


@pytest.mark.client_call("getIntegration")
def test_a_service_is_not_connected_at_first_r1(phone):
    assert phone.get(CALENDAR, INTEGRATION) == {"connected": False, "app_key": "google_calendar"}


@pytest.mark.client_call("getIntegrationOAuthUrl")
def test_a_server_without_the_service_says_so_in_words_r1(phone):
    status, detail = phone.refuse("GET", f"{CALENDAR}/oauth-url")

    assert (status, bool(detail)) == (409, True)


@pytest.mark.client_call("saveIntegration", "getIntegration")
def test_a_saved_integration_is_accepted_and_connected_by_oauth_alone_r1(phone):
    phone.send("PUT", CALENDAR, json={"connected": True})

    assert phone.get(CALENDAR, INTEGRATION)["connected"] is False


@pytest.mark.client_call("deleteIntegration", "getIntegration")
def test_disconnecting_twice_succeeds_r1(phone):
    for _ in range(2):
        phone.send("DELETE", CALENDAR)

    assert phone.get(CALENDAR, INTEGRATION)["connected"] is False


def test_posts_of_apps_are_no_integration_r1(phone):
    status, detail = phone.refuse("POST", "/v1/integrations/notification", json={})

    assert (status, detail) == (400, "aid (app id) in request body is required")


@pytest.mark.client_call("syncAppleHealthData")
def test_health_is_synced_r1(phone):
    body = {
        "period_days": 7,
        "total_steps": 14600,
        "average_steps_per_day": 2085.7,
        "daily_steps": [{"date": "2026-03-01", "steps": 8200}],
        "heart_rate_average": 61.0,
        "workouts": [],
    }

    phone.send("PUT", "/v1/integrations/apple-health/sync", json=body)

    assert phone.get("/v1/users/export")


@pytest.mark.client_call("setMentorNotificationSettings", "getMentorNotificationSettings")
@pytest.mark.parametrize("frequency", range(6))
def test_the_frequency_of_pushes_is_kept_r1(phone, frequency):
    phone.send("PATCH", MENTOR, json={"frequency": frequency})

    assert phone.get(MENTOR, FREQUENCY) == {"frequency": frequency}
