"""Memories without a model: lasting facts that the owner states in the first person, in English.

Each quotes the words that it rests on. A sentence that is marked as a guess, a quotation or an idea has
none, even if another of its clauses states a fact.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import zip_longest
from typing import Any

from shared.adapters.embedded.offline.speech import Sentence, split_sentences
from shared.domain.value import positional_value
from shared.library.exclusive_facts import find_exclusive_key

_MAX_FACT_WORDS = 15
_KIN = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fiancée?|daughter|son|twins?|sister|brother|mother|father|"
    r"mom|mum|dad|grand(?:mother|father|ma|pa|son|daughter)|aunt|uncle|cousin|niece|nephew|dog|cat)"
)
_OWNED = (
    rf"(?:{_KIN}s?|kids|child(?:ren)?|grandchild(?:ren)?|godchild(?:ren)?|siblings|horses?|rabbits?|parrots?|"
    r"house|flat|apartment|garden|boat|car|motorbike|farm|shop|company|allergy|asthma|diabetes|epilepsy|"
    r"migraines|dyslexia|adhd|pacemaker|degree|phd|tattoos?)"
)
_STILL = r"(?:(?:also|really|still|actually|currently|now|just) )?"
_AM, _HAVE = r"i(?:['’]m| am)", r"i(?:['’]ve| have)"
_FACTS = (
    (
        rf"{_AM} {_STILL}(?:an? (?!bit|little|mess|fool|while|lot|couple|(?:\w+ )?fan$)|allergic|intolerant|lactose|gluten|from |"
        r"originally|married|divorced|widowed|vegan|vegetarian|diabetic|pregnant|(?:afraid|scared|terrified) of|"
        r"left-handed|colou?r-?blind|deaf|retired|\d{1,3}(?: years old)?$)"
    ),
    r"i (?:was born|grew up|moved to|studied(?! hard| for| all| with)|come from)\b",
    (
        rf"{_HAVE} (?:lived|worked|played|had|been (?:an? |married|divorced|sober|vegan|vegetarian|retired|living|"
        r"working (?:at|for|as|in)|teaching|playing the)\b)(?=.* (?:since|for) )"
    ),
    rf"{_HAVE} (?:got )?(?:[\w-]+ ){{0,3}}{_OWNED}\b",
    (
        r"i (?:(?:don['’]t|do not) (?:eat|drink|smoke|drive|like|speak)|(?:can['’]t|cannot) (?:eat|drink|swim|drive|stand)|"
        r"never (?:eat|drink|smoke)\b)"
    ),
    (
        rf"i {_STILL}(?:live (?:in|at|with|on|near|alone|by|very)\b|work (?:at|for|as|in|with)\b|teach\b|coach\b|"
        r"(?:play|speak|own|collect|run|volunteer|believe in|sing in)\b(?! (?:out|late|it)\b))"
    ),
    (
        rf"i {_STILL}(?:prefer|love|hate|like|enjoy)\b(?! (?:when|how|what|to (?:see|go|have|know|say|think)|all|hearing|"
        r"seeing|the (?:way|idea|sound|feeling|thought|taste|look|smell))\b)"
    ),
    (
        rf"my (?:\w+ )?{_KIN}(?:['’]s \w+)?(?: (?-i:[A-Z]\w+))? (?:is|was|are|has|works|lives|plays|teaches|studies|runs|"
        r"speaks|comes from|died)\b(?! (?:\w+ing|here|there|late|tired|sick|ill|ready|right|home|at|on|in (?:the|a))\b)"
    ),
    r"my (?:(?:full )?name is|birthday is|favou?rite \w+(?: \w+)? (?:is|are)|blood type is|job is|hobby is)",
)
"""How a clause with a lasting fact begins."""
_RESTATED = (
    (rf"^({_AM}|{_HAVE}|i) (?:also|really|still|actually|currently|now|just) ", r"\1 "),
    (rf"^{_AM}\b", "User is"),
    (rf"^{_HAVE}(?: got)?\b", "User has"),
    (r"^i (?:don['’]t|do not)\b", "User doesn't"),
    (r"^i (?:can['’]t|cannot)\b", "User can't"),
    (r"^i (was|grew|moved|studied)\b", r"User \1"),
    (r"^i (never )?(teach|coach)\b", r"User \1\2es"),
    (r"^i (never )?(\w+)", r"User \1\2s"),
    (r"^my\b", "User's"),
    (r"\b(since|when) i was\b", r"\1 they were"),
    (r"\bmy\b", "their"),
)
"""What a clause says in the third person, of "User"."""
_OPENING = r"(?:(?:and|but|so|because|since|as|well|yes|yeah|no|oh|actually|though|also) )+"
"""Words before a fact that add nothing to it."""
_OTHER_STATEMENT = (
    r"(?:i|we|you|he|she|it|they|that|this|there|then|so|but|because|since|although|though|which|who|my|"
    r"your|remember|right|ok(?:ay)?|can|could|do|does|is|are|what|where|how|please|let|just|if|when)\b"
)
"""How a clause begins that says something else."""
_CLAUSE = rf"(?<!\s)\s*[;:–—]\s+|(?:,|,?(?<!\s)\s+(?:and|but|because))\s+(?={_OTHER_STATEMENT})"
_UNFIT = (
    r"\?$|\b(?:today|tonight|tomorrow|yesterday|right now|this (?:week|morning|evening|afternoon)|next week"
    r"|i|me|myself|mine|we|us|our|you|your|it|this|that|these|those|him|her|them)\b"
)
"""What does not last, needs a listener who was there, or has a person that no rule changes."""
_TRANSIENT = (
    r"\b(?:for now|for the (?:time being|moment)|at the moment|temporarily"
    r"|if (?:i|we) (?:were|was|had|lived|worked|won|could|owned|spoke|moved|ever)"
    r"|(?:suppose|pretend|imagine) (?:that )?(?:i|we)|let['’]s (?:say|pretend)|what if|i wish"
    r"|maybe|perhaps|probably|possibly|apparently|i might|not sure|i wonder|i (?:think|guess|assume)"
    r"|(?:said|says|goes|went|wrote|(?:was|is|were) like|told me)\s*[,:])(?!\w)"
)
"""How a sentence is marked that holds for now, or is an idea, a guess or a quotation."""
_TAKEN_BACK = (
    r"(?:(?:no|nah|well|oh|ok(?:ay)?|sorry|ha\w{0,9})\b[\s,.!…]{1,9}){0,5}(?:(?:i['’]m |i am )?(?:just |only )?"
    r"(?:kidding|joking)\b|(?:it|that)(?:['’]s| is| was) (?:just |only )?a joke|scratch that|wait,? no"
    r"|no,? wait|no,? sorry|sorry,? (?:i mean|no)\b|i take that back)"
)
"""How a correction or the end of a joke begins."""


@positional_value
class Fact:
    """A fact in the third person, and the owner's words for it."""

    content: str
    evidence: str


def extract_memories(all_sentences: Iterable[Sentence]) -> list[dict[str, Any]]:
    """Extract facts from the owner's sentences; a transcript that marks no owner has none."""
    own = [sentence for sentence in all_sentences if sentence.is_user]
    return [
        {
            "segment": sentence.segment,
            "evidence": fact.evidence,
            "kind": "lasting",
            "content": fact.content,
            "exclusive_key": find_exclusive_key(fact.content),
        }
        for sentence, following in zip_longest(own, own[1:])
        for fact in extract_facts(sentence.text)
        if _is_lasting(sentence.text, following.text if following else "")
    ]


def find_text_facts(data: Mapping[str, Any]) -> dict[str, Any]:
    """Find what a text says in the first person, which is taken for its owner's."""
    sentences = [
        Sentence(text=text, segment=0, is_user=True, speaker="")
        for text in split_sentences(data["text"])
    ]
    facts = extract_memories(sentences)
    return {"facts": [{"content": f["content"], "evidence": f["evidence"]} for f in facts]}


def _is_lasting(text: str, following: str) -> bool:
    """Tell whether a sentence is meant, and not taken back by itself or by the owner's next one."""
    marks = _compile(_TRANSIENT), _compile(rf"[,;] {_TAKEN_BACK}")
    is_marked = any(mark.search(text) for mark in marks)
    return not is_marked and not _compile(_TAKEN_BACK).match(following)


def extract_facts(sentence: str) -> Iterator[Fact]:
    """Yield the facts in a sentence, one a clause."""
    for clause in _compile(_CLAUSE).split(sentence.rstrip(" .!…")):
        opening = _compile(_OPENING).match(clause)
        quote = clause[opening.end() :] if opening else clause
        if _compile("|".join(_FACTS)).match(quote):
            content = quote
            for words, restated in _RESTATED:
                content = _compile(words).sub(restated, content)
            if len(content.split()) <= _MAX_FACT_WORDS and not _compile(_UNFIT).search(content):
                yield Fact(content, quote)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compile at first use: a cold start should not pay for it."""
    return re.compile(pattern, re.IGNORECASE)
