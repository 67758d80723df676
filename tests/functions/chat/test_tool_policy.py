"""Tool policy of a turn: its work grows no faster than what is read and answered."""

from datetime import UTC, datetime

from functions.chat.turn.tool_policy import ToolPolicy


def test_an_answer_may_repeat_thousands_of_addresses_of_a_long_text_s1():
    """Work that read the text again for each address would not end here."""
    urls = [f"https://notes.example/{n:05}" for n in range(4_000)]
    policy = ToolPolicy(
        "What is new?", own_texts=[" ".join(urls)], local_time=datetime(2026, 3, 2, 12, tzinfo=UTC)
    )

    assert all(map(policy.is_known_url, urls))
    assert not policy.is_known_url("https://notes.example/0000")
