"""Google Calendar: tools over the events of the owner's primary calendar."""

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from shared.arguments import TIME_FORM, Arguments, Date
from shared.domain.apps.tool_data import ToolData
from shared.domain.errors import ToolRefused
from shared.integrations.google import ACCOUNT_URL, GOOGLE
from shared.integrations.service import (
    Account,
    ConnectionSpec,
    Integration,
    OwnerTime,
    QueryParams,
    ServiceItemExists,
    ServiceItemNotFound,
    ServiceRequest,
    ServiceResponse,
    ServiceTool,
    build_listing,
    format_list,
    to_one_line,
)

EVENTS = "https://www.googleapis.com/calendar/v3/calendars/primary/events"
DEFAULT_LOOKAHEAD = timedelta(days=30)
"""The search range where no end is given."""
MAX_MATCHES = 250

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=0, max_length=4_000)]
"""An empty one removes what an event says there."""
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Time = Annotated[AwareDatetime, Field(description=TIME_FORM)]
EventId = Annotated[str, Field(max_length=1_024, pattern=r"^[A-Za-z0-9_-]+$")]
Address = Annotated[str, Field(max_length=254, pattern=r"^[^\s@,;<>]+@[^\s@,;<>]+$")]
Addresses = Annotated[tuple[Address, ...], Field(max_length=50)]


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
    def _check_order(self) -> "CreateCalendarEvent":
        if self.end_time <= self.start_time:
            raise ValueError("end_time must be after start_time")
        return self


class _EventSelection(Arguments):
    event_id: EventId | None = None
    event_title: Title | None = None
    start_date: Date = None
    end_date: Date = None

    @model_validator(mode="after")
    def _check_choice(self) -> "_EventSelection":
        if not (self.event_id or self.event_title):
            raise ValueError("Give event_id or event_title. Call get_calendar_events for the ids")
        return self


class UpdateCalendarEvent(_EventSelection):
    """Change one event; name it by event_id, or by event_title and perhaps the dates it lies between."""

    title: Title | None = None
    start_time: Time | None = None
    end_time: Time | None = None
    description: Text | None = None
    location: Text | None = None
    add_attendees: Addresses = ()
    remove_attendees: Addresses = ()
    set_attendees: Addresses | None = None

    @model_validator(mode="after")
    def _check_changes(self) -> "UpdateCalendarEvent":
        if not self.model_dump(exclude={*_EventSelection.model_fields}, exclude_defaults=True):
            raise ValueError("update_calendar_event needs something to change")
        return self


class DeleteCalendarEvent(_EventSelection):
    """Delete one event; name it by event_id, or by event_title and perhaps the dates it lies between."""


class _EventTime(ServiceResponse):
    dateTime: OwnerTime | None = None  # noqa: N815 - Google's name
    date: str | None = None


class _Person(ServiceResponse):
    email: str = ""


class _Event(ServiceResponse):
    id: str
    status: str = "confirmed"
    summary: str = ""
    description: str | None = None
    location: str | None = None
    start: _EventTime = _EventTime()
    end: _EventTime = _EventTime()
    attendees: tuple[_Person, ...] = ()
    htmlLink: str | None = None  # noqa: N815 - Google's name


class _Events(ServiceResponse):
    items: tuple[_Event, ...] = ()
    nextPageToken: str | None = None  # noqa: N815 - Google's name


async def _list_events(account: Account, arguments: GetCalendarEvents) -> str | ToolData:
    page = await _fetch_events(account, arguments, arguments.search_query, arguments.max_results)
    if not (events := page.items):
        return "There are no such events in the calendar."
    text = format_list(
        f"{len(events)} events:", [_format_entry(n, e) for n, e in enumerate(events, 1)]
    )
    entries = list(map(_to_entry, events))
    return build_listing(text, "events", entries, entry_type="event", hidden_fields=("url",))


async def _create_event(account: Account, arguments: CreateCalendarEvent) -> str:
    event: dict[str, Any] = {
        "id": _build_event_id(account.call_id),
        "summary": arguments.title,
        "start": _to_event_time(arguments.start_time),
        "end": _to_event_time(arguments.end_time),
        **_drop_empty(description=arguments.description, location=arguments.location),
        **_drop_empty(attendees=[{"email": email} for email in arguments.attendees]),
    }
    request = ServiceRequest(method="POST", url=EVENTS, query={"sendUpdates": "all"}, body=event)
    try:
        created_event = await account.send(request, _Event)
    except ServiceItemExists:  # a repeat of the call
        created_event = await _fetch_event(account, event["id"])
    return f"Created:\n{_format_entry(1, created_event)}"


async def _update_event(account: Account, arguments: UpdateCalendarEvent) -> str:
    matches = await _resolve_events(account, arguments)
    if len(matches) != 1:
        return _format_choices(matches, "change")
    [event] = matches
    changes = _build_changes(arguments, event)
    url = _build_event_url(event.id)
    request = ServiceRequest(method="PATCH", url=url, query={"sendUpdates": "all"}, body=changes)
    changed_event = await account.send(request, _Event)
    return f"Changed:\n{_format_entry(1, changed_event)}"


async def _delete_event(account: Account, arguments: DeleteCalendarEvent) -> str:
    """Delete one event; where several match, delete none and ask which."""
    matches = await _resolve_events(account, arguments)
    if len(matches) != 1:
        return _format_choices(matches, "delete")
    [event] = matches
    url = _build_event_url(event.id)
    try:
        request = ServiceRequest(method="DELETE", url=url, query={"sendUpdates": "all"})
        await account.send(request, ServiceResponse)
    except ServiceItemNotFound:
        return f"It was deleted already:\n{_format_entry(1, event)}"
    return f"Deleted:\n{_format_entry(1, event)}"


async def _resolve_events(account: Account, arguments: _EventSelection) -> list[_Event]:
    """Return the event with the given id, or all events whose title contains the given one."""
    if arguments.event_id:
        try:
            event = await _fetch_event(account, arguments.event_id)
        except ServiceItemNotFound:
            return []
        return [event] if event.status != "cancelled" else []
    page = await _fetch_events(account, arguments, arguments.event_title, MAX_MATCHES)
    if page.nextPageToken:
        raise ToolRefused("Too many events match: give start_date and end_date, or event_id.")
    title = (arguments.event_title or "").casefold()
    return [event for event in page.items if title in event.summary.casefold()]


async def _fetch_events(
    account: Account, period: GetCalendarEvents | _EventSelection, query: str | None, limit: int
) -> _Events:
    start = period.start_date or account.now
    end = period.end_date or start + DEFAULT_LOOKAHEAD
    params: QueryParams = {
        "timeMin": start.isoformat(),
        "timeMax": end.isoformat(),
        "singleEvents": "true",
        "orderBy": "startTime",
        "maxResults": limit,
        **_drop_empty(q=query),
    }
    return await account.send(ServiceRequest(url=EVENTS, query=params), _Events)


async def _fetch_event(account: Account, event_id: str) -> _Event:
    return await account.send(ServiceRequest(url=_build_event_url(event_id)), _Event)


def _build_changes(arguments: UpdateCalendarEvent, event: _Event) -> dict[str, Any]:
    changes = {
        "summary": arguments.title or None,
        "start": arguments.start_time and _to_event_time(arguments.start_time),
        "end": arguments.end_time and _to_event_time(arguments.end_time),
        "description": arguments.description,
        "location": arguments.location,
        "attendees": _build_attendees(arguments, event),
    }
    return {name: change for name, change in changes.items() if change is not None}


def _to_event_time(time: datetime) -> dict[str, str]:
    return {"dateTime": time.isoformat()}


def _build_attendees(arguments: UpdateCalendarEvent, event: _Event) -> list[dict[str, str]] | None:
    """Return the complete list of attendees after the change; None without a change."""
    if arguments.set_attendees is not None:
        return [{"email": email} for email in arguments.set_attendees]
    if not arguments.add_attendees and not arguments.remove_attendees:
        return None
    invited = dict.fromkeys(
        [*(person.email for person in event.attendees), *arguments.add_attendees]
    )
    removed_emails = {email.casefold() for email in arguments.remove_attendees}
    return [{"email": email} for email in invited if email.casefold() not in removed_emails]


def _format_choices(matches: list[_Event], act: str) -> str:
    """List the matching events, for the owner to choose one."""
    if not matches:
        return "There is no such event; get_calendar_events shows what there is."
    head = (
        f"{len(matches)} events match, so nothing was done. Ask the owner which one to {act},"
        " then call again with its event_id:"
    )
    return format_list(head, [_format_entry(n, event) for n, event in enumerate(matches, 1)])


def _to_entry(event: _Event) -> dict[str, Any]:
    return {
        "title": to_one_line(event.summary) or "(no title)",
        "start": _format_time(event.start),
        "end": _format_time(event.end),
        "location": to_one_line(event.location),
        "attendees": _format_people(event),
        "description": to_one_line(event.description, 500),
        "event_id": to_one_line(event.id, 1_024),
        "url": to_one_line(event.htmlLink),
    }


def _format_people(event: _Event) -> str:
    return ", ".join(to_one_line(person.email, 100) for person in event.attendees[:20])


def _format_entry(number: int, event: _Event) -> str:
    people = _format_people(event)
    parts = [
        f"{number}. {to_one_line(event.summary) or '(no title)'}",
        f"   {_format_time(event.start)} to {_format_time(event.end)}",
        f"   at {to_one_line(event.location)}" if event.location else "",
        f"   with {people}" if people else "",
        f"   {to_one_line(event.description, 500)}" if event.description else "",
        f"   event_id {to_one_line(event.id, 1_024)}",
    ]
    return "\n".join(filter(None, parts))


def _format_time(when: _EventTime) -> str:
    return to_one_line(when.dateTime or when.date, 40)


def _build_event_url(event_id: str) -> str:
    return f"{EVENTS}/{quote(event_id, safe='')}"


def _build_event_id(call_id: str) -> str:
    """Derive the event id from the call, so that a repeat of the call creates no second event."""
    return sha256(call_id.encode()).hexdigest()[:32]


def _drop_empty(**fields: Any) -> dict[str, Any]:
    return {name: content for name, content in fields.items() if content}


INTEGRATION = Integration(
    service="google_calendar",
    label="Google Calendar",
    connection=ConnectionSpec(
        provider=GOOGLE,
        scopes=("https://www.googleapis.com/auth/calendar.events",),
        extra_scopes=("openid", "email"),
        account_url=ACCOUNT_URL,
        account_name_path="email",
    ),
    tools=(
        ServiceTool("get_calendar_events", "Checking calendar", GetCalendarEvents, _list_events),
        ServiceTool(
            "create_calendar_event",
            "Creating calendar event",
            CreateCalendarEvent,
            _create_event,
            tool_class="write",
            sensitive_arguments=("attendees",),
        ),
        ServiceTool(
            "update_calendar_event",
            "Updating calendar event",
            UpdateCalendarEvent,
            _update_event,
            tool_class="write",
            sensitive_arguments=("add_attendees", "remove_attendees", "set_attendees"),
        ),
        ServiceTool(
            "delete_calendar_event",
            "Deleting calendar event",
            DeleteCalendarEvent,
            _delete_event,
            tool_class="sensitive",
        ),
    ),
)
