"""Choice of interests: few, those that the question is about, never all of several (M110)."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from functions.chat.context.lines import MAX_TOLD_INTERESTS, choose_interests

DAY = date(2026, 3, 2)
INTERESTS = (
    "bouldering", "sourdough baking", "old maps", "chess openings", "jazz piano", "sailing",
    "birdwatching", "type design",
)  # fmt: skip


@given(
    interests=st.lists(st.text(min_size=1, max_size=20), unique=True, max_size=50),
    question=st.text(max_size=100),
)
def test_an_answer_is_told_of_few_interests_and_never_of_all_of_several_m110(
    interests: list[str], question: str
) -> None:
    chosen = choose_interests(interests, question, chat_id="main", day=DAY)

    assert set(chosen) <= set(interests)
    assert len(chosen) <= MAX_TOLD_INTERESTS
    assert len(chosen) < len(interests) or len(interests) < 2
    assert bool(chosen) == bool(interests)


def test_those_are_chosen_that_share_a_word_with_the_question_m110() -> None:
    question = "Which map shows the piano shops, and how do I sail there?"

    chosen = choose_interests(INTERESTS, question, chat_id="main", day=DAY)

    assert chosen == ["old maps", "jazz piano", "sailing"]


def test_without_a_shared_word_they_stay_for_the_day_and_change_between_days_and_chats_m110() -> (
    None
):
    def choose(question: str, chat_id: str = "main", day: date = DAY) -> tuple[str, ...]:
        return tuple(choose_interests(INTERESTS, question, chat_id=chat_id, day=day))

    days = {choose("Hello", day=date(2026, 3, day)) for day in range(1, 11)}

    assert choose("Hello") == choose("And how are you?")
    assert len(days) > 5
    assert len({choose("Hello", chat_id=f"chat{n}") for n in range(10)}) > 5
