"""Reading of a transcript by one model call, or by one for each part where it is too long for the model.

A part is as much as the window holds that the model has at the moment. A part that was answered is not
asked about again after a redelivery, whatever the window is then: its answer says how far it reaches.

Also called: long-input splitting.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from functions.process_conversation.processing.cached_completion import (
    Extraction,
    complete_once,
    load_stored,
)
from functions.process_conversation.processing.examples import EXAMPLES
from functions.process_conversation.processing.model_outputs import ExtractionOutput
from functions.process_conversation.processing.transcript_parts import (
    BEGINNING,
    MAX_LANGUAGE_CHARS,
    MAX_PART_TOKENS,
    Place,
    take_part,
)
from shared import prompts, telemetry
from shared.data.conversations.long_transcripts import run_beside_the_loop
from shared.domain.conversations.own_names import deduplicate_names
from shared.domain.errors import ModelFailed
from shared.domain.failure import FailureReason
from shared.domain.ids import MemoryId
from shared.domain.memories.memory import Memory
from shared.domain.models.model import Prompt
from shared.domain.models.tokens import estimate_tokens
from shared.domain.people.person import Person
from shared.domain.value import value
from shared.domain.wall_clock import list_days_ahead
from shared.models.data_room import LEAST_TOKENS, DataRoom
from shared.models.windows import count_data_tokens, take_fitting

PROMPT = "process_conversation/extraction"
BRIEF_PROMPT = "process_conversation/extraction_brief"
PART_PROMPT = "process_conversation/extraction_part"
ANSWER_TOKENS = 8_000
"""Thirty tasks and events with everything else; most answers are a tenth of it."""
LEAST_ANSWER_TOKENS = 2_000
"""Of a short transcript; beyond it an answer may grow with what it is about."""
MEMORIES_SHARE = 4
"""What is known already takes at most this part of the data."""
TASKS_SHARE = 10
STAGE = "extraction"
FAILURES_OF_A_TEXT: Collection[FailureReason] = ("malformed_answer", "filtered")
"""Others are of all that a model is asked."""
UNREAD = ExtractionOutput.model_construct()
"""The answer to a part that could not be read: it has neither structure nor memories."""


@value
class PartAnswer:
    """What a model made of the transcript from `start` to `until`."""

    start: Place
    until: Place
    answer: ExtractionOutput


@value
class _Instructions:
    text: str
    version: str


@value
class _Question:
    """A prompt about the transcript up to `until`, with some of the known memories."""

    prompt: Prompt
    until: Place
    data_tokens: int
    shown_ids: tuple[MemoryId, ...]

    def identify(self, answer: ExtractionOutput) -> ExtractionOutput:
        return answer.identify(self.shown_ids)


@value
class Known:
    """What is known already: memories, of which as many are shown as fit, the owner's open tasks, and people."""

    memories: Sequence[Memory] = ()
    tasks: Sequence[str] = ()
    people: Sequence[Person] = ()


async def read_transcript(extraction: Extraction, known: Known) -> list[PartAnswer]:
    """Return the answers to all parts, in order; UNREAD to those that a model does not read while it reads others.

    Raises ModelFailed where more than half of the parts are not read, and ModelOutage.
    """
    room = DataRoom(extraction.model, "reader", max_tokens=MAX_PART_TOKENS)
    answers: list[PartAnswer] = []
    start, end = BEGINNING, len(extraction.lines)
    while not answers or start.segment < end:
        part_answer = await _load_part(extraction, start)
        if part_answer is None:
            part_answer = await _ask_about_part(extraction, start, room, known, answers)
        answers.append(part_answer)
        start = part_answer.until
    return answers


async def _load_part(extraction: Extraction, start: Place) -> PartAnswer | None:
    """Return the whole answer to a part that begins here, if an earlier attempt stored one."""
    versions = {_build_instructions(name, start).version for name in (PROMPT, BRIEF_PROMPT)}
    stored = await load_stored(extraction, _name_stage(start), versions=versions)
    if stored is None or "until_segment" not in stored:
        return None
    answer = ExtractionOutput.model_validate(stored["answer"])
    until = Place(segment=stored["until_segment"], offset=stored["until_offset"])
    return PartAnswer(start=start, until=until, answer=answer) if answer.is_complete else None


async def _ask_about_part(
    extraction: Extraction,
    start: Place,
    room: DataRoom,
    known: Known,
    earlier: Sequence[PartAnswer],
) -> PartAnswer:
    """Ask about as much as fits, and about half of it while that is too long for the model."""
    while True:
        question = await run_beside_the_loop(
            [extraction.conversation],
            partial(_build_question, extraction, start, room, known),
        )
        until = question.until
        try:
            answer = await complete_once(
                extraction,
                question.prompt,
                role="reader",
                schema=ExtractionOutput,
                stage=_name_stage(start),
                covers={"until_segment": until.segment, "until_offset": until.offset},
                finish=question.identify,
            )
        except ModelFailed as error:
            try:
                room.halve(question.data_tokens, error)
            except ModelFailed:
                if not _may_leave_out(
                    error, earlier, is_last=until.segment == len(extraction.lines)
                ):
                    raise
                telemetry.warning("part_unread", reason=error.reason)
                return PartAnswer(start=start, until=until, answer=UNREAD)
        else:
            return PartAnswer(start=start, until=until, answer=answer)


def _may_leave_out(error: ModelFailed, earlier: Sequence[PartAnswer], *, is_last: bool) -> bool:
    """Tell whether a part alone is why a model failed: at least as many others are read, the next one perhaps."""
    read = sum(part.answer.can_serve for part in earlier)
    unread = len(earlier) - read + 1
    return error.reason in FAILURES_OF_A_TEXT and unread <= read + (not is_last)


def _build_question(
    extraction: Extraction, start: Place, room: DataRoom, known: Known
) -> _Question:
    """Build the prompt of a part; what may change between two attempts stands last in its data."""
    instructions = _choose_instructions(room, start)
    max_tokens = room.compute(instructions.text, ANSWER_TOKENS)
    existing = [{"number": n, "text": memory.content} for n, memory in enumerate(known.memories)]
    tasks = take_fitting(known.tasks, max_tokens // TASKS_SHARE)
    roles = [{"name": person.name, "role": person.role} for person in known.people]
    people = take_fitting(roles, max_tokens // TASKS_SHARE)
    shown = take_fitting(existing, max_tokens // MEMORIES_SHARE)
    begun = {} if start == BEGINNING else {"new_from": start.segment}
    context = {**extraction.context, **_describe_owner(extraction)}
    named = {"people": people} if people else {}
    rest = {**context, **begun, **named, "open_tasks": tasks, "existing_memories": shown}
    rest_tokens = count_data_tokens({"transcript": [], **rest})
    part = take_part(extraction.lines, start, max(max_tokens - rest_tokens, LEAST_TOKENS // 2))
    data = {"transcript": part.lines, **rest}
    data_tokens = count_data_tokens(data)
    return _Question(
        prompt=Prompt(
            name=PROMPT,  # with brief instructions, too: the answer is the same
            version=instructions.version,
            instructions=instructions.text,
            data=data,
            answer_tokens=min(ANSWER_TOKENS, LEAST_ANSWER_TOKENS + data_tokens),
            is_divisible=True,
            takes_cut_answers=True,
        ),
        until=part.until,
        data_tokens=data_tokens,
        shown_ids=tuple(memory.id for memory in known.memories[: len(shown)]),
    )


def _describe_owner(extraction: Extraction) -> Mapping[str, Any]:
    """Return the calendar, names and language of the owner, as the data holds them."""
    conversation, profile = extraction.conversation, extraction.profile
    return {
        "days_ahead": list_days_ahead(conversation.started_at, profile.zone),
        "owner_names": list(deduplicate_names(profile.all_names)),
        "write_in": get_language(extraction),
    }


def get_language(extraction: Extraction) -> str:
    """Return the language to write in: the owner's, else the one spoken."""
    return extraction.profile.language or extraction.conversation.language[:MAX_LANGUAGE_CHARS]


def _name_stage(start: Place) -> str:
    return f"{STAGE}{start.key}"


def _choose_instructions(room: DataRoom, start: Place) -> _Instructions:
    """Return brief instructions where the whole ones would leave less for the data than they take."""
    whole = _build_instructions(PROMPT, start)
    if room.compute(whole.text, ANSWER_TOKENS) >= estimate_tokens(whole.text):
        return whole
    return _build_instructions(BRIEF_PROMPT, start)


def render_instructions(name: str) -> str:
    """Return instructions with the examples that they give."""
    examples = {slot: EXAMPLES[slot] for slot in prompts.list_slots(name)}
    return prompts.render(name, **examples)


def _build_instructions(name: str, start: Place) -> _Instructions:
    """Return the instructions of the first part, or of a later one."""
    text = render_instructions(name)
    version = prompts.compute_version(name)
    if start == BEGINNING:
        return _Instructions(text=text, version=version)
    return _Instructions(
        text=f"{text}\n\n{prompts.render(PART_PROMPT)}",
        version=f"{version}-{prompts.compute_version(PART_PROMPT)}",
    )
