"""Forms of tasks: how people say in five languages that they will do something, or ask for it; pure.

They are exact and few: what is said in another way is no task without a language model.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from shared.domain.value import positional_value

FormKind = Literal["promise", "need", "request"]
"""A need is one of its speaker: "I have to", "ich muss"."""

_OPENINGS: Mapping[FormKind, tuple[str, ...]] = {
    "promise": (
        r"i(?:['’]ll| will| promise(?: to)?)",
        r"ich (?:werde(?=.* \w+n\b)|verspreche,?)",
        r"(?:(?:te|os|les?) )?(?:voy a(?= \w+[aeiáéí]r(?:me|te|se|nos|os|l[aeo]s?)*\b)|prometo)",
        r"je (?:vais(?= (?:(?:te|lui|leur|vous|l[ae]s?|y) |[tl]['’])*\w+(?:er|ir|re)\b)|promets de)",
    ),
    "need": (
        r"(?:i|we)(?: (?:also|still|really|just))? (?:need to|have to|must|should)",
        r"i(?:['’]ve(?: still)? got to| gotta)",
        r"(?:let me|remind me to|remember to|don['’]t forget to)",
        r"(?:ich (?:muss|sollte)|wir (?:müssen|sollten))(?: noch| auch)?",
        r"(?:tengo|tenemos|hay) que",
        r"(?:je dois|nous devons|on doit|il faut(?! que))(?: encore| aussi)?",
    ),
    "request": (
        r"(?:can|could|would|will) you(?! ever\b)(?: please)?",
        r"(?:please|you (?:need|have) to|don['’]t forget to|make sure (?:to|you)|remember to)",
        r"(?:(?:kannst|könntest|würdest) du|(?:können|könnten|würden) sie)(?: bitte)?",
        r"(?:du musst|denk (?:bitte )?daran,?|vergiss (?:bitte )?nicht,?|(?<![^\W\d] )bitte)",
        r"(?:puedes|podrías|puede usted|podría usted)(?: por favor)?",
        r"(?:no (?:te )?olvides|acuérdate)(?: de)?",
        r"(?:peux-tu|pourrais-tu|pouvez-vous|pourriez-vous|(?:tu peux|tu pourrais|vous pouvez)(?=.*\?))",
        r"n['’]oubli(?:e|ez) pas (?:de|d['’])",
    ),
}
_ENDINGS: Mapping[FormKind, str] = {
    "promise": r"[てで]おきます",
    "need": r"(?:なければなりません|ないといけません|なきゃ)",
    "request": r"(?:[をにへ日][^をにへ日]*(?:て|(?<!ない)で)(?:ください|もらえますか|くれますか)|をお願いします)",
}
"""Japanese says at the end of a sentence what it is; it is quoted whole. Without an object a request is mostly a courtesy."""
_IMPERATIVE = re.compile(r"(?P<verb>[A-ZÄÖÜ][a-zäöüß]+)(?: mir| uns)? bitte (?P<rest>.+)")
"""German puts "please" behind the verb: "Ruf bitte die Klinik an"."""

_GERMAN_STATE = "habe|hatte|werde|würde|wäre|denke|glaube|liebe|brauche"
_GERMAN_OBJECT = (
    r"(?=.*\b(?:dir|euch|ihnen|ihm|herrn|frau|den|die|das|einen?|eine|[md]einen?|unseren?)\b)"
)
"""Something or somebody: "Ich bleibe heute im Bett" promises nothing."""
_PLAN = re.compile(
    rf"\b(?:(?:ich (?!{_GERMAN_STATE})\w+e\b|(?!{_GERMAN_STATE})\w+e ich\b){_GERMAN_OBJECT}"
    r"|(?:te|os|les?|se l[aeo]s?) \w+o|j(?:e |['’])(?:(?:te|lui|leur|vous) |[tl]['’])?\w+rai)\b"
    r"|を[^、。を]*(?<!ており)ます[。.]?$",
    re.IGNORECASE,
)
"""Other languages than English promise in their present or future tense: "Ich schicke dir morgen die Liste"."""
_CONDITION = re.compile(r"\b(?:wenn|falls|si)\b|もし|たら|なら", re.IGNORECASE)

_FIRST_STATES_TEXT = """
not never be see hear feel think believe understand want like hate guess say admit tell go have know remember let
explain show assume just
no ser ver oír sentir pensar creer entender saber decir tener ir
pas être voir entendre sentir penser croire comprendre savoir dire avoir aller
"""
_LAST_STATES_TEXT = "sein sehen hören fühlen denken glauben verstehen wissen sagen haben gehen"
_FIRST_STATES = frozenset(_FIRST_STATES_TEXT.split())
_LAST_STATES = frozenset(_LAST_STATES_TEXT.split())
"""Verbs of states, of the senses and of speech: they say or ask how things are, not what to do."""
_PRONOUNS_TEXT = """
i me my mine you your yours we us our ours he him his she her hers it its they them their theirs this that these those
ich mir mich du dir dich er ihn ihm ihr ihnen ihre ihren uns euch es mein meine meinen meiner dein deine deinen deiner
unser unsere unseren euer eure euren
mí mi mis ti tu tus nos os su sus él ella ellos ellas lo conmigo contigo
je moi toi te lui leur leurs nous vous mon ma mes ton ta tes ça cela
"""
_PRONOUNS = frozenset(_PRONOUNS_TEXT.split())
_WORD = re.compile(r"[^\W\d_]+(?=['’\W]|$)")
_CLITIC = re.compile(r"\b\w+[aeiáéí]r(?:me|te|se|nos|os|l[aeo]s?)+\b", re.IGNORECASE)
"""Spanish writes pronouns at the end of a verb: "enviármelo"."""


@positional_value
class Form:
    """Words for what is to be done, and where their form begins in the sentence; it `is_whole` in Japanese."""

    start: int
    words: str
    is_whole: bool = False


def find_form(text: str, kind: FormKind) -> Form | None:
    """Find the first form of a kind in a sentence."""
    if found := _compile(kind).search(text):
        return Form(found.start(), found["words"] or found[0], is_whole=found["words"] is None)
    imperative = _IMPERATIVE.match(text) if kind == "request" else None
    return Form(0, f"{imperative['verb']} {imperative['rest']}") if imperative else None


def is_plan(text: str) -> bool:
    """Tell whether its speaker says what they will do; one with a day is a promise."""
    is_question = text.rstrip().endswith(("?", "？", "か。", "か"))
    return not is_question and bool(_PLAN.search(text)) and not _CONDITION.search(text)


def tells_to_act(words: str) -> bool:
    """Tell whether words tell of an act, by their verb: it stands first, in German last."""
    verbs = words.lower().rstrip(" .,!?").split()
    first, last = verbs[0], verbs[-1]
    return (
        first not in _FIRST_STATES
        and last not in _LAST_STATES
        and not first.endswith(("n't", "n’t"))
    )


def has_pronoun(words: str) -> bool:
    """Tell whether only their place tells whom or what some words mean."""
    spoken = (word.lower() for word in _WORD.findall(words))
    return not _PRONOUNS.isdisjoint(spoken) or _CLITIC.search(words) is not None


@cache
def _compile(kind: FormKind) -> re.Pattern[str]:
    """Compile the forms of a kind; no cold start pays for it."""
    openings = "|".join(_OPENINGS[kind])
    return re.compile(
        rf"(?<![\w'’])(?:{openings})(?:\s+|(?<=d['’]))(?P<words>.+)|^.*{_ENDINGS[kind]}",
        re.IGNORECASE,
    )
