"""Tasks and events without a model: what is promised, needed, asked for or scheduled; pure.

A sentence is nominated where it has the form of an example (tasks.json) or names a day in another language than English.
Which mean it, and are no joke, wish, memory or quotation, their meaning tells by the same examples, else their words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from shared.adapters.embedded.offline.calendar import (
    DAY_WORDS,
    OTHER_DAYS,
    Moment,
    drop_relative_days,
    parse_moment,
)
from shared.adapters.embedded.offline.examples import MIN_LIKENESS, Examples
from shared.adapters.embedded.offline.speech import (
    Sentence,
    capitalise,
    collect_sentences,
    compile_words,
    is_meaningful,
    list_terms,
    split_words,
)
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.value import value
from shared.retrieval.denials import measure_denial
from shared.retrieval.negations import has_negation
from shared.retrieval.pronouns import has_pronoun
from shared.retrieval.term_weights import EVERYDAY_WEIGHT
from shared.retrieval.terms import tokenize

Kind = Literal["promise", "need", "request", "none"]
Meanings = Mapping[str, Sequence[float]]
"""What nominated sentences mean, by their words; those that no encoder read are missing."""

MIN_TASK = 0.4
"""So far a task is from what is none, by both measures of the examples together."""
MIN_DENIAL = 0.65
"""So much words lean to those that deny: “No, I'll send it” leans as much, which is why a clause has to say no as well."""
TASKS: tuple[Kind, ...] = ("promise", "need", "request")
_NONE: tuple[Kind, ...] = ("none",)
_ANNOUNCEMENT = re.compile(r"(?P<name>[^\W\d_]+(?: [^\W\d_]+)?)(?:(?:'|’)ll| will)\s+(?P<task>.+)")
"""Somebody speaks of what another will do; only a speaker of the transcript counts."""
_CHECKBOX = re.compile(r"(?:(?:[-*+]|\d+[.)])\s*)?\[(?P<mark>[ xX]?)\]\s+(?P<task>.+)")
_MEETING, _CLAUSE_END, _FILLER, _REFUSAL, _CORRECTION = (
    compile_words(name) for name in ("meeting", "clause_end", "filler", "refusal", "correction")
)
_QUESTION_ENDS = ("?", "？", "か。", "か")
_MIN_TASK_WORDS, _MAX_TASK_WORDS, _MAX_NAME_WORDS = 2, 15, 2
_MAX_INTERJECTION = 2
"""Words of a clause like “no problem”."""
_MAX_APART = 10
"""A promise answers a request within so many tasks."""
_MAX_TO_CORRECTION = 4
"""A day is corrected within so many sentences."""
_MAX_PAIR = 2
"""Of so many speakers, each speaks to the other."""


@value
class Task:
    """What may be a task: the words for it, who has to do it, and when.

    The `quotation` is said to the `hearer`; the `reading` is what the examples are compared with, empty of a list.
    """

    place: int
    words: str
    doer: str
    hearer: str
    quotation: str
    reading: str
    has_form: bool
    due_at: datetime | None


@cache
def load_examples() -> Examples[Kind]:
    return Examples(Path(__file__).with_suffix(".json"))


class Talk:
    """A transcript that was said `now`: its sentences, and who speaks; `own` are the owner's labels.

    Somebody who speaks alone and without a name is the owner: it is a note.
    """

    def __init__(
        self, sentences: Sequence[Sentence], now: datetime, owner_names: Iterable[str]
    ) -> None:
        self.sentences = sentences
        self.labels = tuple(dict.fromkeys(sentence.speaker for sentence in sentences))
        names = {name.casefold() for name in owner_names}
        is_note = len(self.labels) == 1 and not is_name(self.labels[0])
        own = {sentence.speaker for sentence in sentences if sentence.is_user}
        self.own = own or {each for each in self.labels if each.casefold() in names or is_note}
        self._now = now
        self._called = {
            name: label
            for label in reversed(self.labels)  # of several of a name, who spoke first
            for name in (label.casefold().split(" ")[0], label.casefold())
        }
        if self.own:
            self._called |= dict.fromkeys(names, next(filter(self.own.__contains__, self.labels)))

    @cached_property
    def days(self) -> Sequence[Moment | None]:
        """What day each sentence names."""
        return [parse_moment(each.text, self._now) for each in self.sentences]

    @cached_property
    def listeners(self) -> Sequence[str]:
        """Who each sentence is spoken to: whoever speaks next, else who spoke before."""
        turns = [(who, len([*said])) for who, said in groupby(s.speaker for s in self.sentences)]
        speakers = ["", *(who for who, _ in turns), ""]
        return [
            speakers[n + 2] or speakers[n] for n, (_, size) in enumerate(turns) for _ in range(size)
        ]

    @cached_property
    def nominees(self) -> Mapping[int, Task]:
        """What may be a task, by its form or by its day, by place."""
        places = range(len(self.sentences))
        return {place: found for place in places if (found := self._nominate(place))}

    def is_refused(self, place: int, by: str = "") -> bool:
        following = self.sentences[place + 1 : place + 2]
        return any(s.speaker == (by or s.speaker) and _REFUSAL.match(s.text) for s in following)

    def describe_owner(self, label: str) -> str:
        """Return whose the task of a speaker is, as answers tell it."""
        if label in self.own:
            return "me"
        return label if self.own or is_name(label) else "unknown"

    def describe(self, task: Task) -> str:
        """Return a task as it was said; where only its place explains it, with who said it to whom, by known names."""
        if not (task.reading and has_pronoun(task.words)):
            return task.words
        who, whom = (
            label if label not in self.own and is_name(label) else ""
            for label in (self.sentences[task.place].speaker, task.hearer)
        )
        said = _shorten(task.quotation)
        said = drop_relative_days(said, mark=" …") if task.due_at else said
        voices = f"{who} → {whom}".strip() if whom else who
        return f"“{said}”{f' ({voices})' if voices else ''}"

    def _nominate(self, place: int) -> Task | None:
        """Find the task of a list, an example's form or opening, what another will do, or a day in another language than English."""
        text, speaker = self.sentences[place].text, self.sentences[place].speaker
        if box := _CHECKBOX.match(text):
            is_open = not box["mark"].strip()
            return self._draft(place, box["task"], doer=speaker, reading="") if is_open else None
        if found := self._find_form(place) or self._find_announcement(place):
            return found
        day, opening = self.days[place], _compile_openings().search(text)
        has_day = day is not None and day.words in OTHER_DAYS
        if text.endswith(_QUESTION_ENDS) or not (has_day or opening):
            return None
        start, has_form = opening.start() if opening else 0, opening is not None
        said = text[start:]
        return self._draft(place, said, doer=speaker, start=start, reading=text, has_form=has_form)

    def _find_form(self, place: int) -> Task | None:
        """Find the first form of a sentence. A need counts of the owner alone, a request if it is not refused."""
        text, speaker = self.sentences[place].text, self.sentences[place].speaker
        kinds = [kind for kind in TASKS if kind != "need" or speaker in self.own]
        found = [(*form, kind) for kind in kinds if (form := _match_form(text, kind))]
        if not found:
            return None
        start, words, kind = min(found, key=lambda form: form[0])
        called = _find_vocative(text[:start], words)
        is_request = kind == "request"
        other = self.listeners[place] if is_request or len(self.labels) <= _MAX_PAIR else ""
        hearer = self._called.get(called.casefold(), called) or other
        doer = hearer if is_request else speaker
        head, comma, tail = words.rpartition(",")
        words = head if comma and called and called in tail else words
        if not doer or (is_request and self.is_refused(place, doer)):
            return None
        return self._draft(place, words, doer=doer, hearer=hearer, start=start, reading=text)

    def _find_announcement(self, place: int) -> Task | None:
        """Find what somebody says that another speaker will do; it is read as that one's own words."""
        announced = _ANNOUNCEMENT.match(self.sentences[place].text)
        doer = self._called.get(announced["name"].casefold()) if announced else None
        if announced is None or doer is None:
            return None
        words, hearer = announced["task"], self.listeners[place]
        return self._draft(place, words, doer=doer, hearer=hearer, reading=f"I will {words}")

    def _draft(
        self, place: int, said: str, *, doer: str, reading: str, hearer: str = "", start: int = 0, has_form: bool = True,
    ) -> Task | None:  # fmt: skip
        """Return what is to be done in the first clause of what was said, if it says enough."""
        text, day = self.sentences[place].text, self.days[place]
        clause = _CLAUSE_END.split(said)[0]
        words = _FILLER.sub("", clause)
        is_short = len(words.split()) < _MIN_TASK_WORDS and said != text
        if reading and (is_short or not any(map(is_meaningful, split_words(words)))):
            return None
        quotation = text[start : text.find(clause, start) + len(clause)]
        return Task(
            place=place, words=_shorten(words), doer=doer, hearer=hearer, quotation=quotation, reading=reading,
            has_form=has_form, due_at=day.at if day else None,
        )  # fmt: skip


def read_talk(data: Mapping[str, Any]) -> Talk:
    """Read a prompt's transcript; one that was read already stands beside it."""
    if "talk" in data:
        talk: Talk = data["talk"]
        return talk
    _, _, clock = data["started_at"].partition(" ")  # behind the weekday
    start = datetime.fromisoformat(clock).replace(tzinfo=ZoneInfo(data["time_zone"]))
    return Talk(collect_sentences(data["transcript"]), start, data.get("owner_names", ()))


def extract_action_items(talk: Talk, meanings: Meanings) -> Iterator[dict[str, str | None]]:
    """Yield tasks in the words that were said, due on the day that was named, with whose they are.

    The words for that day are left out, unless only they tell one task from another.
    """
    tasks = [*_leave_out_repeated(_find_tasks(talk, meanings))]
    told = [talk.describe(task) for task in tasks]
    bare = [
        capitalise(drop_relative_days(text)) if task.due_at else text
        for task, text in zip(tasks, told, strict=True)
    ]
    count = Counter(bare)
    for task, text, shorter in zip(tasks, told, bare, strict=True):
        yield {
            "description": shorter if count[shorter] == 1 else text,
            "due_at": f"{task.due_at:%Y-%m-%d %H:%M}" if task.due_at else None,
            "owner": talk.describe_owner(task.doer),
        }


def extract_events(talk: Talk) -> Iterator[dict[str, str | int]]:
    """Yield statements that name a meeting, a day and an hour; tasks and questions are no events."""
    for place, (sentence, day) in enumerate(zip(talk.sentences, talk.days, strict=True)):
        is_statement = place not in talk.nominees and not sentence.text.endswith("?")
        if day and day.exact and is_statement and _MEETING.search(sentence.text):
            title = " ".join(sentence.text.rstrip(".!").split()[:10])
            yield {"title": title, "start": f"{day.at:%Y-%m-%d %H:%M}", "duration": 30}


def _find_tasks(talk: Talk, meanings: Meanings) -> list[Task]:
    tasks: list[Task] = []
    for place in range(len(talk.sentences)):
        nominee = talk.nominees.get(place)
        if tasks and (moved := _move(tasks[-1], talk, place)):
            tasks[-1] = moved
        elif nominee and _is_meant(nominee, meanings):
            tasks.append(nominee)
    return tasks


def _move(task: Task, talk: Talk, place: int) -> Task | None:
    """Return a task on the day to which a sentence close by moves it ("no, make it Friday"), unless it is refused at once.

    Such a sentence names another day, and nothing else that the task does not name before its next comma.
    """
    text, day, old = talk.sentences[place].text, talk.days[place], talk.days[task.place]
    opening = _CORRECTION.match(text)
    is_near = place - task.place <= _MAX_TO_CORRECTION
    if not (day and old and task.due_at and opening and is_near) or talk.is_refused(place):
        return None
    before, _, after = text[opening.end() :].lower().replace("’", "'").partition(day.words)
    rest = before + after.partition(",")[0]
    if has_negation(rest) or not _list_meanings(rest) <= _list_meanings(task.words):
        return None
    due_at = day.at if day.exact else datetime.combine(day.at, task.due_at.timetz())
    named = rf" *(?:\bon )?{re.escape(old.words)}"
    return replace(task, words=re.sub(named, "", task.words, flags=re.IGNORECASE), due_at=due_at)


def _is_meant(nominee: Task, meanings: Meanings) -> bool:
    """Tell a task from what only sounds like one, by meaning, else by the words of its form."""
    examples = load_examples()
    if not nominee.reading:
        return True  # it stands in a list
    if vector := meanings.get(nominee.reading):
        if _may_deny(nominee.reading) and measure_denial(vector) >= MIN_DENIAL:
            return False
        leaning = 2 * examples.table.lean(vector, to=TASKS, against=_NONE) - 1
        return leaning + examples.table.discern(vector, to=TASKS) >= MIN_TASK
    kind, likeness = examples.compare_words(nominee.reading)
    return kind in TASKS if likeness >= MIN_LIKENESS else nominee.has_form


def _may_deny(text: str) -> bool:
    """Tell whether a clause says no, and more; “don't forget” does not. Words of some languages mean something else in others."""
    clauses = (clause for clause in re.split("[,;:、]", text) if has_negation(clause))
    return any(len(tokenize(clause)) > _MAX_INTERJECTION for clause in clauses)


def _find_vocative(before: str, after: str) -> str:
    """Return the name by which somebody is called, right before a request or at the end of it; empty without any."""
    for part in (before.rstrip(" ,"), after if "," in after else ""):
        words = [
            word
            for word in split_words(part.rpartition(",")[2])
            if list_terms(word, above=EVERYDAY_WEIGHT) and word.lower() not in DAY_WORDS
        ]
        if 0 < len(words) <= _MAX_NAME_WORDS and all(word[0].isupper() for word in words):
            return " ".join(words)
    return ""


def _match_form(text: str, kind: Kind) -> tuple[int, str] | None:
    """Return where the first form of a kind begins, and the words in its open place; those of Japanese are whole."""
    found = _compile_forms(kind).search(text)
    return (found.start(), " ".join(filter(None, found.groups()))) if found else None


@cache
def _compile_forms(kind: Kind) -> re.Pattern[str]:
    """Compile how the examples of a kind open, what stands behind their verb, and how they end."""
    marked = [text for label, text in load_examples().marked if label == kind and "[" in text]
    parts = [re.split(r"[\[\]]", text.lstrip("¿")) for text in marked]
    openings = {each[0].strip(" ,") for each in parts if each[0].strip()}
    infixes = {each[2].strip() for each in parts if len(each) > 3}
    endings = {each[2].strip() for each in parts if not each[0] and len(each) == 3}
    forms = [rf"(?<![\w'’])(?:{_join(openings)})(?:(?<=['’])|,?\s+)(.+)"]
    forms += [rf"^(\w+) (?:{_join(infixes)}) (.+)"] if infixes else []
    forms += [rf"^(.*(?:{_join(endings)})[。.？?]?)$"] if endings else []
    return re.compile("|".join(forms), re.IGNORECASE)


@cache
def _compile_openings() -> re.Pattern[str]:
    """Compile the first two words of whole promises that name no day: "Ich hole", "J'apporte"."""
    promises = (text for label, text in load_examples().marked if label == "promise")
    whole = [text for text in promises if "[" not in text and drop_relative_days(text) == text]
    openings = {found[0] for text in whole if (found := re.match(r"\S+['’]\S+|\S+ \S+", text))}
    return re.compile(rf"(?:^|(?<=, ))(?:{_join(openings)})(?!\w)", re.IGNORECASE)


def _join(texts: set[str]) -> str:
    """Return alternatives, the longest first; an apostrophe is straight or curly."""
    escaped = (re.escape(text).replace("'", "['’]") for text in sorted(texts, key=len)[::-1])
    return "|".join(escaped)


def _leave_out_repeated(tasks: Sequence[Task]) -> Iterator[Task]:
    """Leave out what another task says as well, as a promise does of a request; a day is kept, and a list.

    A promise that only points back ("Das übernehme ich") says what the sentence before it asks of who makes it.
    """
    words = [list_terms(task.words) for task in tasks]
    for n, task in enumerate(tasks):
        near = range(max(0, n + 1 - _MAX_APART), min(len(tasks), n + _MAX_APART))
        before = tasks[n - 1] if n else task
        is_asked = (before.place + 1, before.doer) == (task.place, task.doer)
        if is_asked and len(words[n]) <= _MIN_TASK_WORDS and has_pronoun(task.words):
            continue
        if not task.reading or not any(
            (words[n] < words[m] or (words[n] == words[m] and n < m))
            and (task.doer, task.due_at or tasks[m].due_at) == (tasks[m].doer, tasks[m].due_at)
            for m in near
        ):
            yield task


def _list_meanings(text: str) -> set[str]:
    return set(filter(is_meaningful, split_words(text.lower())))


def _shorten(text: str) -> str:
    return capitalise(" ".join(text.split()[:_MAX_TASK_WORDS]).rstrip(" .,:;!?–-。"))
