"""Fair queue: everybody is served, the urgent first, and who asks once before who asks much (D5)."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.ids import UserId
from shared.domain.models.fair_queue import FairQueue, Ticket
from shared.domain.models.model import Urgency

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
ANN, BOB = UserId("ann"), UserId("bob")
URGENCIES: list[Urgency] = ["now", "soon", "later"]
CALLS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(URGENCIES), st.integers(1, 10_000)),
    max_size=30,
)


def serve_next(queue: FairQueue, waiting: list[Ticket]) -> Ticket:
    ticket = next(each for each in waiting if queue.is_first(each))
    waiting.remove(ticket)
    queue.serve(ticket)
    return ticket


def serve_all(queue: FairQueue, waiting: list[Ticket]) -> list[Ticket]:
    return [serve_next(queue, waiting) for _ in range(len(waiting))]


@given(CALLS)
def test_everybody_is_served_once_and_the_urgent_first_d5(
    calls: list[tuple[str, Urgency, int]],
) -> None:
    queue = FairQueue()
    waiting = [queue.join(UserId(user), urgency, tokens, NOW) for user, urgency, tokens in calls]

    served = serve_all(queue, [*waiting])

    assert set(served) == set(waiting)
    ranks = [URGENCIES.index(ticket.urgency) for ticket in served]
    assert ranks == sorted(ranks)


@given(CALLS)
def test_a_user_s_own_calls_of_one_urgency_keep_their_order_d5(
    calls: list[tuple[str, Urgency, int]],
) -> None:
    queue = FairQueue()
    waiting = [queue.join(UserId(user), urgency, tokens, NOW) for user, urgency, tokens in calls]

    served = serve_all(queue, [*waiting])

    for user in "abcd":
        for urgency in URGENCIES:

            def is_of_both(ticket: Ticket, user: str = user, urgency: Urgency = urgency) -> bool:
                return ticket.uid == user and ticket.urgency == urgency

            assert [*filter(is_of_both, served)] == [*filter(is_of_both, waiting)]


@given(st.integers(2, 40), st.integers(0, 39), st.integers(1, 10_000))
def test_a_user_with_one_call_waits_for_at_most_one_of_a_flood_d5(
    flood: int, before: int, tokens: int
) -> None:
    queue = FairQueue()
    waiting = [queue.join(ANN, "now", 1_000, NOW) for _ in range(flood)]
    for _ in range(min(before, flood - 1)):
        serve_next(queue, waiting)

    call = queue.join(BOB, "now", tokens, NOW)
    served = serve_all(queue, [*waiting, call])

    assert served.index(call) <= 1


@given(st.integers(1, 20), st.integers(1, 5_000), st.integers(1, 5_000))
def test_users_who_always_wait_get_equal_shares_d5(rounds: int, small: int, large: int) -> None:
    queue = FairQueue()
    waiting = [queue.join(ANN, "now", small, NOW), queue.join(BOB, "now", large, NOW)]
    used = {ANN: 0.0, BOB: 0.0}
    for _ in range(20 * rounds):
        ticket = serve_next(queue, waiting)
        used[ticket.uid] += ticket.tokens
        waiting.append(queue.join(ticket.uid, "now", ticket.tokens, NOW))

    assert abs(used[ANN] - used[BOB]) <= 2 * max(small, large)


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 10_000))
def test_what_did_not_wait_brings_its_user_no_nearer_to_the_front_d5(
    at_once: int, flood: int, tokens: int
) -> None:
    queue = FairQueue()
    waiting = [queue.join(ANN, "now", 1_000, NOW) for _ in range(flood)]
    serve_next(queue, waiting)
    for _ in range(at_once):
        queue.charge(ANN, tokens)

    call = queue.join(BOB, "now", 1_000, NOW)
    last = queue.join(ANN, "now", 1_000, NOW)
    served = serve_all(queue, [*waiting, last, call])

    assert served.index(call) <= 1
    assert last.start >= flood * 1_000 + at_once * tokens


def test_a_question_that_gave_up_as_the_first_had_its_turn_d5() -> None:
    queue = FairQueue()
    large = queue.join(ANN, "now", 9_000, NOW)
    waiting = [queue.join(BOB, "now", 1_000, NOW) for _ in range(5)]
    queue.leave(large)

    again = queue.join(ANN, "now", 9_000, NOW)

    assert serve_all(queue, [*waiting, again]) == [*waiting, again]


def test_who_gave_up_is_served_as_if_they_had_not_asked_d5() -> None:
    queue = FairQueue()
    first = queue.join(ANN, "now", 1_000, NOW)
    for _ in range(5):
        queue.leave(queue.join(BOB, "now", 9_000, NOW))
    second = queue.join(BOB, "now", 1_000, NOW)

    assert second.start == first.start
    assert queue.find_longest_wait(BOB) == NOW
