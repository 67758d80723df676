"""Tasks and events without a model: what is promised, needed, asked for or scheduled; pure.

A sentence is nominated where it has the form of an example (tasks.json) or names a day in another language than English. Which mean it,
and are no joke, wish, memory or quotation, their meaning tells by the same examples, else their words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from shared.adapters.embedded.offline.calendar import (
    OTHER_DAYS,
    Moment,
    drop_day,
    drop_relative_days,
    parse_moment,
    parse_start,
)
from shared.adapters.embedded.offline.cast import Cast, build_cast, find_vocative
from shared.adapters.embedded.offline.examples import MIN_LIKENESS, Examples
from shared.adapters.embedded.offline.speech import (
    Sentence,
    capitalise,
    collect_sentences,
    has_content,
    has_pronoun,
    is_meaningful,
    split_words,
)
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.value import value

Kind = Literal["promise", "need", "request", "none"]
Meanings = Mapping[str, Sequence[float]]
"""What nominated sentences mean, by their words; those that no encoder read are missing."""

MIN_TASK = 0.4
"""So far a task is from what is none, by both measures of the examples together."""
TASKS: tuple[Kind, ...] = ("promise", "need", "request")
_NONE: tuple[Kind, ...] = ("none",)
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
_CORRECTION = re.compile(
    r"(?:(?:oh|well|okay),? )?(?:no|wait|sorry|actually|rather)\b(?:,? wait\b)?(?:,? please\b)?",
    re.IGNORECASE,
)
_MOVING = re.compile(r"\bmake (?:it|that)\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|cannot|\w+n['’]t)\b", re.IGNORECASE)
_QUESTION_ENDS = ("?", "？", "か。", "か")
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
class Nominee:
    """A sentence that may hold a task: the words for it from `start` on, and who has to do it.

    The `reading` is what the examples are compared with.
    """

    sentence: Sentence
    words: str
    start: int
    doer: str
    hearer: str | None
    reading: str
    has_form: bool = True


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


@cache
def load_examples() -> Examples[Kind]:
    return Examples(Path(__file__).with_suffix(".json"))


class Talk:
    """A transcript that was said `now`: its sentences and its cast."""

    def __init__(
        self,
        sentences: Sequence[Sentence],
        now: datetime,
        owner_names: Iterable[str],
    ) -> None:
        self.sentences = sentences
        self.cast = build_cast(sentences, owner_names)
        self._now = now

    @cached_property
    def days(self) -> Sequence[Moment | None]:
        """What day each sentence names."""
        return [parse_moment(each.text, self._now) for each in self.sentences]

    @cached_property
    def nominees(self) -> Mapping[int, Nominee]:
        """The sentences that may hold a task, by their form or by their day, by place."""
        places = range(len(self.sentences))
        return {place: found for place in places if (found := self._nominate(place))}

    def move(self, task: Task, place: int) -> Task | None:
        """Return a task on the day to which a sentence moves it ("no, make it Friday"), unless it is refused at once.

        Such a sentence names another day, and nothing else that the task does not name before its next comma.
        """
        spoken, moment = self.sentences[place].text, self.days[place]
        opening = None if spoken.endswith("?") else _CORRECTION.match(spoken)
        is_correction = (opening or _MOVING.search(spoken)) and not _NEGATION.search(spoken)
        if task.due_at is None or moment is None or not is_correction:
            return None
        lower = spoken.lower().replace("’", "'")[opening.end() if opening else 0 :]
        before, _, after = lower.partition(moment.words)
        is_else = _list_meanings(before + after.partition(",")[0]) - _list_meanings(task.words)
        following = self.sentences[place + 1] if place + 1 < len(self.sentences) else None
        if is_else or (following and _REFUSAL.match(following.text)):
            return None
        due_at = moment.at if moment.exact else datetime.combine(moment.at, task.due_at.timetz())
        return replace(task, words=drop_day(task.words, self._now), due_at=due_at)

    def _nominate(self, place: int) -> Nominee | None:
        sentence, day = self.sentences[place], self.days[place]
        nominee = _find_form(place, self.sentences, self.cast) or _find_announcement(
            place, self.sentences, self.cast
        )
        if nominee:
            return nominee if day or has_content(nominee.words) else None
        is_asked = sentence.text.rstrip().endswith(_QUESTION_ENDS)
        if day is None or day.words not in OTHER_DAYS or is_asked:
            return None
        return Nominee(
            sentence=sentence, words=sentence.text, start=0, doer=sentence.speaker,
            hearer=None, reading=sentence.text, has_form=False,
        )  # fmt: skip


def read_talk(data: Mapping[str, Any]) -> Talk:
    """Read a prompt's transcript; one that was read already stands beside it."""
    if "talk" in data:
        talk: Talk = data["talk"]
        return talk
    return Talk(collect_sentences(data), parse_start(data), data.get("owner_names", ()))


def extract_action_items(talk: Talk, meanings: Meanings) -> Iterator[dict[str, str | None]]:
    """Yield tasks in the words that were said, due on the day that was named, with whose they are."""
    tasks = [*_leave_out_repeated(_find_tasks(talk, meanings))]
    bare = Counter(drop_relative_days(task.words) for task in tasks)
    for task in tasks:
        yield {
            "description": _describe(task, bare),
            "due_at": f"{task.due_at:%Y-%m-%d %H:%M}" if task.due_at else None,
            "owner": talk.cast.describe_owner(task.doer),
        }


def extract_events(talk: Talk) -> Iterator[dict[str, str | int]]:
    """Yield statements that name a meeting, a day and an hour; tasks and questions are no events."""
    for text, when in zip((s.text for s in talk.sentences), talk.days, strict=True):
        if not (when and when.exact and _MEETING.search(text)) or text.endswith("?"):
            continue
        if not any(_match_form(text, kind) for kind in TASKS):
            title = " ".join(text.rstrip(".!").split()[:10])
            yield {"title": title, "start": f"{when.at:%Y-%m-%d %H:%M}", "duration": 30}


def _is_meant(nominee: Nominee, meanings: Meanings) -> bool:
    """Tell a task from what only sounds like one, by meaning, else by the words of its form."""
    examples = load_examples()
    if vector := meanings.get(nominee.reading):
        leaning = 2 * examples.table.lean(vector, to=TASKS, against=_NONE) - 1
        return leaning + examples.table.discern(vector, to=TASKS) >= MIN_TASK
    kind, likeness = examples.compare_words(nominee.reading)
    return kind in TASKS if likeness >= MIN_LIKENESS else nominee.has_form


def _find_tasks(talk: Talk, meanings: Meanings) -> list[Task]:
    tasks: list[Task] = []
    last_place = 0
    for place, sentence in enumerate(talk.sentences):
        is_near = tasks and place - last_place <= _MAX_TO_CORRECTION
        if is_near and (moved := talk.move(tasks[-1], place)):
            tasks[-1] = moved
            continue
        nominee = talk.nominees.get(place)
        task = _read_checkbox(sentence)
        if nominee and task is None and _is_meant(nominee, meanings):
            task = _build_task(nominee, talk.cast)
        if task:
            due = talk.days[place]
            tasks.append(replace(task, due_at=due.at if due else None))
            last_place = place
    return tasks


def _read_checkbox(sentence: Sentence) -> Task | None:
    box = _CHECKBOX.match(sentence.text)
    if box is None or box["mark"].strip():
        return None
    return Task(words=_shorten(box["task"]), doer=sentence.speaker, is_listed=True)


def _find_form(place: int, sentences: Sequence[Sentence], cast: Cast) -> Nominee | None:
    """Find the first form of a sentence. A need counts of the owner alone, a request if it is not refused."""
    sentence = sentences[place]
    found = [
        (form, kind)
        for kind in TASKS
        if (kind != "need" or sentence.speaker in cast.own)
        and (form := _match_form(sentence.text, kind))
    ]
    if _CHECKBOX.match(sentence.text) or not found:
        return None
    (start, words), kind = min(found, key=lambda pair: pair[0][0])
    called = find_vocative(sentence.text[:start], words)
    listener = cast.listeners[place]
    other = listener if kind == "request" or len(cast.labels) <= _MAX_PAIR else None
    hearer = cast.find_speaker(called) if called else other
    doer = hearer if kind == "request" else sentence.speaker
    if doer is None or (kind == "request" and _is_refused(doer, place, sentences)):
        return None
    return Nominee(
        sentence=sentence, words=_drop_vocative(words, called), start=start, doer=doer,
        hearer=hearer, reading=sentence.text,
    )  # fmt: skip


def _is_refused(doer: str, place: int, sentences: Sequence[Sentence]) -> bool:
    following = sentences[place + 1] if place + 1 < len(sentences) else None
    return bool(following and following.speaker == doer and _REFUSAL.match(following.text))


def _find_announcement(place: int, sentences: Sequence[Sentence], cast: Cast) -> Nominee | None:
    """Find what somebody says that another speaker will do; it is read as that one's own words."""
    sentence = sentences[place]
    announced = _ANNOUNCEMENT.match(sentence.text)
    doer = cast.find_speaker(announced["name"]) if announced else None
    if announced is None or doer is None or doer not in cast.labels:
        return None
    return Nominee(
        sentence=sentence, words=announced["task"], start=0, doer=doer,
        hearer=cast.listeners[place], reading=f"I will {announced['task']}",
    )  # fmt: skip


def _match_form(text: str, kind: Kind) -> tuple[int, str] | None:
    """Return where the first form of a kind begins, and the words in its open place; those of Japanese are whole."""
    opening, infix, ending = _compile_forms(kind)
    found = opening.search(text)
    if (found is None or found.start()) and infix and (inner := infix.match(text)):
        return 0, f"{inner[1]} {inner[2]}"
    if found:
        return found.start(), found["words"]
    return (0, text) if ending and ending.search(text) else None


@cache
def _compile_forms(
    kind: Kind,
) -> tuple[re.Pattern[str], re.Pattern[str] | None, re.Pattern[str] | None]:
    """Compile how the examples of a kind open, what stands behind their verb, and how they end."""
    marked = [text for label, text in load_examples().marked if label == kind and "[" in text]
    parts = [re.split(r"[\[\]]", text.lstrip("¿")) for text in marked]
    openings = {each[0].strip(" ,") for each in parts if each[0].strip()}
    infixes = {each[2].strip() for each in parts if len(each) > 3}
    endings = {each[2] for each in parts if not each[0] and len(each) == 3}
    tail = r"(?:(?<=['’])|,?\s+)(?P<words>.+)"
    return (
        re.compile(rf"(?<![\w'’])(?:{_join(openings)}){tail}", re.IGNORECASE),
        re.compile(rf"(\w+) (?:{_join(infixes)}) (.+)", re.IGNORECASE) if infixes else None,
        re.compile(rf"(?:{_join(endings)})[。.？?]?$") if endings else None,
    )


def _join(texts: set[str]) -> str:
    """Return alternatives, the longest first; an apostrophe is straight or curly."""
    escaped = (re.escape(text).replace("'", "['’]") for text in sorted(texts, key=len)[::-1])
    return "|".join(escaped)


def _drop_vocative(words: str, called: str | None) -> str:
    """Leave out the name of who is called at the end: "send it, Mara"."""
    head, comma, tail = words.rpartition(",")
    return head if comma and called and called in tail else words


def _build_task(nominee: Nominee, cast: Cast) -> Task | None:
    """Return what is to be done as it was said; the whole clause where a pronoun stands in it."""
    said = nominee.sentence.text
    clause = _CLAUSE_END.split(nominee.words)[0]
    words = _FILLER.sub("", clause)
    is_short = len(words.split()) < _MIN_TASK_WORDS and nominee.words != said
    if is_short or not any(map(is_meaningful, split_words(words))):
        return None
    if not has_pronoun(words):
        return Task(words=_shorten(words), doer=nominee.doer)
    end = said.find(clause, nominee.start) + len(clause)
    voices = _describe_voices(nominee.sentence.speaker, nominee.hearer, cast)
    quotation = _shorten(said[nominee.start : end])
    return Task(words=_shorten(words), doer=nominee.doer, quotation=quotation, voices=voices)


def _describe_voices(speaker: str, hearer: str | None, cast: Cast) -> str:
    """Tell who said something to whom, by the names that are known; the owner is left out."""
    known = [
        label if label and label not in cast.own and is_name(label) else ""
        for label in (speaker, hearer)
    ]
    arrow = "→ " if known[1] else ""
    return f" ({f'{known[0]} {arrow}{known[1]}'.strip()})" if any(known) else ""


def _describe(task: Task, all_bare: Mapping[str, int]) -> str:
    """Tell a task without the words for its day, unless only they tell it from another of `all_bare`."""
    if task.quotation:
        quotation = drop_relative_days(task.quotation, mark=" …") if task.due_at else task.quotation
        return f"“{quotation}”{task.voices}"
    if task.due_at is None:
        return task.words
    bare = drop_relative_days(task.words)
    return capitalise(bare) if all_bare[bare] == 1 else task.words


def _leave_out_repeated(tasks: Sequence[Task]) -> Iterator[Task]:
    for place, task in enumerate(tasks):
        later = tasks[place + 1 : place + _MAX_APART]
        earlier = tasks[max(0, place + 1 - _MAX_APART) : place]
        is_repeated = any(_repeats(task, by=other) for other in later)
        if not is_repeated and not any(_repeats(task, by=e, points=True) for e in earlier):
            yield task


def _repeats(task: Task, *, by: Task, points: bool = False) -> bool:
    """Tell whether another task says all of one, as a promise does of a request; a day is kept, and a list.

    One that only `points` back has a pronoun: "Bring them" after "Bring the payslips".
    """
    is_listed = task.is_listed or (points and by.is_listed)
    if is_listed or task.doer != by.doer or task.due_at not in (None, by.due_at):
        return False
    words, others = _list_words(task), _list_words(by)
    if points:
        return has_pronoun(task.words) and _list_meanings(task.words) <= others
    return words <= others


def _list_meanings(text: str) -> set[str]:
    return set(filter(is_meaningful, split_words(text.lower())))


def _list_words(task: Task) -> frozenset[str]:
    return frozenset(split_words(task.words.lower())) - _DETERMINERS


def _shorten(text: str) -> str:
    return capitalise(" ".join(text.split()[:_MAX_TASK_WORDS]).rstrip(" .,:;!?–-。"))
