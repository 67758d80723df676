"""Routes of rules: how the owner wants to be answered, in every chat."""

from datetime import datetime
from functools import partial
from typing import Annotated

from pydantic import Field

from functions.chat.api.prompt_texts import IN_ONE_LINE, NOT_EMPTY
from functions.chat.deps import ChatDeps
from shared.domain.chats.rule import (
    MAX_CHARS,
    Rule,
    add_rule,
    change_rule,
    find_rule_by_text,
    get_rule,
    remove_rule,
)
from shared.domain.ids import RuleId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire

RuleText = Annotated[str, Field(max_length=MAX_CHARS), IN_ONE_LINE, NOT_EMPTY]


class RuleIn(Wire):
    """A rule of at most 24 words. One that says the same as another of the owner's is that one."""

    text: RuleText


class RuleOut(Wire):
    """A rule that every answer keeps to, unless it is archived.

    `quote` are the owner's words in the message `message_id` that it comes from.
    """

    id: str
    text: str
    created_at: datetime
    message_id: str | None
    quote: str
    archived_at: datetime | None


@route("GET", "/v2/rules", "List rules, oldest first, the archived ones too")
async def list_rules(deps: ChatDeps, call: Call) -> list[RuleOut]:
    profile = await deps.stores.profiles.get(call.uid)
    return [RuleOut.model_validate(rule) for rule in profile.rules]


@route("POST", "/v2/rules", "Add a rule; of more than 20, the oldest is archived", errors=(422,))
async def create_rule(deps: ChatDeps, call: Call[RuleIn]) -> RuleOut:
    now = deps.clock.now()
    rule = Rule(id=RuleId(deps.new_id()), text=call.body.text, created_at=now)
    rules = await deps.stores.profiles.change_rules(call.uid, partial(add_rule, rule=rule, now=now))
    return RuleOut.model_validate(find_rule_by_text(rules, rule.text))


@route("PATCH", "/v2/rules/{id}", "Change what a rule says", errors=(404, 422))
async def edit_rule(deps: ChatDeps, call: Call[RuleIn]) -> RuleOut:
    rule_id = call.path["id"]
    change = partial(change_rule, rule_id=rule_id, text=call.body.text)
    return RuleOut.model_validate(
        get_rule(await deps.stores.profiles.change_rules(call.uid, change), rule_id)
    )


@route("DELETE", "/v2/rules/{id}", "Delete a rule", errors=(404,))
async def delete_rule(deps: ChatDeps, call: Call) -> OkOut:
    await deps.stores.profiles.change_rules(call.uid, partial(remove_rule, rule_id=call.path["id"]))
    return OkOut()


ROUTES = (list_rules, create_rule, edit_rule, delete_rule)
