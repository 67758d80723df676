"""Google Calendar: events of the owner's primary calendar (P6)."""

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from shared.arguments import Arguments, Date
from shared.domain.errors import ToolRefused
from shared.integrations.google import ACCOUNT, GOOGLE
from shared.integrations.service import (
    Account,
    Answer,
    Consent,
    Duplicate,
    Integration,
    Missing,
    Query,
    Request,
    ServiceTool,
    line,
    told,
)

EVENTS = "https://www.googleapis.com/calendar/v3/calendars/primary/events"
LOOKED_AHEAD = timedelta(days=30)
"""Where a title is looked for when no end is given."""
MOST_MATCHES = 250

Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=4_000)]
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Time = Annotated[
    AwareDatetime,
    Field(description="ISO 8601 with an offset, for example 2024-01-19T15:00:00-08:00"),
]
EventId = Annotated[str, Field(max_length=1_024, pattern=r"^[A-Za-z0-9_-]+$")]
Addresses = Annotated[tuple[Annotated[str, Field(max_length=254)], ...], Field(max_length=50)]


class GetCalendarEvents(Arguments):
    """List events of the owner's calendar, by default those of the next 30 days."""

    start_date: Date = None
    end_date: Date = None
    max_results: Annotated[int, Field(ge=1, le=50)] = 10
    search_query: Annotated[str | None, Field(max_length=300)] = None


class CreateCalendarEvent(Arguments):
    """Create an event in the owner's calendar, when the owner asks for it; attendees are invited."""

    title: Title
    start_time: Time
    end_time: Time
    description: Text | None = None
    location: Text | None = None
    attendees: Addresses = ()

    @model_validator(mode="after")
    def _in_order(self) -> "CreateCalendarEvent":
        if self.end_time <= self.start_time:
            raise ValueError("end_time must be after start_time")
        return self


class UpdateCalendarEvent(Arguments):
    """Change one event; name it by event_id, or by event_title and perhaps the dates it lies between."""

    event_id: EventId | None = None
    event_title: Title | None = None
    start_date: Date = None
    end_date: Date = None
    title: Title | None = None
    start_time: Time | None = None
    end_time: Time | None = None
    description: Text | None = None
    location: Text | None = None
    add_attendees: Addresses = ()
    remove_attendees: Addresses = ()
    set_attendees: Addresses | None = None


class DeleteCalendarEvent(Arguments):
    """Delete one event; name it by event_id, or by event_title and perhaps the dates it lies between."""

    event_id: EventId | None = None
    event_title: Title | None = None
    start_date: Date = None
    end_date: Date = None


class _When(Answer):
    dateTime: str | None = None  # noqa: N815 - as Google calls it
    date: str | None = None


class _Person(Answer):
    email: str = ""


class _Event(Answer):
    id: str
    status: str = "confirmed"
    summary: str = ""
    description: str | None = None
    location: str | None = None
    start: _When = _When()
    end: _When = _When()
    attendees: tuple[_Person, ...] = ()


class _Events(Answer):
    items: tuple[_Event, ...] = ()
    nextPageToken: str | None = None  # noqa: N815 - as Google calls it


class _Nothing(Answer):
    pass


async def _get(account: Account, asked: GetCalendarEvents) -> str:
    start = asked.start_date or account.now
    end = asked.end_date or start + LOOKED_AHEAD
    page = await _events(account, start, end, asked.search_query, asked.max_results)
    if not (found := page.items):
        return "There are no such events in the calendar."
    return told(f"{len(found)} events:", [_entry(n, e) for n, e in enumerate(found, 1)])


async def _create(account: Account, asked: CreateCalendarEvent) -> str:
    event: dict[str, Any] = {
        "id": _event_id(account.call_id),
        "summary": asked.title,
        "start": {"dateTime": asked.start_time.isoformat()},
        "end": {"dateTime": asked.end_time.isoformat()},
        **_given(description=asked.description, location=asked.location),
        **_given(attendees=[{"email": each} for each in asked.attendees]),
    }
    request = Request(method="POST", url=EVENTS, query={"sendUpdates": "all"}, body=event)
    try:
        created = await account.send(request, _Event)
    except Duplicate:  # the call was repeated
        created = await account.send(Request(url=_at(event["id"])), _Event)
    return f"Created:\n{_entry(1, created)}"


async def _update(account: Account, asked: UpdateCalendarEvent) -> str:
    found = await _named(account, asked)
    if len(found) != 1:
        return _which(found, "change")
    [event] = found
    changes = _changes(asked, event)
    if not changes:
        raise ToolRefused("update_calendar_event was told nothing to change.")
    changed = await account.send(
        Request(method="PATCH", url=_at(event.id), query={"sendUpdates": "all"}, body=changes),
        _Event,
    )
    return f"Changed:\n{_entry(1, changed)}"


async def _delete(account: Account, asked: DeleteCalendarEvent) -> str:
    """Delete one event, never several: of several, the owner chooses."""
    found = await _named(account, asked)
    if len(found) != 1:
        return _which(found, "delete")
    [event] = found
    try:
        request = Request(method="DELETE", url=_at(event.id), query={"sendUpdates": "all"})
        await account.send(request, _Nothing)
    except Missing:
        return f"It was deleted already:\n{_entry(1, event)}"
    return f"Deleted:\n{_entry(1, event)}"


async def _named(
    account: Account, asked: UpdateCalendarEvent | DeleteCalendarEvent
) -> list[_Event]:
    """Return the events that are meant: one by its id, or those that bear the title."""
    if asked.event_id:
        try:
            event = await account.send(Request(url=_at(asked.event_id)), _Event)
        except Missing:
            return []
        return [event] if event.status != "cancelled" else []
    if not asked.event_title:
        raise ToolRefused("Give event_id or event_title; get_calendar_events tells the ids.")
    start = asked.start_date or account.now
    end = asked.end_date or start + LOOKED_AHEAD
    page = await _events(account, start, end, asked.event_title, MOST_MATCHES)
    if page.nextPageToken:
        raise ToolRefused("Too many events match: give start_date and end_date, or event_id.")
    wanted = asked.event_title.casefold()
    return [event for event in page.items if wanted in event.summary.casefold()]


async def _events(
    account: Account, start: datetime, end: datetime, query: str | None, limit: int
) -> _Events:
    asked: Query = {
        "timeMin": start.isoformat(),
        "timeMax": end.isoformat(),
        "singleEvents": "true",
        "orderBy": "startTime",
        "maxResults": limit,
        **_given(q=query),
    }
    return await account.send(Request(url=EVENTS, query=asked), _Events)


def _changes(asked: UpdateCalendarEvent, event: _Event) -> dict[str, Any]:
    attendees = _attendees(asked, event)
    return {
        **({"summary": asked.title} if asked.title else {}),
        **({"start": {"dateTime": asked.start_time.isoformat()}} if asked.start_time else {}),
        **({"end": {"dateTime": asked.end_time.isoformat()}} if asked.end_time else {}),
        **({"description": asked.description} if asked.description is not None else {}),
        **({"location": asked.location} if asked.location is not None else {}),
        **({"attendees": attendees} if attendees is not None else {}),
    }


def _attendees(asked: UpdateCalendarEvent, event: _Event) -> list[dict[str, str]] | None:
    """Return all who are invited afterwards; None where that does not change."""
    if asked.set_attendees is not None:
        return [{"email": each} for each in asked.set_attendees]
    if not asked.add_attendees and not asked.remove_attendees:
        return None
    invited = dict.fromkeys([*(each.email for each in event.attendees), *asked.add_attendees])
    gone = {each.casefold() for each in asked.remove_attendees}
    return [{"email": each} for each in invited if each.casefold() not in gone]


def _which(found: list[_Event], act: str) -> str:
    """Let the owner choose among several; nothing was done."""
    if not found:
        return "There is no such event; get_calendar_events shows what there is."
    head = (
        f"{len(found)} events match, so nothing was done. Ask the owner which one to {act},"
        " then call again with its event_id:"
    )
    return told(head, [_entry(n, event) for n, event in enumerate(found, 1)])


def _entry(number: int, event: _Event) -> str:
    people = ", ".join(line(each.email, 100) for each in event.attendees[:20])
    parts = [
        f"{number}. {line(event.summary) or '(no title)'}",
        f"   {_time(event.start)} to {_time(event.end)}",
        f"   at {line(event.location)}" if event.location else "",
        f"   with {people}" if people else "",
        f"   {line(event.description, 500)}" if event.description else "",
        f"   event_id {line(event.id, 1_024)}",
    ]
    return "\n".join(filter(None, parts))


def _time(when: _When) -> str:
    return line(when.dateTime or when.date, 40)


def _at(event_id: str) -> str:
    return f"{EVENTS}/{quote(event_id, safe='')}"


def _event_id(call_id: str) -> str:
    """Name a new event by the call that asks for it, so that a repeated call is the same event."""
    return sha256(call_id.encode()).hexdigest()[:32]


def _given(**fields: Any) -> dict[str, Any]:
    return {name: given for name, given in fields.items() if given}


INTEGRATION = Integration(
    service="google_calendar",
    label="Google Calendar",
    consent=Consent(
        provider=GOOGLE,
        scopes=("https://www.googleapis.com/auth/calendar.events",),
        beside=("openid", "email"),
        account=ACCOUNT,
        account_name="email",
    ),
    tools=(
        ServiceTool(
            name="get_calendar_events",
            status="Checking calendar",
            asked=GetCalendarEvents,
            run=_get,
        ),
        ServiceTool(
            name="create_calendar_event",
            status="Creating calendar event",
            asked=CreateCalendarEvent,
            run=_create,
            side_effect=True,
        ),
        ServiceTool(
            name="update_calendar_event",
            status="Updating calendar event",
            asked=UpdateCalendarEvent,
            run=_update,
            side_effect=True,
        ),
        ServiceTool(
            name="delete_calendar_event",
            status="Deleting calendar event",
            asked=DeleteCalendarEvent,
            run=_delete,
            side_effect=True,
        ),
    ),
)
