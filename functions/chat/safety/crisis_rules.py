"""Crisis rules: plain statements of the owner of a chat, which mean one thing whatever sentences stand around them.

They say in the first person, outside quotation marks, that their writer will or wants to die, in eight languages.
Everything else is for the examples and for who reads the question.

Also called: crisis detection, self-harm.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final, Literal

from shared.domain.chats.crisis import CrisisLevel
from shared.domain.value import value

Certainty = Literal["clear", "unknown", "unsure", "certain"]


@value
class CrisisFinding:
    """What is found before a model reads a text; `unsure` has a level where it counts if nobody else judges.

    `unknown`: no rule speaks for danger, and the text was not compared with the examples in time.

    `language` is that of the statement (ISO 639-1), None where no rule found one, `country` the one that it names
    (ISO 3166).
    """

    certainty: Certainty = "clear"
    level: CrisisLevel = 0
    language: str | None = None
    country: str | None = None

    @property
    def is_suspected(self) -> bool:
        """Whether anything speaks for danger."""
        return self.certainty in ("unsure", "certain")


# Statements stand without accents and in lower case, as `_fold` writes a text, with spaces around it.
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
_QUOTED: Final = re.compile('"[^"]*"|[“„][^“”„]*[“”]|«[^«»]*»|»[^«»]*«|「[^「」]*」|『[^『』]*』')
"""What stands between two marks; a mark without its other hides nothing."""
_SENTENCE_END: Final = re.compile("[.;:!?…。！？]")
_GAP: Final = re.compile(r"[\s.,;:!?…()\[\]{}<>*_~|/\\–—-]+")
_PLAIN_LETTERS: Final = {
    code: unicodedata.normalize("NFKD", chr(code)).encode("ascii", "ignore").decode() or chr(code)
    for codes in (range(0xC0, 0x250), range(0x1E00, 0x1F00), range(0xFF01, 0xFF5F))
    for code in codes
} | {ord("’"): "'"}
"""Of letters with accents, those of full width, and the curly apostrophe."""


def find_crisis(text: str) -> CrisisFinding:
    """Return what the rules find in the owner's words. At most 5 ms for 20,000 characters.

    An intent is certain where its sentence ends with it: "… kill myself laughing" goes on.
    """
    own_words = _QUOTED.sub(" … ", text)
    folded = _fold(own_words)
    if intent := _find_language(folded, _INTENT):
        is_certain = any(
            match.end() >= len(sentence.rstrip())
            for sentence in map(_fold, _SENTENCE_END.split(own_words))
            for match in _INTENT[intent].finditer(sentence)
        )
        certainty: Certainty = "certain" if is_certain else "unsure"
        return CrisisFinding(certainty=certainty, level=3, language=intent)
    if wish := _find_language(folded, _WISH):
        return CrisisFinding(certainty="unsure", level=2, language=wish)
    return CrisisFinding()


def _find_language(folded: str, statements: Mapping[str, re.Pattern[str]]) -> str | None:
    """Return the language in which a text makes one of these statements."""
    return next((name for name, pattern in statements.items() if pattern.search(folded)), None)


def _fold(text: str) -> str:
    """Write the text in lower case, without accents, one space around each word."""
    lower = unicodedata.normalize("NFC", text.casefold()).translate(_PLAIN_LETTERS)
    return f" {' '.join(re.split(_GAP, lower))} "
