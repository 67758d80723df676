"""Evaluation of answers: questions of a LoCoMo file, put to the chat over one library of all its people.

The scripted model answers once half of the gold answer's words stand in one document that it was given, and searches
before; a real one is that of the settings, as the server has it.
"""

import argparse
import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import Journal
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question as AskedQuestion
from infra.eval.embedders import CachingEmbedder
from infra.eval.locomo import Person, Talk, parse_turns
from infra.eval.ours import OWNER, fill_library, to_conversation_id
from infra.progress import create_progress_bar
from shared.adapters.embedded.encoder_process import EncoderProcess
from shared.adapters.embedded.local_embedder import LocalEmbedder
from shared.data.search.question_meaning import QuestionMeanings
from shared.data.search.search import Search
from shared.domain.chats.chat import Message, build_session
from shared.domain.chats.run import RunEnded
from shared.domain.ids import ConversationId, SessionId, UserId
from shared.domain.models.model import (
    ModelCallFinished,
    ModelEvent,
    ModelFacts,
    ModelMessage,
    ModelRole,
    TextDelta,
    ToolCall,
    ToolCallRequested,
    ToolResult,
    ToolSpec,
    Urgency,
    Usage,
    UserText,
)
from shared.domain.models.tokens import estimate_tokens
from shared.domain.value import value
from shared.models.wrapped_model import WrappedModel, WrappedModels
from shared.ports import ChatModel, Models
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize
from tests.fakes import UnmaskedModels
from tests.fixtures.chat import build_chat_fixture

SEED = 1
HALF = 0.5
_KNOWN = re.compile(r"^document (\d+): (.+\n(?:  .*\n?)+)", re.MULTILINE)
CATEGORIES = {1: "several facts", 2: "dates", 3: "inference", 4: "one fact"}


@value
class GoldQuestion:
    """A question with its answer; `evidence` are the conversations that hold it."""

    text: str
    answer: str
    category: int
    evidence: frozenset[ConversationId]


@value
class Result:
    """How a question was answered: `calls` of the model that answers, and what they read and took.

    `has_evidence` where one of the documents that it was given holds the answer: it could have cited rightly.
    """

    question: GoldQuestion
    answer: str
    calls: int
    tokens: int
    seconds: float
    holds_gold: bool
    has_evidence: bool
    cites_evidence: bool


def parse_gold(people: Sequence[Person]) -> list[GoldQuestion]:
    """Return the questions that have an answer and evidence, in order."""
    return [
        GoldQuestion(
            text=each["question"],
            answer=str(each["answer"]),
            category=each["category"],
            evidence=_find_evidence(person, each),
        )
        for person in people
        for each in person["qa"]
        if each["category"] in CATEGORIES and _find_evidence(person, each)
    ]


def _find_evidence(person: Person, question: Mapping[str, Any]) -> frozenset[ConversationId]:
    turns = " ".join(question.get("evidence", [])).replace(";", " ").split()
    numbers = {turn.lstrip("D").split(":")[0] for turn in turns if ":" in turn}
    talks: list[Talk] = [(person["sample_id"], int(n)) for n in numbers if n.isdigit()]
    return frozenset(map(to_conversation_id, talks))


def measure_gold(gold: str, text: str) -> float:
    """Return the share of a gold answer's words that stand in a text, of those that mean something."""
    words = set(tokenize(gold))
    wanted = {word for word in words if get_term_weight(word) > 0} or words
    return len(wanted & set(tokenize(text))) / len(wanted) if wanted else 0.0


@dataclass
class ScriptedReader:
    """Answers with the gold answer, once half of it stands in a document that it was given, else searches once.

    It cites the document that has most of it.
    """

    gold: GoldQuestion
    calls: int = 0
    tokens: int = 0

    def name(self, role: ModelRole) -> str:
        return "scripted"

    def describe(self, role: ModelRole) -> ModelFacts:
        return ModelFacts(window_tokens=128_000)

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        self.calls += 1
        self.tokens += sum(estimate_tokens(message.text) for message in messages)
        yield self._reply(messages)

    async def _reply(self, messages: Sequence[ModelMessage]) -> AsyncIterator[ModelEvent]:
        gold = self.gold.answer
        given = [m for m in messages if isinstance(m, UserText | ToolResult)]
        documents = [each for message in given for each in _list_documents(message.text)]
        shares = [measure_gold(gold, document) for _, document in documents]
        found = max(shares, default=0.0) >= HALF
        if found:
            number, _ = documents[shares.index(max(shares))]
            yield TextDelta(f"{gold} [{number}].")
        elif self.calls == 1:
            arguments = json.dumps({"query": self.gold.text})
            yield ToolCallRequested(
                ToolCall(id="search", name="search_conversations", arguments=arguments)
            )
        else:
            yield TextDelta("I do not know.")
        yield ModelCallFinished(reason="stop" if found else "tool_calls", model="scripted")


def _list_documents(text: str) -> list[tuple[int, str]]:
    """Return the documents of what is known, or of a result of search, by number."""
    known = [(int(number), document) for number, document in _KNOWN.findall(text)]
    start, end = text.find("{"), text.rfind("}")
    try:
        data = json.loads(text[start : end + 1])
    except ValueError:
        return known
    return [*known, *((each["document"], str(each)) for each in data.get("results", []))]


class CountingModels(WrappedModels):
    """The models of the settings, whose calls for an answer are counted in `usage`."""

    def __init__(self, models: Models) -> None:
        super().__init__(models)
        self.usage: list[Usage] = []

    def for_user(
        self, uid: UserId, *, is_masked: bool, chat: str = "", urgency: Urgency = "now"
    ) -> ChatModel:
        model = self._models.for_user(uid, is_masked=is_masked, chat=chat, urgency=urgency)
        return _CountingModel(model, self.usage)


class _CountingModel(WrappedModel):
    def __init__(self, model: ChatModel, usage: list[Usage]) -> None:
        super().__init__(model)
        self._usage = usage

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        async with self._model.stream(role, messages, tools) as events:
            yield self._count(events)

    async def _count(self, events: AsyncIterator[ModelEvent]) -> AsyncIterator[ModelEvent]:
        async for event in events:
            if isinstance(event, ModelCallFinished):
                self._usage.append(event.usage)
            yield event


async def ask(deps: ChatDeps, number: int, question: GoldQuestion) -> Message:
    """Ask in a chat of its own; return the answer as it is stored."""
    session = build_session(
        SessionId(f"chat-{number}"), app_id=None, now=deps.clock.now(), title="A question"
    )
    await deps.stores.sessions.add(OWNER, session)
    turn = await prepare_turn(deps, OWNER, AskedQuestion(question.text, session_id=session.id))
    journal = Journal()
    await answer_turn(deps, turn, journal)
    return next(e.message for e in reversed(journal.events) if isinstance(e, RunEnded))


def score(question: GoldQuestion, answer: Message, *, calls: int, tokens: int, s: float) -> Result:
    cited = {card.id for card in answer.cards}
    return Result(
        question=question,
        answer=answer.text,
        calls=calls,
        tokens=tokens,
        seconds=s,
        holds_gold=measure_gold(question.answer, answer.text) >= HALF,
        has_evidence=bool({document.id for document in answer.documents} & question.evidence),
        cites_evidence=bool(cited & question.evidence),
    )


def render_table(results: Sequence[Result]) -> list[str]:
    header = "questions  one call  gold words  of one call: evidence given  cited rightly  calls  tokens  p50 s"
    rows = [("all", results)]
    rows += [
        (name, [each for each in results if each.question.category == category])
        for category, name in CATEGORIES.items()
    ]
    return [f"{'':14}{header}", *(_render_row(name, of) for name, of in rows if of)]


def _render_row(name: str, results: Sequence[Result]) -> str:
    at_once = [each for each in results if each.calls == 1 and each.holds_gold]
    seconds = sorted(each.seconds for each in results)
    return (
        f"{name:14}{len(results):9}{_percent(len(at_once), len(results)):>10}"
        f"{_percent(sum(each.holds_gold for each in results), len(results)):>12}"
        f"{_percent(sum(each.has_evidence for each in at_once), len(at_once)):>29}"
        f"{_percent(sum(each.cites_evidence for each in at_once), len(at_once)):>15}"
        f"{sum(each.calls for each in results) / len(results):7.2f}"
        f"{sum(each.tokens for each in results) / len(results):8.0f}"
        f"{seconds[len(seconds) // 2]:7.1f}"
    )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


async def main() -> None:
    parser = argparse.ArgumentParser(prog="make eval-answers")
    parser.add_argument("data", type=Path)
    parser.add_argument("--real", action="store_true", help="ask the model of the settings")
    parser.add_argument("--draw", type=int, help="so many questions, drawn by a seed")
    parser.add_argument("--words", action="store_true", help="without the encoder")
    parser.add_argument("--show", action="store_true", help="print each question and its answer")
    options = parser.parse_args()
    people = json.loads(options.data.read_text())
    questions = parse_gold(people)
    if options.draw:
        questions = random.Random(SEED).sample(questions, options.draw)  # noqa: S311 - a draw, no secret
    turns = parse_turns(people)
    tick = create_progress_bar(
        "talks and questions", len({turn.talk for turn in turns}) + len(questions)
    )
    embedder = None if options.words else CachingEmbedder(LocalEmbedder(EncoderProcess()))
    if options.real:
        await _learn_of_models()
    results = []
    async with fill_library(turns, tick, embedder) as (database, documents, vectors):
        world = build_chat_fixture(database, documents)
        deps = replace(
            world.deps(quotas={}),
            search=Search(documents, vectors, embedder),
            meanings=QuestionMeanings(embedder.embed_question if embedder else None),
        )
        for number, question in enumerate(questions):
            result = await (_ask_real if options.real else _ask_scripted)(deps, number, question)
            results.append(result)
            tick()
            if options.show:
                print(f"{result}\n")
    print("\n".join(render_table(results)))


async def _learn_of_models() -> None:
    """Ask the server of the settings what it tells of its models, as the product does at its start."""
    from infra.local.model_watch import ModelWatch, find_models_in_use
    from shared.adapters.embedded.known_models_file import KnownModelsFile
    from shared.adapters.embedded.model_file import ModelFile
    from shared.models.known_models import KnownModels
    from shared.wiring import clock, settings

    used = find_models_in_use(settings(), ModelFile(settings().data_dir))
    known = KnownModels(KnownModelsFile(settings().data_dir))
    await ModelWatch(lambda: used, known, clock(), print).look()


async def _ask_scripted(deps: ChatDeps, number: int, question: GoldQuestion) -> Result:
    reader = ScriptedReader(gold=question)
    start = perf_counter()
    answer = await ask(replace(deps, model=UnmaskedModels(model=reader)), number, question)
    s = perf_counter() - start
    return score(question, answer, calls=reader.calls, tokens=reader.tokens, s=s)


async def _ask_real(deps: ChatDeps, number: int, question: GoldQuestion) -> Result:
    from shared.model_wiring import model

    models = CountingModels(model())
    start = perf_counter()
    answer = await ask(replace(deps, model=models), number, question)
    s = perf_counter() - start
    tokens = sum(usage.input_tokens for usage in models.usage)
    return score(question, answer, calls=len(models.usage), tokens=tokens, s=s)


if __name__ == "__main__":
    asyncio.run(main())
