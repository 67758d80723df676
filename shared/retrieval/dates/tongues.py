"""German, French and Spanish expressions, each with the English one that it says.

A small set: days, weekdays, months, and the weeks, months and years around now. `{w}` stands for a
weekday, `{u}` for a unit, `{m}` for a month and `{n}` for a number, in the language of the row.
"""

import re
from collections.abc import Iterator
from functools import cache

_WEEKDAYS = {
    "de": "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
    "en": "monday tuesday wednesday thursday friday saturday sunday",
}
_MONTHS = {
    "de": "januar februar märz april mai juni juli august september oktober november dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "en": "january february march april may june july august september october november december",
}
_UNITS = {
    "de": "minuten minute stunden stunde tagen tag wochen woche monaten monat jahren jahr wochenende",
    "fr": "minutes minute heures heure jours jour semaines semaine mois mois ans année week-end",
    "es": "minutos minuto horas hora días día semanas semana meses mes años año fin_de_semana",
    "en": "minute minute hour hour day day week week month month year year weekend",
}
_NUMBERS = {
    "de": "einem einer zwei drei vier fünf sechs sieben acht neun zehn",
    "fr": "un une deux trois quatre cinq six sept huit neuf dix",
    "es": "un una dos tres cuatro cinco seis siete ocho nueve diez",
    "en": "one one two three four five six seven eight nine ten",
}
_YEAR = r"(?: (?:de |del )?(?P<year>(?:19[7-9]|20[0-9])[0-9]))?"

# Each row: the language, the pattern, and what it says.
PHRASES: tuple[tuple[str, str, str], ...] = (
    ("de", "vorgestern", "day before yesterday"),
    ("de", "gestern", "yesterday"),
    ("de", "gestern abend", "yesterday evening"),
    ("de", "heute morgen", "this morning"),
    ("de", "heute abend", "this evening"),
    ("de", "heute", "today"),
    ("de", r"(?<!guten\x20)morgen", "tomorrow"),
    ("de", "übermorgen", "day after tomorrow"),
    ("de", "(?:am |diesen )?(?:letzten |vergangenen )?{w}", "{w}"),
    ("de", "(?:am )?(?:nächsten|kommenden) {w}", "next {w}"),
    ("de", "(?:letzte[nrs]?|vergangene[nrs]?|vorige[nrs]?) {u}", "last {u}"),
    ("de", "diese[nrs]? {u}", "this {u}"),
    ("de", "(?:nächste[nrs]?|kommende[nrs]?) {u}", "next {u}"),
    ("de", "vor {n} {u}", "{n} {u} ago"),
    ("de", "seit {m}" + _YEAR, "since {m} {year}"),
    ("de", "im {m}" + _YEAR, "in {m} {year}"),
    ("de", r"(?:am )?(?P<day>[0-9]{{1,2}})\. {m}" + _YEAR, "on {day} {m} {year}"),
    ("fr", "avant-hier", "day before yesterday"),
    ("fr", "hier", "yesterday"),
    ("fr", "hier soir", "yesterday evening"),
    ("fr", "ce matin", "this morning"),
    ("fr", "ce soir", "this evening"),
    ("fr", "aujourd['’]hui", "today"),
    ("fr", "demain", "tomorrow"),
    ("fr", "après-demain", "day after tomorrow"),
    ("fr", "{w}(?: dernier| passé)?", "{w}"),
    ("fr", "{w} prochain", "next {w}"),
    ("fr", "(?:la |le |l['’])?{u} (?:derni(?:er|ère)|passée?)", "last {u}"),
    ("fr", "(?:cette|ce) {u}", "this {u}"),
    ("fr", "(?:la |le |l['’])?{u} prochaine?", "next {u}"),
    ("fr", "il y a {n} {u}", "{n} {u} ago"),
    ("fr", "il y a un an", "one year ago"),
    ("fr", "depuis {m}" + _YEAR, "since {m} {year}"),
    ("fr", "en {m}" + _YEAR, "in {m} {year}"),
    ("fr", r"(?:le )?(?P<day>[0-9]{{1,2}})(?:er)? {m}" + _YEAR, "on {day} {m} {year}"),
    ("es", "anteayer|antes de ayer", "day before yesterday"),
    ("es", "ayer", "yesterday"),
    ("es", "anoche", "last night"),
    ("es", "esta mañana", "this morning"),
    ("es", "esta tarde", "this afternoon"),
    ("es", "hoy", "today"),
    ("es", r"(?<!la\x20)mañana", "tomorrow"),
    ("es", "pasado mañana", "day after tomorrow"),
    ("es", "(?:el )?{w}(?: pasado)?", "{w}"),
    ("es", "(?:el )?próximo {w}", "next {w}"),
    ("es", "(?:el )?{w} que viene", "next {w}"),
    ("es", "(?:la |el )?{u} pasad[oa]", "last {u}"),
    ("es", "est[ea] {u}", "this {u}"),
    ("es", "(?:la |el )?próxim[oa] {u}", "next {u}"),
    ("es", "(?:la |el )?{u} que viene", "next {u}"),
    ("es", "hace {n} {u}", "{n} {u} ago"),
    ("es", "desde {m}" + _YEAR, "since {m} {year}"),
    ("es", "en {m}" + _YEAR, "in {m} {year}"),
    ("es", r"(?:el )?(?P<day>[0-9]{{1,2}}) de {m}" + _YEAR, "on {day} {m} {year}"),
)  # fmt: skip
_KINDS = {"w": _WEEKDAYS, "u": _UNITS, "m": _MONTHS, "n": _NUMBERS}
_DIGITS = "[0-9]{1,3}"
_SURELY_GERMAN = r"\b(?:ich|wir|wer|wo|wann|habe|haben|hat|hast|ist|das|und|nicht)\b"


def translations(text: str, at: int) -> Iterator[tuple[int, str]]:
    """Say in English what stands at a place of the text, with where it ends."""
    for language, pattern, english in PHRASES:
        found = _compiled(language, pattern).match(text, at)
        if found and not (found[0].lower() == "hier" and _is_german(text)):
            yield found.end(), _said(language, found, english)


def _is_german(text: str) -> bool:
    """Tell the German "hier", a place, from the French one, a day."""
    return re.search(_SURELY_GERMAN, text, re.IGNORECASE) is not None


def _said(language: str, found: re.Match[str], english: str) -> str:
    words = {name: (word or "").lower() for name, word in found.groupdict().items()}
    for kind in _KINDS.keys() & words.keys():
        words[kind] = _vocabulary(language, kind).get(words[kind], words[kind])
    return english.format(**{"year": "", **words}).strip()


@cache
def _compiled(language: str, pattern: str) -> re.Pattern[str]:
    kinds = {kind: f"(?P<{kind}>{_alternatives(language, kind)})" for kind in _KINDS}
    spaced = pattern.format(**kinds).replace(" ", r"\s+")
    return re.compile(rf"(?:{spaced})(?![\w-])", re.IGNORECASE)


def _alternatives(language: str, kind: str) -> str:
    known = sorted(_vocabulary(language, kind), key=len, reverse=True)
    return "|".join([*known, _DIGITS] if kind == "n" else known)


@cache
def _vocabulary(language: str, kind: str) -> dict[str, str]:
    foreign = (word.replace("_", " ") for word in _KINDS[kind][language].split())
    return dict(zip(foreign, _KINDS[kind]["en"].split(), strict=True))
