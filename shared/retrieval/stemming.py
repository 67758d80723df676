"""Stemming of English words: Snowball's stemmer, behind a table of the forms that follow no rule.

Words of other languages mostly stay as they are, or lose the same ending on both sides of a search.
"""

from Stemmer import Stemmer

MAX_CACHED_WORDS = 65_536
MAX_STEMMED_CHARS = 64
"""A longer word is no English word, and the stemmer takes quadratic time."""

_IRREGULAR_FORMS = """
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
_BASE_FORMS = {
    form: base
    for family in _IRREGULAR_FORMS.replace("\n", "|").split("|")
    for base, *forms in [family.split() or [""]]
    for form in forms
}


def stem(word: str) -> str:
    """Stem a casefolded word: "researching" and "researched" to "research", "went" to "go"."""
    if len(word) > MAX_STEMMED_CHARS:
        return word
    # An instance holds the word it stems, so threads must not share one.
    stemmer = Stemmer("english", 0)
    return str(stemmer.stemWord(_BASE_FORMS.get(word, word)))
