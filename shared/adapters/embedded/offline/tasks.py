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

from shared.adapters.embedded.offline.calendar import (
    DAY_WORDS,
    OTHER_DAYS,
    Moment,
    drop_relative_days,
    parse_moment,
    parse_start,
)
from shared.adapters.embedded.offline.examples import MIN_LIKENESS, Examples
from shared.adapters.embedded.offline.speech import (
    PRONOUNS,
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
from shared.retrieval.denials import measure_denial
from shared.retrieval.negations import has_negation
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
    r"(?:(?:oh|well|okay),? )?(?:no|wait|sorry|actually|rather)\b(?:,? wait\b)?(?:,? please\b)?(?!.*\?$)"
    r"|(?=.*\bmake (?:it|that)\b)",
    re.IGNORECASE,
)
_QUESTION_ENDS = ("?", "？", "か。", "か")
_MIN_TASK_WORDS, _MAX_TASK_WORDS, _MAX_NAME_WORDS = 2, 15, 2
_MAX_INTERJECTION = 2
"""Words of a clause like “no problem”."""
_MAX_APART = 10
"""A promise answers a request within so many tasks."""
_MAX_TO_CORRECTION = 4
"""A day is corrected within so many sentences."""
_UNTOLD = PRONOUNS | {"a", "an", "the"}
_MAX_PAIR = 2
"""Of so many speakers, each speaks to the other."""


@value
class Nominee:
    """A sentence that may hold a task: the words for it, which a form opens at `start`, and who has to do it.

    The `reading` is what the examples are compared with.
    """

    text: str
    words: str
    doer: str
    speaker: str
    reading: str
    hearer: str = ""
    start: int = 0
    has_form: bool = True


@value
class Task:
    """What is to be done in the words that were said, and the label or name of who has to do it.

    A `description` quotes them with who says them to whom, where only their place explains them.
    """

    words: str
    doer: str
    description: str = ""
    due_at: datetime | None = None
    is_listed: bool = False


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
    def nominees(self) -> Mapping[int, Nominee]:
        """The sentences that may hold a task, by their form or by their day, by place."""
        places = range(len(self.sentences))
        return {place: found for place in places if (found := self._nominate(place))}

    def describe_owner(self, label: str) -> str:
        """Return whose the task of a speaker is, as answers tell it."""
        if label in self.own:
            return "me"
        return label if self.own or is_name(label) else "unknown"

    def move(self, task: Task, place: int) -> Task | None:
        """Return a task on the day to which a sentence moves it ("no, make it Friday"), unless it is refused at once.

        Such a sentence names another day, and nothing else that the task does not name before its next comma.
        """
        spoken, day = self.sentences[place].text, self.days[place]
        opening = _CORRECTION.match(spoken)
        if not task.due_at or not day or not opening or self._is_refused(place):
            return None
        before, _, after = spoken[opening.end() :].lower().replace("’", "'").partition(day.words)
        rest = before + after.partition(",")[0]
        if has_negation(rest) or not _list_meanings(rest) <= _list_meanings(task.words):
            return None
        due_at = day.at if day.exact else datetime.combine(day.at, task.due_at.timetz())
        old = parse_moment(task.words, self._now)
        named = rf" *(?:\bon )?{re.escape(old.words)}" if old else "(?!)"
        words = re.sub(named, "", task.words, flags=re.IGNORECASE)
        return replace(task, words=words, due_at=due_at)

    def _is_refused(self, place: int, by: str = "") -> bool:
        following = self.sentences[place + 1 : place + 2]
        return any(s.speaker == (by or s.speaker) and _REFUSAL.match(s.text) for s in following)

    def _nominate(self, place: int) -> Nominee | None:
        sentence, day = self.sentences[place], self.days[place]
        if _CHECKBOX.match(sentence.text):
            return None
        nominee = self._find_form(place) or self._find_announcement(place)
        if nominee:
            return nominee if day or has_content(nominee.words) else None
        is_asked = sentence.text.endswith(_QUESTION_ENDS)
        if day is None or day.words not in OTHER_DAYS or is_asked:
            return None
        text, speaker = sentence.text, sentence.speaker
        return Nominee(
            text=text, words=text, doer=speaker, speaker=speaker, reading=text, has_form=False
        )

    def _find_form(self, place: int) -> Nominee | None:
        """Find the first form of a sentence. A need counts of the owner alone, a request if it is not refused."""
        text, speaker = self.sentences[place].text, self.sentences[place].speaker
        kinds = [kind for kind in TASKS if kind != "need" or speaker in self.own]
        found = [(*form, kind) for kind in kinds if (form := _match_form(text, kind))]
        if not found:
            return None
        start, words, kind = min(found, key=lambda form: form[0])
        called = _find_vocative(text[:start], words)
        listener = self.listeners[place]
        other = listener if kind == "request" or len(self.labels) <= _MAX_PAIR else ""
        hearer = self._called.get(called.casefold(), called) or other
        doer = hearer if kind == "request" else speaker
        head, comma, tail = words.rpartition(",")
        words = head if comma and called and called in tail else words
        if not doer or (kind == "request" and self._is_refused(place, doer)):
            return None
        return Nominee(
            text=text, words=words, start=start, doer=doer, speaker=speaker, hearer=hearer,
            reading=text,
        )  # fmt: skip

    def _find_announcement(self, place: int) -> Nominee | None:
        """Find what somebody says that another speaker will do; it is read as that one's own words."""
        text = self.sentences[place].text
        announced = _ANNOUNCEMENT.match(text)
        doer = self._called.get(announced["name"].casefold()) if announced else None
        if announced is None or doer is None:
            return None
        return Nominee(
            text=text, words=announced["task"], doer=doer, speaker=self.sentences[place].speaker,
            hearer=self.listeners[place], reading=f"I will {announced['task']}",
        )  # fmt: skip

    def build_task(self, nominee: Nominee, due: Moment | None) -> Task | None:
        """Return what is to be done as it was said; the whole clause where a pronoun stands in it."""
        said, due_at = nominee.text, due.at if due else None
        clause = _CLAUSE_END.split(nominee.words)[0]
        words = _FILLER.sub("", clause)
        is_short = len(words.split()) < _MIN_TASK_WORDS and nominee.words != said
        if is_short or not any(map(is_meaningful, split_words(words))):
            return None
        task = Task(words=_shorten(words), doer=nominee.doer, due_at=due_at)
        if not has_pronoun(words):
            return task
        quotation = _shorten(said[nominee.start : said.find(clause, nominee.start) + len(clause)])
        quotation = drop_relative_days(quotation, mark=" …") if due else quotation
        return replace(task, description=f"“{quotation}”{self._describe_voices(nominee)}")

    def _describe_voices(self, nominee: Nominee) -> str:
        """Tell who said something to whom, by the names that are known; the owner is left out."""
        who, whom = (
            label if label not in self.own and is_name(label) else ""
            for label in (nominee.speaker, nominee.hearer)
        )
        voices = f"{who} → {whom}".strip() if whom else who
        return f" ({voices})" if voices else ""


def read_talk(data: Mapping[str, Any]) -> Talk:
    """Read a prompt's transcript; one that was read already stands beside it."""
    if "talk" in data:
        talk: Talk = data["talk"]
        return talk
    return Talk(collect_sentences(data), parse_start(data), data.get("owner_names", ()))


def extract_action_items(talk: Talk, meanings: Meanings) -> Iterator[dict[str, str | None]]:
    """Yield tasks in the words that were said, due on the day that was named, with whose they are.

    The words for that day are left out, unless only they tell one task from another.
    """
    tasks = [*_leave_out_repeated(_find_tasks(talk, meanings))]
    bare = [drop_relative_days(task.words) if task.due_at else task.words for task in tasks]
    count = Counter(bare)
    for task, words in zip(tasks, bare, strict=True):
        yield {
            "description": task.description
            or (capitalise(words) if count[words] == 1 else task.words),
            "due_at": f"{task.due_at:%Y-%m-%d %H:%M}" if task.due_at else None,
            "owner": talk.describe_owner(task.doer),
        }


def extract_events(talk: Talk) -> Iterator[dict[str, str | int]]:
    """Yield statements that name a meeting, a day and an hour; tasks and questions are no events."""
    for text, when in zip((s.text for s in talk.sentences), talk.days, strict=True):
        if not (when and when.exact and _MEETING.search(text)) or text.endswith("?"):
            continue
        if not any(_match_form(text, kind) for kind in TASKS):
            title = " ".join(text.rstrip(".!").split()[:10])
            yield {"title": title, "start": f"{when.at:%Y-%m-%d %H:%M}", "duration": 30}


def _find_tasks(talk: Talk, meanings: Meanings) -> list[Task]:
    tasks: list[Task] = []
    last_place = 0
    for place, sentence in enumerate(talk.sentences):
        is_near = tasks and place - last_place <= _MAX_TO_CORRECTION
        if is_near and (moved := talk.move(tasks[-1], place)):
            tasks[-1] = moved
            continue
        nominee, day, task = talk.nominees.get(place), talk.days[place], None
        box = _CHECKBOX.match(sentence.text)
        if box and not box["mark"].strip():
            due_at, words = day.at if day else None, _shorten(box["task"])
            task = Task(words=words, doer=sentence.speaker, is_listed=True, due_at=due_at)
        elif nominee and _is_meant(nominee, meanings):
            task = talk.build_task(nominee, day)
        if task:
            tasks.append(task)
            last_place = place
    return tasks


def _is_meant(nominee: Nominee, meanings: Meanings) -> bool:
    """Tell a task from what only sounds like one, by meaning, else by the words of its form."""
    examples = load_examples()
    if vector := meanings.get(nominee.reading):
        if _may_deny(nominee.text) and measure_denial(vector) >= MIN_DENIAL:
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
        words = [word for word in split_words(part.rpartition(",")[2]) if _may_name(word)]
        if 0 < len(words) <= _MAX_NAME_WORDS and all(word[0].isupper() for word in words):
            return " ".join(words)
    return ""


def _may_name(word: str) -> bool:
    """Tell whether a word may be of a name: it is not of every day, and calls no day."""
    return has_content(word) and word.lower() not in DAY_WORDS


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


def _leave_out_repeated(tasks: Sequence[Task]) -> Iterator[Task]:
    """Leave out what another task says as well, as a promise does of a request; a day is kept, and a list."""
    words = [frozenset(split_words(task.words.lower())) - _UNTOLD for task in tasks]
    for n, task in enumerate(tasks):
        near = range(max(0, n + 1 - _MAX_APART), min(len(tasks), n + _MAX_APART))
        if task.is_listed or not any(
            (words[n] < words[m] or (words[n] == words[m] and n < m))
            and (task.doer, task.due_at or tasks[m].due_at) == (tasks[m].doer, tasks[m].due_at)
            for m in near
        ):
            yield task


def _list_meanings(text: str) -> set[str]:
    return set(filter(is_meaningful, split_words(text.lower())))


def _shorten(text: str) -> str:
    return capitalise(" ".join(text.split()[:_MAX_TASK_WORDS]).rstrip(" .,:;!?–-。"))
