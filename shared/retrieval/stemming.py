"""English words cut to their stems: Porter's second algorithm, and the verbs that follow no rule.

Words of other languages mostly stay as they are, or lose the same ending on both sides of a search.
The steps and their names are those of https://snowballstem.org/algorithms/english/stemmer.html.
"""

import re
from functools import lru_cache

_IRREGULAR = """
arise arose arisen|awake awoke awoken|beat beaten|become became|begin began begun|bend bent
bind bound|bite bitten|bleed bled|blow blew blown|break broke broken|breed bred|bring brought
build built|burn burnt|buy bought|catch caught|choose chose chosen|cling clung|come came
creep crept|deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven
eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown
forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen
get got gotten|give gave given|go went gone|grow grew grown|hang hung|hear heard|hide hid hidden
hold held|keep kept|kneel knelt|know knew known|lead led|lean leant|leap leapt|learn learnt
leave left|lend lent|lie lain|light lit|lose lost|make made|mean meant|meet met|pay paid
prove proven|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see seen|seek sought
sell sold|send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown
shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid
speak spoke spoken|speed sped|spend spent|spin spun|spring sprang sprung|stand stood
steal stole stolen|stick stuck|strike struck|strive strove striven|swear swore sworn|sweep swept
swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought
throw threw thrown|understand understood|wake woke woken|wear wore worn|weave wove woven|weep wept
win won|write wrote written
child children|man men|woman women|person people|mouse mice|foot feet|tooth teeth|goose geese
life lives|wife wives|knife knives|leaf leaves|half halves|shelf shelves|wolf wolves
"""
_BASE = {
    form: base
    for family in _IRREGULAR.replace("\n", "|").split("|")
    for base, *forms in [family.split() or [""]]
    for form in forms
}
_SPECIAL = {
    "skis": "ski", "skies": "sky", "sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas",
    "cosmos": "cosmos", "bias": "bias", "andes": "andes", "idly": "idl", "gently": "gentl",
    "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
}  # fmt: skip
_SETTLED = re.compile("(in|out|cann|herr|earr|even)ing|(proc|exc|succ)eed").fullmatch
_PREFIX = re.compile("gener|commun|arsen|past|univers|later|emerg|organ|inter").match
_PAST_VOWEL = re.compile("[^aeiouy]*[aeiouy]+[^aeiouy]").match
_VOWEL = re.compile("[aeiouy]").search
_SHORT_END = re.compile("(.*[^aeiouy][aeiouy][^aeiouywxY]|[aeiouy][^aeiouy]|.*past)").fullmatch
_DOUBLE_END = re.compile(r"(?![aeo]..$).*(bb|dd|ff|gg|mm|nn|pp|rr|tt)").fullmatch
_Y_AS_CONSONANT = re.compile("^y|(?<=[aeiouy])y")
_Step = tuple[tuple[str, str], ...]
_STEP_2: _Step = (
    ("ization", "ize"), ("ational", "ate"), ("fulness", "ful"), ("ousness", "ous"),
    ("iveness", "ive"), ("tional", "tion"), ("biliti", "ble"), ("lessli", "less"),
    ("entli", "ent"), ("ation", "ate"), ("alism", "al"), ("aliti", "al"), ("ousli", "ous"),
    ("iviti", "ive"), ("fulli", "ful"), ("ogist", "og"), ("enci", "ence"), ("anci", "ance"),
    ("abli", "able"), ("izer", "ize"), ("ator", "ate"), ("alli", "al"), ("bli", "ble"),
)  # fmt: skip
_STEP_3: _Step = (
    ("ational", "ate"), ("tional", "tion"), ("alize", "al"), ("icate", "ic"), ("iciti", "ic"),
    ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_STEP_4: _Step = tuple(
    (end, "")
    for end in (
        "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
        "ive", "ize", "al", "er", "ic",
    )
)  # fmt: skip


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Cut a casefolded word: "researching" and "researched" to "research", "went" to "go"."""
    word = _BASE.get(word, word)
    if word in _SPECIAL or len(word) < 3:
        return _SPECIAL.get(word, word)
    word = _plural(_Y_AS_CONSONANT.sub("Y", word))
    return word.lower() if _SETTLED(word) else _derived(word).lower()


def _derived(word: str) -> str:
    first = _region(word, _PREFIX(word) or _PAST_VOWEL(word))
    second = _region(word, _PAST_VOWEL(word, first))
    word = _final_y(_tense(word, first))
    word = _adverb(_replaced(word, first, _STEP_2), first)
    word = _nominal(_replaced(word, first, _STEP_3), second)
    cut = _replaced(word, second, _STEP_4)
    return _final(_ion(word, second) if cut == word else cut, first, second)


def _region(word: str, found: re.Match[str] | None) -> int:
    """Say where endings may begin: behind the first consonant after a vowel."""
    return found.end() if found else len(word)


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and _VOWEL(word[:-2]):
        return word[:-1]
    return word


def _tense(word: str, first: int) -> str:
    for end in ("eedly", "eed"):
        if word.endswith(end):
            return word.removesuffix(end) + "ee" if len(word) - len(end) >= first else word
    for end in ("ingly", "edly", "ing", "ed"):
        if word.endswith(end):
            cut = word.removesuffix(end)
            return _mended(cut, end, first) if _VOWEL(cut) else word
    return word


def _mended(cut: str, end: str, first: int) -> str:
    """Give back the e of "hope", take the second p of "hopping", make "dy" of "dying" "die"."""
    if end == "ing" and len(cut) == 2 and cut[1] == "y":
        return cut[0] + "ie"
    if cut.endswith(("at", "bl", "iz")):
        return cut + "e"
    if _DOUBLE_END(cut):
        return cut[:-1]
    return cut + "e" if first >= len(cut) and _SHORT_END(cut) else cut


def _final_y(word: str) -> str:
    ends = len(word) > 2 and word[-1] in "yY" and word[-2] not in "aeiouy"
    return word[:-1] + "i" if ends else word


def _replaced(word: str, region: int, step: _Step) -> str:
    for end, kept in step:
        if word.endswith(end):
            begin = len(word) - len(end)
            return word[:begin] + kept if begin >= region else word
    return word


def _adverb(word: str, first: int) -> str:
    if word.endswith("logi") and len(word) - 3 >= first:
        return word[:-1]
    inside = word.endswith("li") and word[-3:-2] in tuple("cdeghkmnrt") and len(word) - 2 >= first
    return word[:-2] if inside else word


def _nominal(word: str, second: int) -> str:
    inside = word.endswith("ative") and len(word) - 5 >= second
    return word[:-5] if inside else word


def _ion(word: str, second: int) -> str:
    inside = word.endswith(("sion", "tion")) and len(word) - 3 >= second
    return word[:-3] if inside else word


def _final(word: str, first: int, second: int) -> str:
    begin = len(word) - 1
    if word.endswith("e"):
        drop = begin >= second or (begin >= first and not _SHORT_END(word[:-1]))
        return word[:-1] if drop else word
    return word[:-1] if word.endswith("ll") and begin >= second else word
