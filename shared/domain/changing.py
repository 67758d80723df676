"""Facts of which only one can be true at a time: where somebody lives, how old they are."""

import re

_USER_RULES: tuple[tuple[str, str], ...] = (
    ("home", r"(?:lives (?:in|at)|moved to) "),
    ("home", r"(?:wohnt|lebt)(?: [\w-]+){0,4}? (?:in|bei|am|auf) "),
    ("home", r"(?:habite|vit (?:à|en|au))\b|(?:vive en|mora em) |(?:abita|vive) (?:a|in) "),
    (
        "employer",
        r"works (?:at|for) |arbeitet(?: [\w-]+){0,4}? (?:bei|für) |travaille (?:chez|pour) ",
    ),
    ("employer", r"trabaja (?:para |en (?-i:[A-ZÁÉÍÓÚ]))|lavora (?:per |d[ai] |in (?-i:[A-Z]))"),
    ("age", r"(?:is|turned) \d+(?: years old\b|$)|ist \d+(?: jahre alt\b|$)|a \d+ ans\b"),
    ("age", r"tiene \d+ años\b|ha \d+ anni\b"),
    ("name", r"(?:heißt|s['’]appelle|se llama|si chiama) "),
)
"""What an owner called "User" is said to be or do."""

_POSSESSION_RULES = (
    ("birthday", r"user(?:'s|’s) birthday is|users geburtstag ist|l['’]anniversaire de user est"),
    ("birthday", r"el cumpleaños de user es|il compleanno di user è"),
    ("name", r"user(?:'s|’s) (?:full )?name is|users name ist|(?:el nombre de|il nome di) user"),
    (
        "favourite",
        r"user(?:'s|’s) favou?rite (\w+(?: \w+)?) (?:is|are)|users lieblings(\w+) (?:ist|sind)",
    ),
    ("favourite", r"l[ea] (\w+) préférée? de user|(?:el|la) (\w+) favorit[oa] de user"),
    ("favourite", r"(?:il|la|lo) (\w+) preferit[oa] di user"),
)
_RULES = (*((name, f"user (?:{said})") for name, said in _USER_RULES), *_POSSESSION_RULES)
_ANY_RULE = "|".join(said for _, said in _RULES)


def find_exclusive_key(content: str) -> str | None:
    """Name what a fact is about, where one has only one such; None for anything else."""
    if not re.match(_ANY_RULE, content, re.IGNORECASE):  # nearly all, and found out at once
        return None
    return next(
        (key for name, pattern in _RULES if (key := _match_rule(name, pattern, content))), None
    )


def _match_rule(name: str, pattern: str, content: str) -> str | None:
    match = re.match(pattern, content, re.IGNORECASE)
    if match is None:
        return None
    return " ".join([name, *(detail.lower() for detail in match.groups() if detail)])
