"""Tasks and events without a model: sentences that promise, need, ask for or schedule something."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from shared.adapters.embedded.offline.calendar import drop_relative_days, parse_moment
from shared.adapters.embedded.offline.cast import Cast, build_cast, find_vocative, restate
from shared.adapters.embedded.offline.day_corrections import correct_day
from shared.adapters.embedded.offline.speech import Sentence, is_meaningful, split_words
from shared.domain.value import positional_value

_COMMITMENT_TEXT = r"i(?:'|’)ll|i will|i promise to"
_NEED_TEXT = (
    r"(?:i|we)(?: (?:also|still|really|just))? (?:need to|have to|must|should)|i(?:'|’)ve(?: still)? got to|i gotta"
    r"|let me|remind me to|remember to|don(?:'|’)t forget to"
)
_COMMITMENT = re.compile(rf"\b(?:{_COMMITMENT_TEXT})\s+(.+)", re.IGNORECASE)
_PROMISE = re.compile(rf"\b(?:{_COMMITMENT_TEXT}|{_NEED_TEXT})\s+(.+)", re.IGNORECASE)
_PROMISED_THING = re.compile(r"\b(i promise) (?=you (?:an?|the|my|our|your)\b)", re.IGNORECASE)
_REQUEST = re.compile(
    r"\b(?:(?:can|could|would|will) you(?! ever\b)(?: please)?|please|you need to|you have to"
    r"|don(?:'|’)t forget to|make sure (?:to|you)|remember to)\s+(.+)",
    re.IGNORECASE,
)
_ANNOUNCEMENT = re.compile(r"(?P<name>[^\W\d_]+(?: [^\W\d_]+)?)(?:(?:'|’)ll| will)\s+(?P<task>.+)")
"""Somebody speaks of what another will do; only a speaker of the transcript counts."""
_CHECKBOX = re.compile(r"(?:(?:[-*+]|\d+[.)])\s*)?\[(?P<mark>[ xX]?)\]\s+(?P<task>.+)")
_MEETING = re.compile(
    r"\b(?:meet(?:ing)?|appointment|dinner|lunch|breakfast|call|interview|flight|train|party|"
    r"lesson|class|concert|wedding|birthday|demo|review|workshop|game|match)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[!?;]|,? (?:because|but|so that|if that|okay|right)\b|, (?:so|then)\b"
    r"|(?:,| and) (?:i|you|we|he|she|they)\b",
    re.IGNORECASE,
)
_FILLER = re.compile(r"^(?:(?:also|just|please|then)\s+)+", re.IGNORECASE)
_REFUSAL = re.compile(r"(?:no|sorry)\b|.*\b(?:can(?:'|’)t|cannot|won(?:'|’)t)\b", re.IGNORECASE)
_NON_TASK_VERB_TEXT = (
    "not never be see hear feel think believe understand want like hate guess say admit tell go have"
    " know remember let explain show assume just"
)
_NON_TASK_VERBS = frozenset(_NON_TASK_VERB_TEXT.split())
"""Verbs of states, of the senses and of speech: they say or ask how things are, not what to do."""
_MAX_OPENING_WORDS = 2
_MIN_TASK_WORDS = 2
_MAX_TASK_WORDS = 15
_MAX_APART = 10
"""A promise answers a request within so many tasks."""
_MAX_TO_CORRECTION = 4
"""A day is corrected within so many sentences."""
_DETERMINERS = frozenset(("a", "an", "the", "my"))
_MAX_PAIR = 2
"""Of so many speakers, each speaks to the other."""


@positional_value
class Task:
    """What is to be done, and the label or name of who has to do it."""

    description: str
    doer: str
    due_at: datetime | None = None
    is_listed: bool = False


def extract_action_items(
    sentences: Sequence[Sentence], now: datetime, owner_names: Sequence[str] = ()
) -> Iterator[dict[str, str | None]]:
    """Yield tasks in the owner's words, without "I'll", due on the day that was named, with whose they are."""
    cast = build_cast(sentences, owner_names)
    tasks = [*_leave_out_repeated(_find_tasks(sentences, cast, now))]
    for task in tasks:
        yield {
            "description": _drop_day(task, tasks),
            "due_at": f"{task.due_at:%Y-%m-%d %H:%M}" if task.due_at else None,
            "owner": cast.describe_owner(task.doer),
        }


def _leave_out_repeated(tasks: Sequence[Task]) -> Iterator[Task]:
    for place, task in enumerate(tasks):
        others = tasks[place + 1 : place + _MAX_APART]
        earlier = tasks[max(0, place + 1 - _MAX_APART) : place]
        is_repeated = any(_repeats(later, task) for later in others)
        if not is_repeated and not any(_points_back(task, other) for other in earlier):
            yield task


def _drop_day(task: Task, tasks: Sequence[Task]) -> str:
    """Return what is to be done without the words for its day, where no other task is called the same."""
    if task.due_at is None:
        return task.description
    bare = drop_relative_days(task.description)
    same = [other for other in tasks if drop_relative_days(other.description) == bare]
    return bare if same == [task] else task.description


def find_requests(sentences: Sequence[Sentence]) -> Iterator[int]:
    """Yield the places at which others ask the owner for something that is not refused at once."""
    cast = build_cast(sentences)
    for place, sentence in enumerate(sentences):
        task = _find_task(place, sentences, cast) if sentence.speaker not in cast.own else None
        if task and task.doer in cast.own:
            yield place


def _find_tasks(sentences: Sequence[Sentence], cast: Cast, now: datetime) -> list[Task]:
    tasks: list[Task] = []
    last_place = 0
    for place, sentence in enumerate(sentences):
        following = _get_following(place, sentences)
        task = _find_task(place, sentences, cast)
        is_near = tasks and place - last_place <= _MAX_TO_CORRECTION
        if is_near and (moved := _move(tasks[-1], sentence, following, now)):
            tasks[-1] = moved
        elif task:
            due = parse_moment(sentence.text, now)
            tasks.append(replace(task, due_at=due.at if due else None))
            last_place = place
    return tasks


def _move(task: Task, sentence: Sentence, following: Sentence | None, now: datetime) -> Task | None:
    """Return the task on the day to which a sentence moves it, unless it is refused at once."""
    is_refused = following and _REFUSAL.match(following.text)
    if task.due_at is None or is_refused:
        return None
    moved = correct_day(sentence.text, task.description, task.due_at, now)
    return replace(task, description=moved[0], due_at=moved[1]) if moved else None


def _repeats(later: Task, task: Task) -> bool:
    """Tell whether a later task says all of one, as a promise does of a request; a day is kept, and a list."""
    if task.is_listed or task.doer != later.doer or task.due_at not in (None, later.due_at):
        return False
    return _list_words(task) <= _list_words(later)


def _points_back(task: Task, earlier: Task) -> bool:
    """Tell whether a task only takes up an earlier one: "Bring them" after "Bring the payslips"."""
    is_listed = task.is_listed or earlier.is_listed
    if is_listed or task.doer != earlier.doer or task.due_at not in (None, earlier.due_at):
        return False
    words, earlier_words = _list_words(task), _list_words(earlier)
    return words != earlier_words and set(filter(is_meaningful, words)) <= earlier_words


def _list_words(task: Task) -> frozenset[str]:
    return frozenset(split_words(task.description.lower())) - _DETERMINERS


def extract_events(sentences: Sequence[Sentence], now: datetime) -> Iterator[dict[str, str | int]]:
    """Yield statements that name a meeting, a day and an hour; tasks and questions are no events."""
    for sentence in sentences:
        when = parse_moment(sentence.text, now) if _is_meeting(sentence.text) else None
        if when and when.exact:
            title = " ".join(sentence.text.rstrip(".!").split()[:10])
            yield {"title": title, "start": f"{when.at:%Y-%m-%d %H:%M}", "duration": 30}


def _is_meeting(text: str) -> bool:
    has_meeting_word = _MEETING.search(text) is not None
    return (
        has_meeting_word
        and not text.endswith("?")
        and not _PROMISE.search(text)
        and not _REQUEST.search(text)
    )


def _get_following(place: int, sentences: Sequence[Sentence]) -> Sentence | None:
    return sentences[place + 1] if place + 1 < len(sentences) else None


def _find_task(place: int, sentences: Sequence[Sentence], cast: Cast) -> Task | None:
    sentence = sentences[place]
    listener = cast.find_listener(place, sentence.speaker)
    if box := _CHECKBOX.match(sentence.text):
        is_open = not box["mark"].strip()
        return Task(_shorten(box["task"]), sentence.speaker, is_listed=True) if is_open else None
    is_own = sentence.speaker in cast.own
    text = _PROMISED_THING.sub(r"\1 to give ", sentence.text)
    promise = (_PROMISE if is_own else _COMMITMENT).search(text)
    if promise and _is_stated(text, promise):
        return _find_promise(sentence, promise, cast, listener)
    if request := _REQUEST.search(sentence.text):
        following = _get_following(place, sentences)
        return _find_request(sentence, request, following, cast, listener)
    return _find_announcement(sentence, cast, listener)


def _find_promise(
    sentence: Sentence, promise: re.Match[str], cast: Cast, listener: str | None
) -> Task | None:
    """Return what a speaker promises to whoever they call by name, or to the only other speaker."""
    called = find_vocative(promise.string[: promise.start()], promise[1])
    other = listener if len(cast.labels) <= _MAX_PAIR else None
    hearer = cast.find_speaker(called) if called else other
    words = _drop_vocative(promise[1], called)
    return _build_task(words, cast, sentence.speaker, listener=hearer, doer=sentence.speaker)


def _find_request(
    sentence: Sentence,
    request: re.Match[str],
    following: Sentence | None,
    cast: Cast,
    listener: str | None,
) -> Task | None:
    """Return what somebody is asked for and does not refuse at once."""
    called = find_vocative(sentence.text[: request.start()], request[1])
    doer = cast.find_speaker(called) if called else listener
    is_refused = following and following.speaker == doer and _REFUSAL.match(following.text)
    if doer is None or is_refused:
        return None
    words = _drop_vocative(request[1], called)
    return _build_task(words, cast, sentence.speaker, listener=doer, doer=doer)


def _find_announcement(sentence: Sentence, cast: Cast, listener: str | None) -> Task | None:
    announced = _ANNOUNCEMENT.match(sentence.text)
    doer = cast.find_speaker(announced["name"]) if announced else None
    if announced is None or doer not in cast.labels:
        return None
    return _build_task(announced["task"], cast, sentence.speaker, listener=listener, doer=doer)


def _is_stated(text: str, promise: re.Match[str]) -> bool:
    """Tell a promise from a question about one; "I'll do it, okay?" begins with it."""
    is_question = text.rstrip().endswith(("?", "？"))
    return not is_question or len(split_words(text[: promise.start()])) < _MAX_OPENING_WORDS


def _drop_vocative(words: str, called: str | None) -> str:
    """Leave out the name of who is called at the end: "send it, Mara"."""
    head, comma, tail = words.rpartition(",")
    return head if comma and called and called in tail else words


def _build_task(
    words: str, cast: Cast, speaker: str, *, listener: str | None, doer: str
) -> Task | None:
    task = _CLAUSE_END.split(_FILLER.sub("", words))[0].split()
    head = task[0].lower() if task else ""
    if len(task) < _MIN_TASK_WORDS or head in _NON_TASK_VERBS or head.endswith(("n't", "n’t")):
        return None
    if not any(map(is_meaningful, split_words(" ".join(task)))):
        return None
    text = restate(" ".join(task), cast, speaker=speaker, listener=listener, doer=doer)
    return Task(_shorten(text), doer)


def _shorten(text: str) -> str:
    short = " ".join(text.split()[:_MAX_TASK_WORDS]).rstrip(" .,:;!?–-")
    return short[:1].upper() + short[1:]
