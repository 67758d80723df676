"""Trial question: what a model that is tested is asked, built as every question of a new chat.

It is asked in the middle of a turn: a first search found nothing, so that a model which can call tools
searches again. It reads nobody's words, and no tool of it runs.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from functions.chat.consent.taint import Taint
from functions.chat.context.earlier_results import NO_RESULTS
from functions.chat.context.given_files import NO_TEXTS
from functions.chat.context.project_files import ProjectFiles
from functions.chat.context.prompt import RulesForm
from functions.chat.deps import ChatDeps
from functions.chat.turn.build_voices import VoiceBuilder
from functions.chat.turn.files import TurnFiles
from functions.chat.turn.question_tools import QuestionTools
from functions.chat.turn.turn_context import TurnContext
from shared.domain.account.profile import Profile
from shared.domain.chats.branches import build_shown_path
from shared.domain.chats.chat import MAIN_SESSION, Session
from shared.domain.chats.consent import Consent
from shared.domain.chats.safety import SafetyThresholds
from shared.domain.ids import RunId, UserId
from shared.domain.models.model import (
    AssistantTurn,
    ModelFacts,
    ModelMessage,
    ModelRole,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from shared.domain.value import value

QUESTION = "Search my conversations: when does the plumber come?"
SEARCH = ToolCall(id="call_0", name="search_conversations", arguments='{"query": "plumber"}')
FOUND = "Nothing was found. Search once more, with other words: “water pipe”."


@value
class Trial:
    """A model call, in the form that it has in the model's window."""

    messages: Sequence[ModelMessage]
    tools: Sequence[ToolSpec]
    rules_form: RulesForm


@value
class _TrialModels:
    facts: ModelFacts

    def describe(self, _: ModelRole) -> ModelFacts:
        return self.facts


@value
class _TrialDeps:
    """What the voice of a question is built from."""

    model: _TrialModels
    thresholds: SafetyThresholds = SafetyThresholds()
    toolbox: None = None
    web_search: bool = False


def build_trial(facts: ModelFacts, now: datetime) -> Trial:
    """Build the second call of a turn for a model of such facts. Raises TooLarge where no window holds it."""
    deps = cast(
        ChatDeps, _TrialDeps(model=_TrialModels(facts=facts))
    )  # the others serve calls alone
    documents = _build_documents(now)
    taint = Taint([QUESTION])
    tools = QuestionTools(
        deps=deps,
        uid=UserId("trial"),
        run_id=RunId("trial"),
        text=QUESTION,
        documents=documents,
        taint=taint,
        decided=None,
        only_reading=False,
    )
    builder = VoiceBuilder(
        deps=deps,
        text=QUESTION,
        documents=documents,
        page=None,
        now=now,
        taint=taint,
        tools=tools,
    )
    [voice] = builder.build(["agent"])
    specs = [tool.spec for tool in voice.tools]
    turn = AssistantTurn(text="", tool_calls=(SEARCH,))
    context = voice.context.add_exchange(turn, [ToolResult(call_id=SEARCH.id, text=FOUND)])
    messages = context.for_cycle(2, specs, searched=True)
    return Trial(messages=messages, tools=specs, rules_form=voice.rules_form)


def _build_documents(now: datetime) -> TurnContext:
    """Return what a new user's first chat holds: nothing."""
    return TurnContext(
        profile=Profile(),
        session=Session(id=MAIN_SESSION, created_at=now, updated_at=now),
        path=build_shown_path(()),
        newest_messages=(),
        window=(),
        connections=(),
        app=None,
        offered_apps=(),
        consent=Consent(),
        files=TurnFiles(of_question=(), texts=NO_TEXTS, forgotten=()),
        project=ProjectFiles(),
        results=NO_RESULTS,
    )
