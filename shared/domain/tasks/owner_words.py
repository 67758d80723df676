"""Owner words: how models read of the owner, as "User", and what is stored about "User", said to the owner."""

import re

from shared.domain.tasks.action_item import TaskOwner

_FORMS = {
    "is": "are", "was": "were", "has": "have", "does": "do",
    "isn't": "aren't", "wasn't": "weren't", "hasn't": "haven't", "doesn't": "don't",
}  # fmt: skip
_VERB = re.compile(r"User ([a-z]+(?:['’]t)?)\b")


def name_owner(owner: TaskOwner, name: str | None) -> str:
    """Say to a model whose a task is."""
    return "User" if owner == "me" else name or "Somebody"


def address_owner(fact: str) -> str:
    """Say to the owner what is stored about "User": "User lives in Bonn" as "You live in Bonn"."""
    if fact.startswith(("User's ", "User’s ")):
        return _say_your("Your" + fact[6:])
    match = _VERB.match(fact)
    return _say_your(f"You {_to_second_person(match[1])}{fact[match.end() :]}") if match else fact


def _say_your(text: str) -> str:
    return re.sub(r"\btheir\b", "your", re.sub(r"\bthey were\b", "you were", text))


def _to_second_person(verb: str) -> str:
    """Take the third person's ending away; a verb in the past has none."""
    straight = verb.replace("’", "'")
    if straight in _FORMS:
        return _FORMS[straight]
    if re.search(r"(ch|sh|ss|x|z|o)es$", verb):
        return verb[:-2]
    if re.search(r"[^aeiou]ies$", verb):
        return f"{verb[:-3]}y"
    return verb[:-1] if re.search(r"[^s]s$", verb) else verb
