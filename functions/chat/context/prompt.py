"""System prompt and the other blocks of a context that come from the chat, its app and the profile.

Also called: prompt builder, system message.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Literal

from functions.chat.context.blocks import FileNote
from functions.chat.context.context import Context
from functions.chat.context.earlier_results import NO_RESULTS, EarlierResults
from functions.chat.context.given_files import (
    NO_TEXTS,
    FileText,
    FileTexts,
    list_pictures,
    number_documents,
)
from functions.chat.context.history import build_history
from functions.chat.context.known import NOTHING_KNOWN, Known, build_known_text
from functions.chat.context.lines import (
    build_lines,
    build_name_lines,
    build_owner_lines,
    build_setting_lines,
)
from functions.chat.context.numbering import read_numbering
from shared import prompts
from shared.domain.account.profile import Profile
from shared.domain.apps.app import App
from shared.domain.chats.chat import MAIN_SESSION, Message
from shared.domain.chats.chat_notes import DEFAULT_LANGUAGE, ChatNotes
from shared.domain.chats.custom_agent import CustomAgent
from shared.domain.chats.focus_mode import FocusMode
from shared.domain.chats.rule import list_active
from shared.domain.models.model import UNKNOWN_MODEL, ModelFacts
from shared.domain.provenance import Source
from shared.security.fencing import fence_untrusted

RULE_LAYERS = tuple(
    f"chat/system/{name}"
    for name in ("identity", "tools", "memory", "policy", "consent", "answers")
)
"""The reviewed files that our rules consist of."""
RulesForm = Literal["whole", "brief", "passages"]
"""In a small window the rules are brief; for a question whose passages were found they say how to answer from these."""

NO_NOTES = ChatNotes()


def build_context(
    question: str,
    *,
    history: Sequence[Message],
    summary: str = "",
    profile: Profile,
    app: App | None,
    texts: FileTexts = NO_TEXTS,
    forgotten: Sequence[FileNote] = (),
    results: EarlierResults = NO_RESULTS,
    caution: str = "",
    notes: ChatNotes = NO_NOTES,
    warning: str = "",
    now: datetime,
    facts: ModelFacts = UNKNOWN_MODEL,
) -> Context:
    """Build what every chat gives the model before its first call. A persona, its maker's alone, is given no more."""
    numbering = read_numbering(history)
    is_persona = app is not None and app.persona_prompt is not None
    return Context(
        rules="" if is_persona else render_rules(),
        app_prompt=_build_app_prompt(app),
        summary=_build_summary(summary),
        history=build_history(history, texts, results, numbering=numbering),
        numbering=numbering,
        forgotten_files=tuple(forgotten),
        lines=(
            *build_lines(profile, now, choose_answer_language(profile, notes)),
            *filter(None, [caution]),
        ),
        personal_lines=tuple(build_name_lines(profile, app)),
        question=question,
        warning=warning,
        facts=facts,
    )


def add_owner_blocks(
    context: Context,
    *,
    profile: Profile,
    chat_id: str = MAIN_SESSION,
    focus: FocusMode | None = None,
    agent: CustomAgent | None = None,
    details: str = "",
    page: str = "",
    files: Sequence[FileText] = (),
    exercise: str = "",
    notes: ChatNotes = NO_NOTES,
    project_overview: str = "",
    similar_chats: str = "",
    known: Known = NOTHING_KNOWN,
    now: datetime,
) -> Context:
    """Add what the owner wrote, chose, allowed and brought along: all that no persona is given."""
    owner_lines = build_owner_lines(profile, context.question, chat_id, now)
    numbering = context.numbering.copy()
    written = build_known_text(known, numbering, profile.zone, context.facts)
    return replace(
        context,
        numbering=numbering,
        focus=_build_focus(focus),
        guidance=_build_guidance(notes),
        own_prompt=_build_own_prompt(profile, agent),
        owner_rules=_build_owner_rules(profile),
        agent_prompt=_build_agent_prompt(agent),
        files=tuple(number_documents(files, numbering)),
        pictures=tuple(list_pictures(files)),
        lines=(*context.lines, *build_setting_lines(profile, has_details=bool(details))),
        personal_lines=(
            *context.personal_lines,
            *owner_lines,
            *filter(None, [exercise, project_overview]),
        ),
        details=details,
        known=written.text,
        known_intro=render_known_intro("whole"),
        known_documents=written.documents,
        known_lines=written.lines,
        known_facts=tuple(fact.id for fact in known.facts),
        similar_chats=similar_chats,
        page=page,
        reminder=profile.chat_reminder,
    )


def render_rules(form: RulesForm = "whole", *, left_out: Sequence[str] = ()) -> str:
    """Return our fixed rules: the layers in their order, the same from turn to turn, with the tools that are `left_out`."""
    notice = prompts.render("chat/left_out_tools", names=", ".join(left_out)) if left_out else ""
    return "\n\n".join([*map(prompts.render, _list_layers(form)), *filter(None, [notice])])


def render_known_intro(form: RulesForm) -> str:
    """Say what the block of what is known is, where the rules do not."""
    return "" if form == "passages" else prompts.render("chat/known")


def render_ending(form: RulesForm) -> str:
    """Say behind the question how it is answered, where a small model has forgotten it by then."""
    return prompts.render("chat/passages_ending") if form == "passages" else ""


def list_rule_versions(form: RulesForm = "whole") -> dict[str, str]:
    """Return the version of each layer, in their order."""
    names = _list_layers(form)
    return {name.rpartition("/")[2]: prompts.compute_version(name) for name in names}


@cache
def compute_rules_version(form: RulesForm = "whole") -> str:
    """Return one short hash of all layers."""
    versions = "".join(list_rule_versions(form).values())
    return hashlib.sha256(versions.encode()).hexdigest()[:12]


def _list_layers(form: RulesForm) -> Sequence[str]:
    return RULE_LAYERS if form == "whole" else (f"chat/system/{form}",)


def _build_focus(focus: FocusMode | None) -> str:
    if focus is None:
        return ""
    return prompts.render("chat/focus", name=focus.name, instructions=focus.instructions)


def _build_guidance(notes: ChatNotes) -> str:
    """Say how questions about the subject of the chat are answered well."""
    return "" if notes.category == "general" else prompts.render(f"chat/category/{notes.category}")


def choose_answer_language(profile: Profile, notes: ChatNotes) -> str:
    """Return the language of the chat, as it was noted, else the owner's."""
    if notes.noted_until is not None:
        return notes.language
    return profile.language or DEFAULT_LANGUAGE


def _build_own_prompt(profile: Profile, agent: CustomAgent | None) -> str:
    if agent is not None and agent.replaces_prompt:
        return _word_agent(agent)
    return profile.chat_prompt


def _build_owner_rules(profile: Profile) -> str:
    rules = [f"- {rule.text}" for rule in list_active(profile.rules)]
    return prompts.render("chat/owner_rules", rules="\n".join(rules)) if rules else ""


def _build_agent_prompt(agent: CustomAgent | None) -> str:
    return "" if agent is None or agent.replaces_prompt else _word_agent(agent)


def _word_agent(agent: CustomAgent) -> str:
    """Return its owner's text as it is, and that of somebody else as the wish of a stranger."""
    if not agent.is_foreign:
        return agent.instructions
    source = Source(kind="app", id=agent.id, name=agent.name)
    instructions = fence_untrusted(agent.instructions, source)
    return prompts.render("chat/foreign_agent", instructions=instructions)


def _build_app_prompt(app: App | None) -> str:
    """Return how an app wants its chat to be: the wish of a stranger, after our rules; all of a persona."""
    if app is not None and app.persona_prompt is not None:
        return app.persona_prompt
    if app is None or not app.chat_prompt:
        return ""
    instructions = fence_untrusted(app.chat_prompt, app.source)
    return prompts.render("chat/app_chat", instructions=instructions)


def _build_summary(summary: str) -> str:
    """Quote the summary as data, because it may hold words of others."""
    if not summary:
        return ""
    return prompts.render("chat/earlier", summary=json.dumps(summary, ensure_ascii=False))
