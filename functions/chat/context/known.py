"""Known passages and facts: what was found of the owner's library before a model is asked, as data; pure.

With it a model answers most questions about its owner in one call. A greeting, a question that anybody may ask and
one for an app bring nothing of the library into a turn.

Also called: RAG, context injection, grounding.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from heapq import nlargest
from itertools import accumulate, chain, takewhile
from operator import itemgetter
from typing import Literal
from zoneinfo import ZoneInfo

from functions.chat.context.citations import free_brackets
from functions.chat.context.numbering import Numbering
from shared.domain.chats.arc import Arc
from shared.domain.chats.card import build_card
from shared.domain.conversations.conversation import Conversation
from shared.domain.memories.memory import Memory
from shared.domain.models.model import ModelFacts
from shared.domain.models.tokens import estimate_tokens
from shared.domain.provenance import LIBRARY, describe_origin
from shared.domain.value import value
from shared.retrieval.packing import Passage, TurnScores, pack
from shared.retrieval.question_kinds import QuestionKind
from shared.retrieval.synonyms import list_synonyms
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize
from shared.security.fencing import fence_untrusted, quote_untrusted
from shared.security.visible_text import strip_invisible

MAX_PASSAGE_TOKENS = 1_000
MAX_FACT_TOKENS = 600
"""Of facts, and of what the last stretch of the chats was about."""
MAX_TOKENS = MAX_PASSAGE_TOKENS + MAX_FACT_TOKENS
WINDOW_SHARE = 5
"""Of a small window, no more than this part of it."""
MAX_READING_S = 3
"""What a slow server reads in this time, and no more; its first word waits for it."""
MIN_TOKENS = 800
"""Even the slowest is given so much: without it the model searches, and reads the results of that."""
CHOOSING_PARAMETERS = 1_000_000_000
"""A model of fewer chooses no tool well, and misreads every second passage."""
SHOWN_LINES = 2
"""So many lines of what was said stand below the answer of such a model."""
MAX_LINE_CHARS = 400
"""A longer one is not read at a glance."""
LIKELY_SHARE = 0.35
"""Share of a kind among the nearest examples from which a question is taken to be of it."""
CLEAR_SHARE = 0.5
NEAR_WEIGHT = 8.0
"""Weight of a question's words in a passage, times their share of all its words, from which the passage is near."""
FOLLOW_UP_TERMS = 2
"""A question of no more words that mean something by themselves is read with the one before it."""
MAX_EARLIER_CHARS = 300
_MARGIN = "  "

Kinds = Mapping[QuestionKind, float]
KnownReason = Literal["about the library", "advice", "near by words"]


@value
class Excerpt:
    """A conversation that was found, the scores of its turns, and its passages among the best of all."""

    conversation: Conversation
    turns: TurnScores
    passages: Sequence[Passage] = ()


@value
class Known:
    """What was found for a question, the nearest first, and why it is given; nothing without a reason."""

    excerpts: Sequence[Excerpt] = ()
    facts: Sequence[Memory] = ()
    arc: Arc | None = None
    reason: KnownReason | None = None


NOTHING_KNOWN = Known()


def build_query(question: str, earlier: Sequence[str], kinds: Kinds | None) -> str:
    """Return what to look for: a question that says little by itself follows the one before it, a greeting none."""
    terms = _weigh_terms(question)
    is_brief = not terms if kinds is None else len(terms) <= FOLLOW_UP_TERMS
    is_greeting = kinds is not None and kinds["general"] >= CLEAR_SHARE
    if not is_brief or is_greeting or not earlier:
        return question
    return f"{earlier[0][:MAX_EARLIER_CHARS]}\n{question}"


def says_enough(question: str) -> bool:
    """Tell whether a question has words by which something may be near."""
    return sum(_weigh_terms(question).values()) >= NEAR_WEIGHT


def may_concern(query: str, kinds: Kinds | None) -> bool:
    """Tell whether the library may help with a question; without kinds its words alone can tell."""
    if kinds is None:
        return says_enough(query)
    is_personal = kinds["library"] + kinds["advice"] >= LIKELY_SHARE
    return kinds["action"] < CLEAR_SHARE and (is_personal or says_enough(query))


def select_known(
    query: str,
    kinds: Kinds | None,
    excerpts: Sequence[Excerpt],
    facts: Sequence[Memory],
    arc: Arc | None,
) -> Known:
    """Return what a model is given of what was found, whose passages are the best."""
    about_library = kinds is not None and kinds["library"] >= LIKELY_SHARE
    is_advice = kinds is not None and kinds["library"] + kinds["advice"] >= LIKELY_SHARE
    texts = [_join(excerpt) for excerpt in excerpts]
    near_facts = facts if is_advice else [f for f in facts if is_near(query, [f.content])]
    if about_library or is_near(query, texts):
        return Known(
            excerpts=excerpts,
            facts=near_facts,
            arc=arc if about_library else None,
            reason="about the library" if about_library else "near by words",
        )
    if not near_facts:
        return NOTHING_KNOWN
    return Known(facts=near_facts, reason="advice" if is_advice else "near by words")


def is_near(query: str, texts: Sequence[str]) -> bool:
    """Tell whether one of the texts has so many of the rarer words of a question that it is hardly by chance."""
    terms = _weigh_terms(query)
    total = sum(terms.values())
    found = max((_weigh(terms, set(tokenize(text))) for text in texts), default=0.0)
    return total > 0 and found * found / total >= NEAR_WEIGHT


def _weigh_terms(question: str) -> Mapping[str, float]:
    return {term: weight for term in tokenize(question) if (weight := get_term_weight(term)) > 0}


def _weigh(terms: Mapping[str, float], words: set[str]) -> float:
    return sum(
        weight
        for term, weight in terms.items()
        if term in words or not words.isdisjoint(list_synonyms(term))
    )


def _join(excerpt: Excerpt) -> str:
    title = excerpt.conversation.structured.title
    return "\n".join([title, *(passage.text for passage in excerpt.passages)])


def pack_excerpts(excerpts: Sequence[Excerpt], tokens: int = MAX_PASSAGE_TOKENS) -> list[Excerpt]:
    """Choose the best passages of all, as many as `tokens` hold; the others are left out."""
    transcripts = [(each.conversation.named_segments, each.turns) for each in excerpts]
    packed = zip(excerpts, pack(transcripts, tokens=tokens), strict=True)
    return [replace(each, passages=passages) for each, passages in packed if passages]


def compute_room(model: ModelFacts) -> int:
    """Return the tokens that a model is given at most, by its window and by how fast it reads."""
    room = min(MAX_TOKENS, model.window_tokens // WINDOW_SHARE)
    if model.reads_per_s is None:
        return room
    return min(room, max(MIN_TOKENS, int(model.reads_per_s * MAX_READING_S)))


@value
class KnownText:
    """What is known as a model reads it: one fenced text, empty where nothing is, and its `documents` by number.

    `lines` are what people are shown of it besides, each with its number: the nearest to the question.
    """

    text: str = ""
    documents: Mapping[int, str] = field(default_factory=dict)
    lines: Sequence[str] = ()


NOTHING_WRITTEN = KnownText()


def is_best_without_tools(model: ModelFacts) -> bool:
    """Tell whether a model that has the passages should be offered nothing besides.

    It is too small to choose: a search beside them cost one of half a billion parameters three of eleven right answers.
    Or even the least that it is given takes it longer to read than it should.
    """
    is_slow = model.reads_per_s is not None and model.reads_per_s * MAX_READING_S < MIN_TOKENS
    return is_slow or is_tiny(model)


def is_tiny(model: ModelFacts) -> bool:
    """Tell whether a model's answer should be seen beside what was said: it gets every second one wrong."""
    return model.parameters is not None and model.parameters < CHOOSING_PARAMETERS


def build_known_text(
    known: Known, numbering: Numbering, zone: ZoneInfo, model: ModelFacts
) -> KnownText:
    """Write down what is known, each conversation by its number in the chat.

    It is written as people write: small models answer JSON with JSON.
    """
    room = compute_room(model)
    excerpts = known.excerpts
    if room < MAX_TOKENS:
        excerpts = pack_excerpts(excerpts, room * MAX_PASSAGE_TOKENS // MAX_TOKENS)
    facts = _fit_facts(known, zone, room * MAX_FACT_TOKENS // MAX_TOKENS)
    documents = {
        numbering.assign(build_card(excerpt.conversation)): excerpt for excerpt in excerpts
    }
    described = {n: [*_describe(n, excerpt, zone)] for n, excerpt in documents.items()}
    lines = [
        *chain.from_iterable(described.values()),
        *(["facts:", *facts] if facts else []),
        *_describe_talk(known.arc),
    ]
    if not lines:
        return NOTHING_WRITTEN
    data = free_brackets(strip_invisible("\n".join(lines)))
    texts = {number: "\n".join(of) for number, of in described.items()}
    return KnownText(
        text=fence_untrusted(data, LIBRARY),
        documents=texts,
        lines=[*_list_nearest_lines(documents, zone)] if is_tiny(model) else (),
    )


def _list_nearest_lines(documents: Mapping[int, Excerpt], zone: ZoneInfo) -> Iterator[str]:
    """Yield the lines that are nearest to the question, as people read them."""
    scored = [
        (score, number, segments[turn])
        for number, excerpt in documents.items()
        for segments in [excerpt.conversation.named_segments]
        for turn, score in excerpt.turns.items()
    ]
    short = [each for each in scored if len(each[2].text) <= MAX_LINE_CHARS]
    for _, number, segment in nlargest(SHOWN_LINES, short, key=itemgetter(0)):
        day = documents[number].conversation.started_at.astimezone(zone).date()
        speaker = "" if segment.is_user else f", {segment.speaker}"
        said = free_brackets(strip_invisible(_to_line(f"{day}{speaker}: {segment.text}")))
        yield f"> {said} [{number}]"


def _describe(number: int, excerpt: Excerpt, zone: ZoneInfo) -> Iterator[str]:
    """Yield a line that is ours, and those that others said behind a margin, so that none looks like it."""
    conversation = excerpt.conversation
    title = conversation.structured.title
    day = write_day(conversation.started_at, zone)
    yield f"document {number}: {f'{quote_untrusted(title)}, ' if title else ''}{day}{_name_writer(conversation.app_id)}"
    for place, passage in enumerate(excerpt.passages):
        if place:
            yield f"{_MARGIN}…"
        yield from (f"{_MARGIN}{line}" for line in passage.text.splitlines())


def _fit_facts(known: Known, zone: ZoneInfo, tokens: int) -> list[str]:
    rows = [
        f"{_MARGIN}{_to_line(fact.content)} ({_describe_fact(fact, zone)})"
        f"{_name_writer(fact.app_id)}"
        for fact in known.facts
    ]
    sizes = accumulate(map(estimate_tokens, rows))
    return rows[: sum(1 for _ in takewhile(lambda size: size <= tokens, sizes))]


def _describe_fact(fact: Memory, zone: ZoneInfo) -> str:
    since = f"since {write_day(fact.created_at, zone)}"
    return ", ".join(filter(None, [since, describe_origin(fact.read_kinds)]))


def _describe_talk(arc: Arc | None) -> Iterator[str]:
    if arc is not None and arc.summary:
        origin = describe_origin(arc.read_kinds)
        yield f"last talk{f' ({origin})' if origin else ''}: {quote_untrusted(arc.summary)}"


def _name_writer(app_id: str | None) -> str:
    return ", written by an app, not the owner" if app_id else ""


def _to_line(text: str) -> str:
    return " ".join(text.split())


def write_day(time: datetime, zone: ZoneInfo) -> str:
    """Write a day with its weekday: models reckon from it."""
    local = time.astimezone(zone)
    return f"{local:%A}, {local.day} {local:%B} {local.year}"
