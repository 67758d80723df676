"""A live session as a pure machine: when things were said, what is shown, where a conversation ends."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.media.live.session import Ended, LiveSession, Said
from shared.domain.conversations.conversation import Segment
from shared.domain.conversations.live_conversation import MAX_TEXT_BYTES, LiveConversation
from shared.domain.conversations.speech import Hearing, Utterance
from shared.domain.ids import ConversationId
from tests.fakes import CountingIds

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
TEMPLATE = LiveConversation(
    id=ConversationId(""),
    device="phone",
    source="omi",
    started_at=NOW,
    last_words_at=NOW,
    pause_s=120,
    stream="s1",
)


def begin(resumed: LiveConversation | None = None) -> LiveSession:
    return LiveSession(TEMPLATE, CountingIds("talk"), resumed=resumed)


def hear(*words: tuple[str, float, float], is_final: bool = True) -> Hearing:
    said = (Utterance(text=text, start=start, end=end) for text, start, end in words)
    return Hearing(utterances=tuple(said), is_final=is_final)


def play(session: LiveSession, seconds: float, now: datetime) -> datetime:
    """Let a device send sound for a while, as it comes; return when it ends."""
    for _ in range(round(seconds)):
        now += timedelta(seconds=1)
        session.take_sound(1.0, now)
    return now


def test_words_are_placed_from_the_first_word_of_their_conversation_l3() -> None:
    session = begin()
    play(session, 20, NOW)

    [said] = session.take(hear(("Hello.", 3.0, 4.0), ("Bye.", 9.0, 9.5)))

    assert isinstance(said, Said)
    assert said.is_new
    assert said.conversation.started_at == NOW + timedelta(seconds=3)
    assert said.conversation.last_words_at == NOW + timedelta(seconds=9.5)
    assert [(s.text, s.start, s.end, s.id) for s in said.segments] == [
        ("Hello.", 0.0, 1.0, "s1-00000"),
        ("Bye.", 6.0, 6.5, "s1-00001"),
    ]


def test_what_is_heard_anew_keeps_its_id_and_what_was_not_said_goes() -> None:
    session = begin()
    play(session, 10, NOW)

    [guess] = session.take(hear(("Hel", 0, 1), ("low", 1, 2), is_final=False))
    [final] = session.take(hear(("Hello", 0, 2)))
    [following] = session.take(hear(("World", 3, 4)))

    assert isinstance(guess, Said)
    assert isinstance(final, Said)
    assert isinstance(following, Said)
    assert (guess.is_final, guess.is_new, final.is_final, final.is_new) == (
        False,
        False,
        True,
        True,
    )
    assert [s.id for s in guess.segments] == ["s1-00000", "s1-00001"]
    assert ([s.id for s in final.segments], final.gone) == (["s1-00000"], ("s1-00001",))
    assert ([s.id for s in following.segments], following.is_new) == (["s1-00001"], False)


def test_a_guess_that_comes_to_nothing_is_no_conversation() -> None:
    session = begin()
    play(session, 10, NOW)

    [*_] = session.take(hear(("uh", 0, 1), is_final=False))
    [nothing] = session.take(hear())

    assert isinstance(nothing, Said)
    assert (nothing.segments, nothing.gone, nothing.is_new) == ((), ("s1-00000",), False)
    assert [*session.end()] == []


def test_words_behind_a_pause_begin_another_conversation_l3() -> None:
    session = begin()
    play(session, 300, NOW)

    first, ended, second = session.take(hear(("One.", 0, 1), ("Two.", 121, 122)))

    assert isinstance(first, Said)
    assert isinstance(second, Said)
    assert ended == Ended(conversation_id=first.conversation.id)
    assert [s.text for s in second.segments] == ["Two."]
    assert (second.is_new, second.segments[0].start) == (True, 0.0)
    assert second.conversation.id != first.conversation.id


def test_a_pause_counts_what_was_heard_and_not_what_still_waits() -> None:
    session = begin()
    now = play(session, 200, NOW)
    [*_] = session.take(hear(("One.", 0, 1)))

    assert not session.is_paused(100.0, now)
    assert session.is_paused(200.0, now)
    assert session.is_paused(130.0, now)


def test_a_device_that_sends_nothing_for_a_while_speaks_later() -> None:
    session = begin()
    now = play(session, 5, NOW) + timedelta(seconds=60)
    play(session, 5, now)

    [said] = session.take(hear(("Before.", 1, 2), ("After.", 6, 7)))

    assert isinstance(said, Said)
    assert [s.start for s in said.segments] == [0.0, 65.0]


@pytest.mark.parametrize("away_s", [119, 121])
def test_a_connection_goes_on_with_the_conversation_of_the_one_before_l3(away_s: int) -> None:
    session = begin()
    play(session, 5, NOW)
    [said] = session.take(hear(("One.", 4, 5)))
    assert isinstance(said, Said)

    again = begin(resumed=said.conversation)
    play(again, 5, NOW + timedelta(seconds=5 + away_s))
    steps = [*again.take(hear(("Two.", 0, 1)))]

    is_same = away_s < TEMPLATE.pause_s
    assert [type(step) for step in steps] == ([Said] if is_same else [Ended, Said])
    assert isinstance(steps[-1], Said)
    assert steps[-1].is_new is not is_same
    assert steps[-1].segments[0].start == (away_s + 1 if is_same else 0.0)


def test_who_speaks_on_for_hours_begins_another_conversation() -> None:
    session = begin()
    now = NOW
    steps = list[Said | Ended]()
    for minute in range(300):
        now = play(session, 60, now)
        steps += session.take(hear(("On.", 60 * minute, 60 * minute + 30)))

    ended = [step for step in steps if isinstance(step, Ended)]
    assert len(ended) == 1
    assert len([step for step in steps if isinstance(step, Said)]) == 300


def test_words_that_a_stored_conversation_takes_no_more_begin_another() -> None:
    session = begin()
    play(session, 60, NOW)
    [*_] = session.take(hear(("One.", 0, 1)))
    [late] = session.take(hear(("Two.", 30, 31), ("Three.", 40, 41)))
    assert isinstance(late, Said)

    anew = session.restart(late)

    assert anew.is_new
    assert [s.start for s in anew.segments] == [0.0, 10.0]
    assert anew.conversation.started_at == NOW + timedelta(seconds=30)
    assert session.conversation == anew.conversation


def test_more_than_a_segment_or_a_document_takes_is_divided_and_nothing_is_lost() -> None:
    session = begin()
    play(session, 10, NOW)
    text = "字" * 40_000

    steps = [*session.take(hear(*[(text, 1, 2)] * 6))]

    said = [step for step in steps if isinstance(step, Said)]
    segments = [segment for step in said for segment in step.segments]
    assert len(said) == len(steps) > 1
    assert [step.is_new for step in said] == [True] + [False] * (len(said) - 1)
    assert "".join(segment.text for segment in segments) == 6 * text
    assert len({segment.id for segment in segments}) == len(segments)
    assert max(segment.count_text_bytes() for segment in segments) <= 100_000
    assert max(sum(s.count_stored_bytes() for s in step.segments) for step in said) < 1_000_000


def test_who_says_more_than_a_conversation_takes_begins_another() -> None:
    session = begin()
    play(session, 10, NOW)
    steps = list[Said | Ended]()
    for _ in range(30):
        for step in session.take(hear(("x" * 90_000, 1, 2))):
            steps.append(step)
            if isinstance(step, Said):  # as storing it would
                size = sum(segment.count_stored_bytes() for segment in step.segments)
                session.conversation = replace(
                    step.conversation, text_bytes=step.conversation.text_bytes + size
                )

    said = [step for step in steps if isinstance(step, Said)]
    [ended] = [step for step in steps if isinstance(step, Ended)]
    assert len(said) == 30
    assert [step.is_new for step in said].count(True) == 2
    assert ended.conversation_id == said[0].conversation.id
    assert MAX_TEXT_BYTES <= said[22].conversation.text_bytes + 90_200 < 4_194_304


@given(
    st.lists(
        st.tuples(st.floats(0, 400), st.floats(0.1, 5), st.booleans()), min_size=1, max_size=20
    )
)
def test_no_final_word_is_lost_or_said_twice_whatever_the_silence_l3(
    words: list[tuple[float, float, bool]],
) -> None:
    session, at = begin(), 0.0
    segments, names = list[Segment](), set[str]()
    open_ids, ended_ids = set[str](), list[str]()
    for silence, length, is_final in words:
        play(session, silence + length + 1, NOW + timedelta(seconds=at))
        start = at + silence
        for step in session.take(hear((f"w{at}", start, start + length), is_final=is_final)):
            if isinstance(step, Ended):
                ended_ids.append(step.conversation_id)
            elif step.is_final:
                segments += step.segments
                names |= {segment.id or "" for segment in step.segments}
                open_ids.add(step.conversation.id)
        if is_final:
            at = float(round(silence + length + 1)) + at
    ended_ids += [step.conversation_id for step in session.end() if isinstance(step, Ended)]

    assert len(segments) == len(names) == sum(is_final for *_, is_final in words)
    assert all(0 <= segment.start <= segment.end for segment in segments)
    assert sorted(ended_ids) == sorted(open_ids)
