"""Calls of the released app outside of what Keepsake is for: empty, and read without a crash (R2)."""

import re
from typing import Any

import pytest

from functions.library.account.refused_calls import REFUSED
from tests.contracts.omi_client.readers import (
    Reader,
    anything,
    each,
    flag,
    integer,
    one_of,
    optional,
    shape,
    some,
    text,
)

USAGE = shape(
    transcription_seconds=integer,
    words_transcribed=integer,
    insights_gained=integer,
    memories_created=integer,
)
SUBSCRIPTION = shape(
    subscription=shape(
        plan=one_of("basic", "unlimited", "architect", "operator"),
        status=one_of("active", "inactive"),
        limits=shape(),
    ),
    transcription_seconds_used=integer,
    transcription_seconds_limit=integer,
    words_transcribed_limit=integer,
    insights_gained_limit=integer,
    memories_created_limit=integer,
    show_subscription_ui=flag,
)
ANNOUNCEMENT = shape(id=text, type=text, created_at=text)
TEXTS = each(text)
NOTHING = each(anything)

ANSWERS: list[tuple[str, Reader]] = [
    ("/v1/users/me/subscription", SUBSCRIPTION),
    ("/v1/fair-use/status", shape(stage=text)),
    ("/v1/payments/available-plans", shape(plans=NOTHING)),
    ("/v1/announcements/pending?app_version=1.0.530&platform=ios&trigger=app", each(ANNOUNCEMENT)),
    ("/v1/announcements/changelogs?limit=5", each(ANNOUNCEMENT)),
    (
        "/v2/firmware/latest?device_model=Omi+CV+1&manufacturer_name=x",
        shape(version=optional(text)),
    ),
    ("/v2/firmware/stable?device_model=Omi+CV+1", shape(version=optional(text))),
    ("/v1/users/training-data-opt-in", shape(opted_in=flag, status=optional(text))),
    ("/v3/speech-profile/expand", TEXTS),
    ("/v1/users/migration/requests?target_level=enhanced", shape(needs_migration=NOTHING)),
    ("/v1/knowledge-graph", shape(nodes=NOTHING, edges=NOTHING)),
    ("/v1/app/plans", NOTHING),
    ("/v1/app/generate-prompts", shape(prompts=TEXTS)),
    (
        "/v1/payment-methods/status",
        shape(stripe=text, paypal=text, default=optional(text)),
    ),
    ("/v1/stripe/supported-countries", NOTHING),
    ("/v1/phone/numbers", shape(numbers=NOTHING)),
    ("/v1/agent/vm-status", shape(has_vm=flag)),
    ("/v1/wrapped/2025", shape(status=text)),
    ("/v1/speaker-tag-prompts", shape(prompts=NOTHING)),
    (
        "/v1/users/voice-profile-settings",
        shape(speaker_tag_prompts_enabled=flag, save_other_voice_profiles=flag),
    ),
    ("/v1/csat/config?platform=macos", shape(enabled=flag, title=text, revision=integer)),
]


@pytest.mark.parametrize(("path", "reader"), ANSWERS, ids=[path for path, _ in ANSWERS])
def test_what_keepsake_has_none_of_is_answered_empty_r2(phone, path, reader):
    phone.get(path, reader)

    assert count_entries(phone.get(path)) == 0


def count_entries(answer: Any) -> int:
    """Count what stands in lists, however deep."""
    if isinstance(answer, list):
        return len(answer)
    return sum(map(count_entries, answer.values())) if isinstance(answer, dict) else 0


@pytest.mark.parametrize("period", ["today", "monthly", "yearly", "all_time"])
def test_usage_stands_under_the_period_asked_for_r2(phone, period):
    answer = phone.get(
        "/v1/users/me/usage", shape(**{period: USAGE, "history": some(USAGE)}), period=period
    )

    assert bool(answer["history"]) is (period != "all_time")


def test_the_graph_may_be_rebuilt_r2(phone):
    phone.send("POST", "/v1/knowledge-graph/rebuild", shape(status=text), json={})

    assert phone.get("/v1/knowledge-graph") == {"nodes": [], "edges": []}


def test_a_conversation_has_no_other_transcripts_r2(phone, sign_up):
    conversation_id = phone.add_conversation()["id"]
    transcripts = f"/v1/conversations/{conversation_id}/transcripts"

    providers = ("deepgram", "soniox", "whisperx", "speechmatics")
    assert phone.get(transcripts, shape(**dict.fromkeys(providers, NOTHING))) == {
        provider: [] for provider in providers
    }
    assert sign_up().refuse("GET", transcripts)[0] == 404


@pytest.mark.parametrize(
    ("method", "path", "sentence"),
    [
        (method, re.sub(r"\{[^}]*\}", "x", path), sentence)
        for sentence, calls in REFUSED.items()
        for method, path in calls
    ],
)
def test_what_keepsake_does_not_do_is_refused_in_words_r2(phone, method, path, sentence):
    request = {"files": [("file", ("a.bin", b"0" * 100_000))]} if method == "POST" else {}

    assert phone.refuse(method, path, **request) == (404, sentence)


def test_a_refusal_is_in_the_language_of_its_user_r2(phone):
    phone.send("PATCH", "/v1/users/language", json={"language": "de"})

    assert phone.refuse("POST", "/v1/agent/vm-ensure")[1] == (
        "Keepsake betreibt keinen Computer für dich."
    )
