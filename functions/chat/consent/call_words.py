"""Call words: what a call would do to which thing, as its owner reads it before they allow it; pure.

A call of ours is one sentence. One of an app is the app's sentence, and each argument on a line of its own.

Also called: confirmation prompt.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from shared.domain.conversations.day_words import describe_time
from shared.domain.value import value
from shared.languages import translate
from shared.security.visible_text import strip_invisible

QUOTED = "“{text}”"
ADD_TASK = "Add the task {thing}?"
CHANGE_TASK = "Change the task {thing}: {changes}?"
REMEMBER = "Remember {thing}?"
CHANGE_MEMORY = "Change the memory {thing} to {changes}?"
DELETE_CONVERSATION = "Delete the conversation {thing} for good?"
DELETE_MEMORIES = "Delete what is remembered: {thing}?"
SAVE_RULE = "Follow the rule {thing} from now on?"
DROP_RULE = "No longer follow the rule {thing}?"
RECALL = "Use in answers what is remembered about you?"
NO_RECALL = "Use in answers nothing of what is remembered about you?"
SUMMARIES = "Send you a summary of each day?"
SUMMARIES_AT = "Send you the summary of each day at {time}?"
NO_SUMMARIES = "Send you no more summaries of your days?"
FOCUS = "Turn on the focus {thing}?"
NO_FOCUS = "End the focus?"
ADD_EVENT = "Add {thing} to your calendar?"
CHANGE_EVENT = "Change {thing} in your calendar: {changes}?"
DELETE_EVENT = "Delete {thing} from your calendar?"
OTHER_DEED = "Shall I do {thing}?"
DUE_AT = "due {time}"
FROM_TO = "{start} to {end}"
TICKED = "done"
OPEN = "not done"
PEOPLE = "{count} people"
WITH = "with {people}"
WITHOUT = "without {people}"
ONLY_WITH = "with nobody but {people}"
ALONE = "with nobody"
YES, NO, NOTHING = "yes", "no", "nothing"
_PLAIN = str.maketrans(
    {**dict.fromkeys('“”„«»「」"`', "’"), "[": "(", "]": ")", "<": "‹", ">": "›", "*": "∗"}
)
"""Signs that would end a quotation, format text or be a link."""


@value
class Reader:
    """Whoever is asked: their language, and the zone on whose clock they read times."""

    language: str | None = None
    zone: tzinfo = UTC


@value
class Item:
    """What an id stands for; `details` say which of several it is."""

    name: str
    details: Sequence[str] = ()


@value
class CallWords:
    """A question in words; `details` are lines that each hold an argument, or go on with the one above."""

    question: str
    details: Sequence[str] = ()


class _OwnCall:
    """A call of ours, and the words that its sentence is put together from."""

    def __init__(
        self, arguments: Mapping[str, Any], items: Mapping[str, Item], reader: Reader
    ) -> None:
        self.arguments = arguments
        self._items = items
        self._reader = reader

    def say(self, sentence: str, **slots: object) -> str:
        return translate(sentence, self._reader.language, **slots)

    def has(self, name: str) -> bool:
        return self.arguments.get(name) is not None

    def quote(self, text: object) -> str:
        return self.say(QUOTED, text=to_plain_text(str(text)))

    def thing(self, *details: str, text: object) -> str:
        return ", ".join([self.quote(text), *details])

    def item(self, id_argument: str) -> str:
        """Name what an id stands for; one that nobody knows stands as it is."""
        item_id = str(self.arguments.get(id_argument))
        item = self._items.get(item_id, Item(name=item_id))
        return self.thing(*map(to_plain_text, item.details), text=item.name)

    def time(self, name: str) -> str:
        return word_time(str(self.arguments[name]), self._reader)

    def people(self, name: str) -> str:
        return ", ".join(to_plain_text(str(person)) for person in self.arguments[name])


def word_own_call(
    tool: str, arguments: Mapping[str, Any], items: Mapping[str, Item], reader: Reader
) -> CallWords:
    """Word a call of one of our own tools, or of a service's; `items` are what ids stand for."""
    call = _OwnCall(arguments, items, reader)
    word = _SENTENCES.get(tool)
    if word is not None:
        return CallWords(question=word(call))
    return CallWords(
        question=call.say(OTHER_DEED, thing=call.quote(_to_words(tool))),
        details=list_arguments(arguments, items, reader),
    )


def _word_new_task(call: _OwnCall) -> str:
    due = [call.say(DUE_AT, time=call.time("due_at"))] if call.has("due_at") else []
    return call.say(ADD_TASK, thing=call.thing(*due, text=call.arguments["description"]))


def _list_task_changes(call: _OwnCall) -> Iterator[str]:
    if call.has("description"):
        yield call.quote(call.arguments["description"])
    if call.has("due_at"):
        yield call.say(DUE_AT, time=call.time("due_at"))
    if call.has("completed"):
        yield call.say(TICKED if call.arguments["completed"] else OPEN)


def _word_summaries(call: _OwnCall) -> str:
    if call.arguments.get("enabled") is False:
        return call.say(NO_SUMMARIES)
    if call.has("hour"):
        return call.say(SUMMARIES_AT, time=f"{call.arguments['hour']}:00")
    return call.say(SUMMARIES)


def _word_focus(call: _OwnCall) -> str:
    name = call.arguments["name"].strip()
    return call.say(FOCUS, thing=call.quote(name)) if name else call.say(NO_FOCUS)


def _name_event(call: _OwnCall) -> str:
    """Name an event as the calendar returned it, or by the title and days that the call gives for it."""
    if call.has("event_id"):
        return call.item("event_id")
    days = [call.time(name) for name in ("start_date", "end_date") if call.has(name)]
    return call.thing(*days, text=call.arguments.get("event_title", ""))


def _list_event_fields(call: _OwnCall) -> Iterator[str]:
    if call.has("start_time") and call.has("end_time"):
        yield call.say(FROM_TO, start=call.time("start_time"), end=call.time("end_time"))
    else:
        yield from (call.time(name) for name in ("start_time", "end_time") if call.has(name))
    for name in ("location", "description"):
        if call.has(name):
            yield call.quote(call.arguments[name])
    for name, sentence in (
        ("attendees", WITH),
        ("add_attendees", WITH),
        ("remove_attendees", WITHOUT),
        ("set_attendees", ONLY_WITH),
    ):
        if call.arguments.get(name):
            yield call.say(sentence, people=call.people(name))
    if call.arguments.get("set_attendees") == []:
        yield call.say(ALONE)


def _list_event_changes(call: _OwnCall) -> Iterator[str]:
    if call.has("title"):
        yield call.quote(call.arguments["title"])
    yield from _list_event_fields(call)


def _word_new_event(call: _OwnCall) -> str:
    thing = call.thing(*_list_event_fields(call), text=call.arguments["title"])
    return call.say(ADD_EVENT, thing=thing)


def _word_deleted_memories(call: _OwnCall) -> str:
    memories = call.arguments["memories"]
    return call.say(DELETE_MEMORIES, thing=", ".join(call.quote(m["text"]) for m in memories))


_SENTENCES: Mapping[str, Callable[[_OwnCall], str]] = {
    "create_action_item": _word_new_task,
    "update_action_item": lambda call: call.say(
        CHANGE_TASK, thing=call.item("action_item_id"), changes=", ".join(_list_task_changes(call))
    ),
    "remember": lambda call: call.say(REMEMBER, thing=call.quote(call.arguments["fact"])),
    "update_memory": lambda call: call.say(
        CHANGE_MEMORY, thing=call.item("memory_id"), changes=call.quote(call.arguments["fact"])
    ),
    "delete_memories": _word_deleted_memories,
    "delete_conversation": lambda call: call.say(
        DELETE_CONVERSATION, thing=call.item("conversation_id")
    ),
    "save_rule": lambda call: call.say(SAVE_RULE, thing=call.quote(call.arguments["text"])),
    "drop_rule": lambda call: call.say(DROP_RULE, thing=call.quote(call.arguments["text"])),
    "set_recall": lambda call: call.say(RECALL if call.arguments["recalls"] else NO_RECALL),
    "manage_daily_summary": _word_summaries,
    "set_focus_mode": _word_focus,
    "create_calendar_event": _word_new_event,
    "update_calendar_event": lambda call: call.say(
        CHANGE_EVENT, thing=_name_event(call), changes=", ".join(_list_event_changes(call))
    ),
    "delete_calendar_event": lambda call: call.say(DELETE_EVENT, thing=_name_event(call)),
}


# --- what others declare


def list_arguments(
    arguments: Mapping[str, Any], items: Mapping[str, Item], reader: Reader
) -> list[str]:
    """Write each argument on a line, so that none is out of sight behind a long one."""
    return [
        line
        for name, argument in arguments.items()
        for line in _write(name, argument, items, reader)
    ]


def _write(name: str, argument: Any, items: Mapping[str, Item], reader: Reader) -> Iterator[str]:
    """Yield lines of an argument; those after the first are indented, so that they look like no other argument."""
    if argument and isinstance(argument, Mapping | list | tuple):
        parts = argument.items() if isinstance(argument, Mapping) else enumerate(argument, 1)
        for part, member in parts:
            yield from _write(f"{name} {part}", member, items, reader)
        return
    first, *rest = _spell(argument, items, reader).splitlines() or [""]
    yield f"{_to_words(name)}: {first}"
    yield from (f"    {line}" for line in rest)


def _spell(argument: Any, items: Mapping[str, Item], reader: Reader) -> str:
    if isinstance(argument, bool):
        return translate(YES if argument else NO, reader.language)
    if argument is None or argument in ("", [], {}):
        return translate(NOTHING, reader.language)
    text = strip_invisible(str(argument)).replace("`", "’")
    if item := items.get(str(argument)):
        name = translate(QUOTED, reader.language, text=to_plain_text(item.name))
        return ", ".join([name, *map(to_plain_text, item.details)])
    return word_time(text, reader)


def word_time(text: str, reader: Reader) -> str:
    """Word a time with its offset on the reader's clock; any other text stays as it is."""
    try:
        time = datetime.fromisoformat(text) if "T" in text else None
    except ValueError:
        return text
    if time is None or time.tzinfo is None:
        return text
    return describe_time(time, reader.zone, reader.language)


def to_plain_text(text: str) -> str:
    """Return a text of others on one line, without signs that end a quotation, format text or are a link."""
    return " ".join(strip_invisible(text).translate(_PLAIN).split())


def _to_words(name: str) -> str:
    return to_plain_text(name.replace("_", " ").replace("-", " "))
