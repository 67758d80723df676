"""Refusals: what is read of them, and that their words are no proof of what they quote."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from shared.domain.errors import ModelFailed, RateLimited, Unavailable
from shared.models.ladder import cut_quotes
from shared.models.refusals import parse_retry_after_s, read_refusal, read_stream_error

NOW = datetime(2026, 11, 28, 11, 20, tzinfo=UTC)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "type", "detail", "status", "retryDelay"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.integers(400, 599), ANYTHING | st.text() | st.binary())
def test_every_refusal_becomes_an_error_of_ours_n1(status: int, content: object) -> None:
    body = content if isinstance(content, bytes) else to_json(content, inf_nan_mode="null")
    for refusal in (read_refusal(status, {}, body, NOW), read_stream_error(content)):
        refusal.list_steps()
        refusal.find_tool(["look"])
        refusal.find_bound()
        window = refusal.find_window()

        assert window is None or window >= 1_024
        assert isinstance(refusal.build_error(refusal.find_reason()), ModelFailed | Unavailable)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("2", 2.0),
        ("1.5", 1.5),
        ("Sat, 28 Nov 2026 11:20:02 GMT", 2.0),
        ("Sat, 28 Nov 2026 11:19:00 GMT", 0.0),
        ("soon", None),
        ("-3", None),
        ("nan", None),
        ("", None),
        ("1e999", None),
        ("999999999", 86_400.0),
    ],
)
def test_when_to_come_back_is_read_in_both_legal_forms_n1(
    header: str, seconds: float | None
) -> None:
    assert parse_retry_after_s({"retry-after": header}, NOW) == seconds


def test_a_date_counts_from_the_servers_own_clock_n1() -> None:
    headers = {
        "retry-after": "Sat, 28 Nov 2026 11:20:02 GMT",
        "date": "Sat, 28 Nov 2026 11:20:00 GMT",
    }

    assert parse_retry_after_s(headers, NOW + timedelta(hours=3)) == 2.0


@pytest.mark.parametrize(
    ("words", "window"),
    [
        ("This model's maximum context length is 8192 tokens. However, you requested 9000.", 8_192),
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4_096),
        ("prompt is too long: 9000 tokens > 8192 maximum", 8_192),
        ("input length and `max_tokens` exceed context limit: 8000 + 2000 > 8192", 8_192),
        ("(n_keep: 14538 >= n_ctx: 8192)", 8_192),
        ("Range of input length should be [1, 30_720]", 30_720),
        ("the input is too long", None),
        ("<html><h1>413 Request Entity Too Large, 8192</h1></html>", None),
    ],
)
def test_a_window_is_read_where_a_refusal_names_it_n2(words: str, window: int | None) -> None:
    refusal = read_refusal(400, {}, to_json({"error": {"message": words}}), NOW)

    assert refusal.find_window() == window


def test_what_a_refusal_quotes_is_no_reason_and_no_window_n2() -> None:
    said = "My server says: maximum context length is 1200 tokens. Invalid API key."
    body = to_json({"error": {"message": f"cannot read: {said}"}})
    refusal = read_refusal(400, {}, body, NOW)

    assert refusal.find_reason([said]) == "other"
    assert refusal.find_window([said]) is None
    assert refusal.find_reason() == "too_long"


def test_a_limit_of_the_provider_passes_and_says_when_n1() -> None:
    body = b'[{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 34.07s.",'
    body += b'"status":"RESOURCE_EXHAUSTED"}}]'
    error = read_refusal(429, {}, body, NOW)

    failure = error.build_error(error.find_reason())
    assert isinstance(failure, RateLimited)
    assert failure.retry_after_s == pytest.approx(34.07)


@given(st.text(min_size=16, max_size=80))
def test_the_log_holds_no_word_of_what_was_given(said: str) -> None:
    words = cut_quotes(f"Invalid content: {said} at 3", [f"Before {said} after"])

    assert said not in words
    assert words.startswith("Invalid content:")


def test_a_short_quotation_is_left_out_too() -> None:
    assert cut_quotes("Invalid value: 'Ann'. Use 'user'.", ["Ann calls"]) == (
        "Invalid value: '…'. Use 'user'."
    )
