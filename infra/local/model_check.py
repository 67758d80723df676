"""Test of a language model: it is used as it will be used, and what is wrong is said in a sentence each."""

from asyncio import timeout
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from functions.chat.turn.trial import Trial, build_trial
from functions.process_conversation.processing.model_outputs import ExtractionOutput
from functions.process_conversation.processing.trial import build_trial_prompt
from shared.adapters.cloud.openai_model import OpenaiModel
from shared.adapters.cloud.openai_server import OpenaiServer
from shared.domain.errors import ModelFailed, TooLarge, Unavailable
from shared.domain.failure import FailureReason
from shared.domain.models.model import (
    FinishReason,
    ModelCallFinished,
    ModelFacts,
    TextDelta,
    TextWithdrawn,
    ToolCallRequested,
)
from shared.domain.models.model_failure import CAUSES, describe_model_failure
from shared.domain.value import value
from shared.models.known_models import KnownModel, KnownModels
from shared.models.model_notes import describe_notes
from shared.models.server_facts import add_facts
from shared.ports import Clock
from shared.settings import Settings

LEAST_WINDOW_TOKENS = 4_096
"""With less there is no room for our rules, some tools and an answer."""
TEST_TIMEOUT_S = 600
"""A processor without a graphics card reads what is asked in two minutes; a model may be loaded first."""
READING = "It was asked for the title and the tasks of a short conversation."
ANSWERING = "It was asked a question, and offered tools."
IN_LOG = "What its server said stands in the log."
GIVE_MORE = "How to give it more stands in docs/models.md, under Windows."
TOO_SMALL = (
    "This model is given {window:,} tokens at once where it runs, and at least {least:,} are needed. "
    + GIVE_MORE
)
SMALL_WINDOW = (
    "It is given {window:,} tokens at once where it runs: questions come with short rules and few tools, "
    "and long conversations are read in parts. " + GIVE_MORE
)
TOO_SLOW = f"The language model gave no answer within {TEST_TIMEOUT_S // 60} minutes."
NO_JSON = (
    "It gave no JSON that could be read when it was asked for the title and the tasks of a short "
    "conversation: conversations may fail for that."
)
NO_CALL = (
    "It called no tool when it was to search once more: it may answer without searching, from what is "
    "found beside a question."
)
REPEATS = "It said the same again and again until it was stopped."
THINKS_TOO_LONG = (
    "It thought until no room was left for an answer: choose a model that thinks less, or give this one a "
    "larger window."
)
_EXPLAINED_BY_LOG: frozenset[FailureReason] = frozenset(("malformed_answer", "other", "too_long"))


class Unusable(Exception):
    """A model that cannot be used; the message says why, for the person who chose it."""


@value
class TestedModel:
    """A model that can be used: what is known of it by now, and a sentence for each thing to know."""

    known: KnownModel
    notes: Sequence[str] = ()


@value
class _Reply:
    """What came of a question."""

    has_text: bool = False
    has_call: bool = False
    reason: FinishReason = "stop"

    @property
    def is_empty(self) -> bool:
        return not (self.has_text or self.has_call)

    def list_notes(self) -> Sequence[str]:
        repeats = [REPEATS] if self.reason == "repetition" else []
        return [*([] if self.has_call else [NO_CALL]), *repeats]

    def explain(self) -> str:
        """Say why there is no answer."""
        if self.reason == "length":
            return THINKS_TOO_LONG
        return f"{CAUSES['malformed_answer']} {ANSWERING}"


class ModelCheck:
    """Tests models of one server, with one key. What it learns is returned; who asks keeps it."""

    def __init__(self, settings: Settings, clock: Clock, *, base_url: str, api_key: str) -> None:
        self._settings = settings
        self._clock = clock
        self._base_url = base_url
        self._api_key = api_key
        self._server = OpenaiServer(base_url=base_url, api_key=api_key)

    async def list_models(self) -> Any:
        """Return what the server lists, None for nothing.

        Raises Unusable where it refuses the key, cannot be reached, or is none of language models.
        """
        try:
            return await self._server.list_models(self._clock.now())
        except (ModelFailed, Unavailable) as error:
            raise Unusable(_describe(error)) from error

    async def test(self, model: str, listing: Any, *, answers: bool) -> TestedModel:
        """Let a model read a short conversation and, where it `answers`, a question with its tools.

        That is one call each, unless something has to be adapted to. Raises Unusable.
        """
        key, known = (self._base_url, model), KnownModels()

        async def ask_facts() -> None:
            facts = await self._server.ask_facts(model, listing)
            known.change(key, lambda before: add_facts(before, facts))

        await ask_facts()
        openai = self._build_model(model, known)
        try:
            async with timeout(TEST_TIMEOUT_S):
                notes = await _use(openai, self._clock, answers=answers)
            await ask_facts()  # a model that was loaded for it has its real window now
            _check_window(openai)
        except TimeoutError:
            raise Unusable(TOO_SLOW) from None
        finally:
            await openai.aclose()
        return _report(known.get(key), openai.describe("agent"), notes, self._clock.now())

    def _build_model(self, model: str, known: KnownModels) -> OpenaiModel:
        return OpenaiModel(
            api_key=self._api_key,
            base_url=self._base_url,
            models={"agent": model, "reader": model},
            windows=self._settings.model_windows,
            marks_prefixes=self._settings.marks_prefixes(self._base_url),
            known=known,
            clock=self._clock,
        )


async def _use(openai: OpenaiModel, clock: Clock, *, answers: bool) -> Sequence[str]:
    """Use a model, and return what is odd. Raises Unusable."""
    _check_window(openai)
    notes = await _read(openai)
    return [*notes, *(await _answer(openai, clock) if answers else ())]


async def _read(openai: OpenaiModel) -> Sequence[str]:
    """Ask for what is asked of every conversation."""
    try:
        await openai.complete_structured("reader", build_trial_prompt(openai), ExtractionOutput)
    except (ModelFailed, Unavailable) as error:
        if isinstance(error, ModelFailed) and error.reason == "malformed_answer":
            return [NO_JSON]
        raise _explain(error, READING, openai) from error
    return []


async def _answer(openai: OpenaiModel, clock: Clock) -> Sequence[str]:
    """Ask a question, and once more where the window turns out to be smaller, or thoughts took all the room."""
    for is_last in (False, True):
        facts = openai.describe("agent")
        try:
            reply = await _ask(openai, build_trial(facts, clock.now()))
        except TooLarge as error:
            raise Unusable(_say_too_small(facts.window_tokens)) from error
        except (ModelFailed, Unavailable) as error:
            is_smaller = openai.describe("agent").window_tokens < facts.window_tokens
            if is_last or not is_smaller:
                raise _explain(error, ANSWERING, openai) from error
        else:
            if not reply.is_empty:
                return reply.list_notes()
            if is_last or reply.reason != "length":
                raise Unusable(reply.explain())
    raise AssertionError("unreachable")


async def _ask(openai: OpenaiModel, trial: Trial) -> _Reply:
    reply = _Reply()
    async with openai.stream("agent", trial.messages, trial.tools) as events:
        async for event in events:
            match event:
                case TextDelta():
                    reply = replace(reply, has_text=True)
                case TextWithdrawn():
                    reply = replace(reply, has_text=False)
                case ToolCallRequested():
                    reply = replace(reply, has_call=True)
                case ModelCallFinished(reason=reason):
                    reply = replace(reply, reason=reason)
    return reply


def _report(
    known: KnownModel, facts: ModelFacts, notes: Sequence[str], now: datetime
) -> TestedModel:
    if "no_tools" in known.list_steps(now):
        known = replace(known, takes_tools=False)
        notes = [note for note in notes if note != NO_CALL]
    if build_trial(facts, now).rules_form != "whole":
        notes = [SMALL_WINDOW.format(window=facts.window_tokens), *notes]
    return TestedModel(known=known, notes=(*notes, *describe_notes(known, now)))


def _check_window(openai: OpenaiModel) -> None:
    """Raises Unusable where a window is known to be too small."""
    window_tokens = openai.describe("agent").window_tokens
    if window_tokens < LEAST_WINDOW_TOKENS:
        raise Unusable(_say_too_small(window_tokens))


def _say_too_small(window_tokens: int) -> str:
    return TOO_SMALL.format(window=window_tokens, least=LEAST_WINDOW_TOKENS)


def _explain(error: ModelFailed | Unavailable, asked: str, openai: OpenaiModel) -> Unusable:
    """Say what is wrong, and where nobody knows, what was asked for. Raises Unusable for a window."""
    _check_window(openai)
    if _find_reason(error) in _EXPLAINED_BY_LOG:
        return Unusable(f"{_describe(error)} {asked} {IN_LOG}")
    return Unusable(_describe(error))


def _describe(error: ModelFailed | Unavailable) -> str:
    return describe_model_failure(_find_reason(error), "console")


def _find_reason(error: ModelFailed | Unavailable) -> FailureReason:
    reason: FailureReason = getattr(error, "reason", "other")
    return reason
