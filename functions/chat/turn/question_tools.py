"""Tools of a question: which of the owner's, of services and of apps a model is offered."""

from collections.abc import Sequence
from itertools import islice

from functions.chat.deps import ChatDeps
from functions.chat.tools.app_tools import build_app_tools
from functions.chat.tools.chart_tools import build_chart_tools
from functions.chat.tools.chat_tools import build_chat_tools
from functions.chat.tools.details_tools import build_details_tools
from functions.chat.tools.exercise_tools import build_exercise_tools
from functions.chat.tools.file_tools import build_file_tools
from functions.chat.tools.focus_tools import build_focus_tools
from functions.chat.tools.health_tools import build_health_tools
from functions.chat.tools.library_tools import build_library_tools
from functions.chat.tools.memory_tools import build_memory_tools
from functions.chat.tools.product_tools import build_product_tools
from functions.chat.tools.recall_tools import build_recall_tools
from functions.chat.tools.rule_tools import build_rule_tools
from functions.chat.tools.service_tools import build_service_tools
from functions.chat.tools.summary_tools import build_summary_tools
from functions.chat.tools.task_tools import build_task_tools
from functions.chat.tools.toolkit import Tool
from functions.chat.tools.web_tools import build_web_tools
from functions.chat.turn.turn_context import TurnContext
from shared.domain.chat import Message
from shared.domain.confirmation import Confirmation, build_always_grant
from shared.domain.consent import Consent
from shared.domain.ids import MessageId, RunId, UserId
from shared.domain.model import ModelFacts
from shared.domain.run import build_question_id
from shared.domain.value import value

MAX_EARLIER_TEXTS = 3
"""Number of earlier messages of the owner that rank the tools."""


@value
class QuestionTools:
    """Chooses the tools of a question, for one model after the other.

    `decided` is a call that the question decides. With `only_reading` none changes anything: models that
    answer at once would do it twice, and an incognito chat leaves nothing behind.
    """

    deps: ChatDeps
    uid: UserId
    run_id: RunId
    text: str
    documents: TurnContext
    decided: Confirmation | None
    only_reading: bool

    def collect(self, facts: ModelFacts) -> list[Tool]:
        """Return the tools for a model; earlier messages help to rank them."""
        consent = self._choose_consent()
        app_tools = build_app_tools(
            self.deps.toolbox,
            self.uid,
            self.documents.offered_apps,
            consent,
            self.text,
            list_owner_texts(self.documents.newest_messages),
            required=self.decided.model_name if self.decided else None,
            is_allowed=self._is_allowed,
        )
        return [*filter(self._is_allowed, self._build_own_tools(facts, consent)), *app_tools]

    def _choose_consent(self) -> Consent:
        """Return the owner's grants, with the one that this question gives."""
        decided = self.decided
        if decided is None or decided.decision != "always":
            return self.documents.consent
        grant = build_always_grant(decided)
        return self.documents.consent.with_grant(decided.source, decided.tool, grant)

    def _is_allowed(self, tool: Tool) -> bool:
        if self.only_reading and tool.tool_class != "read":
            return False
        return self.documents.agent is None or self.documents.agent.allows(tool.names)

    def _build_own_tools(self, facts: ModelFacts, consent: Consent) -> Sequence[Tool]:
        deps, uid, documents = self.deps, self.uid, self.documents
        profile, session = documents.profile, documents.session
        zone, language, recalls = profile.zone, profile.language, profile.recalls_memories
        return [
            *build_library_tools(deps, uid, zone, language, recalls_memories=recalls),
            *build_task_tools(deps, uid, zone, language),
            *build_memory_tools(deps, uid, recalls_memories=recalls),
            *build_recall_tools(deps, uid),
            *build_rule_tools(deps, uid, profile.rules, self._list_quotable_texts()),
            *build_chat_tools(deps, uid, zone),
            *build_health_tools(deps, uid, zone),
            *build_file_tools(deps, uid, can_search=not documents.project.are_given(facts)),
            *build_chart_tools(),
            *build_product_tools(),
            *build_web_tools(can_search=deps.web_search),
            *build_exercise_tools(deps, uid, session),
            *build_summary_tools(deps, uid),
            *build_focus_tools(deps, uid, session, profile.focus_modes),
            *build_details_tools(deps, uid, session, profile),
            *build_service_tools(deps, uid, documents.connections, consent),
        ]

    def _list_quotable_texts(self) -> dict[MessageId, str]:
        """Return the owner's latest texts by message, this question first."""
        earlier = _select_owner_messages(self.documents.newest_messages)
        return {build_question_id(self.run_id): self.text, **{m.id: m.text for m in earlier}}


def list_owner_texts(newest_first: Sequence[Message]) -> list[str]:
    """Return the latest messages of the owner before this question."""
    return [message.text for message in _select_owner_messages(newest_first)]


def _select_owner_messages(newest_first: Sequence[Message]) -> list[Message]:
    return list(islice((m for m in newest_first if m.is_owners), MAX_EARLIER_TEXTS))
