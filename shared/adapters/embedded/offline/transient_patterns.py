"""Transient patterns: how English marks words that are not meant to last; matched in any case.

They are plain text, because a cold start would pay for compiling them; `re` caches the compiled ones.
"""


def _any(*patterns: str) -> str:
    return "(?:" + "|".join(patterns) + ")"


def _word(*patterns: str) -> str:
    return rf"\b{_any(*patterns)}\b"


CLAUSE = r"\s*[,;:–—]\s+|\s(?:and|but|because)\s"
"""Where a sentence is cut into clauses."""
LAUGH = r"(?:ha|he|ah|lol|oh|hi)+\W*"

_NO = r"(?:(?:no|nah|nope|ha\w*|well|oh|ok(?:ay)?|sorry)\b[\s,.!…]+)*"
TAKEN_BACK = _NO + _any(
    r"(?:i['’]m |i am )?(?:just |only )?(?:kidding|joking)\b(?! aside)",
    r"(?:it|that)(?:['’]s| is| was) (?:just |only )?a joke",
    r"scratch that|wait,? no|no,? wait|no,? sorry|sorry,? (?:i mean|no)\b|i take that back",
)
"""How a correction or the end of a joke begins."""
JEST = _word("just kidding", "only joking")

_NOW = _any(
    r"for now|for the (?:time being|moment)|at the moment|temporarily",
    r"until (?:i|we) find|just for (?:this|a|the) (?:week|month|few|couple|summer)",
)
FOR_NOW = _word(_NOW)
BARE_FOR_NOW = (
    rf"(?:(?:at least|just|only|but|and|well|that's)\W+)*{_NOW}\W*(?:anyway|at least)?\W*"
)
"""A clause that says nothing else."""

SUPPOSED = (
    r"(?:(?:just|ok(?:ay)?|so)[\s,]+)*"
    r"(?:suppose|let['’]s (?:say|pretend|imagine)|imagine (?:that )?(?:i|we|you)\b|what if)\b"
)
"""How a supposition begins; the next sentence belongs to it."""
UNREAL = _word(
    r"(?<!ed )(?<!know )(?<!sure )(?<!see )(?<!ask )(?<!ing )if (?:i|we) (?:were|was|had|lived|worked|won|could|owned|spoke|moved|ever)\b(?! you\b)",
    r"(?:suppose|pretend|imagine) (?:that )?(?:i|we)(?:['’](?:m|re|d))?|let['’]s (?:say|pretend) (?:i|we)|what if",
    r"i wish (?:i|we|my)|in another life",
)
WOULD = _word(
    r"(?:i|we)(?:['’]d| would) (?:be|have|live|move|work|buy|own|become|marry|speak)",
)

STATED = r"(?:(?:well|so|but|and|yes|no|oh)[\s,]+)*(?:i|we|my|our)\b[^?]*(?=,)"
"""The statement before a question tag: "I'm a nurse, okay?"."""

_SPOKE = r"(?:said|says|goes|went|wrote|texted|shouted|sings|(?:was|is|were) like|told me)"
QUOTATION_BEFORE = (
    rf"(?<!\bi )\b{_SPOKE}\s*[,:]?\s*[\"“'](?!\s*$).*|(?<!\bi )\b{_SPOKE}\s*[,:]\s*[\"“']?\s*$"
)
QUOTATION_AFTER = r"[^\"”“]*[\"”“]\s*[,.]?\s*(?!i\b)(?:\w+ ){0,2}(?:said|says)\b"

_MAYBE = (
    r"maybe|perhaps|probably|possibly|apparently|i might|"
    r"(?:i['’]m |i am )?not sure (?:if|whether)|i wonder"
)
_THINK = r"i (?:think|guess|suppose|assume)"
GUESS = _word(
    _MAYBE,
    rf"{_THINK} (?:that )?(?:i|my|we)\b",
    r"(?<=\w )i (?:think|guess|suppose)$",
)
BARE_GUESS = rf"(?:\w+\W+)?(?:{_MAYBE}|{_THINK})(?: that)?\W*"
"""A clause that says nothing else."""
