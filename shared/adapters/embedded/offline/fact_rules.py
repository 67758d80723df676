"""Fact patterns: how English states lasting facts in the first person, and how to restate them.

They are plain text, matched in any case: a cold start should not pay for compiling them.
"""

_KIN = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fiancée?|daughter|son|twins?|sister|brother|mother|father|"
    r"mom|mum|dad|grand(?:mother|father|ma|pa|son|daughter)|aunt|uncle|cousin|niece|nephew|dog|cat)"
)
_OWNED = (
    rf"(?:{_KIN}s?|kids|child(?:ren)?|grandchild(?:ren)?|godchild(?:ren)?|siblings|horses?|rabbits?|parrots?|"
    r"house|flat|apartment|garden|boat|car|motorbike|farm|shop|company|allergy|asthma|diabetes|epilepsy|"
    r"migraines|dyslexia|adhd|pacemaker|degree|phd|tattoos?)"
)
_STILL = r"(?:also |really |still |actually |currently |now |just )?"

FACTS: tuple[tuple[str, str], ...] = (
    (
        (rf"i(?:['’]m| am) {_STILL}(?=an? (?!bit|little|mess|fool|while|lot|couple|(?:\w+ )?fan$)|allergic|intolerant|"
        r"lactose|gluten|from |originally|married|divorced|widowed|vegan|vegetarian|diabetic|pregnant|"
        r"(?:afraid|scared|terrified) of|left-handed|colou?r-?blind|deaf|retired|\d{1,3}(?: years old)?$)"),
        "User is ",
    ),
    (r"i (was born|grew up|moved to|studied(?! hard| for| all| with))\b", r"User \1"),
    (r"i come from\b", "User comes from"),
    (r"i(?:['’]ve| have) (lived|worked|played|had|been(?= an? | (?:married|divorced|sober|vegan|vegetarian|retired|living|working (?:at|for|as|in)|teaching|playing the)\b))\b(?=.* (?:since|for) )", r"User has \1"),
    (rf"i(?:['’]ve got| have) (?=(?:[\w-]+ ){{0,3}}{_OWNED}\b)", "User has "),
    (r"i (?:don['’]t|do not) (?=eat|drink|smoke|drive|like|speak)", "User doesn't "),
    (r"i (?:can['’]t|cannot) (?=eat|drink|swim|drive|stand)", "User can't "),
    (r"i never (eat|drink|smoke)\b", r"User never \1s"),
    (rf"i {_STILL}(live)(?= (?:in|at|with|on|near|alone|by|very)\b)", r"User \1s"),
    (rf"i {_STILL}(work)(?= (?:at|for|as|in|with)\b)", r"User \1s"),
    (rf"i {_STILL}(play|speak|own|collect|run|volunteer|believe(?= in )|sing(?= in ))\b(?! (?:out|late|it)\b)", r"User \1s"),
    (rf"i {_STILL}(teach|coach)\b", r"User \1es"),
    (
        (rf"i {_STILL}(prefer|love|hate|like|enjoy)\b(?! (?:it|this|that|these|those|you|your|him|her|them|when|"
        r"how|what|to (?:see|go|have|know|say|think)|the (?:way|idea|sound|feeling|thought|taste|look|smell)|all|hearing|seeing)\b)"),
        r"User \1s",
    ),
    (
        (rf"my (?=(?:\w+ )?{_KIN}(?:['’]s \w+)?(?: (?-i:[A-Z]\w+))? (?:is|was|are|has|works|lives|plays|teaches|"
        r"studies|runs|speaks|comes from|died)\b(?! (?:\w+ing|here|there|late|tired|sick|ill|ready|right|home|"
        r"at|on|in (?:the|a))\b))"),
        "User's ",
    ),
    (r"my (?=(?:full )?name is|birthday is|favou?rite \w+(?: \w+)? (?:is|are)|blood type is|job is|hobby is)", "User's "),
)  # fmt: skip
"""How a clause with a lasting fact begins, and the same in the third person, of "User"."""
PRONOUNS = ((r"\bmy\b", "their"), (r"\b(since|when) i was\b", r"\1 they were"))
"""What else is put into the third person, all through the clause."""
OPENING = r"(?:(?:and|but|so|because|since|as|well|yes|yeah|no|oh|actually|though|also) )+"
"""Words before a fact that add nothing to it."""
OTHER_STATEMENT = (
    r"(?:i|we|you|he|she|it|they|that|this|there|then|so|but|because|since|although|though|which|who|my|"
    r"your|remember|right|ok(?:ay)?|can|could|do|does|is|are|what|where|how|please|let|just|if|when)\b"
)
"""How a clause begins that says something else."""
MOMENTARY = r"\b(?:today|tonight|tomorrow|yesterday|right now|this (?:week|morning|evening|afternoon)|next week)\b"
"""Words of what does not last."""
UNCLEAR = r"\b(?:i|me|myself|mine|we|us|our|you|your|it|this|that|these|those|him|her)\b"
"""Words that need a listener who was there, or whose person no rule changes."""
CLAUSE = r"(?:(?<!\s)\s+)?[,;:–—]\s+|\s(?:and|but|because)\s"
"""Where a sentence is cut into clauses. A run of spaces is read once, not from each of its places."""
TRANSIENT = (
    r"\b(?:for now|for the (?:time being|moment)|at the moment|temporarily"
    r"|if (?:i|we) (?:were|was|had|lived|worked|won|could|owned|spoke|moved|ever)"
    r"|(?:suppose|pretend|imagine) (?:that )?(?:i|we)|let['’]s (?:say|pretend)|what if|i wish"
    r"|maybe|perhaps|probably|possibly|apparently|i might|not sure|i wonder|i (?:think|guess|assume)"
    r"|(?:said|says|goes|went|wrote|(?:was|is|were) like|told me)\s*[,:])(?!\w)"
)
"""How a sentence is marked that holds for now, or is an idea, a guess or a quotation."""
TAKEN_BACK = (
    r"(?:(?:no|nah|well|oh|ok(?:ay)?|sorry|ha\w{0,9})\b[\s,.!…]{1,9}){0,5}(?:(?:i['’]m |i am )?(?:just |only )?"
    r"(?:kidding|joking)\b|(?:it|that)(?:['’]s| is| was) (?:just |only )?a joke|scratch that|wait,? no"
    r"|no,? wait|no,? sorry|sorry,? (?:i mean|no)\b|i take that back)"
)
"""How a correction or the end of a joke begins."""
