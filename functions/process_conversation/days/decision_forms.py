"""Forms of decisions: how people say in five languages that something is settled; pure.

They are exact and few. What is said not to be settled yet decides nothing.
"""

import re
from functools import cache

_SETTLED = (
    r"\b(?:we|i|they)(?:['’]ve| have| had)?(?: just| all| both| now)? (?:decided|agreed|settled)\b",
    r"\b(?:it|that|this)(?:['’]s| is| was) (?:decided|settled|agreed)\b",
    r"\blet['’]s (?:go with|go for|take|keep|stick with|make it)\b",
    r"\bwe(?:['’]ll| will)? (?:go|are going|went) (?:with|for)\b",
    r"\bit is[.!](?: |$)",
    r"^(?:so |then |okay,? |good,? )?(?:decided|agreed)\b",
    r"\b(?:wir haben|ich habe|ihr habt|sie haben)\b[^.!?]*\b(?:entschieden|beschlossen|geeinigt|ausgemacht|vereinbart)\b",
    r"\b(?:ist|wurde|war) (?:also |damit |nun )?(?:entschieden|beschlossen|abgemacht|vereinbart)\b",
    r"\b(?:dann|also) nehmen wir\b",
    r"^(?:also |gut,? |dann )?(?:abgemacht|beschlossen|entschieden)\b",
    r"\b(?:hemos|he|han) (?:decidido|acordado|quedado en)\b",
    r"\b(?:decidimos|acordamos|quedamos en|nos quedamos con)\b",
    r"\b(?:está|queda) (?:decidido|acordado)\b",
    r"^(?:pues |entonces )?(?:decidido|trato hecho)\b",
    r"\b(?:on a|nous avons|j['’]ai|ils ont|elles ont)(?: donc| tous| finalement)? (?:décidé|choisi|convenu)\b",
    r"\b(?:on s['’]est|nous nous sommes) mis d['’]accord\b",
    r"\bc['’]est (?:donc )?(?:décidé|convenu|entendu)\b",
    r"\b(?:alors|donc) on (?:prend|garde)\b",
    r"(?:決めました|決めた|決まりました|決まった|決定しました|決定です|ことにしました|ことにします|にしましょう)",
)
_OPEN = (
    r"\b(?:not|never|n['’]t) (?:yet )?(?:decided|agreed|settled)|\byet\b",
    r"\bnoch n|\bnicht (?:entschieden|beschlossen)",
    r"\b(?:todavía|aún) no\b|\bno (?:hemos|he|han|está)\b",
    r"\bpas (?:encore|décidé|choisi)\b",
    r"まだ|ていません|ていない",
)
_MIN_CHARS = 8
""""Agreed." names nothing."""


def is_decision(sentence: str) -> bool:
    """Tell whether its speaker says that something is decided."""
    return (
        len(sentence) >= _MIN_CHARS
        and _compile(_SETTLED).search(sentence) is not None
        and _compile(_OPEN).search(sentence) is None
    )


@cache
def _compile(forms: tuple[str, ...]) -> re.Pattern[str]:
    """Compile some forms; no cold start pays for it."""
    return re.compile("|".join(forms), re.IGNORECASE)
