"""Daily summary calls of the released app (R6)."""

import pytest

from tests.contracts.omi_client.objects import DAILY_SUMMARY
from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.readers import each, flag, integer, optional, shape, text

SETTINGS = shape(
    enabled=optional(flag, True),  # noqa: FBT003 - a default
    hour=optional(integer, 22),
)
SETTINGS_PATH = "/v1/users/daily-summary-settings"
SUMMARIES_PATH = "/v1/users/daily-summaries"
SUMMARIES = shape(summaries=each(DAILY_SUMMARY))
MADE = shape(summary_id=text)
DAY = "2026-03-02"


@pytest.mark.client_call("getDailySummarySettings")
def test_until_they_are_changed_summaries_are_on_at_ten_r6(phone: Phone):
    assert phone.get(SETTINGS_PATH, SETTINGS) == {"enabled": True, "hour": 22}


@pytest.mark.client_call("setDailySummarySettings", "getDailySummarySettings")
def test_switch_and_hour_are_kept_each_for_itself_r6(phone: Phone):
    phone.send("PATCH", SETTINGS_PATH, json={"hour": 0})
    phone.send("PATCH", SETTINGS_PATH, json={"enabled": False})

    assert phone.get(SETTINGS_PATH, SETTINGS) == {"enabled": False, "hour": 0}


@pytest.mark.client_call("getDailySummaries")
def test_a_new_user_has_no_summaries_r6(phone: Phone):
    assert phone.get(SUMMARIES_PATH, SUMMARIES, limit=30, offset=0) == {"summaries": []}


@pytest.mark.client_call("generateDailySummary", "getDailySummaries", "getDailySummary")
def test_a_summary_is_made_listed_and_opened_r6(phone: Phone):
    conversation = phone.add_conversation()

    made = phone.send("POST", f"{SETTINGS_PATH}/test", MADE, json={"date": DAY})

    listed = phone.get(SUMMARIES_PATH, SUMMARIES, limit=30, offset=0)["summaries"]
    opened = phone.get(f"{SUMMARIES_PATH}/{made['summary_id']}", DAILY_SUMMARY)
    assert listed == [opened]
    assert (opened["id"], opened["date"]) == (made["summary_id"], DAY)
    assert opened["stats"]["total_conversations"] == 1
    assert [h["conversation_ids"] for h in opened["highlights"]] == [[conversation["id"]]]
    assert opened["overview"]


@pytest.mark.client_call("generateDailySummary", "getDailySummaries")
def test_scrolling_on_ends_r6(phone: Phone):
    phone.add_conversation()
    phone.send("POST", f"{SETTINGS_PATH}/test", MADE, json={"date": DAY})

    assert phone.get(SUMMARIES_PATH, SUMMARIES, limit=30, offset=30) == {"summaries": []}


@pytest.mark.client_call("generateDailySummary")
@pytest.mark.parametrize("body", [None, {"date": "2026-01-01"}])
def test_a_day_without_conversations_is_refused_in_words_r6(phone: Phone, body):
    request = {"json": body} if body else {}

    status, detail = phone.refuse("POST", f"{SETTINGS_PATH}/test", **request)

    assert (status, detail) == (400, "There is no conversation on that day to summarise.")


@pytest.mark.client_call("generateDailySummary", "getDailySummary")
def test_a_summary_of_somebody_else_is_not_found_r6(sign_up):
    owner, other = sign_up(), sign_up()
    owner.add_conversation()
    made = owner.send("POST", f"{SETTINGS_PATH}/test", MADE, json={"date": DAY})

    assert other.refuse("GET", f"{SUMMARIES_PATH}/{made['summary_id']}")[0] == 404
