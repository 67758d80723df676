"""Facts in a text that an app hands in: found by one model call, each proved by words of the text."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from functions.library.deps import AppRequestDeps
from functions.library.programs.integrations.integration_schemas import FactIn
from shared import prompts
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId
from shared.domain.memories.memory import is_short_enough
from shared.library.count_model_usage import count_model_usage
from shared.library.user_model import load_model
from shared.models.windows import count_prompt_tokens
from shared.retrieval.passages import stands_in_words

MAX_FACTS = 10
ANSWER_TOKENS = 1_000
_PROMPT = "process_conversation/text_facts"


class TextFactOutput(BaseModel):
    """A fact, and the words of the text that say it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    evidence: str
    content: str


class TextFactsOutput(BaseModel):
    """The facts of a text."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    facts: Annotated[list[TextFactOutput], Field(max_length=50)]


async def find_facts(
    deps: AppRequestDeps, uid: UserId, text: str, *, source: str
) -> tuple[FactIn, ...]:
    """Return the facts that words of the text prove; none where the model's answer is no use.

    Raises QuotaExceeded, and Unavailable while no model answers: the app may send the text again.
    """
    model = await load_model(deps, uid)
    prompt = prompts.build_prompt(
        _PROMPT,
        {"text": text, "source": source},
        answer_tokens=ANSWER_TOKENS,
    )
    tokens = count_prompt_tokens(prompt)
    await deps.quotas.take(uid, "reading_tokens", tokens, now=deps.clock.now())
    async with count_model_usage(deps.quotas, deps.clock, uid):
        try:
            output = await model.complete_structured("standard", prompt, TextFactsOutput)
        except ModelFailed:
            return ()
    return tuple(_collect_facts(output.facts[:MAX_FACTS], text))


def _collect_facts(found: Sequence[TextFactOutput], text: str) -> Iterator[FactIn]:
    """Yield the short facts whose evidence stands in the text."""
    for fact in found:
        if stands_in_words(fact.evidence, text) and is_short_enough("system", fact.content):
            with suppress(ValidationError):  # empty, or one word without an end
                yield FactIn(content=fact.content)
