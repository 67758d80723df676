"""Arc of a stretch, built from the model's answer: cut to its limits, every statement proved; pure."""

from collections.abc import Iterator, Sequence

from functions.chat.consent.nobodys_words import is_owners_word
from functions.chat.stretches.model_outputs import StatementOutput, StretchOutput
from shared.domain.chats.arc import (
    MAX_LINE_CHARS,
    MAX_LINES,
    MAX_STATEMENTS,
    MAX_SUMMARY_CHARS,
    MAX_THEMES,
    Arc,
    Statement,
)
from shared.domain.chats.chat import Message
from shared.domain.chats.crisis import CrisisLevel
from shared.domain.chats.rule import MAX_CHARS
from shared.domain.chats.rule import MAX_WORDS as MAX_RULE_WORDS
from shared.domain.conversations.derived_ids import build_derived_id
from shared.domain.ids import ArcId, MemoryId
from shared.domain.memories.memory import MAX_WORDS, Memory
from shared.domain.provenance import join_kinds
from shared.domain.words import count_words, normalise
from shared.library.write_policy import decide_timing
from shared.retrieval.passages import stands_in_words
from shared.security.visible_text import strip_invisible

MAX_QUOTE_CHARS = 280


def build_arc_id(last: Message) -> ArcId:
    """Name the arc of the stretch that a message ends, so that it is made once."""
    return ArcId(build_derived_id(last.session_id, "arc", last.id))


def build_arc(
    output: StretchOutput,
    stretch: Sequence[Message],
    messages: Sequence[Message],
    known_memories: Sequence[Memory],
    crisis_level: CrisisLevel,
) -> Arc:
    """Build what is kept of a stretch; the model read `messages` of it and was shown the memories."""
    last = stretch[-1]
    return Arc(
        id=build_arc_id(last),
        session_id=last.session_id,
        started_at=stretch[0].created_at,
        created_at=last.created_at,
        turn_count=sum(message.is_owners for message in stretch),
        summary=_clean(output.summary, MAX_SUMMARY_CHARS),
        themes=_clean_all(output.themes, MAX_THEMES),
        mood_opened=_clean(output.mood_opened, MAX_LINE_CHARS),
        mood_closed=_clean(output.mood_closed, MAX_LINE_CHARS),
        open_loops=_clean_all(output.open_loops, MAX_LINES),
        resolved_threads=_clean_all(output.resolved_threads, MAX_LINES),
        crisis_level_max=crisis_level,
        statements=tuple(_select(output.statements, messages, known_memories)),
        read_kinds=join_kinds(*(message.text_kinds for message in messages)),
    )


def _select(
    outputs: Sequence[StatementOutput], messages: Sequence[Message], known: Sequence[Memory]
) -> Iterator[Statement]:
    """Yield the statements that are proved and may be written, each once, the last of those that are equal."""
    proved = [output for output in outputs if _is_proved(output, messages)]
    latest = {normalise(output.text): output for output in proved}
    for output in list(latest.values())[:MAX_STATEMENTS]:
        timing = decide_timing(output.timing, output.kind)
        if timing == "drop":
            continue
        source = messages[output.message]
        yield Statement(
            text=_clean(output.text, MAX_CHARS),
            use=output.use,
            message_id=source.id,
            said_at=source.created_at,
            quote=output.quote,
            term=output.term.strip(),
            is_sure=timing == "now" and output.use == "fact",
            is_weak=timing == "repeat",
            replaced_id=_find_id(output.replaces, known),
            repeated_id=_find_id(output.repeats, known),
        )


def _is_proved(output: StatementOutput, messages: Sequence[Message]) -> bool:
    """Tell whether the owner said the quotation, letter for letter and in whole words, and the statement is short enough."""
    if not 0 <= output.message < len(messages) or not output.quote.strip():
        return False
    source = messages[output.message]
    is_said = (
        is_owners_word(source)
        and output.quote in source.text
        and stands_in_words(output.quote, source.text)
    )
    max_words = MAX_WORDS if output.use == "fact" else MAX_RULE_WORDS
    is_short = count_words(output.text) <= max_words and len(output.quote) <= MAX_QUOTE_CHARS
    return is_said and is_short and bool(normalise(output.text))


def _find_id(number: int | None, known: Sequence[Memory]) -> MemoryId | None:
    """Return the memory that the model was shown under a number; None for any other."""
    return known[number].id if number is not None and 0 <= number < len(known) else None


def _clean_all(lines: Sequence[str], limit: int) -> tuple[str, ...]:
    cleaned = (_clean(line, MAX_LINE_CHARS) for line in lines)
    return tuple(filter(None, cleaned))[:limit]


def _clean(text: str, limit: int) -> str:
    return " ".join(strip_invisible(text).split())[:limit].rstrip()
