"""Conversation calls of the released app: lists, search, one conversation, reprocessing (R1)."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.contracts.omi_client.objects import CONVERSATION, CONVERSATION_PAGE
from tests.contracts.omi_client.phone import WORDS, Phone
from tests.contracts.omi_client.readers import each

PATH = "/v1/conversations"
FIRST = datetime.fromisoformat("2026-03-02T09:00:00Z")
PAGE = {"include_discarded": "false", "limit": 50, "offset": 0, "statuses": ""}


def add_days(phone: Phone, count: int) -> list[str]:
    """Add a conversation a day; return their ids, newest first."""
    days = [(FIRST + timedelta(days=n)).isoformat() for n in range(count)]
    added = [phone.add_conversation(started_at=day, finished_at=day)["id"] for day in days]
    return added[::-1]


def list_ids(phone: Phone, **query: Any) -> list[str]:
    listed = phone.get(PATH, each(CONVERSATION), **{**PAGE, **query})
    return [conversation["id"] for conversation in listed]


@pytest.mark.client_call("getConversations")
def test_the_home_page_is_a_bare_list_with_transcripts_newest_first_r1(phone):
    ids = add_days(phone, 3)

    listed = phone.get(PATH, each(CONVERSATION), **PAGE)

    assert [conversation["id"] for conversation in listed] == ids
    assert [c["transcript_segments"][0]["text"] for c in listed] == [WORDS] * 3


@pytest.mark.client_call("getConversations")
def test_scrolling_reaches_every_conversation_once_and_ends_r1(phone):
    ids = add_days(phone, 3)

    pages = [list_ids(phone, limit=2, offset=offset) for offset in (0, 2, 3)]

    assert pages == [ids[:2], ids[2:], []]


@pytest.mark.client_call("getConversations")
@pytest.mark.parametrize("statuses", ["in_progress", "merging,failed"])
def test_a_finished_conversation_shows_under_no_other_status_r1(phone, statuses):
    add_days(phone, 1)

    assert list_ids(phone, statuses=statuses, limit=1) == []


@pytest.mark.client_call("getConversations")
def test_a_day_is_taken_with_its_first_and_its_last_moment_r1(phone):
    ids = add_days(phone, 3)

    bounds = {"start_date": "2026-03-03T00:00:00.000Z", "end_date": "2026-03-04T09:00:00.000Z"}

    assert list_ids(phone, **bounds) == ids[:2]


@pytest.mark.client_call("setConversationStarred", "getConversations")
def test_a_star_stays_and_filters_r1(phone):
    ids = add_days(phone, 2)

    phone.send("PATCH", f"{PATH}/{ids[1]}/starred?starred=true")

    assert list_ids(phone, starred="true") == [ids[1]]
    assert phone.get(f"{PATH}/{ids[1]}", CONVERSATION)["starred"] is True


@pytest.mark.client_call("getConversations")
def test_a_discarded_conversation_shows_only_when_it_is_asked_for_r1(phone):
    segment = {"text": "Hm. Yes.", "speaker": "SPEAKER_00", "is_user": True, "start": 0, "end": 2}
    discarded = phone.add_conversation(transcript_segments=[segment])

    assert discarded["discarded"] is True
    assert list_ids(phone) == []
    assert list_ids(phone, include_discarded="true") == [discarded["id"]]


@pytest.mark.client_call("processInProgressConversation", "getConversationById")
def test_segments_keep_their_ids_and_speakers_have_numbers_r1(phone):
    spoken = [("Ann", "s-1"), ("Bo", "s-2"), ("Ann", None)]
    segments = [
        {"id": name, "text": WORDS, "speaker": speaker, "is_user": False, "start": 0, "end": 5}
        for speaker, name in spoken
    ]

    read = phone.add_conversation(transcript_segments=segments)["transcript_segments"]

    assert [segment["id"] for segment in read][:2] == ["s-1", "s-2"]
    assert len({segment["id"] for segment in read}) == 3
    assert [segment["speaker"] for segment in read] == ["SPEAKER_00", "SPEAKER_01", "SPEAKER_00"]


@pytest.mark.client_call("processInProgressConversation", "getConversationById")
def test_photos_place_translations_and_external_data_are_kept_r1(phone):
    place = {"latitude": 38.0, "longitude": -9.5, "google_place_id": "x", "address": "Rossio 1"}
    photo = {"id": "p1", "base64": "aGVsbG8=", "description": "A harbour"}
    translation = {"lang": "de", "text": "Wir treffen uns am Freitag."}
    segment = {"text": WORDS, "is_user": True, "translations": [translation]}

    read = phone.add_conversation(
        transcript_segments=[segment],
        geolocation=place,
        photos=[photo],
        external_data={"text": "A mail"},
    )

    assert {name: read["geolocation"][name] for name in place} == place
    assert {name: read["photos"][0][name] for name in photo} == photo
    assert read["transcript_segments"][0]["translations"] == [translation]
    assert read["external_data"] == {"text": "A mail"}


@pytest.mark.client_call("updateConversationTitle")
def test_a_title_stays_r1(phone):
    [name] = add_days(phone, 1)

    phone.send("PATCH", f"{PATH}/{name}/title?title=Lisbon trip")

    assert phone.get(f"{PATH}/{name}", CONVERSATION)["structured"]["title"] == "Lisbon trip"


@pytest.mark.client_call("searchConversationsServer")
@pytest.mark.parametrize("query", ["Lisbon", ""])
def test_a_search_has_pages_that_end_and_repeat_nothing_r1(phone, query):
    ids = add_days(phone, 3)
    body = {"query": query, "per_page": 2, "include_discarded": True}

    pages = [
        phone.send("POST", f"{PATH}/search", CONVERSATION_PAGE, json={**body, "page": page})
        for page in (1, 2)
    ]

    found = [conversation["id"] for page in pages for conversation in page["items"]]
    assert sorted(found) == sorted(ids)
    assert [(page["current_page"], page["total_pages"]) for page in pages] == [(1, 2), (2, 2)]


@pytest.mark.client_call("reProcessConversationServer")
def test_reprocessing_answers_with_the_finished_conversation_r1(phone):
    [name] = add_days(phone, 1)

    again = phone.send("POST", f"{PATH}/{name}/reprocess", CONVERSATION)

    assert (again["id"], again["status"]) == (name, "completed")
    assert again["structured"]["title"]
    assert again["transcript_segments"]


@pytest.mark.client_call("processInProgressConversation")
def test_finishing_a_recording_finds_none_r1(phone):
    status, _ = phone.refuse("POST", PATH, json={})

    assert status == 404


@pytest.mark.client_call("deleteConversationServer", "getConversations")
def test_a_deleted_conversation_is_gone_at_once_r1(phone):
    ids = add_days(phone, 2)

    phone.send("DELETE", f"{PATH}/{ids[0]}?cascade=true", status=204)

    assert list_ids(phone) == ids[1:]
    assert phone.refuse("GET", f"{PATH}/{ids[0]}")[0] == 404


@pytest.mark.client_call("getConversations")
@pytest.mark.parametrize(
    "query", [{"limit": 0}, {"limit": 1_001}, {"offset": -1}, {"start_date": "soon"}]
)
def test_a_page_that_cannot_be_is_refused_in_words_r1(phone, query):
    assert phone.refuse("GET", PATH, params=query)[0] == 422


@pytest.mark.client_call("reProcessConversationServer", "getConversations")
def test_a_conversation_of_somebody_else_is_not_found_r1(phone, sign_up):
    [name] = add_days(phone, 1)
    stranger = sign_up()

    assert stranger.refuse("GET", f"{PATH}/{name}")[0] == 404
    assert stranger.refuse("POST", f"{PATH}/{name}/reprocess")[0] == 404
    assert list_ids(stranger) == []
