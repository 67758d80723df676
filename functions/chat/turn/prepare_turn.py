"""Preparation of a turn: a question is accepted with all that its answer needs, or refused."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from zoneinfo import ZoneInfo

from functions.chat.commands.command import Command, read_command
from functions.chat.context import history, prompt
from functions.chat.context.caution import describe_caution
from functions.chat.context.context import Context
from functions.chat.context.exercise import describe_exercise
from functions.chat.context.file_texts import FileText
from functions.chat.context.page import Page, build_page_text
from functions.chat.deps import ChatDeps
from functions.chat.runs.turn_slots import HeldSlot
from functions.chat.tools.app_tools import build_app_tools
from functions.chat.tools.chart_tools import build_chart_tools
from functions.chat.tools.chat_tools import build_chat_tools
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
from functions.chat.turn.admission import load_and_admit, withdraw_on_failure
from functions.chat.turn.files import build_card, check_sizes
from functions.chat.turn.first_verdict import judge_question
from functions.chat.turn.idempotency import IdempotencyKey, check_unused
from functions.chat.turn.open_chat import WatchedQuestion, check_open
from functions.chat.turn.output_gate import OutputGate
from functions.chat.turn.reply import accept_reply
from functions.chat.turn.tool_policy import ToolPolicy, build_tool_policy
from functions.chat.turn.turn_context import QuestionPlace, TurnContext, load_context
from functions.chat.turn.versions import WantedVersion
from shared.domain.app import App
from shared.domain.chat import Fork, Message, Session, build_main_session_id
from shared.domain.confirmation import Confirmation, build_always_grant
from shared.domain.crisis import CLEAR, CrisisVerdict
from shared.domain.custom_agent import AgentRole, CustomAgent
from shared.domain.errors import Invalid, TooLarge
from shared.domain.ids import AppId, BranchId, MessageId, RunId, SessionId, UserId
from shared.domain.incognito import name_within
from shared.domain.model import ModelFacts, ModelRole
from shared.domain.run import build_question_id
from shared.domain.value import value
from shared.safety.crisis_rules import CrisisFinding, find_crisis
from shared.safety.crisis_verdict import judge_alone
from shared.security.visible_text import strip_invisible

MAX_QUESTION_CHARS = 20_000
ONE_PERSONA = "This app answers with its own model, so that there is nothing to compare."
UTC = ZoneInfo("UTC")
MAX_EARLIER_TEXTS = 3
"""Number of earlier messages of the owner that rank the tools."""


@value
class Voice:
    """A model that answers a question, and what it is given."""

    role: ModelRole
    context: Context
    tools: Sequence[Tool]
    tool_policy: ToolPolicy


@value
class PreparedTurn:
    """An accepted question with everything its answer needs.

    `voices` are the models that answer at once; the answer of the first is the main one.
    `finding` is what the crisis rules found in the question, which `earlier_texts` of its owner precede.
    `language` is that of our own texts in the answer, None for English.
    `command` is what the question is where it is for no model, and `zone` the owner's time zone.
    `fork` begins the branch of another version; the question of an answer that is asked again is
    stored already. `decided` is the call that the answer before asked about, where the question is its owner's reply.
    """

    uid: UserId
    run_id: RunId
    accepted_at: datetime
    session: Session
    branch: BranchId
    question: Message
    voices: Sequence[Voice]
    output_gate: OutputGate
    can_confirm: bool
    slot: HeldSlot
    finding: CrisisFinding = CrisisFinding()
    earlier_texts: Sequence[str] = ()
    language: str | None = None
    fingerprint: str = ""
    fork: Fork | None = None
    decided: Confirmation | None = None
    command: Command | None = None
    zone: ZoneInfo = UTC

    @property
    def context(self) -> Context:
        """The context of the main answer."""
        return self.voices[0].context

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools of the main answer."""
        return self.voices[0].tools


async def prepare_turn(
    deps: ChatDeps,
    uid: UserId,
    text: str,
    app_id: AppId | None,
    session_id: SessionId | None = None,
    *,
    key: IdempotencyKey | None = None,
    can_confirm: bool = False,
    follows: MessageId | None = None,
    version: WantedVersion | None = None,
    models: Sequence[AgentRole] = (),
    page: Page | None = None,
    file_ids: Sequence[str] = (),
) -> PreparedTurn:
    """Accept a question or refuse it: reads documents in two rounds, and takes a slot beside them.

    It writes nothing else but the decision of an owner whose message replies to a question of ours,
    and the pins of apps that were installed before there were any.

    `can_confirm` says that the client can show its owner a question while the answer goes on.
    `follows` is the message that its owner saw last, and `version` the one that gets another. `models` are
    those that the owner chose for this question, which answer at once; a persona answers with its own,
    and a reply to a question of ours is answered by the first. `page` is what the owner looks at,
    `file_ids` name the files that come with the question; another version keeps those of its message.

    Raises Invalid (empty text, several models for a persona), TooLarge (over MAX_QUESTION_CHARS, a
    file that the model cannot read whole, or more than it takes),
    NotFound (no such app or chat session), Conflict (the chat shows another version), QuotaExceeded,
    ChatLocked and TooMany (by what was asked in the chat) and DuplicateQuestion.
    """
    text = _clean_question(text)
    finding = find_crisis(text)
    now = deps.clock.now()
    chosen_id = session_id or build_main_session_id(app_id)
    run_id = RunId(name_within(chosen_id, key.run_id(uid) if key else deps.new_id()))
    place = QuestionPlace(
        app_id=app_id,
        session_id=chosen_id,
        fork=version.build_fork(run_id) if version else None,
        follows=follows,
        page=page,
        file_ids=[file.id for file in version.question.files] if version else file_ids,
        files_may_be_gone=version is not None,
    )
    check = check_unused(deps, uid, run_id, key)
    load = load_context(deps, uid, place, check=check)
    documents, slot = await load_and_admit(deps, uid, run_id, load, is_urgent=finding.is_plain)
    async with withdraw_on_failure(deps, uid, slot, now):
        app, session, files = documents.app, documents.session, documents.files
        verdict = await _judge(text, finding, documents, is_admitted=slot.is_held)
        earlier_texts = _select_user_texts(documents.newest_messages)
        watched = WatchedQuestion(
            text=text, finding=finding, verdict=verdict, earlier=earlier_texts
        )
        await check_open(deps, uid, session, documents.profile, watched)
        earlier_messages = history.select_window(documents.newest_messages, session)
        persona = app if app is not None and app.persona_prompt is not None else None
        agent = None if persona else documents.agent
        roles = _choose_roles(models, agent, persona)
        context = prompt.build_context(
            text,
            history=earlier_messages,
            summary=session.summary,
            profile=documents.profile,
            app=app,
            chat_id=session.id,
            focus=documents.profile.find_focus_mode(session.focus),
            agent=agent,
            page=build_page_text(page, documents.page_item, documents.profile.zone),
            files=[files.texts[file.id] for file in files.of_question],
            texts=files.texts,
            forgotten=files.forgotten,
            exercise=describe_exercise(session.exercise, documents.newest_messages),
            caution=describe_caution(session.safety, now),
            now=now,
            facts=deps.model.describe(roles[0]),
        )
        decided = await accept_reply(deps, uid, run_id, text, documents.newest_messages)
        command = None
        if persona is None:
            command = read_command(text, documents.newest_messages, decided, now=now)
        roles = roles[:1] if decided or command else roles
        collect_tools = partial(
            _collect_tools,
            deps,
            uid,
            text,
            documents,
            decided,
            question_id=build_question_id(run_id),
            only_reading=len(roles) > 1 or session.is_incognito,
        )
        tools = [] if persona else collect_tools(context.facts)
        main = Voice(
            role=roles[0],
            context=context if persona else documents.project.give(context),
            tools=tools,
            tool_policy=build_tool_policy(
                text,
                history=earlier_messages,
                session=session,
                app=app,
                tools=tools,
                **_list_blocks(context, agent, [*files.texts.values(), *documents.project.texts]),
                local_time=now.astimezone(documents.profile.zone),
            ),
        )
        siblings = [replace(context, facts=deps.model.describe(role)) for role in roles[1:]]
        voices = [
            main,
            *(
                _build_sibling(main, role, documents.project.give(each), collect_tools(each.facts))
                for role, each in zip(roles[1:], siblings, strict=True)
            ),
        ]
        for voice in voices:
            check_sizes(files.of_question, voice.context.facts)
            voice.context.for_cycle(1, [tool.spec for tool in voice.tools])
    return PreparedTurn(
        uid=uid,
        run_id=run_id,
        accepted_at=now,
        session=session,
        branch=documents.path.tip,
        question=_build_question(uid, run_id, documents, text, now, version),
        voices=voices,
        output_gate=OutputGate(
            is_stored=False,
            verdict=CLEAR if decided else verdict,
        ),
        finding=finding,
        earlier_texts=earlier_texts,
        can_confirm=can_confirm,
        slot=slot,
        language=documents.profile.language,
        fingerprint=key.fingerprint if key else "",
        fork=place.fork,
        decided=decided,
        command=command,
        zone=documents.profile.zone,
    )


async def _judge(
    text: str, finding: CrisisFinding, context: TurnContext, *, is_admitted: bool
) -> CrisisVerdict | None:
    """Return the verdict of the rules; beyond a quota no classifier is asked."""
    if not is_admitted:
        return judge_alone(finding)
    language = context.profile.language
    return await judge_question(text, finding, context.newest_messages, language=language)


def _choose_roles(
    chosen: Sequence[AgentRole], agent: CustomAgent | None, persona: App | None
) -> Sequence[ModelRole]:
    """Return the persona's model, else those that the question names, else that of the chat's agent.

    Raises Invalid where a persona is asked for several answers.
    """
    if persona is not None:
        if len(chosen) > 1:
            raise Invalid(ONE_PERSONA)
        return [persona.persona_model]
    return chosen or [agent.role if agent else "agent"]


def _build_sibling(main: Voice, role: ModelRole, context: Context, tools: Sequence[Tool]) -> Voice:
    """Build a voice beside the main one; what it reads and calls is its own."""
    return Voice(
        role=role, context=context, tools=tools, tool_policy=main.tool_policy.build_sibling()
    )


def _clean_question(text: str) -> str:
    if len(text) > MAX_QUESTION_CHARS:
        raise TooLarge(
            f"Your message is too long: {len(text)} characters, at most {MAX_QUESTION_CHARS}."
        )
    text = strip_invisible(text).strip()
    if not text:
        raise Invalid("Your message is empty. Please write a question.")
    return text


def _select_user_texts(newest_first: Sequence[Message]) -> list[str]:
    """Return the latest messages of the owner before this question."""
    return [message.text for message in _select_user_messages(newest_first)]


def _select_user_messages(newest_first: Sequence[Message]) -> list[Message]:
    return list(islice((m for m in newest_first if m.is_owners), MAX_EARLIER_TEXTS))


def _build_question(
    uid: UserId,
    run_id: RunId,
    context: TurnContext,
    text: str,
    now: datetime,
    version: WantedVersion | None,
) -> Message:
    """Return the message to answer; the one that is stored where it is asked again."""
    if version is not None and version.target.sender == "ai":
        return version.question
    return Message(
        id=build_question_id(run_id),
        session_id=context.session.id,
        text=text,
        sender="human",
        created_at=now,
        branch=context.path.tip,
        app_id=context.session.app_id,
        files=tuple(build_card(file, uid) for file in context.files.of_question),
    )


def _collect_tools(
    deps: ChatDeps,
    uid: UserId,
    question: str,
    context: TurnContext,
    decided: Confirmation | None,
    facts: ModelFacts,
    *,
    question_id: MessageId,
    only_reading: bool = False,
) -> list[Tool]:
    """Return the tools for a question and a model; earlier messages help to rank them.

    With `only_reading`, none that changes anything: models that answer at once would do it twice, and
    an incognito chat leaves nothing behind.
    """
    earlier_texts = _select_user_texts(context.newest_messages)
    consent = context.consent
    if decided is not None and decided.decision == "always":
        consent = consent.with_grant(decided.source, decided.tool, build_always_grant(decided))

    def is_allowed(tool: Tool) -> bool:
        if only_reading and tool.tool_class != "read":
            return False
        return context.agent is None or context.agent.allows(tool.names)

    said = {m.id: m.text for m in _select_user_messages(context.newest_messages)}
    own_tools = [
        *build_library_tools(
            deps,
            uid,
            context.profile.zone,
            context.profile.language,
            recalls_memories=context.profile.recalls_memories,
        ),
        *build_task_tools(deps, uid, context.profile.zone, context.profile.language),
        *build_memory_tools(deps, uid, recalls_memories=context.profile.recalls_memories),
        *build_recall_tools(deps, uid),
        *build_rule_tools(deps, uid, context.profile.rules, {question_id: question, **said}),
        *build_chat_tools(deps, uid, context.profile.zone),
        *build_health_tools(deps, uid, context.profile.zone),
        *build_file_tools(deps, uid, can_search=not context.project.are_given(facts)),
        *build_chart_tools(),
        *build_product_tools(),
        *build_exercise_tools(deps, uid, context.session),
        *build_summary_tools(deps, uid),
        *build_focus_tools(deps, uid, context.session, context.profile.focus_modes),
        *build_service_tools(deps, uid, context.connections, consent),
    ]
    app_tools = build_app_tools(
        deps.toolbox,
        uid,
        context.offered_apps,
        consent,
        question,
        earlier_texts,
        required=decided.model_name if decided else None,
        is_allowed=is_allowed,
    )
    return [*filter(is_allowed, own_tools), *app_tools]


def _list_blocks(
    context: Context, agent: CustomAgent | None, texts: Sequence[FileText]
) -> dict[str, list[str]]:
    """Return the texts that steer the turn, by whose they are; pages and files may hold words of anybody."""
    blocks = [
        context.focus,
        context.own_prompt,
        context.owner_rules,
        context.agent_prompt,
        context.reminder,
    ]
    foreign = [*filter(None, [context.page]), *(each.text for each in texts)]
    if agent is not None and agent.is_foreign:
        foreign.append(context.own_prompt if agent.replaces_prompt else context.agent_prompt)
    return {
        "own_blocks": [block for block in blocks if block not in foreign],
        "foreign_blocks": foreign,
    }
