"""General questions: about the world, not about the life of their owner; pure.

English marks the difference: a question about somebody's life names a person, says "I" or "we",
points at one thing ("the key") or at the past. One about the world speaks of kinds ("a spider",
"turtles"). Where a mark of life is there, the library is searched: a missed search loses the answer.
"""

import re

_QUESTION = re.compile(
    r"""
    (what('s|\ is|\ are|\ causes|\ does)?|which|how|why|when|where|can|could|is|are|do|does|should
    |convert|calculate)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_WORLD = re.compile(
    r"""
    (what('s|\ is|\ are)\ )the\ (capital|population|currency|(square|cube)\ root|(boiling|melting|freezing)\ point)\ of\b
    | (what('s|\ is)\ )the\ difference\ between\ (?!the\b|my\b|our\b)
    | who\ (wrote|painted|composed)\ (the\ )?(?-i:[A-Z])
    | who\ (invented\b|discovered\ (?!the\b))
    | how\ many\ [\w\ ]+\ are\ there\ in\ (an?|one|the\ (world|universe|solar\ system))\b
    | when\ (did|was|were)\ the\ (?-i:[A-Z])
    | how\ (tall|high|deep|far|heavy)\b.*\bis\ (?-i:[A-Z])
    | how\ (do|can|should|would)\ (i|you|one|we)\ (?!(?:\w+\ )+(the|my|our|this|that)\b)(\w+\ )+(an?|to|for|\w+s)\b
    | (write|tell|suggest|recommend)\ (me\ )?(an?|some|any)\ (?!summary|overview|recap|list)
    | (explain|define|translate)\ (?!the\b|what\b|how\b|why\b|(?-i:[A-Z]))
    | (give\ me|any|some)\ ((some|any|an?)\ )?(tips|advice|recipe|idea)s?\ (for|on)\ (?!the\b|(?-i:[A-Z]))
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""General in spite of a name, a "the" or an "I"."""
_LIFE = re.compile(
    r"""
    \b(i|me|my|mine|we|us|our|ours|s?he|him|her|his|hers|yesterday|today|tonight|tomorrow|last|next|this|ago|now
    |did|was|were|had|(has|have)\ been|happen(ed)?|said|told|talk(ed)?|spoke|mention(ed)?|decided|promised
    |(any|some|every)(body|one)|conversations?|meetings?|new)\b
    | \bthe\ (?!\w+est\b|most\b|best\b|sky\b|sea\b|sun\b|moon\b|earth\b|world\b|universe\b|(?-i:[A-Z]))
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NAME = re.compile(r"(?<=[\w,] )[A-Z]\w*(?!\w)")
_PLACE_AT_THE_END = re.compile(r"\b(?:in|of|into) [A-Z]\w+\W*$")
_PERSONAL_WORLD = re.compile(
    r"\b(my|our|mine|yesterday|today|tonight|tomorrow|last|say|said|told|talk(ed)?|spoke|mention(ed)?|decided|promised|conversation|meeting)\b",
    re.IGNORECASE,
)


def is_general(question: str) -> bool:
    """Tell general knowledge and advice from what only the owner's data can answer."""
    text = question.strip()
    if _WORLD.match(text):
        return not _PERSONAL_WORLD.search(text)
    names = _NAME.findall(_PLACE_AT_THE_END.sub("", text))
    return bool(_QUESTION.match(text)) and not _LIFE.search(text) and not names and _has_kind(text)


def _has_kind(text: str) -> bool:
    """Tell whether enough is said to be a question: "What is due?" may mean anything."""
    return len(text.split()) > 2
