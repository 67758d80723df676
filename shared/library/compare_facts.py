"""Comparison of new facts with known ones near to them that no model was shown yet: one short question.

The encoder finds what may be the same. Whether a fact repeats another or contradicts it, a model tells; where
none answers, words do.
"""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from shared import prompts, telemetry
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import MemoryId
from shared.domain.memories.memory import Memory
from shared.domain.models.model import SAFE_WINDOW_TOKENS, Prompt
from shared.library.fact_words import say_the_same
from shared.library.reconcile import Candidate
from shared.ports import ChatModel

PROMPT = "comparison"
ANSWER_TOKENS = 1_000
READ_IN_SMALL_WINDOW = 40
"""Known facts that a model is shown in any window, the first of those that it might be shown."""


class _Verdict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    fact: int
    repeats: int | None = None
    replaces: int | None = None


class ComparisonOutput(BaseModel):
    """Which new facts repeat or replace a known one."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    verdicts: Sequence[_Verdict] = ()


def select_read(known: Sequence[Memory], window_tokens: int) -> set[MemoryId]:
    """Name those known facts, of all that it may be shown, that a model surely was beside what it read."""
    is_small = window_tokens < SAFE_WINDOW_TOKENS
    return {memory.id for memory in (known[:READ_IN_SMALL_WINDOW] if is_small else known)}


async def compare_facts(
    model: ChatModel, candidates: Sequence[Candidate], unread: Sequence[Memory]
) -> list[Candidate]:
    """Return the facts with what a model says of known ones that it did not read before; one question, if any."""
    undecided = [each for each in candidates if not _is_decided(each, unread)]
    if not undecided or not unread:
        return [*candidates]
    try:
        output = await model.complete_structured(
            "fast", _build_prompt(undecided, unread), ComparisonOutput
        )
    except (ModelFailed, Unavailable):
        telemetry.add_fields(facts="not compared")
        return [*candidates]
    verdicts = {
        undecided[v.fact].memory.id: v for v in output.verdicts if v.fact in range(len(undecided))
    }
    return [_apply(each, verdicts.get(each.memory.id), unread) for each in candidates]


def _is_decided(candidate: Candidate, known: Sequence[Memory]) -> bool:
    """Tell whether it is decided already: by the model that found the fact, or by words."""
    is_judged = candidate.repeated_id is not None or candidate.replaced_id is not None
    return is_judged or any(say_the_same(candidate.memory.content, m.content) for m in known)


def _build_prompt(candidates: Sequence[Candidate], known: Sequence[Memory]) -> Prompt:
    return prompts.build_prompt(
        PROMPT,
        {
            "facts": _number([each.memory for each in candidates]),
            "known": _number(known),
        },
        answer_tokens=ANSWER_TOKENS,
    )


def _number(memories: Sequence[Memory]) -> list[dict[str, object]]:
    return [{"number": n, "text": memory.content} for n, memory in enumerate(memories)]


def _apply(candidate: Candidate, verdict: _Verdict | None, known: Sequence[Memory]) -> Candidate:
    if verdict is None:
        return candidate
    return replace(
        candidate,
        repeated_id=_find_id(verdict.repeats, known),
        replaced_id=_find_id(verdict.replaces, known),
    )


def _find_id(number: int | None, known: Sequence[Memory]) -> MemoryId | None:
    return known[number].id if number is not None and number in range(len(known)) else None
