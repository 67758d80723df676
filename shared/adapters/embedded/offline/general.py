"""General questions: about the world, not about the life of their owner; pure.

Only what is plainly general counts: a needless search costs little, a missed one loses the answer.
"""

import re

_GENERAL_QUESTION = re.compile(
    r"""
    what('s|\ is|\ are)\ the\ (capital|population|currency|(square|cube)\ root)\ of\b
    | what('s|\ is)\ the\ (boiling|melting|freezing)\ point\ of\b
    | what\ causes\ (?-i:[a-z]+)\W*$
    | what\ does\ (?-i:[a-z]+)\ mean\b
    | who\ (wrote|painted|composed)\ (the\ )?(?-i:[A-Z])\w*(\ (?-i:[A-Z])\w*)+\W*$
    | who\ invented\b
    | how\ many\ [\w\ ]+\ are\ there\ in\ (an?|one|the\ (world|universe|solar\ system))\b
    | how\ (far|big|old|hot|heavy)\ is\ the\ (earth|moon|sun|universe)\b
    | why\ (is|are|does|do)\ (the\ )?(sky|sea|sun|moon|stars|grass|cats|dogs|birds)\b
    | how\ do(es)?\ an?\ [\w\ ]+\ work\b
    | (explain|define|translate)\ (?!the\b|what\b|how\b|why\b|(?-i:[A-Z]))
    | how\ (do|can|should)\ (i|you|one)\ ((boil|bake|cook|fix|remove|tie)\ an?|learn\ to|prepare\ for\ an?)\b
    | what\ are\ (some\ )?good\ ways\ to\b
    | (give\ me|any|some)\ (tips|advice)\ (for|on)\ (?!the\b|(?-i:[A-Z]))
    | (write|tell)\ (me\ )?an?\ (haiku|poem|limerick|joke|riddle)\b
    | suggest\ an?\ name\ for\ an?\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PERSONAL_WORD = re.compile(
    r"""
    \b(my|mine|me\ about|we|us|our|yesterday|today|tonight|tomorrow|last|next|this|ago
    |say|said|told|talk(ed)?|spoke|mention(ed)?|decided|promised|conversation|meeting)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def is_general(question: str) -> bool:
    """Tell general knowledge and advice from what only the owner's data can answer."""
    return bool(_GENERAL_QUESTION.match(question.strip())) and not _PERSONAL_WORD.search(question)
