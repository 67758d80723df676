"""Voices of a turn: what each model that answers a question is given, and may call.

Also called: model comparison, multi-model.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from functions.chat.consent.allowed_details import build_details_text
from functions.chat.consent.nobodys_words import find_writers
from functions.chat.consent.taint import Taint
from functions.chat.context import prompt
from functions.chat.context.context import Context
from functions.chat.context.given_files import build_note
from functions.chat.context.known import Known
from functions.chat.context.lines import describe_caution, describe_exercise, describe_project
from functions.chat.context.page import Page, build_page_text
from functions.chat.context.similar_chats import build_similar_text
from functions.chat.deps import ChatDeps
from functions.chat.loop.tool_policy import ToolPolicy, build_tool_policy
from functions.chat.tools.toolkit import Tool
from functions.chat.turn.files import check_sizes
from functions.chat.turn.model_choice import (
    AskedInput,
    ModelChoice,
    choose_by_input,
    choose_by_owner,
)
from functions.chat.turn.prepared_turn import Voice
from functions.chat.turn.question_tools import OfferedTools, QuestionTools
from functions.chat.turn.turn_context import TurnContext
from shared import prompts, telemetry
from shared.domain.chats.custom_agent import AgentRole
from shared.domain.errors import Invalid, TooLarge
from shared.domain.models.model import ModelFacts, ModelRole
from shared.domain.models.tokens import estimate_tokens
from shared.domain.value import value

ONE_PERSONA = "This app answers with its own model, so that there is nothing to compare."


def choose_model(
    deps: ChatDeps, text: str, named: Sequence[AgentRole], documents: TurnContext
) -> ModelChoice:
    """Return who answers: the persona's model, the owner's choice, or what the rules choose.

    Raises Invalid where a persona is asked for several answers.
    """
    if documents.persona is not None:
        if len(named) > 1:
            raise Invalid(ONE_PERSONA)
        return ModelChoice(roles=[documents.persona.persona_model], reason="persona")
    agent = documents.answering_agent
    chosen = choose_by_owner(
        named, agent.role if agent else None, documents.profile.preferred_model
    )
    if chosen is not None:
        return chosen
    return choose_by_input(_measure(text, documents), deps.model.describe)


def _measure(text: str, documents: TurnContext) -> AskedInput:
    files = documents.files.of_question
    return AskedInput(
        tokens=estimate_tokens(text) + sum(file.token_count for file in files),
        has_pictures=any(file.is_picture for file in files),
    )


@value
class VoiceBuilder:
    """Builds the voices of a question at `now`, whose owner looks at `page`."""

    deps: ChatDeps
    text: str
    documents: TurnContext
    page: Page | None
    now: datetime
    taint: Taint
    tools: QuestionTools

    def build(self, roles: Sequence[ModelRole]) -> list[Voice]:
        """Return a voice for each role, the main one first; what they read and call is their own.

        Raises TooLarge where a model cannot be given what it has to be given.
        """
        context = self._build_context(roles[0])
        main = self._build_main(roles[0], context)
        voices = [main, *(self._build_sibling(main, role, context) for role in roles[1:])]
        for voice in voices:
            check_sizes(
                self.documents.files.of_question,
                voice.context.facts,
                can_search=voice.rules_form == "whole",
            )
        return voices

    def _build_context(self, role: ModelRole) -> Context:
        documents = self.documents
        session, files = documents.session, documents.files
        context = prompt.build_context(
            self.text,
            history=documents.window,
            summary=session.summary,
            profile=documents.profile,
            app=documents.app,
            texts=files.texts,
            forgotten=files.forgotten,
            results=documents.results,
            caution=describe_caution(session.safety, self.now),
            notes=session.notes,
            warning=self._describe_warning(),
            now=self.now,
            facts=self.deps.model.describe(role),
        )
        return context if documents.persona is not None else self._add_owner_blocks(context)

    def _add_owner_blocks(self, context: Context) -> Context:
        documents = self.documents
        profile, session, files = documents.profile, documents.session, documents.files
        return prompt.add_owner_blocks(
            context,
            profile=profile,
            chat_id=session.id,
            focus=profile.find_focus_mode(session.focus),
            agent=documents.answering_agent,
            details=build_details_text(documents.details, context.facts.window_tokens),
            page=build_page_text(self.page, documents.page_item, profile.zone),
            files=[files.texts[file.id] for file in files.of_question],
            exercise=describe_exercise(session.exercise, documents.newest_messages),
            notes=session.notes,
            project_overview=self._describe_project(),
            similar_chats=build_similar_text(documents.similar_chats),
            known=documents.known,
            now=self.now,
        )

    def _describe_project(self) -> str:
        """Name the files of the chat's project where the last request needed to know it."""
        if not self.documents.session.notes.needs_project_overview:
            return ""
        return describe_project([build_note(file) for file in self.documents.project.files])

    def _describe_warning(self) -> str:
        """Warn of an injection that the owner quoted earlier, while the model reads that message."""
        threshold = self.deps.thresholds.injection
        is_quoted = any(message.injection_score >= threshold for message in self.documents.window)
        return prompts.render("chat/injection") if is_quoted else ""

    def _build_main(self, role: ModelRole, context: Context) -> Voice:
        fitted, offered = self._give_project(context)
        telemetry.add_fields(
            window_tokens=context.facts.window_tokens,
            tools_offered=len(offered.tools),
            tools_left_out=offered.left_out,
        )
        if context.known and not self.documents.session.is_private:
            telemetry.add_fields(known=_describe_known(self.documents.known))
        policy = self._build_policy(fitted, offered.tools)
        return self._build_voice(role, fitted, offered, policy)

    def _build_sibling(self, main: Voice, role: ModelRole, context: Context) -> Voice:
        facts = self.deps.model.describe(role)
        fitted, offered = self._give_project(replace(context, facts=facts))
        return self._build_voice(role, fitted, offered, main.tool_policy.build_sibling())

    def _build_voice(
        self, role: ModelRole, context: Context, offered: OfferedTools, policy: ToolPolicy
    ) -> Voice:
        return Voice(
            role=role,
            context=context,
            tools=offered.tools,
            tool_policy=policy,
            fit=self._fit_to_window,
            rules_form=offered.rules_form,
        )

    def _give_project(self, context: Context) -> tuple[Context, OfferedTools]:
        """Give a model the files of the chat's project if all fits its window, else their names."""
        project = self.documents.project
        if self.documents.persona is not None:
            return self._fit(context)
        if project.are_given(context.facts):
            whole, offered = self._fit(project.give(context), can_search=False)
            if whole.fits_whole(offered.specs):
                return whole, offered
        return self._fit(project.name(context))

    def _fit_to_window(self, context: Context, facts: ModelFacts) -> tuple[Context, Sequence[Tool]]:
        can_search = not context.project_files
        fitted, offered = self._fit(replace(context, facts=facts), can_search=can_search)
        return fitted, offered.tools

    def _fit(self, context: Context, *, can_search: bool = True) -> tuple[Context, OfferedTools]:
        """Give a model rules and tools for its window: where all is too much, the last tools go first.

        Raises TooLarge where the owner's own words are too much without any.
        """
        if self.documents.persona is not None:
            context.check_fits(())
            return context, OfferedTools(tools=())
        offered = self.tools.collect(context.facts, prompt.render_rules(), can_search=can_search)
        while True:
            rules = prompt.render_rules(offered.rules_form, left_out=offered.left_out)
            fitted = replace(
                context,
                rules=rules,
                known_intro=prompt.render_known_intro(offered.rules_form),
                ending=prompt.render_ending(offered.rules_form),
            )
            try:
                fitted.check_fits(offered.specs)
            except TooLarge:
                if not offered.tools:
                    raise
                offered = offered.leave_out_last()
            else:
                return fitted, offered

    def _build_policy(self, context: Context, tools: Sequence[Tool]) -> ToolPolicy:
        documents = self.documents
        return build_tool_policy(
            self.text,
            history=documents.window,
            session=documents.session,
            app=documents.app,
            tools=tools,
            taint=self.taint,
            results=documents.results,
            **_list_blocks(context, documents),
            is_own_message=not find_writers(self.text, is_offered=documents.is_offered),
            is_message_alone=context.holds_question_alone
            and not documents.profile.focus_modes,  # a tool names them
            local_time=self.now.astimezone(documents.profile.zone),
        )


def _describe_known(known: Known) -> dict[str, Any]:
    return {
        "reason": known.reason,
        "conversations": [each.conversation.id for each in known.excerpts],
        "facts": [fact.id for fact in known.facts],
    }


def _list_blocks(context: Context, documents: TurnContext) -> dict[str, list[str]]:
    """Return the texts that steer the turn, by whose they are; pages, chats and files may hold words of anybody."""
    agent = documents.answering_agent
    blocks = [
        context.focus,
        context.own_prompt,
        context.owner_rules,
        context.agent_prompt,
        context.reminder,
    ]
    files = [*documents.files.texts.values(), *documents.project.texts]
    data = filter(None, [context.page, context.details, context.known, context.similar_chats])
    notes = [*map(build_note, documents.project.files), *documents.files.forgotten]
    names = [note.name for note in notes]
    foreign = [*data, *(each.text for each in files), *names]
    if agent is not None and agent.is_foreign:
        foreign.append(context.own_prompt if agent.replaces_prompt else context.agent_prompt)
    return {
        "own_blocks": [block for block in blocks if block not in foreign],
        "foreign_blocks": foreign,
    }
