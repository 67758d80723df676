"""Rule tools: how the owner wants to be answered from now on, and no longer."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated

from pydantic import Field, StringConstraints

from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import ResultRenderer, Tool, render_fixed
from shared.arguments import Arguments
from shared.domain.chats.rule import (
    MAX_CHARS,
    MAX_WORDS,
    Rule,
    Rules,
    add_rule,
    archive_rule,
    find_rule_by_text,
    list_active,
)
from shared.domain.errors import Invalid, ToolRefused
from shared.domain.ids import MessageId, RuleId, UserId
from shared.library.polarity import is_borne
from shared.retrieval.passages import stands_in_words

NOT_SAID = "the owner did not write these words. Quote them letter for letter."


class SaveRule(Arguments):
    """Keep a rule for all later answers, when the owner says how they want to be answered from now on."""

    text: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_CHARS),
        Field(description=f"The rule, said to you, as a sentence of at most {MAX_WORDS} words."),
    ]
    user_quote: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=4, max_length=500),
        Field(description="The owner's words that ask for it, letter for letter."),
    ]


class DropRule(Arguments):
    """Put one of the owner's rules out of force, when they no longer want it."""

    text: Annotated[str, Field(max_length=MAX_CHARS, description="The rule, letter for letter.")]


def build_rule_tools(
    deps: ChatDeps, uid: UserId, rules: Rules, said: Mapping[MessageId, str]
) -> list[Tool]:
    """Build the tools over the rules there are; `said` is what the owner wrote of late, newest first."""
    save = build_builtin_tool(
        "save_rule",
        "Saving a rule",
        SaveRule,
        partial(_save_rule, deps, uid, said),
        tool_class="sensitive",  # it steers every later answer
        check=partial(_find_message, said),
    )
    drop = build_builtin_tool(
        "drop_rule",
        "Dropping a rule",
        DropRule,
        partial(_drop_rule, deps, uid, rules),
        tool_class="sensitive",
        check=partial(_find_rule, rules),
    )
    return [save, *([drop] if list_active(rules) else [])]


async def _save_rule(
    deps: ChatDeps, uid: UserId, said: Mapping[MessageId, str], arguments: SaveRule
) -> ResultRenderer:
    """Raises ToolRefused where the owner did not say it, or it is too long."""
    message_id = _find_message(said, arguments)
    now = deps.clock.now()
    rule = Rule(id=RuleId(deps.new_id()), text=" ".join(arguments.text.split()), created_at=now)
    if await is_borne(deps.meanings, uid, arguments.user_quote, rule.text):
        rule = replace(rule, message_id=message_id, quote=arguments.user_quote)
    # else it rests on the owner's yes alone
    try:
        await deps.stores.profiles.change_rules(uid, partial(add_rule, rule=rule, now=now))
    except Invalid as error:
        raise ToolRefused(str(error)) from error
    return render_fixed(f"From the next message on: “{rule.text}”")


async def _drop_rule(
    deps: ChatDeps, uid: UserId, rules: Rules, arguments: DropRule
) -> ResultRenderer:
    rule = _find_rule(rules, arguments)
    change = partial(archive_rule, rule_id=rule.id, now=deps.clock.now())
    await deps.stores.profiles.change_rules(uid, change)
    return render_fixed(f"No longer in force: “{rule.text}”")


def _find_message(said: Mapping[MessageId, str], arguments: SaveRule) -> MessageId:
    """Return the newest message that holds the quotation. Raises ToolRefused."""
    sources = (name for name, text in said.items() if stands_in_words(arguments.user_quote, text))
    message_id = next(sources, None)
    if message_id is None:
        raise ToolRefused(NOT_SAID)
    return message_id


def _find_rule(rules: Rules, arguments: DropRule) -> Rule:
    """Raises ToolRefused."""
    rule = find_rule_by_text(list_active(rules), arguments.text)
    if rule is None:
        raise ToolRefused("the owner has no such rule. Give its text letter for letter.")
    return rule
