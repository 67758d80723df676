"""Intent of a message: the tool calls that its imperatives ask for; unsure means no.

A wish is an imperative: the verb begins its clause, or ends it as in German and Dutch after
"kannst du …" and "bitte …". What is quoted, dictated or negated asks for nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from shared.domain.asking_words import (
    ACTIONS,
    GRAVE,
    NOT,
    PARTICLES,
    PARTITIVE,
    PLACED,
    PREPOSITIONS,
    READS,
    RECALLING,
    RECORDS,
    SELF,
    SLIPS_NOT,
    SWITCHED,
    SWITCHING,
    THE,
    THINGS,
    TIMED,
    WHEN,
    WHOSE,
    some,
)
from shared.domain.value import value
from shared.domain.wording import QUOTATION, Wording, folded, words

_POLITE = re.compile(
    r"(?:please|pls|plz|kindly|pretty please|hey|hi|hello|ok|okay|yes|so|now|then|also|just|next|afterwards|finally|keepsake"
    r"|(?:can|could|would|will) (?:you|u)|i(?: would|['’]d) like you to|i (?:want|need) you to|i(?: would|['’]?d) like(?: to)?|i(?= (?:want|need) (?:an?|the|some|new)\b)"
    r"|(?:don['’]?t|do not) forget to|(?:make|be) sure (?:to|you)|go ahead and"
    r"|while you(?:['’]?re| are) at it|first|too|after that|afterwards|just quickly|quickly|real quick|thanks"
    r"|einfach|schnell|kurz|gerne?|jetzt|anschliessend"
    r"|je (?:veux|voudrais)(?: que tu)?|j['’]aimerais(?: que tu)?|tu pourrais|tu peux|vous pourriez|merci de|stp|ensuite|apres|alors"
    r"|(?:quiero|necesito|quisiera|me gustaria)(?: que(?= (?:me )?\w+s\b))?|me(?= puedes| podrias)|porfa|ahora|tambien|ademas|y"
    r"|(?:vorrei|voglio|mi piacerebbe)(?: che tu)?|mi(?= puoi| potresti)|ora|anche|quindi|dopo"
    r"|(?:quero|queria|gostaria)(?: de| que(?= \w+s\b))?|se faz favor|agora|tambem|e"
    r"|even|graag|nu|ook|dan|eens"
    r"|mir|mal|doch|dann|danach|also|auch|noch|bitte|(?:kannst|konntest|wurdest) du|vergiss nicht"
    r"|(?:peux|pourrais)[- ]tu|(?:pouvez|pourriez)[- ]vous|tu peux|s['’]il te plait|puis|ensuite"
    r"|puedes|podrias|por favor|luego|despues|puoi|potresti|per favore|poi"
    r"|(?:voce )?(?:pode|podes|poderia)|depois|(?:kun|kan|wil) je|kunt u|alsjeblieft|daarna)\b[\s,]*"
)
_BRACKET = re.compile(r"\b(?:bitte|(?:kannst|konntest|wurdest) du|(?:kun|kan|wil) je|kunt u)\b")
_SENTENCE = re.compile(r"[^.!?…]*(?:[.!?…](?!\s|$)[^.!?…]*)*[.!?…]*")
_REQUEST = re.compile(
    r"\b(?:please|(?:can|could|would|will) (?:you|u)|would you mind|bitte|(?:kannst|konntest|wurdest) du"
    r"|tu pourrais|(?:peux|pourrais)[- ]tu|(?:pouvez|pourriez)[- ]vous|tu peux|s['’]il te plait|puedes|podrias"
    r"|por favor|puoi|potresti|per favore|podes?|poderia|(?:kun|kan|wil) je|kunt u|alsjeblieft)\b"
)
_LEADING = re.compile(
    r"^(?:if|when|once|after|before|as soon as|from|in|on|for|based on|wenn|falls|nachdem|sobald|aus|si"
    r"|quand|apres|de|cuando|despues de|se|quando|dopo|depois de|als|nadat|uit|van)\b[^,]*,\s*"
)
_TOLD = re.compile(
    r"\b(?:that|which|who|whom|whose|where|whether|because|if|says?|said|saying|asks?|asked|wants?"
    r"|wanted|how|what|why|when"
    r"|dass|ob|weil|wer|was|wo|wie|wann|warum|wenn|will|qui|que|si|ou|comment|quien|donde|porque"
    r"|como|che|chi|dove|perche|onde|dat|wat|waar|omdat)\b"
)
_INDIRECT = re.compile(
    r"\b(?:that|which|who|whose|where|whether|if|how|what|why|when|ob|wer|was|wo|wie|wann|warum|wat|waar"
    r"|wanneer|of)\b"
)
"""What follows is told with a finite verb, in languages whose imperative differs from that."""
_BARE = re.compile(
    r"\b(?:i|you|we|they|should|must|can|could|would|will|may|might|shall|to|do|does|did|let|says?|said"
    r"|saying|asks?|asked|wants?|wanted|tells?|told"
    r"|ich|du|wir|ihr|soll|sollen|muss|mussen|kann|konnen|will|wollen|wurde|sagt|mochte|zu"
    r"|ik|je|we|jullie|moet|moeten|kunnen|wil|willen|zegt|te)\b"
)
"""After these a verb stands as an imperative does: what comes next may be told as well."""
_NEXT = re.compile(
    r"(?P<comma>[,;])|(?<![\w-])(?:and then|and|und dann|und|et|y|e|ed|en|then|dann|so)(?![\w-])|&"
)
_ASIDE = re.compile(
    r"[,;]?\s(?:and|und|et|y|e|ed|en)\s(?:also )?(?:what|whats|who|when|where|how|is|are|do|does|did|was|wer|wann|wo|wie"
    r"|hab|habe|gibt|ist|qu|que|qui|quand|est|ai|quien|cuando|hay|tengo|che|cosa|chi|quando|ho|cosa"
    r"|wat|wie|heb|is|o que|tenho)\b[^?]*\?$"
)
"""A question behind an imperative does not make that one a question too."""
_SAID_BY = re.compile(
    r"(?<!que )(?<!che )\b(?:says|said|writes|wrote|sagt|sagte|schreibt|schrieb|dit|ecrit|dice|dijo|escribe|scrive|diz|escreve"
    r"|zegt|schrijft)\s(?:the |my )?\w+\W*$"
)
"""Who said it may follow: "add milk, says Ann"."""
_DICTATED = re.compile(r":(?=\s|$)")
_GERUND = re.compile(r"\bwould you mind (?P<stem>\w+?)ing\b")
_CLOCK = re.compile(r"\d{1,2}(?:am|pm|h|uhr)\d{0,2}")
_NEGATING = NOT - {"ne"}
"""A French "ne" stands before its verb, which then begins no clause; elsewhere it is "a" or "of it"."""
_SHORTEST_HEAD = 5
"""The last part of a German or Dutch compound is known if it has so many letters."""
_SHORTEST_SLIP = 5
_DOUBTFUL = some("en so")
"""Part clauses only before a verb: the first is "and" in Dutch and "in" in French and Spanish."""
_SUFFIX = re.compile(r"(?:me|(?<=[aeiou])te|se|le|lo|la|les|los|las|nos|mi|ti|gli|li|ne|ci)$")


@value
class Wish:
    """One thing that is asked for: its verb, the classes of that, and all words of its clause.

    One that is not `certain` may as well be what somebody else said: "… that Ann says and delete it".
    `recalled` are the words of the sentence before it that it refers to.
    """

    verb: str
    actions: frozenset[str]
    words: Sequence[str]
    certain: bool
    recalled: Sequence[str] = ()

    def names(self, thing: str) -> bool:
        return _names(self.words, thing)

    def means(self, thing: str) -> bool:
        """Tell whether it names `thing`, or refers to it, or gives it its time."""
        if thing in TIMED and any(map(_is_time, self.words)):
            return True
        said = [*self.words, *self.recalled]
        return _names(said, thing) or _names_in_compound(said, thing)

    def takes(self, thing: str) -> bool:
        """Tell whether `thing` is its object: with an article or the like, before any preposition."""
        said = [word for word in self.words if word != self.verb]
        said = said[1:] if PARTICLES.intersection(said[:1]) else said
        ends = next((at for at, word in enumerate(said) if word in PREPOSITIONS), len(said))
        begins = next((at for at, word in enumerate(said) if word in THE), len(said))
        return _names(said[begins:ends], thing)


def wishes(message: Wording) -> list[Wish]:
    """Return what is asked for, in order.

    What stands behind a colon was dictated or reported: to the end of the line, and where the colon
    ends its line, to the end of the message.
    """
    found: list[Wish] = []
    for line in folded(message.rest).splitlines():
        said, *dictated = _DICTATED.split(line.strip(), maxsplit=1)
        found += [wish for sentence in _sentences(said) for wish in _of_sentence(sentence)]
        if dictated and not dictated[0].strip():
            break
    return found


def names(message: Wording, thing: str) -> bool:
    """Tell whether a message speaks of `thing`, by this word or by another for the same."""
    return _names(words(message.rest), thing)


def is_common(word: str) -> bool:
    """Tell whether a word says what to do or what kind of thing, and not which one."""
    return _is_verb(word) or any(word in THINGS[kind] for kind in RECORDS)


def _is_thing(word: str) -> bool:
    return any(word in group for group in THINGS.values())


def actions_of(verb: str) -> frozenset[str]:
    return frozenset(name for name, verbs in ACTIONS.items() if verb in verbs)


def _sentences(line: str) -> list[str]:
    """Return the sentences that may ask for something: a question does so by being polite only."""
    found = (_without_aside(sentence.strip()) for sentence in _SENTENCE.findall(line))
    asking = (one for one in found if not one.endswith("?") or _REQUEST.search(one))
    return [one for one in asking if not _SAID_BY.search(one)]


def _without_aside(sentence: str) -> str:
    return _ASIDE.sub("", sentence) if _begins_with_verb(_without_polite(sentence)) else sentence


def _of_sentence(sentence: str) -> Sequence[Wish]:
    found: list[Wish] = []
    sentence = _GERUND.sub(_imperative, sentence)
    bracket = _BRACKET.search(sentence) is not None
    sentence = _without_polite(_LEADING.sub("", _without_polite(sentence), count=1))
    certain, asked = True, True
    before: list[str] = []
    for clause, after_comma in _clauses(sentence):
        verb = _verb(clause, bracket=bracket)
        certain = certain and (asked or after_comma)
        if verb is not None:
            found.append(_wish(verb, clause, certain=certain, before=before))
        elif found and not _TOLD.search(clause):
            found[-1] = replace(found[-1], words=[*found[-1].words, *words(clause)])
        before += words(clause)
        asked = verb is not None
        certain = certain and not _may_go_on(_without_polite(clause))
    return found


def _imperative(asked: re.Match[str]) -> str:
    stem = asked["stem"]
    return "please " + next(filter(_is_verb, (stem, f"{stem}e", stem[:-1])), stem)


def _clauses(sentence: str) -> Iterator[tuple[str, bool]]:
    start, comma = 0, True
    for part in _NEXT.finditer(sentence):
        if part[0] in _DOUBTFUL and not _begins_with_verb(sentence[part.end() :]):
            continue
        if sentence[start : part.start()].strip():
            yield sentence[start : part.start()].strip(), comma
            comma = False
        start, comma = part.end(), comma or part["comma"] is not None
    yield sentence[start:].strip(), comma


def _begins_with_verb(text: str) -> bool:
    said = words(text)
    return bool(said) and any(map(_is_verb, _forms(said[0])))


def _may_go_on(clause: str) -> bool:
    """Tell whether what somebody else does or says in a clause may go on in the next one."""
    told = _TOLD.search(clause)
    if told is None:
        return False
    return not _INDIRECT.fullmatch(told[0]) or _BARE.search(clause[told.end() :]) is not None


def _verb(clause: str, *, bracket: bool) -> str | None:
    """Return the verb by which a clause asks for something, None where it does not ask."""
    said = words(_without_polite(clause))
    if not said or _NEGATING.intersection(words(_TOLD.split(clause, maxsplit=1)[0])):
        return None
    if singular(said[0]) in SWITCHED and said[1:2] and said[1] in SWITCHING:
        return "turn"
    if _begins_with_verb(said[0]) and not _is_owned(said):
        return said[0]
    if _is_placed(said):
        return said[2]
    return said[-1] if bracket and _is_verb(said[-1]) else None


def _is_placed(said: Sequence[str]) -> bool:
    """Tell whether a place and then a harmless verb begin a clause: "in HubSpot add a note"."""
    if len(said) < 3 or said[0] not in PLACED or any(map(_is_thing, said[1:3])):
        return False
    does = actions_of(said[2])
    return bool(does) and not does & GRAVE


def _is_owned(said: Sequence[str]) -> bool:
    """Tell whether the first word is a noun: "note of Ann", but not "ajoute du lait"."""
    whose = WHOSE if _is_thing(said[0]) else WHOSE - PARTITIVE
    return not whose.isdisjoint(said[1:2])


def _wish(verb: str, clause: str, *, certain: bool, before: Sequence[str]) -> Wish:
    said = words(_without_polite(clause))
    form = next(form for form in _forms(verb) if _is_verb(form))
    actions = actions_of(form).union(*(actions_of(f"{form}+{word}") for word in said))
    if SELF.intersection(said[1:2]) or verb.removeprefix(form)[:2] in {"me", "mi"}:
        actions -= {"send", "grant"}
    recalled = tuple(before) if _recalls(said) else ()
    return Wish(verb=form, actions=actions, words=[form, *said], certain=certain, recalled=recalled)


def _recalls(said: Sequence[str]) -> bool:
    """Tell whether a clause leaves unsaid what it speaks of: "comment on 87", "answer it"."""
    return not RECALLING.isdisjoint(said) or any(map(str.isdecimal, said))


def _without_polite(clause: str) -> str:
    clause = clause.replace(QUOTATION, " ").strip()
    while found := _POLITE.match(clause):
        clause = clause[found.end() :]
    return clause


def _is_verb(word: str) -> bool:
    return word in READS or word in _HEADS or bool(actions_of(word))


def _forms(word: str) -> Iterator[str]:
    """Yield a verb, it without the pronouns that Romance languages append, and if mistyped, it as meant."""
    yield word
    if word in MISTYPED and not _is_verb(word):
        yield MISTYPED[word]
    for _ in range(2):
        word, cut = _SUFFIX.subn("", word)
        if not cut or len(word) < 2:
            return
        yield word


def _names(said: Sequence[str], thing: str) -> bool:
    same = _same(thing)
    return any(word in same or singular(word) in same for word in said)


def _same(thing: str) -> set[str]:
    same = {thing, singular(thing)}
    return same.union(*(group for group in THINGS.values() if same & group))


def _names_in_compound(said: Sequence[str], thing: str) -> bool:
    """Tell whether a German or Dutch word ends with `thing`: "Friseurtermin", "boodschappenlijstje"."""
    heads = tuple(one for one in _same(thing) if len(one) >= _SHORTEST_HEAD)
    return any(word.removesuffix("je").endswith(heads) for word in said)


def _is_time(word: str) -> bool:
    return word in WHEN or _CLOCK.fullmatch(word) is not None


def _mistyped(verb: str) -> Iterator[str]:
    """Yield a verb with one inner letter left out, or two neighbours swapped.

    No other slip: one letter more or another makes "sent" of "send", and "ie" for "ei" a German past.
    """
    for at in range(1, len(verb) - 1):
        yield verb[:at] + verb[at + 1 :]
        if {verb[at], verb[at + 1]} != {"i", "e"}:
            yield verb[:at] + verb[at + 1] + verb[at] + verb[at + 2 :]


_HEADS = frozenset(
    verb.partition("+")[0] for verbs in ACTIONS.values() for verb in verbs if "+" in verb
)
MISTYPED = {
    slip: verb
    for verb in sorted(ACTIONS["create"] | ACTIONS["send"] | ACTIONS["update"])
    if verb.isalpha() and not actions_of(verb) & GRAVE
    for slip in _mistyped(verb)
    if len(slip) >= _SHORTEST_SLIP and slip not in SLIPS_NOT
}


def singular(word: str) -> str:
    """Return a word without the s of a plural or a possessor."""
    return word[:-1] if word.endswith("s") and len(word) > 3 else word
