"""Content extraction: discard a conversation, or build its structure, tasks and memories.

Also called: summarization, information extraction, entity extraction, summarize a conversation.
"""

from asyncio import gather
from collections import Counter, defaultdict
from collections.abc import Container, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from functions.process_conversation.deps import ProcessDeps
from functions.process_conversation.processing.cached_completion import (
    Extraction,
    complete_once,
    start_extraction,
)
from functions.process_conversation.processing.derived_writes import list_forgotten_memories
from functions.process_conversation.processing.draft import (
    Draft,
    build_draft,
    reconcile_with_stored,
)
from functions.process_conversation.processing.judged_facts import judge_facts
from functions.process_conversation.processing.memory_selection import (
    Sifted,
    decide_memories,
    select_candidates,
    sift_facts,
)
from functions.process_conversation.processing.merge_parts import (
    PartContent,
    PartWords,
    merge_memories,
    merge_structures,
    merge_topics,
)
from functions.process_conversation.processing.model_outputs import (
    DiscardOutput,
)
from functions.process_conversation.processing.near_known import (
    find_known,
    select_from_elsewhere,
)
from functions.process_conversation.processing.read_transcript import (
    UNREAD,
    Known,
    PartAnswer,
    read_transcript,
)
from functions.process_conversation.processing.scraps import is_scrap
from functions.process_conversation.processing.shorten_facts import shorten_facts
from functions.process_conversation.processing.spoken_overview import add_spoken_overview
from functions.process_conversation.processing.structure import (
    MIN_KEPT_WORDS,
    add_speakers,
    build_structure,
    build_topics,
    count_transcript_words,
)
from functions.process_conversation.processing.summary_apps import choose_summary_apps
from functions.process_conversation.processing.templates import apply_template
from functions.process_conversation.processing.transcript_parts import (
    BEGINNING,
    MAX_PART_TOKENS,
    Place,
    list_before,
    take_part,
)
from functions.process_conversation.processing.whole_overview import describe_whole
from shared import prompts, telemetry
from shared.data.conversations.long_transcripts import run_beside_the_loop
from shared.data.tasks.action_items import ActionItemFilter
from shared.domain.account.profile import Profile
from shared.domain.conversations.conversation import Conversation, Structured, Topics, apply_edits
from shared.domain.conversations.derived_ids import DerivedIds
from shared.domain.errors import ModelFailed
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.models.model import Prompt
from shared.domain.tasks.action_item import ActionItem
from shared.domain.value import value
from shared.domain.words import build_wording
from shared.library.compare_facts import compare_facts, select_read
from shared.library.near_memories import find_near_memories
from shared.library.reconcile import Candidate
from shared.library.superseded import restore_superseded
from shared.models.data_room import DataRoom
from shared.retrieval.chunking import split_into_chunks

MAX_SHOWN_MEMORIES = 100
"""Of them as many as the window holds."""
MAX_OPEN_TASKS = 60
"""Of them the owner's are shown that are near."""
DISCARD_PROMPT = "process_conversation/discard"
DISCARD_TOKENS = 1_000
"""Room for a yes or no, and for what some models think before it."""


def _keep_structure(conversation: Conversation) -> Draft:
    """Return the draft of what is stored, with nothing new but its owner's changes."""
    return Draft(
        discarded=conversation.discarded,
        structured=apply_edits(conversation.structured, conversation.edits),
        topics=conversation.topics,
        apps_results=conversation.apps_results,
        suggested_apps=conversation.suggested_summarization_apps,
        dropped_memories=conversation.dropped_memories,
    )


def _keep_restored(conversation: Conversation) -> Draft:
    """Return the draft of one that came with an export, where its memories and tasks stand as well."""
    draft = _keep_structure(conversation)
    if conversation.edits.discarded is not None:
        draft = replace(draft, discarded=conversation.edits.discarded)
    if draft.discarded:
        return draft
    return replace(draft, chunk_count=len(split_into_chunks(conversation.named_segments)))


async def extract_content(
    deps: ProcessDeps, uid: UserId, conversation: Conversation, profile: Profile
) -> Draft:
    """Build the draft of what to store; so far only the model's answers are stored."""
    if conversation.has_deleted_transcript:
        return _keep_structure(conversation)
    if conversation.merged_into is not None:
        discarded = replace(_keep_structure(conversation), discarded=True)
        return await _reconcile(deps, uid, conversation, discarded)
    if conversation.has_restored_structure:
        return await run_beside_the_loop([conversation], partial(_keep_restored, conversation))
    extraction = await start_extraction(deps, uid, conversation, profile)
    if await _is_discarded(extraction):
        draft = Draft(discarded=True)
    else:
        open_tasks = await _list_open_tasks(extraction)
        draft = await _extract_draft(extraction, open_tasks.items)
        draft = await _drop_known_tasks(extraction, draft, open_tasks)
        draft = await _add_app_summary(extraction, draft)
    return await _reconcile(deps, uid, conversation, draft)


async def _reconcile(
    deps: ProcessDeps, uid: UserId, conversation: Conversation, draft: Draft
) -> Draft:
    """Compare the draft with what is stored of the conversation."""
    if conversation.is_untouched:
        return draft
    items = await deps.stores.action_items.list_for_conversation(uid, conversation.id)
    # Read first: a fact that passes to this conversation meanwhile is among its own then.
    repeated_before = await deps.stores.memories.list_repeated_in(uid, conversation.id)
    earlier_memories = await deps.stores.memories.list_for_conversation(uid, conversation.id)
    tombstones = await deps.stores.merges.read_tombstones(uid, conversation.id)
    removed_ids = conversation.held_by.memory_ids if conversation.held_by else ()
    indexed_ids = [*removed_ids, *list_forgotten_memories(tombstones)]
    draft = reconcile_with_stored(draft, items, earlier_memories, indexed_ids)
    removed_memories = [memory for memory in draft.stale_memories if not memory.seen_in]
    superseded_memories = await deps.stores.memories.list_superseded_by(
        uid, [memory.id for memory in removed_memories]
    )
    return replace(
        draft,
        restored_memories=restore_superseded(superseded_memories, removed_memories),
        unrepeated_ids=tuple(
            memory.id for memory in repeated_before if memory.id not in draft.repeated_ids
        ),
    )


async def _is_discarded(extraction: Extraction) -> bool:
    """Discard a short transcript only where it is made of scraps and the model finds so, too.

    An empty one is discarded unasked. Where the owner decided it, nobody is asked.
    """
    conversation = extraction.conversation
    words = count_transcript_words(conversation, limit=MIN_KEPT_WORDS)
    if words and conversation.edits.discarded is not None:
        return conversation.edits.discarded
    if words == 0 or words >= MIN_KEPT_WORDS or conversation.is_imported:
        return words == 0
    if not is_scrap(segment.text for segment in conversation.transcript_segments):
        return False
    try:
        answer = await complete_once(
            extraction, _build_discard_prompt(extraction), role="fast", schema=DiscardOutput
        )
    except ModelFailed as error:
        if error.reason != "malformed_answer":
            raise
        return False
    return answer.discard


def _build_discard_prompt(extraction: Extraction) -> Prompt:
    """Build the prompt over as much as fits: a hundred words may be long ones."""
    instructions = prompts.render(DISCARD_PROMPT)
    room = DataRoom(extraction.model, "fast", max_tokens=MAX_PART_TOKENS)
    part = take_part(extraction.lines, BEGINNING, room.compute(instructions, DISCARD_TOKENS))
    data = {"transcript": part.lines, **extraction.context}
    return prompts.build_prompt(DISCARD_PROMPT, data, answer_tokens=DISCARD_TOKENS)


async def _extract_draft(extraction: Extraction, open_tasks: Sequence[ActionItem]) -> Draft:
    deps, uid, conversation = extraction.deps, extraction.uid, extraction.conversation
    valid_memories = await deps.stores.memories.list_valid(
        uid, now=deps.clock.now(), limit=MAX_SHOWN_MEMORIES
    )
    known_memories = [memory for memory in valid_memories if memory.is_current or memory.is_held]
    elsewhere = select_from_elsewhere(known_memories, conversation)
    may_be_more = len(valid_memories) == MAX_SHOWN_MEMORIES
    own_tasks = [task for task in open_tasks if task.owner == "me"]
    tasks = [task.description for task in own_tasks if _is_from_elsewhere(task, conversation)]
    known = await find_known(extraction, elsewhere, tasks, may_be_more=may_be_more)
    shown_memories = known.memories
    answers = await _read(extraction, known)
    ids = await _load_derived_ids(deps, uid, conversation)

    sifted = await run_beside_the_loop([conversation], partial(_sift, extraction, answers))
    sifted = await judge_facts(extraction, sifted)
    was_repaired = any(part.answer.is_repaired for part in answers)
    sifted = await shorten_facts(extraction, sifted, may_ask=not was_repaired)
    dropped = {str(reason): count for reason, count in sifted.dropped.items() if count}
    telemetry.add_fields(**{f"dropped_{reason}": count for reason, count in dropped.items()})
    candidates = select_candidates(sifted.facts, conversation, ids)
    fact_candidates = [each for each in candidates if not _has_lapsed(each.memory, deps)]
    known_by_id = {memory.id: memory for memory in shown_memories}
    read_ids = select_read(shown_memories, extraction.model.describe("reader").window_tokens)
    if may_be_more:
        facts_to_compare = [candidate.memory for candidate in fact_candidates]
        known_by_id |= await _load_conflicting(deps, uid, conversation, facts_to_compare)
    if may_be_more or len(read_ids) < len(shown_memories):
        fact_candidates, near_by_id = await _compare_with_near(
            extraction, fact_candidates, read_ids
        )
        known_by_id |= near_by_id
    known_by_id |= await _load_named(deps, uid, conversation, fact_candidates, known_by_id)

    structured, topics = await _merge_contents(extraction, answers)

    def build() -> Draft:
        reconciliation = decide_memories(fact_candidates, [*known_by_id.values()])
        return build_draft(conversation, structured, topics, reconciliation, ids)

    draft = await run_beside_the_loop([conversation], build)
    return replace(draft, dropped_memories=dropped)


async def _read(extraction: Extraction, known: Known) -> Sequence[PartAnswer]:
    """Return what a model made of the transcript; where it gives no usable answer, one part that is UNREAD.

    Raises ModelOutage, and ModelFailed for any other reason and where an earlier answer brought what would go.
    """
    try:
        return await read_transcript(extraction, known)
    except ModelFailed as error:
        if error.reason != "malformed_answer" or extraction.conversation.processed_at:
            raise
        telemetry.warning("transcript_unread")
        end = Place(segment=len(extraction.lines))
        return [PartAnswer(start=BEGINNING, until=end, answer=UNREAD)]


async def _merge_contents(
    extraction: Extraction, answers: Sequence[PartAnswer]
) -> tuple[Structured, Topics]:
    """Return what came of all parts. Raises ModelOutage."""
    conversation = extraction.conversation

    def merge() -> tuple[list[Structured], Structured, Topics]:
        parts = _build_contents(extraction, answers)
        topics = add_speakers(merge_topics(parts), conversation)
        return [part.structured for part in parts], merge_structures(parts), topics

    parts, merged, topics = await run_beside_the_loop([conversation], merge)
    structured = await describe_whole(extraction, parts, merged)
    return await run_beside_the_loop(
        [conversation], partial(add_spoken_overview, structured, conversation)
    ), topics


def _sift(extraction: Extraction, answers: Sequence[PartAnswer]) -> Sifted:
    """Return the facts of all parts that may be stored, each once."""
    sifted_parts = [
        sift_facts(
            part.answer.memories or (), extraction.conversation, extraction.profile.all_names
        )
        for part in answers
    ]
    dropped = sum((Counter(part.dropped) for part in sifted_parts), Counter())
    dropped["unread"] = sum(part.answer.memories is None for part in answers)
    facts = merge_memories([part.facts for part in sifted_parts], extraction.lines)
    return Sifted(facts=tuple(facts), dropped=dropped)


def _is_from_elsewhere(task: ActionItem, conversation: Conversation) -> bool:
    return task.conversation_id not in conversation.family


async def _compare_with_near(
    extraction: Extraction, candidates: Sequence[Candidate], read_ids: Container[MemoryId]
) -> tuple[list[Candidate], dict[MemoryId, Memory]]:
    """Return the facts as compared with the known ones nearest to them, and these; `read_ids` were compared before."""
    texts = [candidate.memory.content for candidate in candidates]
    found = await find_near_memories(extraction.deps.search, extraction.uid, texts)
    near = select_from_elsewhere(found, extraction.conversation)
    unread = [memory for memory in near if memory.id not in read_ids]
    compared = await compare_facts(extraction.model, candidates, unread)
    return compared, {memory.id: memory for memory in near}


def _build_contents(extraction: Extraction, answers: Sequence[PartAnswer]) -> list[PartContent]:
    """Return what came of each part, within the limits."""
    return [
        PartContent(
            structured=build_structure(
                part.answer.structure,
                extraction.conversation,
                extraction.profile.zone,
                extraction.profile.all_names,
            ),
            topics=build_topics(part.answer.structure),
            words=PartWords(
                extraction.lines[part.start.segment : part.until.segment + 1],
                list_before(extraction.lines, part.start),
            ),
        )
        for part in answers
        if part.answer.structure
    ]


async def _load_named(
    deps: ProcessDeps,
    uid: UserId,
    conversation: Conversation,
    candidates: Sequence[Candidate],
    known_ids: Container[MemoryId],
) -> dict[MemoryId, Memory]:
    """Return the memories that the model was shown in an earlier attempt, and would not be now."""
    names = {name for each in candidates for name in (each.replaced_id, each.repeated_id)}
    missing_ids = [name for name in names if name is not None and name not in known_ids]
    if not missing_ids:
        return {}
    memories = await deps.stores.memories.get_many(uid, missing_ids)
    current = [memory for memory in memories.values() if memory.is_current]
    return {memory.id: memory for memory in select_from_elsewhere(current, conversation)}


def _has_lapsed(memory: Memory, deps: ProcessDeps) -> bool:
    """Tell whether nothing could be said in time for a fact that waits: it was said long ago."""
    return memory.held_until is not None and memory.held_until <= deps.clock.now()


async def _load_conflicting(
    deps: ProcessDeps, uid: UserId, conversation: Conversation, facts: Sequence[Memory]
) -> dict[MemoryId, Memory]:
    """Return the current memories that such facts of a conversation repeat or contradict."""
    memories = await deps.stores.memories.find_conflicting(uid, facts)
    return {memory.id: memory for memory in select_from_elsewhere(memories, conversation)}


async def _load_derived_ids(
    deps: ProcessDeps, uid: UserId, conversation: Conversation
) -> DerivedIds:
    if len(conversation.family) == 1:
        return DerivedIds(conversation_ids=conversation.family)
    records = [
        record for name in conversation.family for record in await _list_records(deps, uid, name)
    ]
    tombstones = await deps.stores.merges.adopt_tombstones(
        uid, conversation.id, conversation.family
    )
    owned = [record.id for record in records if record.is_user_owned]
    return DerivedIds(
        conversation_ids=conversation.family,
        kept=frozenset([*owned, *(tombstone.id for tombstone in tombstones)]),
    )


async def _list_records(
    deps: ProcessDeps, uid: UserId, conversation_id: ConversationId
) -> list[Memory | ActionItem]:
    memories = await deps.stores.memories.list_for_conversation(uid, conversation_id)
    tasks = await deps.stores.action_items.list_for_conversation(uid, conversation_id)
    return [*memories, *tasks]


async def _add_app_summary(extraction: Extraction, draft: Draft) -> Draft:
    """Let a summary app write, if the owner has one: at most one model call."""
    content = (draft.structured, draft.topics)
    apps = await choose_summary_apps(
        extraction.deps.stores,
        extraction.uid,
        extraction.conversation,
        content,
        extraction.profile.summary_app,
    )
    if apps.writer is None:
        return draft
    results = await apply_template(extraction, apps.writer, draft.structured.overview)
    return replace(draft, apps_results=results, suggested_apps=apps.suggested_ids)


@value
class _OpenTasks:
    """The newest open tasks of anybody, and whether there are no others."""

    items: Sequence[ActionItem] = ()
    are_all: bool = False


async def _list_open_tasks(extraction: Extraction) -> _OpenTasks:
    """Read none for a model that is shown none: each costs a read."""
    if extraction.model.describe("reader").is_extractive:
        return _OpenTasks()
    page = await extraction.deps.stores.action_items.list_page(
        extraction.uid,
        limit=MAX_OPEN_TASKS,
        where=ActionItemFilter(completed=False).to_where(),
    )
    return _OpenTasks(items=page.items, are_all=page.next is None)


async def _drop_known_tasks(extraction: Extraction, draft: Draft, open_tasks: _OpenTasks) -> Draft:
    """Leave out tasks that are open already, in the same words and of the same owner, from elsewhere.

    The same words due at another time are another task. Where the `open_tasks` are not all, those alike are looked up.
    """
    wordings = {item.id: build_wording(item.description) for item in draft.action_items}
    unsure = () if open_tasks.are_all else draft.action_items
    stored, uid = extraction.deps.stores.action_items, extraction.uid
    found = await gather(
        *(stored.list_open_alike(uid, wordings[item.id], item.due_at) for item in unsure)
    )
    known_dues = defaultdict(set)
    for task in chain(open_tasks.items, *found):
        if _is_from_elsewhere(task, extraction.conversation):
            known_dues[task.wording, task.owner, task.owner_name].add(task.due_at)

    def is_new(item: ActionItem) -> bool:
        dues = known_dues[wordings[item.id], item.owner, item.owner_name]
        return not dues or not (item.due_at is None or dues & {item.due_at, None})

    return replace(draft, action_items=tuple(filter(is_new, draft.action_items)))
