"""Checks after a soak: what people received against what is stored."""

from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from infra.soak.person import Person, Question
from infra.soak.world import Row, Rows, World


@dataclass(frozen=True, slots=True)
class Findings:
    """How many answers ended how, and what was lost, doubled or left over, each in a sentence.

    Left over is what was merged, deleted or erased, and is there all the same.
    """

    outcomes: Mapping[str, int]
    lost: Sequence[str]
    doubled: Sequence[str]
    left_over: Sequence[str]


async def check_people(world: World, people: Sequence[Person]) -> Findings:
    """Compare every question and conversation with the rows of its user."""
    stored = [(person, await world.load_rows(person.uid)) for person in people]
    return Findings(
        Counter(outcome for _, rows in stored for outcome in _list_outcomes(rows)),
        [found for person, rows in stored for found in _find_lost(person, rows)],
        [found for person, rows in stored for found in _find_doubled(person, rows)],
        [
            *(found for person, rows in stored for found in _find_left_over(person, rows)),
            *[found for person in people async for found in _find_ended(world, person)],
        ],
    )


def _list_outcomes(rows: Rows) -> Sequence[str]:
    return [row["metadata"]["outcome"] for row in rows["messages"] if row["sender"] == "ai"]


def _find_lost(person: Person, rows: Rows) -> Iterator[str]:
    messages = {row["id"]: row for row in rows["messages"]}
    texts = {row["text"] for row in rows["messages"]}
    for question in person.questions:
        if not question.has_failed or question.run_id in messages:
            yield from _find_lost_parts(question, messages, texts)
    states = {row["id"]: row["status"] for row in rows["conversations"]}
    for name in person.conversation_ids:
        if states.get(name) != "completed":
            yield f"conversation {name}: {states.get(name, 'not stored')}"
    names = [row["name"] for row in rows["people"]]
    if names != [person.friend_name] and person.friend_name:
        yield f"{person.uid}: the friend is {names} and not {person.friend_name!r}"


def _find_lost_parts(
    question: Question, messages: Mapping[str, Row], texts: Collection[str]
) -> Iterator[str]:
    if question.text not in texts:
        yield f"{question.key}: the question is not stored"
    if not question.ends:
        seen = f"event {question.last_number} of {question.run_id or 'no run'}"
        yield f"{question.key}: no end came after {seen} and refusals {question.refusals[-5:]}"
    elif question.run_id not in messages:
        yield f"{question.key}: {question.run_id} is not stored and ended as {question.ends[-1]}"
    elif not _is_whole(question, messages[question.run_id]):
        answer = messages[question.run_id]
        yield (
            f"{question.key}: the stored answer is {answer['text']!r} ({answer['metadata']['outcome']}), "
            f"received was {question.received_text!r} of {question.answer!r}"
        )


def _is_whole(question: Question, answer: Row) -> bool:
    """Tell whether the stored answer is what was received.

    Of an answer whose process was killed, the last seconds may be missing; of one that got no
    further than its first words, a sentence says so.
    """
    received, stored = question.received_text, answer["text"]
    match answer["metadata"]["outcome"]:
        case "completed":
            return bool(received == stored == question.answer)
        case "interrupted":
            return bool(received.startswith(stored) or received.endswith(stored))
        case _:
            return bool(received == stored)


def _find_doubled(person: Person, rows: Rows) -> Iterator[str]:
    for question in person.questions:
        yield from _find_repeats(question)
    yield from _find_spare_messages(person, rows["messages"])
    tasks = Counter(row["conversation_id"] for row in rows["action_items"])
    for name, count in tasks.items():
        if count > 1:
            yield f"conversation {name}: {count} tasks for one promise"


def _find_left_over(person: Person, rows: Rows) -> Iterator[str]:
    """Find conversations that their owner does not have any more, but those that a merge hides, and their tasks."""
    for row in rows["conversations"]:
        if row["id"] not in person.conversation_ids and not row.get("merged_into"):
            yield f"conversation {row['id']}: it is stored, and its owner has it no more"
    for row in rows["action_items"]:
        if row["conversation_id"] in person.deleted_ids:
            yield f"conversation {row['conversation_id']}: it is gone, and its task is not"


async def _find_ended(world: World, person: Person) -> AsyncIterator[str]:
    """Find what is left of accounts that were erased, and of sessions that were ended."""
    for uid in person.erased_uids:
        for kind, rows in (await world.load_rows(uid)).items():
            if rows:
                yield f"{uid}: {len(rows)} {kind} of an erased account"
    for _ in await person.find_open_sessions():
        yield f"{person.uid}: a session that was ended lets in"


def _find_repeats(question: Question) -> Iterator[str]:
    if any(later <= earlier for earlier, later in pairwise(question.numbers)):
        yield f"{question.key}: an event came twice"
    if len(question.ends) > 1:
        yield f"{question.key}: {len(question.ends)} ends came"


def _find_spare_messages(person: Person, messages: Sequence[Row]) -> Iterator[str]:
    """Find messages beyond one question and one answer each."""
    run_ids = {question.run_id for question in person.questions}
    question_ids = {row["id"] for row in messages if row["sender"] == "human"}
    answer_ids = {row["id"] for row in messages if row["sender"] == "ai"}
    if len(question_ids) > len(person.questions):
        yield f"{person.uid}: {len(question_ids)} questions of {len(person.questions)} are stored"
    for spare_id in answer_ids - run_ids:
        yield f"{person.uid}: the answer {spare_id} belongs to nothing that was asked"
