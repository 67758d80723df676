"""Shortening of facts: those of too many words are asked for once more, and dropped only then."""

import hashlib
from collections.abc import Sequence

from functions.process_conversation.processing.cached_completion import (
    Extraction,
    complete_once,
)
from functions.process_conversation.processing.memory_selection import (
    Sifted,
    find_content_fault,
)
from functions.process_conversation.processing.model_outputs import MemoryOutput, ShorterOutput
from shared import prompts, telemetry
from shared.domain.errors import ModelFailed
from shared.domain.memories.memory import is_short_enough

MAX_SENTENCES = 8
ANSWER_TOKENS = 1_000


async def shorten_facts(extraction: Extraction, sifted: Sifted, *, may_ask: bool) -> Sifted:
    """Return the facts in at most as many words as are stored; the others are dropped. Raises ModelOutage.

    At most one model call, and none unless it `may_ask`: a conversation has one repair.
    """
    long_facts = [fact for fact in sifted.facts if not _is_short(fact)][:MAX_SENTENCES]
    if not long_facts:
        return sifted
    shorter = await _ask(extraction, long_facts) if may_ask else {}
    shortened = [
        fact.model_copy(update={"content": shorter.get(fact.content, fact.content)})
        for fact in sifted.facts
    ]
    facts = tuple(filter(_is_short, shortened))
    return Sifted(facts=facts, dropped={**sifted.dropped, "long": len(shortened) - len(facts)})


async def _ask(extraction: Extraction, facts: Sequence[MemoryOutput]) -> dict[str, str]:
    """Return shorter words by the ones that were too long; none where the model fails, or that may not be stored."""
    rows = [{"number": n, "words": fact.content} for n, fact in enumerate(facts)]
    prompt = prompts.build_prompt(
        "process_conversation/shorter", {"sentences": rows}, answer_tokens=ANSWER_TOKENS
    )
    contents_hash = hashlib.sha256("\n".join(fact.content for fact in facts).encode()).hexdigest()
    try:
        answer = await complete_once(
            extraction,
            prompt,
            role="fast",
            schema=ShorterOutput,
            covers={"contents_hash": contents_hash},
        )
    except ModelFailed as error:
        telemetry.warning("facts_not_shortened", error=type(error).__name__)
        return {}
    return {
        facts[each.number].content: each.words
        for each in answer.sentences
        if 0 <= each.number < len(facts)
        and not find_content_fault(each.words, extraction.conversation)
    }


def _is_short(fact: MemoryOutput) -> bool:
    return is_short_enough(fact.category, fact.content)
