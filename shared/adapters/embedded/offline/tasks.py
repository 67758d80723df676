"""Tasks and events without a model: sentences that promise, need, ask for or schedule something."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import get_args

from shared.adapters.embedded.offline.calendar import drop_relative_days, parse_moment
from shared.adapters.embedded.offline.cast import Cast, build_cast, find_vocative
from shared.adapters.embedded.offline.day_corrections import correct_day
from shared.adapters.embedded.offline.speech import Sentence, is_meaningful, split_words
from shared.adapters.embedded.offline.task_forms import (
    Form,
    FormKind,
    find_form,
    has_pronoun,
    is_plan,
    tells_to_act,
)
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.value import value

_ANNOUNCEMENT = re.compile(r"(?P<name>[^\W\d_]+(?: [^\W\d_]+)?)(?:(?:'|’)ll| will)\s+(?P<task>.+)")
"""Somebody speaks of what another will do; only a speaker of the transcript counts."""
_CHECKBOX = re.compile(r"(?:(?:[-*+]|\d+[.)])\s*)?\[(?P<mark>[ xX]?)\]\s+(?P<task>.+)")
_MEETING = re.compile(
    r"\b(?:meet(?:ing)?|appointment|dinner|lunch|breakfast|call|interview|flight|train|party|"
    r"lesson|class|concert|wedding|birthday|demo|review|workshop|game|match)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[!?;？！]|,? (?:because|but|so that|if that|okay|right|weil|aber|damit|porque|pero|para que|parce que|mais)\b"
    r"|, (?:so|then|dann)\b|(?:,| and) (?:i|you|we|he|she|they)\b",
    re.IGNORECASE,
)
_FILLER = re.compile(r"^(?:(?:also|just|please|then|bitte|noch|auch|dann)\s+)+", re.IGNORECASE)
_REFUSAL = re.compile(
    r"(?:no|sorry|nein|leider|non|désolée?)\b|いいえ|.*\b(?:can(?:'|’)t|cannot|won(?:'|’)t|kann \S+ ?nicht|no puedo"
    r"|ne peux pas)\b",
    re.IGNORECASE,
)
_MAX_OPENING_WORDS = 2
_MIN_TASK_WORDS = 2
_MAX_TASK_WORDS = 15
_MAX_APART = 10
"""A promise answers a request within so many tasks."""
_MAX_TO_CORRECTION = 4
"""A day is corrected within so many sentences."""
_DETERMINERS = frozenset(("a", "an", "the", "my", "your"))
_MAX_PAIR = 2
"""Of so many speakers, each speaks to the other."""


@value
class Task:
    """What is to be done in the `words` that were said, and the label or name of who has to do it.

    A `quotation` with `voices`, who says it to whom, stands for words that only their place explains.
    """

    words: str
    doer: str
    quotation: str = ""
    voices: str = ""
    due_at: datetime | None = None
    is_listed: bool = False


def extract_action_items(
    sentences: Sequence[Sentence], now: datetime, owner_names: Sequence[str] = ()
) -> Iterator[dict[str, str | None]]:
    """Yield tasks in the words that were said, due on the day that was named, with whose they are."""
    cast = build_cast(sentences, owner_names)
    tasks = [*_leave_out_repeated(_find_tasks(sentences, cast, now))]
    bare = Counter(drop_relative_days(task.words) for task in tasks)
    for task in tasks:
        yield {
            "description": _describe(task, bare),
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


def _describe(task: Task, all_bare: Mapping[str, int]) -> str:
    """Tell a task without the words for its day, unless only they tell it from another of `all_bare`."""
    if task.quotation:
        quotation = drop_relative_days(task.quotation, mark=" …") if task.due_at else task.quotation
        return f"“{quotation}”{task.voices}"
    if task.due_at is None:
        return task.words
    bare = drop_relative_days(task.words)
    return _capitalise(bare) if all_bare[bare] == 1 else task.words


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
        due = parse_moment(sentence.text, now)
        task = _find_task(place, sentences, cast)
        if task is None and due and is_plan(sentence.text):
            task = _find_promise(sentence, Form(0, sentence.text, is_whole=True), cast, None)
        is_near = tasks and place - last_place <= _MAX_TO_CORRECTION
        if is_near and (moved := _move(tasks[-1], sentence, following, now)):
            tasks[-1] = moved
        elif task:
            tasks.append(replace(task, due_at=due.at if due else None))
            last_place = place
    return tasks


def _move(task: Task, sentence: Sentence, following: Sentence | None, now: datetime) -> Task | None:
    """Return the task on the day to which a sentence moves it, unless it is refused at once."""
    is_refused = following and _REFUSAL.match(following.text)
    if task.due_at is None or is_refused:
        return None
    moved = correct_day(sentence.text, task.words, task.due_at, now)
    return replace(task, words=moved[0], due_at=moved[1]) if moved else None


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
    return frozenset(split_words(task.words.lower())) - _DETERMINERS


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
        and not any(find_form(text, kind) for kind in get_args(FormKind))
    )


def _get_following(place: int, sentences: Sequence[Sentence]) -> Sentence | None:
    return sentences[place + 1] if place + 1 < len(sentences) else None


def _find_task(place: int, sentences: Sequence[Sentence], cast: Cast) -> Task | None:
    sentence = sentences[place]
    listener = cast.listeners[place]
    if box := _CHECKBOX.match(sentence.text):
        is_open = not box["mark"].strip()
        words = _shorten(box["task"])
        return Task(words=words, doer=sentence.speaker, is_listed=True) if is_open else None
    if form := _find_intention(sentence, cast):
        return _find_promise(sentence, form, cast, listener)
    if form := find_form(sentence.text, "request"):
        following = _get_following(place, sentences)
        return _find_request(sentence, form, following, cast, listener)
    return _find_announcement(sentence, cast, listener)


def _find_intention(sentence: Sentence, cast: Cast) -> Form | None:
    """Find what a speaker says they will do, or that they have to where they are the owner."""
    kinds: tuple[FormKind, ...] = (
        ("promise", "need") if sentence.speaker in cast.own else ("promise",)
    )
    forms = [form for kind in kinds if (form := find_form(sentence.text, kind))]
    form = min(forms, key=lambda form: form.start, default=None)
    return form if form and _is_stated(sentence.text, form) else None


def _is_stated(text: str, form: Form) -> bool:
    """Tell a promise from a question about one; "I'll do it, okay?" begins with it."""
    is_question = text.rstrip().endswith(("?", "？"))
    return not is_question or len(split_words(text[: form.start])) < _MAX_OPENING_WORDS


def _find_promise(sentence: Sentence, form: Form, cast: Cast, listener: str | None) -> Task | None:
    """Return what a speaker promises to whoever they call by name, or to the only other speaker."""
    called = find_vocative(sentence.text[: form.start], form.words)
    other = listener if len(cast.labels) <= _MAX_PAIR else None
    hearer = cast.find_speaker(called) if called else other
    words = _drop_vocative(form.words, called)
    return _build_task(sentence, replace(form, words=words), cast, sentence.speaker, hearer)


def _find_request(
    sentence: Sentence,
    form: Form,
    following: Sentence | None,
    cast: Cast,
    listener: str | None,
) -> Task | None:
    """Return what somebody is asked for and does not refuse at once."""
    called = find_vocative(sentence.text[: form.start], form.words)
    doer = cast.find_speaker(called) if called else listener
    is_refused = following and following.speaker == doer and _REFUSAL.match(following.text)
    if doer is None or is_refused:
        return None
    words = _drop_vocative(form.words, called)
    return _build_task(sentence, replace(form, words=words), cast, doer, doer)


def _find_announcement(sentence: Sentence, cast: Cast, listener: str | None) -> Task | None:
    announced = _ANNOUNCEMENT.match(sentence.text)
    doer = cast.find_speaker(announced["name"]) if announced else None
    if announced is None or doer not in cast.labels:
        return None
    return _build_task(sentence, Form(0, announced["task"]), cast, doer, listener)


def _drop_vocative(words: str, called: str | None) -> str:
    """Leave out the name of who is called at the end: "send it, Mara"."""
    head, comma, tail = words.rpartition(",")
    return head if comma and called and called in tail else words


def _build_task(
    sentence: Sentence, form: Form, cast: Cast, doer: str, hearer: str | None
) -> Task | None:
    """Return what is to be done as it was said; the whole clause where a pronoun stands in it."""
    clause = _CLAUSE_END.split(form.words)[0]
    words = _FILLER.sub("", clause)
    is_short = len(words.split()) < _MIN_TASK_WORDS and not form.is_whole
    if is_short or not tells_to_act(words) or not any(map(is_meaningful, split_words(words))):
        return None
    if not has_pronoun(words):
        return Task(words=_shorten(words), doer=doer)
    end = sentence.text.find(clause, form.start) + len(clause)
    quotation = _shorten(sentence.text[form.start : end])
    voices = _describe_voices(sentence.speaker, hearer, cast)
    return Task(words=_shorten(words), doer=doer, quotation=quotation, voices=voices)


def _describe_voices(speaker: str, hearer: str | None, cast: Cast) -> str:
    """Tell who said something to whom, by the names that are known; the owner is left out."""
    known = [
        label if label and label not in cast.own and is_name(label) else ""
        for label in (speaker, hearer)
    ]
    arrow = "→ " if known[1] else ""
    return f" ({f'{known[0]} {arrow}{known[1]}'.strip()})" if any(known) else ""


def _shorten(text: str) -> str:
    return _capitalise(" ".join(text.split()[:_MAX_TASK_WORDS]).rstrip(" .,:;!?–-。"))


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]
