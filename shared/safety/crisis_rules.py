"""Crisis rules: a first look at what the owner of a chat wrote, before any model reads it.

The rules name subjects, in eight languages: death, life, self-harm, farewell, medicine. They do not know
idioms, fiction or quotations. Whatever they find is unsure, and a classifier decides;
only a plain statement of intent in the first person, outside quotation marks, is certain.

Also called: crisis detection.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from shared.domain.chats.crisis import CrisisLevel
from shared.domain.value import value


@value
class CrisisFinding:
    """Finding of the rules; level 0 and unsure: the text has letters that no rule reads.

    `is_own` tells that the text speaks of its writer, outside quotation marks and not as a question; `is_plain`
    that it says it of them in so many words, in `language` (ISO 639-1). These count where nobody else can be asked.
    """

    certainty: Literal["clear", "unsure", "certain"] = "clear"
    level: CrisisLevel = 0
    is_own: bool = False
    is_plain: bool = False
    language: str | None = None


# Stems stand without accents and in lower case, as `_fold` writes a text, with spaces around it.
_SERIOUS: Final[Mapping[str, Sequence[str]]] = {
    "death": (
        *(
            "suicid",
            " to die",
            " i die",
            " me die",
            "na die",
            " dying",
            " dead",
            "selbstmord",
            "umbring",
            " tot ",
            "sterben",
        ),
        *("muert", "morir", " mort ", " morte ", "mourir", "morrer", " morto", " morta", "morire"),
        *("死", "自杀", "自殺"),
    ),
    "life": (
        *("to live", "wanna live", " alive", "worth living", " leben ", "vivir", "viviendo"),
        *("vivre", "la vie ", "viver", " a vida", "vivere", "la vita", "生き", "不想活", "活着"),
    ),
    "existence": (
        *(
            "existing",
            "been born",
            "without me",
            "disappear",
            "geboren",
            "ohne mich",
            "verschwinden",
        ),
        *("mich nicht mehr g", "nacido", "sin mi ", "desaparec", "sans moi", "disparaitre"),
        *("sem mim", "existir", "sumir", "senza di me", "esistere", "sparire", "生まれ"),
        *("消え", "いなくな", "いないほうが", "いない方が", "没有我", "没出生", "消失"),
    ),
    "never wake up": (
        *("not wake up", "n't wake up", "never wake up", "mehr aufwachen", "nunca despert"),
        *("no despert", "jamais me reveiller", "plus me reveiller", "nao acordar", "svegliarmi"),
        *("目が覚めな", "别醒", "别再醒", "不醒"),
    ),
    "self-harm": (
        *("harming", "hurting myself", "hurt myself", "cutting", "cut myself", "geritzt"),
        *("ritze mich", "in den arm", "cortarme", "me cort", "hago dano", "scarifi"),
        *("fais du mal", "machuc", "tagliat", "tagliarmi", "mi taglio", "faccio del male"),
        *("リスカ", "傷つけ", "割自己", "割了", "割腕", "伤害自己"),
    ),
}
_ACUTE: Final[Mapping[str, Sequence[str]]] = {
    "taking one's life": (
        *("kill myself", "killing myself", " end it ", " ending it", "my life", "this life"),
        *("bring mich", "bringe mich", "mich toten", "meinem leben", "das leben", "me mato"),
        *("matarme", "voy a matar", "mi vida", "la vida", "me tuer", "ma vie ", "en finir"),
        *("me matar", "minha vida", "mi ammazz", "ammazzarmi", "mi uccid", "farla finita"),
        *("la faccio finita", "togli", "tolgo la vita", "終わりに", "命を絶", "去死", "结束"),
    ),
    "farewell": (
        *("goodbye", "last message", "be gone", "won't be here", "abschiedsbrief", "lebt wohl"),
        *("leb wohl", "mi adios", "carta para mis", "ya no voy a estar", "adieu", "serai plus"),
        *("despedida", "adeus", "addio", "lettera a mi", "遺書", "さようなら", "遗书", "永别"),
    ),
    "medicine": (
        *("pills", " meds", "overdose", "took everything", "swallowed", "tabletten"),
        *("schlafmittel", "geschluckt", "pastilla", "frasco", "cachets", "medicaments"),
        *("toute la boite", "comprimid", "remedio", "caixa toda", "pastigli", "flacone"),
        *("sonnifer", "薬", "药"),
    ),
    "height or train": (
        *(
            "on the bridge",
            "off the bridge",
            "on the roof",
            "off the roof",
            "of a train",
            "of the train",
            "brucke",
            "vor den zug",
        ),
        *("voy a saltar", "me voy a tirar", "azotea", "vais sauter", "sous le train"),
        *(
            "vou pular",
            "do trem",
            "mi butto",
            "飛び降り",
            "飛び込",
            "跳下去",
            "跳楼",
            "卧轨",
            "烧炭",
        ),
    ),
}
_INTENT: Final[Mapping[str, re.Pattern[str]]] = {
    "en": re.compile(r" i(?:'m| am) (?:going to|gonna|about to) (?:kill myself|end my life)\b"),
    "de": re.compile(
        r" ich bringe? mich (?:heute|jetzt|gleich|morgen)(?: nacht| abend)? um\b"
        r"| ich werde mich (?:umbringen|toten)\b"
    ),
    "es": re.compile(r" me voy a (?:matar|suicidar)\b| (?:hoy|ahora|esta noche) me mato\b"),
    "fr": re.compile(r" je vais me (?:tuer|suicider)\b"),
    "pt": re.compile(r" vou me (?:matar|suicidar)\b"),
    "it": re.compile(r" (?:stasera|stanotte|oggi|adesso) mi (?:ammazzo|uccido)\b"),
    "ja": re.compile("(?:今夜|今日|今から|これから)(?:死にます|自殺します)"),
    "zh": re.compile("我(?:今晚|今天|现在|马上)(?:就|就要|要)?(?:去死|自杀)"),
}
_WISH: Final[Mapping[str, re.Pattern[str]]] = {
    "en": re.compile(
        r" i (?:really |just |only )?(?:want|wanna|wish|need|plan)(?: to| i)? (?:die|be dead|was dead|were dead"
        r"|kill myself|end it all|end my life|hurt myself|harm myself)\b"
        r"| i (?:don't|do not|no longer) want to (?:live|be alive|wake up|exist|be here)\b"
        r"| i(?:'ve| have)? (?:just )?(?:took|taken|swallowed) (?:all|too many|a bottle of|the whole|everything)\b"
    ),
    "de": re.compile(
        r" ich (?:will|mochte|wunschte,? ich ware) (?:\w+ )?(?:sterben|tot|nicht mehr leben|mich umbringen)\b"
    ),
    "es": re.compile(
        r" quiero (?:morir|matarme|suicidarme)| no quiero (?:seguir viviendo|vivir)\b"
    ),
    "fr": re.compile(r" je veux (?:mourir|me tuer)\b| je (?:ne )?veux plus vivre\b"),
    "pt": re.compile(r" (?:eu )?quero (?:morrer|me matar)\b| nao quero mais viver\b"),
    "it": re.compile(r" voglio (?:morire|uccidermi)\b| non voglio piu vivere\b"),
    "ja": re.compile("死にたい|消えたい|生きていたくない"),
    "zh": re.compile("我?(?:好|真的|只)?想死|不想活"),
}
"""By the language that they are in."""
_FIRST_PERSON: Final = re.compile(
    r"\b(?:i|i'm|i've|i'll|i'd|me|my|mine|myself|ich|mich|mir|mein\w*|yo|mi|mis|conmigo|estoy|soy"
    r"|je|j'\w+|moi|mon|ma|mes|eu|meu|minha|mim|comigo|io|mio|mia|sono)\b|我|私|僕|俺|自分|[\u3040-\u30ff]"
)
"""Japanese mostly leaves it out, so that any of its letters stand for it."""
_QUOTATION: Final = re.compile('["“”„«»「」『』]')
_GAP: Final = re.compile(r"[\s.,;:!?…()\[\]{}<>*_~|/\\–—-]+")
_PLAIN_LETTERS: Final = {
    code: unicodedata.normalize("NFKD", chr(code)).encode("ascii", "ignore").decode() or chr(code)
    for codes in (range(0xC0, 0x250), range(0x1E00, 0x1F00), range(0xFF01, 0xFF5F))
    for code in codes
} | {ord("’"): "'"}
"""Of letters with accents, those of full width, and the curly apostrophe."""
_UNREAD_SCRIPT: Final = re.compile("[\u0370-\u1dff\ua500-\ud7ff\U00010000-\U0001d3ff]")
"""Letters that are neither Latin nor of Chinese or Japanese."""


def find_crisis(text: str) -> CrisisFinding:
    """Return what the rules find in the owner's words. At most 5 ms for 20,000 characters."""
    folded = _fold(text)
    level: CrisisLevel = 3 if _mentions(folded, _ACUTE) else 2 if _mentions(folded, _SERIOUS) else 0
    is_quoted = _QUOTATION.search(folded) is not None
    intent = None if is_quoted else _find_language(folded, _INTENT)
    wish = None if is_quoted else _find_language(folded, _WISH)
    if intent:
        return CrisisFinding(
            certainty="certain", level=3, is_own=True, is_plain=True, language=intent
        )
    if level or wish:
        is_asked = "?" in text or "？" in text
        is_own = bool(wish) or not (is_quoted or is_asked or not _FIRST_PERSON.search(folded))
        return CrisisFinding(
            certainty="unsure",
            level=level or 2,
            is_own=is_own,
            is_plain=bool(wish),
            language=wish,
        )
    return CrisisFinding(certainty="unsure" if _UNREAD_SCRIPT.search(folded) else "clear")


def _mentions(folded: str, phrases: Mapping[str, Sequence[str]]) -> bool:
    return any(phrase in folded for group in phrases.values() for phrase in group)


def _find_language(folded: str, statements: Mapping[str, re.Pattern[str]]) -> str | None:
    """Return the language in which a text makes one of these statements."""
    return next((name for name, pattern in statements.items() if pattern.search(folded)), None)


def _fold(text: str) -> str:
    """Write the text in lower case, without accents, one space around each word."""
    lower = unicodedata.normalize("NFC", text.casefold()).translate(_PLAIN_LETTERS)
    return f" {' '.join(re.split(_GAP, lower))} "
