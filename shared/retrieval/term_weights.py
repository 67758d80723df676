"""Term weights: four coarse bands of how rare a word is when people talk.

Four bands do nearly as well as a long table: a name has to outweigh "time", and "time" "the".
They are general and depend on no user.

Also called: IDF, stop words.
"""

from collections.abc import Mapping
from functools import cache

from shared.retrieval.terms import tokenize

FUNCTION_WEIGHT, EVERYDAY_WEIGHT, FREQUENT_WEIGHT, RARE_WEIGHT = 0.0, 2.0, 3.5, 6.0
"""About the logarithm of how many passages there are to one that has the word."""

_FUNCTION_WORDS = """
a an the this that these those some any each every all both either neither no nor not
i me my mine myself you your yours yourself he him his himself she her hers herself it its itself
we us our ours ourselves they them their theirs themselves who whom whose which what when where why
how and or but if because as until while of at by for with about into through to from in out on off
over under than then once here there so too very just only also again am is are was were be been
being have has had having do does did doing done can could might must shall should would
dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt couldnt shouldnt cant
im youre hes shes theyre ive youve weve theyve id youd theyd ill youll theyll thats theres whats lets
yeah yes oh ok okay um uh hmm huh
"""
_OTHER_FUNCTION_WORDS = """
der das dem des ein eine einen einem einer und oder aber ich du er sie es wir ihr mich mir
dich dir uns ist sind waren bist habe haben hatte wird werden wurde nicht auch mit von zu
im auf für wie wo wer wann warum dass wenn als noch schon nur

le la les un une des du et ou mais je tu il nous vous ils ce cette ces mon ma mes ton ta
tes sa ses est sont était été suis avoir as ont avait ne pas que qui quoi où quand comment
pourquoi sur avec pour par aux au en se

el los las y o pero yo tú él nosotros ellos mi mis tu tus su sus es fue era
estar está estoy ser haber ha había no que quién qué dónde cuándo cómo por para con sin de del al
se lo me te nos

o os as um e eu ele nós meu minha seu sua é são foi estava ser ter tem não quem
onde quando como porque do da dos das no na nos nas em com por para

il lo gli uno che cosa dove quando perché di da del della dei delle nel nella sono era stato
ho hai ha abbiamo hanno non più mio suo sua

de het een en of maar ik jij je hij zij ze wij we jullie is zijn was heb hebt heeft had niet
ook naar op voor wat wie waar wanneer hoe dat dit
"""

_EVERYDAY_WORDS = """
time day like know think go get come see say tell said talk make take want need look good great way
thing things really well much many lot something anything nothing someone people one two first new
back now today up down more most other even still never always maybe right sure little bit long last
next year month week kind feel try let give use work life love got mean thank thanks hey hi hello
wow nice glad happy amazing awesome cool sounds keep start help since ever around actually probably
"""

# The words of the last line are frequent in one language, and names in another.
_FREQUENT_WORDS = """
ask call find leave put show turn move live believe hear play run meet plan talk speak share enjoy
learn remember hope wish miss wait stay stop begin end finish change happen become seem bring buy pay
send spend write read watch listen eat drink cook sleep walk drive visit travel pick set sit stand
hold open close win lose add create build grow decide understand agree worry care support inspire
excite interest appreciate check catch join follow guess definitely totally especially recently soon
later already yet ago yesterday tomorrow tonight morning afternoon evening night weekend hour minute
moment while three four five six ten few several another same different own old young big small high
hard easy bad better best important special beautiful favorite fun interesting tough able ready sorry
family friend friends mom mother dad father parent kid child son daughter brother sister wife husband
guy man woman person group team home house room place city world school job business company name
idea problem question reason story part side point fact case way number word book movie music song
game food dinner lunch picture photo image pic phone money car dog experience event project class
type sort whole together everything everyone without during before after away far between against
monday tuesday wednesday thursday friday saturday sunday january february march april may june july
august september october november december spring summer fall winter
ben bin dan den die ela ella elle hat met mia son uma una van war will
"""


def get_term_weight(term: str) -> float:
    """Return the weight of a term that a question and a passage share."""
    return _build_weights().get(term, RARE_WEIGHT)


@cache
def _build_weights() -> Mapping[str, float]:
    """Stem the words at first use: the start of a function need not wait for it."""
    return {
        term: band
        for band, words in (
            (FREQUENT_WEIGHT, _FREQUENT_WORDS),
            (EVERYDAY_WEIGHT, _EVERYDAY_WORDS),
            (FUNCTION_WEIGHT, _OTHER_FUNCTION_WORDS),
            (FUNCTION_WEIGHT, _FUNCTION_WORDS),
        )
        for term in tokenize(words)
    }


@cache
def list_english_terms() -> frozenset[str]:
    """Return the function words of English, as terms."""
    return frozenset(tokenize(_FUNCTION_WORDS))
