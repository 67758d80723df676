"""Tools of a question: which of the owner's, of services and of apps a model is offered."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

from functions.chat.consent.nobodys_words import find_writers, is_owners_word
from functions.chat.consent.taint import Taint
from functions.chat.context.known import is_best_without_tools
from functions.chat.context.prompt import RulesForm
from functions.chat.context.window import list_owner_texts, select_owner_messages
from functions.chat.deps import ChatDeps
from functions.chat.tools.app_tools import build_app_tools
from functions.chat.tools.chart_tools import build_chart_tools
from functions.chat.tools.chat_tools import build_chat_tools
from functions.chat.tools.deletion_tools import build_deletion_tools
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
from functions.chat.tools.small_window import (
    PASSAGE_TOOL,
    choose_for_passages,
    choose_for_small_window,
    is_small,
)
from functions.chat.tools.summary_tools import build_summary_tools
from functions.chat.tools.task_tools import build_task_tools
from functions.chat.tools.tool_offer import choose_tools, compute_offered_tokens
from functions.chat.tools.toolkit import Tool
from functions.chat.tools.web_tools import build_web_tools
from functions.chat.turn.turn_context import TurnContext
from shared.domain.chats.confirmation import Confirmation, build_always_grant
from shared.domain.chats.consent import Consent
from shared.domain.chats.run import build_question_id
from shared.domain.ids import MessageId, RunId, UserId
from shared.domain.models.model import ModelFacts, ToolSpec
from shared.domain.provenance import LIBRARY
from shared.domain.value import value

FILE_TOOLS = ("read_file", "search_files")
EXERCISE_TOOLS = ("finish_exercise_step", "end_exercise")


@value
class OfferedTools:
    """The tools that a model call begins with, and the rules beside them; `left_out` names those of ours for which there is no room."""

    tools: Sequence[Tool]
    left_out: Sequence[str] = ()
    rules_form: RulesForm = "whole"

    @property
    def specs(self) -> list[ToolSpec]:
        return [tool.spec for tool in self.tools]

    def leave_out_last(self) -> "OfferedTools":
        *tools, last = self.tools
        names = [last.spec.name] if last.source == LIBRARY else []
        return replace(self, tools=tools, left_out=[*names, *self.left_out])


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
    taint: Taint
    decided: Confirmation | None
    only_reading: bool

    def collect(self, facts: ModelFacts, rules: str, *, can_search: bool) -> OfferedTools:
        """Return the tools for a model beside our `rules`; with `can_search` files are not given whole.

        For one window they are the same in each turn, but for those of others that a question asks for.
        """
        consent = self._choose_consent()
        own = [*filter(self._is_allowed, self._build_own_tools(facts, can_search=can_search))]
        services = self._build_service_tools(consent)
        apps = self._build_app_tools(consent)
        choose = partial(self._choose, max_tokens=compute_offered_tokens(facts.window_tokens))
        meaning = self.documents.meaning
        is_compared = meaning is not None and bool(meaning.kinds)
        calls_no_tools = is_best_without_tools(facts)
        if not is_small(facts.window_tokens, rules, own, knows_asked=is_compared or calls_no_tools):
            return OfferedTools(tools=[*own, *services, *choose(apps)])
        needed = self._list_needed()
        if self._has_passages_for_all(
            needed.intersection(tool.spec.name for tool in own),
            nearness_suffices=calls_no_tools and not is_compared,
        ):
            tools = () if calls_no_tools else choose_for_passages(own)
            return OfferedTools(tools=tools, rules_form="passages")
        offered = choose_for_small_window(own, needed)
        names = {tool.spec.name for tool in offered}
        return OfferedTools(
            tools=[*offered, *choose([*services, *apps])],
            left_out=[tool.spec.name for tool in own if tool.spec.name not in names],
            rules_form="brief",
        )

    def _has_passages_for_all(self, needed: Collection[str], *, nearness_suffices: bool) -> bool:
        """Tell whether the question asks for nothing but what the passages say that were found for it."""
        known = self.documents.known
        is_about_them = known.reason == "about the library" or nearness_suffices
        return (
            bool(known.excerpts)
            and is_about_them
            and self.decided is None
            and {*needed} <= {PASSAGE_TOOL}
        )

    def _choose(self, tools: Sequence[Tool], *, max_tokens: int) -> list[Tool]:
        """Choose among the tools of others; earlier messages help to rank them."""
        decided = self.decided.model_name if self.decided else None
        required = next((decided for tool in tools if tool.spec.name == decided), None)
        earlier = list_owner_texts(self.documents.newest_messages)
        return choose_tools(tools, self.text, earlier, required=required, max_tokens=max_tokens)

    def _list_needed(self) -> set[str]:
        """Name the tools that the question asks for, and those without which this chat cannot go on."""
        documents = self.documents
        has_files = documents.files.texts or documents.files.forgotten or documents.project.files
        return {
            *(documents.meaning.tools if documents.meaning else ()),
            *(FILE_TOOLS if has_files else ()),
            *EXERCISE_TOOLS,
            *([self.decided.model_name] if self.decided else []),
        }

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

    def _build_own_tools(self, facts: ModelFacts, *, can_search: bool) -> Sequence[Tool]:
        deps, uid, documents = self.deps, self.uid, self.documents
        profile, session = documents.profile, documents.session
        zone, language, recalls = profile.zone, profile.language, profile.recalls_memories
        window = facts.window_tokens
        return [
            *build_library_tools(
                deps, uid, zone, language, recalls_memories=recalls, window_tokens=window
            ),
            *build_task_tools(deps, uid, zone, language, taint=self.taint),
            *build_memory_tools(deps, uid, self.taint, recalls_memories=recalls),
            *build_deletion_tools(deps, uid, zone, language),
            *build_recall_tools(deps, uid),
            *build_rule_tools(deps, uid, profile.rules, self._list_quotable_texts()),
            *build_chat_tools(deps, uid, zone),
            *build_health_tools(deps, uid, zone),
            *build_file_tools(deps, uid, can_search=can_search, window_tokens=window),
            *build_chart_tools(),
            *build_product_tools(),
            *build_web_tools(can_search=deps.web_search),
            *build_exercise_tools(deps, uid, session),
            *build_summary_tools(deps, uid),
            *build_focus_tools(deps, uid, session, profile.focus_modes),
            *build_details_tools(deps, uid, session, profile),
        ]

    def _build_service_tools(self, consent: Consent) -> list[Tool]:
        tools = build_service_tools(self.deps, self.uid, self.documents.connections, consent)
        return [*filter(self._is_allowed, tools)]

    def _build_app_tools(self, consent: Consent) -> list[Tool]:
        documents = self.documents
        tools = build_app_tools(self.deps.toolbox, self.uid, documents.offered_apps, consent)
        return [*filter(self._is_allowed, tools)]

    def _list_quotable_texts(self) -> dict[MessageId, str]:
        """Return the owner's latest texts by message, this question first; none that nobody worded."""
        earlier = select_owner_messages(self.documents.newest_messages)
        is_own = not find_writers(self.text, is_offered=self.documents.is_offered)
        return {
            **({build_question_id(self.run_id): self.text} if is_own else {}),
            **{message.id: message.text for message in earlier if is_owners_word(message)},
        }
