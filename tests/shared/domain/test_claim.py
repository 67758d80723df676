"""Claim of a conversation: how long it waits for what was away (D6)."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversations.claim import (
    ABANDONED_AFTER,
    LONGEST_WAIT,
    LONGEST_WAIT_FOR_TOKENS,
    acquire,
    park,
)
from shared.domain.failure import Failure, FailureReason

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
REASONS: list[FailureReason] = ["busy", "no_connection", "other"]


@given(st.lists(st.sampled_from(REASONS), min_size=1, max_size=40))
def test_whoever_waits_for_tokens_comes_again_before_any_sweep_tries_them_d6(
    reasons: list[FailureReason],
) -> None:
    claim = acquire(None, attempt="a", content_hash="c", message_hash="c", now=NOW)
    for reason in reasons:
        claim = park(claim, claim, NOW, Failure(reason=reason, detail="Away."))
        assert claim.due_at is not None
        pause = claim.due_at - NOW
        assert (
            timedelta(0) < pause <= (LONGEST_WAIT_FOR_TOKENS if reason == "busy" else LONGEST_WAIT)
        )

    assert claim.waits == len(reasons)
    assert LONGEST_WAIT_FOR_TOKENS < ABANDONED_AFTER
