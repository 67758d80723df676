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


@value
class _Intent:
    """A language's statements of intent; one is certain behind the words before it, amid those of time.

    All stand without accents and in lower case, as `_space` and `_simplify` write a text.
    """

    statement: str
    before: str
    time: str
    condition: str


_INTENTS: Final[Mapping[str, _Intent]] = {
    "en": _Intent(
        statement=r" i(?:'m| am) (?:going to|gonna|about to) (?:kill myself|end my life)\b",
        before=r" (?:and|so|please|but)\b",
        time=r" (?:(?:right )?now|today|tonight|tomorrow|soon|this (?:morning|evening|night|week))\b",
        condition=r" (?:if|when|unless) ",
    ),
    "de": _Intent(
        statement=r" ich bringe? mich (?:heute|jetzt|gleich|morgen)(?: nacht| abend)? um\b"
        r"| ich werde mich (?:umbringen|toten)\b",
        before=r" (?:und|also|bitte|aber)\b",
        time=r" (?:heute|jetzt|gleich|morgen|bald)(?: nacht| abend| fruh)?\b",
        condition=r" (?:wenn|falls) ",
    ),
    "es": _Intent(
        statement=r"(?: yo)? me voy a (?:matar|suicidar)\b| (?:hoy|ahora|esta noche) me mato\b",
        before=r" (?:y|asi que|por favor|pero)\b",
        time=r" (?:hoy|ahora(?: mismo)?|ya|manana|pronto|esta (?:noche|tarde|manana))\b",
        condition=r" (?:si|cuando) \w",
    ),
    "fr": _Intent(
        statement=r" je vais me (?:tuer|suicider)\b",
        before=r" (?:et|alors|donc|mais|s'il (?:te|vous) plait)\b",
        time=r" (?:ce soir|cette nuit|aujourd'hui|maintenant|tout de suite|demain|bientot)\b",
        condition=r" (?:s'ils?|si|quand) (?!(?:te|vous) plait)",
    ),
    "pt": _Intent(
        statement=r"(?: eu)? vou me (?:matar|suicidar)\b",
        before=r" (?:e|entao|por favor|mas)\b",
        time=r" (?:hoje(?: a noite)?|esta noite|agora(?: mesmo)?|ja|amanha|em breve)\b",
        condition=r" (?:se|quando) ",
    ),
    "it": _Intent(
        statement=r"(?: io)? (?:stasera|stanotte|oggi|adesso) mi (?:ammazzo|uccido)\b",
        before=r" (?:e|quindi|per favore|ma)\b",
        time=r" (?:stasera|stanotte|oggi|adesso|ora|subito|presto)\b",
        condition=r" (?:se|quando) ",
    ),
    "ja": _Intent(
        statement="(?:(?:私|僕|俺)は)?(?:今夜|今日|今から|これから)(?:死にます|自殺します)",
        before=" ?(?:そして|だから|でも|どうか|もう)",
        time=" ?(?:今夜|今日|今から|これから)",
        condition="もし|たら|なら",
    ),
    "zh": _Intent(
        statement="我(?:今晚|今天|现在|马上)(?:就|就要|要)?(?:去死|自杀)了?",
        before=" ?(?:而且|所以|请|但是?)",
        time=" ?(?:今晚|今天|现在|马上)",
        condition="如果|要是|假如",
    ),
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
_LAUGHTER: Final = {
    "en": r" (?:laughing|with laughter)\b",
    "de": r" vor lachen\b",
    "es": r" de (?:la )?risa\b",
    "fr": r" de rire\b",
    "pt": r" de (?:tanto )?rir\b",
    "it": r" (?:dal ridere|dalle risate)\b",
}
"""Behind a statement it makes an idiom of it."""
_QUOTED: Final = re.compile('"[^"]*"|[“„][^“”„]*[“”]|«[^«»]*»|»[^«»]*«|「[^「」]*」|『[^『』]*』')
"""What stands between two marks; a mark without its other hides nothing."""
_COMMAND: Final = re.compile(r"\s*/\w+\s")
"""What stands before the words of a command, in no clause of theirs."""
_ENDS: Final = r"(?<=\?)|[.;!…。]"
_SENTENCES: Final = (re.compile(_ENDS), re.compile(rf"{_ENDS}|\n"))
"""Where one ends, in a text with broken lines and in one where each line is a sentence. A colon goes on."""
_CLAUSE: Final = re.compile(r"[^,،、?()–—]+\??")
_GAP: Final = re.compile(r"[\s.,;:!?¡¿…。،、()\[\]{}<>*_~|/\\–—-]+")
_PLAIN_LETTERS: Final = {
    code: unicodedata.normalize("NFKD", chr(code)).encode("ascii", "ignore").decode() or chr(code)
    for codes in (range(0xC0, 0x250), range(0x1E00, 0x1F00), range(0xFF01, 0xFF5F))
    for code in codes
} | {ord("’"): "'"}
"""Of letters with accents, those of full width, and the curly apostrophe."""
_SIGN: Final = r" ?[^\w\s😂🤣😆😹]"
"""An emoji that does not laugh, or a mark."""


def _compile_whole(intent: _Intent) -> re.Pattern[str]:
    """Return what finds a statement that its clause begins and ends with, but for words of time and signs."""
    around = f"(?:{intent.time}|{_SIGN})*"
    return re.compile(f"(?:^|{intent.before}){around} ?(?:{intent.statement}){around} ?$")


_INTENT: Final = {name: re.compile(intent.statement) for name, intent in _INTENTS.items()}
_WHOLE: Final = {name: _compile_whole(intent) for name, intent in _INTENTS.items()}
_CONDITION: Final = {name: re.compile(intent.condition) for name, intent in _INTENTS.items()}
_IDIOM: Final = {
    name: re.compile(f"(?:{_INTENTS[name].statement}|{_WISH[name].pattern}){laughter}")
    for name, laughter in _LAUGHTER.items()
}


def find_crisis(text: str) -> CrisisFinding:
    """Return what the rules find in the owner's words. At most 5 ms for 20,000 characters.

    An intent is certain where it is all that its clause says, but for its time, and its sentence sets no condition.
    An idiom ("… kill myself laughing") is a doubt without a level.
    """
    command = _COMMAND.match(text)
    plain = _simplify(_QUOTED.sub(" … ", text[command.end() :] if command else text))
    words = _space(plain)
    if not (_find_language(words, _INTENT) or _find_language(words, _WISH)):
        return CrisisFinding()
    if idiom := _find_language(words, _IDIOM):
        words = _IDIOM[idiom].sub(" … ", words)
    if intent := _find_language(words, _INTENT):
        certain = _find_certain(plain)
        certainty: Certainty = "certain" if certain else "unsure"
        return CrisisFinding(certainty=certainty, level=3, language=certain or intent)
    if wish := _find_language(words, _WISH):
        return CrisisFinding(certainty="unsure", level=2, language=wish)
    return CrisisFinding(certainty="unsure", language=idiom)


def _find_certain(plain: str) -> str | None:
    """Return the language in which a clause is nothing but a statement of intent."""
    for end in _SENTENCES:
        for sentence in end.split(plain):
            clauses = [
                (_space(clause), clause.endswith("?")) for clause in _CLAUSE.findall(sentence)
            ]
            for language, whole in _WHOLE.items():
                is_stated = any(whole.search(words) for words, is_asked in clauses if not is_asked)
                condition = _CONDITION[language]
                if is_stated and not any(condition.search(words) for words, _ in clauses):
                    return language
    return None


def _find_language(folded: str, statements: Mapping[str, re.Pattern[str]]) -> str | None:
    """Return the language in which a text makes one of these statements."""
    return next((name for name, pattern in statements.items() if pattern.search(folded)), None)


def _simplify(text: str) -> str:
    """Write the text in lower case, without accents."""
    return unicodedata.normalize("NFC", text.casefold()).translate(_PLAIN_LETTERS)


def _space(text: str) -> str:
    """Write the words without marks, one space around each."""
    return f" {' '.join(re.split(_GAP, text))} "
