"""People tool: who speaks or is spoken of in the owner's conversations, and the events that these announce."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from functions.chat.context.citations import Citations
from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import ResultRenderer, Tool, WordedResult
from shared.arguments import Arguments, Date
from shared.domain.chats.card import build_card
from shared.domain.conversations.conversation import Conversation, Event
from shared.domain.conversations.day_words import describe_time
from shared.domain.conversations.own_names import build_name_key, list_others
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.retrieval.terms import tokenize

MAX_READ = 500
"""Conversations that are looked through, the newest ones."""
MAX_NAMED = 500
NOT_ALL_READ = f"Only the newest {MAX_READ} conversations were looked through."
_BEGINNING = datetime(1900, 1, 1, tzinfo=UTC)
MORE = "There are {total} in all: the next begin at offset {offset}."


class GetPeopleAndEvents(Arguments):
    """List events that conversations announced, or the people who speak or are spoken of in them.

    Events come soonest first, without a start_date from now on; people latest first, with the number
    of conversations and the last one.
    """

    kind: Literal["events", "people"]
    name: Annotated[str, Field(max_length=100, description="Only with these words in it.")] = ""
    start_date: Date = None
    end_date: Date = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    offset: Annotated[int, Field(ge=0, le=1_000)] = 0


@value
class _Row:
    """An event or a person, with the time and the conversation to show and cite."""

    name: str
    fields: Mapping[str, Any]
    time_field: Literal["start", "last"] = "last"
    at: datetime | None = None
    conversation: Conversation | None = None


def build_people_tools(
    deps: ChatDeps, uid: UserId, zone: ZoneInfo, language: str | None = None
) -> list[Tool]:
    """Return the tool; its results tell times in the owner's zone, and people read them in their language."""
    return [
        build_builtin_tool(
            "get_people_and_events",
            "Searching conversations",
            GetPeopleAndEvents,
            partial(_get_people_and_events, deps, uid, zone, language=language),
            tool_class="read",
            is_search=True,
        )
    ]


async def _get_people_and_events(
    deps: ChatDeps,
    uid: UserId,
    zone: ZoneInfo,
    arguments: GetPeopleAndEvents,
    *,
    language: str | None,
) -> ResultRenderer:
    is_of_people = arguments.kind == "people"
    found = await deps.stores.conversations.list_noted(
        uid,
        start=arguments.start_date if is_of_people else None,
        end=arguments.end_date,
        limit=MAX_READ + 1,
    )
    read = found[:MAX_READ]
    if is_of_people:
        rows = await _list_people(deps, uid, read, arguments)
    else:
        rows = _list_events(read, _choose_start(arguments, deps.clock.now()), arguments.end_date)
    wanted = set(tokenize(arguments.name))
    matching = [row for row in rows if wanted <= set(tokenize(row.name))]
    end = arguments.offset + arguments.limit
    listed = matching[arguments.offset : end]
    notes = [
        *([MORE.format(total=len(matching), offset=end)] if len(matching) > end else []),
        *([NOT_ALL_READ] if len(found) > MAX_READ else []),
    ]

    def render(citations: Citations) -> str:
        rows = [_to_fields(row, citations, zone) for row in listed]
        content = {arguments.kind: rows, **({"note": " ".join(notes)} if notes else {})}
        return json.dumps(content, ensure_ascii=False)

    shown = [f"- {row.name}{_describe_time(row, zone, language)}" for row in listed]
    return WordedResult(render=render, shown_text="\n".join(shown) or "Nothing was found.")


def _choose_start(arguments: GetPeopleAndEvents, now: datetime) -> datetime:
    """Return when events are listed from: as asked for, else now, or the beginning where the end is past."""
    if arguments.start_date is not None:
        return arguments.start_date
    is_over = arguments.end_date is not None and arguments.end_date <= now
    return _BEGINNING if is_over else now


def _list_events(
    conversations: Sequence[Conversation], start: datetime, end: datetime | None
) -> list[_Row]:
    """Return the events of a stretch of time, the soonest first; what was said twice once, as it was said last."""
    announced: dict[tuple[datetime, str], tuple[Event, Conversation]] = {}
    for conversation in conversations:
        for event in conversation.structured.events:
            if start <= event.start and (end is None or event.start < end):
                key = event.start, build_name_key(event.title)
                announced.setdefault(key, (event, conversation))
    return [
        _Row(
            name=event.title,
            fields={"title": event.title, "minutes": event.duration, **_describe(event)},
            time_field="start",
            at=event.start,
            conversation=conversation,
        )
        for _, (event, conversation) in sorted(announced.items(), key=lambda each: each[0])
    ]


async def _list_people(
    deps: ChatDeps,
    uid: UserId,
    conversations: Sequence[Conversation],
    arguments: GetPeopleAndEvents,
) -> list[_Row]:
    """Return everybody but the owner, who was met last first; without dates those too who were never met."""
    profile = await deps.stores.profiles.get(uid)
    is_bounded = arguments.start_date or arguments.end_date
    people = await deps.stores.people.list_newest(uid, limit=MAX_NAMED)
    known = [] if is_bounded else people
    present_names = {person.id: person.name for person in people}
    met: dict[str, list[Conversation]] = {}
    names: dict[str, str] = {}
    for conversation in conversations:
        named = _name_people(replace(conversation, person_names=present_names))
        called = {build_name_key(name): name for name in named}
        for key, name in called.items():
            met.setdefault(key, []).append(conversation)
            names.setdefault(key, name)
    names |= {build_name_key(person.name): person.name for person in known}
    in_order = list_others(dict.fromkeys([*met, *names]), profile.all_names)
    roles = {build_name_key(person.name): person.role for person in people}
    return [_build_person(names[k], roles.get(k, ""), met.get(k, ())) for k in in_order]


def _build_person(name: str, role: str, met: Sequence[Conversation]) -> _Row:
    """Build the row of a person; the conversations come newest first."""
    fields = {"name": name, **({"role": role} if role else {}), "conversations": len(met)}
    if not met:
        return _Row(name=name, fields=fields)
    return _Row(name=name, fields=fields, at=met[0].started_at, conversation=met[0])


def _name_people(conversation: Conversation) -> list[str]:
    speakers = [
        *conversation.speakers.values(),
        *(each.speaker for each in conversation.assignments),
    ]
    named = [conversation.call_by_name(each).name for each in speakers if not each.is_user]
    return [*conversation.topics.people, *filter(None, named)]


def _describe(event: Event) -> dict[str, str]:
    return {"description": event.description} if event.description else {}


def _to_fields(row: _Row, citations: Citations, zone: ZoneInfo) -> dict[str, Any]:
    if row.conversation is None or row.at is None:
        return {**row.fields}
    at = row.at.astimezone(zone).isoformat(timespec="seconds")
    return {
        "document": citations.assign_number(build_card(row.conversation)),
        **row.fields,
        row.time_field: at,
        "conversation_id": row.conversation.id,
    }


def _describe_time(row: _Row, zone: ZoneInfo, language: str | None) -> str:
    return f", {describe_time(row.at, zone, language)}" if row.at else ""
